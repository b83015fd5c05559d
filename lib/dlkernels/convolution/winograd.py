"""Winograd's convolution: fewer multiplications than the definition has, at the price of additions and of accuracy.

Shmuel Winograd, Arithmetic Complexity of Computations (1980), for convolutions of networks by Lavin and Gray, Fast
Algorithms for Convolutional Neural Networks (2016). F(m x m, 3x3) makes m x m results of a tile d of (m + 2) x (m + 2)
pixels of a channel and 3 x 3 weights w::

    A^T [ (G w G^T) * (B^T d B) ] A                    * is element by element

    m = 2:   B^T = [ 1  0 -1  0 ]     G = [  1    0    0  ]     A^T = [ 1  1  1  0 ]
                   [ 0  1  1  0 ]         [ 1/2  1/2  1/2 ]           [ 0  1 -1 -1 ]
                   [ 0 -1  1  0 ]         [ 1/2 -1/2  1/2 ]
                   [ 0  1  0 -1 ]         [  0    0    1  ]

F(2x2) multiplies 16 numbers where the definition multiplies 36, F(4x4) 36 where it is 144. The matrices say that
polynomials are multiplied by their values at points: 0, 1, -1 and infinity for m = 2; for m = 4 two more. Which ones is
free. Lavin and Gray take 1, -1, 2, -2. Here they are 3/4, -3/4, 3/2, -3/2 (`matrices`): all factors but those of G are
exact in binary, and the errors are half as large (`tests/kernels/test_winograd.py`).

The sum over input channels is done between the brackets, for each place of the tile by itself: (m + 2)^2 products of
matrices, (tiles, in) by (in, out). Channels stand in the lanes of vectors everywhere, so that a transform is the same
for every size of picture, and a product finds its operands as it wants them::

    pixels    turned to [pixel][channel], transformed: [place][tile][in]           rows of a product
    weights   turned to [in][out], transformed: [panel of outs][place][in][out]    its vectors
    sums      [place][tile][out] of one panel, transformed back, turned to planes

Where there are more tiles than output channels, tasks are blocks of tiles, and weights are transformed once before.
Where there are fewer, as in the last layers of a network, tasks are panels of output channels: each transforms its
weights when it needs them, into the cache, and pixels are transformed once before. What is transformed before, threads
make together, or each for itself where it is small (private.py).

It costs accuracy: pixels and weights are added before they are multiplied, so that errors grow with the largest of them
that a tile sees, not with the products of a result. An infinite pixel becomes NaN, as Inf - Inf is.
"""

from collections import namedtuple

import numpy as np

from .. import team
from ..host import workspace
from ..matrix import choose as products
from ..matrix.blocks import REGISTERS
from ..simd import fma, lanes, load, store, vector_width
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..simd.pack import pack
from ..simd.tile import tile_multiply_add, tile_store, tile_zeros
from ..team import share
from . import private
from .plans import by_shape
from .turned import copy_turned, turn_back

TALL = 14 if REGISTERS == 32 else 6
MIDDLE, LOW = (
    (8, 4) if REGISTERS == 32 else (4, 2)
)  # heights of tiles where TALL ones would compute much that nobody needs
LINE = 16  # elements: a line of the cache, or two
TRANSFORMED = 512 << 10  # bytes of transformed pixels in a block of tiles: for the L2 cache
PIECE = 64  # tiles side by side at most: a longer row is cut
TURNED = 16  # input channels whose weights are turned at a time: they stay in the L1 cache

#: Tiles of 4 x 4 results. With no more than the first, weights for 36 places cost more than they save; than the second,
#: for 16, too.
FEW_TILES, FEWEST_TILES = (16, 4) if REGISTERS == 32 else (4, 0)
FEWEST_CHANNELS = 16  # of input and of output: with fewer, transforms cost more than products save

POINTS = 0.75, 1.5  # with both signs, beside 0 and infinity
A, B = POINTS
AA, BB = A * A, B * B


def matrices(m, points=POINTS):
    """(B^T, G, A^T) of F(m x m, 3x3). points: two numbers, for m = 4; they stand with both signs."""
    if m == 2:
        of_pixels = [[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]]
        of_weights = [[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]]
        return tuple(np.array(rows, float) for rows in (of_pixels, of_weights, [[1, 1, 1, 0], [0, 1, -1, -1]]))
    a, b = points
    all_points = np.array([0, a, -a, b, -b])
    others = [[q for q in all_points if q != p] for p in all_points]
    of_pixels = [[*np.poly(roots)[::-1], 0] for roots in others]  # the product of (x - q), lowest power first
    of_pixels.append(np.poly(all_points)[::-1])
    of_weights = [
        [p**k / np.prod([p - q for q in rest]) for k in range(3)] for p, rest in zip(all_points, others, strict=True)
    ]
    of_results = np.array([[*(p**k for p in all_points), float(k == 3)] for k in range(4)])
    return np.array(of_pixels), np.array([*of_weights, [0, 0, 1]]), of_results


