"""Convolution as a product of matrices that are nowhere: implicit GEMM.

im2col.py writes the patches as a matrix. Here the matrix exists only as addresses. A band of the picture is turned to
[row][column][channel], with its padding; in it, the channels that one place of the kernel sees are neighbours, and from
one result of a row to the next it is always the same number of elements. So a tile of the result, up to TALL
neighbouring pixels by two vectors of output channels, stays in registers while all places and channels pass by::

    tile[pixel, outs] += band[pixel * stride + place, channel] * weights[place, channel, outs]

Whatever the width of the picture, no lane computes what nobody needs as long as output channels fill vectors: where
pixels stand in the lanes (tiles.py), the ends of narrow rows waste some. The price is that pictures, weights and
results are turned: too much where few input channels go into each result (`pays`). With few input channels, those of
neighbouring columns are one run: three channels and a kernel seven wide make 21 terms in a row.

Where there are more output channels than pixels, tasks are panels of output channels, and the picture is turned once
before; else they are bands of pictures, and the weights are turned once before. What is turned before is turned by all
threads together, or by each for itself where it is small (private.py).
"""

from collections import namedtuple

import numpy as np

from .. import team
from ..host import workspace
from ..matrix import choose as products
from ..matrix.blocks import REGISTERS
from ..simd import lanes, load, store, vector_width
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..simd.pack import pack
from ..simd.tile import tile_load, tile_multiply_add, tile_store
from ..team import share
from . import private
from .plans import by_shape
from .turned import copy_interleaved, copy_turned, turn_back

# Heights of tiles, in pixels. With fewer than eight sums each waits for the one before it: 2 pixels take as long as 4.
TALL, MIDDLE, LOW = (14, 7, 4) if REGISTERS == 32 else (6, 4, 2)
LINE = 16  # elements: a line of the cache, or two
FEW = 8  # input channels: with no more, tiles of pixels are faster where rows fill a vector
BAND = 256 << 10  # bytes of a turned band: with the weights of a panel in the L2 cache
TURNED = 256  # terms whose weights are turned at a time: in two vectors, they stay in the L1 cache

#: rows: of the result in a band; bands: of a picture; parts: tasks of a band. tall, wide: of a turned band; every,
#: each: rows and columns of the picture are taken with that step, and down, across: from one result to the next in the
#: band. pitch: elements from one pixel to the next; band: of a whole one. runs: of terms that are neighbours, each of
#: `terms` terms. panels: of two vectors of output channels; factors: elements of one. turned: whether tasks are panels.
#: alone: whether each thread prepares for itself what all need (private.py). scratch: elements of a thread's scratch
#: before its results. shared: elements that all threads share, first in the workspace; own: of each thread.
Plan = namedtuple(
    "Plan",
    "rows bands parts tall wide every each down across pitch band runs terms panels factors turned alone scratch "
    "shared own",
)


def pays(weight, g, out):
    """Whether it is faster than tiles of pixels: by shape. Those lose little where rows fill a vector; then it must be
    worth it to turn the results, and panels of two vectors of output channels must be full."""
    size, (outs, ins) = vector_width(out.dtype), weight.shape[:2]
    if g.groups > 1 or outs < size:
        return False
    return out.shape[3] < size or (ins > FEW and outs > size)


def may_pay(weight, g, out):
    """Whether it is faster on some processors, slower on others: few channels in, panels of output channels that are
    full."""
    return g.groups == 1 and weight.shape[1] <= FEW and len(weight) > vector_width(out.dtype)


