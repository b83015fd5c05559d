"""Convolutions of codes on the GPU.

The ladder of conv2d_int8                what the rung adds
    conv2d_int8_one_per_output   a thread for each pixel of the result: a byte per load, a product per instruction
    conv2d_int8_words            four channels in a word: four products per instruction (dp4a)
    conv2d_int8_tile             words in shared memory, 4 channels of 4 pixels in each thread: implicit GEMM

Words of a picture are [picture, group, four channels][height][width], those of a weight [channel][four channels, kernel
height, kernel width]. Where a group has no whole words of channels, the rest is the zero point's code, and zeros in the
weight.
"""

import functools

import numpy as np

from ..convolution.gpu import grid_for
from ..device import cuda
from ..implementations import implementation
from ..launches import device_array, launch
from ..layouts import MOST_IN_Z
from . import gpu_results as g
from .cpu_linear import DTYPES
from .dp4a import CAPABILITY, dot_of_codes
from .gpu_linear import CHANNELS, EACH, EDGE, INSTEAD, PADDED, SIDE
from .gpu_linear import DEPTH as STEPS
from .gpu_results import i32, result_of, u32

PLACE = "int32, int32, int32, int32, int32, int32"
ONES = np.uint32(0x01010101)


def on_pictures(rung):
    """Let `rung`, written for pictures of bytes with a batch, take what `conv2d_int8` prepares. Returns the result.

    It gets (x, weight, scale, shifted, bias, zeros, quantizer, geometry, out, codes); results of no elements never
    reach it.
    """

    @functools.wraps(rung)
    def wrapper(x, weight, bias, scale, zeros, q, where, out):
        if out.size:
            outs = weight.shape[0]
            *_, channels, high, wide = tuple(x.shape)
            count = x.shape[0] if x.ndim == 4 else 1
            results, codes = g.results(out, (count, *tuple(out.shape)[-3:]))
            known = *g.for_channels(outs, bias, zeros), q, where, results, codes
            pixels = g.as_bytes(x, (count, channels, high, wide))
            rung(pixels, g.as_bytes(weight), scale, zeros is not None, *known)
        return out

    return wrapper


def place(where):
    return tuple(map(i32, (where.stride_y, where.stride_x, where.top, where.left, where.dilation_y, where.dilation_x)))


# ---- a thread for each pixel ---------------------------------------------------------------------------------------


@functools.cache
def one_per_output_kernel(codes):
    result = result_of(codes)

    @cuda.jit
    def kernel(
        x, weight, each, stride_y, stride_x, top, left, dilation_y, dilation_x, bias, scale, zeros, out, input_scale,
        input_zero, flip, output_scale, output_zero, low, high,
    ):  # fmt: skip
        z, y = cuda.grid(2)
        count, outs, rows, columns = out.shape
        if y < rows and z < columns:
            for plane in range(cuda.blockIdx.z, count * outs, cuda.gridDim.z):
                n, o = plane // outs, plane % outs
                first, total = o // each * weight.shape[1], i32(0)
                for c in range(weight.shape[1]):
                    for ky in range(weight.shape[2]):
                        i = y * stride_y + ky * dilation_y - top
                        for kx in range(weight.shape[3]):
                            j = z * stride_x + kx * dilation_x - left
                            if i >= 0 and i < x.shape[2] and j >= 0 and j < x.shape[3]:
                                code = i32((i32(weight[o, c, ky, kx]) ^ i32(128)) - i32(128))
                                pixel = i32((i32(x[n, first + c, i, j]) ^ flip) - input_zero)
                                total += i32(pixel * (code - zeros[o]))
                out[n, o, y, z] = result(total, bias[o], scale[o], input_scale, output_scale, output_zero, low, high)

    return kernel


def _one_per_output(codes):
    arrays = f"uint8[:, :, :, ::1], uint8[:, :, :, ::1], int32, {PLACE}"
    return [f"void({arrays}, {CHANNELS}, {g.out_type(codes)}[:, :, :, ::1], {g.NUMBERS})"]


