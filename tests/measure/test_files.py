"""A file is replaced in one step: whatever goes wrong, and however many write, a reader sees a whole one."""

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cpulab import files
from cpulab.files import locked, read_text, write_text


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


# what is no file ------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="pipes are no files there")
@pytest.mark.parametrize(("kind", "words"), [("pipe", "a named pipe"), ("folder", "a folder"), ("device", "a device")])
def test_what_is_no_file_is_refused_and_left_alone(tmp_path, kind, words):
    path = tmp_path / "a.json"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path = Path(os.devnull)
    before = os.stat(path).st_mode
    with pytest.raises(OSError, match=f"it is {words}, not a file"):
        read_text(path)
    with pytest.raises(OSError, match=f"it is {words}, not a file"):
        write_text(path, "new")
    assert os.stat(path).st_mode == before


# one after the other --------------------------------------------------------------------------------------------------

ADD = """
import sys
from cpulab.files import locked, read_text, write_text
for _ in range(int(sys.argv[2])):
    with locked(sys.argv[1], patience=600):
        write_text(sys.argv[1], str(int(read_text(sys.argv[1])) + 1))
"""
HOLD = """
import sys, time
from cpulab.files import locked
with locked(sys.argv[1]):
    print("has it", flush=True)
    time.sleep(600)
"""


def start(program, *arguments):
    return subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)], stdout=subprocess.PIPE, text=True)


def test_processes_that_read_change_and_write_lose_nothing(tmp_path):
    path = tmp_path / "count"
    path.write_text("0")
    adders = [start(ADD, path, 200) for _ in range(3)]
    assert [adder.wait() for adder in adders] == [0] * 3
    assert path.read_text() == "600"
    assert [p.name for p in tmp_path.iterdir() if os.name != "nt"] == ["count"]


def test_threads_that_read_change_and_write_lose_nothing(tmp_path):
    path = tmp_path / "new" / "count"

    def add():
        for _ in range(50):
            with locked(path, patience=600):
                write_text(path, str(int(read_text(path)) + 1 if path.exists() else 1))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() == "200"


class Clock:
    """Advances only by what somebody sleeps."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(files, "time", clock)
    return clock


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_who_was_stopped_with_the_lock_is_waited_for_no_longer_than_a_second(tmp_path, clock):
    path = tmp_path / "count"
    holder = start(HOLD, path)
    assert holder.stdout.readline() == "has it\n"
    try:
        holder.send_signal(signal.SIGSTOP)
        with locked(path):
            assert 1 <= clock.now < 1.1
        holder.kill()
        holder.wait()
        with locked(path, patience=600):  # the lock of a process that is no more is nobody's
            assert clock.now < 1.1
            assert (tmp_path / ".count.lock").exists()
        assert list(tmp_path.iterdir()) == []
    finally:
        holder.kill()


@pytest.mark.parametrize("wrong", ["no locks", "no right"])
def test_where_there_are_no_locks_all_goes_on_at_once(tmp_path, monkeypatch, clock, wrong):
    def fail(*_, **__):
        raise OSError(errno.ENOLCK if wrong == "no locks" else errno.EROFS, "not here")

    monkeypatch.setattr(*((files, "_lock") if wrong == "no locks" else (os, "open")), fail)
    with locked(tmp_path / "count", patience=600):
        assert clock.now == 0


@pytest.mark.skipif(os.name == "nt", reason="pipes are no files there")
def test_a_pipe_in_the_place_of_the_lock_is_not_waited_for(tmp_path, clock):
    os.mkfifo(tmp_path / ".count.lock")
    with locked(tmp_path / "count", patience=600):
        assert clock.now == 0
