"""Products of 16-bit numbers on the tensor cores of a GPU, with sums in float32.

One instruction, given by all 32 threads of a warp together, multiplies a 16 x 16 by a 16 x 8 matrix. Each thread
holds a few elements in its registers: with group = lane // 4 and t = lane % 4,

    a0: row group,     columns 2t, 2t + 1      b0: rows 2t, 2t + 1, column group
    a1: row group + 8, columns 2t, 2t + 1      b1: rows 2t + 8, 2t + 9, column group
    a2: row group,     columns 2t + 8, 2t + 9  c0, c1: row group,     columns 2t, 2t + 1
    a3: row group + 8, columns 2t + 8, 2t + 9  c2, c3: row group + 8, columns 2t, 2t + 1

(PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type".)
"""

import functools

import numpy as np
from llvmlite import ir

from .. import device
from ..device import cuda
from ..implementations import implementation
from ..layouts import bits
from ..wide import intrinsic, types
from .gpu import f32, launch, one_by_one, u32


def tensor_core_instruction(kind):
    """The instruction as an intrinsic, by inline PTX; `kind` is "f16" or "bf16". Needs compute capability 8.0."""

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
            signature_ = ir.FunctionType(result, [word] * 6 + [number] * 4)
            code = ir.InlineAsm(signature_, text, "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f", side_effect=True)
            sums = builder.call(code, [*words, *args[6:]])
            return context.make_tuple(
                builder, signature.return_type, [builder.extract_value(sums, k) for k in range(4)]
            )

        return types.UniTuple(types.float32, 4)(a0, a1, a2, a3, b0, b1, c0, c1, c2, c3), generate

    return mma


def tensor_core_by_shuffles(kind):
    """What the instruction does, thread by thread, for the executor, which has no tensor cores. Finite numbers only."""
    fraction, bias = (10, 15) if kind == "f16" else (7, 127)
    one, exponents = 1 << fraction, (1 << (15 - fraction)) - 1

    @cuda.jit(device=True)
    def number(bits):
        exponent, digits = (bits >> fraction) & exponents, bits & (one - 1)
        if exponent == 0:
            size = digits * 2.0 ** (1 - bias - fraction)
        else:
            size = (digits + one) * 2.0 ** (exponent - bias - fraction)
        return -size if bits & 0x8000 else size

    @cuda.jit(device=True)
    def mma(a0, a1, a2, a3, b0, b1, c0, c1, c2, c3):
        lane = cuda.laneid
        group, t = lane // 4, lane % 4
        for half in range(2):
            for q in range(4):
                upper = int(cuda.shfl_sync(0xFFFFFFFF, a0 if half == 0 else a2, group * 4 + q))
                lower = int(cuda.shfl_sync(0xFFFFFFFF, a1 if half == 0 else a3, group * 4 + q))
                left = int(cuda.shfl_sync(0xFFFFFFFF, b0 if half == 0 else b1, 2 * t * 4 + q))
                right = int(cuda.shfl_sync(0xFFFFFFFF, b0 if half == 0 else b1, (2 * t + 1) * 4 + q))
                for shift in range(0, 32, 16):
                    u, v = number((upper >> shift) & 0xFFFF), number((lower >> shift) & 0xFFFF)
                    x, y = number((left >> shift) & 0xFFFF), number((right >> shift) & 0xFFFF)
                    c0, c1 = f32(c0 + u * x), f32(c1 + u * y)
                    c2, c3 = f32(c2 + v * x), f32(c3 + v * y)
        return c0, c1, c2, c3

    return mma


EDGE, DEPTH = 64, 16  # four warps, each for 32 x 32 elements: 2 x 4 products of 16 x 8
WARPS = 4


