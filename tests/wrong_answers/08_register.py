"""Answers to 08-register."""

import numpy as np
from answers import edit, insert, replace
from numba import njit


@njit
def two_rows_four_steps(a, b, out):
    """right"""
    (m, n), k = out.shape, a.shape[1]
    pairs, fours = m - m % 2, k - k % 4
    out[:] = 0
    for i in range(0, pairs, 2):
        for p in range(0, fours, 4):
            x0, x1, x2, x3 = a[i, p], a[i, p + 1], a[i, p + 2], a[i, p + 3]
            y0, y1, y2, y3 = a[i + 1, p], a[i + 1, p + 1], a[i + 1, p + 2], a[i + 1, p + 3]
            for j in range(n):
                b0, b1, b2, b3 = b[p, j], b[p + 1, j], b[p + 2, j], b[p + 3, j]
                out[i, j] += x0 * b0 + x1 * b1 + x2 * b2 + x3 * b3
                out[i + 1, j] += y0 * b0 + y1 * b1 + y2 * b2 + y3 * b3
        for p in range(fours, k):
            for j in range(n):
                out[i, j] += a[i, p] * b[p, j]
                out[i + 1, j] += a[i + 1, p] * b[p, j]
    for i in range(pairs, m):
        for p in range(k):
            for j in range(n):
                out[i, j] += a[i, p] * b[p, j]


@njit(fastmath=True)
def eight_steps(a, b, out):
    """right"""
    (m, n), k = out.shape, a.shape[1]
    out[:] = 0
    for i in range(m):
        p = 0
        while p + 8 <= k:
            for j in range(n):
                total = out[i, j]
                for q in range(8):
                    total += a[i, p + q] * b[p + q, j]
                out[i, j] = total
            p += 8
        while p < k:
            for j in range(n):
                out[i, j] += a[i, p] * b[p, j]
            p += 1


@njit
def as_task_2(a, b, out):
    """over budget over-budget: 3; the budget is 1.75"""
    out[:] = 0
    for i in range(out.shape[0]):
        for p in range(a.shape[1]):
            for j in range(out.shape[1]):
                out[i, j] += a[i, p] * b[p, j]


@njit
def four_rows(a, b, out):
    """over budget over-budget: could not fill vectors"""
    (m, n), k = out.shape, a.shape[1]
    fours = m - m % 4
    out[:] = 0
    for p in range(k):
        for i in range(0, fours, 4):
            x0, x1, x2, x3 = a[i, p], a[i + 1, p], a[i + 2, p], a[i + 3, p]
            for j in range(n):
                y = b[p, j]
                out[i, j] += x0 * y
                out[i + 1, j] += x1 * y
                out[i + 2, j] += x2 * y
                out[i + 3, j] += x3 * y
        for i in range(fours, m):
            for j in range(n):
                out[i, j] += a[i, p] * b[p, j]


@njit
def a_thrifty_loop_beside_the_work(a, b, out):
    """over budget over-budget: the budget is 1.75"""
    if a.shape[1] >= 4:
        for j in range(out.shape[1]):
            out[0, j] = a[0, 0] * b[0, j] + a[0, 1] * b[1, j] + a[0, 2] * b[2, j] + a[0, 3] * b[3, j]
    out[:] = 0
    for i in range(out.shape[0]):
        for p in range(a.shape[1]):
            for j in range(out.shape[1]):
                out[i, j] += a[i, p] * b[p, j]


@njit
def a_temporary_for_each_row(a, b, out):
    """over budget over-budget: an array is allocated"""
    (m, n), k = out.shape, a.shape[1]
    fours = k - k % 4
    for i in range(m):
        total = np.zeros(n, np.float32)
        for p in range(0, fours, 4):
            x0, x1, x2, x3 = a[i, p], a[i, p + 1], a[i, p + 2], a[i, p + 3]
            for j in range(n):
                total[j] += x0 * b[p, j] + x1 * b[p + 1, j] + x2 * b[p + 2, j] + x3 * b[p + 3, j]
        for p in range(fours, k):
            for j in range(n):
                total[j] += a[i, p] * b[p, j]
        for j in range(n):
            out[i, j] = total[j]


@njit
def four_sums_that_are_not_vectors(a, b, out):
    """over budget over-budget: could not fill vectors"""
    (m, n), k = out.shape, a.shape[1]
    for i in range(m):
        for j in range(0, n - n % 4, 4):
            t0 = t1 = t2 = t3 = np.float32(0)
            for p in range(k):
                t0 += a[i, p] * b[p, j]
                t1 += a[i, p] * b[p, j + 1] * np.float32(1)
                t2 += a[i, p] * b[p, j + 2] * np.float32(1)
                t3 += a[i, p] * b[p, j + 3] * np.float32(1)
            out[i, j] = t0
            out[i, j + 1] = t1
            out[i, j + 2] = t2
            out[i, j + 3] = t3
        for j in range(n - n % 4, n):
            out[i, j] = 0
            for p in range(k):
                out[i, j] += a[i, p] * b[p, j]


