"""Embedding on the CPU, forward and backward.

The ladder of embedding            what the rung adds
    embedding_take     NumPy: take
    embedding_rows     numba: rows are copied one after the other
    embedding_team     a vector of a row at a time; all cores: a part of the indices each

The ladder of embedding_backward   what the rung adds
    embedding_backward_one_hot     NumPy: a matrix of ones where an index names a row, times what arrives
    embedding_backward_rows        numba: each gradient is added to its row, one index after the other
    embedding_backward_atomics     all cores: two threads may come to one row, so each number is added atomically, in an
                                   order that is another one each time
    embedding_backward_sorted      indices are sorted, so that a row's gradients follow each other: each row is added up
                                   by one thread, in registers, and written once

Sorting is a counting sort, which keeps the order of equal indices. So the last rung adds in the order of the second
one, and comes to the same bits, on any number of threads; the atomics do not.
"""

import functools

import numpy as np

from .. import team
from ..host import aligned_zeros, new, plain
from ..implementations import implementation
from ..indices import as_line
from ..simd import broadcast, fetch_add, lanes, load, store
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share

ALONE = 1 << 16  # numbers below which waking another thread costs more than it gains


def on_rows(rung):
    """Let `rung(indices, weight, out)` take indices of any shape."""

    @functools.wraps(rung)
    def wrapper(input, weight):
        out = new((*input.shape, weight.shape[1]), weight.dtype)
        if out.size:
            rung(as_line(input), plain(weight), out.reshape(-1, weight.shape[1]))
        return out

    return wrapper


def tasks_for(size):
    """(tasks, threads) for so many numbers."""
    threads = 1 if size < ALONE else team.size()
    return 1 if threads == 1 else 4 * threads, threads


@implementation("embedding", device="cpu", adds="NumPy: take copies a row for each index")
@on_rows
def embedding_take(indices, weight, out):
    np.take(weight, indices, axis=0, out=out)


