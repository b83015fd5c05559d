"""Convolution by register tiles, without patches in memory.

A band of the picture is copied once, with its padding, into memory that the cache holds. There, the pixels that one
place of the kernel needs for neighbouring results are neighbours themselves, so that vectors of them can be loaded from
wherever the place begins. A tile of the result, some output channels by some vectors of pixels, stays in registers
while all input channels and all places of the kernel pass by::

    for each band of a picture                                    its rows with padding: BAND bytes, for the L2 cache
        for each ROWS output channels                             their weights, packed: for the L1 or L2 cache
            for each VECTORS vectors of the band's results
                for each place of the kernel, for each input channel
                    tile += weights of ROWS channels x VECTORS vectors of pixels

Rows of results that fill a vector are cut into tiles of their own, the last of them moved back. Where rows are shorter,
vectors run on over their ends: 7 results of 9 pixels with padding leave 2 of 9 lanes that compute what nobody needs.

With a stride, results that are neighbours need pixels that are `stride` apart. The copy puts these side by side: one
plane for each remainder of the division by the stride, in y and in x. In each of them the stride is one.
"""

import functools
from collections import namedtuple

import numpy as np

from ..matrix.blocks import REGISTERS
from ..simd import broadcast, lanes, load, store, vector_width
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..simd.pack import pack
from ..simd.tile import tile_load, tile_multiply_add, tile_store
from ..team import share
from .plans import by_shape

VECTORS = 3
ROWS = (REGISTERS - VECTORS - 1) // VECTORS // 4 * 4  # 8 of 32 registers, 4 of 16; both divide most numbers of channels
FEW = 16  # input channels: with fewer, all places of one are done before the next, in the order of the weights
PANEL = 2 * ROWS  # output channels whose weights are packed side by side: a multiple of every vector
BAND = 192 << 10  # bytes of the padded copy: less than the smallest L2 cache, with room for weights

