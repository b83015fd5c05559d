"""The product of 8-bit integers by the instruction made for it: four multiply-adds in each 32-bit lane.

The instruction (dots.py) wants numbers without a sign on one side. Adding 128 to b turns -128 ... 127 into 0 ... 255, and
adds 128 times the sum of a row of a to each element of that row; so the sums begin at minus that:

    sum of a (b + 128)  -  128 sum of a  =  sum of a b

All this is exact: 32-bit integers wrap around, and the result fits as long as k is less than 131,072.
"""

import numpy as np
from numba import njit, types
from numba.extending import overload

from ..implementations import implementation
from ..simd.cache import cached_njit
from ..team import share
from . import dots
from .batch import batched
from .blocks import DEPTH, PITCH
from .dots import PANEL, multiply_part
from .int8 import matmul_int8_pairs

GROUP = 4
ADD_128 = np.uint32(0x80808080)  # to each of four bytes, where x + 128 = x xor 128


@njit
def pack_rows_of_four(a, work, to):
    """Words of a, filled up with zeros: their products vanish, whatever stands in b. Then -128 times the sum of the row."""
    k = a.shape[1]
    bytes_ = work.view(np.uint8)
    for i in range(a.shape[0]):
        row, start, total = a[i], to + i * PITCH, np.int32(0)
        target = bytes_[4 * start : 4 * (start + DEPTH)]
        for p in range(k):
            target[p] = np.uint8(row[p])
            total += np.int32(row[p])
        target[k : (k + 3) // 4 * 4] = 0
        work[start + DEPTH] = np.uint32(-128 * total)


@njit
def pack_panels_of_four(b, work, to):
    """Panels of b: four steps of one column make a word. What is beyond the last step or column does not matter."""
    k, n = b.shape
    for left in range(0, n, PANEL):
        start = to + left * DEPTH
        for p in range(0, k, GROUP):
            b0, b1 = b[p, left : left + PANEL], b[min(p + 1, k - 1), left : left + PANEL]
            b2, b3 = b[min(p + 2, k - 1), left : left + PANEL], b[min(p + 3, k - 1), left : left + PANEL]
            target = work[start : start + PANEL]
            for j in range(b0.size):
                low = np.uint32(np.uint8(b0[j])) | np.uint32(np.uint8(b1[j])) << np.uint32(8)
                high = np.uint32(np.uint8(b2[j])) | np.uint32(np.uint8(b3[j])) << np.uint32(8)
                target[j] = (low | high << np.uint32(16)) ^ ADD_128
            start += PANEL


@overload(dots.pack_rows)
def _rows_of_int8(a, work, to):
    if a.dtype == types.int8:
        return lambda a, work, to: pack_rows_of_four(a, work, to)


@overload(dots.pack_panels)
def _panels_of_int8(b, work, to):
    if b.dtype == types.int8:
        return lambda b, work, to: pack_panels_of_four(b, work, to)


@njit
def _task_of_fours(arguments, task, who):
    a, b, c, parts, work, each = arguments
    multiply_part(GROUP, a, b, c, task, parts, work, each * who)


@cached_njit()
def multiply_fours(a, b, c, parts, work, each, threads, team):
    """c = a b, cut into parts = (down, across). ``each``: words of ``work`` for one thread."""
    share(_task_of_fours, (a, b, c, parts, work, each), parts[0] * parts[1], threads, team)


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
