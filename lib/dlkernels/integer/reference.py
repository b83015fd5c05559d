"""Layers on codes of 8 bits in NumPy: what every other implementation is tested against.

linear_int8   sum[i, j] = sum over k of (input[i, k] - input_zero_point) (weight[j, k] - weight_zero_point[j])
conv2d_int8   the same over the window of each place; outside the picture stands the zero point's code, that is 0

Sums are exact, in 64-bit integers. What follows is PyTorch's arithmetic (FBGEMM's), each step rounded to float32:

    codes     rint((sum + bias / s) (s / output_scale)) + output_zero_point, ties to even, between the limits of the
              dtype; with ReLU not below the zero point
    float32   sum s + bias, here in float64
    with      s = input_scale weight_scale

So codes are the same to the bit wherever they are computed, and a code may differ by one from that of the real number
where this lies next to the middle between two codes.
"""

import numpy as np

from ..convolution import geometry
from .codes import LIMITS

f32 = np.float32


def linear_int8(
    input,
    weight,
    bias=None,
    input_scale=1.0,
    input_zero_point=0,
    weight_scale=1.0,
    weight_zero_point=0,
    output_scale=None,
    output_zero_point=0,
    activation=None,
):
    x = np.asarray(input, np.int64) - input_zero_point
    w = np.asarray(weight, np.int64) - _column(weight_zero_point)
    result = output_scale, output_zero_point, activation, np.asarray(input).dtype
    return requantize(x @ w.T, bias, input_scale, weight_scale, *result)


def conv2d_int8(
    input,
    weight,
    bias=None,
    stride=1,
    padding=0,
    dilation=1,
    groups=1,
    input_scale=1.0,
    input_zero_point=0,
    weight_scale=1.0,
    weight_zero_point=0,
    output_scale=None,
    output_zero_point=0,
    activation=None,
):
    input, weight = np.asarray(input), np.asarray(weight)
    x = (input if input.ndim == 4 else input[None]).astype(np.int64) - input_zero_point
    w = weight.astype(np.int64) - _column(weight_zero_point)[..., None, None]
    g, (high, wide) = geometry.convolution(x.shape[2:], w.shape[2:], stride, padding, dilation, groups)
    x = np.pad(x, ((0, 0), (0, 0), (g.top, g.bottom), (g.left, g.right)))
    batch, (outs, ins) = len(x), w.shape[:2]
    x, w = x.reshape(batch, groups, ins, *x.shape[2:]), w.reshape(groups, outs // groups, *w.shape[1:])
    sums = np.zeros((batch, groups, outs // groups, high, wide), np.int64)
    for y in range(g.kernel_y):
        for z in range(g.kernel_x):
            down, across = y * g.dilation_y, z * g.dilation_x
            seen = x[..., down : down + (high - 1) * g.stride_y + 1 : g.stride_y, :]
            seen = seen[..., across : across + (wide - 1) * g.stride_x + 1 : g.stride_x]
            sums += np.einsum("goc,bgchw->bgohw", w[..., y, z], seen)
    last = np.moveaxis(sums.reshape(batch, outs, high, wide), 1, -1)
    result = requantize(last, bias, input_scale, weight_scale, output_scale, output_zero_point, activation, input.dtype)
    result = np.moveaxis(result, -1, 1)
    return result if input.ndim == 4 else result[0]


def requantize(sums, bias, input_scale, weight_scale, output_scale, output_zero_point, activation, dtype):
    """From exact sums, channels last, to codes of that dtype, or to float64 where output_scale is None."""
    if sums.size and np.abs(sums).max() > 2**31 - 1:
        raise OverflowError("a sum does not fit 32 bits")
    s = f32(input_scale) * np.asarray(weight_scale, f32)
    if output_scale is None:
        real = sums * s.astype(np.float64) + (0 if bias is None else np.asarray(bias, np.float64))
        return np.maximum(real, 0) if activation == "relu" else real
    with_bias = sums.astype(f32) if bias is None else sums.astype(f32) + np.asarray(bias, f32) / s
    codes = np.rint(with_bias * (s / f32(output_scale))).astype(np.float64) + output_zero_point
    least, most = LIMITS[np.dtype(dtype)]
    return np.clip(codes, max(least, output_zero_point) if activation == "relu" else least, most).astype(np.int64)


def _column(zero_point):
    """A zero point for each row of a weight, or one for all."""
    return np.asarray(zero_point, np.int64).reshape(-1, 1)


def saturating_pairs(unsigned, signed):
    """What x86's vpmaddubsw makes of two lines of codes: products added in pairs, in 16 bits that saturate.

    Two products of 255 and 127 are 64,770, and 16 bits end at 32,767: a product of int8 by this instruction is wrong
    unless one side has 7 bits. PyTorch's `reduce_range` is there for that; vpdpbusd adds in 32 bits, and needs no such
    thing.
    """
    products = np.asarray(unsigned, np.int64) * np.asarray(signed, np.int64)
    return np.clip(products.reshape(*products.shape[:-1], -1, 2).sum(axis=-1), -32768, 32767)
