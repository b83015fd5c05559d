"""A block-sparse matrix times a dense one, on the CPU.

The ladder of bsr_mm           what the rung adds
    bsr_mm_numpy       NumPy: a product of small matrices for each block
    bsr_mm_loop        numba: a loop over the blocks, an entry times a row of the dense matrix
    bsr_mm_team        four rows of a block at a time: each vector that is loaded serves four of them; a team of threads

A column's index, and the row of the dense matrix that it leads to, are used by all rows of a block: that is what blocks
are for. In CSR each vector of the dense matrix is loaded for one multiply-add, here for four.
"""

import functools

import numpy as np

from .. import team
from ..host import new, plain
from ..implementations import implementation
from ..simd import broadcast, fma, lanes, load, store
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share

WORK = 1 << 16  # multiply-adds for each task
ROWS = 4  # of a block that share a vector


def on_blocks(rung):
    """Let `rung(crow_indices, col_indices, values, dense, out)` take arrays of any strides, and a new result."""

    @functools.wraps(rung)
    def wrapper(crow_indices, col_indices, values, dense):
        out = new(((len(crow_indices) - 1) * values.shape[1], dense.shape[1]), values.dtype)
        indices = (plain(np.asarray(x, np.int64)) for x in (crow_indices, col_indices))
        rung(*indices, plain(values), plain(dense), out)
        return out

    return wrapper


@implementation("bsr_mm", device="cpu", adds="NumPy: a product of small matrices for each block")
@on_blocks
def bsr_mm_numpy(crow_indices, col_indices, values, dense, out):
    _, height, across = values.shape
    out[...] = 0
    for i in range(len(crow_indices) - 1):
        target = out[i * height : (i + 1) * height]
        for k in range(crow_indices[i], crow_indices[i + 1]):
            target += values[k] @ dense[col_indices[k] * across :][:across]


@cached_njit()
def _loop(crow_indices, col_indices, values, dense, out):
    _, height, across = values.shape
    for i in range(crow_indices.size - 1):
        for r in range(height):
            target = out[i * height + r]
            target[:] = 0
            for k in range(crow_indices[i], crow_indices[i + 1]):
                for p in range(across):
                    value, row = values[k, r, p], dense[col_indices[k] * across + p]
                    for j in range(target.size):
                        target[j] += value * row[j]


@implementation("bsr_mm", device="cpu", adds="numba: a loop over the blocks, an entry times a row of the dense matrix")
@on_blocks
def bsr_mm_loop(crow_indices, col_indices, values, dense, out):
    _loop(crow_indices, col_indices, values, dense, out)


@inner_njit()
def _four_rows(col_indices, values, size, dense, width, begin, end, r, j, out, out_start):
    """Rows r to r + 3 of a block row, two vectors of columns from j on, of blocks begin to end - 1."""
    lane, (height, across) = lanes(dense), size
    a0 = a1 = b0 = b1 = c0 = c1 = d0 = d1 = broadcast(dense.dtype.type(0))
    for k in range(begin, end):
        index, block = np.int64(col_indices[k]) * across * width + j, np.uint64((k * height + r) * across)
        for _ in range(across):
            x, y = load(dense, index), load(dense, index + lane)
            a, b = broadcast(values[block]), broadcast(values[block + np.uint64(across)])
            c, d = broadcast(values[block + np.uint64(2 * across)]), broadcast(values[block + np.uint64(3 * across)])
            a0, a1, b0, b1 = fma(a, x, a0), fma(a, y, a1), fma(b, x, b0), fma(b, y, b1)
            c0, c1, d0, d1 = fma(c, x, c0), fma(c, y, c1), fma(d, x, d0), fma(d, y, d1)
            index += width
            block += np.uint64(1)
    index = out_start + r * width + j
    store(out, index, a0)
    store(out, index + lane, a1)
    store(out, index + width, b0)
    store(out, index + width + lane, b1)
    store(out, index + 2 * width, c0)
    store(out, index + 2 * width + lane, c1)
    store(out, index + 3 * width, d0)
    store(out, index + 3 * width + lane, d1)


@inner_njit()
def _one_row(col_indices, values, size, dense, width, begin, end, r, j, out, out_start):
    """One row of a block row, one vector of columns from j on."""
    height, across = size
    total = broadcast(dense.dtype.type(0))
    for k in range(begin, end):
        dense_start, block = np.int64(col_indices[k]) * across * width + j, np.uint64((k * height + r) * across)
        for p in range(across):
            total = fma(broadcast(values[block + np.uint64(p)]), load(dense, dense_start + p * width), total)
    store(out, out_start + r * width + j, total)


@inner_njit()
def _one_number(col_indices, values, size, dense, width, begin, end, r, j, out, out_start):
    height, across = size
    total = dense.dtype.type(0)
    for k in range(begin, end):
        dense_start, block = np.int64(col_indices[k]) * across * width + j, (k * height + r) * across
        for p in range(across):
            total += values[block + p] * dense[dense_start + p * width]
    out[out_start + r * width + j] = total


@inner_njit()
def _block_row(col_indices, values, size, dense, width, begin, end, out, out_start):
    """All of a block row of the result. dense, out, values: lines of memory."""
    lane, height, r = lanes(dense), size[0], 0
    while r < height:
        rows, j = min(ROWS, height - r), 0
        while rows == ROWS and j + 2 * lane <= width:
            _four_rows(col_indices, values, size, dense, width, begin, end, r, j, out, out_start)
            j += 2 * lane
        for row in range(r, r + rows):
            p = j
            while p + lane <= width:
                _one_row(col_indices, values, size, dense, width, begin, end, row, p, out, out_start)
                p += lane
            while p < width:
                _one_number(col_indices, values, size, dense, width, begin, end, row, p, out, out_start)
                p += 1
        r += rows


@inner_njit()
def _part(arguments, task, who):
    crow_indices, col_indices, values, dense, out, tasks = arguments
    rows, width = crow_indices.size - 1, dense.shape[1]
    size, numbers, columns = values.shape[1:], memory(values), memory(col_indices)
    source, target = memory(dense), memory(out)
    for i in range(task * rows // tasks, (task + 1) * rows // tasks):
        begin, end = np.int64(crow_indices[i]), np.int64(crow_indices[i + 1])
        _block_row(columns, numbers, size, source, width, begin, end, target, i * size[0] * width)


@cached_njit()
def _shared(crow_indices, col_indices, values, dense, out, tasks, threads, least, team):
    share(_part, (crow_indices, col_indices, values, dense, out, tasks), tasks, threads, least, team)


@implementation(
    "bsr_mm",
    device="cpu",
    adds="four rows of a block at a time: each vector that is loaded serves four of them; a team of threads",
    limits="block rows are not cut: one that is long is one thread's work",
    public=True,
)
@on_blocks
def bsr_mm_team(crow_indices, col_indices, values, dense, out):
    if not out.size:
        return
    work = values.size * dense.shape[1] + out.size
    tasks = min(max(1, work // WORK), len(crow_indices) - 1)
    threads = 1 if tasks == 1 else team.size()
    _shared(crow_indices, col_indices, values, dense, out, tasks, threads, work // 32, team.members())
