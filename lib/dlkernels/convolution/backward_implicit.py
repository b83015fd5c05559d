"""Gradients of a convolution without columns: what a thread makes, it uses itself.

The matrices are those of `conv2d_backward_columns`, but none of them is ever whole. Written by one core and read by
another, a matrix would move from cache to cache, line by line: two threads can then take longer than one.

The gradient of the pixels, with stride 1, is a convolution again, with the kernel turned round and both kinds of
channels exchanged (`turned`): it goes whichever way is fastest for `conv2d`. With strides, a task makes the columns of
some channels of one picture, some pixels at a time, and adds them to the pixels at once (`of_pixels`).

The gradient of the weights is a product whose sum goes over the pixels of all pictures::

    gradient[term, out] = sum over (picture, pixel) of patch[term, pixel] r[out, pixel]         term = (channel, ky, kx)

A task has some of its rows. It packs patches straight from the picture, as many pixels of as many pictures as fit
(`of_weights`).
"""

from collections import namedtuple

import numpy as np

from .. import team
from ..host import workspace
from ..matrix import choose as products
from ..matrix.blocks import (
    DEPTH,
    HEIGHT,
    PACKED_A,
    PITCH,
    ROWS,
    SPARE,
    VECTORS,
    WIDTH,
    Matrix,
    multiply_packed,
    panel_width,
)
from ..simd import lanes, vector_width
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..simd.pack import pack
from ..team import share
from .geometry import extent
from .im2col import inside
from .plans import by_shape

PANEL = DEPTH + SPARE  # elements of a column of packed panels
TURNED = 16  # input channels of a task that turns weights: as many lines of the cache are written in turns
TURNED_BY_ONE = 1 << 16  # weights; with fewer, waking the threads costs more than it gains
SUMS = 1 << 18  # elements of a task's rows of a gradient, or of its columns: they stay in the L2 cache

#: parts: tasks of a group (for the weights), or of a picture and a group (for the pixels). rows: of a task at most;
#: columns: of its result at a time. own: elements of workspace of one thread.
Plan = namedtuple("Plan", "parts rows columns own")


# ---- the gradient of the weights -------------------------------------------------------------------------------------


