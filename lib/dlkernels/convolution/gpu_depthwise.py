"""Depthwise convolution on the GPU: one input channel for each result, so that nothing is shared among channels.

A pixel serves its neighbours only: for 3 x 3, nine times at most. A block keeps a square of pixels with its halo, and
the weights, in shared memory. A thread computes ROWS results below each other: their windows overlap, so that it reads
a column of ROWS + 2 pixels for 3 ROWS multiply-adds. What remains is the way from and to global memory, once for each
number.

The ladder of conv2d, continued      what the rung adds
    conv2d_depthwise_rows   four results below each other in a thread
"""

import functools

from .. import launches
from ..device import cuda
from ..implementations import implementation
from .gpu import conv2d_shared_halo, f32, grid_for, on_pictures
from .gpu_gemm import countable, i32, line, seen, u32

ROWS = 4  # results of a thread, below each other
SIDES = (32, 16, 8)  # of the squares; a block of 256 threads computes 1, 4 or 16 of them, each of another plane
LARGEST = 7  # kernels that are written out


def side_for(out):
    """The smallest square that holds a plane, or the largest."""
    return min((side for side in SIDES if side >= max(tuple(out.shape)[2:])), default=SIDES[0])


@functools.cache
def depthwise_kernel(tall, broad, stride, side):
    """The kernel for weights of that size: its loops over them are written out."""
    planes, strip, taps = (SIDES[0] // side) ** 2, (ROWS - 1) * stride + tall, tall * broad
    high_window, wide_window = ((side - 1) * stride + size for size in (tall, broad))
    pitch = wide_window  # for 16, the rows of a warp's threads are to lie 16 banks apart
    pitch += (4 - pitch) % 8 if side == 16 else 0

    @cuda.jit
    def kernel(x, weight, bias, out, count, outs, outs_of_group, rows, columns, high, wide, top, left):
        windows = cuda.shared.array((planes, high_window, pitch), f32)
        factors = cuda.shared.array((planes, taps), f32)
        sums, column = cuda.local.array(ROWS, f32), cuda.local.array(strip, f32)
        tx, ty, tz = u32(cuda.threadIdx.x), u32(cuda.threadIdx.y), u32(cuda.threadIdx.z)
        left_z, top_y = u32(u32(cuda.blockIdx.x) * u32(side)), u32(u32(cuda.blockIdx.y) * u32(side))
        first_i, first_j = i32(i32(top_y * u32(stride)) - i32(top)), i32(i32(left_z * u32(stride)) - i32(left))
        z, y = u32(left_z + tx), u32(top_y + ty * u32(ROWS))
        begin, step = u32(u32(cuda.blockIdx.z) * u32(planes)), u32(u32(cuda.gridDim.z) * u32(planes))
        for first in range(begin, u32(count * outs), step):
            plane = u32(first + tz)
            valid, o = plane < count * outs, u32(plane % outs)
            x_start = u32(plane // outs * (outs // outs_of_group) + o // outs_of_group) * u32(rows * columns)
            for r in range(ty, u32(high_window), u32(side // ROWS)):
                i = i32(first_i + i32(r))
                for q in range(tx, u32(wide_window), u32(side)):
                    j = i32(first_j + i32(q))
                    windows[tz, r, q] = seen(x, u32(x_start), i, j, i32(rows), i32(columns), valid, f32(0))
            for q in range(u32(ty * u32(side) + tx), u32(taps), u32(side * side // ROWS)):
                factors[tz, q] = weight[u32(o * u32(taps) + q)] if valid else f32(0)
            cuda.syncthreads()  # windows and weights are complete
            for r in range(ROWS):
                sums[r] = f32(0)
            for kx in range(broad):
                for r in range(strip):
                    row = ty * u32(ROWS * stride) + u32(r)
                    column[r] = windows[tz, row, tx * u32(stride) + u32(kx)]
                for ky in range(tall):
                    factor = factors[tz, u32(ky * broad + kx)]
                    for r in range(ROWS):
                        sums[r] += factor * column[r * stride + ky]
            if valid and z < wide:
                constant = bias[o]
                for r in range(ROWS):
                    if y + u32(r) < high:
                        out[u32((plane * high + y + u32(r)) * wide + z)] = sums[r] + constant
            cuda.syncthreads()  # before the next planes take their place

    return kernel


DEPTHWISE = f"void(float32[::1], float32[::1], float32[::1], float32[::1]{', uint32' * 9})"
USUAL = (3, 3, 1, 32), (3, 3, 2, 16), (7, 7, 1, 8)  # of the nets that made depthwise layers known


def fits(x, weight, g, out):
    """Whether there is a kernel for such weights and such a geometry."""
    near = (g.dilation_y, g.dilation_x) == (1, 1) and g.stride_y == g.stride_x <= 2
    small = countable(x, weight, g, out) and max(g.kernel_y, g.kernel_x) <= LARGEST
    return weight.shape[1] == 1 and near and small


@implementation(
    "conv2d",
    "gpu",
    adds=f"depthwise: {ROWS} results below each other in a thread; their windows overlap, and a column of pixels "
    "serves all",
    limits="groups of several input channels, dilation, strides that differ or exceed 2, kernels larger than "
    f"{LARGEST} and arrays of 2^30 elements go the way of conv2d_shared_halo; compiled again for each size of kernel",
    dtypes=("float32",),
    kernels=[(depthwise_kernel(*usual), [DEPTHWISE]) for usual in USUAL],
)
@on_pictures
def conv2d_depthwise_rows(x, weight, bias, g, out):
    if fits(x, weight, g, out):
        launch(x, weight, bias, g, out)
    else:
        conv2d_shared_halo.__wrapped__(x, weight, bias, g, out)


def launch(x, weight, bias, g, out):
    side = side_for(out)
    count, outs, high, wide = tuple(out.shape)
    planes = (SIDES[0] // side) ** 2
    grid = grid_for(-(-count * outs // planes), high, wide, side)
    kernel = depthwise_kernel(g.kernel_y, g.kernel_x, g.stride_y, side)
    arrays = line(x), line(weight), bias, line(out)
    launches.launch(kernel, grid, (side, side // ROWS, planes), *arrays, *sizes(x, g, out))


def sizes(x, g, out):
    """What the kernel has to know, as unsigned numbers."""
    (count, outs, high, wide), (rows, columns) = tuple(out.shape), tuple(x.shape)[2:]
    return [u32(size) for size in (count, outs, outs // g.groups, rows, columns, high, wide, g.top, g.left)]
