"""A linear layer with two of each four weights kept, on the GPU.

The ladder of linear_2_4              what the rung adds
    linear_2_4_threads        float32: a thread for each result; two bits say which input a weight is for

The ladder of linear_2_4_half         what the rung adds
    linear_2_4_half_threads   16 bits: a thread for each result
    linear_2_4_tensor_cores   mma.sp: a warp multiplies 16 x 32 by 32 x 8, of which half is stored and multiplied

**The instruction** is mma.sp.sync.aligned.m16n8k32.row.col.f32.{f16,bf16}.{f16,bf16}.f32 with sparsity selector 0 (PTX
ISA, "mma.sp"; compute capability 8.0 on). Its A, 16 x 32, comes as 16 x 16 numbers that are kept, in the registers of a
dense 16 x 16 one; its B, 32 x 8, is dense, in twice the registers. With group = lane // 4, t = lane % 4:

    a0: row group,     kept columns 2t, 2t + 1     : two of columns 4t ... 4t + 3
    a1: row group + 8, the same columns
    a2: row group,     kept columns 2t + 8, 2t + 9 : two of columns 4t + 16 ... 4t + 19
    a3: row group + 8, the same columns
    b0 ... b3: rows 2t, 2t + 1 of B and 8, 16, 24 further down, column group
    c0, c1: row group, columns 2t, 2t + 1          c2, c3: row group + 8

The **metadata** is a word of each thread, of which, with selector 0, those of threads t = 0 and t = 1 count: thread t
has columns 16 t ... 16 t + 15; its low 16 bits belong to row `group`, its high ones to row group + 8. Four bits for
each four columns, from the low ones on: the index of the first number that is kept, and of the second. The two must
differ, and PTX's newer mma.sp::ordered_metadata wants them to rise, as `to_2_4` writes them: its bytes are those 16
bits.

Without a GPU, `sparse_multiply`'s stand-ins do this: by shuffles in the compiled engine, for a warp at once in the
executor (as tensor_cores.py does for mma). The weight is A, so the kernel computes weight x input transposed.
"""

import functools
import math

import numpy as np
from llvmlite import ir

from simt import stand_in, warp_stand_in

from ..device import cuda
from ..implementations import implementation
from ..launches import device_array
from ..layouts import bits
from ..tensor_cores import CAPABILITY, FORMATS, KINDS
from ..wide import intrinsic, types

ALL = 0xFFFFFFFF
WARP, WARPS = 32, 4
HIGH, WIDE, DEEP = 16, 8, 32  # of one instruction: rows of the weight, samples, columns
PADDING = 0x4444  # metadata of what lies behind the last column: indices 0 and 1, which differ
f32, u8, u16, u32, i64 = np.float32, np.uint8, np.uint16, np.uint32, np.int64


# ---- the instruction, and what stands in for it ----------------------------------------------------------------------


@functools.cache
def sparse_multiply(kind):
    """The intrinsic mma_sp(a0 ... a3, b0 ... b3, c0 ... c3, metadata) -> four sums. kind: "f16" or "bf16"."""

    @intrinsic
    def mma_sp(typing_context, a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, metadata):
        def generate(context, builder, signature, args):
            word, number = ir.IntType(32), ir.FloatType()
            words = [
                context.cast(builder, args[k], signature.args[k], types.uint32) for k in (0, 1, 2, 3, 4, 5, 6, 7, 12)
            ]
            result = ir.LiteralStructType([number] * 4)
            text = (
                f"mma.sp.sync.aligned.m16n8k32.row.col.f32.{kind}.{kind}.f32 "
                "{$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9,$10,$11}, {$12,$13,$14,$15}, $16, 0x0;"
            )
            function = ir.FunctionType(result, [word] * 8 + [number] * 4 + [word])
            constraints = ",".join(["=f"] * 4 + ["r"] * 8 + ["f"] * 4 + ["r"])
            code = ir.InlineAsm(function, text, constraints, side_effect=True)
            sums = builder.call(code, [*words[:8], *args[8:12], words[8]])
            return context.make_tuple(
                builder, signature.return_type, [builder.extract_value(sums, k) for k in range(4)]
            )

        operands = a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, metadata
        return types.UniTuple(types.float32, 4)(*operands), generate

    by_shuffles = sparse_multiply_by_shuffles(kind)
    stand_in(mma_sp, by_shuffles)
    warp_stand_in(by_shuffles, _as_a_warp(kind))
    return mma_sp


