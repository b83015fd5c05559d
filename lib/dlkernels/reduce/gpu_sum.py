"""Sums on the GPU, in float32.

The ladder of sum                         what the rung adds
    sum_interleaved            a tree in shared memory: in each round every second thread of those left adds its
                               neighbour's sum
    sum_sequential_addressing  the threads that add stand side by side: whole warps have nothing to do, instead of half
                               of each
    sum_first_add              each thread adds two numbers while it loads them: half the blocks, no idle first round
    sum_shuffle                a warp adds up by shuffles, without shared memory and barriers
    sum_grid_stride            a fixed number of threads walks over the numbers; a second launch adds the sums of blocks
    sum_last_block             the block that is ready last does so: one launch
    sum_columns                numbers that are not neighbours: neighbouring threads take neighbouring columns

The first four are those of Harris, Optimizing Parallel Reduction in CUDA (2007); the sixth is the threadFenceReduction
of NVIDIA's CUDA samples. x is (before, n, after), its middle added up: job = a block's part of a row.
"""

import functools

import numpy as np

from ..device import cuda
from ..implementations import implementation
from ..launches import device_array, launch, line, view
from .lines import lines_of, pieces

f32, i32 = np.float32, np.int32
THREADS, WARP = 256, 32
WARPS = THREADS // WARP
ALL = 0xFFFFFFFF  # all lanes of a warp
MANY_BLOCKS = 1024  # several for each multiprocessor of every GPU of today
LEAST = 8  # numbers that a thread adds at least where several blocks have a row
HIGH = THREADS // WARP  # rows of a block that takes columns
LINE, SIZES = "float32[::1]", "int64, int64, int64"  # n, after, chunks
SIGNATURE = [f"void({LINE}, {LINE}, {SIZES})"]
NEIGHBOURS = "made for numbers that lie side by side: others are loaded one sector each"


def on_lines(rung):
    """Let `rung(x, before, n, after) -> sums`, written for lines of memory, reduce any dimensions.

    Empty arrays never reach it.
    """

    @functools.wraps(rung)
    def wrapper(dims, shape, x):
        if not x.size:
            return cuda.to_device(np.zeros(shape, f32))
        y = line(x)
        for line_shape in lines_of(tuple(x.shape) or (1,), dims or (0,)):
            y = rung(y, *line_shape)
        return view(y, shape)

    return wrapper


@cuda.jit(device=True)
def row_at(row, n, after):
    """Where a row begins: those of one stretch of memory lie beside each other."""
    return row // after * n * after + row % after


def in_passes(kernel, each):
    """A rung that adds `each` numbers in a block, then the sums of blocks, and so on, until each row has one."""

    def rung(x, before, n, after):
        while True:
            chunks = pieces(n, each)
            out = device_array(before * after * chunks, f32)
            kernel[before * after * chunks, THREADS](x, out, n, after, chunks)
            if chunks == 1:
                return out
            x, before, n, after = out, before * after, chunks, 1

    return rung


# ---- trees in shared memory --------------------------------------------------------------------------------


