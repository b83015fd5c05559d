"""choose_qparams on the GPU: the least and the largest number of each run.

The ladder of choose_qparams       what the rung adds
    qparams_thread_per_scale    a thread goes through all numbers of a scale
    qparams_block_per_scale     a block for each scale: neighbouring threads read neighbouring numbers, warps join by
                                shuffles; a run of many numbers is cut for many blocks, whose ends are joined by a
                                second launch
"""

import functools

import numpy as np

from ..device import cuda
from ..implementations import implementation
from .formats import FORMATS
from .gpu_codes import LINE, THREADS, WHOLE, blocks_for, line
from .runs import Runs

f32, i32 = np.float32, np.int32
WARP, WARPS, ALL = 32, THREADS // 32, 0xFFFFFFFF
SMALLEST = f32(np.finfo(f32).tiny)
LONG, PARTS = 1 << 14, 256  # a run of so many numbers is cut, into so many at most


@cuda.jit(device=True)
def lower(a, b):
    """The lower of two; what is not a number, if one is."""
    return b if b < a or b != b else a


@cuda.jit(device=True)
def upper(a, b):
    return b if b > a or b != b else a


@cuda.jit
def thread_kernel(x, rows, length, run, groups, low, high):
    group = cuda.grid(1)
    if group < low.size:
        least = largest = f32(0)
        begin = group % groups * run
        end = min(begin + run, length)
        for row in range(group // groups, rows, max(low.size // groups, 1)):
            for column in range(begin, end):
                least, largest = lower(least, x[row * length + column]), upper(largest, x[row * length + column])
        low[group], high[group] = least, largest


@cuda.jit
def block_kernel(x, y, rows, length, run, groups, low, high):
    """The least of x and the largest of y in each run."""
    lows, highs = cuda.shared.array(WARPS, f32), cuda.shared.array(WARPS, f32)
    group, t = cuda.blockIdx.x, cuda.threadIdx.x
    least = largest = f32(0)
    begin = group % groups * run
    end = min(begin + run, length)
    for row in range(group // groups, rows, max(low.size // groups, 1)):
        for column in range(begin + t, end, cuda.blockDim.x):
            least, largest = lower(least, x[row * length + column]), upper(largest, y[row * length + column])
    apart = WARP // 2
    while apart > 0:
        least = lower(least, cuda.shfl_xor_sync(ALL, least, apart))
        largest = upper(largest, cuda.shfl_xor_sync(ALL, largest, apart))
        apart //= 2
    if t % WARP == 0:
        lows[t // WARP], highs[t // WARP] = least, largest
    cuda.syncthreads()
    if t == 0:
        for warp in range(1, cuda.blockDim.x // WARP):
            least, largest = lower(least, lows[warp]), upper(largest, highs[warp])
        low[group], high[group] = least, largest


@cuda.jit
def steps_kernel(low, high, symmetric, lowest, highest, scale, zero):
    group = cuda.grid(1)
    if group < low.size:
        least, largest = low[group], high[group]
        if symmetric:
            width = max(-least, largest) / f32(highest)
        else:
            width = largest / f32(highest - lowest) - least / f32(highest - lowest)
        if least < f32(0) or largest > f32(0):
            width = max(width, SMALLEST)
        elif least == least and largest == largest:
            width = f32(1)
        else:
            width = least + largest
        scale[group] = width
        if not symmetric:
            origin = (
                f32(lowest) - f32(round(least / width))
                if abs(least / width) <= f32(highest - lowest + 1)
                else f32(lowest)
            )
            zero[group] = i32(min(max(origin, f32(lowest)), f32(highest)))


STEPS = (steps_kernel, [f"void({LINE}, {LINE}, boolean, int64, int64, {LINE}, {WHOLE})"])


def on_ranges(rung):
    """Let `rung(runs, x, low, high)` fill lines with the ends of all runs."""

    @functools.wraps(rung)
    def wrapper(dtype, symmetric, runs, shape, input):
        form, count = FORMATS[dtype], int(np.prod(shape, dtype=np.int64))
        scale, zero = cuda.device_array(shape, f32), cuda.device_array(shape, i32)
        if count:
            low, high = (cuda.to_device(np.zeros(count, f32)) for _ in range(2))
            if input.size:
                rung(runs, line(input), low, high)
            settings = symmetric, int(form.lowest), int(form.highest), line(scale), line(zero)
            steps_kernel[blocks_for(count), THREADS](low, high, *settings)
        return scale, None if symmetric else zero

    return wrapper


def by_thread(runs, x, low, high):
    thread_kernel[blocks_for(low.size), THREADS](x, runs.rows, runs.length, runs.run, runs.groups, low, high)


OF_THREADS = (thread_kernel, [f"void({LINE}, int64, int64, int64, int64, {LINE}, {LINE})"])


@implementation(
    "choose_qparams",
    "gpu",
    adds="a thread goes through all numbers of a scale",
    dtypes=("float32",),
    kernels=[OF_THREADS, STEPS],
)
@on_ranges
def qparams_thread_per_scale(runs, x, low, high):
    by_thread(runs, x, low, high)


@implementation(
    "choose_qparams",
    "gpu",
    adds="a block for each scale: neighbours read neighbours; a long run is cut, and its ends are joined",
    limits="along the last axis neighbouring threads have neighbouring scales already: the first rung's kernel",
    dtypes=("float32",),
    kernels=[(block_kernel, [f"void({LINE}, {LINE}, int64, int64, int64, int64, {LINE}, {LINE})"]), OF_THREADS, STEPS],
    public=True,
)
@on_ranges
def qparams_block_per_scale(runs, x, low, high):
    if runs.run == 1:
        return by_thread(runs, x, low, high)
    if runs.rows == 1 and runs.groups == 1 and runs.length >= LONG:
        part = max(-(-runs.length // PARTS), LONG // 4)
        parts = Runs(1, runs.length, part, -(-runs.length // part), 1)
        lows, highs = (cuda.device_array(parts.groups, f32) for _ in range(2))
        by_block(parts, x, x, lows, highs)
        return by_block(Runs(1, parts.groups, parts.groups, 1, 1), lows, highs, low, high)
    return by_block(runs, x, x, low, high)


def by_block(runs, x, y, low, high):
    arguments = x, y, runs.rows, runs.length, runs.run, runs.groups, low, high
    block_kernel[low.size, THREADS if runs.run >= THREADS else WARP](*arguments)
