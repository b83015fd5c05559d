"""A block-sparse matrix times a dense one, on the GPU, in float32.

The ladder of bsr_mm            what the rung adds
    bsr_mm_threads     a thread for each element of the result: entries and dense rows from global memory
    bsr_mm_tiles       a block of threads for each block row and 32 columns: a block's entries, and the rows of the
                       dense matrix that it meets, are loaded once, into shared memory

What blocks are for: their rows use one row of the dense matrix, which then comes once for all of them.
"""

import functools

import numpy as np

from ..device import cuda
from ..implementations import implementation
from ..launches import device_array
from .gpu_spmv import WARP, signatures

f32 = np.float32
EDGE = 32  # the most rows and columns of a block
MOST_IN_Y = 65535
ROWS = 4
BSR = signatures("@, @, float32[:, :, ::1], float32[:, ::1], float32[:, ::1]")


def on_blocks(rung):
    """Let `rung(crow_indices, col_indices, values, dense, out)` have a new result; without blocks it is not called."""

    @functools.wraps(rung)
    def wrapper(crow_indices, col_indices, values, dense):
        shape = (crow_indices.size - 1) * values.shape[1], dense.shape[1]
        if not (values.size and shape[1]):
            return cuda.to_device(np.zeros(shape, f32))
        out = device_array(shape, f32)
        rung(crow_indices, col_indices, values, dense, out)
        return out

    return wrapper


@cuda.jit
def threads_kernel(crow_indices, col_indices, values, dense, out):
    height, across = values.shape[1], values.shape[2]
    j, first = cuda.grid(2)
    if j < out.shape[1]:
        for i in range(first, out.shape[0], cuda.gridsize(2)[1]):
            total, row, r = f32(0), i // height, i % height
            for k in range(crow_indices[row], crow_indices[row + 1]):
                top = col_indices[k] * across
                for p in range(across):
                    total += values[k, r, p] * dense[top + p, j]
            out[i, j] = total


@implementation(
    "bsr_mm",
    "gpu",
    adds="a thread for each element of the result",
    dtypes=("float32",),
    kernels=[(threads_kernel, BSR)],
)
@on_blocks
def bsr_mm_threads(crow_indices, col_indices, values, dense, out):
    grid = -(-out.shape[1] // WARP), min(-(-out.shape[0] // ROWS), MOST_IN_Y)
    threads_kernel[grid, (WARP, ROWS)](crow_indices, col_indices, values, dense, out)


@cuda.jit
def tiles_kernel(crow_indices, col_indices, values, dense, out):
    """A block has 32 threads in x, for columns, and a row of the block for each in y."""
    block = cuda.shared.array((EDGE, EDGE), f32)
    rows = cuda.shared.array((EDGE, WARP), f32)
    height, across = cuda.blockDim.y, values.shape[2]
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j = cuda.blockIdx.x * WARP + x
    for row in range(cuda.blockIdx.y, crow_indices.size - 1, cuda.gridDim.y):
        total = f32(0)
        for k in range(crow_indices[row], crow_indices[row + 1]):
            top = col_indices[k] * across
            if x < across:
                block[y, x] = values[k, y, x]
            for p in range(y, across, height):
                rows[p, x] = dense[top + p, j] if j < out.shape[1] else f32(0)
            cuda.syncthreads()
            for p in range(across):
                total += block[y, p] * rows[p, x]
            cuda.syncthreads()
        if j < out.shape[1]:
            out[row * height + y, j] = total


@implementation(
    "bsr_mm",
    "gpu",
    adds="a block of threads for each block row: entries and dense rows come once, into shared memory",
    limits="one block row that is long is one block's work, for each 32 columns",
    dtypes=("float32",),
    kernels=[(tiles_kernel, BSR)],
    public=True,
)
@on_blocks
def bsr_mm_tiles(crow_indices, col_indices, values, dense, out):
    grid = -(-out.shape[1] // WARP), min(crow_indices.size - 1, MOST_IN_Y)
    tiles_kernel[grid, (WARP, values.shape[1])](crow_indices, col_indices, values, dense, out)
