"""Matrix products on the GPU, continued: more than one matrix in a launch, and less than one sum in a block.

matmul_batched    the grid's third dimension counts the matrices of a stack
matmul_split_k    it also counts the parts of a long sum, where there are too few tiles to fill the GPU
"""

import math

from ..device import cuda
from ..implementations import implementation
from ..launches import device_array, launch
from ..layouts import MOST_IN_Z
from .gpu import BIG, DEPTH, LINES, THREADS, blocks_for, f32, line, shape, tiles, u32
from .gpu_wide import FOURS, in_fours, matmul_double_buffered, product_tile


@cuda.jit
def batched_kernel(a, b, out, m, n, k, a_step, b_step):
    z = u32(cuda.blockIdx.z)
    left, right = a[z * a_step :], b[z * b_step :]
    product_tile(left, right, out, z * m * n, m, n, k, u32(0), k)


def in_step(x, out):
    """Whether x has a matrix for each of the result, or a single one for all."""
    return x.ndim == 2 or shape(x)[:-2] == shape(out)[:-2]


def strides(a, b):
    """Elements from one matrix of a stack to the next: 0 where a single one is repeated."""
    return u32(0 if a.ndim == 2 else shape(a)[-2] * shape(a)[-1]), u32(
        0 if b.ndim == 2 else shape(b)[-2] * shape(b)[-1]
    )


@implementation(
    "matmul",
    "gpu",
    adds="a stack of matrices in one launch: the grid's third dimension counts them",
    limits=FOURS,
    dtypes=("float32",),
    kernels=[(batched_kernel, [LINES[0][:-1] + ", uint32, uint32)"])],
)
def matmul_batched(a, b, out):
    count = math.prod(shape(out)[:-2])
    simple = in_fours(a, b, out) and in_step(a, out) and in_step(b, out)
    if out.size == 0 or shape(a)[-1] == 0 or not simple or count > MOST_IN_Z:
        return matmul_double_buffered(a, b, out)
    m, n, k = u32(shape(out)[-2]), u32(shape(out)[-1]), u32(shape(a)[-1])
    grid = *tiles(out, BIG), count
    launch(batched_kernel, grid, THREADS, line(a), line(b), line(out), m, n, k, *strides(a, b))
    return out


ENOUGH_BLOCKS = 256  # about two for each multiprocessor of a large GPU
LEAST_DEPTH = 64  # terms below which a part of the sum is not worth a block of its own


@cuda.jit
def split_kernel(a, b, parts, m, n, k, a_step, b_step, splits, depth):
    z = u32(cuda.blockIdx.z)
    matrix, first = z // splits, z % splits * depth
    last = min(first + depth, k)
    left, right = a[matrix * a_step :], b[matrix * b_step :]
    product_tile(left, right, parts, z * m * n, m, n, k, first, last)


@cuda.jit
def sum_parts_kernel(parts, out, splits, size):
    """out = the sum of `splits` parts of each matrix, in a fixed order."""
    i = u32(cuda.blockIdx.x) * u32(cuda.blockDim.x) + u32(cuda.threadIdx.x)
    if i < u32(out.size):
        first = i // size * splits * size + i % size
        total = f32(0)
        for s in range(splits):
            total += parts[first + s * size]
        out[i] = total


def splits_for(blocks, k):
    """Into how many parts to cut k, given the number of tiles."""
    return max(1, min(ENOUGH_BLOCKS // blocks, k // LEAST_DEPTH))


@implementation(
    "matmul",
    "gpu",
    adds="too few tiles to fill the GPU: several blocks share a tile, each a part of the sum; a second kernel adds up",
    limits=FOURS,
    dtypes=("float32",),
    kernels=[
        (split_kernel, [LINES[0][:-1] + ", uint32, uint32, uint32, uint32)"]),
        (sum_parts_kernel, ["void(float32[::1], float32[::1], uint32, uint32)"]),
    ],
    public=True,
)
def matmul_split_k(a, b, out):
    count = math.prod(shape(out)[:-2])
    grid, k = tiles(out, BIG), shape(a)[-1]
    splits = splits_for(grid[0] * grid[1] * count, k) if out.size else 1
    if splits == 1 or not (in_fours(a, b, out) and in_step(a, out) and in_step(b, out)):
        return matmul_batched(a, b, out)
    depth = blocks_for(blocks_for(k, splits), DEPTH) * DEPTH
    splits = blocks_for(k, depth)
    m, n = shape(out)[-2:]
    parts, grid = device_array(count * splits * m * n, f32), (*grid, count * splits)
    sizes = u32(m), u32(n), u32(k), *strides(a, b), u32(splits), u32(depth)
    launch(split_kernel, grid, THREADS, line(a), line(b), parts, *sizes)
    launch(sum_parts_kernel, blocks_for(out.size, THREADS), THREADS, parts, line(out), u32(splits), u32(m * n))
    return out
