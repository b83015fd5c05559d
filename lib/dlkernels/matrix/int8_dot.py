"""The product of 8-bit integers by the instruction made for it: four multiply-adds in each 32-bit lane.

The instruction (dots.py) wants numbers without a sign on one side. Adding 128 to b turns -128 ... 127 into 0 ... 255,
and adds 128 times the sum of a row of a to each element of that row; so the sums begin at minus that:

    sum of a (b + 128)  -  128 sum of a  =  sum of a b

All this is exact: 32-bit integers wrap around, and the result fits as long as k is less than 131,072.
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
from .int8 import matmul_int8_pairs

GROUP = 4
ADD_128 = np.uint32(0x80808080)  # to each of four bytes, where x + 128 = x xor 128


@overload(dots.pack_rows)
def _pack_rows_of_four(a, top, bottom, front, back, work, to):
    """Filled up with zeros: their products vanish, whatever stands in b. Sums begin at -128 times the sum of the
    row."""
    if a.dtype != types.int8:
        return None

    def pack(a, top, bottom, front, back, work, to):
        numbers, steps = work.view(np.int8), back - front
        for i in range(top, bottom):
            start = to + (i - top) * PITCH
            target = numbers[GROUP * start : GROUP * (start + DEPTH)]
            source = a[i][front:back]
            for p in range(steps):  # not a slice: its error message takes seconds to compile
                target[p] = source[p]
            target[steps : steps + -steps % GROUP] = 0
            total = np.int32(0)
            for p in range(steps):
                total += np.int32(target[p])
            work[start + DEPTH] = np.uint32(-128 * total)

    return pack


@overload(dots.pack_panels)
def _pack_panels_of_four(b, front, back, left, right, work, to):
    """What is beyond the last step does not matter."""
    if b.dtype != types.int8:
        return None

    def pack(b, front, back, left, right, work, to):
        for p in range(front, back, GROUP):
            row0, row1 = b[p], b[min(p + 1, back - 1)]
            row2, row3 = b[min(p + 2, back - 1)], b[min(p + 3, back - 1)]
            for j in range(left, right, PANEL):
                end = min(j + PANEL, right)
                b0, b1, b2, b3 = row0[j:end], row1[j:end], row2[j:end], row3[j:end]
                start = to + (j - left) * DEPTH + (p - front) // GROUP * PANEL
                target = work[start : start + PANEL]
                for c in range(b0.size):
                    low = np.uint32(np.uint8(b0[c])) | np.uint32(np.uint8(b1[c])) << np.uint32(8)
                    high = np.uint32(np.uint8(b2[c])) | np.uint32(np.uint8(b3[c])) << np.uint32(8)
                    target[c] = (low | high << np.uint32(16)) ^ ADD_128

    return pack


@inner_njit()
def _task_of_fours(arguments, task, who):
    a, b, c, parts, work, per_thread = arguments
    multiply_part(GROUP, a, b, c, task, parts, work, per_thread * who)


@cached_njit()
def multiply_fours(a, b, c, parts, work, per_thread, threads, least, team):
    """c = a b, cut into parts = (down, across). ``per_thread``: words of ``work`` for one thread."""
    share(_task_of_fours, (a, b, c, parts, work, per_thread), parts[0] * parts[1], threads, least, team)


@implementation(
    "matmul_int8",
    device="cpu",
    adds="dot products of four 8-bit numbers in one instruction: four times the multiply-adds of float32",
    dtypes=("int32",),
    limits="AVX512-VNNI or AVX-VNNI; elsewhere as matmul_int8_pairs",
    public=True,
)
@batched
def matmul_int8_dot4(a, b, out):
    if dots.DOT4:
        dots.multiply(multiply_fours, GROUP, a, b, out)
    else:
        matmul_int8_pairs.__wrapped__(a, b, out)
