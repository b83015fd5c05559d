"""Convolution on the GPU as a product of matrices of which one is never stored: implicit GEMM.

    out[o, p] = bias[o] + sum over k of weight[o, k] * seen[k, p]

o counts the channels of a group's result, p the pixels of all pictures (n, y, z), k the places of the kernel (c, ky,
kx). `weight` lies in memory as this matrix. `seen` is what im2col would write: here its elements are looked up in the
pictures when a tile of them is loaded. A block computes EDGE channels of ACROSS pixels, and a thread loads one pixel's
column of the tile, so that it finds out once where its window begins; from place to place of the kernel it counts on.

The ladder of conv2d, continued            what the rung adds
    conv2d_implicit_gemm      8 channels of 8 pixels in the registers of each thread
The ladder of conv2d_half
    conv2d_half_tensor_cores  a warp multiplies 16 x 16 weights by 16 x 8 pixels in one instruction
"""

import functools

import numpy as np

from .. import launches
from ..device import cuda
from ..implementations import implementation
from ..launches import line
from ..layouts import MOST_IN_Y, bits
from ..matrix.gpu import clear
from ..matrix.gpu_tensor_fed import clear as clear_fragments
from ..tensor_cores import CAPABILITY, KINDS, load_matrices, multiply
from ..wide import load4, store2, store4
from .gpu import conv2d_channels, f32, on_pictures

by_channels = conv2d_channels.__wrapped__  # without another look at batch and bias

u16, u32, i32 = np.uint16, np.uint32, np.int32
EDGE, ACROSS = 64, 128  # channels and pixels of a block
THREADS = ACROSS  # each loads one pixel's column of a tile
DEPTH = 8  # places of the kernel in a tile
PITCH = EDGE + 4  # numbers in a row of the weights' tile: 4 more, so that 8 places of 4 channels lie in 32 banks
MOST = 1 << 30  # elements of an array, or pixels along an axis: sums of two of them fit into 31 bits
SIZES = ", uint32" * 17


def sizes(x, weight, g, out):
    """What the kernels have to know, as unsigned numbers."""
    outs, ins, tall, broad = tuple(weight.shape)
    (count, _, high, wide), (rows, columns) = tuple(out.shape), tuple(x.shape)[2:]
    known = count, high, wide, rows, columns, g.groups, outs // g.groups, ins, tall, broad
    return [u32(size) for size in (*known, g.stride_y, g.stride_x, g.top, g.left, g.dilation_y, g.dilation_x, outs)]


