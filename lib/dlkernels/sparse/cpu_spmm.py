"""A sparse matrix times a dense one, (K, N), on the CPU, and its gradients.

The ladder of spmm              what the rung adds
    spmm_loop          numba: a sum for each element of the result, as for a vector: N columns apart in memory
    spmm_rows          an entry is multiplied by a whole row of the dense matrix, which lies side by side
    spmm_parallel      all cores: a part of the rows each
    spmm_merge         a part of rows and entries together, along the merge path (cpu_spmv.py)
    spmm_team          vectors along N, sums of 8 vectors in registers until a row is done; a team of threads

`spmm_rows` reads and writes the row of the result again for each entry. In registers it is written once: an entry then
costs a broadcast, and one multiply-add with a load for each vector of N. Panels of eight vectors of a wide matrix,
whose rows are used often, are packed before: rows of a panel lie a power of two apart, and would meet in few sets of
the cache.

The ladder of spmm_backward     what the rung adds
    spmm_backward_loop    numba: an entry's gradient is a product of two rows; the dense matrix's is added row by row
    spmm_backward_team    the sparse matrix is transposed by a counting sort, so that the dense one's gradient is spmm
                          again; a part of the entries for each task
"""

import functools

import numpy as np
from numba import get_num_threads, prange

from .. import team
from ..host import aligned_zeros, new, plain
from ..implementations import implementation
from ..simd import broadcast, fma, lanes, load, store, vector_width
from ..simd.cache import cached_njit
from ..simd.dot import dot
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share
from . import cpu_spmv
from .checks import FINE, first_wrong
from .cpu_spmv import merge_path

WORK = 1 << 15  # multiply-adds for each task
MOST = 1 << 10  # tasks
ALONE = 1 << 18  # multiply-adds below which waking another thread costs more than it gains
PANEL = 8  # vectors of sums that stay in registers
OFTEN = 8  # times that a row of the dense matrix is used, from which on it pays to pack panels of it
NEAR = 3 << 18  # bytes of a panel that the second level of the cache holds


def on_matrices(rung):
    """Let `rung(crow_indices, col_indices, values, dense, out)` take arrays of any strides, indices of int64, and a new
    result."""

    @functools.wraps(rung)
    def wrapper(crow_indices, col_indices, values, dense):
        out = new((len(crow_indices) - 1, dense.shape[1]), values.dtype)
        indices = (plain(np.asarray(x, np.int64)) for x in (crow_indices, col_indices))
        rung(*indices, plain(values), plain(dense), out)
        return out

    return wrapper


