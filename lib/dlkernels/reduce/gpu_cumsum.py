"""Running sums on the GPU, in float32: out[k] = x[0] + ... + x[k].

The ladder of cumsum                      what the rung adds
    cumsum_thread_per_row  one thread walks through a row
    cumsum_hillis_steele   a block for each row: in round k each thread adds what stands 2^k before it: n log2 n
                           additions, few rounds (Hillis and Steele 1986)
    cumsum_blelloch        a tree, up and down: 2 n additions, twice the rounds (Blelloch 1990)
    cumsum_blocks          a row in chunks, a block each: what each adds up to, running sums of that, their results:
                           three launches, x is read twice; warps by shuffles
    cumsum_look_back       one launch, x is read once: a block adds what the blocks before it have told by then (Merrill
                           and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016)

A block that waits for another must be sure that it runs: nothing says in which order blocks begin. So blocks are
numbered as they begin, by an atomic ticket, and each waits for lower numbers only.
"""

import functools

import numpy as np

from ..device import cuda
from ..implementations import implementation
from ..launches import device_array, launch, line
from .gpu_sum import ALL, MANY_BLOCKS, THREADS, WARP, WARPS, row_at
from .lines import lines_of, pieces

f32, i32 = np.float32, np.int32
PAIRS = 2 * THREADS
CHUNK = 8 * THREADS  # numbers of a block, where several blocks have a row
MOST_BLOCKS = 1 << 16  # each takes a row after the other, if there are more
LINE = "float32[::1]"
NOTHING, TOTAL, SUM = 0, 1, 2  # what a block has told: nothing yet; its own total; the sum of all up to its end


def on_lines(rung):
    """Let `rung(x, out, rows, n, after)`, written for lines of memory, take any dimension. Empty arrays never reach
    it."""

    @functools.wraps(rung)
    def wrapper(dim, x):
        out = device_array(tuple(x.shape), f32)
        if out.size:
            ((before, n, after),) = lines_of(tuple(x.shape), (dim,))
            rung(line(x), line(out), before * after, n, after)
        return out

    return wrapper


# ---- one thread for each row -------------------------------------------------------------------------------


@cuda.jit
def thread_per_row_kernel(x, out, rows, n, after):
    row = cuda.grid(1)
    if row < rows:
        element, total = row_at(row, n, after), f32(0)
        for _ in range(n):
            total += x[element]
            out[element] = total
            element += after


def thread_per_row(x, out, rows, n, after):
    thread_per_row_kernel[pieces(rows, WARP), WARP](x, out, rows, n, after)


@implementation(
    "cumsum",
    "gpu",
    adds="one thread walks through a row: as many threads as rows",
    dtypes=("float32",),
    kernels=[(thread_per_row_kernel, [f"void({LINE}, {LINE}, int64, int64, int64)"])],
)
@on_lines
def cumsum_thread_per_row(x, out, rows, n, after):
    thread_per_row(x, out, rows, n, after)


# ---- a block for each row ----------------------------------------------------------------------------------


@cuda.jit
def hillis_steele_kernel(x, out, rows, n, after):
    sums, t = cuda.shared.array(THREADS, f32), cuda.threadIdx.x
    for row in range(cuda.blockIdx.x, rows, cuda.gridDim.x):
        row_start, carry = row_at(row, n, after), f32(0)
        for begin in range(0, n, THREADS):
            total = f32(0)
            if begin + t < n:
                total = x[row_start + (begin + t) * after]
            sums[t] = total
            cuda.syncthreads()
            for d in (1, 2, 4, 8, 16, 32, 64, 128):
                if t >= d:
                    total += sums[t - d]
                cuda.syncthreads()  # all have read
                sums[t] = total
                cuda.syncthreads()  # all have written
            if begin + t < n:
                out[row_start + (begin + t) * after] = carry + total
            carry += sums[THREADS - 1]
            cuda.syncthreads()


@implementation(
    "cumsum",
    "gpu",
    adds="a block for each row: in round k each thread adds what stands 2^k before it (Hillis and Steele)",
    dtypes=("float32",),
    kernels=[(hillis_steele_kernel, [f"void({LINE}, {LINE}, int64, int64, int64)"])],
)
@on_lines
def cumsum_hillis_steele(x, out, rows, n, after):
    hillis_steele_kernel[min(rows, MOST_BLOCKS), THREADS](x, out, rows, n, after)