#: How a convolution is cut. rows: of the result in a band; bands: of a picture. pitch: elements from one row of a plane
#: to the next; height: its rows. phases_y, phases_x: planes of a channel. channel: elements of all its planes. tiles:
#: of ROWS output channels in a group; parts: in how many pieces these are shared out. weights: elements of all packed
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
    scratch = 2 * ROWS * VECTORS * vector_width(out.dtype)  # also what is read beyond the last plane
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
def copy_padded(picture, g, c, top, rows, line, padded_at):
    """The planes of one channel, for `rows` rows of the result from row `top` on, to element `padded_at` of the
    line."""
    high, wide = picture.shape
    for py in range(c.phases_y):
        for px in range(c.phases_x):
            start = max(0, -((px - g.left) // g.stride_x))  # columns of the plane that lie in the picture
            end = min(c.pitch, (wide - 1 + g.left - px) // g.stride_x + 1)
            for r in range(rows + c.height - c.rows):
                row_at = padded_at + ((py * c.phases_x + px) * c.height + r) * c.pitch
                i = (top + r) * g.stride_y + py - g.top
                if not (0 <= i < high and start < end):
                    line[row_at : row_at + c.pitch] = 0
                    continue
                for q in range(row_at, row_at + start):
                    line[q] = 0
                for q in range(row_at + end, row_at + c.pitch):
                    line[q] = 0
                source, target = picture[i, start * g.stride_x + px - g.left :], line[row_at + start : row_at + end]
                if g.stride_x == 1:
                    for q in range(target.size):
                        target[q] = source[q]
                elif g.stride_x == 2:  # a number that the compiler knows: it shuffles vectors
                    for q in range(target.size):
                        target[q] = source[q * 2]
                else:
                    for q in range(target.size):
                        target[q] = source[q * g.stride_x]


# ---- the weights, and the tile ---------------------------------------------------------------------------------------


@inner_njit()
def pack_weights(arguments, task, who):
    """The weights of PANEL output channels: for each input channel and place of the kernel, those of all channels side
    by side; zeros where there are no more."""
    weight, work, g, c = arguments
    outs, count = weight.shape[0] // g.groups, weight.shape[1] * g.kernel_y * g.kernel_x
    panels = panels_of(c.tiles)
    group, first_out = task // panels, task % panels * PANEL
    line_start, out_count = task * count * PANEL, min(PANEL, outs - first_out)
    line = memory(work)
    if out_count < PANEL:
        line[line_start : line_start + count * PANEL] = 0
    pack(memory(weight), (group * outs + first_out) * count, 1, count, count, out_count, line, line_start, PANEL)


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
        tap, pixel, row = weights + t * PANEL, band + places[t], taps * PANEL
        acc = tile_multiply_add(acc, ins, line, tap, (1, row), line, pixel, channel)
    return acc


@inner_njit()
def add_few(acc, line, weights, band, places, ins, channel):
    """`add_taps` for few input channels, in the order of the weights."""
    taps = places.size
    for c in range(ins):
        for t in range(taps):
            tap, pixel = weights + (c * taps + t) * PANEL, band + c * channel + places[t]
            acc = tile_multiply_add(acc, 1, line, tap, (1, 0), line, pixel, 0)
    return acc


@inner_njit()
def add_terms(acc, line, terms, band):
    """The tile plus all its terms, in the order that is faster."""
    weights, places, ins, channel = terms
    if ins < FEW:
        return add_few(acc, line, weights, band, places, ins, channel)
    return add_taps(acc, line, weights, band, places, ins, channel)


@inner_njit()
def fill_starts(line, starts, bias, first_channel, count):
    """What sums begin with: for each of `count` channels its bias, in all lanes of VECTORS vectors."""
    size = lanes(line)
    for r in range(ROWS):
        number = broadcast(bias[first_channel + r] if r < count else bias.dtype.type(0))
        for v in range(VECTORS):
            store(line, starts + (r * VECTORS + v) * size, number)


@inner_njit()
def write_tile(tile, vectors, line, scratch, out, to, plane, count):
    """The results of `count` channels, `vectors` vectors of each, to element `to` of the first channel's plane and
    after."""
    if count == ROWS:
        tile_store(out, to, plane, tile)
        return
    width = vectors * lanes(line)
    tile_store(line, scratch, width, tile)
    for r in range(count):
        for k in range(0, width, lanes(line)):
            store(out, to + r * plane + k, load(line, scratch + r * width + k))


@inner_njit()
def long_rows(terms, line, copy, pitch, starts, out, out_start, plane, rows, wide, count):
    """`rows` rows of results, each of a vector or more. The last tile is moved back over the one before it."""
    size = lanes(line)
    row, scratch = VECTORS * size, starts + ROWS * VECTORS * size
    for y in range(rows):
        pixels, row_start, z = copy + y * pitch, out_start + y * wide, 0
        while z < wide:
            rest = wide - z
            if rest > 2 * size and wide >= 3 * size:
                z = min(z, wide - 3 * size)
                three = tile_load(line, starts, row, ROWS, 3)
                three = add_terms(three, line, terms, pixels + z)
                write_tile(three, 3, line, scratch, out, row_start + z, plane, count)
                z += 3 * size
            elif rest > size and wide >= 2 * size:
                z = min(z, wide - 2 * size)
                two = tile_load(line, starts, row, ROWS, 2)
                two = add_terms(two, line, terms, pixels + z)
                write_tile(two, 2, line, scratch, out, row_start + z, plane, count)
                z += 2 * size
            else:
                z = min(z, wide - size)
                one = tile_load(line, starts, row, ROWS, 1)
                one = add_terms(one, line, terms, pixels + z)
                write_tile(one, 1, line, scratch, out, row_start + z, plane, count)
                z += size


@inner_njit()
def write_rows(line, scratch, width, out, out_start, plane, count, f, last, pitch, wide):
    """Results f, f + 1, ... of `count` channels from the scratch to where they belong; what lies between rows is left
    out.

    A result f belongs to row f // pitch and column f % pitch, if that is less than `wide`.
    """
    for r in range(count):
        done, y, z = 0, f // pitch, f % pitch
        while f + done < last:
            run = min(wide - z, last - f - done, width - done)
            if run > 0:
                source = line[scratch + r * width + done : scratch + r * width + done + run]
                row_start = out_start + r * plane + y * wide + z
                target = out[row_start : row_start + run]
                for k in range(run):
                    target[k] = source[k]
            done, y, z = done + pitch - z, y + 1, 0
            if done >= width:
                break


@inner_njit()
def short_rows(terms, line, copy, pitch, starts, out, out_start, plane, rows, wide, count):
    """`rows` rows of results that are shorter than a vector: vectors run on over their ends."""
    size, last = lanes(line), (rows - 1) * pitch + wide  # results, those between rows included
    row, scratch, f = VECTORS * size, starts + ROWS * VECTORS * size, 0
    while f < last:
        if last - f > 2 * size:
            three = tile_load(line, starts, row, ROWS, 3)
            three = add_terms(three, line, terms, copy + f)
            width = 3 * size
            tile_store(line, scratch, width, three)
        elif last - f > size:
            two = tile_load(line, starts, row, ROWS, 2)
            two = add_terms(two, line, terms, copy + f)
            width = 2 * size
            tile_store(line, scratch, width, two)
        else:
            one = tile_load(line, starts, row, ROWS, 1)
            one = add_terms(one, line, terms, copy + f)
            width = size
            tile_store(line, scratch, width, one)
        write_rows(line, scratch, width, out, out_start, plane, count, f, last, pitch, wide)
        f += width


@inner_njit()
def task_of_bands(arguments, task, who):
    """One band of one picture, for some of the output channels of one group."""
    x, bias, out, work, places, g, c = arguments
    line, result = memory(work), memory(out)
    outs, high, wide = out.shape[1] // g.groups, out.shape[2], out.shape[3]
    ins, plane = x.shape[1] // g.groups, high * wide
    part, rest = task % c.parts, task // c.parts
    band, rest = rest % c.bands, rest // c.bands
    group, n = rest % g.groups, rest // g.groups
    top = band * c.rows
    rows = min(c.rows, high - top)
    copy = c.weights + who * c.each
    starts = copy + ins * c.channel
    for channel in range(ins):
        copy_padded(x[n, group * ins + channel], g, c, top, rows, line, copy + channel * c.channel)
    for t in range(part * c.tiles // c.parts, (part + 1) * c.tiles // c.parts):
        weights = (group * panels_of(c.tiles) + t // 2) * ins * places.size * PANEL + t % 2 * ROWS
        first_channel = group * outs + t * ROWS
        count = min(ROWS, outs - t * ROWS)
        out_start = ((n * out.shape[1] + first_channel) * high + top) * wide
        fill_starts(line, starts, bias, first_channel, count)
        terms = weights, places, ins, c.channel
        if wide >= lanes(work):
            long_rows(terms, line, copy, c.pitch, starts, result, out_start, plane, rows, wide, count)
        else:
            short_rows(terms, line, copy, c.pitch, starts, result, out_start, plane, rows, wide, count)


@cached_njit()
def convolve(x, weight, bias, out, work, places, g, c, threads, least, team):
    """out = the convolution, for contiguous arrays. work: c.weights + threads * c.each elements."""
    share(pack_weights, (weight, work, g, c), g.groups * panels_of(c.tiles), threads, 0, team)
    tasks = out.shape[0] * g.groups * c.bands * c.parts
    share(task_of_bands, (x, bias, out, work, places, g, c), tasks, threads, least, team)
