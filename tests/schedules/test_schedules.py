"""Every schedule hands out every iteration once, in chunks of the promised sizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import get_num_threads, njit, prange

from dlkernels.schedules import LINE, next_dynamic, next_guided, next_stolen, own_ranges, static_part

pytestmark = pytest.mark.quick

COUNTS = st.integers(0, 300)
THREADS = st.integers(1, 9)


@njit(parallel=True)
def run_dynamic(seen, chunk):
    counter = np.zeros(1, np.int64)
    for _t in prange(get_num_threads()):
        first, last = next_dynamic(counter, seen.size, chunk)
        while first < last:
            seen[first:last] += 1
            first, last = next_dynamic(counter, seen.size, chunk)


@njit(parallel=True)
def run_guided(seen, least):
    counter = np.zeros(1, np.int64)
    for _t in prange(get_num_threads()):
        first, last = next_guided(counter, seen.size, get_num_threads(), least)
        while first < last:
            seen[first:last] += 1
            first, last = next_guided(counter, seen.size, get_num_threads(), least)


@njit(parallel=True)
def run_stealing(seen, chunk):
    ranges = own_ranges(seen.size, get_num_threads())
    for t in prange(get_num_threads()):
        first, last = next_stolen(ranges, t, chunk)
        while first < last:
            seen[first:last] += 1
            first, last = next_stolen(ranges, t, chunk)


@pytest.mark.parametrize("run", [run_dynamic, run_guided, run_stealing])
@pytest.mark.parametrize(("n", "chunk"), [(0, 1), (1, 4), (5, 1), (4096, 1), (100_003, 7), (100_003, 1000)])
def test_every_iteration_runs_once_in_parallel(run, n, chunk):
    for _ in range(20):
        seen = np.zeros(n, np.int64)
        run(seen, chunk)
        assert (seen == 1).all()


@given(COUNTS, THREADS)
def test_static_parts_are_contiguous_and_even(n, threads):
    parts = [static_part(n, threads, t) for t in range(threads)]
    assert [i for first, last in parts for i in range(first, last)] == list(range(n))
    sizes = [last - first for first, last in parts]
    assert max(sizes) - min(sizes) <= 1


@given(COUNTS, st.integers(1, 50))
def test_dynamic_chunks(n, chunk):
    counter, at = np.zeros(1, np.int64), 0
    while at < n:
        assert next_dynamic(counter, n, chunk) == (at, min(n, at + chunk))
        at += chunk
    first, last = next_dynamic(counter, n, chunk)
    assert first == last


@given(COUNTS, THREADS, st.integers(1, 20))
def test_guided_chunks_shrink_to_the_least(n, threads, least):
    counter, at, sizes = np.zeros(1, np.int64), 0, []
    while at < n:
        first, last = next_guided(counter, n, threads, least)
        assert first == at < last
        sizes.append(last - first)
        at = last
    assert at == n
    assert sizes[:-1] == sorted(sizes[:-1], reverse=True)
    assert all(size >= least for size in sizes[:-1])
    assert next_guided(counter, n, threads, least) == (n, n)


@given(COUNTS, THREADS, st.integers(1, 20), st.randoms(use_true_random=False))
def test_stealing_in_any_order_of_threads(n, threads, chunk, random):
    ranges, seen, waiting = own_ranges(n, threads), np.zeros(n, int), set(range(threads))
    while waiting:
        t = random.choice(sorted(waiting))
        first, last = next_stolen(ranges, t, chunk)
        assert last - first <= chunk
        seen[first:last] += 1
        if first == last:
            waiting.discard(t)
    assert (seen == 1).all()


def test_a_thief_takes_the_upper_half_of_what_is_left():
    ranges = own_ranges(20, 2)  # 0-9 and 10-19
    for _ in range(5):
        next_stolen(ranges, 1, 2)
    assert next_stolen(ranges, 1, 2) == (5, 7)  # thread 0 keeps 0-4, thread 1 has 5-9 and begins with two
    assert next_stolen(ranges, 0, 3) == (0, 3)


def test_ranges_of_two_threads_never_share_a_cache_line():
    assert own_ranges(100, 4).nbytes == 4 * 64
    assert LINE * 8 == 64


def test_loops_too_long_for_a_packed_range_are_refused():
    with pytest.raises(ValueError, match="less than 2"):
        own_ranges(1 << 31, 2)
