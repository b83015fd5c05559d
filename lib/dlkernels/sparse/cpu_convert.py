"""Dense to CSR and back, on the CPU.

The ladder of to_csr               what the rung adds
    to_csr_numpy       NumPy: nonzero
    to_csr_rows        numba: rows are counted, then filled: no list of places is made twice
    to_csr_team        all cores: a part of the rows each, in both passes

The ladder of to_dense             what the rung adds
    to_dense_numpy     NumPy: add.at
    to_dense_loop      numba: a loop over the entries
"""

import numpy as np

from .. import team
from ..host import aligned_zeros, plain
from ..implementations import implementation
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..team import share
from .reference import index_dtype, rows_of

ALONE = 1 << 16  # numbers below which waking another thread costs more than it gains


@implementation("to_csr", device="cpu", adds="NumPy: nonzero, in which rows come one after the other")
def to_csr_numpy(mask, dense):
    rows, columns = np.nonzero(dense if mask is None else mask)
    dtype = index_dtype(dense.shape, len(rows))
    crow_indices = np.zeros(len(dense) + 1, dtype)
    np.cumsum(np.bincount(rows, minlength=len(dense)), out=crow_indices[1:])
    return crow_indices, columns.astype(dtype), dense[rows, columns]


@inner_njit()
def _count_rows(kept, crow_indices, start, stop):
    """crow_indices[i + 1] = how many entries row i will have."""
    for i in range(start, stop):
        row, count = kept[i], 0
        for j in range(row.size):
            count += row[j] != 0
        crow_indices[i + 1] = count


@inner_njit()
def _fill_rows(kept, dense, crow_indices, col_indices, values, start, stop):
    for i in range(start, stop):
        row, numbers, k = kept[i], dense[i], crow_indices[i]
        for j in range(row.size):
            if row[j] != 0:
                col_indices[k], values[k] = j, numbers[j]
                k += 1


@cached_njit()
def _count(kept, crow_indices):
    _count_rows(kept, crow_indices, 0, kept.shape[0])


@cached_njit()
def _fill(kept, dense, crow_indices, col_indices, values):
    _fill_rows(kept, dense, crow_indices, col_indices, values, 0, kept.shape[0])


@inner_njit()
def _count_part(arguments, task, who):
    kept, crow_indices, tasks = arguments
    rows = kept.shape[0]
    _count_rows(kept, crow_indices, task * rows // tasks, (task + 1) * rows // tasks)


@inner_njit()
def _fill_part(arguments, task, who):
    kept, dense, crow_indices, col_indices, values, tasks = arguments
    rows = kept.shape[0]
    _fill_rows(kept, dense, crow_indices, col_indices, values, task * rows // tasks, (task + 1) * rows // tasks)


@cached_njit()
def _count_shared(kept, crow_indices, tasks, threads, least, team):
    share(_count_part, (kept, crow_indices, tasks), tasks, threads, least, team)


@cached_njit()
def _fill_shared(kept, dense, crow_indices, col_indices, values, tasks, threads, least, team):
    share(_fill_part, (kept, dense, crow_indices, col_indices, values, tasks), tasks, threads, least, team)


def in_two_passes(count, fill, mask, dense):
    """CSR by a function that counts each row's entries, and one that writes them."""
    dense = plain(dense)
    kept = dense if mask is None else plain(mask).view(np.uint8)
    crow_indices = np.zeros(len(dense) + 1, np.int64)
    count(kept, crow_indices)
    np.cumsum(crow_indices, out=crow_indices)
    stored = int(crow_indices[-1])
    crow_indices = crow_indices.astype(index_dtype(dense.shape, stored))
    col_indices, values = np.empty(stored, crow_indices.dtype), np.empty(stored, dense.dtype)
    fill(kept, dense, crow_indices, col_indices, values)
    return crow_indices, col_indices, values


@implementation("to_csr", device="cpu", adds="numba: a pass that counts each row's entries, and one that writes them")
def to_csr_rows(mask, dense):
    return in_two_passes(_count, _fill, mask, dense)


@implementation("to_csr", device="cpu", adds="all cores: a part of the rows each, in both passes", public=True)
def to_csr_team(mask, dense):
    threads = 1 if dense.size < ALONE else team.size()
    how = 1 if threads == 1 else 4 * threads, threads, dense.size // 4, team.members()
    return in_two_passes(
        lambda *arrays: _count_shared(*arrays, *how), lambda *arrays: _fill_shared(*arrays, *how), mask, dense
    )


# ---- back ------------------------------------------------------------------------------------------------------------


@implementation("to_dense", device="cpu", adds="NumPy: add.at, which adds entries of one place")
def to_dense_numpy(crow_indices, col_indices, columns, values):
    out = np.zeros((len(crow_indices) - 1, columns), values.dtype)
    np.add.at(out, (rows_of(crow_indices), col_indices), values)
    return out


@cached_njit()
def _add_entries(crow_indices, col_indices, values, out):
    for i in range(out.shape[0]):
        for k in range(crow_indices[i], crow_indices[i + 1]):
            out[i, col_indices[k]] += values[k]


@implementation("to_dense", device="cpu", adds="numba: a loop over the entries of each row", public=True)
def to_dense_loop(crow_indices, col_indices, columns, values):
    out = aligned_zeros((len(crow_indices) - 1, columns), values.dtype)
    _add_entries(*map(plain, (crow_indices, col_indices, values)), out)
    return out
