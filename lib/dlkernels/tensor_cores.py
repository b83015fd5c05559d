"""Instructions of the tensor cores, for numba kernels: a warp multiplies small matrices of 16-bit numbers.

All 32 threads of a warp give one instruction together. `multiply(kind)` is the intrinsic that adds the product of a
16 x 16 and a 16 x 8 matrix to sums in float32. Each thread holds a few elements in its registers, 16-bit numbers in
pairs: with group = lane // 4 and t = lane % 4,

    a0: row group,     columns 2t, 2t + 1      b0: rows 2t, 2t + 1, column group
    a1: row group + 8, columns 2t, 2t + 1      b1: rows 2t + 8, 2t + 9, column group
    a2: row group,     columns 2t + 8, 2t + 9  c0, c1: row group,     columns 2t, 2t + 1
    a3: row group + 8, columns 2t + 8, 2t + 9  c2, c3: row group + 8, columns 2t, 2t + 1

`load_matrices` brings four 8 x 8 matrices from shared memory to these places: thread 8 j + r says where row r of matrix
j begins (16 bytes), and each thread gets one pair of each matrix: of row `group`, columns 2t and 2t + 1.
`load_matrices_transposed` gives it rows 2t and 2t + 1 of column `group`. With threads 0 to 15 at the 16 rows of a
block, and threads 16 to 31 at the same rows 8 columns on, the four results of the first are a0 to a3, and those of the
second are b0, b1 of 8 columns and b0, b1 of the next 8.

`pack(kind)` rounds two float32 numbers to such a pair, so that sums can be factors of the next product.

(PTX ISA: "mma.m16n8k16", "ldmatrix", "cvt.rn". Compute capability 8.0 on.) The executor and the compiled engine have no
tensor cores: there the functions below stand in, with the same accesses to shared memory and the same elements in each
thread.
"""

import functools
import math

import numpy as np
from llvmlite import ir

from simt import stand_in, warp_stand_in

from .async_copy import SHARED, pointer_in
from .device import cuda
from .wide import element_pointer, intrinsic, load4, types

CAPABILITY = (8, 0)  # of the oldest GPUs that have these instructions
KINDS = ("f16", "bf16")
ALL = 0xFFFFFFFF
f32, u32, int64 = np.float32, np.uint32, np.int64


@functools.cache
def multiply(kind):
    """The intrinsic mma(a0, a1, a2, a3, b0, b1, c0, c1, c2, c3) -> four sums. kind: "f16" or "bf16"."""

    @intrinsic
    def mma(typing_context, a0, a1, a2, a3, b0, b1, c0, c1, c2, c3):
        def generate(context, builder, signature, args):
            word, number = ir.IntType(32), ir.FloatType()
            words = [
                context.cast(builder, value, kind_of, types.uint32)
                for value, kind_of in zip(args[:6], signature.args[:6], strict=True)
            ]
            result = ir.LiteralStructType([number] * 4)
            text = (
                f"mma.sync.aligned.m16n8k16.row.col.f32.{kind}.{kind}.f32 "
                "{$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};"
            )
            function = ir.FunctionType(result, [word] * 6 + [number] * 4)
            code = ir.InlineAsm(function, text, "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f", side_effect=True)
            sums = builder.call(code, [*words, *args[6:]])
            return context.make_tuple(
                builder, signature.return_type, [builder.extract_value(sums, k) for k in range(4)]
            )

        return types.UniTuple(types.float32, 4)(a0, a1, a2, a3, b0, b1, c0, c1, c2, c3), generate

    by_shuffles = multiply_by_shuffles(kind)
    stand_in(mma, by_shuffles)
    warp_stand_in(by_shuffles, _multiply_as_a_warp(kind))
    return mma


def _load_matrices(transposed):
    def load_matrices(typing_context, array, index):
        def generate(context, builder, signature, args):
            array_type, index_type = signature.args
            pointer = element_pointer(context, builder, array_type, args[0], index_type, args[1])
            word = ir.IntType(32)
            function = ir.FunctionType(ir.LiteralStructType([word] * 4), [word])
            text = f"ldmatrix.sync.aligned.m8n8.x4{'.trans' * transposed}.shared.b16 {{$0,$1,$2,$3}}, [$4];"
            code = ir.InlineAsm(function, text, "=r,=r,=r,=r,r,~{memory}", side_effect=True)
            words = builder.call(code, [pointer_in(SHARED, builder, pointer)])
            return context.make_tuple(
                builder, signature.return_type, [builder.extract_value(words, k) for k in range(4)]
            )

        return types.UniTuple(types.uint32, 4)(array, index), generate

    return intrinsic(load_matrices)


