"""The norm of all gradients and their clipping, on the CPU.

The ladder of clip_grad_norm          what the rung adds
    clip_grad_norm_passes     NumPy: squares, then their sum, array by array; then each array times the factor
    clip_grad_norm_compiled   the sum without an array of squares, in float64
    clip_grad_norm_team       all arrays in one call: the sum of each block by itself, in vectors; the sums of blocks
                              are added in their order, so no bit depends on which thread had which

Where no clipping is needed and the gradients are their own result, the second pass is left out.
"""

import math

import numpy as np

from .. import team
from ..implementations import implementation
from ..simd import lanes, load, store
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory_at
from ..team import share
from .cpu import ALONE, block_of, flat, table
from .groups import as_tuple


def _arrays(grads, results):
    """[(a gradient as a line, the array for its result), ...] of those that have elements."""
    return [(flat(g), out) for g, out in zip(grads, as_tuple(results[1]), strict=True) if g.size]


@inner_njit(error_model="numpy")
def _factor(norm, most):
    """What all gradients are multiplied by. NaN where the norm is: min(1, NaN) would be 1."""
    factor = most / (norm + 1e-6)
    return 1.0 if factor > 1 else factor


def _two_passes(squares, scale, most, grads, results):
    """The norm by squares(line), then each array by scale(line, factor, where)."""
    pairs = _arrays(grads, results)
    norm = math.sqrt(sum(float(squares(g)) for g, _ in pairs))
    results[0][...] = norm
    factor = results.dtype.type(_factor.py_func(norm, most))
    for g, out in pairs:
        scale(g.reshape(out.shape), factor, out)
    return results


@implementation("clip_grad_norm", "cpu", adds="NumPy: an array of squares, and its sum; then each array times a factor")
def clip_grad_norm_passes(most, grads, results):
    return _two_passes(lambda g: np.square(g, dtype=np.float64).sum(), np.multiply, most, grads, results)


@inner_njit(error_model="numpy", fastmath={"reassoc", "contract"})
def _squares(line, start, stop):
    """The sum of squares, in float64: in vectors, since it may be added up in any order, the same one each time."""
    total, part = 0.0, line[start:stop]  # from 0 on: an index that may be negative keeps a loop from vectors
    for i in range(stop - start):
        total += np.float64(part[i]) * np.float64(part[i])
    return total


@cached_njit()
def _squares_compiled(line):
    return _squares(line, 0, line.size)


@implementation("clip_grad_norm", "cpu", adds="the sum of squares in one pass, without an array of them")
def clip_grad_norm_compiled(most, grads, results):
    return _two_passes(_squares_compiled, np.multiply, most, grads, results)


@inner_njit()
def _squares_part(arguments, task, who):
    rows, like, sums = arguments
    row, start, stop = block_of(rows, task)
    sums[task] = _squares(memory_at(rows[row, 2], like), start, stop)


@inner_njit()
def _scale_part(arguments, task, who):
    rows, like, factor = arguments
    row, i, last = block_of(rows, task)
    line, out, width = memory_at(rows[row, 2], like), memory_at(rows[row, 3], like), lanes(like)
    while i + width <= last:
        store(out, i, load(line, i) * factor)
        i += width
    while i < last:
        out[i] = line[i] * factor
        i += 1


@cached_njit(error_model="numpy")
def _clip_shared(most, rows, tasks, like, sums, threads, least, team):
    """The norm; the clipped gradients where `rows` says."""
    share(_squares_part, (rows, like, sums), tasks, threads, least, team)
    total = 0.0
    for task in range(tasks):  # one after the other, on any number of threads
        total += sums[task]
    norm = math.sqrt(total)
    factor = like.dtype.type(_factor(norm, most))
    moved = False
    for row in range(rows.shape[0]):
        moved |= rows[row, 2] != rows[row, 3]
    if moved or factor != 1:
        share(_scale_part, (rows, like, factor), tasks, threads, least, team)
    return norm


@implementation(
    "clip_grad_norm",
    "cpu",
    adds="all arrays in one call; a sum for each block, added in their order; no second pass where none is needed",
    public=True,
)
def clip_grad_norm_team(most, grads, results):
    rows, size, tasks, back, copies = table((grads,), results[1:])
    results[0][...] = 0
    if tasks:
        sums, like, threads = np.empty(tasks), np.empty(0, results.dtype), 1 if size < ALONE else team.size()
        results[0][...] = _clip_shared(most, rows, tasks, like, sums, threads, size // 16, team.members())
    for target, line in back:
        target[...] = line
    del copies
    return results
