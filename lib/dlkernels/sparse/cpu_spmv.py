"""A sparse matrix times a vector, on the CPU.

The ladder of spmv              what the rung adds
    spmv_loop          numba: a loop over the rows, and one over a row's entries
    spmv_rows          all cores: a part of the rows each
    spmv_entries       a part of the entries each, whatever the rows: one that is cut is added up in the end
    spmv_merge         a part of rows and entries together, along the merge path
    spmv_team          four sums at a time; a team of threads; indices are checked on the way

Where each rung loses: `spmv_rows` where one row has most of the entries, `spmv_entries` where most rows have none (one
thread writes all their zeros), `spmv_merge` nowhere, but a part has to be looked for.

**The merge path** (Merrill and Garland, Merge-based parallel sparse matrix-vector multiplication, 2016). Lay the ends
of rows, crow_indices[1:], along one axis, and the numbers 0, 1, ... of entries along the other. To merge the two sorted
lists is to walk through this grid, a step down for each row's end, a step right for each entry: rows + entries steps,
whatever the matrix. Where the path crosses a diagonal is found by bisection, so each thread takes as many steps as any
other. A row that is cut gives a sum to the thread that ends it: its *carry*.

A call of `spmv` takes microseconds, so how it is checked matters: see `quick`.
"""

import functools

import numpy as np
from numba import get_num_threads, prange

from .. import team
from ..host import new, plain
from ..implementations import implementation
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share
from .checks import columns_are_there, unsigned

STEPS = 1 << 13  # of the merge path for each task
MOST = 1 << 10  # tasks