load_matrices, load_matrices_transposed = _load_matrices(False), _load_matrices(True)


@functools.cache
def pack(kind):
    """The intrinsic pair(low, high) -> both as 16-bit numbers in one word, rounded to the nearest. kind: as for
    `multiply`."""

    @intrinsic
    def pair(typing_context, low, high):
        def generate(context, builder, signature, args):
            number = ir.FloatType()
            function = ir.FunctionType(ir.IntType(32), [number, number])
            code = ir.InlineAsm(function, f"cvt.rn.{kind}x2.f32 $0, $1, $2;", "=r,f,f")
            return builder.call(code, [args[1], args[0]])  # the instruction takes the upper half first

        return types.uint32(low, high), generate

    stand_in(pair, pack_by_arithmetic(kind))
    return pair


# ---- the same by shuffles and arithmetic, for the compiled engine ------------------------------------------------

FORMATS = {"f16": (10, 15), "bf16": (7, 127)}  # bits of the fraction, and what is added to the exponent


@functools.cache
def pack_by_arithmetic(kind):
    """What the instruction does, in float64, which has room for all of it."""
    fraction, bias = FORMATS[kind]
    special = ((1 << (15 - fraction)) - 1) << fraction

    @cuda.jit(device=True)
    def rounded(x):
        sign = 0x8000 if math.copysign(1.0, x) < 0 else 0
        size = abs(float(x))
        if size != size:
            return 0x7FFF
        if size == math.inf:
            return sign | special
        if size == 0.0:
            return sign
        exponent = max(math.frexp(size)[1] - 1, 1 - bias)  # of the spacing: numbers near zero share the least
        digits = round(size * 2.0 ** (fraction - exponent))
        return sign | min(((exponent + bias - 1) << fraction) + digits, special)

    @cuda.jit(device=True)
    def pair(low, high):
        return u32(rounded(low) | rounded(high) << 16)

    return pair


@functools.cache
def multiply_by_shuffles(kind):
    """What the instruction does, thread by thread."""
    fraction, bias = FORMATS[kind]
    one, exponents = 1 << fraction, (1 << (15 - fraction)) - 1

    @cuda.jit(device=True)
    def number(bits):
        exponent, digits = (bits >> fraction) & exponents, bits & (one - 1)
        if exponent == 0:
            size = digits * 2.0 ** (1 - bias - fraction)
        elif exponent == exponents:
            size = math.inf if digits == 0 else math.nan
        else:
            size = (digits + one) * 2.0 ** (exponent - bias - fraction)
        return -size if bits & 0x8000 else size

    @cuda.jit(device=True)
    def mma(a0, a1, a2, a3, b0, b1, c0, c1, c2, c3):
        lane = cuda.laneid
        group, t = lane // 4, lane % 4
        for half in range(2):
            for q in range(4):
                upper = cuda.shfl_sync(ALL, int64(a0 if half == 0 else a2), group * 4 + q)
                lower = cuda.shfl_sync(ALL, int64(a1 if half == 0 else a3), group * 4 + q)
                left = cuda.shfl_sync(ALL, int64(b0 if half == 0 else b1), 2 * t * 4 + q)
                right = cuda.shfl_sync(ALL, int64(b0 if half == 0 else b1), (2 * t + 1) * 4 + q)
                for shift in range(0, 32, 16):
                    u, v = number((upper >> shift) & 0xFFFF), number((lower >> shift) & 0xFFFF)
                    x, y = number((left >> shift) & 0xFFFF), number((right >> shift) & 0xFFFF)
                    c0, c1 = f32(c0 + u * x), f32(c1 + u * y)
                    c2, c3 = f32(c2 + v * x), f32(c3 + v * y)
        return c0, c1, c2, c3

    return mma


@cuda.jit(device=True)
def word_of(w0, w1, w2, w3, source, which):
    """Word `which` (0 to 3) of those that thread `source` holds; each thread asks for its own."""
    v0, v1 = cuda.shfl_sync(ALL, int64(w0), source), cuda.shfl_sync(ALL, int64(w1), source)
    v2, v3 = cuda.shfl_sync(ALL, int64(w2), source), cuda.shfl_sync(ALL, int64(w3), source)
    return u32((v0 if which == 0 else v1) if which < 2 else (v2 if which == 2 else v3))


