"""Linear layers of few bytes on the GPU, one rung each.

linear_codebook    codebook_warp_per_output    the levels stand in shared memory; a warp for each output
linear_hashed      hashed_warp_per_output      a thread computes which weight it needs: what travels are the shared ones
linear_low_rank    low_rank_block_per_row      a block for each row of input; what lies between the two products stays
                   in
                                               shared memory
"""

import functools

import numpy as np

from ..device import cuda
from ..implementations import implementation
from ..matrix import linear
from .gpu_codes import BYTES, LINE
from .gpu_int4 import MOST_IN_Y, THREADS, WARP, WARPS, _none, by_warps, sum_of_warp
from .hashing import GOLDEN, mixed

f32, i32, u32, u64 = np.float32, np.int32, np.uint32, np.uint64
MOST_LEVELS, MOST_RANK = 256, 1024
mix = cuda.jit(device=True)(mixed)


def lines(*arrays):
    return [x.reshape(x.size) for x in arrays]


def of_bias(bias):
    return _none(np.float32) if bias is None else bias


def on_rows(rung):
    """Let `rung(bias, rows, inputs, *rest, out)` take inputs of any shape; the bias is a line, of one zero where it is
    None."""

    @functools.wraps(rung)
    def wrapper(bias, input, *rest):
        *rest, out = rest
        if out.size:
            rows = out.size // out.shape[-1]
            rung(of_bias(bias), rows, input.reshape(input.size), input.shape[-1], *rest, out.reshape(out.size))
        return out

    return wrapper


@cuda.jit
def codebook_kernel(x, weight, codebook, scale, bias, inputs, packed, rows, groups, group, out):
    levels = cuda.shared.array(MOST_LEVELS, f32)
    for i in range(cuda.threadIdx.y * WARP + cuda.threadIdx.x, MOST_LEVELS, THREADS):
        levels[i] = codebook[i] if i < codebook.size else f32(np.nan)
    cuda.syncthreads()
    outputs, width = out.size // rows, (inputs + 1) // 2 if packed else inputs
    o, lane = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y, cuda.threadIdx.x
    if o < outputs:
        for row in range(cuda.blockIdx.y, rows, cuda.gridDim.y):
            total = f32(0)
            for b in range(lane, width, WARP):
                byte, k = i32(weight[o * width + b]), 2 * b if packed else b
                first = levels[byte & 15] if packed else levels[byte]
                total += x[row * inputs + k] * first * scale[(o * groups + k // group) % scale.size]
                if packed and k + 1 < inputs:
                    second = scale[(o * groups + (k + 1) // group) % scale.size] * levels[byte >> 4]
                    total += x[row * inputs + k + 1] * second
            total = sum_of_warp(total)
            if lane == 0:
                out[row * outputs + o] = total + bias[o % bias.size]


@functools.cache
def _one():
    return cuda.to_device(np.ones(1, f32))


@implementation(
    "linear_codebook",
    "gpu",
    adds="a warp for each output; the levels in shared memory",
    dtypes=("float32",),
    kernels=[
        (
            codebook_kernel,
            [f"void({LINE}, {BYTES}, {LINE}, {LINE}, {LINE}, int64, boolean, int64, int64, int64, {LINE})"],
        )
    ],
    public=True,
)
@on_rows
def codebook_warp_per_output(bias, rows, x, inputs, weight, codebook, packed, scale, group, out):
    groups, steps = (1, _one()) if scale is None else (scale.shape[1], scale.reshape(scale.size))
    arguments = x, weight.reshape(weight.size), codebook, steps, bias, inputs, packed, rows, groups, group, out
    by_warps(codebook_kernel, rows, *arguments)


@cuda.jit
def hashed_kernel(x, weight, bias, inputs, rows, seed, out):
    outputs = out.size // rows
    o, lane = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y, cuda.threadIdx.x
    if o < outputs:
        of_row = mix(u32(u32(u32(o) * GOLDEN) + u32(seed)))
        for row in range(cuda.blockIdx.y, rows, cuda.gridDim.y):
            total = f32(0)
            for k in range(lane, inputs, WARP):
                word = mix(u32(of_row + u32(u32(k) * GOLDEN)))
                number = weight[u64(word) * u64(weight.size) >> u64(32)]
                total += x[row * inputs + k] * (-number if word & u32(1) else number)
            total = sum_of_warp(total)
            if lane == 0:
                out[row * outputs + o] = total + bias[o % bias.size]


@implementation(
    "linear_hashed",
    "gpu",
    adds="a warp for each output; a thread computes which shared weight it needs",
    dtypes=("float32",),
    kernels=[(hashed_kernel, [f"void({LINE}, {LINE}, {LINE}, int64, int64, int64, {LINE})"])],
    public=True,
)
@on_rows
def hashed_warp_per_output(bias, rows, x, inputs, weight, seed, out):
    by_warps(hashed_kernel, rows, x, weight, bias, inputs, rows, seed, out)


@cuda.jit(device=True)
def dot_of_warp(x, begin, matrix, matrix_start, size, lane):
    total = f32(0)
    for k in range(lane, size, WARP):
        total += x[begin + k] * matrix[matrix_start + k]
    return sum_of_warp(total)


@cuda.jit
def low_rank_kernel(x, u, v, bias, inputs, rank, rows, out):
    hidden = cuda.shared.array(MOST_RANK, f32)
    outputs, warp, lane = out.size // rows, cuda.threadIdx.y, cuda.threadIdx.x
    for row in range(cuda.blockIdx.x, rows, cuda.gridDim.x):
        for r in range(warp, rank, WARPS):
            total = dot_of_warp(x, row * inputs, v, r * inputs, inputs, lane)
            if lane == 0:
                hidden[r] = total
        cuda.syncthreads()
        for o in range(warp, outputs, WARPS):
            total = dot_of_warp(hidden, 0, u, o * rank, rank, lane)
            if lane == 0:
                out[row * outputs + o] = total + bias[o % bias.size]
        cuda.syncthreads()


@implementation(
    "linear_low_rank",
    "gpu",
    adds="a block for each row of input: what lies between the products stays in shared memory",
    limits="a rank above 1024 takes two products; few rows leave most of a GPU idle",
    dtypes=("float32",),
    kernels=[(low_rank_kernel, [f"void({LINE}, {LINE}, {LINE}, {LINE}, int64, int64, int64, {LINE})"])],
    public=True,
)
def low_rank_block_per_row(bias, input, u, v, out):
    rank, rows = u.shape[1], out.size // max(out.shape[-1], 1)
    if rank > MOST_RANK:
        return linear(linear(input, v), u, bias, None, out)
    if out.size:
        arguments = *lines(input, u, v), of_bias(bias), input.shape[-1], rank, rows, *lines(out)
        low_rank_kernel[min(rows, MOST_IN_Y), (WARP, WARPS)](*arguments)
    return out
