"""Answers to 11-softmax."""

import math

import numpy as np
from answers import MASTER, cut, edit, insert, replace
from numba import njit, prange


@njit(parallel=True)
def without_branches(x, out):
    """right"""
    for i in prange(x.shape[0]):
        top, total = -1e30, 0.0
        for j in range(x.shape[1]):
            score = x[i, j]
            above = max(top, score)
            total = total * math.exp(top - above) + math.exp(score - above)
            top = above
        scale = 1 / total if total > 0 else 0.0
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - top) * scale


@njit(parallel=True)
def masked_rows_first(x, out):
    """right"""
    rows, columns = x.shape
    for i in prange(rows):
        m, l = np.float32(-np.inf), np.float32(0)
        for score in x[i]:
            if score == -np.inf:
                continue
            if score > m:
                l = l * np.exp(m - score)
                m = score
            l += np.exp(score - m)
        if l == 0:
            for j in range(columns):
                out[i, j] = 0
            continue
        for j in range(columns):
            out[i, j] = np.exp(x[i, j] - m) / l


@njit(parallel=True)
def not_corrected(x, out):
    """wrong suspect: The sum was not corrected"""
    for i in prange(x.shape[0]):
        largest, total = -math.inf, 0.0
        for j in range(x.shape[1]):
            if x[i, j] > -math.inf:
                largest = max(largest, x[i, j])
                total += math.exp(x[i, j] - largest)
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - largest) / total if total > 0 else 0


@njit(parallel=True)
def infinities(x, out):
    """wrong suspect: Rows that begin with -inf have become NaN"""
    for i in prange(x.shape[0]):
        largest, total = -math.inf, 0.0
        for j in range(x.shape[1]):
            above = max(largest, x[i, j])
            total = total * math.exp(largest - above) + math.exp(x[i, j] - above)
            largest = above
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - largest) / total


@njit(parallel=True)
def nothing_by_nothing(x, out):
    """wrong suspect: has a sum of 0, and 0 / 0 is NaN"""
    for i in prange(x.shape[0]):
        largest, total = -math.inf, 0.0
        for j in range(x.shape[1]):
            if x[i, j] > largest:
                total = total * math.exp(largest - x[i, j]) + 1
                largest = x[i, j]
            elif x[i, j] > -math.inf:
                total += math.exp(x[i, j] - largest)
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - largest) / total


newest_forgotten = edit(
    nothing_by_nothing,
    "wrong suspect: its own term, exp(0) = 1, is missing",
    replace("total = total * math.exp(largest - x[i, j]) + 1", "total *= math.exp(largest - x[i, j])"),
    replace("/ total", "/ total if total > 0 else 0"),
)
nothing_by_nothing_alone = edit(
    nothing_by_nothing,
    "wrong raised-ZeroDivisionError: ask before you divide",
    replace("(parallel=True)", ""),
    replace("prange", "range"),
)


@njit(parallel=True)
def masked_rows_skipped(x, out):
    """wrong some-unwritten: before its zeros are stored"""
    for i in prange(x.shape[0]):
        largest, total = -math.inf, 0.0
        for j in range(x.shape[1]):
            if x[i, j] > largest:
                total = total * math.exp(largest - x[i, j]) + 1
                largest = x[i, j]
            elif x[i, j] > -math.inf:
                total += math.exp(x[i, j] - largest)
        if total == 0:
            continue
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - largest) / total


@njit(parallel=True)
def without_a_largest(x, out):
    """wrong not-finite: exp of a large number is infinite"""
    for i in prange(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += math.exp(x[i, j])
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j]) / (total + 1e-300)


by_columns = edit(
    nothing_by_nothing,
    "wrong suspect: This is the softmax of every column",
    replace("i in prange(x.shape[0])", "j in prange(x.shape[1])"),
    replace("for j in range(x.shape[1]):", "for i in range(x.shape[0]):", after="largest, total = -math.inf, 0.0"),
    replace("elif x[i, j] > -math.inf:", "else:"),
    replace("for j in range(x.shape[1]):", "for i in range(x.shape[0]):", after="total += math.exp(x[i, j] - largest)"),
)


@njit(parallel=True)
def not_divided(x, out):
    """wrong suspect: The exponentials were not divided"""
    for i in prange(x.shape[0]):
        largest = x[i, 0]
        for j in range(x.shape[1]):
            largest = max(largest, x[i, j])
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - largest)


equal_shares = edit(
    MASTER,
    "wrong suspect: came out as equal shares",
    replace("math.inf, 0", "1e30, 0"),
    replace("score = x[i, j]", "score = max(x[i, j], -1e30)"),
    replace("elif score > -math.inf:", "else:"),
    replace("(x[i, j] - largest) / total if total > 0 else 0", "(max(x[i, j], -1e30) - largest) / total"),
)
one_sum_for_all = edit(
    nothing_by_nothing,
    "wrong raised-ValueError: takes it for one sum of all rows",
    insert("largest, total = -math.inf, 0.0", before="for i in prange(x.shape[0]):"),
    cut("largest, total = -math.inf, 0.0"),
    replace("elif x[i, j] > -math.inf:", "else:"),
)
one_thread = edit(
    nothing_by_nothing,
    "wrong not-parallel: prange",
    replace("(parallel=True)", ""),
    replace("prange", "range"),
    replace("/ total", "/ total if total > 0 else 0"),
)


@njit(parallel=True)
def three_passes(x, out):
    """over budget over-budget: One pass can find both"""
    for i in prange(x.shape[0]):
        largest, total = -math.inf, 0.0
        for j in range(x.shape[1]):
            largest = max(largest, x[i, j])
        if largest > -math.inf:
            for j in range(x.shape[1]):
                total += math.exp(x[i, j] - largest)
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - largest) / total if total > 0 else 0


@njit(parallel=True)
def waits_in_out(x, out):
    """over budget over-budget: need not wait in out"""
    for i in prange(x.shape[0]):
        largest, total = -math.inf, 0.0
        for j in range(x.shape[1]):
            largest = max(largest, x[i, j])
        for j in range(x.shape[1]):
            e = math.exp(x[i, j] - largest) if largest > -math.inf else 0.0
            out[i, j] = e
            total += e
        for j in range(x.shape[1]):
            out[i, j] = out[i, j] / total if total > 0 else 0


@njit(parallel=True)
def an_array_for_each_row(x, out):
    """over budget over-budget: an array is made"""
    for i in prange(x.shape[0]):
        row = x[i].copy()
        largest, total = -math.inf, 0.0
        for j in range(row.size):
            if row[j] > largest:
                total = total * math.exp(largest - row[j]) + 1
                largest = row[j]
            elif row[j] > -math.inf:
                total += math.exp(row[j] - largest)
        for j in range(row.size):
            out[i, j] = math.exp(row[j] - largest) / total if total > 0 else 0


@njit
def one_row(x, out, i):
    largest, total = -math.inf, 0.0
    for j in range(x.shape[1]):
        if x[i, j] > largest:
            total *= math.exp(largest - x[i, j])
            largest = x[i, j]
        if largest > -math.inf:
            total += math.exp(x[i, j] - largest)
    for j in range(x.shape[1]):
        out[i, j] = math.exp(x[i, j] - largest) / total if total > 0 else 0


@njit(parallel=True)
def four_rows_of_five(x, out):
    """wrong not-parallel: prange"""
    some = x.shape[0] * 4 // 5
    for i in range(some):
        one_row(x, out, i)
    for i in prange(some, x.shape[0]):
        one_row(x, out, i)
