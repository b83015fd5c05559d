"""Softmax and its logarithm on the CPU.

The ladder of softmax                      what the rung adds
    softmax_passes         five passes over the array: the largest of each row, differences, exponentials, sums, a
                           division
    softmax_rows           a row goes through all of them, in three loops, while the cache has it
    softmax_online         largest and sum in one pass: the sum so far is corrected when a larger number comes
    softmax_vectors        exponentials of a vector of numbers at once, and rows shared out over all cores

Without the largest number taken away first, e^x would be infinite from 89 on in float32. The online sum is that of
Milakov and Gimelshein, Online normalizer calculation for softmax (2018).
"""

import math

import numpy as np

from .. import team
from ..implementations import implementation
from ..simd import lanes, load, reduce_add, store
from ..simd.cache import cached_njit
from ..simd.dot import dot
from ..simd.exponential import exp
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..simd.vector import broadcast
from ..team import share
from .rows import largest, on_rows, part_of, shared, total

compiled = cached_njit(error_model="numpy")  # 0 / 0 is NaN, not an error


# ---- 1: written in NumPy -----------------------------------------------------------------------------------------


@implementation(
    "softmax",
    device="cpu",
    adds="five passes over the array: the largest of each row, differences from it, their exponentials, sums, a "
    "division",
)
@on_rows
def softmax_passes(x, out):
    with np.errstate(invalid="ignore", over="ignore"):
        np.subtract(x, x.max(axis=1, keepdims=True), out=out)
        np.exp(out, out=out)
        out /= out.sum(axis=1, keepdims=True)


# ---- 2, 3: row by row --------------------------------------------------------------------------------------------


@compiled
def _rows(x, out):
    for r in range(x.shape[0]):
        top = x.dtype.type(-np.inf)
        for i in range(x.shape[1]):
            top = max(top, x[r, i])
        total = x.dtype.type(0)
        for i in range(x.shape[1]):
            out[r, i] = math.exp(x[r, i] - top)
            total += out[r, i]
        for i in range(x.shape[1]):
            out[r, i] /= total


@implementation("softmax", device="cpu", adds="a row goes through all of them, in three loops, while the cache has it")
@on_rows
def softmax_rows(x, out):
    _rows(x, out)


@compiled
def _online(x, out):
    for r in range(x.shape[0]):
        top, total = x.dtype.type(-np.inf), x.dtype.type(0)
        for i in range(x.shape[1]):
            new = x[r, i]
            if new > top:
                total = total * math.exp(top - new) + math.exp(new - new)  # NaN, not 1, if new is infinite
                top = new
            elif new != top or top > -np.inf:
                total += math.exp(new - top)
        for i in range(x.shape[1]):
            out[r, i] = math.exp(x[r, i] - top) / total


@implementation(
    "softmax",
    device="cpu",
    adds="largest and sum in one pass: when a larger number comes, the sum so far is multiplied by what it is too "
    "large by",
)
@on_rows
def softmax_online(x, out):
    _online(x, out)


# ---- 4: vectors, and all cores -----------------------------------------------------------------------------------

TOGETHER, NUMBERS = 8, 4096  # rows that take each step together at most, and numbers of them


@inner_njit(error_model="numpy")
def exponentials(x, x_start, top, n, out, out_start):
    """out = e^(x - top) for n numbers, and their sum."""
    width, result, i = lanes(out), out.dtype.type(0), 0
    if n >= 2 * width:
        sum0, sum1 = broadcast(result), broadcast(result)
        while i + 2 * width <= n:
            exp0, exp1 = exp(load(x, x_start + i) - top), exp(load(x, x_start + i + width) - top)
            store(out, out_start + i, exp0)
            store(out, out_start + i + width, exp1)
            sum0, sum1 = sum0 + exp0, sum1 + exp1
            i += 2 * width
        result = reduce_add(sum0 + sum1)
    while i < n:
        e = exp(x[x_start + i] - top)
        out[out_start + i] = e
        result += e
        i += 1
    return result