@implementation(
    "conv2d_int8",
    "gpu",
    adds="a thread for each pixel of the result, a byte for each load",
    dtypes=DTYPES,
    kernels=[(one_per_output_kernel(codes), _one_per_output(codes)) for codes in (True, False)],
)
@on_pictures
def conv2d_int8_one_per_output(x, weight, scale, shifted, bias, zeros, q, where, out, codes):
    count, outs, rows, columns = tuple(out.shape)
    grid = grid_for(count * outs, rows, columns, SIDE)
    launch(
        one_per_output_kernel(codes), grid, (SIDE, SIDE), x, weight, i32(outs // where.groups), *place(where), bias,
        scale, zeros, out, *g.numbers(q),
    )  # fmt: skip


# ---- four channels in a word ---------------------------------------------------------------------------------------


@cuda.jit
def join_kernel(codes, rest, words):
    """Words of four channels: codes[group, channel, pixel] becomes words[group, channel // 4, pixel]."""
    pixel = cuda.grid(1)
    if pixel < codes.shape[2]:
        steps = words.shape[1]
        for line in range(cuda.blockIdx.y, words.shape[0] * steps, cuda.gridDim.y):
            group, first, word = line // steps, line % steps * 4, u32(0)
            for c in range(4):
                code = u32(codes[group, first + c, pixel]) if first + c < codes.shape[1] else rest
                word |= u32(code) << u32(8 * c)
            words[group, first // 4, pixel] = word


JOIN = ["void(uint8[:, :, ::1], uint32, uint32[:, :, ::1])"]


def join_channels(x, groups, rest):
    """(groups, channels / 4, pixels) words of bytes. rest: the code in the place of channels that are missing."""
    pixels = x.shape[2] * x.shape[3]
    channels = x.shape[0] * x.shape[1] // groups
    words = device_array((groups, -(-channels // 4), pixels), u32)
    if words.size:
        grid = -(-pixels // g.THREADS), min(words.shape[0] * words.shape[1], MOST_IN_Z)
        launch(join_kernel, grid, g.THREADS, g.view(x, (groups, channels, pixels)), u32(rest), words)
    return words


@functools.cache
def words_kernel(codes):
    result = result_of(codes)

    @cuda.jit
    def kernel(
        x, weight, sums, each, extent_y, extent_x, kernel_x, shifted, turn, stride_y, stride_x, top, left, dilation_y,
        dilation_x, bias, scale, zeros, out, input_scale, input_zero, flip, output_scale, output_zero, low, high,
    ):  # fmt: skip
        z, y = cuda.grid(2)
        count, outs, rows, columns = out.shape
        if y < rows and z < columns:
            taps, outside = weight.shape[2], u32(input_zero) * u32(ONES)
            for plane in range(cuda.blockIdx.z, count * outs, cuda.gridDim.z):
                n, o = plane // outs, plane % outs
                group, total, rest = n * (outs // each) + o // each, i32(0), i32(0)
                for tap in range(taps):
                    i = y * stride_y + tap // kernel_x * dilation_y - top
                    j = z * stride_x + tap % kernel_x * dilation_x - left
                    inside = i >= 0 and i < extent_y and j >= 0 and j < extent_x
                    for c in range(weight.shape[1]):
                        word = x[group, c, i * extent_x + j] ^ turn if inside else outside
                        total = dot_of_codes(word, weight[o, c, tap], total)
                        if shifted:
                            rest = dot_of_codes(word, u32(ONES), rest)
                rest = i32(rest - input_zero * i32(4 * weight.shape[1] * taps))
                total = i32(total - input_zero * sums[o] - zeros[o] * rest)
                out[n, o, y, z] = result(total, bias[o], scale[o], input_scale, output_scale, output_zero, low, high)

    return kernel


def _words(codes):
    arguments = "uint32[:, :, ::1], uint32[:, :, ::1], int32[::1], int32, int32, int32, int32, int32, uint32"
    return [f"void({arguments}, {PLACE}, {CHANNELS}, {g.out_type(codes)}[:, :, :, ::1], {g.NUMBERS})"]


def by_words(kernel, x, weight, scale, shifted, bias, zeros, q, where, out, grid):
    """Launch a kernel that takes words of channels and sums of weights."""
    count, outs = tuple(out.shape)[:2]
    terms = weight.shape[1] * weight.shape[2] * weight.shape[3]
    sums = g.sums_of_weight(g.view(weight, (outs, terms)))
    words = join_channels(x, count * where.groups, q.input_zero ^ q.flip), join_channels(weight, outs, 0)
    sizes = map(i32, (outs // where.groups, x.shape[2], x.shape[3], where.kernel_x, shifted))
    launch(
        kernel, grid, (SIDE, SIDE), *words, sums, *sizes, g.flip_word(q.flip), *place(where), bias, scale, zeros, out,
        *g.numbers(q),
    )  # fmt: skip


@implementation(
    "conv2d_int8",
    "gpu",
    adds="four channels in a word: a load for four codes, four products in one instruction",
    dtypes=DTYPES,
    kernels=[(words_kernel(codes), _words(codes)) for codes in (True, False)]
    + [(join_kernel, JOIN), (g.sums_kernel, g.SUMS)],
    capability=CAPABILITY,
    instead=INSTEAD.replace("linear", "conv2d"),
    limits="in the executor a function that does the same stands in for the instruction",
)
@on_pictures
def conv2d_int8_words(x, weight, scale, shifted, bias, zeros, q, where, out, codes):
    count, outs, rows, columns = tuple(out.shape)
    grid = grid_for(count * outs, rows, columns, SIDE)
    by_words(words_kernel(codes), x, weight, scale, shifted, bias, zeros, q, where, out, grid)


# ---- tiles in shared memory ----------------------------------------------------------------------------------------


@functools.cache
def tile_kernel(codes):
    result = result_of(codes)

    @cuda.jit
    def kernel(
        x, weight, sums, each, extent_y, extent_x, kernel_x, shifted, turn, stride_y, stride_x, top, left, dilation_y,
        dilation_x, bias, scale, zeros, out, input_scale, input_zero, flip, output_scale, output_zero, low, high,
    ):  # fmt: skip
        x_tile = cuda.shared.array((STEPS, EDGE), u32)
        w_tile = cuda.shared.array((EDGE, PADDED), u32)
        totals = cuda.local.array((EACH, EACH), i32)
        rests = cuda.local.array(EACH, i32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        _count, outs, rows, columns = out.shape
        words, taps, outside = weight.shape[1], weight.shape[2], u32(input_zero) * u32(ONES)
        first, left_pixel, t = cuda.blockIdx.y * EDGE, cuda.blockIdx.x * EDGE, ty * SIDE + tx
        groups = outs // each
        for group in range(cuda.blockIdx.z, x.shape[0], cuda.gridDim.z):
            n, channels = group // groups, group % groups * each
            for r in range(EACH):
                rests[r] = i32(0)
                for c in range(EACH):
                    totals[r, c] = i32(0)
            for start in range(0, words * taps, STEPS):
                for part in range(EDGE * STEPS // (SIDE * SIDE)):
                    pixel, step = left_pixel + t % EDGE, t // EDGE + part * (SIDE * SIDE // EDGE)
                    tap, c = (start + step) % taps, (start + step) // taps
                    i = pixel // columns * stride_y + tap // kernel_x * dilation_y - top
                    j = pixel % columns * stride_x + tap % kernel_x * dilation_x - left
                    inside = i >= 0 and i < extent_y and j >= 0 and j < extent_x
                    valid_pixel = c < words and pixel < rows * columns
                    word = outside
                    if valid_pixel and inside:
                        word = x[group, c, i * extent_x + j] ^ turn
                    x_tile[step, t % EDGE] = word
                    row, step = t // STEPS + part * (SIDE * SIDE // STEPS), t % STEPS
                    tap, c = (start + step) % taps, (start + step) // taps
                    valid_weight = c < words and first + row < each
                    w_tile[row, step] = weight[channels + first + row, c, tap] if valid_weight else u32(0)
                cuda.syncthreads()
                for step in range(STEPS):
                    for c in range(EACH):
                        word = x_tile[step, tx + c * SIDE]
                        if shifted:
                            rests[c] = dot_of_codes(word, u32(ONES), rests[c])
                        for r in range(EACH):
                            totals[r, c] = dot_of_codes(word, w_tile[ty + r * SIDE, step], totals[r, c])
                cuda.syncthreads()
            steps = (words * taps + STEPS - 1) // STEPS * STEPS
            for c in range(EACH):
                pixel, rest = left_pixel + tx + c * SIDE, i32(rests[c] - input_zero * i32(4 * steps))
                for r in range(EACH):
                    if first + ty + r * SIDE < each and pixel < rows * columns:
                        o = channels + first + ty + r * SIDE
                        total = i32(totals[r, c] - input_zero * sums[o] - zeros[o] * rest)
                        out[n, o, pixel // columns, pixel % columns] = result(
                            total, bias[o], scale[o], input_scale, output_scale, output_zero, low, high
                        )

    return kernel


@implementation(
    "conv2d_int8",
    "gpu",
    adds="words in shared memory, 4 channels of 4 pixels in each thread: a product of matrices, one of them nowhere",
    dtypes=DTYPES,
    kernels=[(tile_kernel(codes), _words(codes)) for codes in (True, False)]
    + [(join_kernel, JOIN), (g.sums_kernel, g.SUMS)],
    capability=CAPABILITY,
    instead=INSTEAD.replace("linear", "conv2d"),
    limits="in the executor a function that does the same stands in for the instruction",
    public=True,
)
@on_pictures
def conv2d_int8_tile(x, weight, scale, shifted, bias, zeros, q, where, out, codes):
    count, outs, rows, columns = tuple(out.shape)
    grid = -(-rows * columns // EDGE), -(-(outs // where.groups) // EDGE), min(count * where.groups, MOST_IN_Z)
    by_words(tile_kernel(codes), x, weight, scale, shifted, bias, zeros, q, where, out, grid)
