"""Latency over sizes: how long a core waits for a number whose address it has only now learnt.

Loads whose addresses are known beforehand overlap, and their latency cannot be seen. So we chase pointers: every
element holds the index of the next, and the order is random, so that no prefetcher can guess it. One element is used in
each cache line; together they form a single cycle (Sattolo, An algorithm to generate a random cyclic permutation,
Information Processing Letters 22, 1986), so that every line is visited before any is visited again.
"""

import numpy as np
from numba import njit

from .levels import Ladder, cache_levels, check_sizes
from .lines import empty_aligned, line_bytes
from .timing import Clock
from .turns import HURRY, alone

STEPS = 10_000  # loads in one sample: short, to fit between two disturbances
PASSES = 2 if HURRY else 12


def random_cycle(n, seed=0):
    """int64 of shape (n,), a permutation that is one single cycle through all of 0 ... n - 1, by Sattolo's method."""
    # Below i, never i itself: this one difference from a usual shuffle makes it a single cycle.
    partners = (np.random.default_rng(seed).random(n) * np.arange(n)).astype(np.int64)
    return _exchange(partners)


@njit
def _exchange(partners):
    following = np.arange(partners.size)
    for i in range(partners.size - 1, 0, -1):
        j = partners[i]
        following[i], following[j] = following[j], following[i]
    return following


def chain(lines, stride=None, seed=0):
    """A pointer chain through ``lines`` places, ``stride`` bytes apart (default: a cache line).

    int64 of shape (lines * stride / 8,): where a place begins stands the index of the place to visit next. Raises
    ValueError for a stride that is no multiple of 8 bytes.
    """
    stride = stride or line_bytes()
    if stride % 8 or stride < 8 or lines < 2:
        raise ValueError(f"lines is {lines} and stride {stride}; expected at least 2, and a multiple of 8 bytes")
    step = stride // 8
    places = empty_aligned(lines * step, np.int64)
    places[:] = -1  # touches every page, and makes a step to a wrong place an index error
    places[::step] = random_cycle(lines, seed) * step
    return places


@njit
def chase(places, index, steps):
    """Follow a `chain` from ``index``: each load waits for the last."""
    for _ in range(steps):
        index = places[np.uint64(index)]  # unsigned: nothing asks whether index < 0
    return index


def latency_ladder(sizes=None, clock=None):
    """Seconds per load in a chain through each number of bytes in ``sizes``. A `Ladder`.

    In large arrays the time includes finding the page's address (the TLB, a cache of addresses, does not reach that
    far). The best of several samples counts. Takes a few seconds.
    """
    sizes, clock = check_sizes(sizes), clock or Clock()
    values = []
    for size in sizes:
        places = chain(size // line_bytes())
        values.append(seconds_per_load(places, clock))
    return Ladder("time of one load", "s", sizes, tuple(values), cache_levels())


@alone()
def seconds_per_load(places, clock=None):
    """Seconds for one step of a `chain`, after every place was visited once; the best of several samples."""
    clock = clock or Clock()
    index = chase(places, 0, np.count_nonzero(places >= 0))  # whatever fits into a cache is there now
    best = float("inf")
    for _ in range(PASSES):
        start = clock.now()
        index = chase(places, index, STEPS)  # goes on where it stopped: the places seen last are those in the cache
        best = min(best, (clock.now() - start) / STEPS)
    return best