@by_shape
def plan_of_weights(weight, g, grad, threads):
    """The `Plan` for weights and a result of that shape and dtype."""
    panel = VECTORS * vector_width(grad.dtype)
    outs, terms = len(weight) // g.groups, weight[0].size
    columns = min(WIDTH, -(-outs // panel) * panel)
    wanted = max(1 if threads == 1 else -(-2 * threads // g.groups), -(-terms * columns // SUMS))
    rows = -(-terms // (wanted * ROWS)) * ROWS
    return Plan(-(-terms // rows), rows, columns, PACKED_A + PANEL * columns + rows * columns)


@inner_njit()
def pack_results(grad, picture, out, pixel, pixels, columns, line, packed_at, begun):
    """Pixels of some channels of r, into panels in which `begun` rows are there already: the pixels become rows."""
    width, area = VECTORS * lanes(line), grad.shape[2] * grad.shape[3]
    for col in range(0, columns, width):
        panel_cols = min(width, columns - col)
        step = panel_width(panel_cols, lanes(line))
        panel_at = packed_at + col * PANEL + begun * step
        if panel_cols < step:
            line[panel_at : panel_at + pixels * step] = 0
        source = ((picture * grad.shape[1] + out + col) * area) + pixel
        pack(memory(grad), source, 1, area, pixels, panel_cols, line, panel_at, step)


@inner_njit()
def pack_patches(x, g, picture, channel, term, rows, pixel, pixels, width, line, packed_at):
    """What some places of the kernel, of some channels, see at some pixels of the result: a row of packed patches for
    each."""
    high, wide = x.shape[2:]
    zero = line.dtype.type(0)
    for r in range(rows):
        c, tap = (term + r) // (g.kernel_y * g.kernel_x), (term + r) % (g.kernel_y * g.kernel_x)
        ky, kx = tap // g.kernel_x, tap % g.kernel_x
        begin, end = inside(kx, wide, width, g.stride_x, g.left, g.dilation_x)
        row_at, y, col, remaining = packed_at + r * PITCH, pixel // width, pixel % width, pixels
        while remaining > 0:
            count = min(width - col, remaining)
            i = y * g.stride_y + ky * g.dilation_y - g.top
            start = min(max(begin - col, 0), count)
            stop = min(max(end - col, start), count) if 0 <= i < high else start
            for z in range(start):
                line[row_at + z] = zero
            j = (col + start) * g.stride_x + kx * g.dilation_x - g.left
            if g.stride_x == 1:
                for z in range(stop - start):
                    line[row_at + start + z] = x[picture, channel + c, i, j + z]
            else:
                for z in range(stop - start):
                    line[row_at + start + z] = x[picture, channel + c, i, j + z * g.stride_x]
            for z in range(stop, count):
                line[row_at + z] = zero
            row_at, y, col, remaining = row_at + count, y + 1, 0, remaining - count


@inner_njit()
def _task_of_weights(arguments, task, who):
    grad, x, of_weight, work, g, p = arguments
    group, term = task // p.parts, task % p.parts * p.rows
    outs, terms = of_weight.shape[0] // g.groups, of_weight.size // of_weight.shape[0]
    rows, width, area = min(p.rows, terms - term), grad.shape[3], grad.shape[2] * grad.shape[3]
    line, lines = memory(work), who * p.own
    panels, sums, channel = lines + PACKED_A, lines + PACKED_A + PANEL * p.columns, group * of_weight.shape[1]
    for left in range(0, outs, p.columns):
        columns, out = min(p.columns, outs - left), group * outs + left
        done, pixel_count = 0, grad.shape[0] * area  # pixels of all pictures, one after the other
        while done < pixel_count:
            depth = 0
            while depth < min(DEPTH, pixel_count - done):
                pixel = (done + depth) % area
                pixels = min(DEPTH - depth, area - pixel)
                pack_results(grad, (done + depth) // area, out, pixel, pixels, columns, line, panels, depth)
                depth += pixels
            for top in range(0, rows, HEIGHT):
                some, packed = min(HEIGHT, rows - top), 0
                while packed < depth:
                    picture, pixel = (done + packed) // area, (done + packed) % area
                    pixels = min(depth - packed, area - pixel)
                    pack_patches(x, g, picture, channel, term + top, some, pixel, pixels, width, line, lines + packed)
                    packed += pixels
                nowhere, target = Matrix(line, 0, 0, 0), Matrix(line, sums + top * p.columns, p.columns, 1)
                multiply_packed(line, lines, panels, PANEL, nowhere, target, some, columns, depth, done == 0, False)
            done += depth
        pack(line, sums, 1, p.columns, columns, rows, memory(of_weight), out * terms + term, terms)


@cached_njit()
def _all_weights(grad, x, of_weight, work, g, p, threads, least, team):
    share(_task_of_weights, (grad, x, of_weight, work, g, p), g.groups * p.parts, threads, least, team)


def of_weights(g, grad, x, of_weight):
    """of_weight = the gradient, for contiguous arrays, none of them empty."""
    adds = grad.size * of_weight[0].size
    threads = products.threads_for(adds)
    p = plan_of_weights(of_weight, g, grad, threads)
    work = workspace(grad.dtype, threads * p.own)
    _all_weights(grad, x, of_weight, work, g, p, threads, products.least_time(adds), team.members())


# ---- the gradient of the pixels: a convolution -----------------------------------------------------------------------


def back(g):
    """The `Geometry` of the convolution that makes the gradient of the pixels, or None where there is none.

    There is none with a stride, nor where the kernel stands beside the picture.
    """
    spans = extent(g.kernel_y, g.dilation_y) - 1, extent(g.kernel_x, g.dilation_x) - 1
    around = spans[0] - g.top, spans[0] - g.bottom, spans[1] - g.left, spans[1] - g.right
    if (g.stride_y, g.stride_x) != (1, 1) or min(around) < 0:
        return None
    return g._replace(top=around[0], bottom=around[1], left=around[2], right=around[3])


@inner_njit()
def _some_turned(arguments, task, who):
    weight, flipped = arguments
    (ins, outs), places = (weight.shape[1], flipped.shape[1]), weight.shape[2] * weight.shape[3]
    blocks = -(-ins // TURNED)
    group, start = task // blocks, task % blocks * TURNED
    stop = min(start + TURNED, ins)
    source, target = memory(weight), memory(flipped)
    if places == 1:
        source_at, target_at = group * outs * ins + start, (group * ins + start) * outs
        pack(source, source_at, 1, ins, stop - start, outs, target, target_at, outs)
        return
    for o in range(outs):
        for i in range(start, stop):
            source_at, target_at = ((group * outs + o) * ins + i) * places, ((group * ins + i) * outs + o) * places
            for tap in range(places):
                target[target_at + tap] = source[source_at + places - 1 - tap]


@cached_njit()
def _all_turned(weight, groups, flipped, threads, team):
    share(_some_turned, (weight, flipped), groups * -(-weight.shape[1] // TURNED), threads, 0, team)


def turned(weight, groups):
    """The weights with the kernel turned round, and inputs for outputs."""
    outs, ins, *kernel = weight.shape
    flipped = np.empty((groups * ins, outs // groups, *kernel), weight.dtype)
    _all_turned(weight, groups, flipped, 1 if weight.size < TURNED_BY_ONE else team.size(), team.members())
    return flipped


# ---- the gradient of the pixels: columns, added at once --------------------------------------------------------------


@by_shape
def plan_of_pixels(weight, g, grad, threads):
    """The `Plan` for weights and a result of that shape and dtype. parts: of as many channels as fit a block."""
    panel, places, area = VECTORS * vector_width(grad.dtype), g.kernel_y * g.kernel_x, grad.shape[2] * grad.shape[3]
    ins = weight.shape[1]
    channels = max(1, min(ins, HEIGHT // places))
    parts = -(-ins // channels)
    if threads > 1:
        parts = max(parts, min(ins, -(-2 * threads // (len(grad) * g.groups))))
        channels = -(-ins // parts)
        parts = -(-ins // channels)
    rows = channels * places
    columns = min(-(-area // panel) * panel, max(panel, min(WIDTH, SUMS // rows) // panel * panel))
    return Plan(parts, rows, columns, PACKED_A + PANEL * (columns if rows > HEIGHT else panel) + rows * columns)


@inner_njit()
def add_columns(g, rows, pixel, pixels, width, line, columns_at, pitch, of_x, picture, channel):
    """Add columns, given by rows of `pixels` pixels of the result from `pixel` on, to where their pixels came from."""
    high, wide = of_x.shape[2:]
    for r in range(rows):
        c, tap = r // (g.kernel_y * g.kernel_x), r % (g.kernel_y * g.kernel_x)
        ky, kx = tap // g.kernel_x, tap % g.kernel_x
        begin, end = inside(kx, wide, width, g.stride_x, g.left, g.dilation_x)
        source, y, col, remaining = columns_at + r * pitch, pixel // width, pixel % width, pixels
        while remaining > 0:
            count = min(width - col, remaining)
            i = y * g.stride_y + ky * g.dilation_y - g.top
            start, stop = max(begin - col, 0), min(end - col, count)
            if 0 <= i < high:
                j = (col + start) * g.stride_x + kx * g.dilation_x - g.left
                if g.stride_x == 1:
                    for z in range(stop - start):
                        of_x[picture, channel + c, i, j + z] += line[source + start + z]
                else:
                    for z in range(stop - start):
                        of_x[picture, channel + c, i, j + z * g.stride_x] += line[source + start + z]
            source, y, col, remaining = source + count, y + 1, 0, remaining - count


@inner_njit()
def _task_of_pixels(arguments, task, who):
    grad, weight, of_x, work, g, p = arguments
    picture, group, part = task // (p.parts * g.groups), task // p.parts % g.groups, task % p.parts
    outs, ins, places = weight.shape[0] // g.groups, weight.shape[1], g.kernel_y * g.kernel_x
    term, area = part * p.rows, grad.shape[2] * grad.shape[3]
    rows, terms = min(p.rows, ins * places - term), ins * places
    line, lines = memory(work), who * p.own
    panels, pitch = lines + PACKED_A, PANEL if rows > HEIGHT else 0
    sums = lines + p.own - p.rows * p.columns
    for pixel in range(0, area, p.columns):
        pixels = min(p.columns, area - pixel)
        for front in range(0, outs, DEPTH):
            depth = min(DEPTH, outs - front)
            source = ((picture * g.groups + group) * outs + front) * area + pixel
            for top in range(0, rows, HEIGHT):
                some = min(HEIGHT, rows - top)
                weights_start = (group * outs + front) * terms + term + top
                pack(memory(weight), weights_start, 1, terms, some, depth, line, lines, PITCH)
                r, target = Matrix(memory(grad), source, area, 1), Matrix(line, sums + top * p.columns, p.columns, 1)
                multiply_packed(line, lines, panels, pitch, r, target, some, pixels, depth, front == 0, top == 0)
        channel = group * ins + term // places
        add_columns(g, rows, pixel, pixels, grad.shape[3], line, sums, p.columns, of_x, picture, channel)


@cached_njit()
def _all_pixels(grad, weight, of_x, work, g, p, threads, least, team):
    tasks = grad.shape[0] * g.groups * p.parts
    share(_task_of_pixels, (grad, weight, of_x, work, g, p), tasks, threads, least, team)


def of_pixels(g, grad, weight, of_x):
    """of_x += the gradient, for contiguous arrays, none of them empty."""
    adds = grad.size * weight[0].size
    threads = products.threads_for(adds)
    p = plan_of_pixels(weight, g, grad, threads)
    work = workspace(grad.dtype, threads * p.own)
    _all_pixels(grad, weight, of_x, work, g, p, threads, products.least_time(adds), team.members())
