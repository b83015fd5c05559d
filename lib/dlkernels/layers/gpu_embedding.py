"""Embedding on the GPU, in float32, forward and backward.

The ladder of embedding            what the rung adds
    embedding_threads      a thread for each number: a warp copies 32 neighbours of a row
    embedding_wide         16 bytes per load and store

The ladder of embedding_backward   what the rung adds
    embedding_backward_atomics_gpu     a thread for each number that arrives adds it to its row, atomically
    embedding_backward_sorted_gpu      indices are sorted, so that a row's gradients follow each other: a thread for
                                       each number of the table adds up its own, and writes it once

What is sorted are keys, index times positions + position: no two are equal, so any way of sorting comes to one order,
in which equal indices stay in theirs. The network is Batcher's bitonic one (Sorting networks and their applications,
1968): what is compared does not depend on the keys. Blocks sort KEYS keys in shared memory; for more, keys that are
farther apart are compared in global memory. The sums come in the order of the CPU's last rung: the same bits.
"""

import functools

import numpy as np

from ..device import cuda
from ..implementations import implementation
from ..layouts import aligned
from ..wide import WIDTH, load4, store4

f32, i64 = np.float32, np.int64
COLUMNS, ROWS = 32, 8  # threads of a block
MOST_IN_Y = 65535  # blocks in a grid's second dimension
LINE, WHOLE, MATRIX = "float32[::1]", "int64[::1]", "float32[:, ::1]"
KEYS = 1024  # that a block sorts in shared memory, with half as many threads
LAST = (1 << 63) - 1  # a key behind all others


