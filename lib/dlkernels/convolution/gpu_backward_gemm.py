"""Gradients of convolution on the GPU as products of matrices of which one is never stored: implicit GEMM.

    of_x[c, p] = sum over k of weight[k, c] * grad[k, p]         k = (o, ky, kx), p a pixel of the pictures

A block computes EDGE channels of ACROSS pixels with the tiles of gpu_gemm.py, and a thread loads one pixel's column.

With a stride of s, pixel i meets a place ky of the kernel only where s divides i + top - ky dilation. If all pixels
looked for all places, all but one of s * s multiply-adds would have a factor of zero. So pixels are sorted by their
remainders: those of one phase meet the same places, and among themselves they are a convolution of stride 1, without
such zeros. The grid's third dimension counts phases. What it costs: the pixels of a phase are stored s apart, and with
few pixels a phase does not fill its blocks. Only at the rim a zero stands for what is outside: where a weight is
infinite or NaN, the gradient there may be NaN or not.

The ladder of conv2d_backward, continued   what the rung adds
    conv2d_backward_implicit_gemm          this, the weights as gpu_backward_weights.py says, the bias as a sum
"""

import math

from ..device import cuda
from ..implementations import implementation
from ..launches import device_array, launch
from ..layouts import MOST_IN_Y, MOST_IN_Z
from ..matrix.gpu import clear
from ..reduce.gpu_sum import sum_columns
from . import gpu_backward, gpu_gemm
from .gpu import f32, with_batch
from .gpu_backward_weights import KERNELS, LINES, digits, further, gradient_of_weight, store_tile
from .gpu_choose import FEWEST
from .gpu_gemm import (
    ACROSS,
    DEPTH,
    EDGE,
    PITCH,
    SIZES,
    THREADS,
    i32,
    line,
    next_place,
    seen,
    step,
    tiles_of,
    u32,
    window_of,
)


