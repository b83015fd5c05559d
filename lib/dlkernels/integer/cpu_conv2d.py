"""Convolutions of codes on the CPU.

The ladder of conv2d_int8                what the rung adds
    conv2d_int8_loop       products of differences, in seven loops
    conv2d_int8_columns    patches as columns, the library's product of int8 matrices, then a pass from sums to codes
    conv2d_int8_pairs      patches are nowhere: planes of words, a tile of sums for all channels, made codes at once
    conv2d_int8_dot4       four products in each lane by one instruction
"""

import functools

import numpy as np

from .. import team
from ..convolution.pictures import with_batch
from ..host import plain, workspace
from ..implementations import implementation
from ..matrix import matmul_int8
from ..matrix.choose import least_time, threads_for
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..team import share
from .codes import FLIP, factors
from .cpu_linear import DTYPES, no_zeros, or_empty
from .packed import codes_of, packed, rows_of_panel
from .planes import make_planes, places, plan
from .requantize import channel_numbers, put_line, put_one
from .words import DOT4, ROWS, WIDTH, channels_by_pixels, copy_elements

SLOW = 1 << 18  # as `largest` counts: the product of a size
BYTES = np.uint32(0x01010101)  # times a code: the word of four such


def on_pictures(rung):
    """Let `rung`, written for contiguous pictures of codes without sign, take what is prepared.

    It gets (x, weight, bias, scale, zeros, quantizer, geometry, out): x as uint8 whose codes are still to be
    flipped, out as uint8 or float32, both with a batch. Results of no elements never reach it; sums of no terms are 0.
    """

    @functools.wraps(rung)
    def wrapper(x, weight, bias, scale, zeros, q, g, out):
        if out.size:
            bias = None if bias is None else plain(bias)
            scale, zeros = plain(scale), None if zeros is None else plain(zeros)
            results = with_batch(out if out.dtype == np.float32 else out.view(np.uint8))
            if x.size:
                rung(with_batch(plain(x).view(np.uint8)), weight, bias, scale, zeros, q, g, results)
            else:
                put_zeros(*factors(bias, scale, q, out.dtype != np.float32), q, results)
        return out

    return wrapper


@cached_njit()
def put_zeros(start, factor, add, q, out):
    """The results of sums of no terms."""
    for n in range(out.shape[0]):
        for o in range(out.shape[1]):
            for y in range(out.shape[2]):
                for z in range(out.shape[3]):
                    put_one(0, start[o], factor[o], add[o], q.low, q.high, q.output_zero, out[n, o, y], z)


# ---- seven loops ---------------------------------------------------------------------------------------------------


@cached_njit()
def convolve_differences(x, weight, zeros, start, factor, add, q, g, out):
    outs, ins, tall, wide = weight.shape
    outs_of_group = outs // g.groups
    for n in range(out.shape[0]):
        for o in range(outs):
            first_channel = o // outs_of_group * ins
            for y in range(out.shape[2]):
                for z in range(out.shape[3]):
                    total = np.int32(0)
                    for c in range(ins):
                        for ky in range(tall):
                            i = y * g.stride_y + ky * g.dilation_y - g.top
                            for kx in range(wide):
                                j = z * g.stride_x + kx * g.dilation_x - g.left
                                if 0 <= i < x.shape[2] and 0 <= j < x.shape[3]:
                                    pixel = (x[n, first_channel + c, i, j] ^ q.flip) - q.input_zero
                                    total += pixel * (weight[o, c, ky, kx] - zeros[o])
                    put_one(total, start[o], factor[o], add[o], q.low, q.high, q.output_zero, out[n, o, y], z)


@implementation(
    "conv2d_int8", device="cpu", adds="products of differences, in seven loops", dtypes=DTYPES, largest=SLOW
)
@on_pictures
def conv2d_int8_loop(x, weight, bias, scale, zeros, q, g, out):
    weight = codes_of(weight)
    convolve_differences(
        x, weight, no_zeros(len(weight), zeros), *factors(bias, scale, q, out.dtype != np.float32), q, g, out
    )


# ---- a product of matrices, then the rest --------------------------------------------------------------------------


@cached_njit()
def write_columns(x, picture, channel, q, g, out_wide, columns):
    """The patches of a group as int8: a column for each place, a row for each weight; the zero point outside."""
    zero, count = np.int8(q.input_zero - FLIP), columns.shape[1]
    turn = FLIP - q.flip
    for row in range(columns.shape[0]):
        c, tap = row // (g.kernel_y * g.kernel_x), row % (g.kernel_y * g.kernel_x)
        ky, kx = tap // g.kernel_x, tap % g.kernel_x
        for column in range(count):
            i = column // out_wide * g.stride_y + ky * g.dilation_y - g.top
            j = column % out_wide * g.stride_x + kx * g.dilation_x - g.left
            inside = 0 <= i < x.shape[2] and 0 <= j < x.shape[3]
            columns[row, column] = np.int8(x[picture, channel + c, i, j] ^ turn) if inside else zero