# ---- a row or a column of a tile -------------------------------------------------------------------------------------


@inner_njit()
def _of_pixels(d0, d1, d2, d3):
    """B^T d for m = 2."""
    return d0 - d2, d1 + d2, d2 - d1, d1 - d3


@inner_njit()
def _of_sums(m0, m1, m2, m3):
    """A^T m for m = 2."""
    return m0 + m1 + m2, m1 - m2 - m3


@inner_njit()
def transform_pixels(m, line, source_at, source_stride, target_at, target_stride):
    """B^T d of m + 2 vectors, `source_stride` elements apart; the results are `target_stride` apart."""
    d0, d1, d2, d3 = (
        load(line, source_at),
        load(line, source_at + source_stride),
        load(line, source_at + 2 * source_stride),
        load(line, source_at + 3 * source_stride),
    )
    if m == 2:
        v0, v1, v2, v3 = _of_pixels(d0, d1, d2, d3)
        store(line, target_at, v0), store(line, target_at + target_stride, v1)
        store(line, target_at + 2 * target_stride, v2), store(line, target_at + 3 * target_stride, v3)
    else:
        d4, d5 = load(line, source_at + 4 * source_stride), load(line, source_at + 5 * source_stride)
        store(line, target_at, fma(d0, AA * BB, fma(d2, -AA - BB, d4)))
        even, odd = fma(d2, -BB, d4), fma(d1, -BB, d3) * A
        store(line, target_at + target_stride, even + odd), store(line, target_at + 2 * target_stride, even - odd)
        even, odd = fma(d2, -AA, d4), fma(d1, -AA, d3) * B
        store(line, target_at + 3 * target_stride, even + odd), store(line, target_at + 4 * target_stride, even - odd)
        store(line, target_at + 5 * target_stride, fma(d1, AA * BB, fma(d3, -AA - BB, d5)))


@inner_njit()
def transform_weights(m, line, source_at, source_stride, target_at, target_stride):
    """G w of 3 vectors, in the same way."""
    w0, w1, w2 = load(line, source_at), load(line, source_at + source_stride), load(line, source_at + 2 * source_stride)
    if m == 2:
        even, odd = (w0 + w2) * 0.5, w1 * 0.5
        store(line, target_at, w0), store(line, target_at + target_stride, even + odd)
        store(line, target_at + 2 * target_stride, even - odd), store(line, target_at + 3 * target_stride, w2)
    else:
        store(line, target_at, w0 * (1 / (AA * BB)))
        even, odd = fma(w2, AA, w0) * (0.5 / (AA * (AA - BB))), w1 * (0.5 * A / (AA * (AA - BB)))
        store(line, target_at + target_stride, even + odd), store(line, target_at + 2 * target_stride, even - odd)
        even, odd = fma(w2, BB, w0) * (0.5 / (BB * (BB - AA))), w1 * (0.5 * B / (BB * (BB - AA)))
        store(line, target_at + 3 * target_stride, even + odd), store(line, target_at + 4 * target_stride, even - odd)
        store(line, target_at + 5 * target_stride, w2)


@inner_njit()
def transform_sums(m, line, source_at, source_stride, target_at, target_stride):
    """A^T s of m + 2 vectors, in the same way."""
    s0, s1, s2, s3 = (
        load(line, source_at),
        load(line, source_at + source_stride),
        load(line, source_at + 2 * source_stride),
        load(line, source_at + 3 * source_stride),
    )
    if m == 2:
        r0, r1 = _of_sums(s0, s1, s2, s3)
        store(line, target_at, r0), store(line, target_at + target_stride, r1)
    else:
        s4, s5 = load(line, source_at + 4 * source_stride), load(line, source_at + 5 * source_stride)
        near, far, nearer, farther = s1 + s2, s3 + s4, (s1 - s2) * A, (s3 - s4) * B
        store(line, target_at, s0 + near + far), store(line, target_at + target_stride, nearer + farther)
        store(line, target_at + 2 * target_stride, fma(near, AA, far * BB))
        store(line, target_at + 3 * target_stride, fma(nearer, AA, fma(farther, BB, s5)))


# ---- how the work is cut ---------------------------------------------------------------------------------------------

