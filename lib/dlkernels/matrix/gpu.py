"""Matrix product on the GPU, in float32.

The ladder of matmul                       what the rung adds
    matmul_naive            one thread per element; a warp walks down a column of the result
    matmul_coalesced        a warp walks along a row: its 32 loads of b and its 32 stores are neighbours
    matmul_shared_tile      a block loads 16 x 16 tiles into shared memory once, and its 256 threads share them
    matmul_tile_1d          each thread computes 8 elements of a column: a loaded element of b serves 8 times
    matmul_tile_2d          8 x 8 elements in registers: 64 multiply-adds for 16 loads from shared memory
in gpu_wide.py
    matmul_wide             16 bytes per load; the tile of a is stored turned over, so that shared loads are wide too
    matmul_unrolled         the loop over a tile written out: no counting between multiply-adds
    matmul_double_buffered  the next tile is on its way while this one is used; one barrier per tile, not two
in gpu_stacks.py
    matmul_batched          a stack of matrices in one launch
    matmul_split_k          a long inner dimension is cut up when there are too few tiles to fill the GPU

Index arithmetic is unsigned from the first register tile on: an index that might be negative costs a comparison and a
selection (numba gives it Python's meaning): a fifth of the main loop, and registers.
"""

import functools
import math

import numpy as np

from .. import launches
from ..device import cuda
from ..implementations import implementation
from ..launches import line

f32, u32 = np.float32, np.uint32
MATRICES = ["void(float32[:, ::1], float32[:, ::1], float32[:, ::1])"]
LINES = ["void(float32[::1], float32[::1], float32[::1], uint32, uint32, uint32)"]
INDEXED = "matrices of less than 2^32 elements"
SLOW = 1 << 15  # elements of the result: beyond, nobody would wait for these rungs on a GPU


def one_by_one(rung):
    """Let `rung`, written for two matrices, take stacks of them: one launch after the other. No matrix is empty."""

    @functools.wraps(rung)
    def on_stacks(a, b, out):
        if 0 in out.shape or shape(a)[-1] == 0:
            return zeros_like(out)
        for x, y, z in zip(stack(a, out), stack(b, out), stack(out, out), strict=True):
            rung(x, y, z)
        return out

    return on_stacks


def stack(x, out):
    """The matrices of x, one for each of the result: repeated where leading dimensions are missing or 1."""
    count = math.prod(shape(out)[:-2])
    if x.ndim == 2:
        return [x] * count
    *leading, rows, columns = shape(x)
    numbers = np.arange(np.prod(leading)).reshape(leading)
    matrices = x.reshape(numbers.size, rows, columns)
    return [matrices[int(number)] for number in np.broadcast_to(numbers, out.shape[:-2]).flat]


def shape(x):
    """The shape as a plain tuple: that of a device array in numba's simulator cannot be read from its end."""
    return tuple(x.shape)


def zeros_like(out):
    out.copy_to_device(np.zeros(out.shape, out.dtype))
    return out