@cached_njit()
def requantize_planes(products, zeros, rests, sums, zero, start, factor, add, q, out):
    """out: (channels, places)."""
    for o in range(out.shape[0]):
        for pixel in range(out.shape[1]):
            total = products[o, pixel] - zero * sums[o] - zeros[o] * rests[pixel]
            put_one(total, start[o], factor[o], add[o], q.low, q.high, q.output_zero, out[o], pixel)


@implementation(
    "conv2d_int8",
    device="cpu",
    adds="patches as columns: the product of int8 matrices, in vectors; columns and sums travel through memory",
    dtypes=DTYPES,
)
@on_pictures
def conv2d_int8_columns(x, weight, bias, scale, zeros, q, g, out):
    weight = codes_of(weight)
    (pictures, outs, high, wide), ins = out.shape, weight.shape[1]
    rows, outs_of_group = weight.reshape(outs, -1), outs // g.groups
    numbers = factors(bias, scale, q, out.dtype != np.float32)
    sums, zero = rows.sum(axis=1, dtype=np.int32), q.input_zero - FLIP
    columns, zeros = np.empty((rows.shape[1], high * wide), np.int8), no_zeros(outs, zeros)
    for picture in range(pictures):
        for group in range(g.groups):
            some = slice(group * outs_of_group, (group + 1) * outs_of_group)
            write_columns(x, picture, group * ins, q, g, wide, columns)
            rests = columns.sum(axis=0, dtype=np.int32) - np.int32(zero * len(columns))
            requantize_planes(
                matmul_int8(rows[some], columns),
                zeros[some],
                rests,
                sums[some],
                zero,
                *(line[some] for line in numbers),
                q,
                out[picture, some].reshape(outs_of_group, -1),
            )


# ---- fused ---------------------------------------------------------------------------------------------------------


@cached_njit()
def sum_windows(x, groups, q, g, rests):
    """rests[picture, group, y, z] = the sum of (code - zero point) in a window: for zero points of weights."""
    ins = x.shape[1] // groups
    line = np.empty(x.shape[2:], np.int32)
    for n in range(x.shape[0]):
        for group in range(groups):
            line[:] = -ins * q.input_zero
            for c in range(group * ins, (group + 1) * ins):
                for i in range(x.shape[2]):
                    for j in range(x.shape[3]):
                        line[i, j] += x[n, c, i, j] ^ q.flip
            for y in range(rests.shape[2]):
                for z in range(rests.shape[3]):
                    total = np.int32(0)
                    for ky in range(g.kernel_y):
                        i = y * g.stride_y + ky * g.dilation_y - g.top
                        for kx in range(g.kernel_x):
                            j = z * g.stride_x + kx * g.dilation_x - g.left
                            if 0 <= i < x.shape[2] and 0 <= j < x.shape[3]:
                                total += line[i, j]
                    rests[n, group, y, z] = total


@inner_njit()
def find_runs(start, rows, wide, pitch, runs):
    """Where a tile of WIDTH places from `start` on holds results: runs[k] = (lane, length, first result)."""
    count, lane = 0, 0
    if pitch == wide:
        runs[0, 0], runs[0, 1], runs[0, 2] = 0, min(WIDTH, rows * wide - start), start
        return 1
    while lane < WIDTH:
        y, z = (start + lane) // pitch, (start + lane) % pitch
        if y >= rows:
            break
        length = min(wide - z, WIDTH - lane)
        if length > 0:
            runs[count, 0], runs[count, 1], runs[count, 2] = lane, length, y * wide + z
            count += 1
        lane += min(pitch - z, WIDTH - lane)
    return count


@inner_njit()
def take_rests(sums, zero, rests, start, runs, count):
    """What the zero point of a weight adds is taken from a row of a tile. start: the band's first result."""
    for k in range(count):
        lane, length, result = runs[k, 0], runs[k, 1], runs[k, 2]
        for c in range(length):
            sums[lane + c] -= zero * rests[start + result + c]


