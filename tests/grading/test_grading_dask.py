"""A class on a Dask cluster: what came back is as valid as if it had been graded here.

The course does without Dask: what is marked `slow` here needs a folder with it, as `make nightly` makes one:

    make build/dask
    PYTHONPATH=$PWD/build/dask .venv/bin/python -m pytest tests/grading/test_grading_dask.py
"""

import contextlib
import copy
import json
import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import hostile
import pytest
from test_grading_run import MODE, command, make_class, run, table, write

from coursework import definition, own
from coursework.grading import exchange, plugin, results, sandbox
from coursework.grading.extras import cluster

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the grader runs on Linux and macOS")
NO_DASK = "Dask is not installed (see the head of this file)"


@pytest.fixture
def state(request, tmp_path):
    """What a run of the grader knows of the submissions in tmp_path/in, with the options as they usually are."""

    def of(**options):
        option = copy.copy(request.config.option)
        usual = {
            "grade": tmp_path / "in",
            "grade_out": tmp_path / "out",
            "grade_exercise": ["07"],
            "grade_sandbox": MODE,
        }
        for name, value in (usual | {"grade_seed": "a test"} | options).items():
            setattr(option, name, value)
        here = SimpleNamespace(dir=hostile.ROOT)
        return plugin._State(SimpleNamespace(option=option, inipath=None, invocation_params=here))

    return of


@pytest.mark.rotates
def test_what_a_worker_graded_is_not_graded_again_here(state, tmp_path):
    numbers = own.Numbers.from_secret("a secret")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / own.NUMBERS).write_text(numbers.text())
    (tmp_path / "roster.csv").write_text("student,email\nanna,Anna@X\n")
    notebook = hostile.solved(())
    mine = {q.name: q.truth() for q in numbers.task(definition.find("07-sectors"), "anna@x").questions}
    hostile.cell(notebook, "07-sectors").source = "\n".join(f"{name} = {n}" for name, n in mine.items())
    write(tmp_path / "in", "anna", notebook)
    known = state(grade_roster=tmp_path / "roster.csv", grade_force=True)
    ((submission, key, task),) = cluster._tasks(known)
    json.dumps(task | {"notebook": "", "master": ""})  # plain data
    cluster.keep(known, submission, key, cluster.grade_one(task))
    saved = results.load(results.path_of(known.out, submission))
    assert (saved["student"], saved["points"]) == ("anna", hostile.SECTORS)
    assert not known.is_done(submission)  # --grade-force
    known.fresh.add(submission)
    assert known.is_done(submission)
    assert state(grade_roster=tmp_path / "roster.csv").is_done(submission)


@pytest.mark.quick
def test_limits_are_the_same_numbers_wherever_they_are_said(state, tmp_path):
    write(tmp_path / "in", "anna", hostile.solved(()))
    usual = state()
    (submission,) = usual.submissions
    task = cluster._task(usual, submission)
    said = {name: float(str(task[name])) for name in ("cell_seconds", "total_seconds", "memory")}
    again = state(**{f"grade_{name}": value for name, value in said.items()})
    assert again.key(submission) == usual.key(submission)


@pytest.mark.quick
def test_a_worker_with_another_version_of_the_course_says_so(state, tmp_path):
    write(tmp_path / "in", "anna", hostile.solved(()))
    known = state()
    task = cluster._task(known, known.submissions[0])
    with pytest.raises(RuntimeError, match="another version of the course"):
        cluster.grade_one(task | {"code": "another"})


@pytest.mark.quick
def test_a_worker_ends_its_grader_after_all_the_time_that_a_submission_may_take(state, tmp_path, monkeypatch):
    write(tmp_path / "in", "anna", hostile.solved(()))
    known = state()
    task = cluster._task(known, known.submissions[0])
    waited = []

    def run_(*arguments, timeout, **options):
        waited.append(timeout)
        raise subprocess.TimeoutExpired("pytest", timeout)

    monkeypatch.setattr(cluster.subprocess, "run", run_)
    with pytest.raises(RuntimeError, match="no result within"):
        cluster.grade_one(task)
    assert waited[0] > 3 * sandbox.Limits().total_seconds


