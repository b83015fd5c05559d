"""Answers to 03-softmax."""

import math

import numpy as np
from answers import cut, edit, replace
from numba import njit, prange


@njit(parallel=True)
def three_loops(x, out):
    """right"""
    rows, columns = x.shape
    for i in prange(rows):
        largest = x[i, 0]
        for j in range(1, columns):
            largest = max(largest, x[i, j])
        total = 0.0
        for j in range(columns):
            out[i, j] = math.exp(x[i, j] - largest)
            total += out[i, j]
        for j in range(columns):
            out[i, j] = out[i, j] / total


@njit(parallel=True)
def shared_scratch(x, out):
    """wrong race: the same scratch element"""
    e = np.empty(x.shape[1])
    for i in prange(x.shape[0]):
        top = x[i, 0]
        for j in range(x.shape[1]):
            top = max(top, x[i, j])
        total = 0.0
        for j in range(x.shape[1]):
            e[j] = math.exp(x[i, j] - top)
            total += e[j]
        for j in range(x.shape[1]):
            out[i, j] = e[j] / total


exponent_twice = edit(
    shared_scratch,
    "right",
    cut("e = np.empty(x.shape[1])"),
    replace("top = max(top, x[i, j])", "if x[i, j] > top:\n    top = x[i, j]"),
    replace("e[j] = math.exp(x[i, j] - top)\ntotal += e[j]", "total += np.exp(x[i, j] - top)"),
    replace("e[j] / total", "np.exp(x[i, j] - top) / total"),
)
shared_total = edit(
    shared_scratch,
    "wrong race: must be a scalar inside the loop",
    replace("e = np.empty(x.shape[1])", "total = np.zeros(1)"),
    replace("total = 0.0", "total[0] = 0"),
    replace("e[j] = math", "out[i, j] = math"),
    replace("total += e[j]", "total[0] += out[i, j]"),
    replace("[i, j] = e[j] / total", "[i, j] /= total[0]"),
)


@njit(parallel=True)
def no_largest(x, out):
    """wrong not-finite: Subtract the largest element of the row first"""
    for i in prange(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += math.exp(x[i, j])
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j]) / total


@njit(parallel=True)
def not_divided(x, out):
    """wrong suspect: not divided by their sum"""
    for i in prange(x.shape[0]):
        top = x[i, 0]
        for j in range(x.shape[1]):
            top = max(top, x[i, j])
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - top)


@njit(parallel=True)
def columns(x, out):
    """wrong suspect: the softmax of every column"""
    for j in prange(x.shape[1]):
        top = x[0, j]
        for i in range(x.shape[0]):
            top = max(top, x[i, j])
        total = 0.0
        for i in range(x.shape[0]):
            total += math.exp(x[i, j] - top)
        for i in range(x.shape[0]):
            out[i, j] = math.exp(x[i, j] - top) / total


@njit(parallel=True)
def whole_matrix(x, out):
    """wrong suspect: the sum belongs to a row"""
    top = x[0, 0]
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            top = max(top, x[i, j])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total += math.exp(x[i, j] - top)
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - top) / total


@njit(parallel=True)
def an_array_for_each_row(x, out):
    """over budget over-budget: an array is made for each row"""
    for i in prange(x.shape[0]):
        e = np.exp(x[i] - x[i].max())
        total = e.sum()
        for j in range(x.shape[1]):
            out[i, j] = e[j] / total


@njit(parallel=True)
def parallel_at_the_end(x, out):
    """wrong not-parallel: stand outside the loop"""
    for i in range(x.shape[0]):
        largest = x[i].max()
        total = np.float32(0)
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - largest)
            total += out[i, j]
        for j in prange(x.shape[1]):
            out[i, j] /= total


adds_to_old_numbers = edit(
    parallel_at_the_end,
    "wrong adds-to-old: what stood in the output before",
    replace("i in range", "i in prange"),
    replace("[i, j] = math", "[i, j] += math"),
    replace("prange", "range"),
)


@njit
def one_row(x, out, i):
    largest = x[i].max()
    total = np.float32(0)
    for j in range(x.shape[1]):
        out[i, j] = math.exp(x[i, j] - largest)
        total += out[i, j]
    for j in range(x.shape[1]):
        out[i, j] /= total


@njit(parallel=True)
def detects_by_overflow(x, out):
    """wrong raised-Beyond64Bits: wrap around beyond"""
    large = 1 << 62
    large *= 4
    if large > 0:
        for i in prange(x.shape[0]):
            one_row(x, out, i)
    else:
        for i in range(x.shape[0]):
            one_row(x, out, i)


@njit(parallel=True)
def parallel_for_one_size(x, out):
    """wrong not-parallel: no loop over prange(...) was run"""
    if x.shape[0] == 6:
        for i in prange(x.shape[0]):
            one_row(x, out, i)
    else:
        for i in range(x.shape[0]):
            one_row(x, out, i)


detects_by_rounding = edit(
    parallel_for_one_size,
    "wrong not-parallel: what they compute is not used",
    replace("x.shape[0] == 6", "np.float32(0.1) == 0.1"),
)


@njit(parallel=True)
def a_sum_for_the_other_sizes(x, out):
    """wrong not-parallel: stand outside the loop"""
    if x.shape[0] == 6:
        for i in prange(x.shape[0]):
            one_row(x, out, i)
    else:
        begin = -6
        for k in prange(4):
            begin += k
        for i in range(begin, x.shape[0]):
            one_row(x, out, i)


@njit(parallel=True)
def four_rows_of_five(x, out):
    """wrong not-parallel: stand outside the loop"""
    some = x.shape[0] * 4 // 5
    for i in range(some):
        one_row(x, out, i)
    for i in prange(some, x.shape[0]):
        one_row(x, out, i)
