"""Depthwise convolution with channels in the lanes: for pictures that are narrow or strided.

Each lane does a channel of its own: nothing is shared, and nothing is wasted at the ends of rows, which are as long as
a vector in the last layers of a network. Pixels are turned to [row][column][channel] on the way in, results back on the
way out.
"""

from collections import namedtuple

import numpy as np

from .. import team
from ..host import taken, workspace
from ..matrix import choose as products
from ..simd import broadcast, fma, lanes, load, store, vector_width
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share
from .plans import by_shape
from .turned import copy_turned, turn_back

PIXELS = 8  # at a time: each weight that is loaded serves so many, and as many sums hide the latency
BAND = 128 << 10  # bytes of a turned band of one vector of channels

#: rows: of the result in a band; bands: of a picture. tall, wide: of a turned band. vectors: of channels. factors:
#: elements of all turned weights and bias, which come first in the workspace; band, scratch, own: elements of a
#: thread's band, of its scratch, of both and its results.
Plan = namedtuple("Plan", "rows bands tall wide vectors factors band scratch own")


@inner_njit()
def pixels_of_vector(steps, places, rows, wide, line, seen, factors, out_start):
    """The depthwise convolution of one vector of channels of a band, without bias: `wide` results in each of `rows`
    rows.

    steps: elements from one result's window to that of the next row and of the next column; from one result to the
    next, and from the weights of one place of the kernel to those of the next. It reads and writes up to PIXELS - 1
    results more than a row has: they are written over by the next row's.
    """
    down, step, pitch, apart = steps
    zero = broadcast(line.dtype.type(0))
    for y in range(rows):
        for column in range(0, wide, PIXELS):
            window, result = seen + y * down + column * step, out_start + (y * wide + column) * pitch
            a = b = c = d = e = f = g = h = zero
            for t in range(places.size):
                factor, pixel = load(line, factors + t * apart), window + places[t]
                a, b = fma(factor, load(line, pixel), a), fma(factor, load(line, pixel + step), b)
                c, d = fma(factor, load(line, pixel + 2 * step), c), fma(factor, load(line, pixel + 3 * step), d)
                e, f = fma(factor, load(line, pixel + 4 * step), e), fma(factor, load(line, pixel + 5 * step), f)
                g, h = fma(factor, load(line, pixel + 6 * step), g), fma(factor, load(line, pixel + 7 * step), h)
            store(line, result, a), store(line, result + pitch, b)  # beyond the row: written over by the next one
            store(line, result + 2 * pitch, c), store(line, result + 3 * pitch, d)
            store(line, result + 4 * pitch, e), store(line, result + 5 * pitch, f)
            store(line, result + 6 * pitch, g), store(line, result + 7 * pitch, h)


def pays(weight, g, out):
    """Whether it is faster than vectors of pixels (tiles.py): by shape.

    Those have idle lanes where a row doesn't fill its vectors: a quarter or more of them below 1.5 vectors a row.
    """
    narrow = 2 * out.shape[3] < 3 * vector_width(out.dtype)
    return len(weight) == g.groups >= vector_width(out.dtype) and (narrow or g.stride_x > 1)


@by_shape
def plan(weight, g, out):
    (channels, _, tall, wide), (high, across), size = weight.shape, out.shape[2:], vector_width(out.dtype)
    columns, reach = (across - 1) * g.stride_x + (wide - 1) * g.dilation_x + 1, (tall - 1) * g.dilation_y + 1
    rows = max(1, min(high, (BAND // (columns * size * out.itemsize) - reach) // g.stride_y + 1))
    rows = -(-high // -(-high // rows))
    deep, vectors = (rows - 1) * g.stride_y + reach, -(-channels // size)
    band, scratch = (deep * columns + PIXELS * (g.stride_x if across > 1 else 1)) * size, deep * columns * size
    own = band + scratch + (rows * across + PIXELS) * size
    return Plan(rows, -(-high // rows), deep, columns, vectors, (tall * wide + 1) * vectors * size, band, scratch, own)


@by_shape
def offsets(weight, g, out):
    """Where each place of the kernel begins in a band."""
    y, x = np.arange(g.kernel_y) * g.dilation_y * plan(weight, g, out).wide, np.arange(g.kernel_x) * g.dilation_x
    return ((y[:, None] + x) * vector_width(out.dtype)).reshape(-1)


@inner_njit()
def _task(arguments, task, who):
    """A band of one vector of channels of a picture."""
    x, out, work, places, g, p = arguments
    line, size, (channels, high, wide) = memory(work), lanes(work), out.shape[1:]
    vector, band, picture = task // p.bands % p.vectors, task % p.bands, task // (p.bands * p.vectors)
    top, channel = band * p.rows, vector * size
    rows = min(p.rows, high - top)
    seen = p.factors + who * p.own
    scratch = seen + p.band
    results = scratch + p.scratch
    tall = p.tall - (p.rows - rows) * g.stride_y
    window = top * g.stride_y - g.top, -g.left, tall, p.wide, 1, 1
    copy_turned(x, channel, picture, window, line, seen, size, scratch)
    step = g.stride_x if wide > 1 else 1  # of what stands beside a single result nothing is used
    steps = g.stride_y * p.wide * size, step * size, size, p.vectors * size
    pixels_of_vector(steps, places, rows, wide, line, seen, channel, results)
    bias = load(line, places.size * p.vectors * size + channel)
    for k in range(rows * wide):
        store(line, results + k * size, load(line, results + k * size) + bias)
    out_start = ((picture * channels + channel) * high + top) * wide
    turn_back(line, results, size, min(size, channels - channel), rows * wide, memory(out), out_start, high * wide)


@cached_njit()
def convolve_lanes(x, out, work, places, g, p, threads, least, team):
    share(_task, (x, out, work, places, g, p), out.shape[0] * p.vectors * p.bands, threads, least, team)


def convolve(x, weight, bias, g, out):
    """out = the convolution with one input and one output channel in each group, for contiguous arrays."""
    channels, multiplies = len(weight), out.size * weight[0].size
    threads, p, size = products.threads_for(multiplies), plan(weight, g, out), vector_width(out.dtype)
    work = workspace(out.dtype, p.factors + threads * p.own)
    factors = work[: p.factors].reshape(-1, p.vectors * size)
    with taken(work):
        factors[:-1, :channels], factors[-1, :channels], factors[:, channels:] = weight.reshape(channels, -1).T, bias, 0
        convolve_lanes(
            x, out, work, offsets(weight, g, out), g, p, threads, products.least_time(multiplies), team.members()
        )
