"""Groups of processes: the same results as over threads, and an end that leaves nothing behind, whatever happens."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import functions
import numpy as np
import psutil
import pytest
from functions import ALGORITHMS, check_everything, given
from leftovers import left, nothing_left

from workers import GroupError, processes, threads

HERE = Path(__file__).parent
SHAPES = ((0,), (1,), (5,), (3, 2), (17, 1, 3))


LONG = [pytest.param(size, marks=pytest.mark.rotates) for size in (1, 4, 5, 8)]


@pytest.mark.parametrize("size", [2, 3, *LONG])
def test_the_same_as_over_threads(size):
    with nothing_left(), processes.Workers(size) as workers:
        for shape in SHAPES:
            check_everything(size, shape, "float32", workers.run(functions.everything, shape, "float32", timeout=60))
        check_everything(size, (7,), "complex64", workers.run(functions.everything, (7,), "complex64", timeout=60))
        for algorithm in ALGORITHMS:
            ours = workers.run(functions.reduced, (50_001,), algorithm, timeout=60)
            theirs = threads.run(functions.reduced, size, (50_001,), algorithm)
            for mine, other in zip(ours, theirs, strict=True):
                assert mine[0].tobytes() == other[0].tobytes()
                assert mine[1:] == other[1:], "bytes and messages"


def test_on_processors_that_reorder_stores(monkeypatch):
    """The counters by atomic operations, as on ARM."""
    monkeypatch.setattr(processes, "ORDERED", False)
    with nothing_left(), processes.Workers(2) as workers:
        check_everything(2, (50_001,), "float32", workers.run(functions.everything, (50_001,), "float32", timeout=60))


def test_programs_on_four_workers():
    with nothing_left(), processes.Workers(4) as workers:
        for function, *args in ((functions.grid,), (functions.ragged,), (functions.overlapped, 3, 100_000),
                                (functions.operations,), (functions.layouts,), (functions.repeated, 5, 777)):  # fmt: skip
            found, expected = workers.run(function, *args, timeout=60), threads.run(function, 4, *args)
            np.testing.assert_equal(found, expected)
        found = workers.run(functions.from_any, 5, timeout=60)[0]
        assert sorted(found) == [(source, [source, number]) for source in (1, 2, 3) for number in range(5)]
        big = 1 << 20  # more than a ring buffer holds
        for rank, got in enumerate(workers.run(functions.both_send, big, timeout=60)):
            assert np.array_equal(got, given(rank ^ 1, (big,)))


WRONG = [
    (functions.all_receive, "all workers wait for one another .* worker 0 receives from 1; worker 1 receives from 2", None),
    (functions.one_forgets, r"worker 0 receives from 1; worker 2 receives from 1; \[1\] have returned", None),
    (functions.other_shape, r"worker \d is in all_reduce sum ring of float32 \(\d,\) and took a message of worker", None),
    (functions.not_received, "worker 1 sent worker 0 a message that it has not received", 1),
    (functions.raises, "worker 2 of 3 raised ZeroDivisionError: no more", 2),
    (functions.aside_raises, r"all_reduce sum ring of float64 \(\d,\) and took", None),
    (functions.goes_on_after_an_error, r"all_reduce sum ring of float64 \(\d,\) and took", None),
    (functions.aside_raises_unheard, r"all_reduce sum ring of float64 \(\d,\) and took", None),
    (functions.raises_speechless, "worker 1 of 3 raised Speechless, whose words cannot be had", 1),
    (functions.exits, "worker 1 of 3 exited with status 3 before it returned", 1),
    (functions.unpicklable, r"worker \d of 3 raised TypeError: what it returned, a function, cannot be pickled", None),
]  # fmt: skip


@pytest.mark.parametrize(("function", "words", "rank"), WRONG, ids=[row[0].__name__ for row in WRONG])
@pytest.mark.rotates
def test_a_wrong_program_is_told(function, words, rank):
    with nothing_left(), processes.Workers(3) as workers:
        with pytest.raises(GroupError, match=words) as caught:
            workers.run(function, timeout=60)
        assert rank is None or caught.value.rank == rank
        with pytest.raises(ValueError, match="these workers have ended"):
            workers.run(function)


def test_a_worker_that_hangs():
    words = "time is up after 2 s: worker 0 receives from 1; worker 1 computes"
    with nothing_left(), pytest.raises(GroupError, match=words) as caught:
        processes.run(functions.hangs, 2, timeout=2)
    assert caught.value.rank == 1


def test_a_worker_that_is_stopped(tmp_path):
    """SIGSTOP: it takes no signal but SIGKILL."""
    with nothing_left(), processes.Workers(2) as workers:
        victim = workers._processes[1].pid
        threading.Timer(0.3, os.kill, (victim, signal.SIGSTOP)).start()
        with pytest.raises(GroupError, match="time is up"):
            workers.run(functions.works, timeout=2)


def test_functions_must_be_importable(monkeypatch):
    def inside(group):
        """Cannot be pickled."""

    with nothing_left(), processes.Workers(1) as workers, pytest.raises(AttributeError, match="local object"):
        workers.run(inside)
    monkeypatch.setattr(inside, "__module__", "__main__")
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    with processes.Workers(1) as workers, pytest.raises(ValueError, match="inside is defined in a notebook"):
        workers.run(inside)


def test_after_a_notebook_was_reset(monkeypatch):
    """IPython's %reset empties the module __main__, its __spec__ included."""
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
    vars(sys.modules["__main__"]).clear()
    with nothing_left(), processes.Workers(1) as workers:
        assert workers.run(functions.variable, "OMP_NUM_THREADS")


