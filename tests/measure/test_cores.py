"""Threads of a pool are given a core each, and are free again afterwards."""

import os
import threading

import numba
import numpy as np
import pytest
from numba import njit, prange

from cpulab.measure import cores, times
from cpulab.measure.timing import Clock

pytestmark = pytest.mark.skipif(
    not cores.can_pin() or len(os.sched_getaffinity(0)) < 2, reason="needs Linux and two cores"
)


@njit(parallel=True)
def busy(out):
    for i in prange(out.size):
        total = 0.0
        for j in range(200_000):
            total += (i + j) % 7
        out[i] = total


def where():
    return {int(task.name): os.sched_getaffinity(int(task.name)) for task in cores.TASKS.iterdir()}


def test_each_thread_that_works_gets_its_own_core_and_is_free_again():
    free = os.sched_getaffinity(0)
    out = np.empty(2 * numba.config.NUMBA_NUM_THREADS)
    busy(out)
    with cores.one_core_each([lambda: busy(out)], Clock()) as pinned:
        now = where()
        assert threading.get_native_id() in pinned
        assert all(now[thread] == {core} for thread, core in pinned.items())
        assert len(set(pinned.values())) == len(pinned) > 1
    assert all(mask == free for thread, mask in where().items() if thread in pinned)


def test_a_thread_that_computes_is_seen_and_waited_for():
    @njit(nogil=True)
    def compute(steps):
        total = 0.0
        for i in range(steps):
            total += i % 7
        return total

    compute(10)
    worker = threading.Thread(target=compute, args=(100_000_000,))
    assert not cores.others_run()
    worker.start()
    assert cores.others_run()
    cores.settle(Clock(), limit=60)
    assert not worker.is_alive()
    assert not cores.others_run()


def test_a_function_of_one_thread_changes_nothing():
    free = os.sched_getaffinity(0)
    with cores.one_core_each([lambda: sum(range(1000))], Clock()) as pinned:
        assert pinned == {}
        assert os.sched_getaffinity(0) == free


def test_cores_are_free_again_after_an_error():
    free = os.sched_getaffinity(0)
    out = np.empty(2 * numba.config.NUMBA_NUM_THREADS)
    with pytest.raises(ZeroDivisionError), cores.one_core_each([lambda: busy(out)], Clock()):
        raise ZeroDivisionError
    assert os.sched_getaffinity(0) == free


def test_times_pins_and_measures():
    out = np.empty(2 * numba.config.NUMBA_NUM_THREADS)
    seen = []

    def candidate():
        busy(out)
        seen.append(frozenset(os.sched_getaffinity(0)))

    measured = times({"a": candidate, "b": candidate}, budget=0.2, pin=True)
    assert len(seen[-1]) == 1
    assert measured.ratio("a", "b").ratio > 0
    assert len(os.sched_getaffinity(0)) > 1
