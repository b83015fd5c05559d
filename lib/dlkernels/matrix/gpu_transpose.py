"""The transpose of a matrix on the GPU: out[j, i] = x[i, j], a contiguous copy.

The ladder of transpose                   what the rung adds
    transpose_naive        one thread for each number: a warp reads along a row, and writes down a column: 32 sectors
    transpose_tiled        a tile goes through shared memory: reads and writes both go along rows; the 32 numbers of a
                           column of the tile lie in one bank
    transpose_padded       a column more in shared memory: a column of the tile lies in 32 banks
    transpose_swizzled     no memory more: row r keeps its column c at place c xor r

The ladder is that of Ruetsch and Micikevicius, Optimizing Matrix Transpose in CUDA (2009). A block of TILE x ROWS
threads moves a tile of TILE x TILE numbers.
"""

import functools

import numpy as np

from ..device import cuda
from ..implementations import implementation
from ..layouts import ROWS, TILE, transpose, transpose_kernel

REALS = (np.float32, np.float64)


def kernels(made):
    """A rung's kernels with their signatures; made: (real) -> the kernel for it."""
    return [(made(real), [f"void({real.__name__}[:, :, ::1], {real.__name__}[:, :, ::1])"]) for real in REALS]


# ---- without shared memory ---------------------------------------------------------------------------------


@cuda.jit
def naive_kernel(source, target):
    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.z
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    for r in range(y, TILE, ROWS):
        if top + r < source.shape[1] and left + x < source.shape[2]:
            target[z, left + x, top + r] = source[z, top + r, left + x]


@implementation(
    "transpose",
    "gpu",
    adds="one thread for each number: reads are neighbours, each write is a row away from the next",
    kernels=kernels(lambda real: naive_kernel),
)
def transpose_naive(x, out):
    return transpose(naive_kernel, x, out)


# ---- tiles in shared memory --------------------------------------------------------------------------------


@functools.cache
def tiled_kernel(real):
    @cuda.jit
    def kernel(source, target):
        tile = cuda.shared.array((TILE, TILE), real)
        x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.z
        top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
        for r in range(y, TILE, ROWS):
            if top + r < source.shape[1] and left + x < source.shape[2]:
                tile[r, x] = source[z, top + r, left + x]
        cuda.syncthreads()
        for r in range(y, TILE, ROWS):
            if left + r < source.shape[2] and top + x < source.shape[1]:
                target[z, left + r, top + x] = tile[x, r]

    return kernel


@implementation(
    "transpose",
    "gpu",
    adds="through a tile in shared memory: reads and writes are neighbours, and columns of the tile meet in one bank",
    kernels=kernels(tiled_kernel),
)
def transpose_tiled(x, out):
    return transpose(tiled_kernel(x.dtype.type), x, out)


@implementation(
    "transpose",
    "gpu",
    adds="the tile has a column more: its columns lie in 32 banks",
    kernels=kernels(transpose_kernel),
)
def transpose_padded(x, out):
    return transpose(transpose_kernel(x.dtype.type), x, out)


@functools.cache
def swizzled_kernel(real):
    @cuda.jit
    def kernel(source, target):
        tile = cuda.shared.array((TILE, TILE), real)
        x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.z
        top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
        for r in range(y, TILE, ROWS):
            if top + r < source.shape[1] and left + x < source.shape[2]:
                tile[r, x ^ r] = source[z, top + r, left + x]
        cuda.syncthreads()
        for r in range(y, TILE, ROWS):
            if left + r < source.shape[2] and top + x < source.shape[1]:
                target[z, left + r, top + x] = tile[x, r ^ x]

    return kernel


@implementation(
    "transpose",
    "gpu",
    adds="row r of the tile keeps column c at place c xor r: no conflicts, and no memory more",
    kernels=kernels(swizzled_kernel),
    public=True,
)
def transpose_swizzled(x, out):
    return transpose(swizzled_kernel(x.dtype.type), x, out)
