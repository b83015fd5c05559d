"""linear_int4 on the GPU.

The ladder of linear_int4          what the rung adds
    int4_thread_per_output     a thread for each output: neighbouring threads read bytes that lie a row apart
    int4_warp_per_output       a warp for each output: neighbouring threads read neighbouring bytes, and join by
                               shuffles
    int4_warp_wide             4 bytes, eight codes, per load of a thread; 16 bytes per load of the input; the group of
                               a number by a shift: a division of 64 bits is a hundred instructions of a GPU

The numbers are made of their bits in the inner loop: what travels are four bits a weight.
"""

import functools

import numpy as np

from ..device import cuda
from ..implementations import implementation
from ..layouts import aligned
from ..wide import load4
from .gpu_codes import BYTES, LINE, WHOLE

f32, i32 = np.float32, np.int32
WARP, WARPS, ALL = 32, 8, 0xFFFFFFFF
THREADS = WARP * WARPS
MOST_IN_Y = 65535
ALL_OF_A_ROW = 62  # a shift that leaves 0 of each index


def on_rows(rung):
    """Let `rung(x, weight, scale, zeros, bias, inputs, outputs, rows, groups, group, out)` take lines. Of zeros and
    bias that there are not, lines of no number come."""

    @functools.wraps(rung)
    def wrapper(group, bias, input, weight, scale, zero, out):
        if not out.size:
            return out
        outputs, inputs = weight.shape[0], input.shape[-1]
        rows = out.size // outputs
        lines = [x.reshape(x.size) for x in (input, weight, scale)]
        lines.append(_none(np.int32) if zero is None else zero.reshape(zero.size))
        lines.append(_none(np.float32) if bias is None else bias)
        rung(*lines, inputs, rows, scale.shape[1], group, out.reshape(out.size))
        return out

    return wrapper


@functools.cache
def _none(dtype):
    """A line that stands for no zero points, or no bias: one number, which is 0."""
    return cuda.to_device(np.zeros(1, dtype))


@cuda.jit(device=True)
def low_of(byte):
    return f32(((byte & 15) ^ 8) - 8)


@cuda.jit(device=True)
def high_of(byte):
    return f32((byte >> 4 ^ 8) - 8)


@cuda.jit
def thread_kernel(x, weight, scale, zeros, bias, inputs, rows, groups, group, out):
    outputs, width = out.size // rows, (inputs + 1) // 2
    o = cuda.grid(1)
    if o < outputs:
        for row in range(cuda.blockIdx.y, rows, cuda.gridDim.y):
            total = bias[o % bias.size]
            for k in range(inputs):
                g = o * groups + k // group
                byte = i32(weight[o * width + k // 2])
                number = low_of(byte) if k % 2 == 0 else high_of(byte)
                total += x[row * inputs + k] * ((number - f32(zeros[g if zeros.size > 1 else 0])) * scale[g])
            out[row * outputs + o] = total


@cuda.jit(device=True)
def sum_of_warp(value):
    apart = WARP // 2
    while apart > 0:
        value += cuda.shfl_xor_sync(ALL, value, apart)
        apart //= 2
    return value


@cuda.jit
def warp_kernel(x, weight, scale, zeros, bias, inputs, rows, groups, group, out):
    outputs, width = out.size // rows, (inputs + 1) // 2
    o, lane = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y, cuda.threadIdx.x
    if o < outputs:
        for row in range(cuda.blockIdx.y, rows, cuda.gridDim.y):
            total = f32(0)
            for b in range(lane, width, WARP):
                g, byte, k = o * groups + 2 * b // group, i32(weight[o * width + b]), row * inputs + 2 * b
                zero = f32(zeros[g if zeros.size > 1 else 0])
                partial_sum = x[k] * (low_of(byte) - zero)
                if 2 * b + 1 < inputs:
                    partial_sum += x[k + 1] * (high_of(byte) - zero)
                total += partial_sum * scale[g]
            total = sum_of_warp(total)
            if lane == 0:
                out[row * outputs + o] = total + bias[o % bias.size]


@cuda.jit
def wide_kernel(x, weight, scale, zeros, bias, inputs, rows, groups, shift, out):
    outputs, width = out.size // rows, inputs // 2
    o, lane = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y, cuda.threadIdx.x
    if o < outputs:
        for row in range(cuda.blockIdx.y, rows, cuda.gridDim.y):
            total = f32(0)
            for b in range(4 * lane, width, 4 * WARP):
                g = o * groups + (2 * b >> shift)
                zero = f32(zeros[g if zeros.size > 1 else 0])
                b0, b1, b2, b3 = load4(weight, o * width + b)
                x0, x1, x2, x3 = load4(x, row * inputs + 2 * b)
                partial_sum = x0 * (low_of(i32(b0)) - zero) + x1 * (high_of(i32(b0)) - zero)
                partial_sum += x2 * (low_of(i32(b1)) - zero) + x3 * (high_of(i32(b1)) - zero)
                x0, x1, x2, x3 = load4(x, row * inputs + 2 * b + 4)
                partial_sum += x0 * (low_of(i32(b2)) - zero) + x1 * (high_of(i32(b2)) - zero)
                partial_sum += x2 * (low_of(i32(b3)) - zero) + x3 * (high_of(i32(b3)) - zero)
                total += partial_sum * scale[g]
            total = sum_of_warp(total)
            if lane == 0:
                out[row * outputs + o] = total + bias[o % bias.size]


SIGNATURE = f"void({LINE}, {BYTES}, {LINE}, {WHOLE}, {LINE}, int64, int64, int64, int64, {LINE})"


@implementation(
    "linear_int4",
    "gpu",
    adds="a thread for each output: numbers are made of their bits in the inner loop",
    dtypes=("float32",),
    kernels=[(thread_kernel, [SIGNATURE])],
)
@on_rows
def int4_thread_per_output(x, weight, scale, zeros, bias, inputs, rows, groups, group, out):
    grid = -(-(out.size // rows) // THREADS), min(rows, MOST_IN_Y)
    thread_kernel[grid, THREADS](x, weight, scale, zeros, bias, inputs, rows, groups, group, out)


def by_warps(kernel, rows, *arguments):
    grid = -(-(arguments[-1].size // rows) // WARPS), min(rows, MOST_IN_Y)
    kernel[grid, (WARP, WARPS)](*arguments)


@implementation(
    "linear_int4",
    "gpu",
    adds="a warp for each output: neighbouring threads read neighbouring bytes, and join by shuffles",
    dtypes=("float32",),
    kernels=[(warp_kernel, [SIGNATURE])],
)
@on_rows
def int4_warp_per_output(*arguments):
    by_warps(warp_kernel, arguments[6], *arguments)


@implementation(
    "linear_int4",
    "gpu",
    adds="eight codes per load of a thread, 16 bytes per load of the input; groups are powers of two: a shift, no "
    "division",
    limits="other groups, inputs of no multiple of 8, slices that begin at none of 16 bytes take the second rung's "
    "kernel",
    dtypes=("float32",),
    kernels=[(wide_kernel, [SIGNATURE]), (warp_kernel, [SIGNATURE])],
    public=True,
)
@on_rows
def int4_warp_wide(*arguments):
    x, weight, *_, inputs, rows, groups, group, _ = arguments
    power = group >= 8 and group & (group - 1) == 0
    if inputs % 8 or not (groups == 1 or power) or not aligned(x, weight):
        return by_warps(warp_kernel, rows, *arguments)
    shift = group.bit_length() - 1 if power else ALL_OF_A_ROW
    by_warps(wide_kernel, rows, *arguments[:-2], shift, arguments[-1])