@cached_njit()
def _rows(indices, weight, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = weight[indices[i], j]


@implementation("embedding", device="cpu", adds="numba: a loop over the indices, and one over a row")
@on_rows
def embedding_rows(indices, weight, out):
    _rows(indices, weight, out)


@inner_njit()
def _copy_row(source, source_start, target, target_start, width):
    """A row of `width` numbers. In a plain loop numba asks of each index whether it is negative: no vectors."""
    lane, j = lanes(target), 0
    while j + 2 * lane <= width:
        a, b = load(source, source_start + j), load(source, source_start + j + lane)
        store(target, target_start + j, a)
        store(target, target_start + j + lane, b)
        j += 2 * lane
    while j < width:
        target[target_start + j] = source[source_start + j]
        j += 1


@inner_njit()
def _copy_part(arguments, task, who):
    indices, weight, out, tasks = arguments
    width, source, target = out.shape[1], memory(weight), memory(out)
    for i in range(task * indices.size // tasks, (task + 1) * indices.size // tasks):
        _copy_row(source, indices[i] * width, target, i * width, width)


@cached_njit()
def _copy_shared(indices, weight, out, tasks, threads, least, team):
    share(_copy_part, (indices, weight, out, tasks), tasks, threads, least, team)


@implementation(
    "embedding", device="cpu", adds="a vector of a row at a time; all cores: a part of the indices each", public=True
)
@on_rows
def embedding_team(indices, weight, out):
    _copy_shared(indices, weight, out, *tasks_for(out.size), out.size // 8, team.members())


# ---- gradients -------------------------------------------------------------------------------------------------------


def on_gradients(rung, zeros=False):
    """Let `rung(indices, padding, grad, out)` take indices of any shape, and a new array. padding: -1 for none."""

    @functools.wraps(rung)
    def wrapper(padding, input, grad, weight):
        out = (aligned_zeros if zeros else new)(weight.shape, weight.dtype)
        if out.size:
            rung(as_line(input), padding, plain(grad).reshape(input.size, weight.shape[1]), out)
        return out

    return wrapper


@implementation(
    "embedding_backward",
    device="cpu",
    adds="NumPy: a matrix with a one where an index names a row, times what arrives",
    limits="a matrix of rows times indices",
    largest=1 << 20,
)
@on_gradients
def embedding_backward_one_hot(indices, padding, grad, out):
    rows = np.arange(len(out))[:, None]
    with np.errstate(invalid="ignore"):
        np.matmul(((indices == rows) & (rows != padding)).astype(grad.dtype), grad, out=out)


@cached_njit()
def _add_rows(indices, padding, grad, out):
    for i in range(indices.size):
        if indices[i] != padding:
            for j in range(out.shape[1]):
                out[indices[i], j] += grad[i, j]


@implementation(
    "embedding_backward", device="cpu", adds="numba: each gradient is added to its row, one index after the other"
)
@functools.partial(on_gradients, zeros=True)
def embedding_backward_rows(indices, padding, grad, out):
    _add_rows(indices, padding, grad, out)


@inner_njit()
def _add_part(arguments, task, who):
    indices, padding, grad, out, tasks = arguments
    width = grad.shape[1]
    for i in range(task * indices.size // tasks, (task + 1) * indices.size // tasks):
        if indices[i] != padding:
            for j in range(width):
                fetch_add(out, indices[i] * width + j, grad[i, j])


@cached_njit()
def _add_shared(indices, padding, grad, out, tasks, threads, least, team):
    share(_add_part, (indices, padding, grad, out, tasks), tasks, threads, least, team)


@implementation(
    "embedding_backward",
    device="cpu",
    adds="all cores: a part of the indices each, and each number is added atomically",
    limits="sums are rounded in another order each time: results do not repeat",
)
@functools.partial(on_gradients, zeros=True)
def embedding_backward_atomics(indices, padding, grad, out):
    _add_shared(indices, padding, grad, out.reshape(-1), *tasks_for(grad.size), grad.size, team.members())


@inner_njit()
def _sorted_by_count(indices, rows):
    """(where each row's indices begin, positions of the indices by rows). Equal indices stay in their order."""
    starts, order = np.zeros(rows + 1, np.int64), np.empty(indices.size, np.int64)
    for i in range(indices.size):
        starts[indices[i]] += 1
    total = 0
    for row in range(rows + 1):
        starts[row], total = total, total + starts[row]
    for i in range(indices.size):
        order[starts[indices[i]]] = i
        starts[indices[i]] += 1
    for row in range(rows, 0, -1):  # each was raised to where the next one begins
        starts[row] = starts[row - 1]
    starts[0] = 0
    return starts, order


@inner_njit()
def _first_row(starts, wanted):
    """The first row before which `wanted` rows and indices lie: tasks shall have as much of both."""
    low, high = 0, starts.size - 1
    while low < high:
        middle = (low + high) // 2
        if starts[middle] + middle < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@inner_njit()
def _sum_rows(line, order, begin, end, width, out, out_start):
    """out[out_start : out_start + width] = the sum of the rows order[begin:end] of `line`, in that order."""
    lane, j = lanes(out), 0
    zero = out.dtype.type(0)
    while j + 4 * lane <= width:
        a, b, c, d = broadcast(zero), broadcast(zero), broadcast(zero), broadcast(zero)
        for p in range(begin, end):
            index = order[p] * width + j
            a, b = a + load(line, index), b + load(line, index + lane)
            c, d = c + load(line, index + 2 * lane), d + load(line, index + 3 * lane)
        store(out, out_start + j, a)
        store(out, out_start + j + lane, b)
        store(out, out_start + j + 2 * lane, c)
        store(out, out_start + j + 3 * lane, d)
        j += 4 * lane
    while j + lane <= width:
        a = broadcast(zero)
        for p in range(begin, end):
            a = a + load(line, order[p] * width + j)
        store(out, out_start + j, a)
        j += lane
    while j < width:
        total = zero
        for p in range(begin, end):
            total += line[order[p] * width + j]
        out[out_start + j] = total
        j += 1


@inner_njit()
def _sorted_part(arguments, task, who):
    starts, order, padding, grad, out, tasks = arguments
    rows, width = out.shape
    line, result, work = memory(grad), memory(out), rows + order.size
    start, stop = _first_row(starts, task * work // tasks), _first_row(starts, (task + 1) * work // tasks)
    for row in range(start, stop):
        begin = starts[row]
        _sum_rows(line, order, begin, begin if row == padding else starts[row + 1], width, result, row * width)


@cached_njit()
def _sorted_shared(indices, padding, grad, out, tasks, threads, least, team):
    starts, order = _sorted_by_count(indices, out.shape[0])
    share(_sorted_part, (starts, order, padding, grad, out, tasks), tasks, threads, least, team)


@implementation(
    "embedding_backward",
    device="cpu",
    adds="indices are sorted: one thread adds up each row, in registers and in order, and writes it once",
    public=True,
)
@on_gradients
def embedding_backward_sorted(indices, padding, grad, out):
    size = grad.size + out.size
    _sorted_shared(indices, padding, grad, out, *tasks_for(size), size // 8, team.members())