def blocks_for(n, size):
    return -(-n // size)


def tiles(out, edge):
    """The grid (across, down) that covers each matrix of out with edge x edge tiles."""
    return blocks_for(shape(out)[-1], edge), blocks_for(shape(out)[-2], edge)


def launch(kernel, a, b, out, edge, threads):
    """Run a kernel that takes lines of memory and m, n, k: one block for each edge x edge tile of the result."""
    m, n, k = u32(out.shape[0]), u32(out.shape[1]), u32(a.shape[1])
    launches.launch(kernel, tiles(out, edge), threads, line(a), line(b), line(out), m, n, k)


# ---- one thread per element --------------------------------------------------------------------------------

SIDE = 16


@cuda.jit
def naive_kernel(a, b, out):
    i, j = cuda.grid(2)  # x, the direction in which a warp lies, runs down the rows
    if i < out.shape[0] and j < out.shape[1]:
        total = f32(0)
        for p in range(a.shape[1]):
            total += a[i, p] * b[p, j]
        out[i, j] = total


@implementation(
    "matmul",
    "gpu",
    adds="one thread per element",
    dtypes=("float32",),
    largest=SLOW,
    kernels=[(naive_kernel, MATRICES)],
)
@one_by_one
def matmul_naive(a, b, out):
    across, down = tiles(out, SIDE)
    naive_kernel[(down, across), (SIDE, SIDE)](a, b, out)


@cuda.jit
def coalesced_kernel(a, b, out):
    j, i = cuda.grid(2)  # x runs along a row
    if i < out.shape[0] and j < out.shape[1]:
        total = f32(0)
        for p in range(a.shape[1]):
            total += a[i, p] * b[p, j]
        out[i, j] = total


@implementation(
    "matmul",
    "gpu",
    adds="a warp walks along a row of the result: neighbouring threads read neighbours",
    dtypes=("float32",),
    largest=SLOW,
    kernels=[(coalesced_kernel, MATRICES)],
)
@one_by_one
def matmul_coalesced(a, b, out):
    coalesced_kernel[tiles(out, SIDE), (SIDE, SIDE)](a, b, out)


# ---- tiles in shared memory --------------------------------------------------------------------------------


@cuda.jit
def shared_tile_kernel(a, b, out):
    a_tile = cuda.shared.array((SIDE, SIDE), f32)
    b_tile = cuda.shared.array((SIDE, SIDE), f32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    (m, n), k = out.shape, a.shape[1]
    total = f32(0)
    for start in range(0, k, SIDE):
        a_tile[y, x] = a[i, start + x] if i < m and start + x < k else f32(0)
        b_tile[y, x] = b[start + y, j] if start + y < k and j < n else f32(0)
        cuda.syncthreads()  # the tiles are complete
        for p in range(SIDE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()  # nobody reads them any more
    if i < m and j < n:
        out[i, j] = total


@implementation(
    "matmul",
    "gpu",
    adds="a block loads each tile once into shared memory: 16 times fewer loads from global memory",
    dtypes=("float32",),
    kernels=[(shared_tile_kernel, MATRICES)],
)
@one_by_one
def matmul_shared_tile(a, b, out):
    shared_tile_kernel[tiles(out, SIDE), (SIDE, SIDE)](a, b, out)


# ---- tiles in registers ------------------------------------------------------------------------------------

EDGE, DEPTH, PER_THREAD = 64, 8, 8  # a block's tile of the result is EDGE x EDGE, its threads EDGE * EDGE / 8


@cuda.jit
def tile_1d_kernel(a, b, out, m, n, k):
    a_tile = cuda.shared.array((EDGE, DEPTH), f32)
    b_tile = cuda.shared.array((DEPTH, EDGE), f32)
    sums = cuda.local.array(PER_THREAD, f32)
    t = u32(cuda.threadIdx.x)
    top, left = u32(cuda.blockIdx.y) * u32(EDGE), u32(cuda.blockIdx.x) * u32(EDGE)
    row, column = t // u32(EDGE) * u32(PER_THREAD), t % u32(EDGE)  # of this thread's elements in the tile
    a_row, a_column = t // u32(DEPTH), t % u32(DEPTH)  # of the element of a that this thread loads
    b_row, b_column = t // u32(EDGE), t % u32(EDGE)
    for r in range(PER_THREAD):
        sums[r] = f32(0)
    for start in range(u32(0), k, u32(DEPTH)):
        i, p = top + a_row, start + a_column
        a_tile[a_row, a_column] = a[i * k + p] if i < m and p < k else f32(0)
        p, j = start + b_row, left + b_column
        b_tile[b_row, b_column] = b[p * n + j] if p < k and j < n else f32(0)
        cuda.syncthreads()
        for q in range(u32(DEPTH)):
            factor = b_tile[q, column]
            for r in range(PER_THREAD):
                sums[r] += a_tile[row + u32(r), q] * factor
        cuda.syncthreads()
    for r in range(PER_THREAD):
        i, j = top + row + u32(r), left + column
        if i < m and j < n:
            out[i * n + j] = sums[r]


@implementation(
    "matmul",
    "gpu",
    adds="8 elements of a column per thread: 9 loads from shared memory for 8 multiply-adds, not 16",
    limits=INDEXED,
    dtypes=("float32",),
    kernels=[(tile_1d_kernel, LINES)],
)
@one_by_one
def matmul_tile_1d(a, b, out):
    launch(tile_1d_kernel, a, b, out, EDGE, EDGE * EDGE // PER_THREAD)


BIG = 128  # a block's tile of the result is BIG x BIG, computed by 16 x 16 threads of 8 x 8 elements each
THREADS = 256


@cuda.jit
def tile_2d_kernel(a, b, out, m, n, k):
    a_tile = cuda.shared.array((BIG, DEPTH), f32)
    b_tile = cuda.shared.array((DEPTH, BIG), f32)
    sums = cuda.local.array((8, 8), f32)
    left_factors, right_factors = cuda.local.array(8, f32), cuda.local.array(8, f32)
    t = u32(cuda.threadIdx.x)
    top, left = u32(cuda.blockIdx.y) * u32(BIG), u32(cuda.blockIdx.x) * u32(BIG)
    row, column = t // u32(16) * u32(8), t % u32(16) * u32(8)
    clear(sums)
    for start in range(u32(0), k, u32(DEPTH)):
        for part in range(4):  # 1024 elements of each tile, 256 threads
            e = t + u32(part * THREADS)
            i, p = top + e // u32(DEPTH), start + e % u32(DEPTH)
            inside = i < m and p < k
            a_tile[e // u32(DEPTH), e % u32(DEPTH)] = a[i * k + p] if inside else f32(0)
            p, j = start + e // u32(BIG), left + e % u32(BIG)
            inside = p < k and j < n
            b_tile[e // u32(BIG), e % u32(BIG)] = b[p * n + j] if inside else f32(0)
        cuda.syncthreads()
        for q in range(u32(DEPTH)):
            for r in range(8):
                left_factors[r] = a_tile[row + u32(r), q]
                right_factors[r] = b_tile[q, column + u32(r)]
            for r in range(8):
                for c in range(8):
                    sums[r, c] += left_factors[r] * right_factors[c]
        cuda.syncthreads()
    for r in range(8):
        for c in range(8):
            i, j = top + row + u32(r), left + column + u32(c)
            if i < m and j < n:
                out[i * n + j] = sums[r, c]


@cuda.jit(device=True)
def clear(sums):
    for r in range(8):
        for c in range(8):
            sums[r, c] = f32(0)


@implementation(
    "matmul",
    "gpu",
    adds="8 x 8 elements per thread: 16 loads from shared memory for 64 multiply-adds",
    limits=INDEXED,
    dtypes=("float32",),
    kernels=[(tile_2d_kernel, LINES)],
)
@one_by_one
def matmul_tile_2d(a, b, out):
    launch(tile_2d_kernel, a, b, out, BIG, THREADS)
