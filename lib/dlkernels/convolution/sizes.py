"""How large the numbers of an array are: what tells whether an algorithm that adds before it multiplies can be trusted."""

from collections import namedtuple

import numpy as np

from .. import team
from ..simd import broadcast, lanes, load, maximum, reduce_add, store, vector_width
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share

PART = 1 << 15  # elements of a task
PARALLEL_FROM = 1 << 18  # elements; below, waking the threads costs more than it gains

#: The largest absolute value and the mean of all. The mean is NaN or infinite where an element is.
Sizes = namedtuple("Sizes", "largest mean")


@inner_njit()
def _part(arguments, task, who):
    line, count, found = arguments
    size, source, zero = lanes(line), memory(line), line.dtype.type(0)
    first, last = task * PART, min((task + 1) * PART, count)
    most, sums, other_most, other = broadcast(zero), broadcast(zero), broadcast(zero), broadcast(zero)
    whole = first + (last - first) // (2 * size) * (2 * size)
    for k in range(first, whole, 2 * size):
        v, w = load(source, k), load(source, k + size)
        v, w = maximum(v, -v), maximum(w, -w)
        most, other_most, sums, other = maximum(most, v), maximum(other_most, w), sums + v, other + w
    largest, total = zero, reduce_add(sums + other)
    lane = found[task, 2:]
    store(lane, 0, maximum(most, other_most))
    for k in range(size):
        largest = max(largest, lane[k])
    for k in range(whole, last):
        largest, total = max(largest, abs(line[k])), total + abs(line[k])
    found[task, 0], found[task, 1] = largest, total


@cached_njit()
def _parts(line, count, found, threads, team):
    share(_part, (line, count, found), found.shape[0], threads, 0, team)


def sizes(x):
    """The `Sizes` of a contiguous array that is not empty."""
    line = x.reshape(-1)
    found = np.empty((-(-line.size // PART), 2 + vector_width(x.dtype)), x.dtype)
    threads = 1 if line.size < PARALLEL_FROM else team.size()
    _parts(line, line.size, found, threads, team.members())
    return Sizes(float(found[:, 0].max()), float(found[:, 1].sum(dtype=np.float64)) / line.size)
