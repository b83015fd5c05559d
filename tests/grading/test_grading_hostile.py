"""The hostile class, row by row, in both sandboxes: right points, nothing left behind, honest students unharmed."""

import csv
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import hostile
import psutil
import pytest
import rotation

from coursework.grading import results, sandbox

FEW = (
    "right", "half", "forged_traffic_report", "loop_that_cannot_be_interrupted", "memory_hog", "leaves_a_daemon_behind",
    "nothing",
)  # fmt: skip
ROWS_OF = {
    "bwrap": [name for name, row in hostile.ROWS.items() if not row.night],
    "rlimit": list(FEW),
    "bwrap, all": list(hostile.ROWS),
    "rlimit, all": [name for name, row in hostile.ROWS.items() if row.rlimit],
}
MODES = ["bwrap", "rlimit", *(pytest.param(f"{mode}, all", marks=pytest.mark.slow) for mode in ("bwrap", "rlimit"))]
NO_BWRAP = sandbox.why_no_bwrap()
pytestmark = pytest.mark.skipif(os.name != "posix", reason="the grader runs on Linux and macOS")


@dataclass
class Graded:
    out: Path
    results: dict
    done: subprocess.CompletedProcess
    calls: list


def grade(mode, names, folder, scratch, port, calls):
    submissions, out = folder / "submissions", folder / "grades"
    for name in names:
        row = hostile.ROWS[name]
        context = {
            "writes_grades": {"out": str(out)},
            "reads_the_seed": {"out": str(out)},
            "phones_home": {"port": port},
        }
        text = hostile.text(row, name, **context.get(name, {}))
        place = submissions / name
        place.mkdir(parents=True)
        if text is hostile.NOTHING:
            continue
        file = place / "07_vector_add.ipynb"
        file.write_bytes(text) if isinstance(text, bytes) else file.write_text(
            text, encoding="utf-8", errors="surrogatepass"
        )
    options = f"--grade={submissions} --grade-out={out} --grade-sandbox {mode} --grade-exercise 07 -q"
    options += " -n 2" if len(names) > 20 else ""  # processes cost more than a few submissions
    options += " --grade-cell-seconds 30 --grade-total-seconds 600 -p no:cacheprovider"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options.split()],
        cwd=hostile.ROOT,
        capture_output=True,
        text=True,
        timeout=1500,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    results = {p.parent.name: json.loads(p.read_text()) for p in (out / "results").glob("*/07_vector_add.json")}
    return Graded(out, results, done, calls)


@pytest.fixture(scope="module", params=MODES)
def graded(request, tmp_path_factory):
    if request.param.startswith("bwrap") and NO_BWRAP:
        pytest.skip(NO_BWRAP)
    calls = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen():
            try:
                while True:
                    connection, _ = server.accept()
                    calls.append(connection.recv(10))
            except OSError:
                pass

        threading.Thread(target=listen, daemon=True).start()
        folder = tmp_path_factory.mktemp("class")
        scratch = Path(tempfile.mkdtemp(prefix="dl"))  # short, for the sockets; where this run's work folders go
        scratch.chmod(0o755)
        today = {"right", "half", "nothing", *rotation.of_today(request, "name")}
        names = [name for name in ROWS_OF[request.param] if name in today]
        result = grade(request.param.split(",")[0], names, folder, scratch, server.getsockname()[1], calls)
        result.names, result.scratch = names, scratch
        yield result
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(scratch, ignore_errors=True)


def test_the_run_ends_well_and_no_row_is_missing(graded):
    assert graded.done.returncode == 0, graded.done.stdout[-3000:] + graded.done.stderr[-2000:]
    assert set(graded.results) == set(graded.names)
    with open(graded.out / "grades.csv", encoding="utf-8") as file:
        assert {line["student"] for line in csv.DictReader(file)} == set(graded.names)


@pytest.mark.rotates
@pytest.mark.parametrize("name", list(hostile.ROWS))
def test_row(graded, name):
    if name not in graded.names:
        pytest.skip("not in this class")
    row, result = hostile.ROWS[name], graded.results[name]
    told = {f"{t['task']} {t['part']}": (t["points"], t["headline"]) for t in result["tasks"]}
    assert result["status"].startswith(row.status), result["status"]
    assert result["points"] == row.points, json.dumps(told, indent=1) + str(result["notes"])
    assert "checker-error" not in [t["kind"] for t in result["tasks"]], told
    if row.flag == "equal the public solution":
        return  # found out when the whole class is known: test_flags
    assert row.flag in "; ".join(result["flags"])
    more = [flag for flag in result["flags"] if not (row.may and flag.startswith(row.may))]
    assert bool(row.flag) or not more, result["flags"]


def test_flags_of_the_whole_class(graded):
    rows = {r["student"]: r for r in json.loads((graded.out / "grades.json").read_text(encoding="utf-8"))}
    assert any("equal the public solution" in flag for flag in rows["right"]["flags"])
    assert not any("equal the public solution" in flag for flag in rows["half"]["flags"])


def test_nothing_is_left_behind(graded):
    def left():
        lines = [" ".join(p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"])]
        return [line for line in lines if hostile.SLEEPS in line.split() or str(graded.scratch) in line]

    ends = time.monotonic() + 120  # what was ended may take a moment to be gone
    while left() and time.monotonic() < ends:
        time.sleep(0.1)
    assert left() == []
    assert [p.name for p in graded.scratch.iterdir() if p.name.startswith("dlk-")] == []


def test_no_call_came_through(graded):
    assert graded.calls == []


def test_hidden_cases_and_seed_are_not_in_the_feedback(graded):
    for path in (graded.out / "feedback").glob("*.md"):
        text = path.read_text(encoding="utf-8")
        assert "lambda" not in text
        assert (graded.out / "seed.txt").read_text().strip() not in text
        assert str(results.secret_seed(graded.out)) not in text


def test_every_failure_is_explained_to_the_student(graded):
    for result in graded.results.values():
        for task in result["tasks"]:
            if task["status"] == "wrong":
                assert len(task["text"].splitlines()) >= 2, task
