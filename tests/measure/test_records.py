"""Recorded results: they come back, with their provenance, and a broken run does not spoil an old one."""

import datetime
import platform
import re
from pathlib import Path

import pytest

from cpulab import measure
from cpulab.measure import record, recorded, records

pytestmark = pytest.mark.quick


def test_what_is_recorded_comes_back(tmp_path):
    path = record("add-cpu", {"ratio": [1.5, 2.0]}, command="make bench", folder=tmp_path)
    assert path == tmp_path / "add-cpu.json"
    result = recorded("add-cpu", folder=tmp_path)
    assert result.data == {"ratio": [1.5, 2.0]}
    assert set(result.provenance) == {"date", "command", "revision", "machine"}
    assert list(tmp_path.iterdir()) == [path]


def test_the_caption_says_when_how_and_on_what(tmp_path):
    record("x", 1, command="make bench", folder=tmp_path)
    caption = recorded("x", folder=tmp_path).caption
    today = datetime.datetime.now(datetime.UTC)
    assert caption.startswith(f"Recorded on {today.day} {today:%B %Y} on ")
    assert re.search(r"\(make bench; Python 3\.\d+\.\d+\S*, numba \d+\.\d+", caption)
    assert "\n" not in caption


def test_transfers_of_a_gpu_are_sums_of_copies_and_kernel(tmp_path):
    assert measure.recorded_transfers(tmp_path) == {}
    record("gpu", {"times": {"lines": []}}, folder=tmp_path)
    assert measure.recorded_transfers(tmp_path) == {}
    seconds = {
        ("pageable", 16): 9,
        ("pinned", 16): 5,
        ("kernel", 16): 1,
        ("kernel", 4): 1,
        ("pinned", 4): 2,
        ("pageable", 4): 3,
    }
    lines = [{"name": name, "size": size, "seconds": t} for (name, size), t in seconds.items()]
    for kept in (lines, [{"size": 64, "error": "out of memory"}, *lines]):
        record("gpu", {"transfers": {"lines": kept}}, folder=tmp_path)
        assert measure.recorded_transfers(tmp_path) == {"pageable": ([4, 16], [4, 10]), "pinned": ([4, 16], [3, 6])}
    record("gpu", {"transfers": {"lines": [{"size": 64, "error": "no driver"}]}}, folder=tmp_path)
    assert measure.recorded_transfers(tmp_path) == {}


def test_the_caption_names_the_gpu_first():
    card = {"CPU": "c", "cores": "2 cores", "vectors": "AVX2", "system": "Linux 6.1, x", "Python": "3.12.1 (CPython)"}
    card |= {"GPU": "NVIDIA H200, 143771 MiB", "packages": {"numba": "0.68.1", "other": "1"}}
    provenance = {"date": "2026-11-02T10:00:00+00:00", "command": "make gpu-record", "machine": card}
    assert records.Recorded("x", 1, provenance).caption == (
        "Recorded on 2 November 2026 on NVIDIA H200, c, 2 cores, AVX2, Linux 6.1 "
        "(make gpu-record; Python 3.12.1, numba 0.68.1)."
    )


def test_no_host_and_no_path_in_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(records.sys, "argv", [str(tmp_path / "benchmarks" / "vector.py"), "--quick"])
    text = record("x", 1, folder=tmp_path).read_text()
    assert '"python benchmarks/vector.py --quick"' in text
    for private in (str(tmp_path), str(Path.home()), platform.node()):
        assert not re.search(rf"\b{re.escape(private)}\b", text)


def test_a_failed_record_leaves_the_old_one(tmp_path):
    record("x", 1, folder=tmp_path)
    with pytest.raises(ValueError, match="JSON"):
        record("x", float("nan"), folder=tmp_path)
    with pytest.raises(TypeError):
        record("x", object(), folder=tmp_path)
    assert recorded("x", folder=tmp_path).data == 1


def test_errors_help(tmp_path):
    record("there", 1, folder=tmp_path)
    with pytest.raises(FileNotFoundError, match=r"'missing'; recorded are: there\. `make bench` records"):
        recorded("missing", folder=tmp_path)
    with pytest.raises(ValueError, match=r"name is '\.\./x'; expected small letters"):
        record("../x", 1, folder=tmp_path)


def test_the_folder_is_found_from_anywhere_in_the_working_copy(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert records.results_folder().parts[-2:] == ("benchmarks", "results")


def test_outside_git_there_is_no_revision(monkeypatch):
    def missing(*_, **__):
        raise FileNotFoundError("git")

    monkeypatch.setattr(records.subprocess, "run", missing)
    assert records._revision() is None


def test_a_record_beside_pytorch_is_read_as_it_was_written(tmp_path):
    columns = [{"instruction_set": s, "threads": n} for s in ("AVX2", "AVX-512") for n in (1, 2)]
    common = {"mode": "as a user has it", "passes": "forward"}
    lines = [
        {**common, **column, "kind": kind, "mean": k + len(kind)}
        for kind in ("all", "3x3")
        for k, column in enumerate(columns)
    ]
    measure.record("pair", {"rows": [], "means": lines, "peer": {"version": "9.9"}}, folder=tmp_path)
    pair = measure.Beside("pair", tmp_path)
    assert pair.kinds == ["3x3"]
    assert pair.means("3x3") == [3, 4, 5, 6]
    assert pair.mean("all", "AVX-512", 2) == 6
    assert [line[0] for line in pair.table("layers").rows] == ["3x3"]  # "all" would say the same
    assert pair.table("layers").headings[:2] == ("layers", "AVX2, 1")
    assert not any("AVX-" in heading for heading in pair.table("layers").headings)  # that hyphen may end a line
    more = [{**line, "kind": "1x1"} for line in lines if line["kind"] == "3x3"]
    measure.record("more", {"rows": [], "means": lines + more, "peer": {"version": "9.9"}}, folder=tmp_path)
    more = measure.Beside("more", tmp_path)
    assert [line[0] for line in more.table("layers").rows] == ["3x3", "1x1", "all"]
    assert "PyTorch 9.9" in str(pair)
    narrow = {
        "rows": [],
        "means": [line for line in lines if line["instruction_set"] == "AVX2"],
        "peer": {"version": "9.9"},
    }
    measure.record("narrow", narrow, folder=tmp_path)
    narrow = measure.Beside("narrow", tmp_path)  # of a machine without AVX-512
    assert narrow.means("3x3") == [3, 4]
    assert narrow.table("layers").rows[0][1:] == ("3.00", "4.00")
    with pytest.raises(KeyError, match="pair has no mean of"):
        pair.mean("all", "NEON", 1)