@cuda.jit
def blelloch_kernel(x, out, rows, n, after):
    sums, t = cuda.shared.array(PAIRS, f32), cuda.threadIdx.x
    for row in range(cuda.blockIdx.x, rows, cuda.gridDim.x):
        row_start, carry = row_at(row, n, after), f32(0)
        for begin in range(0, n, PAIRS):
            for i in range(t, PAIRS, THREADS):
                sums[i] = x[row_start + (begin + i) * after] if begin + i < n else f32(0)
            cuda.syncthreads()
            for d in (1, 2, 4, 8, 16, 32, 64, 128, 256):  # up: a node adds its left neighbour's total
                right = (2 * t + 2) * d - 1
                if right < PAIRS:
                    sums[right] += sums[right - d]
                cuda.syncthreads()
            total = sums[PAIRS - 1]
            cuda.syncthreads()
            if t == 0:
                sums[PAIRS - 1] = carry
            cuda.syncthreads()
            for d in (256, 128, 64, 32, 16, 8, 4, 2, 1):  # down: what stands before a node, left to right
                right = (2 * t + 2) * d - 1
                if right < PAIRS:
                    before = sums[right]
                    sums[right] = before + sums[right - d]
                    sums[right - d] = before
                cuda.syncthreads()
            for i in range(t, PAIRS, THREADS):
                if begin + i < n:
                    place = row_start + (begin + i) * after
                    out[place] = sums[i] + x[place]
            carry += total
            cuda.syncthreads()


@implementation(
    "cumsum",
    "gpu",
    adds="a tree, up for totals and down for what stands before: 2 n additions, not n log2 n (Blelloch)",
    dtypes=("float32",),
    kernels=[(blelloch_kernel, [f"void({LINE}, {LINE}, int64, int64, int64)"])],
)
@on_lines
def cumsum_blelloch(x, out, rows, n, after):
    blelloch_kernel[min(rows, MOST_BLOCKS), THREADS](x, out, rows, n, after)


# ---- several blocks for a row ------------------------------------------------------------------------------


@cuda.jit(device=True)
def warp_sums(value):
    """Running sums over a warp: five rounds of adding the lane that is 1, 2, 4, 8, 16 before."""
    lane, d = cuda.threadIdx.x % WARP, 1
    while d < WARP:
        other = cuda.shfl_up_sync(ALL, value, d)
        if lane >= d:
            value += other
        d *= 2
    return value