def test_sizes():
    for size in (0, 63):
        with pytest.raises(ValueError, match=f"size={size}: expected 1 to 62"):
            processes.Workers(size)


def test_threads_of_a_worker():
    """The variables are set in the workers, and here as they were."""
    before = dict(os.environ)
    with processes.Workers(1, threads=3) as workers:
        assert workers.run(functions.variable, "OMP_NUM_THREADS") == ["3"]
    assert dict(os.environ) == before


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/shm is looked at")
@pytest.mark.parametrize("kills", [3, pytest.param(200, marks=pytest.mark.slow)])
def test_workers_killed_at_random_moments(kills):
    """SIGKILL while they send, add and wait: one message that names the worker; nothing is left."""
    seed = int(time.time()) if kills > 100 else 14
    chance = random.Random(seed)
    moments = []
    for number in range(kills):
        size = chance.choice((2, 3, 4))
        with nothing_left(), processes.Workers(size) as workers:
            victim, moment = chance.randrange(size), chance.uniform(0, 0.15)
            pid = workers._processes[victim].pid
            timer = threading.Timer(moment, os.kill, (pid, signal.SIGKILL))
            timer.start()
            words = f"worker {victim} of {size} was killed by SIGKILL before it returned"
            with pytest.raises(GroupError, match=words) as caught:
                workers.run(functions.works, timeout=120)
            assert caught.value.rank == victim, f"seed {seed}, kill {number}"  # exact: only the seed is a clock's
            moments.append(moment)
    assert len(moments) == kills


PARENT = """
import sys
sys.path.insert(0, {here!r})
import functions
from workers import processes
if __name__ == "__main__":
    processes.run(getattr(functions, {name!r}), 3, *{args!r})
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/shm is looked at")
@pytest.mark.parametrize("name", ["works", "computes_for_ever"])
@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_the_parent_is_killed(kills, name, tmp_path):
    chance, names = random.Random(kills), left()
    program = tmp_path / "parent.py"
    for number in range(kills):
        folder = tmp_path / str(number)
        folder.mkdir()
        args = (10**9, str(folder)) if name == "works" else (str(folder),)
        program.write_text(PARENT.format(here=str(HERE), name=name, args=args), encoding="utf-8")
        parent = subprocess.Popen([sys.executable, program], stderr=subprocess.DEVNULL)
        pids = [told(folder / str(rank)) for rank in range(3)]
        time.sleep(chance.uniform(0, 0.1))
        parent.kill()
        parent.wait()
        gone_by = time.monotonic() + 120
        while time.monotonic() < gone_by and (any(map(psutil.pid_exists, pids)) or left() - names):
            time.sleep(0.02)
        assert not [pid for pid in pids if psutil.pid_exists(pid)]
        assert not left() - names, "the tracker takes the semaphores' names away, too"


def told(path):
    until = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < until, f"{path} has not come"
        time.sleep(0.01)
    return int(path.read_text())
