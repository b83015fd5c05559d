"""Sparse matrices: products that leave zeros out, and what that costs.

Names are PyTorch's: a matrix in CSR is crow_indices, col_indices and values. Arrays are float32 or float64, of any
strides, in host or device memory (there: float32); indices int64 or int32, both of one dtype. Nothing changes its
inputs. Wrong arguments raise ValueError or TypeError, with the first pointer or column that is wrong.

Its files, in reading order:

reference.py       the specification in NumPy       examples.py       what each operation can be called with
checks.py          whether three arrays are a matrix in CSR, and which entry is wrong
cpu_convert.py     dense to CSR and back
cpu_spmv.py        a vector: rows, entries, or both (the merge path) for each thread
cpu_spmm.py        a dense matrix: vectors along its rows; gradients
gpu_spmv.py        a thread, a warp for each row, or equal work
gpu_spmm.py        a dense matrix on the GPU; gradients by atomics
cpu_bsr.py         blocks in place of entries       gpu_bsr.py        the same, a block of threads for each block row
cpu_two_four.py    two of each four numbers, packed
gpu_two_four.py    the same on a GPU, and on tensor cores that leave out zeros (mma.sp)

Entries of a row may come in any order, and twice: they are added. `to_csr` makes rising columns, each once;
`checks.check_entries(..., canonical=True)` asks for that. CPU rungs that are public add in an order that depends on the
matrix alone: results repeat bit for bit, on any number of threads.
"""

import numpy as np

from ..arguments import check_gradient, float_array, one_place, output, same
from ..implementations import call, operation
from . import examples, reference
from .checks import check_csr, check_shape


@operation(
    "to_csr",
    reference.to_csr,
    examples.TO_CSR,
    results=("crow_indices", "col_indices", "values"),
    no_backward="what is stored depends on which numbers are zero, and that changes abruptly",
)
def _prepare_to_csr(dense, mask=None):
    float_array("dense", dense)
    if dense.ndim != 2:
        raise ValueError(f"dense has shape {tuple(dense.shape)}; expected (rows, columns).")
    if mask is not None:
        if getattr(mask, "dtype", None) != np.bool_:
            raise TypeError(
                f"mask is {getattr(mask, 'dtype', type(mask).__name__)}; expected an array of bool, or None."
            )
        one_place(dense=dense, mask=mask)
        same("shape", dense=dense, mask=mask)
    return mask, dense


def _to_dense_gradient(grad, crow_indices, col_indices):
    """Each entry gets what arrives where it stands."""
    return {"values": np.asarray(grad)[reference.rows_of(crow_indices), np.asarray(col_indices)]}


@operation("to_dense", reference.to_dense, examples.TO_DENSE, backward=_to_dense_gradient)
def _prepare_to_dense(crow_indices, col_indices, values, shape):
    rows, columns = check_shape(shape)
    check_csr(crow_indices, col_indices, values, columns)
    if crow_indices.size != rows + 1:
        raise ValueError(f"crow_indices has {crow_indices.size} entries; expected {rows + 1} for {rows} rows.")
    return crow_indices, col_indices, columns, values


def _spmv_gradient(grad, crow_indices, col_indices, values, input):
    """A vector is a matrix of one column."""
    n, m = grad.size, input.size
    of_values, of_input = spmm_backward(grad.reshape(n, 1), crow_indices, col_indices, values, input.reshape(m, 1))
    return {"values": of_values, "input": of_input.reshape(m)}


def _quick_spmv(crow_indices, col_indices, values, input):
    return cpu_spmv.quick(crow_indices, col_indices, values, input)


@operation("spmv", reference.spmv, examples.SPMV, quick=_quick_spmv, backward=_spmv_gradient)
def _prepare_spmv(crow_indices, col_indices, values, input):
    float_array("input", input)
    if input.ndim != 1:
        raise ValueError(f"input has shape {tuple(input.shape)}; expected one dimension. spmm takes matrices.")
    check_csr(crow_indices, col_indices, values, input.shape[0], input=input)
    return crow_indices, col_indices, values, input


def _check_dense(crow_indices, col_indices, values, dense):
    float_array("dense", dense)
    if dense.ndim != 2:
        raise ValueError(f"dense has shape {tuple(dense.shape)}; expected (columns of the sparse matrix, N).")
    check_csr(crow_indices, col_indices, values, dense.shape[0], dense=dense)


def _quick_spmm(crow_indices, col_indices, values, dense):
    return cpu_spmm.quick(crow_indices, col_indices, values, dense)


