"""Whether three arrays are a matrix in CSR, and which entry is wrong where they are not.

What every product needs, and every call checks: pointers that begin with 0, never fall, and end with the number of
entries; columns that are there. Columns of a row may come in any order, and twice: products add both. What sorts or
compares patterns wants more (`canonical`): columns that rise in each row, as scipy.sparse calls it, and as PyTorch
demands of each tensor.
"""

import numbers

import numpy as np
from numba import types
from numba.extending import overload

from ..arguments import float_array, one_place, same
from ..device import is_device_array
from ..host import plain
from ..indices import checked_indices
from ..layouts import as_host, contiguous
from ..simd.cache import cached_njit
from ..simd.inner import INNER, inner_njit

FINE, FIRST, FALLS, LAST, OUTSIDE, UNSORTED, TWICE = range(7)


def unsigned(index):
    """The index as a number without a sign: numba then asks of none whether it counts from the end."""
    return index


@overload(unsigned, jit_options=INNER)
def _unsigned(index):
    kind = np.uint32 if index == types.int32 else np.uint64
    return lambda index: kind(index)


@inner_njit()
def columns_are_there(col_indices, begin, end, columns):
    """One pass of vectors over indices: a tenth of the time of a product with a vector."""
    largest = unsigned(col_indices.dtype.type(0))  # a negative one is larger than any
    for k in range(np.uint64(begin), np.uint64(end)):
        largest = max(largest, unsigned(col_indices[k]))
    return begin == end or np.uint64(largest) < np.uint64(columns)


@cached_njit()
def first_wrong(crow_indices, col_indices, columns, canonical):
    """(what is wrong, where): with the entry of crow_indices or of col_indices."""
    rows, stored = crow_indices.size - 1, col_indices.size
    if crow_indices[0] != 0:
        return FIRST, 0
    for i in range(rows):
        if crow_indices[i + 1] < crow_indices[i]:
            return FALLS, i + 1
    if crow_indices[rows] != stored:
        return LAST, rows
    if not columns_are_there(col_indices, 0, stored, columns):
        for k in range(stored):
            if np.uint64(col_indices[k]) >= np.uint64(columns):
                return OUTSIDE, k
    if canonical:
        for i in range(rows):
            for k in range(crow_indices[i] + 1, crow_indices[i + 1]):
                if col_indices[k] <= col_indices[k - 1]:
                    return (TWICE if col_indices[k] == col_indices[k - 1] else UNSORTED), k
    return FINE, 0


def check_entries(crow_indices, col_indices, columns, canonical=False, names=("row", "column")):
    """Raise ValueError, with the first entry that is wrong, unless the indices are those of a matrix.

    crow_indices, col_indices: int64 or int32, one dimension. columns: how many there are. canonical: columns must rise
    in each row. Indices in device memory are copied to the host: a kernel cannot raise an error.
    """
    crow_indices, col_indices = (
        plain(as_host(contiguous(x) if is_device_array(x) else x)) for x in (crow_indices, col_indices)
    )
    wrong, k = first_wrong(crow_indices, col_indices, columns, canonical)
    if wrong == FINE:
        return
    row, column = names
    if wrong == FIRST:
        raise ValueError(f"crow_indices[0] is {crow_indices[0]}; expected 0, where the first {row} begins.")
    if wrong == FALLS:
        raise ValueError(
            f"crow_indices[{k}] is {crow_indices[k]}, less than crow_indices[{k - 1}], {crow_indices[k - 1]}: "
            f"{row} {k - 1} would end before it begins; expected pointers that never fall."
        )
    if wrong == LAST:
        raise ValueError(
            f"crow_indices[{k}], the last, is {crow_indices[k]}, and there are {col_indices.size} col_indices; "
            f"expected the same number."
        )
    in_row = int(np.searchsorted(crow_indices, k, side="right")) - 1
    if wrong == OUTSIDE:
        raise ValueError(
            f"col_indices[{k}], in {row} {in_row}, is {col_indices[k]}; expected a {column} from 0 to {columns - 1}."
        )
    if wrong == TWICE:
        raise ValueError(
            f"col_indices[{k}]: {row} {in_row} has {column} {col_indices[k]} twice; expected each once. "
            "to_csr(to_dense(...)) adds them."
        )
    raise ValueError(
        f"col_indices[{k}]: in {row} {in_row} {column} {col_indices[k]} comes after {col_indices[k - 1]}; expected "
        f"{column}s that rise."
    )


def check_csr(crow_indices, col_indices, values, columns, value_axes=1, **others):
    """Raise unless crow_indices, col_indices and values are a matrix of that many columns (of blocks, where values have
    more than one axis). others: arrays that have to lie in the same memory, of the same dtype as values."""
    checked_indices("crow_indices", crow_indices)
    checked_indices("col_indices", col_indices)
    for name, x in {"values": values, **others}.items():
        float_array(name, x)
    one_place(values=values, crow_indices=crow_indices, col_indices=col_indices, **others)
    same("dtype", crow_indices=crow_indices, col_indices=col_indices)
    if others:
        same("dtype", values=values, **others)
    for name, x in (("crow_indices", crow_indices), ("col_indices", col_indices)):
        if x.ndim != 1:
            raise ValueError(f"{name} has shape {tuple(x.shape)}; expected one dimension.")
    if crow_indices.size == 0:
        raise ValueError("crow_indices is empty; expected one entry more than there are rows, 1 at least.")
    if values.ndim != value_axes or values.shape[0] != col_indices.size:
        expected = "(entries,)" if value_axes == 1 else "(blocks, rows of a block, columns of a block)"
        raise ValueError(
            f"values has shape {tuple(values.shape)}, and col_indices {tuple(col_indices.shape)}; expected "
            f"{expected} and as many col_indices."
        )
    names = ("row", "column") if value_axes == 1 else ("block row", "block column")
    check_entries(crow_indices, col_indices, columns, names=names)


def check_shape(shape):
    """(rows, columns) of whole numbers."""
    fine = isinstance(shape, tuple | list) and len(shape) == 2
    if not fine or not all(isinstance(n, numbers.Integral) and not isinstance(n, bool) and n >= 0 for n in shape):
        raise ValueError(f"shape is {shape!r}; expected (rows, columns), whole numbers that are not negative.")
    return int(shape[0]), int(shape[1])