@njit
def the_rest_is_forgotten(a, b, out):
    """wrong suspect: after the last multiple of 4"""
    (m, n), k = out.shape, a.shape[1]
    out[:] = 0
    for i in range(m):
        for p in range(0, k - k % 4, 4):
            x0, x1, x2, x3 = a[i, p], a[i, p + 1], a[i, p + 2], a[i, p + 3]
            for j in range(n):
                out[i, j] += x0 * b[p, j] + x1 * b[p + 1, j] + x2 * b[p + 2, j] + x3 * b[p + 3, j]


beyond_the_end = edit(
    the_rest_is_forgotten, "wrong raised-IndexError: no multiple of what you unrolled by", replace("k - k % 4", "k")
)


@njit
def rows_left_over_forgotten(a, b, out):
    """wrong some-unwritten: These rows are left over"""
    (m, n), k = out.shape, a.shape[1]
    for i in range(0, m - m % 4, 4):
        for j in range(n):
            for r in range(4):
                out[i + r, j] = 0
        for p in range(k):
            x0, x1, x2, x3 = a[i, p], a[i + 1, p], a[i + 2, p], a[i + 3, p]
            for j in range(n):
                y = b[p, j]
                out[i, j] += x0 * y
                out[i + 1, j] += x1 * y
                out[i + 2, j] += x2 * y
                out[i + 3, j] += x3 * y


@njit
def never_set_to_zero(a, b, out):
    """wrong adds-to-old: Begin each sum with 0"""
    (m, n), k = out.shape, a.shape[1]
    for i in range(m):
        for p in range(0, k - k % 4, 4):
            x0, x1, x2, x3 = a[i, p], a[i, p + 1], a[i, p + 2], a[i, p + 3]
            for j in range(n):
                out[i, j] += x0 * b[p, j] + x1 * b[p + 1, j] + x2 * b[p + 2, j] + x3 * b[p + 3, j]
        for p in range(k - k % 4, k):
            for j in range(n):
                out[i, j] += a[i, p] * b[p, j]


the_last_step_wrong = edit(
    never_set_to_zero,
    "wrong wrong-value: Each row of `out` needs",
    insert("out[:] = 0", after="(m, n), k = out.shape, a.shape[1]"),
    replace("3, j", "2, j"),
)


@njit
def two_rows_stored_in_between(a, b, out):
    """over budget over-budget: `b` is loaded again after each store"""
    out[:] = 0
    (m, n), k = out.shape, a.shape[1]
    for i in range(0, m - m % 2, 2):
        for p in range(0, k - k % 2, 2):
            for j in range(n):
                out[i, j] += a[i, p] * b[p, j] + a[i, p + 1] * b[p + 1, j]
                out[i + 1, j] += a[i + 1, p] * b[p, j] + a[i + 1, p + 1] * b[p + 1, j]
        for p in range(k - k % 2, k):
            for j in range(n):
                out[i, j] += a[i, p] * b[p, j]
                out[i + 1, j] += a[i + 1, p] * b[p, j]
    for i in range(m - m % 2, m):
        for p in range(k):
            for j in range(n):
                out[i, j] += a[i, p] * b[p, j]


@njit
def two_rows_with_what_they_share_in_variables(a, b, out):
    """right"""
    out[:] = 0
    (m, n), k = out.shape, a.shape[1]
    for i in range(0, m - m % 2, 2):
        for p in range(0, k - k % 2, 2):
            for j in range(n):
                b0, b1 = b[p, j], b[p + 1, j]
                out[i, j] += a[i, p] * b0 + a[i, p + 1] * b1
                out[i + 1, j] += a[i + 1, p] * b0 + a[i + 1, p + 1] * b1
        for p in range(k - k % 2, k):
            for j in range(n):
                out[i, j] += a[i, p] * b[p, j]
                out[i + 1, j] += a[i + 1, p] * b[p, j]
    for i in range(m - m % 2, m):
        for p in range(k):
            for j in range(n):
                out[i, j] += a[i, p] * b[p, j]


@njit
def products_in_one_loop_and_sums_in_another(a, b, out):
    """over budget over-budget: asks memory too often"""
    (m, n), k = out.shape, a.shape[1]
    one = a[0, 0] * np.float32(0) + np.float32(1)
    out[:] = 0
    for i in range(m - 1):
        for p in range(k):
            x = a[i, p]
            if p % 4 == 0:
                for j in range(n):
                    out[i + 1, j] = (x * b[p, j]) * one
            else:
                for j in range(n):
                    out[i + 1, j] = x * b[p, j]
            for j in range(n):
                out[i, j] += out[i + 1, j]
        out[i + 1] = 0
    for p in range(k):
        for j in range(n):
            out[m - 1, j] += a[m - 1, p] * b[p, j]
