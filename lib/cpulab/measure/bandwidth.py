"""Bandwidth over sizes: how many bytes a second a core reads from each level of memory."""

import numpy as np
from numba import njit, prange

from dlkernels.simd import lanes, load, reduce_add
from dlkernels.simd.cache import cached_njit

from .levels import Ladder, cache_levels, check_sizes
from .lines import empty_aligned
from .timing import Clock, limit_threads
from .turns import HURRY, alone

SAMPLE = 5e-4  # seconds that one sample lasts at least: short, to fit between two disturbances
PASSES = 2 if HURRY else 12  # apart in time, so that one disturbance does not spoil all samples of a size
CHAINS = 8  # sums that grow at the same time: one alone would wait for each of its additions


@cached_njit(parallel=True)
def read_all(x, threads, repeat):
    """Read ``x``, a 1-D float32 array, ``repeat`` times: each thread its part. Returns the sum of what it read.

    The size must be a multiple of ``threads * 8 * lanes(x)``; what is left over is not read.
    """
    total = np.zeros(16 * threads, np.float32)  # apart by a line
    width = lanes(x)
    part = x.size // threads // (CHAINS * width) * (CHAINS * width)
    for t in prange(threads):
        start = t * part
        a = load(x, start)
        b, c, d, e, f, g, h = a, a, a, a, a, a, a
        for _ in range(repeat):
            for i in range(start, start + part, CHAINS * width):
                a = a + load(x, i)
                b = b + load(x, i + width)
                c = c + load(x, i + 2 * width)
                d = d + load(x, i + 3 * width)
                e = e + load(x, i + 4 * width)
                f = f + load(x, i + 5 * width)
                g = g + load(x, i + 6 * width)
                h = h + load(x, i + 7 * width)
        total[16 * t] = reduce_add(((a + b) + (c + d)) + ((e + f) + (g + h)))
    return total.sum()


def bandwidth_ladder(sizes=None, threads=1, clock=None):
    """Byte/s read by ``threads`` threads together, for each number of bytes in ``sizes``. A `Ladder`.

    Default sizes: 4 KiB to four times the largest cache. The best of several samples counts: a disturbance makes memory
    slower, never faster. Takes a few seconds.
    """
    sizes, clock = check_sizes(sizes), clock or Clock()
    memory = empty_aligned(sizes[-1] // 4)
    memory[:] = 0
    best = [0.0] * len(sizes)
    with limit_threads(threads):
        grain = 4 * threads * CHAINS * _width(memory)
        read_all(memory, threads, 1)  # compiles, which disturbs nobody
        with alone():
            for _ in range(PASSES):
                for k, size in enumerate(sizes):
                    count = max(size // grain, 1) * grain // 4
                    best[k] = max(best[k], _rate(memory[:count], threads, clock))
    plural = "s" if threads > 1 else ""
    return Ladder(f"read by {threads} thread{plural}", "B/s", sizes, tuple(best), cache_levels())


@njit
def _width(x):
    return lanes(x)


def _rate(data, threads, clock):
    """Byte/s over ``data``, read often enough to fill a sample."""
    read_all(data, threads, 1)
    repeat = 1
    while True:
        start = clock.now()
        read_all(data, threads, repeat)
        elapsed = clock.now() - start
        if elapsed >= SAMPLE:
            return repeat * data.nbytes / elapsed
        repeat = max(2 * repeat, int(1.2 * repeat * SAMPLE / max(elapsed, 1e-7)))