@by_shape
def plan(weight, g, out, threads):
    """The `Plan` for weights and a result of that shape and dtype."""
    (pictures, outs, high, wide), ins, size = out.shape, weight.shape[1], vector_width(out.dtype)
    # A stride says nothing to a single result.
    stride_y, stride_x = (g.stride_y if high > 1 else 1), (g.stride_x if wide > 1 else 1)
    every, each = (stride_y if g.kernel_y == 1 else 1), (stride_x if g.kernel_x == 1 else 1)
    down, across = stride_y // every, stride_x // each
    together = ins < size and g.dilation_x == 1
    pitch = ins if together else (-(-ins // LINE) | 1) * LINE  # an odd number of lines: rows must not share sets
    columns = (wide - 1) * across + (g.kernel_x - 1) * g.dilation_x + 1
    reach = (g.kernel_y - 1) * g.dilation_y + 1
    panels = -(-outs // (2 * size))
    turned = pictures * high * wide < outs
    if turned:
        rows = high
    else:
        row = columns * pitch * out.itemsize
        rows = max(1, min(high, (BAND // row - reach) // down + 1))
        if threads > 1:
            rows = max(1, min(rows, -(-pictures * high // (2 * threads))))
        rows = -(-high // -(-high // rows))
    bands = -(-high // rows)
    parts = 1 if threads == 1 else min(panels, -(-2 * threads // (pictures * bands)))
    tall = (rows - 1) * down + reach
    band = (tall * columns + LOW * across) * pitch + LINE  # the last tile of all may reach beyond, as vectors do
    factors = 2 * size * weight[0].size
    results = (rows * wide + TALL) * 2 * size
    scratch = -(-(tall * columns * each + 2 * max(TURNED, g.kernel_y * g.kernel_x)) * size // LINE) * LINE
    own = scratch + results
    shared, own = (pictures * band, own + factors) if turned else (panels * factors, own + band)
    shared, own = (-(-elements // LINE) * LINE for elements in (shared, own))
    alone = private.pays(threads, outs if turned else pictures * high * wide, shared * out.itemsize)
    if alone:
        shared, own = 0, LINE + shared + own
    runs, terms = (g.kernel_y, g.kernel_x * ins) if together else (g.kernel_y * g.kernel_x, ins)
    return Plan(
        rows, bands, parts, tall, columns, every, each, down, across, pitch, band, runs, terms, panels, factors,
        turned, alone, scratch, shared, own,
    )  # fmt: skip


def offsets(g, p):
    """Where each run of terms begins, seen from where a result's window does."""
    y = np.arange(g.kernel_y) * g.dilation_y * p.wide * p.pitch
    x = np.arange(p.runs // g.kernel_y) * g.dilation_x * p.pitch
    return (y[:, None] + x).reshape(-1)


@inner_njit()
def turned_at_once(places, size):
    """Input channels whose weights are turned at a time: whole blocks of `pack`, where so many fit."""
    some = TURNED // places
    return some - some % size if some >= size else max(some, 1)


@inner_njit()
def turn_weights(weight, panel, p, line, packed_at, scratch):
    """The weights of two vectors of output channels: line[packed_at + ((ky, kx), c) * 2 lanes + o]."""
    size, (outs, ins, tall, wide) = lanes(line), weight.shape
    places, width, out = tall * wide, 2 * size, 2 * panel * size
    source, block = memory(weight), turned_at_once(places, size)
    for first_in in range(0, ins, block):
        count = min(block, ins - first_in)
        turned_at = packed_at + first_in * width if places == 1 else scratch  # in their order already
        if out + width > outs:
            line[turned_at : turned_at + count * places * width] = 0
        for half in range(2):
            first_out = out + half * size
            out_count = max(min(size, outs - first_out), 0)
            if out_count:
                begin = (first_out * ins + first_in) * places
                pack(source, begin, 1, ins * places, count * places, out_count, line, turned_at + half * size, width)
        if places > 1:
            for tap in range(places):
                tap_at = packed_at + (tap * ins + first_in) * width
                for c in range(count):
                    seen = scratch + (c * places + tap) * width
                    store(line, tap_at + c * width, load(line, seen))
                    store(line, tap_at + c * width + size, load(line, seen + size))


@inner_njit()
def add_runs(acc, line, seen, strides, places, factors, terms):
    """The tile plus all runs of terms."""
    width = 2 * lanes(line)
    for run in range(places.size):
        acc = tile_multiply_add(
            acc, terms, line, seen + places[run], strides, line, factors + run * terms * width, width
        )
    return acc


@inner_njit()
def multiply(p, places, bias, panel, rows, wide, line, seen, factors, results):
    """The results of `rows` rows of a band and of one panel: [pixel][out]."""
    width, add = 2 * lanes(line), memory(bias)
    strides, bias_at = (p.across * p.pitch, 1), panel * width
    for y in range(rows):
        z = 0
        while z < wide:
            remaining = wide - z
            start = seen + (y * p.down * p.wide + z * p.across) * p.pitch
            result_at = results + (y * wide + z) * width
            if remaining > TALL - 2 and not TALL < remaining <= 2 * MIDDLE:  # 14 = 6 + 4 + 4
                tall = tile_load(add, bias_at, 0, TALL, 2)
                tall = add_runs(tall, line, start, strides, places, factors, p.terms)
                tile_store(line, result_at, width, tall)
                z += TALL
            elif remaining > LOW:
                middle = tile_load(add, bias_at, 0, MIDDLE, 2)
                middle = add_runs(middle, line, start, strides, places, factors, p.terms)
                tile_store(line, result_at, width, middle)
                z += MIDDLE
            else:
                low = tile_load(add, bias_at, 0, LOW, 2)
                low = add_runs(low, line, start, strides, places, factors, p.terms)
                tile_store(line, result_at, width, low)
                z += LOW


@inner_njit()
def put(out, picture, panel, top, rows, line, results):
    """From [pixel][out] to planes."""
    size, (outs, high, wide) = lanes(line), out.shape[1:]
    for half in range(2):
        channel = (2 * panel + half) * size
        channels, results_start = min(size, outs - channel), results + half * size
        if channels > 0:
            out_start = ((picture * outs + channel) * high + top) * wide
            turn_back(line, results_start, 2 * size, channels, rows * wide, memory(out), out_start, high * wide)


@inner_njit()
def turn_band(x, g, p, picture, top, rows, vector, line, to, scratch):
    """One vector of channels of the band for `rows` rows of the result from row `top` on."""
    tall = p.tall - (p.rows - rows) * p.down
    window = top * g.stride_y - g.top, -g.left, tall, p.wide, p.every, p.each
    if p.pitch < lanes(line):
        copy_interleaved(x, picture, window, line, to)
    else:
        copy_turned(x, vector * lanes(line), picture, window, line, to + vector * lanes(line), p.pitch, scratch)


@inner_njit()
def _vectors(x, line):
    return -(-x.shape[1] // lanes(line))


@inner_njit()
def _task_of_weights(arguments, task, who):
    _x, weight, _bias, _out, work, _places, _g, p = arguments
    turn_weights(weight, task, p, memory(work), task * p.factors, p.shared + who * p.own)


@inner_njit()
def _task_of_pixels(arguments, task, who):
    x, _weight, _bias, out, work, _places, g, p = arguments
    picture, vector = task // _vectors(x, work), task % _vectors(x, work)
    turn_band(x, g, p, picture, 0, out.shape[2], vector, memory(work), picture * p.band, p.shared + who * p.own)


# Where a thread finds what all tasks need, and where its own memory goes on. A thread alone makes it in its first task.


@inner_njit()
def _all_weights(arguments, who):
    _x, weight, _bias, _out, work, _places, _g, p = arguments
    thread_start = p.shared + who * p.own
    if not p.alone:
        return 0, thread_start
    prepared = thread_start + LINE
    rest = prepared + -(-p.panels * p.factors // LINE) * LINE
    if work[thread_start] == 0:
        for panel in range(p.panels):
            turn_weights(weight, panel, p, memory(work), prepared + panel * p.factors, rest)
        work[thread_start] = 1
    return prepared, rest


@inner_njit()
def _all_pixels(arguments, who):
    x, _weight, _bias, out, work, _places, g, p = arguments
    thread_start = p.shared + who * p.own
    if not p.alone:
        return 0, thread_start
    prepared = thread_start + LINE
    rest = prepared + -(-len(x) * p.band // LINE) * LINE
    if work[thread_start] == 0:
        for picture in range(len(x)):
            for vector in range(_vectors(x, work)):
                turn_band(x, g, p, picture, 0, out.shape[2], vector, memory(work), prepared + picture * p.band, rest)
        work[thread_start] = 1
    return prepared, rest


@inner_njit()
def _task_of_band(arguments, task, who):
    x, _weight, bias, out, work, places, g, p = arguments
    part, band = task % p.parts, task // p.parts
    picture, top = band // p.bands, band % p.bands * p.rows
    rows, wide = min(p.rows, out.shape[2] - top), out.shape[3]
    (prepared, scratch), line = _all_weights(arguments, who), memory(work)
    results = scratch + p.scratch
    seen = results + (p.rows * wide + TALL) * 2 * lanes(work)
    for vector in range(_vectors(x, work)):
        turn_band(x, g, p, picture, top, rows, vector, line, seen, scratch)
    for panel in range(part * p.panels // p.parts, (part + 1) * p.panels // p.parts):
        multiply(p, places, bias, panel, rows, wide, line, seen, prepared + panel * p.factors, results)
        put(out, picture, panel, top, rows, line, results)


@inner_njit()
def _task_of_panel(arguments, task, who):
    _x, weight, bias, out, work, places, _g, p = arguments
    (prepared, scratch), line, (high, wide) = _all_pixels(arguments, who), memory(work), out.shape[2:]
    results = scratch + p.scratch
    factors = results + (p.rows * wide + TALL) * 2 * lanes(work)
    turn_weights(weight, task, p, line, factors, scratch)
    for picture in range(out.shape[0]):
        multiply(p, places, bias, task, high, wide, line, prepared + picture * p.band, factors, results)
        put(out, picture, task, 0, high, line, results)


# Two kernels, so that only the one that is needed is compiled. bias: filled up to whole panels. work: p.shared +
# threads * p.own elements.


@cached_njit()
def convolve_bands(x, weight, bias, out, work, places, g, p, threads, least, team):
    """out = the convolution by bands of pictures, for contiguous arrays."""
    arguments = x, weight, bias, out, work, places, g, p
    if p.alone:
        for who in range(threads):
            work[p.shared + who * p.own] = 0
    else:
        share(_task_of_weights, arguments, p.panels, threads, 0, team)
    share(_task_of_band, arguments, out.shape[0] * p.bands * p.parts, threads, least, team)


@cached_njit()
def convolve_panels(x, weight, bias, out, work, places, g, p, threads, least, team):
    """out = the convolution by panels of output channels, for contiguous arrays."""
    arguments = x, weight, bias, out, work, places, g, p
    if p.alone:
        for who in range(threads):
            work[p.shared + who * p.own] = 0
    else:
        share(_task_of_pixels, arguments, out.shape[0] * _vectors(x, work), threads, 0, team)
    share(_task_of_panel, arguments, p.panels, threads, least, team)


def filled_up(bias, panels):
    """The bias with zeros up to whole panels of two vectors."""
    padded = np.zeros(panels * 2 * vector_width(bias.dtype), bias.dtype)
    padded[: len(bias)] = bias
    return padded


def convolve(x, weight, bias, g, out):
    """out = the convolution without groups, for contiguous arrays."""
    multiplies = out.size * weight[0].size
    threads = products.threads_for(multiplies)
    p = plan(weight, g, out, threads)
    work = workspace(out.dtype, p.shared + threads * p.own)
    least = products.least_time(multiplies)
    kernel = convolve_panels if p.turned else convolve_bands
    kernel(x, weight, filled_up(bias, p.panels), out, work, offsets(g, p), g, p, threads, least, team.members())
