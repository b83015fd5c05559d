"""Answers to 08-ikj."""

import numpy as np
from answers import MASTER, cut, edit, insert, replace
from numba import njit


@njit
def with_a_factor(a, b, out):
    """right"""
    m, n = out.shape
    for i in range(m):
        for j in range(n):
            out[i, j] = 0
        for p in range(a.shape[1]):
            factor = a[i, p]
            for j in range(n):
                out[i, j] = out[i, j] + factor * b[p, j]


@njit
def term_by_term(a, b, out):
    """right"""
    out[:, :] = 0
    for p in range(b.shape[0]):
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                out[i, j] += a[i, p] * b[p, j]


@njit(fastmath=True)
def rows_with_fused_multiply_adds(a, b, out):
    """right"""
    for i in range(out.shape[0]):
        row = out[i]
        row[:] = 0
        for p in range(a.shape[1]):
            for j in range(row.size):
                row[j] += a[i, p] * b[p, j]


in_double_precision = edit(
    MASTER,
    "right",
    insert("factor = np.float64(a[i, p])", before="for j in range(out.shape[1]):"),
    replace("a[i, p]", "factor"),
)


@njit
def as_the_formula_is_written(a, b, out):
    """over budget over-budget: the budget is 0.25"""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = np.float32(0)
            for p in range(a.shape[1]):
                total += a[i, p] * b[p, j]
            out[i, j] = total


@njit
def down_the_columns(a, b, out):
    """over budget over-budget: Which index changes fastest, in your inner loop"""
    out[:] = 0
    for j in range(out.shape[1]):
        for p in range(a.shape[1]):
            for i in range(out.shape[0]):
                out[i, j] += a[i, p] * b[p, j]


vectors_filled_one_by_one = edit(
    as_the_formula_is_written, "over budget over-budget: the budget is 3", replace("@njit", "@njit(fastmath=True)")
)


@njit
def a_vector_loop_beside_the_work(a, b, out):
    """over budget over-budget: the budget is 0.25"""
    for j in range(out.shape[1]):
        out[0, j] = np.float32(0.5) * b[0, j]
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = np.float32(0)
            for p in range(a.shape[1]):
                total += a[i, p] * b[p, j]
            out[i, j] = total


@njit
def a_vector_loop_that_works_for_nothing(a, b, out):
    """over budget over-budget: the budget is 86400"""
    for _ in range(8 * a.shape[1]):
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                out[i, j] = np.float32(0.5) * out[i, j] + b[0, j]
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = np.float32(0)
            for p in range(a.shape[1]):
                total += a[i, p] * b[p, j]
            out[i, j] = total


@njit
def a_vector_loop_that_is_never_run(a, b, out):
    """over budget over-budget: the budget is 0.25"""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = np.float32(0)
            for p in range(a.shape[1]):
                total += a[i, p] * b[p, j]
            out[i, j] = total
    if out.shape[0] > 1000:
        for p in range(a.shape[1]):
            for j in range(out.shape[1]):
                out[0, j] += a[0, p] * b[p, j]


never_set_to_zero = edit(MASTER, "wrong adds-to-old: Begin each sum with 0", cut("out[:] = 0"))


@njit
def zero_in_the_wrong_loop(a, b, out):
    """wrong suspect: must be added up, not replaced"""
    for i in range(out.shape[0]):
        for p in range(a.shape[1]):
            for j in range(out.shape[1]):
                out[i, j] = 0
                out[i, j] += a[i, p] * b[p, j]


a_transposed = edit(MASTER, "wrong suspect: This is a.T @ b", replace("a[i, p]", "a[p, i]"))


@njit
def square_matrices_only(a, b, out):
    """wrong raised-IndexError: rows of a and the columns of b"""
    n = a.shape[1]
    out[:] = 0
    for i in range(n):
        for p in range(n):
            for j in range(n):
                out[i, j] += a[i, p] * b[p, j]


first_term_missing = edit(
    MASTER, "wrong suspect: p = 0, is missing", replace("range(a.shape[1])", "range(1, a.shape[1])")
)


def not_compiled(a, b, out):
    """wrong raised-NotCompiled: @njit"""
    out[:] = a @ b


@njit
def whole_rows(a, b, out):
    """over budget over-budget: makes an array of its own for the products"""
    for i in range(a.shape[0]):
        out[i] = 0
        for p in range(a.shape[1]):
            out[i] += a[i, p] * b[p]
