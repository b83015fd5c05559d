"""Convolution by register tiles, without patches in memory.

A band of the picture is copied once, with its padding, into memory that the cache holds. There, the pixels that one place
of the kernel needs for neighbouring results are neighbours themselves, so that vectors of them can be loaded from
wherever the place begins. A tile of the result, some output channels by some vectors of pixels, stays in registers while
all input channels and all places of the kernel pass by::

    for each band of a picture                                    its rows with padding: BAND bytes, for the L2 cache
        for each ROWS output channels                             their weights, packed: for the L1 or L2 cache
            for each VECTORS vectors of the band's results
                for each place of the kernel, for each input channel
                    tile += weights of ROWS channels x VECTORS vectors of pixels
                what lies between two rows of the result is left out when the tile is written

Vectors run on over the ends of rows: where a row is 58 pixels with its padding and 56 results wide, 2 of 58 lanes
compute what nobody needs.

With a stride, results that are neighbours need pixels that are `stride` apart. The copy puts these side by side: one
plane for each remainder of the division by the stride, in y and in x. In each of them the stride is one.
"""

import functools
from collections import namedtuple

import numpy as np

from ..matrix.blocks import REGISTERS
from ..simd import broadcast, fma, lanes, load, store, vector_width
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..simd.pack import pack
from ..simd.tile import tile_multiply_add, tile_store, tile_zeros
from ..team import share
from .kept import by_shape

VECTORS = 3
ROWS = (REGISTERS - VECTORS - 1) // VECTORS // 4 * 4  # 8 of 32 registers, 4 of 16; both divide most numbers of channels
PANEL = 2 * ROWS  # output channels whose weights are packed side by side: a multiple of every vector
BAND = 192 << 10  # bytes of the padded copy: less than the smallest L2 cache, with room for weights

#: How a convolution is cut. rows: of the result in a band; bands: of a picture. pitch: elements from one row of a plane
#: to the next; height: its rows. phases_y, phases_x: planes of a channel. channel: elements of all its planes. tiles: of
#: ROWS output channels in a group; parts: in how many pieces these are shared out. weights: elements of all packed
#: weights, which come first in the workspace. each: elements of one task's copy and scratch.
Cut = namedtuple("Cut", "rows bands pitch height phases_y phases_x channel tiles parts weights each")


