"""The gradient of a convolution's weights without packing: pictures turned to channels last, once.

The sum goes over all pixels of all pictures, and is long; the gradient itself is small. So each task has some of the
pictures, and a gradient of its own. Of as many pictures, or rows of one, as fit the L2 cache it turns the pixels to
[row][column][channel], with their padding, and r to panels [pixel][two vectors of output channels]. In the first, what
neighbouring taps of a row of the kernel see is one run, (kx, channel), and from one pixel to the next it is always the
same number of elements. So a tile of the gradient stays in registers while all pixels pass by, and no patch is ever
written::

    gradient[(kx, channel), outs] += pixels[pixel * stride + (kx, channel)] * r[pixel, outs]          for each ky

The gradients of all tasks are added up in their order. How many tasks there are follows from shapes alone: the same
bits for any number of threads.
"""

from collections import namedtuple

from .. import team
from ..host import workspace
from ..matrix import choose as products
from ..matrix.blocks import REGISTERS
from ..simd import lanes, load, store, vector_width
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..simd.pack import pack, transpose_block
from ..simd.tile import tile_load, tile_multiply_add, tile_store
from ..team import share
from .implicit import turn_band
from .plans import by_shape

ROWS, LOW = (8, 4) if REGISTERS == 32 else (4, 2)  # of a tile of two vectors, and of a last one
BYTES = 256 << 10  # of what a task has turned at a time: in the L2 cache, with its gradient
PARTS = 16  # tasks at most
SUMS = 1 << 22  # elements of all gradients; with more, adding them up would take long

#: tall, wide, pitch, every, each, down, rows: of a band, as `implicit.turn_band` has them. pictures: that are turned at
#: a time; bands: of a picture; parts: tasks. runs: of terms that are neighbours, each of `terms` terms, in `padded`
#: rows of tiles. panels: of two vectors of output channels. band, results, scratch: elements for one picture's band,
#: for r of a panel, for turning. sums: of one gradient; own: of workspace of one thread.
Plan = namedtuple(
    "Plan",
    "tall wide pitch every each down rows pictures bands parts runs terms padded panels band results scratch sums own",
)


def pays(weight, g, grad):
    """Whether it is faster than packing patches (backward_implicit.py), by shape: the gradient is small beside r."""
    return g.groups == 1 and g.kernel_y * g.kernel_x > 1 and plan(weight, g, grad).parts > 1


