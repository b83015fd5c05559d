"""choose_qparams on the CPU: the least and the largest number of each run, then scale and zero point from these.

The ladder of choose_qparams       what the rung adds
    qparams_numpy      NumPy: two passes for each axis, or group
    qparams_compiled   numba: one pass for both
    qparams_vectors    a vector of numbers at a time; all cores, each with a row of results that are then joined
"""

import functools

import numpy as np

from .. import team
from ..implementations import implementation
from ..simd import broadcast, lanes, load, maximum, minimum, reduce_max, store
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share
from .cpu_codes import ALONE, matrix
from .formats import FORMATS

f32, i32 = np.float32, np.int32
SMALLEST = np.finfo(f32).tiny
PIECE = 1 << 14  # numbers of a row that a thread takes at once


def on_ranges(rung):
    """Let `rung(runs, x (rows, numbers), count) -> (least, largest)`, both taken with 0, find scales of any shape."""

    @functools.wraps(rung)
    def wrapper(dtype, symmetric, runs, wanted, input):
        count = int(np.prod(wanted, dtype=np.int64))
        if input.size:
            low, high = rung(runs, matrix(input, runs), count)
        else:
            low, high = np.zeros(count, f32), np.zeros(count, f32)
        scale, zero = steps_of(FORMATS[dtype], symmetric, low.reshape(wanted), high.reshape(wanted))
        return scale, zero

    return wrapper


def steps_of(form, symmetric, low, high):
    """(scale, zero_point or None) of ranges, in float32: sums of quotients, as a sum might overflow."""
    with np.errstate(all="ignore"):
        if symmetric:
            width = np.maximum(-low, high) / f32(form.highest)
        else:
            width = high / f32(form.steps) - low / f32(form.steps)
        scale = np.where((low < 0) | (high > 0), np.maximum(width, SMALLEST), np.where(np.isnan(width), width, f32(1)))
        if symmetric:
            return scale, None
        zero = np.clip(f32(form.lowest) - np.rint(low / scale), f32(form.lowest), f32(form.highest))
    return scale, np.where(np.isnan(zero), f32(form.lowest), zero).astype(i32)


@implementation(
    "choose_qparams", device="cpu", adds="NumPy: a pass for the least number, one for the largest", dtypes=("float32",)
)
@on_ranges
def qparams_numpy(runs, x, count):
    low, high = np.zeros(count, f32), np.zeros(count, f32)
    ends = np.arange(0, runs.length, runs.run)
    least, largest = np.minimum.reduceat(x, ends, axis=1), np.maximum.reduceat(x, ends, axis=1)
    of = (np.arange(runs.rows)[:, None] * runs.groups + np.arange(runs.groups)) % count
    np.minimum.at(low, of, least)
    np.maximum.at(high, of, largest)
    return low, high


@cached_njit()
def _ranges(runs, x, low, high):
    for row in range(x.shape[0]):
        for column in range(x.shape[1]):
            of = (row * runs.groups + column // runs.run) % low.size
            low[of], high[of] = np.minimum(low[of], x[row, column]), np.maximum(high[of], x[row, column])


@implementation("choose_qparams", device="cpu", adds="numba: one pass for both ends", dtypes=("float32",))
@on_ranges
def qparams_compiled(runs, x, count):
    low, high = np.zeros(count, f32), np.zeros(count, f32)
    _ranges(runs, x, low, high)
    return low, high


@inner_njit()
def least_and_largest(x, low, high):
    """(least, largest) of a line and of these two; NaN if one number is."""
    i, width = 0, lanes(x)
    if x.size >= 2 * width:
        least, largest = broadcast(low), broadcast(high)
        least_odd, largest_odd = least, largest
        while i + 2 * width <= x.size:
            a, b = load(x, i), load(x, i + width)
            least, least_odd = minimum(least, a), minimum(least_odd, b)
            largest, largest_odd = maximum(largest, a), maximum(largest_odd, b)
            i += 2 * width
        low, high = -reduce_max(-minimum(least, least_odd)), reduce_max(maximum(largest, largest_odd))
    while i < x.size:
        low, high = np.minimum(low, x[i]), np.maximum(high, x[i])
        i += 1
    return low, high


@inner_njit()
def extend(x, low, high):
    """Each number widens the range of its own."""
    i, width = 0, lanes(x)
    while i + width <= x.size:
        number = load(x, i)
        store(low, i, minimum(load(low, i), number))
        store(high, i, maximum(load(high, i), number))
        i += width
    while i < x.size:
        low[i], high[i] = np.minimum(low[i], x[i]), np.maximum(high[i], x[i])
        i += 1


@inner_njit()
def _some_pieces(arguments, task, who):
    runs, x, lows, highs, pieces = arguments
    count, length, total = lows.shape[1], x.shape[1], pieces * x.shape[0]
    block, numbers = slice(task * count, (task + 1) * count), memory(x)
    low, high = memory(lows)[block], memory(highs)[block]
    for piece in range(task * total // len(lows), (task + 1) * total // len(lows)):
        row, begin = piece // pieces, piece % pieces * PIECE
        last = min(begin + PIECE, length)
        while begin < last:
            group = begin // runs.run
            of = (row * runs.groups + group) % low.size
            end = min(last, (group + 1) * runs.run)
            if runs.run == 1:
                end = last
                columns = slice(of, of + end - begin)
                extend(numbers[row * length + begin : row * length + end], low[columns], high[columns])
            else:
                line = numbers[row * length + begin : row * length + end]
                low[of], high[of] = least_and_largest(line, low[of], high[of])
            begin = end


@cached_njit()
def _by_team(arguments, threads, least, team):
    _, _, lows, highs, _ = arguments
    share(_some_pieces, arguments, len(lows), threads, least, team)
    for part in range(1, len(lows)):
        for i in range(lows.shape[1]):
            lows[0, i] = np.minimum(lows[0, i], lows[part, i])
            highs[0, i] = np.maximum(highs[0, i], highs[part, i])


@implementation(
    "choose_qparams",
    device="cpu",
    adds="a vector at a time; all cores, each with results of its own, which are joined",
    dtypes=("float32",),
    public=True,
)
@on_ranges
def qparams_vectors(runs, x, count):
    threads = 1 if x.size < ALONE else team.size()
    lows, highs = np.zeros((threads, count), f32), np.zeros((threads, count), f32)
    _by_team((runs, x, lows, highs, -(-runs.length // PIECE)), threads, x.size // 8, team.members())
    return lows[0], highs[0]
