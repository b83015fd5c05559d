"""How large the numbers of arrays are: what tells whether an algorithm that adds before it multiplies can be
trusted."""

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
    lines, partial = arguments
    line_index, part = 0, task
    while part >= _parts_of(lines[line_index]):
        part -= _parts_of(lines[line_index])
        line_index += 1
    line = lines[line_index]
    size, source, zero = lanes(line), memory(line), line.dtype.type(0)
    start, end = part * PART, min((part + 1) * PART, line.size)
    max_0, sum_0, max_1, sum_1 = broadcast(zero), broadcast(zero), broadcast(zero), broadcast(zero)
    vector_end = start + (end - start) // (2 * size) * (2 * size)
    for k in range(start, vector_end, 2 * size):
        v, w = load(source, k), load(source, k + size)
        v, w = maximum(v, -v), maximum(w, -w)
        max_0, max_1, sum_0, sum_1 = maximum(max_0, v), maximum(max_1, w), sum_0 + v, sum_1 + w
    largest, total = reduce_max(maximum(max_0, max_1)), reduce_add(sum_0 + sum_1)
    for k in range(vector_end, end):
        number = abs(line[k])
        largest, total = number if number > largest else largest, total + number
    partial[task, 0], partial[task, 1] = largest, total


@cached_njit()
def _sizes(lines, partial, result, threads, team):
    """(largest, mean) of each of the lines, into `result`, which comes as zeros. partial: two numbers for each part."""
    task = 0
    share(_part, (lines, partial), len(partial), threads, 0, team)
    for line_index in range(len(lines)):
        for _ in range(_parts_of(lines[line_index])):
            if partial[task, 0] > result[line_index, 0]:
                result[line_index, 0] = partial[task, 0]
            result[line_index, 1] += partial[task, 1]
            task += 1
        result[line_index, 1] /= lines[line_index].size or 1


def sizes(*arrays):
    """The `Sizes` of each of some contiguous arrays of one dtype that are not empty."""
    lines = tuple(array.reshape(-1) for array in arrays)
    if len(lines) == 1:  # compiled for two, and not for one as well
        lines = lines[0], lines[0][:0]
    partial = np.empty((sum(-(-line.size // PART) for line in lines), 2))
    found = np.zeros((len(lines), 2))
    _sizes(lines, partial, found, team.size(), team.members())
    return [Sizes(*pair) for pair in found[: len(arrays)].tolist()]
