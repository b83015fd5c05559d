"""The product of bfloat16 matrices by the instruction made for it: two multiply-adds in each 32-bit lane.

The instruction (dots.py) differs from float32 arithmetic in one thing: it takes numbers below 2^-126 (subnormal ones)
for zero, and makes zero of such sums. That is an error of no size where small numbers are multiplied by large ones, or
where many small products are added. So the operands are searched first, which takes one pass over them. A number with
the exponent e is a multiple of 2^(e - 7), because it has 7 fraction bits. If the least exponents in a and b are e and
f, all products and sums are multiples of 2^(e + f - 14), before rounding and after. With

    e + f - 14 >= -126    and no subnormal number in a or b

no sum but zero is below 2^-126, and nothing is lost: each of the k additions rounds to nearest, as elsewhere, and the
error is at most that of a sum of k rounded terms. Other matrices go the way of matmul_half_blocks.
"""

import numpy as np
from numba import types
from numba.extending import overload

from ..implementations import implementation
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..team import share
from . import dots
from .batch import batched
from .blocks import DEPTH, PITCH
from .dots import PANEL, multiply_part
from .half import PRODUCTS, matmul_half_blocks

GROUP = 2
FRACTION, BIAS = 7, 127  # of bfloat16: bits after the point; what its exponents are stored with
LEAST = 2 * BIAS - 126 + 2 * FRACTION  # of the sum of two stored exponents


@overload(dots.pack_rows)
def _pack_rows_of_two(a, top, bottom, front, back, work, to):
    """Filled up with a zero; sums begin at zero."""
    if a.dtype != types.uint16:
        return None

    def pack(a, top, bottom, front, back, work, to):
        halves, steps = work.view(np.uint16), back - front
        for i in range(top, bottom):
            start = to + (i - top) * PITCH
            target = halves[GROUP * start : GROUP * (start + DEPTH)]
            source = a[i][front:back]
            for p in range(steps):  # not a slice: its error message takes seconds to compile
                target[p] = source[p]
            target[steps : steps + steps % GROUP] = 0
            work[start + DEPTH] = 0

    return pack


@overload(dots.pack_panels)
def _pack_panels_of_two(b, front, back, left, right, work, to):
    """Filled up with zeros, too: zero times what is not finite would not vanish."""
    if b.dtype != types.uint16:
        return None

    def pack(b, front, back, left, right, work, to):
        for p in range(front, back, GROUP):
            row0, row1 = b[p], b[min(p + 1, back - 1)]
            there = np.uint32(0xFFFF if p + 1 < back else 0)
            for j in range(left, right, PANEL):
                b0, b1 = row0[j : min(j + PANEL, right)], row1[j : min(j + PANEL, right)]
                start = to + (j - left) * DEPTH + (p - front) // GROUP * PANEL
                target = work[start : start + PANEL]
                for c in range(b0.size):
                    target[c] = np.uint32(b0[c]) | (np.uint32(b1[c]) & there) << np.uint32(16)

    return pack


@inner_njit()
def least_bits(x, task, tasks):
    """The least bits of part `task` of a matrix, without sign, minus 1; zeros do not count."""
    few = np.uint16(0xFFFF)
    for i in range(task * x.shape[0] // tasks, (task + 1) * x.shape[0] // tasks):
        row = x[i]
        for j in range(row.size):
            few = min(few, np.uint16((row[j] & np.uint16(0x7FFF)) - np.uint16(1)))  # zero becomes the largest
    return few


@inner_njit()
def _task_of_search(arguments, task, who):
    a, b, lowest = arguments  # a and b need not be of one type: one of them may be read-only
    tasks = lowest.shape[1]
    lowest[0, task], lowest[1, task] = least_bits(a, task, tasks), least_bits(b, task, tasks)


@inner_njit()
def nothing_is_lost(a, b):
    """Whether no sum of products can be small enough to be taken for zero: from the least bits of each matrix, minus
    1."""
    e, f = (a + 1) >> FRACTION, (b + 1) >> FRACTION  # the least exponents, as they are stored; 0: a subnormal number
    return min(e, f) > 0 and e + f >= LEAST


@inner_njit()
def _task_of_twos(arguments, task, who):
    a, b, c, parts, work, per_thread = arguments
    multiply_part(GROUP, a, b, c, task, parts, work, per_thread * who)


@cached_njit()
def multiply_twos(a, b, c, parts, work, per_thread, threads, least, team):
    """c = a b, cut into parts = (down, across); False, and nothing done, where small numbers would be lost.

    ``per_thread``: words of ``work`` for one thread.
    """
    tasks = parts[0] * parts[1]
    lowest = np.empty((2, tasks), np.uint16)
    share(_task_of_search, (a, b, lowest), tasks, threads, least, team)
    if not nothing_is_lost(lowest[0].min(), lowest[1].min()):
        return False
    share(_task_of_twos, (a, b, c, parts, work, per_thread), tasks, threads, least, team)
    return True


@batched
def product(a, b, out):
    if not dots.multiply(multiply_twos, GROUP, a, b, out):
        PRODUCTS["bf16"].__wrapped__(a, b, out)


@implementation(
    "matmul_half",
    device="cpu",
    adds="bfloat16: dot products of two numbers in one instruction, twice the multiply-adds of float32",
    dtypes=("float32",),
    limits="bfloat16, AVX512-BF16, no numbers near the smallest; elsewhere as matmul_half_blocks",
    public=True,
)
def matmul_half_dot2(a, b, kind, out):
    if kind == "bf16" and dots.DOT2:
        return product(a.view(np.uint16), b.view(np.uint16), out)
    return matmul_half_blocks(a, b, kind, out)