@functools.cache
def tensor_core_kernel(kind, real):
    """The kernel for "f16" or "bf16"; with `real` false, with the stand-in for the executor."""
    mma = tensor_core_instruction(kind) if real else tensor_core_by_shuffles(kind)

    @cuda.jit(device=True)
    def pair(low, high):
        return u32(low) | (u32(high) << u32(16))

    @cuda.jit
    def kernel(a, b, out, m, n, k):
        a_tile = cuda.shared.array((EDGE, DEPTH), np.uint16)
        b_tile = cuda.shared.array((DEPTH, EDGE), np.uint16)
        sums = cuda.local.array((2, 4, 4), f32)
        t = u32(cuda.threadIdx.x)
        warp, lane = t // u32(32), t % u32(32)
        group, pairs = lane // u32(4), lane % u32(4) * u32(2)
        top, left = u32(cuda.blockIdx.y) * u32(EDGE), u32(cuda.blockIdx.x) * u32(EDGE)
        y, x = warp // u32(2) * u32(32), warp % u32(2) * u32(32)
        for r in range(2):
            for c in range(4):
                for e in range(4):
                    sums[r, c, e] = f32(0)
        for start in range(u32(0), k, u32(DEPTH)):
            for part in range(EDGE * DEPTH // (32 * WARPS)):
                e = t + u32(part * 32 * WARPS)
                i, p = e // u32(DEPTH), e % u32(DEPTH)
                a_tile[i, p] = a[(top + i) * k + start + p] if top + i < m and start + p < k else np.uint16(0)
                p, j = e // u32(EDGE), e % u32(EDGE)
                b_tile[p, j] = b[(start + p) * n + left + j] if start + p < k and left + j < n else np.uint16(0)
            cuda.syncthreads()
            for r in range(2):
                i = y + u32(16 * r) + group
                a0 = pair(a_tile[i, pairs], a_tile[i, pairs + u32(1)])
                a1 = pair(a_tile[i + u32(8), pairs], a_tile[i + u32(8), pairs + u32(1)])
                a2 = pair(a_tile[i, pairs + u32(8)], a_tile[i, pairs + u32(9)])
                a3 = pair(a_tile[i + u32(8), pairs + u32(8)], a_tile[i + u32(8), pairs + u32(9)])
                for c in range(4):
                    j = x + u32(8 * c) + group
                    b0 = pair(b_tile[pairs, j], b_tile[pairs + u32(1), j])
                    b1 = pair(b_tile[pairs + u32(8), j], b_tile[pairs + u32(9), j])
                    s0, s1, s2, s3 = sums[r, c, 0], sums[r, c, 1], sums[r, c, 2], sums[r, c, 3]
                    s0, s1, s2, s3 = mma(a0, a1, a2, a3, b0, b1, s0, s1, s2, s3)
                    sums[r, c, 0], sums[r, c, 1], sums[r, c, 2], sums[r, c, 3] = s0, s1, s2, s3
            cuda.syncthreads()
        for r in range(2):
            for c in range(4):
                for e in range(4):
                    i = top + y + u32(16 * r + e // 2 * 8) + group
                    j = left + x + u32(8 * c + e % 2) + pairs
                    if i < m and j < n:
                        out[i * n + j] = sums[r, c, e]

    return kernel


CAPABILITY = (8, 0)  # of the oldest GPUs that have the instruction
INSTEAD = "Use matmul on float32 arrays there: x.copy_to_host().astype(np.float32), then cuda.to_device."
BITS = ["void(uint16[::1], uint16[::1], float32[::1], uint32, uint32, uint32)"]


@implementation(
    "matmul_half",
    device="gpu",
    adds="tensor cores: a warp multiplies 16 x 16 by 16 x 8 in one instruction",
    limits="in the executor a stand-in by shuffles takes the instruction's place",
    dtypes=("float32",),
    capability=CAPABILITY,
    instead=INSTEAD,
    kernels=[(tensor_core_kernel(kind, True), BITS) for kind in ("f16", "bf16")],
    public=True,
)
def matmul_half_tensor_cores(a, b, kind, out):
    kernel = tensor_core_kernel(kind, device.name == "gpu")

    @one_by_one
    def product(x, y, z):
        launch(kernel, x, y, z, EDGE, 32 * WARPS)

    return product(bits(a), bits(b), out)
