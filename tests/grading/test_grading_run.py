"""Whole runs of the grader: resuming after a kill, caching, reports, refusals."""

import csv
import json
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import hostile
import pytest

from coursework import build, definition, own, progress
from coursework.grading import sandbox

NO_BWRAP = sandbox.why_no_bwrap()
MODE = "rlimit" if NO_BWRAP else "bwrap"
FILE = "07_vector_add.ipynb"
pytestmark = [pytest.mark.skipif(os.name != "posix", reason="the grader runs on Linux and macOS"), pytest.mark.rotates]


def command(submissions, out, *more):
    options = (
        f"--grade={submissions} --grade-out={out} --grade-sandbox {MODE} --grade-exercise 07 -q -p no:cacheprovider"
    )
    base = [sys.executable, "-m", "pytest", *options.split(), *hostile.PATIENTLY, "--grade-seed", "a test"]
    return [str(part) for part in [*base, *more]]


def run(submissions, out, *more, **options):
    return subprocess.run(
        command(submissions, out, *more), cwd=hostile.ROOT, capture_output=True, text=True, timeout=1200, **options
    )


def write(folder, student, notebook):
    path = folder / student / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(notebook if isinstance(notebook, str) else build.text_of(notebook), encoding="utf-8")


def make_class(folder, size):
    """Cheap submissions: most are unsolved, broken or missing; every fourth has its first task solved, in its own
    way."""
    for i in range(size):
        notebook = hostile.solved(())
        if i % 4 == 0:
            threads = 32 * (1 + i % 32)
            hostile.cell(
                notebook, "07-launch"
            ).source = f"def launch(n):\n    return (n + {threads - 1}) // {threads}, {threads}"
        write(folder, f"student{i:03d}", notebook if i % 4 != 3 else "{ broken")
    (folder / "nothing").mkdir()


def table(out):
    """grades.csv without what may differ between two runs."""
    with open(out / "grades.csv", encoding="utf-8") as file:
        return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]


ENDS_HALF_WAY = """
import glob, os, signal

def pytest_runtest_logreport(report):
    if len(glob.glob({results!r} + "/*/*.json")) >= {many}:
        os.killpg(0, signal.SIGKILL)  # with all that it has started
"""


