"""Winograd's convolution F(2x2, 3x3): 16 multiplications where the definition has 36.

Shmuel Winograd, Arithmetic Complexity of Computations (1980), for convolutions of networks by Lavin and Gray, Fast
Algorithms for Convolutional Neural Networks (2016). Of each 4 x 4 pixels d of a channel and each 3 x 3 weights w, it
makes 2 x 2 results::

    A^T [ (G w G^T) * (B^T d B) ] A                    * is element by element

    B^T = [ 1  0 -1  0 ]     G = [  1    0    0  ]     A^T = [ 1  1  1  0 ]
          [ 0  1  1  0 ]         [ 1/2  1/2  1/2 ]           [ 0  1 -1 -1 ]
          [ 0 -1  1  0 ]         [ 1/2 -1/2  1/2 ]
          [ 0  1  0 -1 ]         [  0    0    1  ]

The sum over input channels is done between the brackets, for each of the 16 places by itself: 16 products of matrices,
(out, in) by (in, tiles). The transforms cost additions and memory for each channel once, not for each pair of channels:
it pays where there are many. It costs accuracy: weights and pixels are added before they are multiplied, so that errors
grow with the largest of them that a result sees, not with their products. An infinite pixel becomes NaN, as Inf - Inf is.
"""

import numpy as np
from numba import njit

from .. import team
from ..implementations import implementation
from ..matrix import choose as products
from ..simd import lanes, load, store, vector_width
from ..simd.cache import cached_njit
from ..simd.line import memory
from ..team import share
from .choose import workspace
from .cpu import conv2d_chosen
from .pictures import on_pictures

TRANSFORMED = 4 << 20  # bytes of transformed pixels and results at a time; at least one row of tiles


@njit
def _of_pixels(d0, d1, d2, d3):
    """B^T d for one column, or d B for one row: of numbers, or of vectors."""
    return d0 - d2, d1 + d2, d2 - d1, d1 - d3


@njit
def _of_sums(m0, m1, m2, m3):
    """A^T m for one column."""
    return m0 + m1 + m2, m1 - m2 - m3


@njit
def _transform_weights(arguments, task, who):
    """G w G^T of all input channels of one output channel: first side by side, as the 16 matrices lie far apart, often by
    a power of two, where they would share sets of the cache."""
    weight, transformed = arguments
    half = weight.dtype.type(0.5)
    rows, places = np.empty((4, 3), weight.dtype), np.empty((16, weight.shape[1]), weight.dtype)
    for c in range(weight.shape[1]):
        w = weight[task, c]
        for k in range(3):
            rows[0, k], rows[3, k] = w[0, k], w[2, k]
            rows[1, k] = half * (w[0, k] + w[1, k] + w[2, k])
            rows[2, k] = half * (w[0, k] - w[1, k] + w[2, k])
        for i in range(4):
            one, two, three = rows[i, 0], rows[i, 1], rows[i, 2]
            places[4 * i, c], places[4 * i + 3, c] = one, three
            places[4 * i + 1, c] = half * (one + two + three)
            places[4 * i + 2, c] = half * (one - two + three)
    for i in range(16):
        target, source = transformed[i, task], places[i]
        for c in range(source.size):
            target[c] = source[c]