@functools.cache
def number_of(kind):
    """The device function 16 bits -> float64."""
    fraction, bias = FORMATS[kind]
    one, exponents = 1 << fraction, (1 << (15 - fraction)) - 1

    @cuda.jit(device=True)
    def number(word):
        exponent, digits = (word >> fraction) & exponents, word & (one - 1)
        if exponent == 0:
            size = digits * 2.0 ** (1 - bias - fraction)
        elif exponent == exponents:
            size = math.inf if digits == 0 else math.nan
        else:
            size = (digits + one) * 2.0 ** (exponent - bias - fraction)
        return -size if word & 0x8000 else size

    return number


@functools.cache
def sparse_multiply_by_shuffles(kind):
    """What the instruction does, thread by thread: each kept number asks for the row of B that its two bits name."""
    number = number_of(kind)

    @cuda.jit(device=True)
    def b_of(b0, b1, b2, b3, row, column):
        """B[row, column], which another thread holds."""
        holder = column * 4 + row % 8 // 2
        w0, w1 = cuda.shfl_sync(ALL, i64(b0), holder), cuda.shfl_sync(ALL, i64(b1), holder)
        w2, w3 = cuda.shfl_sync(ALL, i64(b2), holder), cuda.shfl_sync(ALL, i64(b3), holder)
        which = row // 8
        word = (w0 if which == 0 else w1) if which < 2 else (w2 if which == 2 else w3)
        return number((word >> 16 * (row % 2)) & 0xFFFF)

    @cuda.jit(device=True)
    def mma_sp(a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, metadata):
        lane = cuda.laneid
        group, t = lane // 4, lane % 4
        sums = cuda.local.array(4, f32)
        sums[0], sums[1], sums[2], sums[3] = c0, c1, c2, c3
        for half in range(2):
            codes = cuda.shfl_sync(ALL, i64(metadata), group * 4 + half)
            for q in range(4):
                upper = cuda.shfl_sync(ALL, i64(a0 if half == 0 else a2), group * 4 + q)
                lower = cuda.shfl_sync(ALL, i64(a1 if half == 0 else a3), group * 4 + q)
                for e in range(8):  # two kept numbers, for each of the four sums
                    second, r = e // 4, e % 4
                    kept = upper if r < 2 else lower
                    code = (codes >> (16 * (r // 2) + 4 * q + 2 * second)) & 3
                    x = b_of(b0, b1, b2, b3, 16 * half + 4 * q + code, 2 * t + r % 2)
                    sums[r] = f32(sums[r] + number((kept >> 16 * second) & 0xFFFF) * x)
        return sums[0], sums[1], sums[2], sums[3]

    return mma_sp


LANES = np.arange(32)
GROUP, T = LANES // 4, LANES % 4


def _numbers(words, kind):
    """Pairs of 16 bits as float64, along a last axis of two."""
    halves = np.stack([words & 0xFFFF, words >> 16], axis=-1).astype(u16)
    return (halves.view(np.float16) if kind == "f16" else (halves.astype(u32) << 16).view(f32)).astype(float)


def _as_a_warp(kind):
    """The same for a warp at once, for the executor."""

    def multiply_matrices(lanes):
        operands = [lanes[lane] for lane in range(32)]
        words = _numbers(np.array([[int(word) for word in row[:8]] for row in operands], u32), kind)  # lane, word, half
        sums = np.array([row[8:12] for row in operands], f32)
        metadata = np.array([int(row[12]) for row in operands], np.int64).reshape(8, 4)[:, :2]  # group, t
        kept, where, b = np.empty((16, 16)), np.empty((16, 16), np.int64), np.empty((32, 8))
        for half in range(2):
            for down in range(2):  # a0 and a1, then a2 and a3
                kept[GROUP + 8 * down, 2 * T + half] = words[:, down, half]
                kept[GROUP + 8 * down, 2 * T + 8 + half] = words[:, 2 + down, half]
            for k in range(4):
                b[2 * T + 8 * k + half, GROUP] = words[:, 4 + k, half]
        for column in range(16):
            shift = column % 8 * 2
            for down in range(2):
                code = metadata[:, column // 8] >> (16 * down + shift) & 3
                where[8 * down : 8 * down + 8, column] = column // 2 * 4 + code
        product = (kept[:, :, None] * b[where]).sum(axis=1)
        rows, columns = (GROUP, GROUP, GROUP + 8, GROUP + 8), (2 * T, 2 * T + 1, 2 * T, 2 * T + 1)
        added = np.stack([product[i, j] for i, j in zip(rows, columns, strict=True)], axis=1) + sums
        return dict(enumerate(map(tuple, added.astype(f32))))

    multiply_matrices.__name__ = f"mma_sp_{kind}"
    return multiply_matrices


# ---- a thread for each result ----------------------------------------------------------------------------------------


@cuda.jit(device=True)
def column_of(indices, row, k):
    """The column of kept number k."""
    return k // 2 * 4 + i64((indices[row, k // 4] >> u8(k % 4 * 2)) & u8(3))


@cuda.jit
def threads_kernel(indices, bias, values, lines, out):
    i, first = cuda.grid(2)
    if i < out.shape[1]:
        for t in range(first, out.shape[0], cuda.gridsize(2)[1]):
            total = bias[i]
            for k in range(values.shape[1]):
                total += values[i, k] * lines[t, column_of(indices, i, k)]
            out[t, i] = total


def no_bias(bias, rows):
    return cuda.to_device(np.zeros(rows, f32)) if bias is None else bias


def in_a_grid(kernel, indices, bias, values, lines, out):
    """A thread for each result, 32 x 4 in a block."""
    if out.size:
        grid = -(-out.shape[1] // WARP), min(-(-out.shape[0] // WARPS), 65535)
        kernel[grid, (WARP, WARPS)](indices, no_bias(bias, out.shape[1]), values, lines, out)


@implementation(
    "linear_2_4",
    "gpu",
    adds="a thread for each result; two bits say which input a weight is for",
    dtypes=("float32",),
    kernels=[
        (threads_kernel, ["void(uint8[:, ::1], float32[::1], float32[:, ::1], float32[:, ::1], float32[:, ::1])"])
    ],
    public=True,
)
def linear_2_4_threads(indices, bias, values, input):
    rows = values.shape[0]
    shape = (*input.shape[:-1], rows)
    count = math.prod(shape[:-1])
    out = device_array((count, rows), f32)
    in_a_grid(threads_kernel, indices, bias, values, input.reshape(count, input.shape[-1]), out)
    return out.reshape(*shape)


@functools.cache
def half_threads_kernel(kind):
    number = number_of(kind)

    @cuda.jit
    def kernel(indices, bias, values, lines, out):
        i, first = cuda.grid(2)
        if i < out.shape[1]:
            for t in range(first, out.shape[0], cuda.gridsize(2)[1]):
                total = bias[i]
                for k in range(values.shape[1]):
                    weight, x = i64(values[i, k]), i64(lines[t, column_of(indices, i, k)])
                    total += f32(number(weight)) * f32(number(x))
                out[t, i] = total

    return kernel


HALF = ["void(uint8[:, ::1], float32[::1], uint16[:, ::1], uint16[:, ::1], float32[:, ::1])"]


def on_lines_of_bits(rung):
    """Let `rung(kind, indices, bias, values, lines, out)` take 16-bit numbers as uint16, and any leading dimensions."""

    @functools.wraps(rung)
    def wrapper(indices, bias, values, input, kind, out):
        rows = values.shape[0]
        if out.size:
            count = out.size // rows
            lines = bits(input).reshape(count, input.shape[-1])
            rung(kind, indices, bias, bits(values), lines, out.reshape(count, rows))
        return out

    return wrapper


@implementation(
    "linear_2_4_half",
    "gpu",
    adds="a thread for each result, of 16-bit numbers",
    dtypes=("float32",),
    kernels=[(half_threads_kernel(kind), HALF) for kind in KINDS],
)
@on_lines_of_bits
def linear_2_4_half_threads(kind, indices, bias, values, lines, out):
    in_a_grid(half_threads_kernel(kind), indices, bias, values, lines, out)


# ---- tensor cores ----------------------------------------------------------------------------------------------------


@functools.cache
def tensor_core_kernel(kind):
    """A warp for 16 rows of the weight and 8 samples; operands straight from global memory."""
    mma_sp = sparse_multiply(kind)

    @cuda.jit(device=True)
    def pair(matrix, row, column):
        """Two neighbours, or zeros where there are none. column is even, and so is the number of columns."""
        if row < matrix.shape[0] and column < matrix.shape[1]:
            return u32(matrix[row, column]) | u32(matrix[row, column + 1]) << u32(16)
        return u32(0)

    @cuda.jit(device=True)
    def codes(indices, fours, row, first):
        """The 16 bits of a row for columns 4 first ... 4 first + 15."""
        word = u32(PADDING)
        if row < indices.shape[0]:
            for half in range(2):
                if first + 2 * half < fours:
                    byte = u32(indices[row, first // 2 + half])
                    if first + 2 * half + 1 == fours:  # the last four is alone in its byte
                        byte = (byte & u32(0xF)) | u32(0x40)
                    word = (word & ~(u32(0xFF) << u32(8 * half))) | byte << u32(8 * half)
        return word

    @cuda.jit
    def kernel(indices, bias, values, lines, out):
        lane = cuda.threadIdx.x
        group, t = lane // 4, lane % 4
        top = HIGH * cuda.blockIdx.x
        left = WIDE * (cuda.blockIdx.y * WARPS + cuda.threadIdx.y)
        fours = values.shape[1] // 2
        c0 = c1 = c2 = c3 = f32(0)
        for start in range(0, values.shape[1], DEEP // 2):  # of what is kept
            a0, a1 = pair(values, top + group, start + 2 * t), pair(values, top + group + 8, start + 2 * t)
            a2 = pair(values, top + group, start + 2 * t + 8)
            a3 = pair(values, top + group + 8, start + 2 * t + 8)
            b0 = pair(lines, left + group, 2 * start + 2 * t)
            b1 = pair(lines, left + group, 2 * start + 2 * t + 8)
            b2 = pair(lines, left + group, 2 * start + 2 * t + 16)
            b3 = pair(lines, left + group, 2 * start + 2 * t + 24)
            first = start // 2 + t % 2 * 4
            metadata = codes(indices, fours, top + group, first) | codes(indices, fours, top + group + 8, first) << u32(
                16
            )
            c0, c1, c2, c3 = mma_sp(a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, metadata)
        for e in range(4):
            i, j = top + group + e // 2 * 8, left + 2 * t + e % 2
            if i < out.shape[1] and j < out.shape[0]:
                total = (c0 if e == 0 else c1) if e < 2 else (c2 if e == 2 else c3)
                out[j, i] = total + bias[i]

    return kernel


@implementation(
    "linear_2_4_half",
    "gpu",
    adds="tensor cores that leave out what was dropped: a warp multiplies 16 x 32 by 32 x 8 at once (mma.sp)",
    limits="in the executor a function that does the same for a warp stands in for the instruction",
    dtypes=("float32",),
    capability=CAPABILITY,
    instead="Use linear_2_4 on float32 arrays there: x.copy_to_host().astype(np.float32), then cuda.to_device.",
    kernels=[(tensor_core_kernel(kind), HALF) for kind in KINDS],
    public=True,
)
@on_lines_of_bits
def linear_2_4_tensor_cores(kind, indices, bias, values, lines, out):
    grid = -(-out.shape[1] // HIGH), -(-out.shape[0] // (WIDE * WARPS))
    kernel = tensor_core_kernel(kind)
    kernel[grid, (WARP, WARPS)](indices, no_bias(bias, out.shape[1]), values, lines, out)
