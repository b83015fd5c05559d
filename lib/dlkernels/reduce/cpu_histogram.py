"""Histograms on the CPU: how many numbers lie in each of equal bins.

The ladder of histogram                   what the rung adds
    histogram_loop         number by number: a branch, a division, and a count that is read, raised and written
    histogram_vectors      the bins of CHUNK numbers at once, in vectors and without branches; then the counts
    histogram_tables       four tables in turn: a count need not wait until the one before is written
    histogram_parallel     all cores: tables for each task, added up in the end

Two equal numbers, one after the other, raise the same count: the second load waits for the first store. In the third
rung they go to different tables. What lies outside has a bin of its own, behind the last one.
"""

import functools

import numpy as np
from numba.extending import register_jitable

from .. import team
from ..implementations import implementation
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..team import share
from .lines import in_memory_order

CHUNK = 2048  # numbers whose bins are found at once: they and their bins fit the smallest cache
TABLES = 4
MOST_IN_TABLES = 2048  # bins; of more, four tables would leave the first cache
PARALLEL_FROM = 1 << 15  # numbers below which waking another thread costs more than it gains
COUNTS = ("int64",)


def on_a_line(rung):
    """Let `rung(low, high, line, counts)` take arrays of any shape and strides. Empty ones never reach it."""

    @functools.wraps(rung)
    def wrapper(low, high, x, counts):
        if x.size:
            rung(low, high, in_memory_order(x)[1].reshape(-1) if x.ndim else x.reshape(1), counts)
        return counts

    return wrapper


# ---- 1: number by number -----------------------------------------------------------------------------------


@cached_njit(error_model="numpy")
def _loop(low, high, x, counts):
    bins, span, last = x.dtype.type(counts.size), high - low, counts.size - 1
    for i in range(x.size):
        if low <= x[i] <= high:  # not so for NaN
            counts[min(int((x[i] - low) * bins / span), last)] += 1


@implementation("histogram", device="cpu", adds="number by number: compare, divide, count", dtypes=COUNTS)
@on_a_line
def histogram_loop(low, high, x, counts):
    _loop(low, high, x, counts)


# ---- 2: first the bins, then the counts --------------------------------------------------------------------


@inner_njit(error_model="numpy")
def find_bins(x, low, high, bins, found):
    """found[i] = the bin of x[i]; `bins` for a number outside."""
    scale, span, zero, last = x.dtype.type(bins), high - low, x.dtype.type(0), np.int32(bins - 1)
    for i in range(x.size):
        value = x[i]
        inside = (value >= low) & (value <= high)
        index = np.int32((value - low if inside else zero) * scale / span)
        index = index if index < last else last
        found[i] = index if inside else np.int32(bins)


@cached_njit()
def _vectors(low, high, x, counts):
    bins, found = counts.size, np.empty(CHUNK, np.int32)
    table = np.zeros(bins + 1, np.int64)
    for start in range(0, x.size, CHUNK):
        count = min(CHUNK, x.size - start)
        find_bins(x[start : start + count], low, high, bins, found)
        for i in range(count):
            table[found[i]] += 1
    counts += table[:bins]


@implementation(
    "histogram",
    device="cpu",
    adds="the bins of some thousand numbers at once, in vectors; then the counts",
    dtypes=COUNTS,
)
@on_a_line
def histogram_vectors(low, high, x, counts):
    _vectors(low, high, x, counts)


# ---- 3: several tables -------------------------------------------------------------------------------------


@inner_njit()
def count_in_tables(found, count, table, apart):
    """Raise counts of tables that lie `apart`, in turn; 0: one table."""
    n_full = count - count % TABLES
    second, third, fourth = np.uint32(apart), np.uint32(2 * apart), np.uint32(3 * apart)
    for i in range(0, n_full, TABLES):
        table[np.uint32(found[i])] += 1
        table[np.uint32(found[i + 1]) + second] += 1
        table[np.uint32(found[i + 2]) + third] += 1
        table[np.uint32(found[i + 3]) + fourth] += 1
    for i in range(n_full, count):
        table[np.uint32(found[i])] += 1


@register_jitable
def apart_for(bins):
    """How far tables lie apart: a bin for what is outside, and never a multiple of a page; 0 where there is one
    only."""
    return bins + 1 + 16 if bins <= MOST_IN_TABLES else 0


@register_jitable
def room_for(bins):
    """Counts of all tables."""
    return TABLES * apart_for(bins) if apart_for(bins) else bins + 1


@inner_njit()
def _some_numbers(arguments, task, who):
    low, high, x, bins, tables = arguments
    tasks, apart = len(tables), apart_for(bins)
    table, found = tables[task], np.empty(CHUNK, np.int32)
    table[:] = 0
    begin, end = task * x.size // tasks, (task + 1) * x.size // tasks
    for start in range(begin, end, CHUNK):
        count = min(CHUNK, end - start)
        find_bins(x[start : start + count], low, high, bins, found)
        count_in_tables(found, count, table, apart)


@cached_njit()
def _tables(low, high, x, counts, tasks, threads, least, team):
    bins = counts.size
    apart, tables = apart_for(bins), np.empty((tasks, room_for(bins)), np.int32)
    share(_some_numbers, (low, high, x, bins, tables), tasks, threads, least, team)
    for task in range(tasks):
        for table_start in range(0, TABLES * apart if apart else 1, max(1, apart)):
            for k in range(bins):
                counts[k] += tables[task, table_start + k]


MOST = 1 << 30  # numbers that a task may count: its counts have 32 bits


@implementation(
    "histogram",
    device="cpu",
    adds="four tables in turn: equal numbers, one after the other, do not wait for each other's count",
    dtypes=COUNTS,
)
@on_a_line
def histogram_tables(low, high, x, counts):
    _tables(low, high, x, counts, -(-x.size // MOST), 1, 0, team.members())


# ---- 4: all cores ------------------------------------------------------------------------------------------


@implementation(
    "histogram", device="cpu", adds="all cores: each task has tables of its own", dtypes=COUNTS, public=True
)
@on_a_line
def histogram_parallel(low, high, x, counts):
    threads = 1 if x.size < PARALLEL_FROM else team.size()
    tasks = -(-x.size // MOST)
    if threads > 1:  # to add up tables must cost little beside filling them
        tasks = max(tasks, min(4 * threads, x.size // (4 * room_for(counts.size))))
    _tables(low, high, x, counts, tasks, threads, x.size, team.members())