def launch(kernel, x, weight, bias, g, out):
    count, outs, high, wide = tuple(out.shape)
    grid = -(-count * high * wide // ACROSS), g.groups * tiles_of(outs // g.groups)
    lines = (line(bits(array)) for array in (x, weight))
    launches.launch(kernel, grid, THREADS, *lines, bias, line(out), *sizes(x, weight, g, out))


def tiles_of(outs_of_group):
    """How many tiles cover the channels of a group."""
    return -(-outs_of_group // EDGE)


def fits(x, weight, g, out):
    """Whether places can be counted in 32 bits, and tiles in a grid."""
    return countable(x, weight, g, out) and g.groups * tiles_of(weight.shape[0] // g.groups) <= MOST_IN_Y


def countable(x, weight, g, out):
    """Whether all that a kernel counts has 32 bits: elements, and rows and columns with their padding."""
    rows, columns = tuple(x.shape)[2:]
    spans = rows + g.top + g.bottom, columns + g.left + g.right
    return max(x.size, weight.size, out.size, *spans) < MOST


@cuda.jit(device=True)
def window_of(pixel, high, wide, stride_y, stride_x, top, left):
    """(picture, first row, first column) of the window that pixel number `pixel` of the result sees."""
    y, z = u32(pixel // wide % high), u32(pixel % wide)
    return u32(pixel // u32(high * wide)), i32(i32(y * stride_y) - i32(top)), i32(i32(z * stride_x) - i32(left))


@cuda.jit(device=True)
def next_place(c, ky, kx, tall, broad):
    """The place of the kernel after (c, ky, kx), without a division."""
    kx = u32(kx + u32(1))
    if kx == broad:
        kx = u32(0)
        ky = u32(ky + u32(1))
    if ky == tall:
        ky = u32(0)
        c = u32(c + u32(1))
    return c, ky, kx


@cuda.jit(device=True)
def seen(x, plane_start, i, j, rows, columns, valid, nothing):
    """Pixel (i, j) of the plane that begins at element `plane_start`; `nothing` outside it, or if it is not `valid`."""
    if valid and i >= 0 and i < rows and j >= 0 and j < columns:
        return x[plane_start + u32(i * columns + j)]
    return nothing


# ---- register tiles ------------------------------------------------------------------------------------------------


@cuda.jit(device=True)
def step(w_tile, x_tile, k, o, p, sums):
    """64 multiply-adds with row k of both tiles: channels o to o + 7, pixels p to p + 3 and p + 64 to p + 67."""
    left, right = cuda.local.array(8, f32), cuda.local.array(8, f32)
    left[0], left[1], left[2], left[3] = load4(w_tile, (k, o))
    left[4], left[5], left[6], left[7] = load4(w_tile, (k, o + u32(4)))
    right[0], right[1], right[2], right[3] = load4(x_tile, (k, p))
    right[4], right[5], right[6], right[7] = load4(x_tile, (k, p + u32(64)))
    for r in range(8):
        for c in range(8):
            sums[r, c] += left[r] * right[c]


@cuda.jit
def implicit_kernel(
    x, weight, bias, out, count, high, wide, rows, columns,
    groups, outs_of_group, ins, tall, broad,
    stride_y, stride_x, top, left, dilation_y, dilation_x, outs,
):  # fmt: skip
    w_tile = cuda.shared.array((DEPTH, PITCH), f32)
    x_tile = cuda.shared.array((DEPTH, ACROSS), f32)
    sums = cuda.local.array((8, 8), f32)
    t = u32(cuda.threadIdx.x)
    tiles = (outs_of_group + u32(EDGE - 1)) // u32(EDGE)
    group = u32(u32(cuda.blockIdx.y) // tiles)
    first = u32(u32(cuda.blockIdx.y) % tiles * u32(EDGE))
    plane, terms = u32(high * wide), u32(ins * tall * broad)
    pixels, begin = u32(count * plane), u32(u32(cuda.blockIdx.x) * u32(ACROSS))
    pixel = u32(begin + t)
    n, first_i, first_j = window_of(pixel, high, wide, stride_y, stride_x, top, left)
    # where the first channel of this thread's picture begins
    x_start = u32((n * groups + group) * ins * rows * columns)
    c, ky, kx = u32(0), u32(0), u32(0)
    clear(sums)
    for start in range(u32(0), terms, u32(DEPTH)):
        term = u32(start + t % u32(DEPTH))  # of the weights that this thread loads
        for part in range(EDGE * DEPTH // THREADS):
            o = u32(t // u32(DEPTH) + u32(part * THREADS // DEPTH))
            inside = first + o < outs_of_group and term < terms
            place = u32((group * outs_of_group + first + o) * terms + term)
            w_tile[t % u32(DEPTH), o] = weight[place] if inside else f32(0)
        for k in range(DEPTH):
            i = i32(first_i + i32(ky * dilation_y))
            j = i32(first_j + i32(kx * dilation_x))
            valid = begin + t < pixels and c < ins
            channel, m, n_x = u32(x_start + c * rows * columns), i32(rows), i32(columns)
            x_tile[k, t] = seen(x, channel, i, j, m, n_x, valid, f32(0))
            c, ky, kx = next_place(c, ky, kx, tall, broad)
        cuda.syncthreads()  # the tiles are complete
        for q in range(u32(DEPTH)):
            o, p = u32(t // u32(16) * u32(8)), u32(t % u32(16) * u32(4))
            step(w_tile, x_tile, q, o, p, sums)
        cuda.syncthreads()  # and all threads are done with them
    o, p = u32(first + t // u32(16) * u32(8)), u32(begin + t % u32(16) * u32(4))
    store_sums(sums, bias, out, o, group, outs_of_group, outs, p, pixels, plane)


@cuda.jit(device=True)
def place_of(pixel, outs, plane):
    """Where a pixel of the result's first channel lies in memory."""
    return u32(pixel // plane * outs * plane + pixel % plane)


@cuda.jit(device=True)
def store_sums(sums, bias, out, o, group, outs_of_group, outs, first, pixels, plane):
    """Store a thread's 8 channels from o on: pixels first to first + 3 and first + 64 to first + 67."""
    channel, places = u32(group * outs_of_group + o), cuda.local.array(8, u32)
    for c in range(8):
        places[c] = place_of(u32(first + u32(c // 4 * 64 + c % 4)), outs, plane)
    if plane % u32(4) == u32(0):  # then four pixels from a multiple of four on lie in one picture
        for r in range(8):
            for c in range(0, 8, 4):
                if first + u32(16 * c) < pixels and o + u32(r) < outs_of_group:
                    b = bias[channel + u32(r)]
                    four = sums[r, c] + b, sums[r, c + 1] + b, sums[r, c + 2] + b, sums[r, c + 3] + b
                    store4(out, u32(places[c] + (channel + u32(r)) * plane), four)
    else:
        for r in range(8):
            for c in range(8):
                if first + u32(c // 4 * 64 + c % 4) < pixels and o + u32(r) < outs_of_group:
                    out[u32(places[c] + (channel + u32(r)) * plane)] = sums[r, c] + bias[channel + u32(r)]


LINES = f"void(float32[::1], float32[::1], float32[::1], float32[::1]{SIZES})"
INDEXED = "arrays of 2^30 elements and more, and more than 65535 tiles of channels, go the way of conv2d_channels"


@implementation(
    "conv2d",
    "gpu",
    adds=f"implicit GEMM: {EDGE} channels of {ACROSS} pixels for each block, 8 x 8 in the registers of each thread",
    limits=INDEXED,
    dtypes=("float32",),
    kernels=[(implicit_kernel, [LINES])],
)
@on_pictures
def conv2d_implicit_gemm(x, weight, bias, g, out):
    if fits(x, weight, g, out):
        launch(implicit_kernel, x, weight, bias, g, out)
    else:
        by_channels(x, weight, bias, g, out)


# ---- tensor cores --------------------------------------------------------------------------------------------------

DEEP, WORDS = 32, 20  # places in a tile; words of two numbers in its rows: 16, and 4 that shift the next row by 4 banks


@cuda.jit(device=True)
def pair(low, high):
    return u32(u32(low) | (u32(high) << u32(16)))


@functools.cache
def tensor_kernel(kind):
    """The kernel for "f16" or "bf16". Its four warps lie side by side: 64 channels of 32 pixels each."""
    mma = multiply(kind)

    @cuda.jit(device=True)
    def product(w_tile, x_tile, warp, lane, sums):
        """Add the product of two tiles: 32 multiplications, 12 loads of four 8 x 8 matrices."""
        right = cuda.local.array(8, u32)
        for part in range(DEEP // 16):
            for c in range(2):
                row = warp * u32(32) + u32(16 * c) + lane // u32(16) * u32(8) + lane % u32(8)
                place = row, u32(8 * part) + lane // u32(8) % u32(2) * u32(4)
                w0, w1, w2, w3 = load_matrices(x_tile, place)
                right[4 * c], right[4 * c + 1], right[4 * c + 2], right[4 * c + 3] = w0, w1, w2, w3
            for r in range(4):
                place = u32(16 * r) + lane % u32(16), u32(8 * part) + lane // u32(16) * u32(4)
                a0, a1, a2, a3 = load_matrices(w_tile, place)
                for c in range(4):
                    s0, s1, s2, s3 = sums[r, c, 0], sums[r, c, 1], sums[r, c, 2], sums[r, c, 3]
                    s0, s1, s2, s3 = mma(a0, a1, a2, a3, right[2 * c], right[2 * c + 1], s0, s1, s2, s3)
                    sums[r, c, 0], sums[r, c, 1], sums[r, c, 2], sums[r, c, 3] = s0, s1, s2, s3

    @cuda.jit
    def kernel(
        x, weight, bias, out, count, high, wide, rows, columns, groups, outs_of_group, ins, tall, broad,
        stride_y, stride_x, top, left, dilation_y, dilation_x, outs,
    ):  # fmt: skip
        w_tile = cuda.shared.array((EDGE, WORDS), u32)
        x_tile = cuda.shared.array((ACROSS, WORDS), u32)  # a row for each pixel: the tile is turned over
        sums, words = cuda.local.array((4, 4, 4), f32), cuda.local.array(4, u32)
        t = u32(cuda.threadIdx.x)
        warp, lane = u32(t // u32(32)), u32(t % u32(32))
        tiles = (outs_of_group + u32(EDGE - 1)) // u32(EDGE)
        group, first = u32(u32(cuda.blockIdx.y) // tiles), u32(u32(cuda.blockIdx.y) % tiles * u32(EDGE))
        plane, terms = u32(high * wide), u32(ins * tall * broad)
        pixels, begin = u32(count * plane), u32(u32(cuda.blockIdx.x) * u32(ACROSS))
        n, first_i, first_j = window_of(u32(begin + t), high, wide, stride_y, stride_x, top, left)
        x_start = u32((n * groups + group) * ins * rows * columns)
        c, ky, kx = u32(0), u32(0), u32(0)
        clear_fragments(sums)
        for start in range(u32(0), terms, u32(DEEP)):
            for part in range(2):  # 8 rows of the weights and 32 places for each warp: 4 words for each thread
                o, word = u32(u32(32 * part) + warp * u32(8) + lane % u32(8)), u32(lane // u32(8) * u32(4))
                row = u32((group * outs_of_group + first + o) * terms)
                for q in range(4):
                    term = u32(start + u32(2) * (word + u32(q)))
                    low = weight[u32(row + term)] if first + o < outs_of_group and term < terms else u16(0)
                    term = u32(term + u32(1))
                    high_half = weight[u32(row + term)] if first + o < outs_of_group and term < terms else u16(0)
                    words[q] = pair(low, high_half)
                store4(w_tile, (o, word), (words[0], words[1], words[2], words[3]))
            for four in range(DEEP // 8):
                for q in range(8):
                    i, j = i32(first_i + i32(ky * dilation_y)), i32(first_j + i32(kx * dilation_x))
                    valid = begin + t < pixels and c < ins
                    number = seen(x, u32(x_start + c * rows * columns), i, j, i32(rows), i32(columns), valid, u16(0))
                    words[q // 2] = pair(number, u16(0)) if q % 2 == 0 else pair(words[q // 2], number)
                    c, ky, kx = next_place(c, ky, kx, tall, broad)
                store4(x_tile, (t, u32(4 * four)), (words[0], words[1], words[2], words[3]))
            cuda.syncthreads()
            product(w_tile, x_tile, warp, lane, sums)
            cuda.syncthreads()
        o = u32(first + lane // u32(4))
        channel = u32(group * outs_of_group + o)
        for e in range(4):
            p = u32(begin + warp * u32(32) + u32(8 * e) + lane % u32(4) * u32(2))
            place, following = place_of(p, outs, plane), place_of(u32(p + u32(1)), outs, plane)
            for r in range(4):
                for half in range(2):
                    row = u32(16 * r + 8 * half)
                    if p < pixels and o + row < outs_of_group:
                        constant, away = bias[channel + row], u32((channel + row) * plane)
                        s0, s1 = sums[r, e, 2 * half] + constant, sums[r, e, 2 * half + 1] + constant
                        if plane % u32(2) == u32(0):  # then both lie in one picture, at a multiple of two
                            store2(out, u32(place + away), (s0, s1))
                        else:
                            out[u32(place + away)] = s0
                            if p + u32(1) < pixels:
                                out[u32(following + away)] = s1

    return kernel


HALVES = f"void(uint16[::1], uint16[::1], float32[::1], float32[::1]{SIZES})"


@implementation(
    "conv2d_half",
    "gpu",
    adds="implicit GEMM on tensor cores: a warp multiplies 16 x 16 weights by 16 x 8 pixels in one instruction",
    limits="arrays of less than 2^30 elements and at most 65535 tiles of channels",
    dtypes=("float32",),
    capability=CAPABILITY,
    instead="Use conv2d on float32 arrays there: x.copy_to_host().astype(np.float32), then cuda.to_device.",
    kernels=[(tensor_kernel(kind), [HALVES]) for kind in KINDS],
    public=True,
)
@on_pictures
def conv2d_half_tensor_cores(x, weight, bias, g, out):
    if not fits(x, weight, g, out):
        raise ValueError(
            f"x has shape {tuple(x.shape)} and weight {tuple(weight.shape)}; expected arrays of less than 2^30 "
            "elements, with their padding, and at most 65535 tiles of 64 channels. Cut the batch or the groups up."
        )
    launch(tensor_kernel("f16" if x.dtype == np.float16 else "bf16"), x, weight, bias, g, out)