#: m: a tile makes m x m results of `places` pixels. down, across: tiles of a picture. piece: tiles side by side in a
#: unit; pieces: units in a row of tiles. units: of all pictures; each: units in a block; blocks: of tiles; tiles: in a
#: block at most.
#: turned: whether tasks are panels of outs, not blocks of tiles. alone: whether each thread prepares for itself what
#: all need (private.py). depth: input channels, filled up to whole vectors; pitch: elements from one tile to the next;
#: seen, sums, factors: from one place of the tile to the next, of transformed pixels, sums and weights. panels: of
#: outs, two vectors each. shared: elements that all threads share, which come first in the workspace; own: of each
#: thread; scratch: of these, before its sums.
Plan = namedtuple(
    "Plan",
    "m places down across piece pieces units each blocks tiles turned alone depth pitch seen sums factors panels "
    "shared own scratch",
)


def fits(g):
    """Whether the convolution is one that F(m x m, 3x3) is made for."""
    return g[:4] == (3, 3, 1, 1) and g[-3:] == (1, 1, 1)


def pays(weight, g, out):
    """For which m it is faster than direct sums, the fastest first: by shape.

    Products are of two vectors of output channels. With one vector of input and one of output channels half of that is
    empty: it, the transforms and the look at all numbers cost more than is saved.
    """
    (outs, ins), (pictures, _, high, wide) = weight.shape[:2], out.shape
    if not fits(g) or min(ins, outs) < FEWEST_CHANNELS or min(high, wide) < 4:
        return ()
    if ins * outs < 2 * vector_width(out.dtype) ** 2:
        return ()
    tiles = pictures * -(-high // 4) * -(-wide // 4)
    return (4, 2) if tiles > FEW_TILES else (2,) if tiles > FEWEST_TILES else ()


@by_shape
def plan(weight, g, out, m, threads):
    """The `Plan` for weights and a result of that shape and dtype."""
    (pictures, outs, high, wide), ins = out.shape, weight.shape[1]
    size, places = vector_width(out.dtype), (m + 2) ** 2
    down, across = -(-high // m), -(-wide // m)
    pieces = -(-across // PIECE)
    piece = -(-across // pieces)
    units, depth, panels = pictures * down * pieces, -(-ins // size) * size, -(-outs // (2 * size))
    pitch = (-(-depth // LINE) | 1) * LINE  # an odd number of lines: rows must not share sets of the cache
    turned = pictures * down * across < outs
    if turned:
        each = units
    else:
        fit = TRANSFORMED // (places * depth * out.itemsize * piece)
        each = max(1, min(fit, units if threads == 1 else -(-units // (2 * threads))))
        each = -(-units // -(-units // each))
    tiles = each * piece
    seen, sums, factors = ((tiles + TALL) | 1) * pitch, (tiles + TALL) * 2 * size + LINE, depth * 2 * size + LINE
    longest = m * piece + 2
    scratch = (2 * (m + 2) * longest + places + max(m * m * piece, 9 * TURNED)) * size
    own = scratch + places * sums
    of_pixels, of_weights = places * seen, places * factors
    shared, own = (of_pixels, own + of_weights) if turned else (panels * of_weights, own + of_pixels)
    alone = private.pays(threads, outs if turned else pictures * down * across, shared * out.itemsize)
    if alone:
        shared, own = 0, LINE + shared + own
    blocks = -(-units // each)
    return Plan(
        m, places, down, across, piece, pieces, units, each, blocks, tiles, turned, alone, depth, pitch, seen, sums,
        factors, panels, shared, own, scratch,
    )  # fmt: skip


@inner_njit()
def _unit(p, u):
    """(picture, row of tiles, first tile of the row, tiles) of unit u."""
    first_tile = u % p.pieces * p.piece
    return u // (p.pieces * p.down), u // p.pieces % p.down, first_tile, min(p.piece, p.across - first_tile)


@inner_njit()
def _tiles(p, first, last):
    """How many tiles units first ... last - 1 have."""
    count = 0
    for u in range(first, last):
        count += _unit(p, u)[3]
    return count


# ---- pixels ----------------------------------------------------------------------------------------------------------


@inner_njit()
def see(x, g, p, first, last, vector, line, seen, scratch):
    """B^T d B for units first ... last - 1 of one vector of input channels, to places from element `seen` on."""
    m, n, size = p.m, p.m + 2, lanes(line)
    longest = m * p.piece + 2
    square, copy = scratch, scratch + n * n * size
    other = copy + n * longest * size
    tile = 0
    for u in range(first, last):
        picture, row, left, count = _unit(p, u)
        columns = m * count + 2
        window = row * m - g.top, left * m - g.left, n, columns, 1, 1
        copy_turned(x, vector * size, picture, window, line, copy, size, other)
        for k in range(count):
            for s in range(n):
                transform_pixels(m, line, copy + (k * m + s) * size, columns * size, square + s * size, n * size)
            to = seen + tile * p.pitch + vector * size
            for r in range(n):
                transform_pixels(m, line, square + r * n * size, size, to + r * n * p.seen, p.seen)
            tile += 1


# ---- weights ---------------------------------------------------------------------------------------------------------


@inner_njit()
def weigh(weight, p, panel, line, factors, scratch):
    """G w G^T for one panel of output channels, to places from element `factors` on."""
    m, n, size, (outs, ins) = p.m, p.m + 2, lanes(line), weight.shape[:2]
    square, turned, source = scratch, scratch + n * n * size, memory(weight)
    for half in range(2):
        out = (2 * panel + half) * size
        out_count = max(min(size, outs - out), 0)
        for first_in in range(0, p.depth, TURNED):
            count = min(TURNED, p.depth - first_in)
            in_count = max(min(count, ins - first_in), 0)
            if out_count < size or in_count < count:
                line[turned : turned + count * 9 * size] = 0
            if out_count and in_count:
                pack(source, (out * ins + first_in) * 9, 1, ins * 9, in_count * 9, out_count, line, turned, size)
            for c in range(count):
                for s in range(3):
                    transform_weights(m, line, turned + (9 * c + s) * size, 3 * size, square + s * size, 3 * size)
                factors_at = factors + ((first_in + c) * 2 + half) * size
                for r in range(n):
                    transform_weights(m, line, square + 3 * r * size, size, factors_at + r * n * p.factors, p.factors)


# ---- products and results --------------------------------------------------------------------------------------------


@inner_njit()
def multiply(p, tiles, pixels, seen, weights, factors, line, sums):
    """The products of all places: pixels by the weights of one panel, each in a line of its own. (In one line, at a
    place that is known late, LLVM 22 makes loops for AVX2 that are a twentieth slower.)"""
    width = 2 * lanes(line)
    strides = (p.pitch, 1)
    for position in range(p.places):
        b = factors + position * p.factors
        tile = 0
        while tile < tiles:
            a, sums_at, remaining = (
                seen + position * p.seen + tile * p.pitch,
                sums + position * p.sums + tile * width,
                tiles - tile,
            )
            if remaining > TALL - LOW // 2 and not TALL < remaining <= 2 * MIDDLE:
                tall = tile_zeros(line, TALL, 2)
                tall = tile_multiply_add(tall, p.depth, pixels, a, strides, weights, b, width)
                tile_store(line, sums_at, width, tall)
                tile += TALL
            elif remaining > LOW:
                middle = tile_zeros(line, MIDDLE, 2)
                middle = tile_multiply_add(middle, p.depth, pixels, a, strides, weights, b, width)
                tile_store(line, sums_at, width, middle)
                tile += MIDDLE
            else:
                low = tile_zeros(line, LOW, 2)
                low = tile_multiply_add(low, p.depth, pixels, a, strides, weights, b, width)
                tile_store(line, sums_at, width, low)
                tile += LOW


@inner_njit()
def finish(p, bias, out, first, last, panel, line, sums, scratch):
    """A^T s A and the bias, for units first ... last - 1 and one panel of output channels."""
    m, n, size, (outs, high, wide) = p.m, p.m + 2, lanes(line), out.shape[1:]
    result, added = memory(out), memory(bias)
    square, rows = scratch, scratch + n * n * size
    for half in range(2):
        channel = (2 * panel + half) * size
        channels, tile = min(size, outs - channel), 0
        for u in range(first, last if channels > 0 else first):
            picture, row, left, count = _unit(p, u)
            columns, row_count = min(m * count, wide - m * left), min(m, high - m * row)
            add = load(added, channel)
            for k in range(count):
                sums_at = sums + (2 * tile + half) * size
                for s in range(n):
                    transform_sums(m, line, sums_at + s * p.sums, n * p.sums, square + s * size, n * size)
                for r in range(row_count):
                    transform_sums(m, line, square + r * n * size, size, square + r * n * size, size)
                    rows_at = rows + (r * columns + k * m) * size
                    for s in range(min(m, columns - k * m)):
                        store(line, rows_at + s * size, load(line, square + (r * n + s) * size) + add)
                tile += 1
            rows_at, plane = ((picture * outs + channel) * high + row * m) * wide + left * m, high * wide
            if columns == wide:
                turn_back(line, rows, size, channels, row_count * wide, result, rows_at, plane)
            else:
                for r in range(row_count):
                    turn_back(
                        line, rows + r * columns * size, size, channels, columns, result, rows_at + r * wide, plane
                    )


@inner_njit()
def _task_of_weights(arguments, task, who):
    _x, weight, _bias, _out, work, _g, p = arguments
    weigh(weight, p, task, memory(work), task * p.places * p.factors, p.shared + who * p.own)


@inner_njit()
def _task_of_pixels(arguments, task, who):
    x, _weight, _bias, _out, work, g, p = arguments
    see(x, g, p, 0, p.units, task, memory(work), 0, p.shared + who * p.own)


# Where a thread finds what all tasks need, and where its own memory goes on. A thread alone makes it in its first task.


@inner_njit()
def _all_weights(arguments, who):
    _x, weight, _bias, _out, work, _g, p = arguments
    thread_start = p.shared + who * p.own
    if not p.alone:
        return 0, thread_start
    prepared = thread_start + LINE
    rest = prepared + p.panels * p.places * p.factors
    if work[thread_start] == 0:
        for panel in range(p.panels):
            weigh(weight, p, panel, memory(work), prepared + panel * p.places * p.factors, rest)
        work[thread_start] = 1
    return prepared, rest


@inner_njit()
def _all_pixels(arguments, who):
    x, _weight, _bias, _out, work, g, p = arguments
    thread_start = p.shared + who * p.own
    if not p.alone:
        return 0, thread_start
    prepared = thread_start + LINE
    rest = prepared + p.places * p.seen
    if work[thread_start] == 0:
        for vector in range(p.depth // lanes(work)):
            see(x, g, p, 0, p.units, vector, memory(work), prepared, rest)
        work[thread_start] = 1
    return prepared, rest


@inner_njit()
def _task_of_block(arguments, task, who):
    x, _weight, bias, out, work, g, p = arguments
    (prepared, scratch), line = _all_weights(arguments, who), memory(work)
    sums = scratch + p.scratch
    seen = sums + p.places * p.sums
    first, last = task * p.each, min((task + 1) * p.each, p.units)
    for vector in range(p.depth // lanes(work)):
        see(x, g, p, first, last, vector, line, seen, scratch)
    tiles = _tiles(p, first, last)
    for panel in range(p.panels):
        multiply(p, tiles, line, seen, memory(work[prepared:]), panel * p.places * p.factors, line, sums)
        finish(p, bias, out, first, last, panel, line, sums, scratch)


@inner_njit()
def _task_of_panel(arguments, task, who):
    _x, weight, bias, out, work, _g, p = arguments
    (prepared, scratch), line = _all_pixels(arguments, who), memory(work)
    sums = scratch + p.scratch
    factors = sums + p.places * p.sums
    weigh(weight, p, task, line, factors, scratch)
    multiply(p, _tiles(p, 0, p.units), memory(work[prepared:]), 0, line, factors, line, sums)
    finish(p, bias, out, 0, p.units, task, line, sums, scratch)


# Two kernels, so that only the one that is needed is compiled. bias: filled up to whole panels. work: p.shared +
# threads * p.own elements.


@cached_njit()
def convolve_blocks(x, weight, bias, out, work, g, p, threads, least, team):
    """out = the convolution by blocks of tiles, for contiguous arrays."""
    arguments = x, weight, bias, out, work, g, p
    if p.alone:
        for who in range(threads):
            work[p.shared + who * p.own] = 0
    else:
        share(_task_of_weights, arguments, p.panels, threads, 0, team)
    share(_task_of_block, arguments, p.blocks, threads, least, team)


@cached_njit()
def convolve_panels(x, weight, bias, out, work, g, p, threads, least, team):
    """out = the convolution by panels of output channels, for contiguous arrays."""
    arguments = x, weight, bias, out, work, g, p
    if p.alone:
        for who in range(threads):
            work[p.shared + who * p.own] = 0
    else:
        share(_task_of_pixels, arguments, p.depth // lanes(work), threads, 0, team)
    share(_task_of_panel, arguments, p.panels, threads, least, team)


def convolve(m, x, weight, bias, g, out):
    """out = the convolution by F(m x m, 3x3), for contiguous arrays."""
    multiplies = out.size * weight.shape[1] * (m + 2) ** 2 // m**2
    threads = products.threads_for(multiplies)
    p = plan(weight, g, out, m, threads)
    padded_bias = np.zeros(p.panels * 2 * vector_width(out.dtype), out.dtype)
    padded_bias[: len(bias)] = bias
    work = workspace(out.dtype, p.shared + threads * p.own)
    kernel = convolve_panels if p.turned else convolve_blocks
    kernel(x, weight, padded_bias, out, work, g, p, threads, products.least_time(multiplies), team.members())
