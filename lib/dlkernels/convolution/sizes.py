"""How large the numbers of arrays are: what tells whether an algorithm that adds before it multiplies can be trusted."""

from collections import namedtuple

import numpy as np

from .. import team
from ..simd import broadcast, lanes, load, maximum, reduce_add, reduce_max
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share

PART = 1 << 14  # elements of a task

#: The largest absolute value and the mean of all. The mean is NaN or infinite where an element is.
Sizes = namedtuple("Sizes", "largest mean")


@inner_njit()
def _parts_of(line):
    return -(-line.size // PART)


@inner_njit()
def _part(arguments, task, who):
    lines, found = arguments
    which, part = 0, task
    while part >= _parts_of(lines[which]):
        part -= _parts_of(lines[which])
        which += 1
    line = lines[which]
    size, source, zero = lanes(line), memory(line), line.dtype.type(0)
    first, last = part * PART, min((part + 1) * PART, line.size)
    most, sums, other_most, other = broadcast(zero), broadcast(zero), broadcast(zero), broadcast(zero)
    whole = first + (last - first) // (2 * size) * (2 * size)
    for k in range(first, whole, 2 * size):
        v, w = load(source, k), load(source, k + size)
        v, w = maximum(v, -v), maximum(w, -w)
        most, other_most, sums, other = maximum(most, v), maximum(other_most, w), sums + v, other + w
    largest, total = reduce_max(maximum(most, other_most)), reduce_add(sums + other)
    for k in range(whole, last):
        largest, total = max(largest, abs(line[k])), total + abs(line[k])
    found[task, 0], found[task, 1] = largest, total


@cached_njit()
def _sizes(lines, threads, team):
    """(largest, mean) of each of the lines."""
    tasks = 0
    for line in lines:
        tasks += _parts_of(line)
    found, result, task = np.empty((tasks, 2)), np.zeros((len(lines), 2)), 0
    share(_part, (lines, found), tasks, threads, 0, team)
    for which in range(len(lines)):
        for _ in range(_parts_of(lines[which])):
            result[which, 0] = max(result[which, 0], found[task, 0])
            result[which, 1] += found[task, 1]
            task += 1
        result[which, 1] /= lines[which].size
    return result


def sizes(*arrays):
    """The `Sizes` of each of some contiguous arrays of one dtype that are not empty."""
    lines = tuple(array.reshape(-1) for array in arrays)
    return [Sizes(*pair) for pair in _sizes(lines, team.size(), team.members()).tolist()]
