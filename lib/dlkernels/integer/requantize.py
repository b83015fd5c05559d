"""From 32-bit sums to codes, or to float32: a tile at a time, while its sums are in the first cache.

Each step is rounded to float32, and in this order, as reference.py says. Limits come before rounding: they are whole
numbers, so that it makes no difference, and what is rounded then fits an integer.
"""

import numpy as np
from numba import types
from numba.extending import overload

from ..simd.inner import INNER, inner_njit


def put(out, index, value, zero):
    """out[index] = the code of `value`, a number between the limits in units of the scale; or the value itself.

    Codes of int8 are written as their bits, in uint8.
    """


@overload(put, jit_options=INNER)
def _put(out, index, value, zero):
    if out.dtype == types.float32:

        def write(out, index, value, zero):
            out[index] = value

        return write

    def write_code(out, index, value, zero):
        out[index] = np.uint8(np.int32(np.rint(value)) + zero)

    return write_code


@inner_njit()
def channel_numbers(bias, zeros, scale, sums, q, codes, count):
    """(integers, factors): (corrections, zero points) and (start, factor, add) of all channels, filled up to `count`.

    As codes.factors; bias and zeros: empty where there are none. A correction is what the input's zero point adds.
    """
    integers, factors = np.zeros((2, count), np.int32), np.zeros((3, count), np.float32)
    for k in range(scale.size):
        of_sum = q.input_scale * scale[k]
        factors[1, k] = np.divide(of_sum, q.output_scale) if codes else of_sum
        integers[0, k] = q.input_zero * sums[k]
    if bias.size:
        for k in range(scale.size):
            factors[0 if codes else 2, k] = np.divide(bias[k], q.input_scale * scale[k]) if codes else bias[k]
    if zeros.size:
        for k in range(scale.size):
            integers[1, k] = zeros[k]
    return integers, factors


@inner_njit()
def put_line(sums, correction, start, factor, add, low, high, zero, out):
    """WIDTH results of one channel into a line."""
    for c in range(sums.size):
        total = np.float32(np.int32(sums[c] - correction))
        value = (total + start) * factor + add
        put(out, c, min(max(value, low), high), zero)


@inner_njit()
def put_one(total, start, factor, add, low, high, zero, out, index):
    """One result."""
    value = (np.float32(np.int32(total)) + start) * factor + add
    put(out, index, min(max(value, low), high), zero)