@cuda.jit
def interleaved_kernel(x, out, n, after, chunks):
    sums = cuda.shared.array(THREADS, f32)
    t, job = cuda.threadIdx.x, cuda.blockIdx.x
    k = job % chunks * THREADS + t
    sums[t] = x[row_at(job // chunks, n, after) + k * after] if k < n else f32(0)
    cuda.syncthreads()
    for d in (1, 2, 4, 8, 16, 32, 64, 128):
        if t % (2 * d) == 0:
            sums[t] += sums[t + d]
        cuda.syncthreads()
    if t == 0:
        out[job] = sums[0]


@implementation(
    "sum",
    "gpu",
    adds="a tree in shared memory: in each round, every second of the threads left adds its neighbour's sum",
    dtypes=("float32",),
    limits=NEIGHBOURS,
    kernels=[(interleaved_kernel, SIGNATURE)],
)
@on_lines
def sum_interleaved(x, before, n, after):
    return in_passes(interleaved_kernel, THREADS)(x, before, n, after)


@cuda.jit
def sequential_addressing_kernel(x, out, n, after, chunks):
    sums = cuda.shared.array(THREADS, f32)
    t, job = cuda.threadIdx.x, cuda.blockIdx.x
    k = job % chunks * THREADS + t
    sums[t] = x[row_at(job // chunks, n, after) + k * after] if k < n else f32(0)
    cuda.syncthreads()
    for d in (128, 64, 32, 16, 8, 4, 2, 1):
        if t < d:
            sums[t] += sums[t + d]
        cuda.syncthreads()
    if t == 0:
        out[job] = sums[0]


@implementation(
    "sum",
    "gpu",
    adds="the threads that add stand side by side: whole warps are done, and no warp is split before the last rounds",
    dtypes=("float32",),
    limits=NEIGHBOURS,
    kernels=[(sequential_addressing_kernel, SIGNATURE)],
)
@on_lines
def sum_sequential_addressing(x, before, n, after):
    return in_passes(sequential_addressing_kernel, THREADS)(x, before, n, after)


@cuda.jit(device=True)
def two(x, row_start, k, n, after):
    """The sum of a row's numbers k and k + THREADS, as far as there are any."""
    total = f32(0)
    if k < n:
        total = x[row_start + k * after]
    if k + THREADS < n:
        total += x[row_start + (k + THREADS) * after]
    return total


@cuda.jit
def first_add_kernel(x, out, n, after, chunks):
    sums = cuda.shared.array(THREADS, f32)
    t, job = cuda.threadIdx.x, cuda.blockIdx.x
    sums[t] = two(x, row_at(job // chunks, n, after), job % chunks * (2 * THREADS) + t, n, after)
    cuda.syncthreads()
    for d in (128, 64, 32, 16, 8, 4, 2, 1):
        if t < d:
            sums[t] += sums[t + d]
        cuda.syncthreads()
    if t == 0:
        out[job] = sums[0]


@implementation(
    "sum",
    "gpu",
    adds="each thread adds two numbers as it loads them: half the blocks, and no round in which half of the threads "
    "only load",
    dtypes=("float32",),
    limits=NEIGHBOURS,
    kernels=[(first_add_kernel, SIGNATURE)],
)
@on_lines
def sum_first_add(x, before, n, after):
    return in_passes(first_add_kernel, 2 * THREADS)(x, before, n, after)


# ---- shuffles ----------------------------------------------------------------------------------------------


@cuda.jit(device=True)
def warp_sum(value):
    """The sum over a warp, in its first lane: five rounds of taking over from the lane that is 16, 8, 4, 2, 1
    further."""
    value += cuda.shfl_down_sync(ALL, value, 16)
    value += cuda.shfl_down_sync(ALL, value, 8)
    value += cuda.shfl_down_sync(ALL, value, 4)
    value += cuda.shfl_down_sync(ALL, value, 2)
    return value + cuda.shfl_down_sync(ALL, value, 1)


@cuda.jit(device=True)
def block_sum(value, sums):
    """The sum over a block, in its first thread. sums: shared, one for each warp. Before a second call: a barrier."""
    t = cuda.threadIdx.x
    value = warp_sum(value)
    if t % WARP == 0:
        sums[t // WARP] = value
    cuda.syncthreads()
    value = f32(0)
    if t < cuda.blockDim.x // WARP:
        value = sums[t]
    return warp_sum(value)  # of the first warp; those of the others are zero


@cuda.jit
def shuffle_kernel(x, out, n, after, chunks):
    sums = cuda.shared.array(WARPS, f32)
    t, job = cuda.threadIdx.x, cuda.blockIdx.x
    total = two(x, row_at(job // chunks, n, after), job % chunks * (2 * THREADS) + t, n, after)
    total = block_sum(total, sums)
    if t == 0:
        out[job] = total


@implementation(
    "sum",
    "gpu",
    adds="a warp adds up by shuffles from register to register: one barrier, not nine",
    dtypes=("float32",),
    limits=NEIGHBOURS,
    kernels=[(shuffle_kernel, SIGNATURE)],
)
@on_lines
def sum_shuffle(x, before, n, after):
    return in_passes(shuffle_kernel, 2 * THREADS)(x, before, n, after)


# ---- as many blocks as the GPU can use ---------------------------------------------------------------------


def threads_for(n):
    """A warp for a short row, else a whole block."""
    return WARP if n <= 4 * WARP else THREADS


def chunks_for(rows, n, threads):
    """Blocks for each of `rows` rows, so that the GPU has enough of them, and each thread some numbers."""
    return max(1, min(pieces(n, LEAST * threads), MANY_BLOCKS // rows))


@cuda.jit(device=True)
def stride_sum(x, row, chunk, n, after, chunks):
    """This thread's share of a row, which `chunks` blocks walk through together."""
    row_start, step, total = row_at(row, n, after), chunks * cuda.blockDim.x, f32(0)
    for k in range(chunk * cuda.blockDim.x + cuda.threadIdx.x, n, step):
        total += x[row_start + k * after]
    return total


@cuda.jit
def grid_stride_kernel(x, out, n, after, chunks):
    sums, job = cuda.shared.array(WARPS, f32), cuda.blockIdx.x
    total = block_sum(stride_sum(x, job // chunks, job % chunks, n, after, chunks), sums)
    if cuda.threadIdx.x == 0:
        out[job] = total


@implementation(
    "sum",
    "gpu",
    adds="as many blocks as the GPU can use walk over the numbers; a second launch adds their sums",
    dtypes=("float32",),
    limits=NEIGHBOURS,
    kernels=[(grid_stride_kernel, SIGNATURE)],
)
@on_lines
def sum_grid_stride(x, before, n, after):
    return grid_stride(x, before, n, after)


def grid_stride(x, before, n, after):
    rows = before * after
    chunks = chunks_for(rows, n, threads_for(n))
    out = device_array(rows * chunks, f32)
    launch(grid_stride_kernel, rows * chunks, threads_for(n), x, out, n, after, chunks)
    if chunks == 1:
        return out
    total = device_array(rows, f32)
    launch(grid_stride_kernel, rows, threads_for(chunks), out, total, chunks, 1, 1)
    return total


@cuda.jit
def last_block_kernel(x, parts, ready, out, n, after, chunks):
    """parts: the sums of all blocks; ready: how many blocks of each row are done, zero at the beginning."""
    sums, job = cuda.shared.array(WARPS, f32), cuda.blockIdx.x
    t, row = cuda.threadIdx.x, job // chunks
    total, last = block_sum(stride_sum(x, row, job % chunks, n, after, chunks), sums), 0
    if t == 0:
        parts[job] = total
        cuda.threadfence()  # whoever sees the count sees the sum
        last = 1 if cuda.atomic.add(ready, row, 1) == chunks - 1 else 0
    if cuda.syncthreads_or(last):
        cuda.threadfence()
        total = f32(0)
        for k in range(t, chunks, cuda.blockDim.x):
            total += parts[row * chunks + k]
        total = block_sum(total, sums)
        if t == 0:
            out[row] = total


def last_block(x, before, n, after):
    rows = before * after
    chunks, out = chunks_for(rows, n, threads_for(n)), device_array(rows, f32)
    if chunks == 1:
        grid_stride_kernel[rows, threads_for(n)](x, out, n, after, 1)
        return out
    ready, parts = cuda.to_device(np.zeros(rows, i32)), device_array(rows * chunks, f32)
    last_block_kernel[rows * chunks, threads_for(n)](x, parts, ready, out, n, after, chunks)
    return out


@implementation(
    "sum",
    "gpu",
    adds="the block that is ready last adds the sums of all: one launch; a fence, and a counter that tells who is last",
    dtypes=("float32",),
    limits=NEIGHBOURS,
    kernels=[(last_block_kernel, [f"void({LINE}, {LINE}, int32[::1], {LINE}, {SIZES})"])],  # and sum_grid_stride's
)
@on_lines
def sum_last_block(x, before, n, after):
    return last_block(x, before, n, after)


# ---- columns -----------------------------------------------------------------------------------------------


@cuda.jit
def columns_kernel(x, out, n, after, chunks):
    """out (before, chunks, after): a warp has 32 columns side by side, a block's warps every HIGH-th row."""
    sums = cuda.shared.array((HIGH, WARP), f32)
    lane, y, across = cuda.threadIdx.x, cuda.threadIdx.y, (after + WARP - 1) // WARP
    job, column = cuda.blockIdx.x // across, cuda.blockIdx.x % across * WARP + lane
    row, chunk, total = job // chunks, job % chunks, f32(0)
    if column < after:
        for k in range(chunk * HIGH + y, n, chunks * HIGH):
            total += x[(row * n + k) * after + column]
    sums[y, lane] = total
    cuda.syncthreads()
    if y == 0 and column < after:
        for k in range(1, HIGH):
            total += sums[k, lane]
        out[job * after + column] = total


@implementation(
    "sum",
    "gpu",
    adds="numbers that do not lie side by side: neighbouring threads take neighbouring columns",
    dtypes=("float32",),
    kernels=[(columns_kernel, SIGNATURE)],  # and that of sum_grid_stride: one launch more, and no counters to send
    public=True,
)
@on_lines
def sum_columns(x, before, n, after):
    if after == 1:
        return grid_stride(x, before, n, after)
    across = pieces(after, WARP)
    while True:
        chunks = max(1, min(pieces(n, LEAST * HIGH), MANY_BLOCKS // (before * across)))
        out = device_array(before * chunks * after, f32)
        launch(columns_kernel, before * chunks * across, (WARP, HIGH), x, out, n, after, chunks)
        if chunks == 1:
            return out
        x, n = out, chunks


# ---- its gradient ------------------------------------------------------------------------------------------


@cuda.jit
def spread_kernel(grad, of_x, n, after):
    i = cuda.grid(1)
    if i < of_x.size:
        of_x[i] = grad[i // (n * after) * after + i % after]


@implementation(
    "sum_backward",
    "gpu",
    adds="one thread per element; dimensions that are no neighbours one after the other",
    dtypes=("float32",),
    kernels=[(spread_kernel, [f"void({LINE}, {LINE}, int64, int64)"])],
    public=True,
)
def sum_backward_one_per_element(dims, grad, x):
    if not x.size:
        return device_array(x.shape, f32)
    y = line(grad)
    for before, n, after in reversed(list(lines_of(tuple(x.shape) or (1,), dims or (0,)))):
        wider = device_array(before * n * after, f32)
        launch(spread_kernel, pieces(wider.size, THREADS), THREADS, y, wider, n, after)
        y = wider
    return view(y, tuple(x.shape))
