"""Answers to 04-sums."""

import numpy as np
from answers import MASTER, cut, edit, replace
from numba import njit


@njit
def row_by_row(x, w, out):
    """right"""
    rows, columns = x.shape
    for j in range(columns):
        out[j] = 0
    for i in range(rows):
        row = x[i]
        for j in range(columns):
            out[j] = out[j] + row[j] * w[i]


@njit
def two_rows_at_once(x, w, out):
    """right"""
    out[:] = 0
    rows = x.shape[0]
    for i in range(0, rows - 1, 2):
        first, second = w[i], w[i + 1]
        for j in range(x.shape[1]):
            out[j] += first * x[i, j] + second * x[i + 1, j]
    if rows % 2:
        for j in range(x.shape[1]):
            out[j] += w[rows - 1] * x[rows - 1, j]


any_order_but_down_the_columns = edit(
    "sum_by_sum", "over budget over-budget: ; the budget is", replace("@njit", "@njit(fastmath=True)")
)


@njit
def replaced(x, w, out):
    """wrong suspect: must be added up, not replaced"""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[j] = w[i] * x[i, j]


weights_missing = edit(
    MASTER, "wrong suspect: the weights are missing", cut("factor = w[i]"), replace("factor * x[i, j]", "x[i, j]")
)
along_the_rows = edit(
    MASTER, "wrong suspect: added along each row", cut("factor = w[i]"), replace("[j] += factor", "[i] += w[j]")
)


@njit
def first_row_missing(x, w, out):
    """wrong suspect: The first row is missing"""
    out[:] = 0
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            out[j] += w[i] * x[i, j]


@njit
def one_total_for_all(x, w, out):
    """wrong suspect: begin every column with 0"""
    total = np.float32(0)
    for j in range(x.shape[1]):
        for i in range(x.shape[0]):
            total += w[i] * x[i, j]
        out[j] = total


def not_compiled(x, w, out):
    """wrong raised-NotCompiled: @njit"""
    out[:] = w @ x