@by_shape
def plan(weight, g, grad):
    """The `Plan` for weights and a result of that shape and dtype."""
    (outs, ins), (count, _, high, across), size = weight.shape[:2], grad.shape, vector_width(grad.dtype)
    together = g.dilation_x == 1 and (ins < size or ins % size == 0)
    pitch = ins if ins < size else -(-ins // size) * size
    wide, reach = (across - 1) * g.stride_x + (g.kernel_x - 1) * g.dilation_x + 1, (g.kernel_y - 1) * g.dilation_y + 1
    panels = -(-outs // (2 * size))

    def elements(rows):
        return ((rows - 1) * g.stride_y + reach) * wide * pitch + rows * across * panels * 2 * size

    rows, most = high, BYTES // grad.dtype.itemsize
    if elements(high) > most:
        rows = max(1, int(high * most / elements(high)))
        rows = -(-high // -(-high // rows))
    bands, tall = -(-high // rows), (rows - 1) * g.stride_y + reach
    runs, terms = (g.kernel_y, g.kernel_x * ins) if together else (g.kernel_y * g.kernel_x, ins)
    padded = terms + -terms % ROWS if terms % ROWS > LOW else terms + -terms % LOW
    sums = panels * runs * padded * 2 * size
    parts = max(1, min(PARTS, SUMS // sums, count * bands))
    pictures = 1 if bands > 1 else max(1, min(most // elements(high), -(-count // parts)))
    band = -(-(tall * wide * pitch + ROWS) // size) * size
    results, scratch = pictures * rows * across * 2 * size, tall * wide * size
    own = pictures * band + panels * results + scratch
    return Plan(
        tall, wide, pitch, 1, 1, g.stride_y, rows, pictures, bands, parts, runs, terms, padded, panels, band, results,
        scratch, sums, own,
    )  # fmt: skip


@inner_njit()
def _turn_results(grad, picture, first_pixel, pixels, p, line, line_start):
    """Pixels of r of one picture: line[line_start + panel * p.results + pixel * two vectors + channel]."""
    size, (outs, area) = lanes(line), (grad.shape[1], grad.shape[2] * grad.shape[3])
    source, width = memory(grad), 2 * size
    for vector in range(2 * p.panels):
        channel = vector * size
        channels, grad_start = min(size, outs - channel), (picture * outs + channel) * area + first_pixel
        target = line_start + vector // 2 * p.results + vector % 2 * size
        if channels == size and pixels >= size:
            for pixel in range(0, pixels, size):
                block_start = min(pixel, pixels - size)  # the last block is moved back
                transpose_block(source, grad_start + block_start, area, line, target + block_start * width, width)
            continue
        for pixel in range(pixels):
            for k in range(size):
                line[target + pixel * width + k] = 0
        if channels > 0:
            pack(source, grad_start, 1, area, pixels, channels, line, target, width)


@inner_njit()
def _add_products(p, g, pictures, rows, across, line, seen, results, sums):
    """Add to a task's gradient what so many pictures, or rows of one, give."""
    width, strides, row_runs = 2 * lanes(line), (1, g.stride_x * p.pitch), p.runs // g.kernel_y
    next_row, next_result = p.down * p.wide * p.pitch, across * 2 * lanes(line)
    for panel in range(p.panels):
        for run in range(p.runs):
            tap_start = seen + (run // row_runs * g.dilation_y * p.wide + run % row_runs * g.dilation_x) * p.pitch
            for top in range(0, p.padded, ROWS):
                tile_start, b = sums + ((panel * p.runs + run) * p.padded + top) * width, results + panel * p.results
                if p.padded - top >= ROWS:
                    acc = tile_load(line, tile_start, width, ROWS, 2)
                    for picture in range(pictures):
                        a = tap_start + picture * p.band + top
                        for _ in range(rows):
                            acc = tile_multiply_add(acc, across, line, a, strides, line, b, width)
                            a, b = a + next_row, b + next_result
                    tile_store(line, tile_start, width, acc)
                else:
                    low = tile_load(line, tile_start, width, LOW, 2)
                    for picture in range(pictures):
                        a = tap_start + picture * p.band + top
                        for _ in range(rows):
                            low = tile_multiply_add(low, across, line, a, strides, line, b, width)
                            a, b = a + next_row, b + next_result
                    tile_store(line, tile_start, width, low)


@inner_njit()
def _task(arguments, task, who):
    """The gradient of some pictures, or of some bands of pictures."""
    grad, x, work, g, p = arguments
    (count, _, high, across), line = grad.shape, memory(work)
    sums, bands = task * p.sums, p.parts * p.sums + who * p.own
    results = bands + p.pictures * p.band
    scratch = results + p.panels * p.results
    work[sums : sums + p.sums] = 0
    last = (task + 1) * count * p.bands // p.parts
    unit = task * count * p.bands // p.parts
    while unit < last:
        picture, top = unit // p.bands, unit % p.bands * p.rows
        rows, pictures = min(p.rows, high - top), min(p.pictures, last - unit)
        for k in range(pictures):
            for vector in range(-(-x.shape[1] // lanes(work))):
                turn_band(x, g, p, picture + k, top, rows, vector, line, bands + k * p.band, scratch)
            to = results + k * rows * across * 2 * lanes(work)
            _turn_results(grad, picture + k, top * across, rows * across, p, line, to)
        _add_products(p, g, pictures, rows, across, line, bands, results, sums)
        unit += pictures


@inner_njit()
def _task_of_sum(arguments, task, who):
    """The gradients of all parts, added up, for a panel: to [outs][channel][ky][kx]."""
    _grad, _x, work, of_weight, g, p = arguments
    (outs, ins), width = of_weight.shape[:2], 2 * lanes(work)
    size, line = p.runs * p.padded * width, memory(work)
    start = task * size
    for part in range(1, p.parts):
        for k in range(start, start + size, lanes(line)):
            store(line, k, load(line, k) + load(line, part * p.sums + k))
    row_runs = p.runs // g.kernel_y
    for o in range(task * width, min((task + 1) * width, outs)):
        for c in range(ins):
            for ky in range(g.kernel_y):
                for kx in range(g.kernel_x):
                    run, term = (ky, kx * ins + c) if row_runs == 1 and p.terms > ins else (ky * row_runs + kx, c)
                    of_weight[o, c, ky, kx] = line[start + (run * p.padded + term) * width + o - task * width]


@cached_njit()
def _all(grad, x, of_weight, work, g, p, threads, least, team):
    share(_task, (grad, x, work, g, p), p.parts, threads, least, team)
    share(_task_of_sum, (grad, x, work, of_weight, g, p), p.panels, threads, 0, team)


def of_weights(g, grad, x, of_weight):
    """of_weight = the gradient, for contiguous arrays, none of them empty."""
    adds = grad.size * of_weight[0].size
    threads, p = products.threads_for(adds), plan(of_weight, g, grad)
    work = workspace(grad.dtype, p.parts * p.sums + threads * p.own)
    _all(grad, x, of_weight, work, g, p, threads, products.least_time(adds), team.members())
