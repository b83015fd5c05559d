"""Sparse matrices in NumPy and float64: what every other implementation is tested against.

A matrix in CSR (compressed sparse rows) is three arrays: the columns and values of what is stored, row after row, and
for each row where its entries begin:

    row i:   col_indices[crow_indices[i] : crow_indices[i + 1]], values[the same]

An entry that is not stored is zero, and takes part in no product: not even infinity times it is looked at. Two entries
of one place are added.

to_csr          a dense matrix in CSR: what is not zero, or what a mask says
to_dense        back
spmv            the product with a vector
spmm            the product with a dense matrix, (columns, N)
spmm_backward   its gradients: of the values (an entry of the dense gradient for each), of the dense matrix
bsr_mm          the same as spmm where values are blocks (block sparse rows), which indices count
to_2_4          of each four neighbours in a row, the two largest, and where they stood
linear_2_4      a linear layer with such a weight: (rows, columns / 2) values and two bits for each
"""

import numpy as np


def _double(x):
    x = np.asarray(x)
    return widened(x).astype(np.float64) if x.dtype == np.uint16 else np.asarray(x, np.float64)


def widened(x):
    """bfloat16, which travels as uint16, as float32."""
    return (x.astype(np.uint32) << 16).view(np.float32)


def rows_of(crow_indices):
    """The row of each entry."""
    crow_indices = np.asarray(crow_indices)
    return np.repeat(np.arange(len(crow_indices) - 1), np.diff(crow_indices))


def index_dtype(shape, stored):
    """int32 where every index and the number of entries fit, else int64."""
    return np.int32 if max(*shape, stored) < 2**31 else np.int64


def to_csr(dense, mask=None):
    dense = np.asarray(dense)
    rows, columns = np.nonzero(dense if mask is None else mask)
    dtype = index_dtype(dense.shape, len(rows))
    crow_indices = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(dense)))])
    return crow_indices.astype(dtype), columns.astype(dtype), _double(dense)[rows, columns]


def to_dense(crow_indices, col_indices, values, shape):
    dense = np.zeros(shape)
    np.add.at(dense, (rows_of(crow_indices), np.asarray(col_indices)), _double(values))
    return dense


def spmv(crow_indices, col_indices, values, input):
    out = np.zeros(len(crow_indices) - 1)
    np.add.at(out, rows_of(crow_indices), _double(values) * _double(input)[np.asarray(col_indices)])
    return out


def spmm(crow_indices, col_indices, values, dense):
    out = np.zeros((len(crow_indices) - 1, np.shape(dense)[1]))
    np.add.at(out, rows_of(crow_indices), _double(values)[:, None] * _double(dense)[np.asarray(col_indices)])
    return out


def spmm_backward(grad, crow_indices, col_indices, values, dense):
    rows, columns, grad, dense = rows_of(crow_indices), np.asarray(col_indices), _double(grad), _double(dense)
    arriving = np.zeros(dense.shape)
    np.add.at(arriving, columns, _double(values)[:, None] * grad[rows])
    return (grad[rows] * dense[columns]).sum(axis=1), arriving


def bsr_mm(crow_indices, col_indices, values, dense):
    values, dense = _double(values), _double(dense)
    _, height, width = values.shape
    out = np.zeros((len(crow_indices) - 1, height, dense.shape[1]))
    strips = dense.reshape(len(dense) // width, width, dense.shape[1])
    np.add.at(out, rows_of(crow_indices), values @ strips[np.asarray(col_indices)])
    return out.reshape(len(out) * height, dense.shape[1])


# ---- two of four -----------------------------------------------------------------------------------------------------


def size_of(x):
    """Whole numbers in the order of the magnitudes of x. What is not a number is the largest."""
    x = np.asarray(x)
    kind = np.dtype(f"i{x.dtype.itemsize}")
    return np.ascontiguousarray(x).view(kind) & np.iinfo(kind).max


def to_2_4(dense):
    """(values, indices): (rows, columns / 2), (rows, columns / 8 rounded up)."""
    dense = np.asarray(dense)
    rows, columns = dense.shape
    fours = dense.reshape(rows, columns // 4, 4)
    order = np.argsort(-size_of(fours), axis=-1, kind="stable")  # of equals, the first ones
    kept = np.sort(order[..., :2], axis=-1)
    values = np.take_along_axis(fours, kept, -1).reshape(rows, columns // 2)
    codes = (kept[..., 0] | kept[..., 1] << 2).astype(np.uint8)
    codes = np.pad(codes, ((0, 0), (0, codes.shape[1] % 2)))
    return values, codes[:, ::2] | codes[:, 1::2] << 4


def columns_of(indices, kept):
    """The column of each of `kept` values in a row."""
    bits = np.asarray(indices)[:, :, None] >> np.array([0, 2, 4, 6], np.uint8) & 3
    slots = np.arange(kept)
    return bits.reshape(len(indices), 4 * bits.shape[1])[:, :kept].astype(np.int64) + slots // 2 * 4


def from_2_4(values, indices):
    """The dense matrix, with zeros for what was dropped."""
    values = np.asarray(values)
    dense = np.zeros((len(values), 2 * values.shape[1]), values.dtype)
    np.put_along_axis(dense, columns_of(indices, values.shape[1]), values, 1)
    return dense


def linear_2_4(input, values, indices, bias=None):
    input, weight = _double(input), _double(values)
    columns = columns_of(indices, weight.shape[1])
    lines = input.reshape(int(np.prod(input.shape[:-1])), input.shape[-1])
    out = np.empty((len(lines), len(weight)))
    for row, (numbers, kept) in enumerate(zip(weight, columns, strict=True)):
        out[:, row] = (lines[:, kept] * numbers).sum(axis=1)
    out = out.reshape(*input.shape[:-1], len(weight))
    return out if bias is None else out + _double(bias)