@pytest.mark.quick
def test_what_cannot_be_read_is_not_sent(state, tmp_path, monkeypatch):
    write(tmp_path / "in", "anna", hostile.solved(()))
    write(tmp_path / "in", "ben", "[" + "1," * (6 << 20) + "1]")
    assert [submission.student for submission, _, _ in cluster._tasks(state())] == ["anna"]
    with pytest.raises(exchange.BadData):
        cluster._task(state(), state().submissions[1])


@pytest.mark.rotates
def test_a_cluster_that_is_not_there_is_a_sentence_and_writes_no_grades(tmp_path):
    write(tmp_path / "in", "anna", hostile.solved(()))
    done = run(tmp_path / "in", tmp_path / "out", "--grade-dask", "tcp://127.0.0.1:9")
    assert done.returncode == 4
    said = done.stdout + done.stderr
    assert "No Dask scheduler answers" in said or "--grade-dask needs Dask" in said
    assert not (tmp_path / "out" / "grades.csv").exists()


# Waiting, with a Dask that is played ----------------------------------------------------------------------------------


class Cancelled(Exception):
    """As distributed's own."""


class Future:
    def __init__(self, status, task):
        self.status, self._task = status, task

    def result(self):
        return json.dumps(self._task)

    def exception(self):
        return RuntimeError("no\n  bwrap here")


class Client:
    """Its tasks come to the given ends, one after the other; what is "pending" hangs."""

    def __init__(self, *ends):
        self.ends, self.futures, self.given_up = list(ends), [], []

    def __call__(self, address, timeout):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def submit(self, function, task, **options):
        self.futures.append(Future(self.ends[len(self.futures)], task))
        return self.futures[-1]

    def cancel(self, futures, force):
        self.given_up += futures

    def wait(self, futures, timeout, return_when):
        if any(future.status == "cancelled" for future in futures):
            raise Cancelled
        if all(future.status == "pending" for future in futures):
            raise TimeoutError


@pytest.mark.quick
def test_what_ends_in_any_other_way_is_left_to_this_machine(monkeypatch):
    client = Client("pending", "error", "finished", "cancelled", "lost", "finished")
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(Client=client, wait=client.wait))
    monkeypatch.setitem(sys.modules, "distributed.client", SimpleNamespace(CancelledError=Cancelled))
    kept, told = {}, []
    monkeypatch.setattr(cluster, "_tasks", lambda state: [(f"s{i}", f"key{i}", i) for i in range(6)])
    monkeypatch.setattr(cluster, "keep", lambda state, submission, key, text: kept.update({submission: (key, text)}))
    known = SimpleNamespace(limits=sandbox.Limits())
    came, sent, trouble = cluster.grade_remotely("tcp://nobody", known, lambda *done: told.append(done))
    assert (sorted(came), sent, told) == (["s2", "s5"], 6, [(5, 6)])
    assert kept == {"s2": ("key2", "2"), "s5": ("key5", "5")}
    assert trouble in ("no bwrap here", "a task was cancelled", "a task was lost")
    assert client.given_up == [client.futures[0]]


# With Dask ------------------------------------------------------------------------------------------------------------


def workers(distributed, count=2):
    return distributed.LocalCluster(n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None)


def made(folder):
    return {path: path.stat().st_mtime_ns for path in (folder / "results").glob("*/*.json")}


