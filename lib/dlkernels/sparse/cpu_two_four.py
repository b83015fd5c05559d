"""Two of each four numbers, packed, and a linear layer with such a weight, on the CPU.

The ladder of to_2_4            what the rung adds
    to_2_4_numpy       NumPy: argsort of each four
    to_2_4_loop        numba: a loop over the fours, a comparison for each pair

The ladder of linear_2_4        what the rung adds
    linear_2_4_dense   NumPy: the dense weight is made again, with its zeros, and multiplied
    linear_2_4_loop    numba: a loop over what is kept
    linear_2_4_spmm    it is a sparse matrix with as many entries in each row: vectors along the samples (cpu_spmm.py)
    linear_2_4_matmul  the dense weight again, by a loop, then our product of matrices

Half of the multiply-adds are gone, but no instruction of a CPU leaves them out: a dense product reads its operands in
order and keeps a tile of sums in registers, this one loads a vector for each multiply-add. So the fastest on a CPU is
to fill in the zeros: what 2:4 saves there is memory.
"""

import numpy as np

from ..host import aligned_zeros, new, plain
from ..implementations import implementation
from ..matrix import linear
from ..matrix.half import widen_row
from ..simd.cache import cached_njit
from . import reference
from .cpu_spmm import multiply

KINDS = ("float32", "float64", "float16", "uint16")


@implementation("to_2_4", device="cpu", adds="NumPy: argsort of each four", dtypes=KINDS)
def to_2_4_numpy(dense):
    return reference.to_2_4(dense)


@cached_njit()
def _pack(sizes, dense, values, indices):
    rows, columns = dense.shape
    for i in range(rows):
        for four in range(columns // 4):
            start, ranks = 4 * four, 0
            first, second = -1, -1
            for p in range(4):
                ranks = 0  # how many of the four are larger, or as large and before it
                for q in range(4):
                    larger = sizes[i, start + q] > sizes[i, start + p]
                    if larger or (q < p and sizes[i, start + q] == sizes[i, start + p]):
                        ranks += 1
                if ranks < 2:
                    if first < 0:
                        first = p
                    else:
                        second = p
            values[i, 2 * four], values[i, 2 * four + 1] = dense[i, start + first], dense[i, start + second]
            indices[i, four // 2] |= np.uint8((first | second << 2) << 4 * (four % 2))


@implementation(
    "to_2_4",
    device="cpu",
    adds="numba: a loop over the fours, with a comparison for each pair",
    dtypes=KINDS,
    public=True,
)
def to_2_4_loop(dense):
    dense = plain(dense)
    rows, columns = dense.shape
    values, indices = new((rows, columns // 2), dense.dtype), np.zeros((rows, -(-columns // 8)), np.uint8)
    numbers, target = (x.view(f"u{x.itemsize}") for x in (dense, values))  # no arithmetic: the bits are moved
    _pack(reference.size_of(dense), numbers, target, indices)
    return values, indices


# ---- the layer -------------------------------------------------------------------------------------------------------


@implementation("linear_2_4", device="cpu", adds="NumPy: the dense weight is made again, with zeros, and multiplied")
def linear_2_4_dense(indices, bias, values, input):
    weight = reference.from_2_4(values, indices)
    out = np.empty((*input.shape[:-1], len(weight)), input.dtype)
    safe = np.isfinite(input).all()  # zero times what is not finite would not vanish
    if not safe:
        return linear_2_4_loop(indices, bias, values, input)
    np.matmul(input, weight.T, out=out)
    return out if bias is None else np.add(out, bias, out=out)


@cached_njit()
def _layer(lines, values, indices, bias, out):
    rows, kept = values.shape
    for t in range(lines.shape[0]):
        for i in range(rows):
            total = bias[i]
            for k in range(kept):
                code = indices[i, k // 4] >> np.uint8(k % 4 * 2) & np.uint8(3)
                total += values[i, k] * lines[t, k // 2 * 4 + code]
            out[t, i] = total


def as_lines(input):
    return plain(input).reshape(int(np.prod(input.shape[:-1])), input.shape[-1])


def no_bias(bias, rows, dtype):
    return np.zeros(rows, dtype) if bias is None else plain(bias)


@implementation("linear_2_4", device="cpu", adds="numba: a loop over what is kept; two bits say where it stands")
def linear_2_4_loop(indices, bias, values, input):
    lines, rows = as_lines(input), len(values)
    out = new((len(lines), rows), input.dtype)
    _layer(lines, plain(values), plain(indices), no_bias(bias, rows, input.dtype), out)
    return out.reshape(*input.shape[:-1], rows)


@implementation(
    "linear_2_4", device="cpu", adds="a sparse matrix with as many entries in each row: vectors along the samples"
)
def linear_2_4_spmm(indices, bias, values, input):
    lines, (rows, kept) = as_lines(input), values.shape
    crow_indices = np.arange(0, rows * kept + 1, kept) if kept else np.zeros(rows + 1, np.int64)
    columns = reference.columns_of(indices, kept).reshape(-1)
    turned = multiply(crow_indices, columns, plain(values).reshape(-1), np.ascontiguousarray(lines.T))
    out = new((len(lines), rows), input.dtype)
    np.add(turned.T, no_bias(bias, rows, input.dtype), out=out)
    return out.reshape(*input.shape[:-1], rows)


@cached_njit()
def _unpack(values, indices, weight):
    rows, kept = values.shape
    for i in range(rows):
        for k in range(kept):
            code = indices[i, k // 4] >> np.uint8(k % 4 * 2) & np.uint8(3)
            weight[i, k // 2 * 4 + code] = values[i, k]


@cached_njit()
def _all_finite(x):
    """x - x is zero for what is finite."""
    total = x.dtype.type(0)
    for i in range(x.size):
        total += x[i] - x[i]
    return total == 0


@implementation(
    "linear_2_4",
    device="cpu",
    adds="the dense weight is filled in by a loop, then our product of matrices",
    limits="the dense weight, in memory, while it runs; one sample takes linear_2_4_loop, what is not finite "
    "linear_2_4_spmm",
    public=True,
)
def linear_2_4_matmul(indices, bias, values, input):
    if input.size == input.shape[-1]:  # filling in costs as much as the one product
        return linear_2_4_loop(indices, bias, values, input)
    if not _all_finite(plain(input).reshape(-1)):
        return linear_2_4_spmm(indices, bias, values, input)
    weight = aligned_zeros((len(values), 2 * values.shape[1]), values.dtype)
    _unpack(plain(values), plain(indices), weight)
    return linear(input, weight, None if bias is None else bias)


@cached_njit()
def _widen(rows, bfloat, out):
    bits = out.view(np.uint32)
    for i in range(rows.shape[0]):
        widen_row(rows[i], bfloat, bits[i], out[i])


def widen(x, kind):
    """float32 from 16 bits each, exactly."""
    lines = plain(x).view(np.uint16).reshape(-1, x.shape[-1]) if x.size else np.zeros((0, 1), np.uint16)
    out = new(lines.shape, np.float32)
    _widen(lines, kind == "bf16", out)
    return out.reshape(x.shape)


@implementation(
    "linear_2_4_half",
    device="cpu",
    adds="values and input are widened, then the float32 layer",
    dtypes=("float32",),
    public=True,
)
def linear_2_4_half_widened(indices, bias, values, input, kind, out):
    out[...] = linear_2_4_matmul(indices, bias, widen(values, kind), widen(input, kind))
    return out
