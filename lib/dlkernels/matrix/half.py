"""Products of 16-bit numbers with 32-bit sums: mixed precision.

Matrices in float16 or bfloat16 take half the memory and half the time to move, and tensor cores multiply them many
times faster. Sums stay in float32: a sum of thousands of terms would lose nearly all its digits in 11 or 8 bits.
NumPy has no bfloat16; here it travels as uint16, the upper half of the bits of a float32.

    float16    1 sign, 5 exponent, 10 fraction bits      0.00006 to 65504, 3 digits
    bfloat16   1 sign, 8 exponent, 7 fraction bits       the range of float32, 2 digits

matmul_half_blocks         here: for CPUs of any kind; a block is widened when it is needed, never a whole matrix
matmul_half_dot2           in half_dot.py: bfloat16 on CPUs that multiply it, as those with AVX512-BF16 do
matmul_half_tensor_cores   in gpu_tensor.py
"""

import numpy as np

from .. import team
from ..implementations import implementation
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share
from .batch import batched
from .blocks import PACKED_A, matrices, multiply, room
from .choose import least_time, threads_for

DEPTH, WIDTH, HEIGHT = 512, 512, 256  # of the blocks: 1 MiB of b as float32, 0.5 MiB of a and of the result
ROOM = room(np.dtype(np.float32))  # elements
EXPONENTS = np.float32(2.0**112)  # float16 counts exponents from -15, float32 from -127

SIGN, SPECIAL = (np.uint32(0x8000), np.uint32(0x7F800000))  # exponent of a float32 that is infinite or not a number
LEAST_SPECIAL = np.uint32(0x7C00 << 13)  # and of such a float16, in its place of a float32


@inner_njit()
def widen_row(row, bfloat, bits, numbers):
    """float32 from 16 bits each, exactly. ``bits`` and ``numbers``: one memory."""
    if bfloat:
        for j in range(row.size):
            bits[j] = np.uint32(row[j]) << np.uint32(16)
        return
    for j in range(row.size):
        half = np.uint32(row[j])
        sign, rest = (half & SIGN) << np.uint32(16), (half & ~SIGN) << np.uint32(13)
        bits[j] = sign | rest | (SPECIAL if rest >= LEAST_SPECIAL else np.uint32(0))
    for j in range(row.size):
        numbers[j] *= EXPONENTS


@inner_njit()
def widen_block(x, top, left, bfloat, block):
    """Fill the float32 ``block`` with the part of x that begins at (top, left)."""
    bits = block.view(np.uint32)
    for i in range(block.shape[0]):
        widen_row(x[top + i, left : left + block.shape[1]], bfloat, bits[i], block[i])


@inner_njit()
def multiply_strip(a, b, bfloat, out, top, bottom, left, right):
    """The part of the product in rows `top` to `bottom` and columns `left` to `right`."""
    k, columns = a.shape[1], right - left
    work = np.empty(ROOM, np.float32)
    b_room, a_room = np.empty(DEPTH * columns, np.float32), np.empty(HEIGHT * DEPTH, np.float32)
    c_room = np.empty(HEIGHT * columns, np.float32)
    for front in range(0, k, DEPTH):
        depth = min(DEPTH, k - front)
        b_block = b_room[: depth * columns].reshape(depth, columns)
        widen_block(b, front, left, bfloat, b_block)
        for i in range(top, bottom, HEIGHT):
            rows = min(HEIGHT, bottom - i)
            a_block = a_room[: rows * depth].reshape(rows, depth)
            widen_block(a, i, front, bfloat, a_block)
            c_block = c_room[: rows * columns].reshape(rows, columns)
            x, y, z, terms = matrices(a_block, b_block, c_block, (False, False))
            multiply(x, y, z, rows, columns, terms, memory(work), 0, PACKED_A)
            for r in range(rows):
                target, source = out[i + r, left:right], c_block[r]
                for j in range(columns):  # not `target += source`: its error message takes seconds to compile
                    target[j] = source[j] + (target[j] if front else np.float32(0))


@inner_njit()
def _task_of_half(arguments, task, who):
    a, b, bfloat, out, down = arguments
    (m, n), across = out.shape, (out.shape[1] + WIDTH - 1) // WIDTH
    i, left = task // across, task % across * WIDTH
    multiply_strip(a, b, bfloat, out, i * m // down, (i + 1) * m // down, left, min(left + WIDTH, n))


@cached_njit()
def multiply_half(a, b, bfloat, out, down, threads, least, team):
    """out = a b for the bits of 16-bit numbers; strips of columns, and `down` parts of rows, by several threads."""
    across = (out.shape[1] + WIDTH - 1) // WIDTH
    share(_task_of_half, (a, b, bfloat, out, down), down * across, threads, least, team)


def rung(bfloat):
    @batched
    def product(a, b, out):
        (m, n), k = out.shape, a.shape[1]
        threads = threads_for(m * n * k)
        down = min(-(-m // 16), -(-threads // -(-n // WIDTH)))
        multiply_half(a, b, bfloat, out, down, threads, least_time(m * n * k), team.members())

    return product


PRODUCTS = {"f16": rung(bfloat=False), "bf16": rung(bfloat=True)}


@implementation(
    "matmul_half",
    device="cpu",
    adds="blocks are widened when they are needed, then multiplied in float32",
    dtypes=("float32",),
    public=True,
)
def matmul_half_blocks(a, b, kind, out):
    return PRODUCTS[kind](a.view(np.uint16), b.view(np.uint16), out)
