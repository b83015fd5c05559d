"""A worker of the grader that is killed in the middle (kill -9, as a system without memory does): what it was grading
is graded once more. Whose worker is killed twice has a row that says so, until the next run."""

import contextlib
import json
import os
import signal
import sys
import time
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import hostile
import psutil
import pytest
from test_grading_run import command, table, write

from coursework.grading import plugin, results
from coursework.grading.intake.submissions import Submission

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="what runs in a sandbox is seen from outside"),
    pytest.mark.rotates,
]
KILLS = {"anna": 0, "ben": 1, "carla": 2}  # how often the worker is killed that has their submission
TASKS = {"anna": ("07-launch",), "ben": ("07-launch", "07-sectors"), "carla": ("07-launch", "07-sectors")}
DUE = {student: sum(hostile.POINTS[task] for task in tasks) for student, tasks in TASKS.items()}


def mark(student):
    """In the command line of a process for which this student's notebook waits."""
    return f"31338.{len(student)}"


def make_class(folder):
    for student, tasks in TASKS.items():
        notebook = hostile.solved(tasks)
        source = f"import subprocess\nsubprocess.run(['sleep', '{mark(student)}'])"  # until somebody ends it
        hostile.insert(notebook, source)
        write(folder, student, notebook)


def waited_for(grader, student):
    """The process in the student's sandbox for which the notebook waits; None while there is none."""
    for process in grader.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if process.cmdline()[-1:] == [mark(student)]:
                return process
    return None


def attend(grader, kills, seconds=600):
    """Kill the worker that has a student's submission, each time another one, as often as `kills` says; then let the
    notebook go on. Until the grader ends; {student: who was hit}"""
    hit, end = {student: [] for student in kills}, time.monotonic() + seconds
    while grader.poll() is None and time.monotonic() < end:
        for student, pids in hit.items():
            with contextlib.suppress(psutil.Error, StopIteration):
                process = waited_for(grader, student)
                if process and len(pids) == kills[student]:
                    process.kill()
                elif process:
                    worker = next(p for p in process.parents() if p.ppid() == grader.pid)
                    if worker.pid not in pids:
                        pids.append(worker.pid)
                        worker.kill()
        time.sleep(0.05)
    return hit


def test_a_killed_worker_costs_nobody_a_grade(tmp_path):
    submissions, out = tmp_path / "in", tmp_path / "out"
    make_class(submissions)
    with open(tmp_path / "said", "w+", encoding="utf-8") as file:
        options = {"cwd": hostile.ROOT, "stdout": file, "stderr": file, "start_new_session": True}
        grader = psutil.Popen(command(submissions, out, "-n", 2), **options)
        try:
            hit = attend(grader, KILLS)
            assert grader.poll() is not None, "the run does not end"
        finally:
            if grader.poll() is None:
                os.killpg(grader.pid, signal.SIGKILL)
        file.seek(0)
        said = file.read()
    assert {student: len(pids) for student, pids in hit.items()} == KILLS
    assert grader.returncode == 1, said
    assert "2 graded again after its worker was killed" in said
    assert "2 of 3 notebooks graded" in said
    rows = {row["student"]: row for row in table(out)}
    assert [row["student"] for row in table(out)] == ["anna", "ben", "carla"]  # each once
    for student in ("anna", "ben"):
        assert (rows[student]["points"], rows[student]["flags"]) == (str(DUE[student]), "")
    assert (rows["carla"]["points"], rows["carla"]["status"]) == ("0", "not graded")
    assert "killed from outside" in rows["carla"]["flags"]
    cases = ET.parse(out / "junit.xml").getroot().findall(".//testcase")
    graded = [p.get("value") for case in cases for p in case.findall(".//property") if p.get("name") == "student"]
    assert sorted(graded) == ["anna", "ben"]
    # the next run grades what has no grade, and nothing else
    before = {path: path.stat().st_mtime_ns for path in (out / "results").glob("*/*.json")}
    again = psutil.Popen(command(submissions, out), cwd=hostile.ROOT)
    attend(again, {"carla": 0})
    assert again.wait() == 0
    assert [path.parent.name for path, then in before.items() if path.stat().st_mtime_ns != then] == ["carla"]
    result = {r["student"]: r for r in json.loads((out / "grades.json").read_text(encoding="utf-8"))}["carla"]
    assert (result["points"], result["status"], result["flags"]) == (DUE["carla"], "graded", [])


@pytest.fixture
def controller(tmp_path):
    """What is told of killed workers, for a class in which one name is the end of another."""
    people = [Submission(student, "07_vector_add", tmp_path / student) for student in ("b", "a/b")]
    state = SimpleNamespace(submissions=people, out=tmp_path, is_done=lambda submission: False)
    return plugin._Controller(SimpleNamespace(stash={plugin._STATE: state}))


def flagged(controller):
    found = ((s.student, results.load(results.path_of(controller.state.out, s))) for s in controller.state.submissions)
    return {student: result["flags"] for student, result in found if result}


@pytest.mark.quick
def test_what_nobody_takes_again_is_flagged_at_once(controller):
    def refuse(item):
        raise NotImplementedError

    report = SimpleNamespace(outcome="failed")
    item = "grades/.class/a/b/07_vector_add.ipynb::grade"
    controller.pytest_handlecrashitem(item, report, SimpleNamespace(mark_test_pending=refuse))
    assert (report.outcome, report.longrepr) == ("failed", plugin._KILLED)
    assert flagged(controller) == {"a/b": [plugin._KILLED]}


@pytest.mark.quick
def test_a_run_that_ends_before_it_was_tried_again_is_no_success(controller, monkeypatch):
    from coursework.grading import reports

    monkeypatch.setattr(reports, "write_all", lambda *given: [])
    monkeypatch.setattr(results, "any_graded", lambda *given: True)
    controller.state.masters = controller.state.added = None
    controller.config.option = SimpleNamespace(collectonly=False)
    item, given = "b/07_vector_add.ipynb::grade", []
    report = SimpleNamespace(outcome="failed", nodeid=item, when="call")
    controller.pytest_handlecrashitem(item, report, SimpleNamespace(mark_test_pending=given.append))
    assert given == [item]
    session = SimpleNamespace(exitstatus=pytest.ExitCode.OK)
    controller.pytest_sessionfinish(session)
    assert (session.exitstatus, flagged(controller)) == (pytest.ExitCode.TESTS_FAILED, {})
    controller._tell = lambda *done: None
    controller.pytest_runtest_logreport(report)
    session = SimpleNamespace(exitstatus=pytest.ExitCode.OK)
    controller.pytest_sessionfinish(session)
    assert session.exitstatus == pytest.ExitCode.OK
