"""Histograms on the GPU.

The ladder of histogram                   what the rung adds
    histogram_global       every number raises its count in global memory: all threads of the GPU meet there
    histogram_shared       a table for each block, in shared memory; blocks add theirs up in the end
    histogram_private      a table for each warp of a block: who meets is of one warp

A warp whose 32 numbers lie in one bin needs 32 turns wherever the count is; what is nearer has shorter turns. The bin
of a number is found in its own type, as on the CPU (reference.py).
"""

import functools

import numpy as np

from ..device import cuda
from ..implementations import implementation
from .lines import pieces

u32, i64 = np.uint32, np.int64
COUNT = np.dtype(u32)  # of shared arrays whose size the launch gives: numba's simulator asks a dtype for its size
THREADS, WARP = 256, 32
WARPS = THREADS // WARP
MANY_BLOCKS = 1024  # several for each multiprocessor of every GPU of today
EACH = 16  # numbers that a thread counts at least, where its block has a table to fill and to empty
ROOM = 48 * 1024 // 4  # counts in the shared memory of a block
COUNTS = ("int64",)
SIGNATURES = [f"void({r}, {r}, {r}, {r}[::1], int64[::1])" for r in ("float32", "float64")]


def on_a_line(rung):
    """Let `rung(low, high, scale, line, counts)` take contiguous device arrays of any shape; scale: how many bins, as a
    number of x's type. Empty ones never reach it."""

    @functools.wraps(rung)
    def wrapper(low, high, x, counts):
        if x.size:
            rung(low, high, x.dtype.type(counts.size), x.reshape(x.size), counts)
        return counts

    return wrapper


@cuda.jit(device=True)
def bin_of(value, low, high, scale, bins):
    """The bin of a number; -1 outside, and for NaN."""
    if low <= value and value <= high:
        return min(i64((value - low) * scale / (high - low)), bins - 1)
    return i64(-1)


# ---- in global memory --------------------------------------------------------------------------------------


@cuda.jit
def global_kernel(low, high, scale, x, counts):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        k = bin_of(x[i], low, high, scale, counts.size)
        if k >= 0:
            cuda.atomic.add(counts, k, i64(1))


def in_global_memory(low, high, scale, x, counts):
    global_kernel[min(pieces(x.size, THREADS), MANY_BLOCKS), THREADS](low, high, scale, x, counts)


@implementation(
    "histogram",
    "gpu",
    adds="every number raises its count in global memory, atomically",
    dtypes=COUNTS,
    kernels=[(global_kernel, SIGNATURES)],
)
@on_a_line
def histogram_global(low, high, scale, x, counts):
    in_global_memory(low, high, scale, x, counts)


# ---- in shared memory --------------------------------------------------------------------------------------


def blocks_for(size):
    return min(pieces(size, EACH * THREADS), MANY_BLOCKS)


@cuda.jit
def shared_kernel(low, high, scale, x, counts):
    table = cuda.shared.array(0, COUNT)  # as many counts as there are bins: the launch says so
    t, bins = cuda.threadIdx.x, counts.size
    for k in range(t, bins, THREADS):
        table[k] = u32(0)
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        k = bin_of(x[i], low, high, scale, bins)
        if k >= 0:
            cuda.atomic.add(table, k, u32(1))
    cuda.syncthreads()
    for k in range(t, bins, THREADS):
        if table[k] > 0:
            cuda.atomic.add(counts, k, i64(table[k]))


def in_shared_memory(low, high, scale, x, counts):
    if counts.size > ROOM:
        in_global_memory(low, high, scale, x, counts)
    else:
        shared_kernel[blocks_for(x.size), THREADS, 0, 4 * counts.size](low, high, scale, x, counts)


@implementation(
    "histogram",
    "gpu",
    adds="a table for each block in shared memory: an atomic operation in global memory for each bin, not for each "
    "number",
    dtypes=COUNTS,
    limits=f"more than {ROOM} bins do not fit shared memory, and are counted in global memory",
    kernels=[(shared_kernel, SIGNATURES)],
    public=True,  # recorded on an H200: faster than a table for each warp
)
@on_a_line
def histogram_shared(low, high, scale, x, counts):
    in_shared_memory(low, high, scale, x, counts)


@cuda.jit
def private_kernel(low, high, scale, x, counts):
    tables = cuda.shared.array(0, COUNT)  # one after the other, for each warp
    t, bins = cuda.threadIdx.x, counts.size
    table_start = t // WARP * bins
    for k in range(t, WARPS * bins, THREADS):
        tables[k] = u32(0)
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        k = bin_of(x[i], low, high, scale, bins)
        if k >= 0:
            cuda.atomic.add(tables, table_start + k, u32(1))
    cuda.syncthreads()
    for k in range(t, bins, THREADS):
        total = u32(0)
        for warp in range(WARPS):
            total += tables[warp * bins + k]
        if total > 0:
            cuda.atomic.add(counts, k, i64(total))


@implementation(
    "histogram",
    "gpu",
    adds="a table for each warp: only its own lanes can meet",
    dtypes=COUNTS,
    limits=f"for at most {ROOM // WARPS} bins; more are counted as in histogram_shared",
    kernels=[(private_kernel, SIGNATURES)],
)
@on_a_line
def histogram_private(low, high, scale, x, counts):
    if WARPS * counts.size > ROOM:
        in_shared_memory(low, high, scale, x, counts)
    else:
        private_kernel[blocks_for(x.size), THREADS, 0, 4 * WARPS * counts.size](low, high, scale, x, counts)