def kill_and_resume(tmp_path, size, *more):
    submissions, whole, broken = tmp_path / "in", tmp_path / "whole", tmp_path / "broken"
    make_class(submissions, size)
    assert run(submissions, whole, *more).returncode == 0
    results = broken / "results"
    (tmp_path / "ends_half_way.py").write_text(ENDS_HALF_WAY.format(results=str(results), many=size // 2))
    paths = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    process = subprocess.run(
        command(submissions, broken, *more, "-p", "ends_half_way"), cwd=hostile.ROOT, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": paths}, start_new_session=True,
    )  # fmt: skip
    assert process.returncode == -signal.SIGKILL
    done = {path: path.stat().st_mtime_ns for path in results.glob("*/*.json")}
    assert size // 2 <= len(done) < size + 1, "the run was not killed half-way"
    assert not (broken / "grades.csv").exists()
    assert run(submissions, broken, *more).returncode == 0
    assert all(path.stat().st_mtime_ns == then for path, then in done.items()), "finished work was done again"
    assert table(broken) == table(whole)
    assert len(table(whole)) == size + 1
    assert not list(broken.glob("results/*/*.part"))
    return table(whole)


def test_a_killed_run_is_resumed_and_ends_the_same(tmp_path):
    rows = kill_and_resume(tmp_path, 4)
    assert [row["points"] for row in rows] == ["0", "2", "0", "0", "0"]


@pytest.mark.slow
def test_200_submissions_killed_and_resumed_on_two_processes(tmp_path):
    rows = kill_and_resume(tmp_path, 200, "-n", "2")
    assert sum(int(row["points"]) for row in rows) == 100


def test_one_run_with_everything_it_writes(tmp_path):
    submissions, out = tmp_path / "in", tmp_path / "out"
    write(submissions, "=anna", hostile.solved(("07-launch",)))
    write(submissions, "ben", "{")
    (tmp_path / "roster.csv").write_text("student\n=anna\nben\ncarla\n")
    more = ("--grade-roster", tmp_path / "roster.csv", "--grade-strict")
    done = run(submissions, out, *more)
    assert done.returncode == 1, done.stdout
    assert f"2 of {hostile.MOST} points (graded)" in done.stdout
    assert "Not graded: 1 missing, 1 unreadable." in done.stdout
    assert [(r["student"], r["points"], r["status"].split(":")[0]) for r in table(out)] == [
        ("'=anna", "2", "graded"),
        ("ben", "0", "unreadable"),
        ("carla", "0", "missing"),
    ]
    cases = ET.parse(out / "junit.xml").getroot().findall(".//testcase")
    properties = [{p.get("name"): p.get("value") for p in case.findall(".//property")} for case in cases]
    assert [(p["student"], p["points"], p["max_points"]) for p in properties] == [
        (student, points, str(hostile.MOST)) for student, points in (("=anna", "2"), ("ben", "0"), ("carla", "0"))
    ]
    assert len(list((out / "feedback").iterdir())) == 6
    assert "07-launch" in (out / "overview.html").read_text(encoding="utf-8")
    # nothing changed: nothing is run again, and without --grade-strict the run is a success
    before = {p: p.stat().st_mtime_ns for p in (out / "results").glob("*/*.json")}
    # points by hand are there without another run
    with open(out / "overrides.csv", "a", encoding="utf-8") as file:
        file.write("'=anna,07,,,9,agreed\n")
    assert run(submissions, out, *more[:2]).returncode == 0
    row = table(out)[0]
    assert (row["points"], row["final"], row["comment"]) == ("2", "9", "agreed")
    assert {p: p.stat().st_mtime_ns for p in (out / "results").glob("*/*.json")} == before
    # one student hands in again: only that one is run
    write(submissions, "ben", hostile.solved(()))
    assert run(submissions, out, *more[:2]).returncode == 0
    changed = [p.parent.name for p, then in before.items() if p.stat().st_mtime_ns != then]
    assert changed == ["ben"]


def test_a_secret_is_made_once_and_another_gives_the_same_verdicts(tmp_path):
    write(tmp_path / "in", "anna", hostile.solved(("07-add",)))
    texts = []
    for _ in range(2):
        done = subprocess.run(
            [part for part in command(tmp_path / "in", tmp_path / "out") if part not in ("--grade-seed", "a test")],
            cwd=hostile.ROOT,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0
        texts.append((tmp_path / "out" / "seed.txt").read_text())
    assert texts[0] == texts[1]
    assert table(tmp_path / "out")[0]["points"] == "3"


def test_each_student_is_graded_with_numbers_of_their_own(tmp_path):
    numbers = own.Numbers.from_secret("a secret")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / own.NUMBERS).write_text(numbers.text())
    (tmp_path / "roster.csv").write_text("student,email\nanna,Anna@X\nben,ben@x\n")
    task = definition.find("07-sectors")
    mine = {q.name: q.truth() for q in numbers.task(task, "anna@x").questions}
    for student in ("anna", "ben"):  # ben has her numbers, and says that he is her
        notebook = hostile.solved(())
        hostile.cell(notebook, "07-sectors").source = "\n".join(f"{name} = {n}" for name, n in mine.items())
        hostile.insert(notebook, 'from coursework.notebook import me\nme("anna@x")')
        write(tmp_path / "in", student, notebook)
    done = run(tmp_path / "in", tmp_path / "out", "--grade-roster", tmp_path / "roster.csv")
    assert done.returncode == 0, done.stdout
    assert {row["student"]: row["points"] for row in table(tmp_path / "out")} == {"anna": str(task.points), "ben": "0"}


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--grade-masters", "nowhere"), "No master notebooks in nowhere"),
        (("--grade-exercise", "99"), "There is no master notebook for the exercise 99"),
        (("--grade-roster", "nowhere.csv"), "The roster nowhere.csv cannot be read"),
        (("--grade-dask", "tcp://x", "-n", "2"), "leave out -n"),
        (("--grade-policy", __file__), "cannot be read"),
    ],
)
def test_refusals_are_sentences(tmp_path, more, says):
    write(tmp_path / "in", "anna", hostile.solved(()))
    done = run(tmp_path / "in", tmp_path / "out", *more)
    assert done.returncode == 4
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_pytest_obeys_no_file_among_the_submissions(tmp_path):
    write(tmp_path / "in", "anna", hostile.solved(()))
    for place in (tmp_path / "in", tmp_path / "in" / "anna"):
        (place / "conftest.py").write_text(f"open({str(tmp_path / 'obeyed')!r}, 'w')")
    assert run(tmp_path / "in", tmp_path / "out").returncode == 0
    assert not (tmp_path / "obeyed").exists()
    (tmp_path / "in" / "pytest.ini").write_text("[pytest]\n")
    arguments = command(tmp_path / "in", tmp_path / "out")
    assert subprocess.run(arguments, cwd=hostile.ROOT, capture_output=True).returncode == 0
    split = [part for whole in arguments for part in (whole.split("=", 1) if whole.startswith("--grade=") else [whole])]
    done = subprocess.run(split, cwd=hostile.ROOT, capture_output=True, text=True)
    assert done.returncode == 4
    assert "a file among the submissions" in done.stderr