@cuda.jit(device=True)
def deal(w0, w1, w2, w3):
    """Thread 8 j + r holds row r of matrix j, in four words; each thread gets its pair of each matrix."""
    lane = cuda.laneid
    group, t = lane // 4, lane % 4
    pairs = cuda.local.array(4, u32)
    for j in range(4):
        pairs[j] = word_of(w0, w1, w2, w3, 8 * j + group, t)
    return pairs[0], pairs[1], pairs[2], pairs[3]


@cuda.jit(device=True)
def deal_transposed(w0, w1, w2, w3):
    """The same with rows and columns of each matrix exchanged."""
    lane = cuda.laneid
    group, t = lane // 4, lane % 4
    pairs = cuda.local.array(4, u32)
    for j in range(4):
        pairs[j] = u32(0)
        for half in range(2):
            word = u32(word_of(w0, w1, w2, w3, 8 * j + 2 * t + half, group // 2))
            number = word >> u32(16 * (group % 2)) & u32(0xFFFF)
            pairs[j] |= number << u32(16 * half)
    return pairs[0], pairs[1], pairs[2], pairs[3]


@cuda.jit(device=True)
def _load_and_deal(array, index):
    w0, w1, w2, w3 = load4(array, index)
    return deal(w0, w1, w2, w3)


@cuda.jit(device=True)
def _load_and_deal_transposed(array, index):
    w0, w1, w2, w3 = load4(array, index)
    return deal_transposed(w0, w1, w2, w3)


stand_in(load_matrices, _load_and_deal)
stand_in(load_matrices_transposed, _load_and_deal_transposed)


# ---- the same for a warp at once, for the executor ------------------------------------------------------------------

LANES = np.arange(32)
GROUP, T = LANES // 4, LANES % 4


def _numbers(words, kind):
    """Pairs of 16 bits as float64, along a last axis of two."""
    bits = np.stack([words & 0xFFFF, words >> 16], axis=-1).astype(np.uint16)
    return (bits.view(np.float16) if kind == "f16" else (bits.astype(np.uint32) << 16).view(np.float32)).astype(float)


def _multiply_as_a_warp(kind):
    def multiply_matrices(lanes):
        operands = [lanes[lane] for lane in range(32)]
        words = np.array([[int(word) for word in of_lane[:6]] for of_lane in operands], np.uint32)
        sums = np.array([of_lane[6:] for of_lane in operands], f32)
        numbers = _numbers(words, kind)  # lane, word, half
        a, b = np.empty((16, 16)), np.empty((16, 8))
        for half in range(2):
            a[GROUP, 2 * T + half], a[GROUP + 8, 2 * T + half] = numbers[:, 0, half], numbers[:, 1, half]
            a[GROUP, 2 * T + 8 + half], a[GROUP + 8, 2 * T + 8 + half] = numbers[:, 2, half], numbers[:, 3, half]
            b[2 * T + half, GROUP], b[2 * T + 8 + half, GROUP] = numbers[:, 4, half], numbers[:, 5, half]
        product = a @ b
        rows, columns = (GROUP, GROUP, GROUP + 8, GROUP + 8), (2 * T, 2 * T + 1, 2 * T, 2 * T + 1)
        added = np.stack([product[i, j] for i, j in zip(rows, columns, strict=True)], axis=1) + sums
        return dict(enumerate(map(tuple, added.astype(f32))))

    multiply_matrices.__name__ = f"mma_{kind}"
    return multiply_matrices


def deal_to_a_warp(lanes):
    matrices = np.array([[int(word) for word in lanes[lane]] for lane in range(32)], np.uint32).reshape(4, 8, 4)
    return dict(enumerate(map(tuple, matrices[:, GROUP, T].T)))


def deal_transposed_to_a_warp(lanes):
    rows = np.array([[int(word) for word in lanes[lane]] for lane in range(32)], np.uint32).reshape(4, 8, 4)
    halves = np.ascontiguousarray(np.stack([rows & 0xFFFF, rows >> 16], axis=-1).reshape(4, 8, 8))
    pairs = halves[:, 2 * T, GROUP] | halves[:, 2 * T + 1, GROUP] << 16
    return dict(enumerate(map(tuple, pairs.T)))


warp_stand_in(deal, deal_to_a_warp)
warp_stand_in(deal_transposed, deal_transposed_to_a_warp)
