"""A file is replaced in one step: whatever goes wrong, and however many write, a reader sees a whole one."""

import os
import threading
from pathlib import Path

import pytest

from cpulab.files import write_text


def test_it_writes_text_and_makes_folders(tmp_path):
    path = tmp_path / "new" / "folder" / "a.json"
    write_text(path, "grüße\n")
    assert path.read_text(encoding="utf-8") == "grüße\n"
    write_text(str(path), "")
    assert path.read_text(encoding="utf-8") == ""
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("step", ["write", "replace"])
def test_a_failure_in_the_middle_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step):
    path = tmp_path / "a.json"
    write_text(path, "old")
    if step == "write":
        with pytest.raises(UnicodeEncodeError):
            write_text(path, "new" * 100_000 + "\ud800")
    else:

        def fail(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(Path, "replace", fail)
        with pytest.raises(KeyboardInterrupt):
            write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_reader_between_two_writers_sees_whole_files(tmp_path):
    path = tmp_path / "a.json"
    texts = {letter * 300_000 for letter in "ab"}
    write_text(path, min(texts))

    def write(text):
        for _ in range(50):
            write_text(path, text)

    writers = [threading.Thread(target=write, args=(text,)) for text in texts]
    for writer in writers:
        writer.start()
    seen = set()
    while any(writer.is_alive() for writer in writers):
        seen.add(path.read_text())
    assert seen <= texts
    assert path.read_text() in texts
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_in_its_place_is_replaced_and_not_followed(tmp_path):
    other, path = tmp_path / "other", tmp_path / "a.json"
    other.write_text("mine")
    path.symlink_to(other)
    write_text(path, "new")
    assert (path.read_text(), other.read_text(), path.is_symlink()) == ("new", "mine", False)