@njit
def _padded_row(picture, i, left, line, at, half):
    """Row i of the picture with its padding: pixels of even places from `at` on, of odd ones `half` elements later."""
    line[at : at + 2 * half] = 0
    if 0 <= i < picture.shape[0]:
        for j in range(picture.shape[1]):
            place = j + left
            line[at + place // 2 + (half if place % 2 else 0)] = picture[i, j]


@njit
def _column_of_tiles(line, at, row):
    """B^T d for one column of neighbouring tiles; `row`: elements from one padded row to the next."""
    return _of_pixels(load(line, at), load(line, at + row), load(line, at + 2 * row), load(line, at + 3 * row))


@njit
def _store_row(seen, to, place, a, b, c, d):
    """One row of B^T d B, into four matrices that lie `place` elements apart."""
    v0, v1, v2, v3 = _of_pixels(a, b, c, d)
    store(seen, to, v0), store(seen, to + place, v1)
    store(seen, to + 2 * place, v2), store(seen, to + 3 * place, v3)


@njit
def _transform_channel(arguments, task, who):
    """B^T d B of some rows of tiles of one input channel."""
    picture, g, first, rows, across, seen, work, each = arguments
    line, target, size = memory(work), memory(seen), lanes(work)
    half = across + size + 1
    at, place, pitch = who * each, seen.shape[1] * seen.shape[2], seen.shape[2]
    for r in range(rows):
        for i in range(4):
            _padded_row(picture[task], 2 * (first + r) + i - g.top, g.left, line, at + 2 * half * i, half)
        for t in range(
            0, across, size
        ):  # the last vector reaches into the next row, which comes later, or into the spare
            a0, a1, a2, a3 = _column_of_tiles(line, at + t, 2 * half)
            b0, b1, b2, b3 = _column_of_tiles(line, at + t + half, 2 * half)
            c0, c1, c2, c3 = _column_of_tiles(line, at + t + 1, 2 * half)
            d0, d1, d2, d3 = _column_of_tiles(line, at + t + half + 1, 2 * half)
            to = task * pitch + r * across + t
            _store_row(target, to, place, a0, b0, c0, d0)
            _store_row(target, to + 4 * place, place, a1, b1, c1, d1)
            _store_row(target, to + 8 * place, place, a2, b2, c2, d2)
            _store_row(target, to + 12 * place, place, a3, b3, c3, d3)


@njit
def _column_of_sums(sums, at, row):
    """A^T m for one column of neighbouring tiles."""
    return _of_sums(load(sums, at), load(sums, at + row), load(sums, at + 2 * row), load(sums, at + 3 * row))


@njit
def _transform_result(arguments, task, who):
    """A^T m A of some rows of tiles of one output channel, and its bias."""
    sums, bias, first, rows, across, out, work, each = arguments
    line, source, size = memory(work), memory(sums), lanes(work)
    place, pitch, room = sums.shape[1] * sums.shape[2], sums.shape[2], across + size
    add, at, wide = bias[task], who * each, out.shape[2]
    for r in range(rows):
        for t in range(0, across, size):
            m = task * pitch + r * across + t
            a0, a1 = _column_of_sums(source, m, 4 * place)
            b0, b1 = _column_of_sums(source, m + place, 4 * place)
            c0, c1 = _column_of_sums(source, m + 2 * place, 4 * place)
            d0, d1 = _column_of_sums(source, m + 3 * place, 4 * place)
            even, odd = _of_sums(a0, b0, c0, d0)
            store(line, at + t, even), store(line, at + room + t, odd)
            even, odd = _of_sums(a1, b1, c1, d1)
            store(line, at + 2 * room + t, even), store(line, at + 3 * room + t, odd)
        for k in range(2):
            y = 2 * (first + r) + k
            if y < out.shape[1]:
                evens, odds, row = line[at + 2 * k * room :], line[at + (2 * k + 1) * room :], out[task, y]
                for t in range(wide // 2):
                    row[2 * t], row[2 * t + 1] = evens[t] + add, odds[t] + add
                if wide % 2:
                    row[wide - 1] = evens[wide // 2] + add


@cached_njit()
def _all_weights(weight, transformed, threads, team):
    share(_transform_weights, (weight, transformed), weight.shape[0], threads, 0, team)


@cached_njit()
def _all_channels(picture, g, first, rows, across, seen, work, each, threads, team):
    share(_transform_channel, (picture, g, first, rows, across, seen, work, each), seen.shape[1], threads, 0, team)


@cached_njit()
def _all_results(sums, bias, first, rows, across, out, work, each, threads, team):
    share(_transform_result, (sums, bias, first, rows, across, out, work, each), sums.shape[1], threads, 0, team)


def fits(g):
    """Whether the convolution is one that F(2x2, 3x3) is made for."""
    return g[:4] == (3, 3, 1, 1) and g[-3:] == (1, 1, 1)


@implementation(
    "conv2d_winograd",
    device="cpu",
    adds="16 multiplications for 36, on top of our fastest product of matrices",
    limits="less accurate where weights or pixels are of very different size; Inf becomes NaN; other kernels than 3 x 3, strides, dilations "
    "and groups go the way of conv2d",
    public=True,
)
@on_pictures
def conv2d_winograd_2x2(x, weight, bias, g, out):
    if not fits(g):
        conv2d_chosen.__wrapped__(x, weight, bias, g, out)
        return
    (outs, ins), (high, wide) = weight.shape[:2], out.shape[2:]
    down, across, size = -(-high // 2), -(-wide // 2), vector_width(out.dtype)
    fit = max(1, TRANSFORMED // (16 * (ins + outs) * across * out.itemsize))
    rows = -(-down // -(-down // fit))  # of tiles at a time
    pitch = rows * across + size
    threads, helpers = products.threads_for(out.size * ins * 4), team.members()
    each = 8 * (across + size + 1)
    lengths = np.cumsum([16 * outs * ins, 16 * ins * pitch, 16 * outs * pitch, threads * each])
    parts = np.split(workspace(out.dtype, lengths[-1])[: lengths[-1]], lengths[:-1])
    transformed, seen, sums = (
        part.reshape(16, *shape) for part, shape in zip(parts, ((outs, ins), (ins, pitch), (outs, pitch)), strict=False)
    )
    _all_weights(weight, transformed, threads, helpers)
    for n in range(len(x)):
        for first in range(0, down, rows):
            here = min(rows, down - first)
            _all_channels(x[n], g, first, here, across, seen, parts[3], each, threads, helpers)
            tiles = slice(0, here * across)
            products.multiply(transformed, seen[:, :, tiles], sums[:, :, tiles])
            _all_results(sums, bias, first, here, across, out[n], parts[3], each, threads, helpers)