@by_shape
def cut(weight, g, out, threads, packed=True):
    """The `Cut` of a convolution for that many threads. packed: whether weights are."""
    (pictures, outs, height, width), ins = out.shape, weight.shape[1]
    reach_y, reach_x = (g.kernel_y - 1) * g.dilation_y, (g.kernel_x - 1) * g.dilation_x
    phases = min(g.stride_y, reach_y + 1), min(g.stride_x, reach_x + 1)
    pitch, halo = width + reach_x // g.stride_x, reach_y // g.stride_y
    row = ins * phases[0] * phases[1] * pitch
    fit = max(BAND // out.itemsize // row - halo, 1)
    bands = -(-height // fit)
    rows = -(-height // bands)
    bands = -(-height // rows)
    tiles = -(-(outs // g.groups) // ROWS)
    tasks = pictures * g.groups * bands
    parts = min(tiles, -(-2 * threads // tasks)) if threads > 1 and packed else 1
    channel = phases[0] * phases[1] * (rows + halo) * pitch
    scratch = ROWS * VECTORS * vector_width(out.dtype)  # also what is read beyond the last plane
    weights = g.groups * -(-tiles // 2) * PANEL * weight[0].size if packed else 0
    return Cut(rows, bands, pitch, rows + halo, *phases, channel, tiles, parts, weights, ins * channel + scratch)


@functools.lru_cache(maxsize=1024)
def offsets(g, c):
    """Where each place of the kernel begins in the planes of a channel."""
    y, x = (
        np.divmod(np.arange(g.kernel_y) * g.dilation_y, g.stride_y),
        np.divmod(np.arange(g.kernel_x) * g.dilation_x, g.stride_x),
    )
    plane = c.height * c.pitch
    down = y[1] * (c.phases_x * plane) + y[0] * c.pitch
    return (down[:, None] + x[1] * plane + x[0]).reshape(-1)


# ---- the padded copy ---------------------------------------------------------------------------------------------


@inner_njit()
def copy_padded(picture, g, c, top, rows, line, to):
    """The planes of one channel, for `rows` rows of the result from row `top` on, to element `to` of the line."""
    high, wide = picture.shape
    for py in range(c.phases_y):
        for px in range(c.phases_x):
            first = max(0, -((px - g.left) // g.stride_x))  # columns of the plane that lie in the picture
            last = min(c.pitch, (wide - 1 + g.left - px) // g.stride_x + 1)
            for r in range(rows + c.height - c.rows):
                at = to + ((py * c.phases_x + px) * c.height + r) * c.pitch
                i = (top + r) * g.stride_y + py - g.top
                if not (0 <= i < high and first < last):
                    line[at : at + c.pitch] = 0
                    continue
                for q in range(at, at + first):
                    line[q] = 0
                for q in range(at + last, at + c.pitch):
                    line[q] = 0
                source, target = picture[i, first * g.stride_x + px - g.left :], line[at + first : at + last]
                if g.stride_x == 1:
                    for q in range(target.size):
                        target[q] = source[q]
                else:
                    for q in range(target.size):
                        target[q] = source[q * g.stride_x]


# ---- dense: many input channels for each result --------------------------------------------------------------------


@inner_njit()
def pack_weights(arguments, task, who):
    """The weights of PANEL output channels: for each input channel and place of the kernel, those of all channels side by
    side; zeros where there are no more."""
    weight, work, g, c = arguments
    outs, count = weight.shape[0] // g.groups, weight.shape[1] * g.kernel_y * g.kernel_x
    panels = panels_of(c.tiles)
    group, first = task // panels, task % panels * PANEL
    to, here = task * count * PANEL, min(PANEL, outs - first)
    line = memory(work)
    if here < PANEL:
        line[to : to + count * PANEL] = 0
    pack(memory(weight), (group * outs + first) * count, 1, count, count, here, line, to, PANEL)


@inner_njit()
def panels_of(tiles):
    return (tiles + 1) // 2


@inner_njit()
def add_taps(acc, line, weights, band, places, ins, channel):
    """The tile plus all places of the kernel and all input channels.

    band: where the tile's first pixel stands.
    """
    taps = places.size
    for t in range(taps):
        at, pixel, row = weights + t * PANEL, band + places[t], taps * PANEL
        acc = tile_multiply_add(acc, ins, line, at, (1, row), line, pixel, channel)
    return acc


@inner_njit()
def write_rows(line, scratch, width, out, at, plane, count, bias, first, f, last, pitch, wide):
    """Results f, f + 1, ... of `count` channels from the scratch to where they belong; what lies between rows is left out.

    A result f belongs to row f // pitch and column f % pitch, if that is less than `wide`.
    """
    for r in range(count):
        done, y, z = 0, f // pitch, f % pitch
        while f + done < last:
            run = min(wide - z, last - f - done, width - done)
            if run > 0:
                source = line[scratch + r * width + done : scratch + r * width + done + run]
                to = at + r * plane + y * wide + z
                target, add = out[to : to + run], bias[first + r]
                for k in range(run):
                    target[k] = source[k] + add
            done, y, z = done + pitch - z, y + 1, 0
            if done >= width:
                break


@inner_njit()
def task_of_bands(arguments, task, who):
    """One band of one picture, for some of the output channels of one group."""
    x, bias, out, work, places, g, c = arguments
    line, result, size = memory(work), memory(out), lanes(work)
    outs, high, wide = out.shape[1] // g.groups, out.shape[2], out.shape[3]
    ins = x.shape[1] // g.groups
    part, rest = task % c.parts, task // c.parts
    band, rest = rest % c.bands, rest // c.bands
    group, n = rest % g.groups, rest // g.groups
    top = band * c.rows
    rows = min(c.rows, high - top)
    copy = c.weights + who * c.each
    scratch = copy + ins * c.channel
    for channel in range(ins):
        copy_padded(x[n, group * ins + channel], g, c, top, rows, line, copy + channel * c.channel)
    last = (rows - 1) * c.pitch + wide  # results of the band, those between rows included
    for t in range(part * c.tiles // c.parts, (part + 1) * c.tiles // c.parts):
        weights = (group * panels_of(c.tiles) + t // 2) * ins * places.size * PANEL + t % 2 * ROWS
        first = group * outs + t * ROWS
        count = min(ROWS, outs - t * ROWS)
        at = ((n * out.shape[1] + first) * high + top) * wide
        f = 0
        while f < last:
            if last - f > 2 * size:
                three = tile_zeros(line, ROWS, 3)
                three = add_taps(three, line, weights, copy + f, places, ins, c.channel)
                width = 3 * size
                tile_store(line, scratch, width, three)
            elif last - f > size:
                two = tile_zeros(line, ROWS, 2)
                two = add_taps(two, line, weights, copy + f, places, ins, c.channel)
                width = 2 * size
                tile_store(line, scratch, width, two)
            else:
                one = tile_zeros(line, ROWS, 1)
                one = add_taps(one, line, weights, copy + f, places, ins, c.channel)
                width = size
                tile_store(line, scratch, width, one)
            write_rows(line, scratch, width, result, at, high * wide, count, bias, first, f, last, c.pitch, wide)
            f += width


@cached_njit()
def convolve(x, weight, bias, out, work, places, g, c, threads, least, team):
    """out = the convolution, for contiguous arrays. work: c.weights + threads * c.each elements."""
    share(pack_weights, (weight, work, g, c), g.groups * panels_of(c.tiles), threads, 0, team)
    tasks = out.shape[0] * g.groups * c.bands * c.parts
    share(task_of_bands, (x, bias, out, work, places, g, c), tasks, threads, least, team)


# ---- depthwise: one input channel for each result --------------------------------------------------------------------

TALL = 4  # rows of the result at a time: each weight that is loaded serves four times


@inner_njit()
def four_rows(line, band, pitch, weights, at, places, bias, out, to, wide):
    """A vector of results in each of four rows; the vector begins at element `band` of the first row's pixels."""
    acc0 = acc1 = acc2 = acc3 = broadcast(bias)
    for t in range(places.size):
        factor, source = broadcast(weights[at + t]), band + places[t]
        acc0 = fma(factor, load(line, source), acc0)
        acc1 = fma(factor, load(line, source + pitch), acc1)
        acc2 = fma(factor, load(line, source + 2 * pitch), acc2)
        acc3 = fma(factor, load(line, source + 3 * pitch), acc3)
    store(out, to, acc0), store(out, to + wide, acc1)
    store(out, to + 2 * wide, acc2), store(out, to + 3 * wide, acc3)


@inner_njit()
def add_column(line, source, pitch, high, middle, low, acc0, acc1, acc2, acc3):
    """The four sums plus one column of a kernel of three rows: each vector of pixels serves up to three of them."""
    one, two, three = load(line, source), load(line, source + pitch), load(line, source + 2 * pitch)
    four, five, six = load(line, source + 3 * pitch), load(line, source + 4 * pitch), load(line, source + 5 * pitch)
    acc0, acc1 = fma(high, one, acc0), fma(high, two, acc1)
    acc2, acc3 = fma(high, three, acc2), fma(high, four, acc3)
    acc0, acc1 = fma(middle, two, acc0), fma(middle, three, acc1)
    acc2, acc3 = fma(middle, four, acc2), fma(middle, five, acc3)
    acc0, acc1 = fma(low, three, acc0), fma(low, four, acc1)
    return acc0, acc1, fma(low, five, acc2), fma(low, six, acc3)


@inner_njit()
def four_rows_of_three(line, source, pitch, weights, bias, out, to, wide):
    """`four_rows` for a kernel of 3 x 3 neighbours, with 18 loads of pixels instead of 36."""
    a, b, c, d, e, f, g, h, i = weights
    acc0, acc1, acc2, acc3 = add_column(line, source, pitch, a, d, g, bias, bias, bias, bias)
    acc0, acc1, acc2, acc3 = add_column(line, source + 1, pitch, b, e, h, acc0, acc1, acc2, acc3)
    acc0, acc1, acc2, acc3 = add_column(line, source + 2, pitch, c, f, i, acc0, acc1, acc2, acc3)
    store(out, to, acc0), store(out, to + wide, acc1)
    store(out, to + 2 * wide, acc2), store(out, to + 3 * wide, acc3)


@inner_njit()
def plane_of_three(line, copy, weights, at, bias, out, to, rows, wide, pitch):
    """`plane_of_results` for a kernel of 3 x 3 neighbours: its weights stay in registers."""
    size, start = lanes(line), broadcast(bias)
    a, b, c = broadcast(weights[at]), broadcast(weights[at + 1]), broadcast(weights[at + 2])
    d, e, f = broadcast(weights[at + 3]), broadcast(weights[at + 4]), broadcast(weights[at + 5])
    g, h, i = broadcast(weights[at + 6]), broadcast(weights[at + 7]), broadcast(weights[at + 8])
    kernel = a, b, c, d, e, f, g, h, i
    for row in range(0, rows, TALL):
        y = min(row, rows - TALL)
        for column in range(0, wide, size):
            z = min(column, wide - size)
            four_rows_of_three(line, copy + y * pitch + z, pitch, kernel, start, out, to + y * wide + z, wide)


@inner_njit()
def plane_of_results(line, copy, scratch, weights, at, places, bias, out, to, rows, wide, pitch, near):
    """Rows of one output channel from its planes of pixels. The last four rows and the last vector are moved back.

    near: whether the kernel has 3 x 3 places that are neighbours.
    """
    size = lanes(line)
    if near and rows >= TALL and wide >= size:
        plane_of_three(line, copy, weights, at, bias, out, to, rows, wide, pitch)
        return
    if rows >= TALL and wide >= size:
        for row in range(0, rows, TALL):
            y = min(row, rows - TALL)
            for column in range(0, wide, size):
                z = min(column, wide - size)
                four_rows(line, copy + y * pitch + z, pitch, weights, at, places, bias, out, to + y * wide + z, wide)
        return
    for y in range(rows):
        for z in range(0, wide, size):
            acc = broadcast(bias)
            for t in range(places.size):
                acc = fma(broadcast(weights[at + t]), load(line, copy + y * pitch + z + places[t]), acc)
            store(line, scratch, acc)
            for k in range(min(size, wide - z)):
                out[to + y * wide + z + k] = line[scratch + k]


@inner_njit()
def task_of_channel(arguments, task, who):
    """One band of one input channel: all results that are made of it."""
    x, weight, bias, out, work, places, g, c = arguments
    line, result, factors = memory(work), memory(out), memory(weight)
    outs, high, wide = out.shape[1] // g.groups, out.shape[2], out.shape[3]
    band, plane = task % c.bands, task // c.bands
    n, group = plane // g.groups, plane % g.groups
    top = band * c.rows
    rows = min(c.rows, high - top)
    copy = who * c.each
    near = places.size == 9 and g.kernel_x == 3 and places[1] == 1 and places[3] == c.pitch
    copy_padded(x[n, group], g, c, top, rows, line, copy)
    for o in range(group * outs, (group + 1) * outs):
        to = ((n * out.shape[1] + o) * high + top) * wide
        scratch, at = copy + c.channel, o * places.size
        plane_of_results(line, copy, scratch, factors, at, places, bias[o], result, to, rows, wide, c.pitch, near)


@cached_njit()
def convolve_depthwise(x, weight, bias, out, work, places, g, c, threads, least, team):
    """out = the convolution with one input channel in each group, for contiguous arrays."""
    share(
        task_of_channel,
        (x, weight, bias, out, work, places, g, c),
        out.shape[0] * g.groups * c.bands,
        threads,
        least,
        team,
    )
