"""Work on rows: arrays as lines of memory, a row after the other, shared out over the team.

A row that fits the cache can be read several times for the price of one. So each rung that is fast takes a row through
all its steps before it takes the next one.
"""

import functools
import math

import numpy as np

from .. import team
from ..host import new, plain
from ..simd import lanes, larger, load, reduce_add, reduce_max
from ..simd.inner import inner_njit

ALONE = 1 << 14  # numbers below which waking another thread costs more than it gains


def on_rows(rung):
    """Let `rung`, written for contiguous arrays (rows, n) and a new one, take arrays of one shape along any dimension.

    What does not run along the last dimension, or is not contiguous, is copied first. Empty arrays never reach the
    rung.
    """

    @functools.wraps(rung)
    def wrapper(dim, *arrays):
        moved = [np.moveaxis(x, dim, -1) if x.ndim else x.reshape(1) for x in arrays]
        shape = moved[-1].shape
        out = new(shape, moved[-1].dtype)
        if out.size:
            rows = math.prod(shape[:-1]), shape[-1]
            rung(*(plain(x).reshape(rows) for x in moved), out.reshape(rows))
        return np.ascontiguousarray(np.moveaxis(out, -1, dim)) if arrays[-1].ndim else out.reshape(())

    return wrapper


def shared(rows, n):
    """(tasks, threads, nanoseconds at least) for so many rows of n numbers."""
    size = rows * n
    threads = 1 if size < ALONE else team.size()
    return min(rows, 1 if threads == 1 else 4 * threads), threads, size // 8


@inner_njit()
def part_of(task, tasks, rows):
    """The rows of a task: (start, stop)."""
    return task * rows // tasks, (task + 1) * rows // tasks


@inner_njit()
def largest(line, start, n):
    """The largest of n numbers from `start` on. A NaN is larger than none: what is computed from it will be NaN."""
    width, top, i = lanes(line), line.dtype.type(-np.inf), 0
    if n >= 2 * width:
        top0, top1 = load(line, start), load(line, start + width)
        i = 2 * width
        while i + 2 * width <= n:
            top0, top1 = larger(load(line, start + i), top0), larger(load(line, start + i + width), top1)
            i += 2 * width
        top = reduce_max(larger(top1, top0))
    while i < n:
        x = line[start + i]
        top = x if x > top else top
        i += 1
    return top


@inner_njit()
def total(line, start, n):
    """The sum of n numbers."""
    width, result, i = lanes(line), line.dtype.type(0), 0
    if n >= 2 * width:
        sum0, sum1 = load(line, start), load(line, start + width)
        i = 2 * width
        while i + 2 * width <= n:
            sum0, sum1 = sum0 + load(line, start + i), sum1 + load(line, start + i + width)
            i += 2 * width
        result = reduce_add(sum0 + sum1)
    while i < n:
        result += line[start + i]
        i += 1
    return result
