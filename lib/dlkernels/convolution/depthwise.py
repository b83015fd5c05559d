"""Depthwise convolution, a plane at a time: four rows of one plane stay in registers.

There is nothing to share among channels, so a tile of channels would stay empty. A band of one channel is copied with
its padding as tiles.py does; lanes.py has channels in the lanes instead.
"""

from ..simd import broadcast, fma, lanes, load, store
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share
from .tiles import copy_padded

TALL = 4  # rows of the result at a time: each weight that is loaded serves four times


@inner_njit()
def four_rows(line, band, pitch, weights, tap, places, bias, out, out_start, wide):
    """A vector of results in each of four rows; the vector begins at element `band` of the first row's pixels."""
    acc0 = acc1 = acc2 = acc3 = broadcast(bias)
    for t in range(places.size):
        factor, source = broadcast(weights[tap + t]), band + places[t]
        acc0 = fma(factor, load(line, source), acc0)
        acc1 = fma(factor, load(line, source + pitch), acc1)
        acc2 = fma(factor, load(line, source + 2 * pitch), acc2)
        acc3 = fma(factor, load(line, source + 3 * pitch), acc3)
    store(out, out_start, acc0), store(out, out_start + wide, acc1)
    store(out, out_start + 2 * wide, acc2), store(out, out_start + 3 * wide, acc3)


@inner_njit()
def add_column(line, source, pitch, high, middle, low, acc0, acc1, acc2, acc3):
    """The four sums plus one column of a kernel of three rows: each vector of pixels serves up to three of them."""
    row0, row1, row2 = load(line, source), load(line, source + pitch), load(line, source + 2 * pitch)
    row3, row4, row5 = load(line, source + 3 * pitch), load(line, source + 4 * pitch), load(line, source + 5 * pitch)
    acc0, acc1 = fma(high, row0, acc0), fma(high, row1, acc1)
    acc2, acc3 = fma(high, row2, acc2), fma(high, row3, acc3)
    acc0, acc1 = fma(middle, row1, acc0), fma(middle, row2, acc1)
    acc2, acc3 = fma(middle, row3, acc2), fma(middle, row4, acc3)
    acc0, acc1 = fma(low, row2, acc0), fma(low, row3, acc1)
    return acc0, acc1, fma(low, row4, acc2), fma(low, row5, acc3)


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
def plane_of_three(line, copy, weights, tap, bias, out, out_start, rows, wide, pitch):
    """`plane_of_results` for a kernel of 3 x 3 neighbours: its weights stay in registers."""
    size, start = lanes(line), broadcast(bias)
    a, b, c = broadcast(weights[tap]), broadcast(weights[tap + 1]), broadcast(weights[tap + 2])
    d, e, f = broadcast(weights[tap + 3]), broadcast(weights[tap + 4]), broadcast(weights[tap + 5])
    g, h, i = broadcast(weights[tap + 6]), broadcast(weights[tap + 7]), broadcast(weights[tap + 8])
    kernel = a, b, c, d, e, f, g, h, i
    for row in range(0, rows, TALL):
        y = min(row, rows - TALL)
        for column in range(0, wide, size):
            z = min(column, wide - size)
            four_rows_of_three(line, copy + y * pitch + z, pitch, kernel, start, out, out_start + y * wide + z, wide)


@inner_njit()
def plane_of_results(line, copy, scratch, weights, tap, places, bias, out, out_start, rows, wide, pitch, near):
    """Rows of one output channel from its planes of pixels. The last four rows and the last vector are moved back.

    near: whether the kernel has 3 x 3 places that are neighbours.
    """
    size = lanes(line)
    if near and rows >= TALL and wide >= size:
        plane_of_three(line, copy, weights, tap, bias, out, out_start, rows, wide, pitch)
        return
    if rows >= TALL and wide >= size:
        for row in range(0, rows, TALL):
            y = min(row, rows - TALL)
            for column in range(0, wide, size):
                z = min(column, wide - size)
                four_rows(
                    line, copy + y * pitch + z, pitch, weights, tap, places, bias, out, out_start + y * wide + z, wide
                )
        return
    for y in range(rows):
        for z in range(0, wide, size):
            acc = broadcast(bias)
            for t in range(places.size):
                acc = fma(broadcast(weights[tap + t]), load(line, copy + y * pitch + z + places[t]), acc)
            store(line, scratch, acc)
            for k in range(min(size, wide - z)):
                out[out_start + y * wide + z + k] = line[scratch + k]


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
        out_start = ((n * out.shape[1] + o) * high + top) * wide
        scratch, tap = copy + c.channel, o * places.size
        plane_of_results(
            line, copy, scratch, factors, tap, places, bias[o], result, out_start, rows, wide, c.pitch, near
        )


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