def tasks_for(steps):
    """(tasks, threads): tasks by the matrix alone, so that any number of threads cuts sums at the same entries."""
    tasks = min(max(1, steps // STEPS), MOST)
    return tasks, 1 if tasks < 2 else team.size()


def on_lines(rung):
    """Let `rung(crow_indices, col_indices, values, x, out)` take arrays of any strides, indices of int64, and a new
    result."""

    @functools.wraps(rung)
    def wrapper(crow_indices, col_indices, values, input):
        out = new((len(crow_indices) - 1,), values.dtype)
        indices = (plain(np.asarray(x, np.int64)) for x in (crow_indices, col_indices))
        rung(*indices, plain(values), plain(input), out)
        return out

    return wrapper


@cached_njit()
def _loop(crow_indices, col_indices, values, x, out):
    for i in range(out.size):
        total = values.dtype.type(0)
        for k in range(crow_indices[i], crow_indices[i + 1]):
            total += values[k] * x[col_indices[k]]
        out[i] = total


@implementation("spmv", device="cpu", adds="numba: a loop over the rows, and one over a row's entries")
@on_lines
def spmv_loop(crow_indices, col_indices, values, x, out):
    _loop(crow_indices, col_indices, values, x, out)


@cached_njit(parallel=True)
def _rows(crow_indices, col_indices, values, x, out):
    for i in prange(out.size):
        total = values.dtype.type(0)
        for k in range(crow_indices[i], crow_indices[i + 1]):
            total += values[k] * x[col_indices[k]]
        out[i] = total


@implementation(
    "spmv", device="cpu", adds="all cores: a part of the rows each", limits="one row that is long is one thread's work"
)
@on_lines
def spmv_rows(crow_indices, col_indices, values, x, out):
    _rows(crow_indices, col_indices, values, x, out)


# ---- parts of equal work ---------------------------------------------------------------------------------------------


@inner_njit()
def row_at(crow_indices, entry):
    """The first row that ends behind `entry`."""
    low, high = 0, crow_indices.size - 1
    while low < high:
        middle = (low + high) // 2
        if crow_indices[middle + 1] <= entry:
            low = middle + 1
        else:
            high = middle
    return low


@inner_njit()
def merge_path(crow_indices, entries, diagonal):
    """(row, entry) where the merge path crosses a diagonal: row + entry = diagonal."""
    rows = crow_indices.size - 1
    low, high = max(0, diagonal - entries), min(diagonal, rows)
    while low < high:
        middle = (low + high) // 2
        if crow_indices[middle + 1] <= diagonal - middle - 1:
            low = middle + 1
        else:
            high = middle
    return low, diagonal - low


@inner_njit()
def _sum(col_indices, values, x, begin, end):
    total = values.dtype.type(0)
    for k in range(begin, end):
        total += values[k] * x[col_indices[k]]
    return total


@inner_njit()
def _walk(crow_indices, col_indices, values, x, out, row, entry, last_row, last_entry):
    """Rows `row` to `last_row` - 1, from `entry` on; returns what belongs to `last_row`."""
    for i in range(row, last_row):
        end = crow_indices[i + 1]
        out[i] = _sum(col_indices, values, x, entry, end)
        entry = end
    return _sum(col_indices, values, x, entry, last_entry)


@inner_njit()
def _add_carries(rows, carries, out):
    for part in range(rows.size):
        if rows[part] < out.size:
            out[rows[part]] += carries[part]


@cached_njit(parallel=True)
def _entries(crow_indices, col_indices, values, x, out, parts):
    entries = values.size
    rows, carries = np.empty(parts, np.int64), np.empty(parts, values.dtype)
    for part in prange(parts):
        start, stop = part * entries // parts, (part + 1) * entries // parts
        row = row_at(crow_indices, start) if part else 0
        last_row = row_at(crow_indices, stop) if part < parts - 1 else out.size
        rows[part] = last_row
        carries[part] = _walk(crow_indices, col_indices, values, x, out, row, start, last_row, stop)
    _add_carries(rows, carries, out)


@implementation(
    "spmv",
    device="cpu",
    adds="a part of the entries each, whatever the rows; sums of rows that are cut are added in the end",
    limits="the zeros of rows without entries are written by the one thread that comes to them",
)
@on_lines
def spmv_entries(crow_indices, col_indices, values, x, out):
    _entries(crow_indices, col_indices, values, x, out, get_num_threads())


@cached_njit(parallel=True)
def _merge(crow_indices, col_indices, values, x, out, parts):
    entries = values.size
    steps = out.size + entries
    rows, carries = np.empty(parts, np.int64), np.empty(parts, values.dtype)
    for part in prange(parts):
        row, entry = merge_path(crow_indices, entries, part * steps // parts)
        last_row, last_entry = merge_path(crow_indices, entries, (part + 1) * steps // parts)
        rows[part] = last_row
        carries[part] = _walk(crow_indices, col_indices, values, x, out, row, entry, last_row, last_entry)
    _add_carries(rows, carries, out)


@implementation("spmv", device="cpu", adds="a part of rows and entries together, along the merge path")
@on_lines
def spmv_merge(crow_indices, col_indices, values, x, out):
    _merge(crow_indices, col_indices, values, x, out, get_num_threads())


# ---- what is public --------------------------------------------------------------------------------------------------


@inner_njit(forceinline=True)
def _sum_by_fours(col_indices, values, x, begin, end):
    """Four sums: an addition need not wait for the one before. A call for each row would cost more than a short row."""
    zero = values.dtype.type(0)
    a, b, c, d = zero, zero, zero, zero
    k, full_end, last = np.uint64(begin), np.uint64(begin + ((end - begin) & ~3)), np.uint64(end)
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    while k < full_end:
        a += values[k] * x[unsigned(col_indices[k])]
        b += values[k + one] * x[unsigned(col_indices[k + one])]
        c += values[k + two] * x[unsigned(col_indices[k + two])]
        d += values[k + three] * x[unsigned(col_indices[k + three])]
        k += np.uint64(4)
    while k < last:
        a += values[k] * x[unsigned(col_indices[k])]
        k += one
    return (a + b) + (c + d)


@inner_njit()
def _part(arguments, task, who):
    """A part of the merge path. carry_rows[task] is -1 where an index is wrong."""
    crow_indices, col_indices, values, x, out, carry_rows, carries = arguments
    entries, tasks = values.size, carries.size
    steps, ends, columns = out.size + entries, memory(crow_indices), memory(col_indices)
    numbers, factors, target = memory(values), memory(x), memory(out)
    row, entry = merge_path(crow_indices, entries, task * steps // tasks)
    last_row, last_entry = merge_path(crow_indices, entries, (task + 1) * steps // tasks)
    carry_rows[task] = -1
    if last_row < row or last_entry < entry or not columns_are_there(columns, entry, last_entry, x.size):
        return
    for i in range(np.uint64(row), np.uint64(last_row + 1)):
        ends_here = i < np.uint64(last_row)  # the row ends here; the last one is carried out
        end = np.int64(ends[i + np.uint64(1)]) if ends_here else last_entry
        if end < entry or end > last_entry:
            return
        total = _sum_by_fours(columns, numbers, factors, entry, end)
        if ends_here:
            target[i] = total
        else:
            carries[task] = total
        entry = end
    carry_rows[task] = last_row


@cached_njit()
def _shared(crow_indices, col_indices, values, x, out, tasks, threads, least, team):
    """False where an index is wrong: then `out` is worth nothing."""
    if crow_indices[0] != 0 or crow_indices[out.size] != values.size:
        return False
    carry_rows, carries = np.empty(tasks, np.int64), np.empty(tasks, values.dtype)
    share(_part, (crow_indices, col_indices, values, x, out, carry_rows, carries), tasks, threads, least, team)
    if carry_rows.min() < 0:
        return False
    _add_carries(carry_rows, carries, out)
    return True


def multiply(crow_indices, col_indices, values, x):
    """The product of contiguous arrays, or None where an index is wrong."""
    out = new((crow_indices.size - 1,), values.dtype)
    steps = out.size + values.size
    fine = _shared(crow_indices, col_indices, values, x, out, *tasks_for(steps), steps // 4, team.members())
    return out if fine else None


FLOATS, INTEGERS = (np.dtype("float32"), np.dtype("float64")), (np.dtype("int32"), np.dtype("int64"))
PLAIN = 0x501  # bits of flags.num: NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE


def fit(crow_indices, col_indices, values, dense, axes):
    """Whether all are contiguous arrays in host memory whose dtypes and numbers of entries and axes belong together."""
    if not (type(crow_indices) is type(col_indices) is type(values) is type(dense) is np.ndarray):
        return False
    if not (crow_indices.ndim == col_indices.ndim == values.ndim == 1 and dense.ndim == axes):
        return False
    flags = crow_indices.flags.num & col_indices.flags.num & values.flags.num & dense.flags.num
    dtype, index = values.dtype, crow_indices.dtype
    if flags & PLAIN != PLAIN or dtype not in FLOATS or dense.dtype != dtype:
        return False
    if index not in INTEGERS or col_indices.dtype != index:
        return False
    return crow_indices.size > 0 and values.size == col_indices.size


def quick(crow_indices, col_indices, values, input):
    """`spmv` without a pass over all indices before the product: each task looks at its own, just before it reads them.
    None for what it does not take, and where an index is wrong: then the long way says which."""
    if not fit(crow_indices, col_indices, values, input, 1):
        return None
    return multiply(crow_indices, col_indices, values, input)


@implementation(
    "spmv",
    device="cpu",
    adds="a team of threads; four sums at a time; indices are checked by who is about to read them",
    public=True,
)
def spmv_team(crow_indices, col_indices, values, input):
    return multiply(*map(plain, (crow_indices, col_indices, values, input)))
