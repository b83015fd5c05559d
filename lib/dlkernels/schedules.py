"""Who runs which iterations? Four answers, as functions that hand out chunks of a loop to numba threads.

static     everybody's part is known before the loop starts
dynamic    whoever is free takes the next chunk
guided     the same, with large chunks first and small ones at the end
stealing   everybody has a part, and who is done takes half of what another has left

They serve a ``prange`` over the threads, so they work alike with all of numba's threading layers::

    @njit(parallel=True)
    def work(n, chunk):
        counter = np.zeros(1, np.int64)
        for _ in prange(get_num_threads()):
            first, last = next_dynamic(counter, n, chunk)
            while first < last:
                for i in range(first, last):
                    ...
                first, last = next_dynamic(counter, n, chunk)

A chunk is (first, last), last excluded; it is empty when nothing is left. OpenMP has the first three under the same
names (OpenMP specification, "schedule" clause); stealing half of what is left is how TBB's ranges are shared out.
"""

import numpy as np
from numba import njit

from .simd.atomic import atomic_load, compare_and_swap, fetch_add

LINE = 8  # int64 in a cache line of 64 bytes: each thread's range has a line of its own
_HALF = 32  # a range is first << 32 | last in one int64, so that one step changes both


@njit
def static_part(n, threads, t):
    """The part of thread ``t``: contiguous, and as long as any other or one iteration shorter."""
    size, rest = divmod(n, threads)
    first = t * size + min(t, rest)
    return first, first + size + (1 if t < rest else 0)


@njit
def next_dynamic(counter, n, chunk):
    """The next ``chunk`` iterations that nobody has.

    ``counter``: int64 array of one zero, shared by all.
    """
    first = fetch_add(counter, 0, chunk)
    return min(first, n), min(first + chunk, n)


@njit
def next_guided(counter, n, threads, least):
    """Half of a fair share of all that is left, but at least ``least``."""
    while True:
        first = atomic_load(counter, 0)
        last = min(n, first + max(least, (n - first) // (2 * threads)))
        if first >= n or compare_and_swap(counter, 0, first, last):
            return min(first, n), last


@njit
def own_ranges(n, threads):
    """What is left to each thread at the beginning, for `next_stolen`: its static part."""
    if n >= 1 << 31:
        raise ValueError("n must be less than 2**31: two ends of a range share one int64")
    ranges = np.zeros(threads * LINE, np.int64)
    for t in range(threads):
        first, last = static_part(n, threads, t)
        ranges[t * LINE] = first << _HALF | last
    return ranges


@njit
def _ends(packed):
    return packed >> _HALF, packed & ((1 << _HALF) - 1)


@njit
def next_stolen(ranges, t, chunk):
    """The next ``chunk`` iterations of thread ``t``; if it has none left, it first takes half of another's."""
    while True:
        packed = atomic_load(ranges, t * LINE)
        first, last = _ends(packed)
        if first < last:
            end = min(first + chunk, last)
            if compare_and_swap(ranges, t * LINE, packed, end << _HALF | last):
                return first, end
        elif not _steal(ranges, t):
            return 0, 0


@njit
def _steal(ranges, t):
    """Move the upper half of another's range to thread ``t``.

    False if nobody has anything left.
    """
    threads = ranges.size // LINE
    for step in range(1, threads):
        victim = (t + step) % threads
        while True:
            packed = atomic_load(ranges, victim * LINE)
            first, last = _ends(packed)
            if first >= last:
                break
            middle = first + (last - first) // 2
            lower_half, upper_half = first << _HALF | middle, middle << _HALF | last
            if compare_and_swap(ranges, victim * LINE, packed, lower_half):
                # Ours is empty: nobody else writes it, so this succeeds.
                empty = atomic_load(ranges, t * LINE)
                compare_and_swap(ranges, t * LINE, empty, upper_half)
                return True
    return False
