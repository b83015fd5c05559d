"""A sparse matrix times a dense one, (K, N), on the GPU, in float32, and its gradients.

The ladder of spmm              what the rung adds
    spmm_threads       a thread for each element of the result: a warp reads 32 neighbours of a row of the dense matrix
    spmm_warps         32 entries are loaded by 32 lanes, side by side, and handed round by shuffles: each once for a
                       warp

The ladder of spmm_backward     what the rung adds
    spmm_backward_atomics   a warp for each entry: its gradient is a sum over lanes; the dense matrix's is added
                            atomically, as several entries have one column
"""

import functools

import numpy as np

from ..device import cuda
from ..implementations import implementation
from ..launches import device_array
from .gpu_spmv import ALL, WARP, signatures

f32, i64 = np.float32, np.int64
ROWS = 4  # warps of a block, each with a row of its own
MOST_IN_Y = 65535  # blocks in a grid's second dimension
SPMM = signatures("@, @, float32[::1], float32[:, ::1], float32[:, ::1]")


def grid_for(rows, columns):
    """A warp for 32 columns of a row, `ROWS` rows for a block; the grid walks over the rows if there are more."""
    return -(-columns // WARP), min(-(-rows // ROWS), MOST_IN_Y)


def on_matrices(rung):
    """Let `rung(crow_indices, col_indices, values, dense, out)` have a new result; without entries it is not called."""

    @functools.wraps(rung)
    def wrapper(crow_indices, col_indices, values, dense):
        shape = crow_indices.size - 1, dense.shape[1]
        if not (values.size and shape[1]):
            return cuda.to_device(np.zeros(shape, f32))
        out = device_array(shape, f32)
        rung(crow_indices, col_indices, values, dense, out)
        return out

    return wrapper


@cuda.jit
def threads_kernel(crow_indices, col_indices, values, dense, out):
    j, first = cuda.grid(2)
    if j < out.shape[1]:
        for i in range(first, out.shape[0], cuda.gridsize(2)[1]):
            total = f32(0)
            for k in range(crow_indices[i], crow_indices[i + 1]):
                total += values[k] * dense[col_indices[k], j]
            out[i, j] = total


@implementation(
    "spmm",
    "gpu",
    adds="a thread for each element of the result: a warp reads 32 neighbours of a row of the dense matrix",
    dtypes=("float32",),
    kernels=[(threads_kernel, SPMM)],
)
@on_matrices
def spmm_threads(crow_indices, col_indices, values, dense, out):
    threads_kernel[grid_for(*out.shape), (WARP, ROWS)](crow_indices, col_indices, values, dense, out)


@cuda.jit
def warps_kernel(crow_indices, col_indices, values, dense, out):
    lane = cuda.threadIdx.x
    j, first = cuda.grid(2)
    for i in range(first, out.shape[0], cuda.gridsize(2)[1]):
        total, end = f32(0), i64(crow_indices[i + 1])
        for start in range(i64(crow_indices[i]), end, WARP):
            value, column = f32(0), i64(0)
            if start + lane < end:
                value, column = values[start + lane], i64(col_indices[start + lane])
            for p in range(min(i64(WARP), end - start)):
                v, c = cuda.shfl_sync(ALL, value, p), cuda.shfl_sync(ALL, column, p)
                if j < out.shape[1]:
                    total += v * dense[c, j]
        if j < out.shape[1]:
            out[i, j] = total


@implementation(
    "spmm",
    "gpu",
    adds="32 entries are loaded by 32 lanes, side by side, and handed round by shuffles: each once for a warp",
    limits="one row that is long is one warp's work, for each 32 columns",
    dtypes=("float32",),
    kernels=[(warps_kernel, SPMM)],
    public=True,
)
@on_matrices
def spmm_warps(crow_indices, col_indices, values, dense, out):
    warps_kernel[grid_for(*out.shape), (WARP, ROWS)](crow_indices, col_indices, values, dense, out)


# ---- gradients -------------------------------------------------------------------------------------------------------


@cuda.jit(device=True)
def row_of(crow_indices, entry):
    """The row whose entries are around `entry`."""
    low, high = 0, crow_indices.size - 1
    while low < high:
        middle = (low + high) // 2
        if crow_indices[middle + 1] <= entry:
            low = middle + 1
        else:
            high = middle
    return low


@cuda.jit
def gradients_kernel(crow_indices, col_indices, grad, values, dense, of_values, of_dense):
    lane = cuda.threadIdx.x
    first = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    for k in range(first, values.size, cuda.gridDim.x * cuda.blockDim.y):
        i, column, value, total = row_of(crow_indices, k), col_indices[k], values[k], f32(0)
        for j in range(lane, dense.shape[1], WARP):
            arrived = grad[i, j]
            total += arrived * dense[column, j]
            cuda.atomic.add(of_dense, (column, j), value * arrived)
        for apart in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(ALL, total, apart)
        if lane == 0:
            of_values[k] = total


@implementation(
    "spmm_backward",
    "gpu",
    adds="a warp for each entry: its gradient is a sum over lanes, the dense matrix's is added atomically",
    limits="sums of the dense matrix's gradient are rounded in another order each time: results do not repeat",
    dtypes=("float32",),
    kernels=[
        (
            gradients_kernel,
            signatures("@, @, float32[:, ::1], float32[::1], float32[:, ::1], float32[::1], float32[:, ::1]"),
        )
    ],
    flushes=True,
    public=True,
)
def spmm_backward_atomics(crow_indices, col_indices, grad, values, dense):
    of_dense = cuda.to_device(np.zeros(tuple(dense.shape), f32))
    if not (values.size and dense.shape[1]):
        return cuda.to_device(np.zeros(values.size, f32)), of_dense
    of_values = device_array(values.size, f32)
    blocks = min(-(-values.size // ROWS), MOST_IN_Y)
    gradients_kernel[blocks, (WARP, ROWS)](crow_indices, col_indices, grad, values, dense, of_values, of_dense)
    return of_values, of_dense