def _fused(instruction):
    """The kernel for processors with the instruction, or without it."""
    many, single = (channels_by_pixels(rows, instruction) for rows in (ROWS, 1))

    @inner_njit()
    def task(arguments, task, who):
        pixels, extents, sizes, words, steps, integers, factors, rests, q, g, p, out, work, parts = arguments
        (outs, high, wide), (ins, rows, flip, pad) = extents[3:], sizes
        part, band, outs_of_group = task % parts, task // parts, outs // g.groups
        picture, top = band // p.bands, band % p.bands * p.rows
        height, panels = min(p.rows, high - top), (outs_of_group + rows - 1) // rows  # panels: of a group
        begin, end = part * g.groups * panels // parts, (part + 1) * g.groups * panels // parts
        runs, row, thread_start = np.empty((WIDTH, 3), np.int64), np.empty(p.row, np.uint8), who * p.own
        results, sums = np.empty((ROWS, WIDTH), out.dtype), np.empty((ROWS, WIDTH), np.int32)
        flat, least, most, zero = results.reshape(ROWS * WIDTH), q.low, q.high, q.output_zero
        for group in range(begin // panels, (end + panels - 1) // panels):
            make_planes(pixels, extents[:3], picture, group * ins, ins, top, g, p, flip, pad, row, work, thread_start)
            first_panel, last_panel = max(begin - group * panels, 0), min(end - group * panels, panels)
            for tile_start in range(0, (height - 1) * p.pitch + wide, WIDTH):
                count, seen = find_runs(tile_start, height, wide, p.pitch, runs), thread_start + tile_start
                for panel in range(first_panel, last_panel):
                    panel_start, o = (group * panels + panel) * steps.size * rows, group * outs_of_group + panel * rows
                    if rests.size:
                        if rows == 1:
                            single(sums, work, seen, steps, words, panel_start, integers, factors, o, least, most, zero)
                        else:
                            many(sums, work, seen, steps, words, panel_start, integers, factors, o, least, most, zero)
                    elif rows == 1:
                        single(results, work, seen, steps, words, panel_start, integers, factors, o, least, most, zero)
                    else:
                        many(results, work, seen, steps, words, panel_start, integers, factors, o, least, most, zero)
                    for r in range(min(rows, outs_of_group - panel * rows)):
                        if rests.size:
                            take_rests(sums[r], integers[1, o + r], rests[picture, group], top * wide, runs, count)
                            numbers = factors[0, o + r], factors[1, o + r], factors[2, o + r]
                            put_line(sums[r], integers[0, o + r], *numbers, least, most, zero, results[r])
                        out_start = ((picture * outs + o + r) * high + top) * wide
                        for k in range(count):
                            copy_elements(out, out_start + runs[k, 2], flat, r * WIDTH + runs[k, 0], runs[k, 1])

    @cached_njit(holds=f"instruction: {instruction}")
    def convolve_fused(
        pixels, extents, sizes, words, steps, bias, zeros, scale, sums, rests, q, g, p, out, work, parts, tasks,
        threads, least, team,
    ):  # fmt: skip
        codes = out.itemsize == 1
        integers, factors = channel_numbers(bias, zeros, scale, sums, q, codes, scale.size + ROWS)
        arguments = pixels, extents, sizes, words, steps, integers, factors, rests, q, g, p, out, work, parts
        share(task, arguments, tasks, threads, least, team)

    return convolve_fused


convolve_by_pairs = _fused(False)
convolve_by_instruction = _fused(True) if DOT4 else convolve_by_pairs


def fused(kernel, x, weight, bias, scale, zeros, q, g, out):
    """The layer by one of the kernels."""
    layer = packed(weight, g.groups)
    codes, (pictures, outs, high, wide) = layer.weight, out.shape
    work = out.size * codes[0].size // 4
    threads = threads_for(work)
    p = plan(codes, g, out, threads)
    rows = rows_of_panel(codes.shape, g.groups)
    units, bands = g.groups * -(-(outs // g.groups) // rows), pictures * p.bands
    parts = 1 if threads == 1 else min(units, -(-2 * threads // bands))
    rests = np.empty((pictures, g.groups, high * wide if zeros is not None else 0), np.int32)
    if zeros is not None:
        sum_windows(x, g.groups, q, g, rests.reshape(pictures, g.groups, high, wide))
    extents = *x.shape[1:], outs, high, wide
    sizes = codes.shape[1], rows, BYTES * np.uint32(q.flip), BYTES * np.uint32(q.input_zero)
    kernel(
        x.reshape(-1), extents, sizes, layer.words, places(codes, g, out, p), *or_empty(bias, zeros), scale, layer.sums,
        rests, q, g, p, out.reshape(-1), workspace(np.dtype(np.uint32), threads * p.own), parts, bands * parts, threads,
        least_time(work), team.members(),
    )  # fmt: skip


@implementation(
    "conv2d_int8",
    device="cpu",
    adds="no columns: planes of words, in which a step is one load for a tile of pixels; a packed weight; all cores",
    dtypes=DTYPES,
)
@on_pictures
def conv2d_int8_pairs(x, weight, bias, scale, zeros, q, g, out):
    fused(convolve_by_pairs, x, weight, bias, scale, zeros, q, g, out)


@implementation(
    "conv2d_int8",
    device="cpu",
    adds="four products in each lane in one instruction, exact, where pairs of 16-bit numbers need six",
    dtypes=DTYPES,
    limits="AVX512-VNNI or AVX-VNNI; elsewhere as conv2d_int8_pairs",
    public=True,
)
@on_pictures
def conv2d_int8_dot4(x, weight, bias, scale, zeros, q, g, out):
    fused(convolve_by_instruction, x, weight, bias, scale, zeros, q, g, out)