@inner_njit(error_model="numpy")
def _softmax_part(arguments, task, who):
    x, out, logarithm, tasks = arguments
    rows, n = out.shape
    line, result = memory(x), memory(out)
    start, stop = part_of(task, tasks, rows)
    # A step of a row waits for the one before it, and not for other rows: several take each step, while the L1 cache
    # has them.
    together = max(1, min(TOGETHER, NUMBERS // n))
    tops, sums = np.empty(TOGETHER, out.dtype), np.empty(TOGETHER, out.dtype)
    for begin in range(start, stop, together):
        count = min(together, stop - begin)
        for r in range(count):
            tops[r] = largest(line, (begin + r) * n, n)
        for r in range(count):
            row_start = (begin + r) * n
            sums[r] = exponentials(line, row_start, tops[r], n, result, row_start)
        for r in range(count):
            finish(line, result, (begin + r) * n, n, tops[r], sums[r], logarithm)


@inner_njit(error_model="numpy")
def finish(line, result, start, n, top, summed, logarithm):
    """Exponentials become the softmax of a row, or its logarithm."""
    width, i = lanes(result), 0
    if logarithm:
        logarithm_of_sum = math.log(summed)
        while i + width <= n:
            store(result, start + i, (load(line, start + i) - top) - logarithm_of_sum)
            i += width
        while i < n:
            result[start + i] = (line[start + i] - top) - logarithm_of_sum
            i += 1
    else:
        factor = result.dtype.type(1) / summed
        while i + width <= n:
            store(result, start + i, factor * load(result, start + i))
            i += width
        while i < n:
            result[start + i] *= factor
            i += 1


@compiled
def _softmax_shared(x, out, logarithm, tasks, threads, least, team):
    share(_softmax_part, (x, out, logarithm, tasks), tasks, threads, least, team)


def by_vectors(x, out, logarithm):
    tasks, threads, least = shared(*out.shape)
    _softmax_shared(x, out, logarithm, tasks, threads, least, team.members())


@implementation(
    "softmax",
    device="cpu",
    adds="exponentials of a vector of numbers at once, by additions and multiplications; rows shared out over cores",
    public=True,
)
@on_rows
def softmax_vectors(x, out):
    by_vectors(x, out, False)


# ---- its logarithm -----------------------------------------------------------------------------------------------


@implementation("log_softmax", device="cpu", adds="five passes over the array; the logarithm of the sum is taken away")
@on_rows
def log_softmax_passes(x, out):
    with np.errstate(invalid="ignore", over="ignore"):
        np.subtract(x, x.max(axis=1, keepdims=True), out=out)
        out -= np.log(np.exp(out).sum(axis=1, keepdims=True))


@implementation(
    "log_softmax",
    device="cpu",
    adds="row by row, exponentials of a vector of numbers at once; rows shared out over all cores",
    public=True,
)
@on_rows
def log_softmax_vectors(x, out):
    by_vectors(x, out, True)


# ---- gradients ---------------------------------------------------------------------------------------------------


@inner_njit(error_model="numpy")
def _gradient_part(arguments, task, who):
    """With y the softmax: y (grad - sum of grad y), or for its logarithm grad - y sum of grad."""
    grad, x, out, logarithm, tasks = arguments
    rows, n = out.shape
    grad, line, result = memory(grad), memory(x), memory(out)
    start, stop = part_of(task, tasks, rows)
    for r in range(start, stop):
        row_start = r * n
        factor = out.dtype.type(1) / exponentials(line, row_start, largest(line, row_start, n), n, result, row_start)
        width, i = lanes(out), 0
        if logarithm:
            factor *= total(grad, row_start, n)
            while i + width <= n:
                store(result, row_start + i, load(grad, row_start + i) - factor * load(result, row_start + i))
                i += width
            while i < n:
                result[row_start + i] = grad[row_start + i] - factor * result[row_start + i]
                i += 1
        else:
            inner = factor * dot(grad, row_start, result, row_start, n)
            while i + width <= n:
                store(result, row_start + i, factor * load(result, row_start + i) * (load(grad, row_start + i) - inner))
                i += width
            while i < n:
                result[row_start + i] = factor * result[row_start + i] * (grad[row_start + i] - inner)
                i += 1


@compiled
def _gradient_shared(grad, x, out, logarithm, tasks, threads, least, team):
    share(_gradient_part, (grad, x, out, logarithm, tasks), tasks, threads, least, team)


def gradient_by_vectors(grad, x, out, logarithm):
    tasks, threads, least = shared(*out.shape)
    _gradient_shared(grad, x, out, logarithm, tasks, threads, least, team.members())


GRADIENT = (
    "softmax is computed again, not kept: a row at a time, in the array of the result; rows shared out over all cores"
)


@implementation("softmax_backward", device="cpu", adds=GRADIENT, public=True)
@on_rows
def softmax_backward_vectors(grad, x, out):
    gradient_by_vectors(grad, x, out, False)


@implementation("log_softmax_backward", device="cpu", adds=GRADIENT, public=True)
@on_rows
def log_softmax_backward_vectors(grad, x, out):
    gradient_by_vectors(grad, x, out, True)