@cuda.jit(device=True)
def phase_of(first, pixels, taps, stride, before, dilation, apart):
    """Along one axis, of pixels first, first + stride, ...: (how many, padding before their results, first place, how
    many places).

    apart: from a place of the kernel that they meet to the next one, stride / gcd(stride, dilation).
    """
    count = u32(u32(pixels - first + stride - u32(1)) // stride) if first < min(stride, pixels) else u32(0)
    tap, rest = taps, u32(u32(first + before) % stride)
    for k in range(min(taps, apart)):  # of these, each leaves another remainder
        if u32(u32(u32(k) * dilation) % stride) == rest:
            tap = u32(k)
    if tap == taps:  # no place of the kernel meets them
        return count, i32(0), u32(0), u32(0)
    padding = i32(i32(u32(tap * dilation) // stride) - i32(u32(first + before) // stride))
    return count, padding, tap, u32(u32(taps - tap + apart - u32(1)) // apart)


@cuda.jit
def input_gemm_kernel(
    grad, weight, of_x, count, high, wide, rows, columns,
    groups, outs_of_group, ins, tall, broad,
    stride_y, stride_x, top, left, dilation_y, dilation_x, outs,
    apart_y, apart_x, rate_y, rate_x,
):  # fmt: skip
    """rate: by how much results lie apart that a pixel meets, dilation / gcd(stride, dilation)."""
    w_tile = cuda.shared.array((DEPTH, PITCH), f32)
    g_tile = cuda.shared.array((DEPTH, ACROSS), f32)
    sums, places = cuda.local.array((8, 8), f32), cuda.local.array(8, u32)
    t, phase = u32(cuda.threadIdx.x), u32(cuda.blockIdx.z)
    i, j = u32(phase // min(stride_x, columns)), u32(phase % min(stride_x, columns))
    down, top_y, ky, taps_y = phase_of(i, rows, tall, stride_y, top, dilation_y, apart_y)
    across, left_z, kx, taps_x = phase_of(j, columns, broad, stride_x, left, dilation_x, apart_x)
    tiles = u32((ins + u32(EDGE - 1)) // u32(EDGE))
    group, first = u32(u32(cuda.blockIdx.y) // tiles), u32(u32(cuda.blockIdx.y) % tiles * u32(EDGE))
    plane, begin = u32(down * across), u32(u32(cuda.blockIdx.x) * u32(ACROSS))
    pixels = u32(count * plane)
    down, across, one = max(down, u32(1)), max(across, u32(1)), u32(1)
    n, first_y, first_z = window_of(u32(begin + t), down, across, one, one, top_y, left_z)
    grad_start = u32((n * groups + group) * outs_of_group * high * wide)
    terms = u32(outs_of_group * taps_y * taps_x) if begin < pixels else u32(0)
    many_y, many_x = max(taps_y, one), max(taps_x, one)
    o, a, b = u32(0), u32(0), u32(0)  # of the result that this thread loads next: channel, and place in the phase
    w_o, w_a, w_b = digits(u32(t % u32(DEPTH)), many_y, many_x)  # of the weights that it loads next
    on_o, on_a, on_b = digits(u32(DEPTH), many_y, many_x)
    clear(sums)
    for start in range(u32(0), terms, u32(DEPTH)):
        # in memory the weights of an o are one line, of all places of all c: a warp reads 8 terms of 4 neighbours
        tap = u32((ky + w_a * apart_y) * broad + kx + w_b * apart_x)
        row = u32((group * outs_of_group + w_o) * ins + first)
        for part in range(EDGE * DEPTH // THREADS):
            c = u32(t // u32(DEPTH) + u32(part * THREADS // DEPTH))
            inside = first + c < ins and start + t % u32(DEPTH) < terms
            place = u32((row + c) * tall * broad + tap)
            w_tile[t % u32(DEPTH), c] = weight[place] if inside else f32(0)
        w_o, w_a, w_b = further(w_o, w_a, w_b, on_o, on_a, on_b, many_y, many_x)
        for k in range(DEPTH):
            y, z = i32(first_y - i32(a * rate_y)), i32(first_z - i32(b * rate_x))
            valid = begin + t < pixels and o < outs_of_group
            g_tile[k, t] = seen(grad, u32(grad_start + o * high * wide), y, z, i32(high), i32(wide), valid, f32(0))
            o, a, b = next_place(o, a, b, many_y, many_x)
        cuda.syncthreads()
        for q in range(u32(DEPTH)):
            step(w_tile, g_tile, q, u32(t // u32(16) * u32(8)), u32(t % u32(16) * u32(4)), sums)
        cuda.syncthreads()
    c, p = u32(first + t // u32(16) * u32(8)), u32(begin + t % u32(16) * u32(4))
    for q in range(8):
        n, u, v = digits(u32(p + u32(q // 4 * 64 + q % 4)), down, across)
        places[q] = (
            u32((n * groups + group) * ins + c) * rows * columns + (i + u * stride_y) * columns + j + v * stride_x
        )
    fours = stride_y * stride_x == u32(1) and plane % u32(4) == u32(0)
    left_over = u32(ins - c) if c < ins else u32(0)
    store_tile(sums, of_x, places, u32(rows * columns), left_over, p, pixels, fours)


def input_grid(g, of_x):
    """Blocks along pixels of a phase, tiles of channels, phases."""
    count, channels, rows, columns = tuple(of_x.shape)
    pixels, phases = (
        count * -(-rows // g.stride_y) * -(-columns // g.stride_x),
        min(rows, g.stride_y) * min(columns, g.stride_x),
    )
    return -(-pixels // ACROSS), g.groups * tiles_of(channels // g.groups), phases


def gradient_of_x(grad, x, weight, g):
    of_x = device_array(tuple(x.shape), f32)
    into, grid = with_batch(of_x), input_grid(g, with_batch(of_x))
    if weight.shape[1] < FEWEST or grid[1] > MOST_IN_Y or grid[2] > MOST_IN_Z:
        gpu_backward.input_gradient(grad, weight, g, into)
    else:
        shared = math.gcd(g.stride_y, g.dilation_y), math.gcd(g.stride_x, g.dilation_x)
        apart = g.stride_y // shared[0], g.stride_x // shared[1]
        rate = g.dilation_y // shared[0], g.dilation_x // shared[1]
        more = (u32(number) for number in (*apart, *rate))
        known = gpu_gemm.sizes(into, weight, g, grad)
        launch(input_gemm_kernel, grid, THREADS, line(grad), line(weight), line(of_x), *known, *more)
    return of_x


@implementation(
    "conv2d_backward",
    "gpu",
    adds=f"implicit GEMM: tiles of {EDGE} by {ACROSS} in registers; many blocks share the sum of a weight's gradient",
    limits=f"less than {FEWEST} input channels in a group, arrays of 2^30 elements and more, and more than 65535 tiles "
    "or phases go the way of conv2d_backward_one_per_element; small groups have a block for each weight",
    dtypes=("float32",),
    kernels=[(input_gemm_kernel, [f"void({LINES}{SIZES}{', uint32' * 4})"]), *KERNELS],  # and those of sum_columns
    public=True,
)
def conv2d_backward_implicit_gemm(bias, g, grad, x, weight):
    arrived, pictures = with_batch(grad), with_batch(x)
    if not (grad.size and weight.size and gpu_gemm.countable(pictures, weight, g, arrived)):
        return gpu_backward.conv2d_backward_one_per_element(bias, g, grad, x, weight)
    of_x = gradient_of_x(arrived, x, weight, g)
    of_weight = gradient_of_weight(arrived, pictures, weight, g)
    if bias is None:
        return of_x, of_weight
    return of_x, of_weight, sum_columns((0, 2, 3), (weight.shape[0],), arrived)
