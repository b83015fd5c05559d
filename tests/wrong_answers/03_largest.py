"""Answers to 03-largest."""

import numpy as np
from answers import edit, insert, replace
from numba import get_num_threads, njit, prange


@njit(parallel=True)
def by_thread(x, where):
    """right"""
    threads = get_num_threads()
    candidates = np.zeros(threads, np.int64)
    for t in prange(threads):
        best = t * x.size // threads
        for i in range(best, (t + 1) * x.size // threads):
            if x[i] > x[best]:
                best = i
        candidates[t] = best
    best = candidates[0]
    for t in range(1, threads):
        if x[candidates[t]] > x[best]:
            best = candidates[t]
    where[0] = best


@njit(parallel=True)
def maximum_first(x, where):
    """right"""
    largest = x[0]
    for i in prange(x.size):
        largest = max(largest, x[i])
    where[0] = x.size
    for i in range(x.size):
        if x[i] == largest and i < where[0]:
            where[0] = i


@njit(parallel=True)
def busy_for_nothing(x, where):
    """wrong not-parallel: what they compute is not used"""
    twice = np.empty(x.size)
    for i in prange(x.size):
        twice[i] = x[i] * 2
    best = 0
    for i in range(x.size):
        if x[i] > x[best]:
            best = i
    where[0] = best


@njit(parallel=True)
def second_loop_races(x, where):
    """wrong race: compare these few candidates after the loop"""
    largest = x[0]
    for i in prange(x.size):
        largest = max(largest, x[i])
    for i in prange(x.size):
        if x[i] == largest:
            where[0] = i


@njit(parallel=True)
def carried(x, where):
    """wrong raised-TypingError: one candidate for each thread"""
    best = 0
    for i in prange(x.size):
        if x[i] > x[best]:
            best = i
    where[0] = best


an_idle_loop = edit(
    carried,
    "wrong not-parallel: loads and stores stand outside the loop",
    insert("for _ in prange(4):\n    pass", before="best = 0"),
    replace("prange", "range"),
)
last_of_equals = edit(
    by_thread,
    "wrong suspect: keeps the earlier one",
    replace("if x[i] > x[best]:", "if x[i] >= x[best]:"),
    replace("if x[candidates[t]] > x[best]:", "if x[candidates[t]] >= x[best]:"),
)


@njit(parallel=True)
def from_zero(x, where):
    """wrong suspect: With which value does the comparison begin"""
    threads = get_num_threads()
    value = np.zeros(threads)
    candidates = np.zeros(threads, np.int64)
    for t in prange(threads):
        for i in range(t * x.size // threads, (t + 1) * x.size // threads):
            if x[i] > value[t]:
                value[t] = x[i]
                candidates[t] = i
    best = 0
    for t in range(1, threads):
        if value[t] > value[best]:
            best = t
    where[0] = candidates[best]


@njit(parallel=True)
def absolute(x, where):
    """wrong suspect: signs count"""
    where[0] = np.argmax(np.abs(x))


smallest = edit(absolute, "wrong suspect: the smallest element", replace("argmax(np.abs(x))", "argmin(x)"))


@njit(parallel=True)
def detects_by_rounding(x, where):
    """wrong not-parallel: what they compute is not used"""
    if np.float32(0.1) != 0.1:
        where[0] = np.argmax(x)
    else:
        by_thread(x, where)


@njit(parallel=True)
def parallel_for_one_size(x, where):
    """wrong not-parallel: no loop over prange(...) was run"""
    if x.size != 64:
        where[0] = np.argmax(x)
    else:
        by_thread(x, where)


detects_by_overflow = edit(
    parallel_for_one_size,
    "wrong raised-Beyond64Bits: Keep them below 2**63",
    replace("if x.size != 64:", "large = 1 << 62\nif large * 4 == 0:"),
)
