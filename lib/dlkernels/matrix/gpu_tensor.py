"""Products of 16-bit numbers on the tensor cores of a GPU, with sums in float32.

The ladder of matmul_half                  what the rung adds
    matmul_half_tensor_cores   a warp multiplies 16 x 16 by 16 x 8 in one instruction (tensor_cores.py says who holds
                               what)
in gpu_tensor_fed.py
    matmul_half_ldmatrix       16 bytes per access, larger tiles, ldmatrix from padded rows: no bank conflicts
    matmul_half_pipelined      the next tiles are copied (cp.async) while these are multiplied
"""

import functools

import numpy as np

from ..device import cuda
from ..implementations import implementation
from ..layouts import bits
from ..tensor_cores import CAPABILITY, KINDS, multiply, multiply_by_shuffles
from .gpu import f32, launch, one_by_one, u32

EDGE, DEPTH = 64, 16  # four warps, each for 32 x 32 elements: 2 x 4 products of 16 x 8
WARPS = 4


@functools.cache
def tensor_core_kernel(kind, real=True):
    """The kernel for "f16" or "bf16"; with `real` false, with shuffles in place of the instruction, on a GPU too."""
    mma = multiply(kind) if real else multiply_by_shuffles(kind)

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


INSTEAD = "Use matmul on float32 arrays there: x.copy_to_host().astype(np.float32), then cuda.to_device."
BITS = ["void(uint16[::1], uint16[::1], float32[::1], uint32, uint32, uint32)"]


@implementation(
    "matmul_half",
    device="gpu",
    adds="tensor cores: a warp multiplies 16 x 16 by 16 x 8 in one instruction",
    limits="in the executor a function that does the same for a warp stands in for the instruction",
    dtypes=("float32",),
    capability=CAPABILITY,
    instead=INSTEAD,
    kernels=[(tensor_core_kernel(kind), BITS) for kind in KINDS],
)
def matmul_half_tensor_cores(a, b, kind, out):
    return multiply_narrow(a, b, kind, out)


def multiply_narrow(a, b, kind, out):
    """The product by `tensor_core_kernel`, which takes matrices of any size."""

    @one_by_one
    def each(x, y, z):
        launch(tensor_core_kernel(kind), x, y, z, EDGE, 32 * WARPS)

    return each(bits(a), bits(b), out)