def test_a_relative_folder(tmp_path):
    write(tmp_path / "in", "anna", hostile.solved(("07-launch",)))
    arguments = [*command("in", "out"), "--grade-masters", str(hostile.ROOT / "solutions")]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert [row["points"] for row in table(tmp_path / "out")] == ["2"]


def test_an_empty_folder_is_refused(tmp_path):
    (tmp_path / "in").mkdir()
    done = run(tmp_path / "in", tmp_path / "out")
    assert (done.returncode, "No submissions were found" in done.stderr) == (4, True)


def test_without_bubblewrap_the_grader_stops_and_says_so(tmp_path):
    write(tmp_path / "in", "anna", hostile.solved(()))
    arguments = [
        part.replace(MODE, "auto") if part == MODE else part for part in command(tmp_path / "in", tmp_path / "out")
    ]
    done = subprocess.run(
        arguments, cwd=hostile.ROOT, capture_output=True, text=True, env={**os.environ, "PATH": str(tmp_path)}
    )
    assert done.returncode == 4
    assert "The sandbox cannot be built here" in done.stderr
    assert "--grade-sandbox=rlimit" in done.stderr
    assert not (tmp_path / "out" / "results").exists()


def test_the_weaker_mode_warns(tmp_path):
    write(tmp_path / "in", "anna", hostile.solved(()))
    arguments = [
        part.replace(MODE, "rlimit") if part == MODE else part for part in command(tmp_path / "in", tmp_path / "out")
    ]
    done = subprocess.run([a for a in arguments if a != "-q"], cwd=hostile.ROOT, capture_output=True, text=True)
    assert done.returncode == 0
    assert "rlimit does not keep an answer from reading or changing your files" in done.stdout


def test_stale_work_folders_are_swept(tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox.tempfile, "gettempdir", lambda: str(tmp_path))
    dead = subprocess.Popen([sys.executable, "-c", "pass"])
    dead.wait()
    for name in (f"dlk-{dead.pid}-abc", f"dlk-{os.getpid()}-abc", "dlk-x-1", "other"):
        (tmp_path / name).mkdir()
    sandbox.sweep()
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([f"dlk-{os.getpid()}-abc", "dlk-x-1", "other"])


def test_results_hold_every_check(tmp_path):
    write(tmp_path / "in", "anna", hostile.solved(()))
    assert run(tmp_path / "in", tmp_path / "out").returncode == 0
    result = json.loads((tmp_path / "out" / "results" / "anna" / "07_vector_add.json").read_text())
    parts = [(task.id, part) for task in definition.of_chapter("07") for part, _ in progress.parts(task)]
    assert [(t["task"], t["part"]) for t in result["tasks"]] == parts
    assert {t["status"] for t in result["tasks"]} == {"unsolved"}
    assert Path(tmp_path / "out" / "grades.json").exists()


def sentences(answered, varied):
    """What the page for instructors says of the recorded classes."""
    each = answered["seconds"] / answered["submissions"]
    most = max(answered["grader_bytes"] + varied["grader_bytes"]) / 1e6
    yield (
        f"On two cores, 200 submissions of 07 with every task answered take {answered['seconds'] / 60:.1f} minutes, "
        f"{each:.1f} seconds each; {varied['seconds'] / 60:.1f} minutes where half of the class has all right and the "
        "others less."
    )
    yield (
        f"The grader's own processes need no more than {most:.0f} MB, at the end as at the start "
        "(`benchmarks/results/grading.json`)."
    )


@pytest.mark.quick
def test_the_page_says_how_long_the_recorded_classes_took_in_a_memory_that_stayed_flat():
    stored = hostile.ROOT / "benchmarks" / "results" / "grading.json"
    recorded = json.loads(stored.read_text(encoding="utf-8"))["data"]
    for one in recorded.values():
        sizes = one["grader_bytes"]
        assert one["submissions"] == 200
        assert max(sizes[len(sizes) // 2 :]) < 1.05 * max(sizes[: len(sizes) // 2])
    page = " ".join((hostile.ROOT / "chapters" / "instructors.md").read_text(encoding="utf-8").split())
    for sentence in sentences(**recorded):
        assert sentence in page