@cached_njit()
def _loop(crow_indices, col_indices, values, dense, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = values.dtype.type(0)
            for k in range(crow_indices[i], crow_indices[i + 1]):
                total += values[k] * dense[col_indices[k], j]
            out[i, j] = total


@implementation("spmm", device="cpu", adds="numba: a sum for each element of the result, as for a vector")
@on_matrices
def spmm_loop(crow_indices, col_indices, values, dense, out):
    _loop(crow_indices, col_indices, values, dense, out)


@inner_njit()
def _add_entries(col_indices, values, dense, begin, end, target):
    """target += the entries, each times its row of the dense matrix."""
    for k in range(begin, end):
        value, row = values[k], dense[col_indices[k]]
        for j in range(target.size):
            target[j] += value * row[j]


@inner_njit()
def _one_row(crow_indices, col_indices, values, dense, out, i):
    target = out[i]
    target[:] = 0
    _add_entries(col_indices, values, dense, crow_indices[i], crow_indices[i + 1], target)


@cached_njit()
def _rows(crow_indices, col_indices, values, dense, out):
    for i in range(out.shape[0]):
        _one_row(crow_indices, col_indices, values, dense, out, i)


@implementation("spmm", device="cpu", adds="an entry is multiplied by a whole row of the dense matrix, side by side")
@on_matrices
def spmm_rows(crow_indices, col_indices, values, dense, out):
    _rows(crow_indices, col_indices, values, dense, out)


@cached_njit(parallel=True)
def _parallel(crow_indices, col_indices, values, dense, out):
    for i in prange(out.shape[0]):
        _one_row(crow_indices, col_indices, values, dense, out, i)


@implementation(
    "spmm", device="cpu", adds="all cores: a part of the rows each", limits="one row that is long is one thread's work"
)
@on_matrices
def spmm_parallel(crow_indices, col_indices, values, dense, out):
    _parallel(crow_indices, col_indices, values, dense, out)


@cached_njit(parallel=True)
def _merge(crow_indices, col_indices, values, dense, out, parts):
    rows, width = out.shape
    entries = values.size
    steps = rows + entries
    carry_rows, carries = np.empty(parts, np.int64), np.zeros((parts, width), values.dtype)
    for part in prange(parts):
        row, entry = merge_path(crow_indices, entries, part * steps // parts)
        last_row, last_entry = merge_path(crow_indices, entries, (part + 1) * steps // parts)
        for i in range(row, last_row):
            target = out[i]
            target[:] = 0
            _add_entries(col_indices, values, dense, entry, crow_indices[i + 1], target)
            entry = crow_indices[i + 1]
        carry_rows[part] = last_row
        _add_entries(col_indices, values, dense, entry, last_entry, carries[part])
    _add_carries(carry_rows, carries, out)


@inner_njit()
def _add_carries(carry_rows, carries, out):
    for part in range(carry_rows.size):
        i = carry_rows[part]
        if i < out.shape[0]:
            for j in range(out.shape[1]):
                out[i, j] += carries[part, j]


@implementation("spmm", device="cpu", adds="a part of rows and entries together, along the merge path")
@on_matrices
def spmm_merge(crow_indices, col_indices, values, dense, out):
    _merge(crow_indices, col_indices, values, dense, out, get_num_threads())


# ---- what is public --------------------------------------------------------------------------------------------------


@inner_njit(forceinline=True)
def _eight_vectors(col_indices, values, dense, stride, begin, end, column, out, out_start):
    """out[out_start ...] = the sums of eight vectors, dense[column ...] in each entry's row."""
    lane = lanes(dense)
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = broadcast(values.dtype.type(0))
    for k in range(np.uint64(begin), np.uint64(end)):
        value, index = broadcast(values[k]), np.int64(col_indices[k]) * stride + column
        s0 = fma(value, load(dense, index), s0)
        s1 = fma(value, load(dense, index + lane), s1)
        s2 = fma(value, load(dense, index + 2 * lane), s2)
        s3 = fma(value, load(dense, index + 3 * lane), s3)
        s4 = fma(value, load(dense, index + 4 * lane), s4)
        s5 = fma(value, load(dense, index + 5 * lane), s5)
        s6 = fma(value, load(dense, index + 6 * lane), s6)
        s7 = fma(value, load(dense, index + 7 * lane), s7)
    store(out, out_start, s0)
    store(out, out_start + lane, s1)
    store(out, out_start + 2 * lane, s2)
    store(out, out_start + 3 * lane, s3)
    store(out, out_start + 4 * lane, s4)
    store(out, out_start + 5 * lane, s5)
    store(out, out_start + 6 * lane, s6)
    store(out, out_start + 7 * lane, s7)


@inner_njit(forceinline=True)
def _four_vectors(col_indices, values, dense, stride, begin, end, column, out, out_start):
    lane = lanes(dense)
    s0 = s1 = s2 = s3 = broadcast(values.dtype.type(0))
    for k in range(np.uint64(begin), np.uint64(end)):
        value, index = broadcast(values[k]), np.int64(col_indices[k]) * stride + column
        s0 = fma(value, load(dense, index), s0)
        s1 = fma(value, load(dense, index + lane), s1)
        s2 = fma(value, load(dense, index + 2 * lane), s2)
        s3 = fma(value, load(dense, index + 3 * lane), s3)
    store(out, out_start, s0)
    store(out, out_start + lane, s1)
    store(out, out_start + 2 * lane, s2)
    store(out, out_start + 3 * lane, s3)


@inner_njit(forceinline=True)
def _one_vector(col_indices, values, dense, stride, begin, end, column, out, out_start):
    """Two sums, by turns: an addition need not wait for the one before."""
    s0 = s1 = broadcast(values.dtype.type(0))
    k, even_end, last = np.uint64(begin), np.uint64(begin + ((end - begin) & ~1)), np.uint64(end)
    while k < even_end:
        index0 = np.int64(col_indices[k]) * stride + column
        index1 = np.int64(col_indices[k + np.uint64(1)]) * stride + column
        s0 = fma(broadcast(values[k]), load(dense, index0), s0)
        s1 = fma(broadcast(values[k + np.uint64(1)]), load(dense, index1), s1)
        k += np.uint64(2)
    if k < last:
        s0 = fma(broadcast(values[k]), load(dense, np.int64(col_indices[k]) * stride + column), s0)
    store(out, out_start, s0 + s1)


@inner_njit(forceinline=True)
def sum_entries(col_indices, values, dense, stride, begin, end, column, width, out, out_start, small, limit):
    """out[out_start : out_start + width] = entries begin to end - 1, each times a row of dense from `column` on.

    dense, out: lines of memory. The last columns are done by a vector that begins earlier. What is less than a vector
    is part of one that is loaded in whole, and stored in whole where it ends before `limit`: the rows that come next
    are written later. Else it is taken out of `small`, a line of a vector.
    """
    lane, j = lanes(dense), 0
    if width < lane:
        if out_start + lane <= limit:
            _one_vector(col_indices, values, dense, stride, begin, end, column, out, out_start)
            return
        _one_vector(col_indices, values, dense, stride, begin, end, column, small, 0)
        while j < width:
            out[out_start + j] = small[j]
            j += 1
        return
    while j + 8 * lane <= width:
        _eight_vectors(col_indices, values, dense, stride, begin, end, column + j, out, out_start + j)
        j += 8 * lane
    if j + 4 * lane <= width:
        _four_vectors(col_indices, values, dense, stride, begin, end, column + j, out, out_start + j)
        j += 4 * lane
    while j + lane <= width:
        _one_vector(col_indices, values, dense, stride, begin, end, column + j, out, out_start + j)
        j += lane
    if j < width:
        j = width - lane
        _one_vector(col_indices, values, dense, stride, begin, end, column + j, out, out_start + j)


@inner_njit()
def _part(arguments, task, who):
    """A part of the merge path, and of the columns where these are cut into panels."""
    crow_indices, col_indices, values, source, out, packed, parts, panels, carry_rows, carries = arguments
    (rows, width), entries = out.shape, values.size
    steps, wide = rows + entries, PANEL * lanes(out)
    part, panel = task % parts, task // parts
    left = panel * wide
    right = width if panel == panels - 1 else left + wide
    stride, column = width, left
    if packed:
        stride, column = right - left, packed * left
    target, rest, ends = memory(out), memory(carries), memory(crow_indices)
    columns, numbers, room = memory(col_indices), memory(values), np.empty(lanes(out), values.dtype)
    small = memory(room)
    row, entry = merge_path(crow_indices, entries, part * steps // parts)
    last_row, last_entry = merge_path(crow_indices, entries, (part + 1) * steps // parts)
    for i in range(row, last_row + 1):
        ends_here = i < last_row  # the row ends here; the last one is carried out
        end = np.int64(ends[i + 1]) if ends_here else last_entry
        line, out_start = (target, i * width + left) if ends_here else (rest, part * width + left)
        limit = last_row * width if ends_here else 0
        sum_entries(columns, numbers, source, stride, entry, end, column, right - left, line, out_start, small, limit)
        entry = end
    carry_rows[part] = last_row


@inner_njit()
def _pack_part(arguments, task, who):
    """A part of the rows of the dense matrix: panels one after the other, in each of them row after row."""
    dense, room, panels, tasks = arguments
    rows, width = dense.shape
    lane, source, target = lanes(dense), memory(dense), memory(room)
    wide = PANEL * lane
    for panel in range(panels):
        left = panel * wide
        across = width - left if panel == panels - 1 else wide
        for i in range(task * rows // tasks, (task + 1) * rows // tasks):
            source_start, target_start, j = i * width + left, rows * left + i * across, 0
            while j + lane <= across:
                store(target, target_start + j, load(source, source_start + j))
                j += lane
            while j < across:
                target[target_start + j] = source[source_start + j]
                j += 1


@cached_njit()
def _shared(crow_indices, col_indices, values, dense, room, out, parts, panels, threads, least, team):
    """room: where panels of the dense matrix are packed, or a copy that a vector may read beyond; else it is empty."""
    width, packed = out.shape[1], 0
    carry_rows, carries = np.empty(parts, np.int64), np.empty((parts, width), values.dtype)
    source = memory(dense)
    if panels > 1:
        share(_pack_part, (dense, room, panels, 16), 16, threads, least, team)
        packed = dense.shape[0]
    if room.size:
        source = memory(room)
    arguments = crow_indices, col_indices, values, source, out, packed, parts, panels, carry_rows, carries
    share(_part, arguments, parts * panels, threads, least, team)
    _add_carries(carry_rows, carries, out)


def multiply(crow_indices, col_indices, values, dense):
    """The product of contiguous arrays. Parts by the matrices alone: the same bits for any number of threads."""
    (depth, width), rows, dtype = dense.shape, crow_indices.size - 1, values.dtype
    if width == 1:
        return cpu_spmv.multiply(crow_indices, col_indices, values, dense.reshape(depth)).reshape(rows, 1)
    out = new((rows, width), dtype)
    if out.size:
        lane, work = vector_width(dtype), values.size * width + out.size
        wide = PANEL * lane
        pays = width >= 2 * wide and values.size >= OFTEN * depth and depth * wide * dtype.itemsize <= NEAR
        room = new((dense.size if pays else dense.size + lane if width < lane else 0,), dtype)
        if width < lane:
            room[: dense.size], room[dense.size :] = dense.reshape(-1), 0
        panels = width // wide if pays else 1
        parts = min(max(1, work // (WORK * panels)), MOST, rows + values.size)
        threads = 1 if work < ALONE else team.size()
        arrays = crow_indices, col_indices, values, dense, room, out
        _shared(*arrays, parts, panels, threads, work // 16, team.members())
    return out


def quick(crow_indices, col_indices, values, dense):
    """`spmm` of contiguous arrays, without what the long way says of others. None for those, and for wrong indices."""
    if not cpu_spmv.fit(crow_indices, col_indices, values, dense, 2):
        return None
    if first_wrong(crow_indices, col_indices, dense.shape[0], False)[0] != FINE:
        return None
    return multiply(crow_indices, col_indices, values, dense)


@implementation(
    "spmm",
    device="cpu",
    adds="vectors along N, sums of 8 vectors in registers until a row is done; a team of threads",
    public=True,
)
def spmm_team(crow_indices, col_indices, values, dense):
    return multiply(*map(plain, (crow_indices, col_indices, values, dense)))


# ---- gradients -------------------------------------------------------------------------------------------------------


@cached_njit()
def _gradients_loop(crow_indices, col_indices, grad, values, dense, of_values, of_dense):
    width = dense.shape[1]
    for i in range(grad.shape[0]):
        for k in range(crow_indices[i], crow_indices[i + 1]):
            column, total = col_indices[k], values.dtype.type(0)
            for j in range(width):
                total += grad[i, j] * dense[column, j]
                of_dense[column, j] += values[k] * grad[i, j]
            of_values[k] = total


@implementation(
    "spmm_backward",
    device="cpu",
    adds="numba: an entry's gradient is a product of two rows; the dense matrix's is added row by row",
)
def spmm_backward_loop(crow_indices, col_indices, grad, values, dense):
    of_values, of_dense = new((values.size,), values.dtype), aligned_zeros(dense.shape, values.dtype)
    indices = (plain(np.asarray(x, np.int64)) for x in (crow_indices, col_indices))
    _gradients_loop(*indices, *map(plain, (grad, values, dense)), of_values, of_dense)
    return of_values, of_dense


@inner_njit()
def _values_part(arguments, task, who):
    crow_indices, col_indices, grad, dense, of_values, tasks = arguments
    width, entries = dense.shape[1], col_indices.size
    grad_line, dense_line = memory(grad), memory(dense)
    begin, end = task * entries // tasks, (task + 1) * entries // tasks
    row = cpu_spmv.row_at(crow_indices, begin)
    for k in range(begin, end):
        while crow_indices[row + 1] <= k:
            row += 1
        of_values[k] = dot(grad_line, row * width, dense_line, np.int64(col_indices[k]) * width, width)


@cached_njit()
def _values_shared(crow_indices, col_indices, grad, dense, of_values, tasks, threads, least, team):
    share(_values_part, (crow_indices, col_indices, grad, dense, of_values, tasks), tasks, threads, least, team)


@cached_njit()
def transpose(crow_indices, col_indices, values, columns):
    """(crow_indices, col_indices, values) of the transposed matrix, by a counting sort: rows rise in each column."""
    starts = np.zeros(columns + 1, crow_indices.dtype)
    rows, sorted_values = np.empty_like(col_indices), np.empty_like(values)
    for k in range(col_indices.size):
        starts[col_indices[k] + 1] += 1
    for j in range(columns):
        starts[j + 1] += starts[j]
    ends = starts.copy()
    for i in range(crow_indices.size - 1):
        for k in range(crow_indices[i], crow_indices[i + 1]):
            index = ends[col_indices[k]]
            rows[index], sorted_values[index] = i, values[k]
            ends[col_indices[k]] = index + 1
    return starts, rows, sorted_values


@implementation(
    "spmm_backward",
    device="cpu",
    adds="the matrix is transposed by a counting sort, so that its gradient is spmm again; a part of the entries each",
    public=True,
)
def spmm_backward_team(crow_indices, col_indices, grad, values, dense):
    crow_indices, col_indices, grad, values, dense = map(plain, (crow_indices, col_indices, grad, values, dense))
    of_values = new((values.size,), values.dtype)
    work = values.size * dense.shape[1]
    tasks = min(max(1, work // WORK), MOST)
    _values_shared(
        crow_indices,
        col_indices,
        grad,
        dense,
        of_values,
        tasks,
        1 if tasks == 1 else team.size(),
        work // 16,
        team.members(),
    )
    return of_values, multiply(*transpose(crow_indices, col_indices, values, len(dense)), grad)
