"""Threads of a pool are given a core each, and are free again afterwards."""

import contextlib
import os
import threading
import time

import numba
import numpy as np
import pytest
from numba import njit, prange

from cpulab.measure import cores, times
from dlkernels.simd.atomic import atomic_load

from .test_timing import Machine

pytestmark = pytest.mark.skipif(
    not cores.can_pin() or len(os.sched_getaffinity(0)) < 2, reason="needs Linux and two cores"
)
PATIENCE = 120  # seconds


@njit(parallel=True)
def busy(out):
    for i in prange(out.size):
        total = 0.0
        for j in range(200_000):
            total += (i + j) % 7
        out[i] = total


def where():
    found = {}
    for task in cores.TASKS.iterdir():
        with contextlib.suppress(OSError):  # a thread that has just ended
            found[int(task.name)] = os.sched_getaffinity(int(task.name))
    return found


class Pool(Machine):
    """Threads that do nothing, and are said to have worked: `shares` of each call's time of a hundredth of a second."""

    def __init__(self, monkeypatch, shares):
        super().__init__()
        self.end = threading.Event()
        self.threads = [threading.Thread(target=self.end.wait, daemon=True) for _ in shares]
        for thread in self.threads:
            thread.start()
        self.ids = [threading.get_native_id(), *(thread.native_id for thread in self.threads)]
        self.spent = dict.fromkeys(where(), 5.0)  # what each worked before
        self.shares = dict(zip(self.ids, (1, *shares), strict=True))
        self.seen = []
        monkeypatch.setattr(cores, "used", self.spent.copy)

    def work(self):
        self.seen.append(os.sched_getaffinity(0))
        self.advance(0.01, working=True)
        for thread, share in self.shares.items():
            self.spent[thread] += 0.01 * share


@pytest.fixture
def pool(monkeypatch, request):
    made = Pool(monkeypatch, request.param)
    yield made
    made.end.set()


@pytest.mark.parametrize("pool", [(0.9, 0.1), (0.3, 0)], indirect=True)
def test_each_thread_that_works_gets_its_own_core_and_is_free_again(pool):
    """A thread that worked for less than a quarter of the busiest one's time does not belong to the team."""
    free = os.sched_getaffinity(0)
    with cores.one_core_each([pool.work], pool) as pinned:
        now = where()
        assert list(pinned) == [pool.ids[1], pool.ids[0]]
        assert all(now[thread] == {core} for thread, core in pinned.items())
        assert pinned[pool.ids[0]] != pinned[pool.ids[1]]
    assert all(mask == free for thread, mask in where().items() if thread in pinned)


@pytest.mark.parametrize("pool", [(0.5,)], indirect=True)
def test_threads_are_watched_for_longer_where_others_have_the_cores(pool):
    """The clock goes on, our threads do not: until one has worked for half of the time."""
    pool.shares = dict.fromkeys(pool.ids, 0.1)
    with cores.one_core_each([pool.work], pool) as pinned:
        assert len(pinned) == 2
    assert 0.5 == pytest.approx(pool.time, abs=0.02)
    assert pool.spent[pool.ids[0]] == pytest.approx(5.05, abs=2e-3)


@pytest.mark.parametrize("pool", [(0, 0.2)], indirect=True)
def test_a_function_of_one_thread_changes_nothing(pool):
    free = os.sched_getaffinity(0)
    with cores.one_core_each([pool.work], pool) as pinned:
        assert pinned == {}
        assert os.sched_getaffinity(0) == free


@pytest.mark.parametrize("pool", [(1,)], indirect=True)
def test_cores_are_free_again_after_an_error(pool):
    free = os.sched_getaffinity(0)
    with pytest.raises(ZeroDivisionError), cores.one_core_each([pool.work], pool):
        raise ZeroDivisionError
    assert os.sched_getaffinity(0) == free


@pytest.mark.parametrize("pool", [(1,)], indirect=True)
def test_times_pins_and_measures(pool):
    measured = times({"a": pool.work, "b": pool.work}, budget=0.2, pin=True, clock=pool)
    assert len(pool.seen[0]) > 1
    assert len(pool.seen[-1]) == 1
    assert measured.ratio("a", "b").ratio == pytest.approx(1)
    assert len(os.sched_getaffinity(0)) > 1


# what the system says -------------------------------------------------------------------------------------------------


def test_every_thread_has_its_time_and_it_never_gets_less():
    before = cores.used()
    busy(np.empty(2 * numba.config.NUMBA_NUM_THREADS))
    after = cores.used()
    assert set(after) >= {thread.native_id for thread in threading.enumerate()}
    assert all(after.get(thread, spent) >= spent for thread, spent in before.items())


def test_times_and_states_are_read_from_the_right_places(tmp_path, monkeypatch):
    for thread, state in ((7, "R"), (threading.get_native_id(), "S")):
        (tmp_path / str(thread)).mkdir()
        fields = " ".join(str(100 + place) for place in range(4, 53))  # those behind the state, the third
        (tmp_path / str(thread) / "stat").write_text(f"{thread} (a (b) c) {state} {fields}\n")
    monkeypatch.setattr(cores, "TASKS", tmp_path)
    assert cores.used() == dict.fromkeys((7, threading.get_native_id()), (114 + 115) * cores.TICKS)
    assert cores.others_run()
    (tmp_path / "7" / "stat").write_text("7 (R) S 0\n")
    (tmp_path / str(threading.get_native_id()) / "stat").write_text("8 (S) R 0\n")  # it is the one that asks
    assert not cores.others_run()


@njit(nogil=True)
def compute(flag):
    rounds = 0
    while atomic_load(flag, 0) == 0:
        rounds += 1
    return rounds


def wait_until(holds):
    ends = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_a_thread_that_computes_is_seen_and_waited_for():
    flag = np.ones(1, np.int64)
    compute(flag)
    wait_until(lambda: not cores.others_run())  # what computed before has come to rest
    flag[0] = 0
    worker = threading.Thread(target=compute, args=(flag,), daemon=True)

    class Waiting(Machine):
        """The third who sleeps ends the computation."""

        def others_work(self):
            return cores.others_run()

        def sleep(self, seconds):
            super().sleep(seconds)
            self.log.append(seconds)
            if len(self.log) == 3:
                flag[0] = 1
                worker.join()

    clock = Waiting()
    worker.start()
    wait_until(cores.others_run)
    cores.settle(clock, limit=60)
    assert len(clock.log) >= 3
    wait_until(lambda: not cores.others_run())