@pytest.mark.slow
def test_dask_gives_the_same_grades_even_if_a_worker_is_killed(tmp_path):
    distributed = pytest.importorskip("distributed", reason=NO_DASK)
    make_class(tmp_path / "in", 8)
    assert run(tmp_path / "in", tmp_path / "here").returncode == 0
    with workers(distributed) as two:
        process = subprocess.Popen(
            command(tmp_path / "in", tmp_path / "there", "--grade-dask", two.scheduler_address),
            cwd=hostile.ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        while process.poll() is None and not made(tmp_path / "there"):
            time.sleep(0.1)
        os.kill(two.workers[0].pid, signal.SIGKILL)
        said = process.communicate(timeout=600)[0]
    assert process.returncode == 0, said
    assert "8 of 8 graded on the cluster" in said
    assert table(tmp_path / "there") == table(tmp_path / "here")
    before = made(tmp_path / "there")
    assert run(tmp_path / "in", tmp_path / "there").returncode == 0  # nothing is graded again, here
    assert made(tmp_path / "there") == before


@pytest.mark.slow
def test_result_files_do_not_change_after_the_cluster_wrote_them(tmp_path):
    distributed = pytest.importorskip("distributed", reason=NO_DASK)
    make_class(tmp_path / "in", 4)
    with workers(distributed, 1) as one, open(tmp_path / "said", "w+") as said:
        process = subprocess.Popen(
            [*command(tmp_path / "in", tmp_path / "out", "--grade-dask", one.scheduler_address), "-s"],
            cwd=hostile.ROOT,
            stdout=said,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        while process.poll() is None and "graded on the cluster" not in (tmp_path / "said").read_text():
            time.sleep(0.02)
        before = {path: when for path, when in made(tmp_path / "out").items() if path.parent.name != "nothing"}
        assert process.wait() == 0, (tmp_path / "said").read_text()
    assert "4 of 4 graded on the cluster" in (tmp_path / "said").read_text()
    assert len(before) == 4
    assert {path: made(tmp_path / "out")[path] for path in before} == before


@pytest.mark.slow
def test_a_worker_that_stands_still_costs_nobody_points(tmp_path):
    """Dask notices it, or nobody waits for it: the grades are the same."""
    distributed = pytest.importorskip("distributed", reason=NO_DASK)
    make_class(tmp_path / "in", 6)
    short = ("--grade-total-seconds", "30")
    assert run(tmp_path / "in", tmp_path / "here", *short).returncode == 0
    with workers(distributed) as two:
        hanging = two.workers[0].pid
        os.kill(hanging, signal.SIGSTOP)
        try:
            done = run(tmp_path / "in", tmp_path / "there", *short, "--grade-dask", two.scheduler_address)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(hanging, signal.SIGCONT)
    assert done.returncode == 0, done.stdout
    assert "of 6 graded on the cluster" in done.stdout
    assert table(tmp_path / "there") == table(tmp_path / "here")


def once_it_began(how, distributed, one):
    """What may happen to a cluster while others wait for it."""
    if how == "restarted":
        with distributed.Client(one.scheduler_address) as another:
            another.restart()
    if how == "closed":
        threading.Thread(target=one.close).start()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["hangs", "restarted", "closed"])
def test_a_cluster_that_goes_away_keeps_nobody_waiting(monkeypatch, tmp_path, how):
    distributed = pytest.importorskip("distributed", reason=NO_DASK)

    end = tmp_path / "end"

    def one_at_once(task):
        while task and not end.exists():
            time.sleep(0.1)
        return "{}"

    def first_came(done, total):
        if done == 1:
            monkeypatch.setattr(cluster, "PATIENCE", 1)  # from here on: until then a busy machine may take its time
            once_it_began(how, distributed, one)

    kept = []
    monkeypatch.setattr(cluster, "grade_one", one_at_once)
    monkeypatch.setattr(cluster, "_tasks", lambda state: [(f"s{i}", f"key{i}", i) for i in range(3)])
    monkeypatch.setattr(cluster, "keep", lambda state, submission, key, text: kept.append(submission))
    known = SimpleNamespace(limits=sandbox.Limits(total_seconds=0.2 if how == "hangs" else 600))
    with workers(distributed, 1) as one:
        came, sent, trouble = cluster.grade_remotely(one.scheduler_address, known, first_came)
        end.touch()
    assert (came, sent, kept) == (["s0"], 3, ["s0"])
    assert trouble == ("" if how == "hangs" else "a task was cancelled")


@pytest.mark.slow
def test_the_first_error_of_a_worker_is_told(tmp_path):
    distributed = pytest.importorskip("distributed", reason=NO_DASK)
    write(tmp_path / "in", "anna", hostile.solved(("07-launch",)))
    bare = tmp_path / "bare" / "coursework"
    bare.mkdir(parents=True)
    (bare / "__init__.py").write_text("raise ImportError('half an installation')\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(bare.parent))
        one = workers(distributed, 1)
    with one:
        done = run(tmp_path / "in", tmp_path / "out", "--grade-dask", one.scheduler_address)
    assert done.returncode == 0, done.stdout
    told = "0 of 1 graded on the cluster; the other 1 are graded here. The first trouble: a worker could not grade: "
    assert told in done.stdout
    assert "half an installation" in done.stdout
    assert [row["points"] for row in table(tmp_path / "out")] == ["2"]