def grid_for(rows, columns):
    """A thread for each number, in blocks of 8 rows; the grid walks over the rows if there are more."""
    return -(-columns // COLUMNS), min(-(-rows // ROWS), MOST_IN_Y)


def on_rows(rung):
    """Let `rung(indices, weight, out)` take indices of any shape."""

    @functools.wraps(rung)
    def wrapper(input, weight):
        width = weight.shape[1]
        out = cuda.device_array((*input.shape, width), f32)
        if out.size:
            rung(input.reshape(input.size), weight, out.reshape(input.size, width))
        return out

    return wrapper


@cuda.jit
def threads_kernel(indices, weight, out):
    j, first = cuda.grid(2)
    if j < out.shape[1]:
        for i in range(first, out.shape[0], cuda.gridsize(2)[1]):
            out[i, j] = weight[indices[i], j]


GATHER = f"void({WHOLE}, {MATRIX}, {MATRIX})"


def by_threads(indices, weight, out):
    threads_kernel[grid_for(*out.shape), (COLUMNS, ROWS)](indices, weight, out)


@implementation(
    "embedding",
    "gpu",
    adds="a thread for each number: a warp copies 32 neighbours of a row",
    dtypes=("float32",),
    kernels=[(threads_kernel, [GATHER])],
)
@on_rows
def embedding_threads(indices, weight, out):
    by_threads(indices, weight, out)


@cuda.jit
def wide_kernel(indices, weight, out):
    four, first = cuda.grid(2)
    j = WIDTH * four
    if j < out.shape[1]:
        for i in range(first, out.shape[0], cuda.gridsize(2)[1]):
            store4(out, (i, j), load4(weight, (indices[i], j)))


@implementation(
    "embedding",
    "gpu",
    adds="16 bytes per load and store",
    limits="widths that are no multiple of 4, and slices that begin at none of 16 bytes, take the kernel of "
    "embedding_threads",
    dtypes=("float32",),
    kernels=[(wide_kernel, [GATHER]), (threads_kernel, [GATHER])],
    public=True,
)
@on_rows
def embedding_wide(indices, weight, out):
    if out.shape[1] % WIDTH or not aligned(weight, out):
        return by_threads(indices, weight, out)
    wide_kernel[grid_for(out.shape[0], out.shape[1] // WIDTH), (COLUMNS, ROWS)](indices, weight, out)


# ---- gradients -------------------------------------------------------------------------------------------------------


def on_gradients(rung):
    """Let `rung(indices, padding, grad, rows) -> the table's gradient` take indices of any shape. padding: -1 for
    none."""

    @functools.wraps(rung)
    def wrapper(padding, input, grad, weight):
        if not (input.size and weight.size):
            return cuda.to_device(np.zeros(tuple(weight.shape), f32))
        rows, width = weight.shape
        return rung(input.reshape(input.size), padding, grad.reshape(input.size, width), rows)

    return wrapper


@cuda.jit
def atomics_kernel(indices, padding, grad, out):
    j, first = cuda.grid(2)
    if j < grad.shape[1]:
        for i in range(first, grad.shape[0], cuda.gridsize(2)[1]):
            if indices[i] != padding:
                cuda.atomic.add(out, (indices[i], j), grad[i, j])


@implementation(
    "embedding_backward",
    "gpu",
    adds="a thread for each number that arrives adds it to its row, atomically",
    limits="sums are rounded in another order each time: results do not repeat",
    dtypes=("float32",),
    kernels=[(atomics_kernel, [f"void({WHOLE}, int64, {MATRIX}, {MATRIX})"])],
    flushes=True,
)
@on_gradients
def embedding_backward_atomics_gpu(indices, padding, grad, rows):
    out = cuda.to_device(np.zeros((rows, grad.shape[1]), f32))
    atomics_kernel[grid_for(*grad.shape), (COLUMNS, ROWS)](indices, padding, grad, out)
    return out


@cuda.jit
def keys_kernel(indices, keys):
    i = cuda.grid(1)
    if i < keys.size:
        keys[i] = indices[i] * indices.size + i if i < indices.size else i64(LAST)


@cuda.jit
def sort_in_blocks_kernel(keys, first, last):
    """Runs of `first` / 2 keys are merged to runs of `last` in shared memory, in each block as far as its own keys
    go."""
    tile = cuda.shared.array(KEYS, i64)
    t, count = cuda.threadIdx.x, 2 * cuda.blockDim.x
    start = cuda.blockIdx.x * count
    tile[t], tile[t + cuda.blockDim.x] = keys[start + t], keys[start + t + cuda.blockDim.x]
    cuda.syncthreads()
    size = first
    while size <= last:
        apart = min(size, count) // 2
        while apart > 0:
            low = 2 * t - t % apart
            left, right = tile[low], tile[low + apart]
            rising = (start + low) & size == 0
            if (left > right) == rising:
                tile[low], tile[low + apart] = right, left
            cuda.syncthreads()
            apart //= 2
        size *= 2
    keys[start + t], keys[start + t + cuda.blockDim.x] = tile[t], tile[t + cuda.blockDim.x]


@cuda.jit
def sort_step_kernel(keys, size, apart):
    """Keys that lie `apart` are compared: a step of a merge to runs of `size`."""
    t = cuda.grid(1)
    if 2 * t < keys.size:
        low = 2 * t - t % apart
        left, right = keys[low], keys[low + apart]
        if (left > right) == (low & size == 0):
            keys[low], keys[low + apart] = right, left


def sort(keys):
    """Sort a power of two of keys, two at least."""
    threads = min(keys.size, KEYS) // 2
    blocks = keys.size // (2 * threads)
    sort_in_blocks_kernel[blocks, threads](keys, 2, 2 * threads)
    size = 4 * threads
    while size <= keys.size:
        apart = size // 2
        while apart > threads:
            sort_step_kernel[blocks, threads](keys, size, apart)
            apart //= 2
        sort_in_blocks_kernel[blocks, threads](keys, size, size)
        size *= 2


@cuda.jit(device=True)
def first_from(keys, count, key):
    """How many of the first `count` keys are smaller."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@cuda.jit
def rows_kernel(keys, positions, padding, grad, out):
    row, j = cuda.blockIdx.x, cuda.blockIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    if j < out.shape[1]:
        total = f32(0)
        if row != padding:
            p, behind = first_from(keys, positions, row * positions), (row + 1) * positions
            while p < positions and keys[p] < behind:
                total += grad[keys[p] - row * positions, j]
                p += 1
        out[row, j] = total


@implementation(
    "embedding_backward",
    "gpu",
    adds="indices are sorted: a thread for each number of the table adds up its own, in order, and writes it once",
    dtypes=("float32",),
    kernels=[
        (keys_kernel, [f"void({WHOLE}, {WHOLE})"]),
        (sort_in_blocks_kernel, [f"void({WHOLE}, int64, int64)"]),
        (sort_step_kernel, [f"void({WHOLE}, int64, int64)"]),
        (rows_kernel, [f"void({WHOLE}, int64, int64, {MATRIX}, {MATRIX})"]),
    ],
    public=True,
)
@on_gradients
def embedding_backward_sorted_gpu(indices, padding, grad, rows):
    positions, width = grad.shape
    keys = cuda.device_array(max(2, 1 << (positions - 1).bit_length()), i64)
    keys_kernel[-(-keys.size // KEYS), min(keys.size, KEYS)](indices, keys)
    sort(keys)
    out = cuda.device_array((rows, width), f32)
    threads = min(4 * COLUMNS, -(-width // COLUMNS) * COLUMNS)
    rows_kernel[(rows, -(-width // threads)), threads](keys, positions, padding, grad, out)
    return out