@cuda.jit(device=True)
def block_sums(value, totals):
    """Running sums over a block. totals: shared, a number for each warp; the last is the block's when all are back."""
    t = cuda.threadIdx.x
    value = warp_sums(value)
    if t % WARP == WARP - 1:
        totals[t // WARP] = value
    cuda.syncthreads()
    before = f32(0)
    for warp in range(t // WARP):
        before += totals[warp]
    return before + value


@cuda.jit(device=True)
def chunk_sums(x, row_start, begin, n, after, sums, totals):
    """Running sums of a chunk, in shared memory, by itself. Returns what it adds up to."""
    t, carry = cuda.threadIdx.x, f32(0)
    for first in range(0, CHUNK, THREADS):
        k, value = begin + first + t, f32(0)
        if k < n:
            value = x[row_start + k * after]
        value = block_sums(value, totals)
        sums[first + t] = carry + value
        for warp in range(WARPS):
            carry += totals[warp]
        cuda.syncthreads()
    return carry


@cuda.jit
def totals_kernel(x, totals, n, after, chunks):
    """What each chunk adds up to."""
    parts = cuda.shared.array(WARPS, f32)
    job, t, total = cuda.blockIdx.x, cuda.threadIdx.x, f32(0)
    row_start, begin = row_at(job // chunks, n, after), job % chunks * CHUNK
    for k in range(begin + t, min(begin + CHUNK, n), THREADS):
        total += x[row_start + k * after]
    total = block_sums(total, parts)
    if t == THREADS - 1:
        totals[job] = total


@cuda.jit
def results_kernel(x, totals, out, n, after, chunks):
    """Running sums of each chunk, on top of what all before it add up to."""
    sums = cuda.shared.array(CHUNK, f32)
    parts = cuda.shared.array(WARPS, f32)
    job, t, before = cuda.blockIdx.x, cuda.threadIdx.x, f32(0)
    row_start, begin = row_at(job // chunks, n, after), job % chunks * CHUNK
    if job % chunks > 0:
        before = totals[job - 1]
    chunk_sums(x, row_start, begin, n, after, sums, parts)
    for k in range(begin + t, min(begin + CHUNK, n), THREADS):
        out[row_start + k * after] = before + sums[k - begin]


@implementation(
    "cumsum",
    "gpu",
    adds="a row in chunks, a block each: their totals, running sums of these, their results; many rows have a thread "
    "each",
    dtypes=("float32",),
    kernels=[
        (totals_kernel, [f"void({LINE}, {LINE}, int64, int64, int64)"]),
        (results_kernel, [f"void({LINE}, {LINE}, {LINE}, int64, int64, int64)"]),
    ],  # and that of cumsum_hillis_steele, between them
    public=True,
)
@on_lines
def cumsum_blocks(x, out, rows, n, after):
    chunks = pieces(n, CHUNK)
    if rows >= WARP * MANY_BLOCKS or n <= WARP:
        thread_per_row(x, out, rows, n, after)
    elif chunks == 1 or rows >= MANY_BLOCKS:  # enough rows to fill the GPU with a block each: recorded as faster
        launch(hillis_steele_kernel, min(rows, MOST_BLOCKS), THREADS, x, out, rows, n, after)
    else:
        totals, sums = (device_array(rows * chunks, f32) for _ in range(2))
        launch(totals_kernel, rows * chunks, THREADS, x, totals, n, after, chunks)
        launch(hillis_steele_kernel, min(rows, MOST_BLOCKS), THREADS, totals, sums, rows, chunks, 1)
        launch(results_kernel, rows * chunks, THREADS, x, sums, out, n, after, chunks)


# ---- one launch --------------------------------------------------------------------------------------------


@cuda.jit(device=True)
def tell(values, value, told, job, status):
    """Let other blocks know a number: first the number, then that it is there."""
    values[job] = value
    cuda.threadfence()
    cuda.atomic.exch(told, job, status)


@cuda.jit(device=True)
def look_back(totals, sums, told, job):
    """What all blocks of this row before `job` add up to."""
    before, k, status = f32(0), job, i32(NOTHING)
    while status != SUM:
        k -= 1
        status = cuda.atomic.add(told, k, 0)
        while status == NOTHING:
            status = cuda.atomic.add(told, k, 0)
        cuda.threadfence()  # the number is not read before the word that it is there
        before += sums[k] if status == SUM else totals[k]
    return before


@cuda.jit
def look_back_kernel(x, out, ticket, told, totals, row_sums, n, after, chunks):
    sums = cuda.shared.array(CHUNK, f32)
    parts = cuda.shared.array(WARPS, f32)
    number = cuda.shared.array(1, i32)
    ahead = cuda.shared.array(1, f32)
    t = cuda.threadIdx.x
    if t == 0:
        number[0] = cuda.atomic.add(ticket, 0, 1)  # those with lower numbers have begun
    cuda.syncthreads()
    job = number[0]
    row_start, begin = row_at(job // chunks, n, after), job % chunks * CHUNK
    total = chunk_sums(x, row_start, begin, n, after, sums, parts)
    if t == 0:
        before = f32(0)
        if job % chunks > 0:
            tell(totals, total, told, job, TOTAL)
            before = look_back(totals, row_sums, told, job)
        tell(row_sums, before + total, told, job, SUM)
        ahead[0] = before
    cuda.syncthreads()
    for k in range(begin + t, min(begin + CHUNK, n), THREADS):
        out[row_start + k * after] = ahead[0] + sums[k - begin]


@implementation(
    "cumsum",
    "gpu",
    adds="one launch: a block adds what the blocks before it have told by then; a ticket says who is before whom",
    dtypes=("float32",),
    kernels=[
        (look_back_kernel, [f"void({LINE}, {LINE}, int32[::1], int32[::1], {LINE}, {LINE}, int64, int64, int64)"])
    ],
)
@on_lines
def cumsum_look_back(x, out, rows, n, after):
    chunks = pieces(n, CHUNK)
    jobs = rows * chunks
    ticket, told = cuda.to_device(np.zeros(1, i32)), cuda.to_device(np.full(jobs, NOTHING, i32))
    totals, sums = (device_array(jobs, f32) for _ in range(2))
    look_back_kernel[jobs, THREADS](x, out, ticket, told, totals, sums, n, after, chunks)
