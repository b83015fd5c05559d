"""Local convolution on the CPU: windows as in a convolution, but each place of the result has weights of its own.

    out[n, o, y, x] = bias[o] + sum over c, ky, kx of weight[o, c, ky, kx, y, x] * input[n, c, y stride + ky dilation -
    padding, ...]

No weight is used twice in a picture: the weights are read once for each picture or, where a row of the result is made
for all pictures in turn, once for all. So memory is the limit, for a kernel that reads them in their order.

The ladder of conv2d_local                what the rung adds
    conv2d_local_direct    the loops of the convolution, with weights of each place
    conv2d_local_rows      all cores: each some rows of the result, of all pictures; weights in the order of memory
"""

import numpy as np

from .. import team
from ..implementations import implementation
from ..matrix import choose as products
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share
from .im2col import inside
from .pictures import on_pictures

CONTRACT = {"contract"}
RESULTS = 16 << 10  # bytes of results of a task, in all pictures: they stay in the cache while the weights pass by


@cached_njit()
def _direct(x, weight, bias, g, out):
    for n in range(out.shape[0]):
        for o in range(out.shape[1]):
            for y in range(out.shape[2]):
                for z in range(out.shape[3]):
                    total = bias[o]
                    for c in range(x.shape[1]):
                        for ky in range(g.kernel_y):
                            for kx in range(g.kernel_x):
                                i = y * g.stride_y + ky * g.dilation_y - g.top
                                j = z * g.stride_x + kx * g.dilation_x - g.left
                                if 0 <= i < x.shape[2] and 0 <= j < x.shape[3]:
                                    total += weight[o, c, ky, kx, y, z] * x[n, c, i, j]
                    out[n, o, y, z] = total


@implementation("conv2d_local", device="cpu", adds="the loops of the convolution, with weights of each place")
@on_pictures
def conv2d_local_direct(x, weight, bias, g, out):
    _direct(x, weight, bias, g, out)


@inner_njit(fastmath=CONTRACT)
def _add_products(
    weights, weights_start, wide, pixels, pixels_start, down, stride, results, results_start, rows, count
):
    """results += weights * pixels, for `count` results in each of some rows.

    weights_start, pixels_start, results_start: the first of each; wide: from a row of weights, or of results, to the
    next; down: of pixels. Indices are unsigned: numba then does not ask whether they are negative, and LLVM takes
    vectors.
    """
    for y in range(rows):
        weight, pixel, result = weights_start + y * wide, pixels_start + y * down, results_start + y * wide
        if stride == 1:
            for z in range(count):
                results[np.uint64(result + z)] += weights[np.uint64(weight + z)] * pixels[np.uint64(pixel + z)]
        else:
            for z in range(count):
                results[np.uint64(result + z)] += weights[np.uint64(weight + z)] * pixels[np.uint64(pixel + z * stride)]


@inner_njit()
def _band(arguments, task, who):
    """Some rows of one output channel, of all pictures. For a place of the kernel, the weights of all rows lie
    together."""
    x, weight, bias, g, out, rows = arguments
    weights, pixels, results = memory(weight), memory(x), memory(out)
    (pictures, outs, high, wide), (channels, tall, broad) = out.shape, x.shape[1:]
    bands = -(-high // rows)
    o, first_row = task // bands, task % bands * rows
    row_end, weights_at = min(first_row + rows, high), o * weight[0].size
    for n in range(pictures):
        out[n, o, first_row:row_end] = bias[o]
    for c in range(channels):
        for ky in range(g.kernel_y):
            top, below = inside(ky, tall, high, g.stride_y, g.top, g.dilation_y)
            top, below = max(top, first_row), min(below, row_end)
            i = top * g.stride_y + ky * g.dilation_y - g.top
            for kx in range(g.kernel_x):
                begin, end = inside(kx, broad, wide, g.stride_x, g.left, g.dilation_x)
                j, result_offset = begin * g.stride_x + kx * g.dilation_x - g.left, top * wide + begin
                for n in range(pictures if begin < end and top < below else 0):
                    seen = ((n * channels + c) * tall + i) * broad + j
                    down, result_at = g.stride_y * broad, (n * outs + o) * high * wide + result_offset
                    many = below - top, end - begin
                    _add_products(
                        weights,
                        weights_at + result_offset,
                        wide,
                        pixels,
                        seen,
                        down,
                        g.stride_x,
                        results,
                        result_at,
                        *many,
                    )
                weights_at += high * wide


@cached_njit()
def _bands(x, weight, bias, g, out, rows, threads, least, team):
    tasks = out.shape[1] * -(-out.shape[2] // rows)
    share(_band, (x, weight, bias, g, out, rows), tasks, threads, least, team)


def rows_of(out, threads):
    """How many rows a task makes: as many as stay in the cache, and few enough for two tasks a thread."""
    pictures, outs, high, wide = out.shape
    bands = max(-(-pictures * high * wide * out.itemsize // RESULTS), -(-2 * threads // outs) if threads > 1 else 1)
    return -(-high // min(bands, high))


@implementation(
    "conv2d_local",
    device="cpu",
    adds="all cores: each some rows of the result, of all pictures; weights are read once, in the order of memory",
    public=True,
)
@on_pictures
def conv2d_local_rows(x, weight, bias, g, out):
    multiplies = weight.size * len(x)
    threads = products.threads_for(multiplies)
    least = products.least_time(multiplies)
    _bands(x, weight, bias, g, out, rows_of(out, threads), threads, least, team.members())