@operation("spmm", reference.spmm, examples.SPMM, quick=_quick_spmm)
def _prepare_spmm(crow_indices, col_indices, values, dense):
    _check_dense(crow_indices, col_indices, values, dense)
    return crow_indices, col_indices, values, dense


@operation("spmm_backward", reference.spmm_backward, examples.SPMM_BACKWARD, backward_of="spmm")
def _prepare_spmm_backward(grad, crow_indices, col_indices, values, dense):
    _check_dense(crow_indices, col_indices, values, dense)
    check_gradient(grad, (crow_indices.size - 1, dense.shape[1]), values=values, dense=dense)
    one_place(grad=grad, crow_indices=crow_indices)
    return crow_indices, col_indices, grad, values, dense


@operation(
    "bsr_mm",
    reference.bsr_mm,
    examples.BSR_MM,
    no_backward="it is here to be compared: spmm has gradients, for entries one by one",
)
def _prepare_bsr_mm(crow_indices, col_indices, values, dense):
    for name, x, axes in (("values", values, 3), ("dense", dense, 2)):
        float_array(name, x)
        if x.ndim != axes:
            expected = "(blocks, rows of a block, columns of a block)" if axes == 3 else "(columns, N)"
            raise ValueError(f"{name} has shape {tuple(x.shape)}; expected {expected}.")
    height, across = values.shape[1:]
    if not (1 <= height <= 32 and 1 <= across <= 32):
        raise ValueError(f"values has blocks of {height} x {across}; expected 1 to 32 rows and columns.")
    if dense.shape[0] % across:
        raise ValueError(f"dense has {dense.shape[0]} rows; expected a multiple of {across}, the columns of a block.")
    check_csr(crow_indices, col_indices, values, dense.shape[0] // across, value_axes=3, dense=dense)
    return crow_indices, col_indices, values, dense


WIDE = (np.dtype("float32"), np.dtype("float64"))
NARROW = (np.dtype("float16"), np.dtype("uint16"))


@operation(
    "to_2_4",
    reference.to_2_4,
    examples.TO_2_4,
    results=("values", "indices"),
    no_backward="which two are kept changes abruptly",
)
def _prepare_to_2_4(dense):
    float_array("dense", dense, WIDE + NARROW)
    if dense.ndim != 2 or dense.shape[1] % 4:
        raise ValueError(f"dense has shape {tuple(dense.shape)}; expected (rows, columns), columns a multiple of 4.")
    return (dense,)


def _check_layer(input, values, indices, bias, dtypes):
    for name, x in (("input", input), ("values", values)):
        float_array(name, x, dtypes)
    if getattr(indices, "dtype", None) != np.uint8:
        raise TypeError(f"indices is {getattr(indices, 'dtype', type(indices).__name__)}; expected uint8, from to_2_4.")
    arrays = {"input": input, "values": values, "indices": indices} | ({} if bias is None else {"bias": bias})
    if bias is not None:
        float_array("bias", bias, (np.dtype("float32"),) if dtypes is NARROW else (input.dtype,))
    one_place(**arrays)
    same("dtype", input=input, values=values)
    if values.ndim != 2 or values.shape[1] % 2:
        raise ValueError(f"values has shape {tuple(values.shape)}; expected (rows, columns / 2), two for each four.")
    rows, kept = values.shape
    if input.ndim < 1 or input.shape[-1] != 2 * kept:
        raise ValueError(
            f"input has shape {tuple(input.shape)}; expected (..., {2 * kept}), twice the columns of values."
        )
    if tuple(indices.shape) != (rows, -(-kept // 4)):
        raise ValueError(
            f"indices has shape {tuple(indices.shape)}; expected {(rows, -(-kept // 4))}: four values share a byte."
        )
    if bias is not None and tuple(bias.shape) != (rows,):
        raise ValueError(f"bias has shape {tuple(bias.shape)}; expected ({rows},).")


INFERENCE = "packed weights are made for inference: train the dense weight, under a mask"


@operation("linear_2_4", reference.linear_2_4, examples.LINEAR_2_4, no_backward=INFERENCE)
def _prepare_linear_2_4(input, values, indices, bias=None):
    _check_layer(input, values, indices, bias, WIDE)
    return indices, bias, values, input


@operation("linear_2_4_half", reference.linear_2_4, examples.LINEAR_2_4_HALF, no_backward=INFERENCE)
def _prepare_linear_2_4_half(input, values, indices, bias=None):
    _check_layer(input, values, indices, bias, NARROW)
    kind = "f16" if input.dtype == np.float16 else "bf16"
    shape = (*input.shape[:-1], values.shape[0])
    return indices, bias, values, input, kind, output(None, shape, np.dtype("float32"), input=input)


from . import (  # noqa: E402
    cpu_bsr,  # noqa: F401
    cpu_convert,  # noqa: F401
    cpu_spmm,
    cpu_spmv,
    cpu_two_four,  # noqa: F401
    gpu_bsr,  # noqa: F401
    gpu_spmm,  # noqa: F401
    gpu_spmv,  # noqa: F401
    gpu_two_four,  # noqa: F401
)

# ---- what is called -------------------------------------------------------------------------------------------------


def to_csr(dense, mask=None):
    """(crow_indices, col_indices, values) of a dense matrix, as torch.Tensor.to_sparse_csr gives them.

    dense: (rows, columns), float32 or float64. mask: bool, of the same shape: what is stored, be it zero; None for all
    that is not zero (NaN is not). crow_indices (rows + 1,) and col_indices are int32 where rows, columns and entries
    are less than 2^31, as in scipy.sparse, else int64: half the bytes of each index. Columns rise in each row. Host
    memory.
    """
    return call("to_csr", dense, mask)


def to_dense(crow_indices, col_indices, values, shape):
    """The dense matrix, (rows, columns), of one in CSR; entries of one place are added. Host memory."""
    return call("to_dense", crow_indices, col_indices, values, shape)


def spmv(crow_indices, col_indices, values, input):
    """The product of a sparse matrix and a vector: (rows,).

    crow_indices: (rows + 1,), int32 or int64; col_indices: (entries,), of the same dtype; values: (entries,), float32
    or float64; input: (columns,), of the dtype of values. A new array. An entry that is not stored takes part in
    nothing: not even infinity is multiplied by it. The public rung goes along the merge path (Merrill and Garland
    2016).
    """
    result = _quick_spmv(crow_indices, col_indices, values, input)
    return call("spmv", crow_indices, col_indices, values, input) if result is None else result


def spmm(crow_indices, col_indices, values, dense):
    """The product of a sparse matrix and a dense one, (columns, N): (rows, N), as torch.sparse.mm.

    The sparse matrix is given as for `spmv`. A new array.
    """
    result = _quick_spmm(crow_indices, col_indices, values, dense)
    return call("spmm", crow_indices, col_indices, values, dense) if result is None else result


def spmm_backward(grad, crow_indices, col_indices, values, dense):
    """(gradient of values, gradient of dense), given `grad`, (rows, N), the one with respect to spmm(...).

    Only what is stored gets a gradient: each entry the product of its row of grad and its column's row of dense (a
    sampled dense-dense product). An entry that is there twice gets it twice.
    """
    return call("spmm_backward", grad, crow_indices, col_indices, values, dense)


def bsr_mm(crow_indices, col_indices, values, dense):
    """The product of a block-sparse matrix and a dense one, (columns, N): (rows, N), as torch.sparse_bsr_tensor's.

    values: (blocks, rows of a block, columns of a block), 1 to 32 of each; crow_indices and col_indices count block
    rows and block columns. Blocks of one place are added. A new array.
    """
    return call("bsr_mm", crow_indices, col_indices, values, dense)


def to_2_4(dense):
    """(values, indices): of each four neighbours in a row, the two of largest magnitude, and where they stood.

    dense: (rows, columns), columns a multiple of 4; float32, float64, float16, or bfloat16 as uint16. values: (rows,
    columns / 2), in their order. indices: uint8, (rows, columns / 8 rounded up): a byte has two bits for each of four
    values, the first in the low bits; an odd number of fours leaves the last high bits 0. Of equal magnitudes the first
    stay; NaN counts as larger than all. With b bytes for a number, (2 b + 1/2) / 4 b of the dense bytes are left:
    0.5625 for bfloat16, 0.53125 for float32. Host memory.
    """
    return call("to_2_4", dense)


def linear_2_4(input, values, indices, bias=None):
    """input @ weight.T + bias, for a weight that `to_2_4` packed: (..., rows). float32 or float64.

    input: (..., columns); bias: (rows,) or None. What was dropped takes part in nothing. No CPU has an instruction for
    this: it is slower than the dense layer (benchmarks/sparse.py). A new array.
    """
    return call("linear_2_4", input, values, indices, bias)


def linear_2_4_half(input, values, indices, bias=None):
    """`linear_2_4` for float16, or bfloat16 as uint16, with sums, bias and result in float32.

    On a GPU of compute capability 8.0 or newer by its tensor cores (mma.sp.m16n8k32), which multiply only what is kept.
    """
    return call("linear_2_4_half", input, values, indices, bias)
