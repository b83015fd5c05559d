"""Answers to 11-norm."""

import math

import numpy as np
from answers import cut, edit, insert, replace
from numba import njit, prange


@njit(parallel=True)
def welford(x, weight, bias, eps, out):
    """right"""
    for i in prange(x.shape[0]):
        mean, squares = 0.0, 0.0
        for j in range(x.shape[1]):
            one = np.float64(x[i, j])
            before = one - mean
            mean += before / (j + 1)
            squares += before * (one - mean)
        below = math.sqrt(squares / x.shape[1] + eps)
        for j in range(x.shape[1]):
            out[i, j] = weight[j] * ((x[i, j] - mean) / below) + bias[j]


@njit(parallel=True)
def from_the_first_element(x, weight, bias, eps, out):
    """right"""
    n = x.shape[1]
    for i in prange(x.shape[0]):
        first = x[i, 0]
        total, squares = 0.0, 0.0
        for j in range(n):
            d = np.float64(x[i, j]) - first
            total += d
            squares += d * d
        scale = (squares / n - (total / n) ** 2 + eps) ** -0.5
        for j in range(n):
            out[i, j] = (np.float64(x[i, j]) - first - total / n) * scale * weight[j] + bias[j]


@njit(parallel=True)
def squares_less_square(x, weight, bias, eps, out):
    """wrong wrong-value: a difference of two large numbers"""
    n = x.shape[1]
    for i in prange(x.shape[0]):
        total, squares = 0.0, 0.0
        for j in range(n):
            total += x[i, j]
            squares += x[i, j] * x[i, j]
        mean = total / n
        scale = 1 / math.sqrt(abs(squares / n - mean * mean) + eps)
        for j in range(n):
            out[i, j] = (x[i, j] - mean) * scale * weight[j] + bias[j]


@njit(parallel=True)
def all_in_float32(x, weight, bias, eps, out):
    """wrong not-finite: a difference of two large numbers"""
    n = np.float32(x.shape[1])
    for i in prange(x.shape[0]):
        total, squares = np.float32(0), np.float32(0)
        for j in range(x.shape[1]):
            total += x[i, j]
            squares += x[i, j] * x[i, j]
        mean = total / n
        scale = np.float32(1) / np.sqrt(squares / n - mean * mean + np.float32(eps))
        for j in range(x.shape[1]):
            out[i, j] = (x[i, j] - mean) * scale * weight[j] + bias[j]


@njit(parallel=True)
def mean_of_parts(x, weight, bias, eps, out):
    """right"""
    n = x.shape[1]
    for i in prange(x.shape[0]):
        mean, squares = 0.0, 0.0
        for j in range(n):
            mean += x[i, j] / n
        for j in range(n):
            squares += (x[i, j] - mean) ** 2
        scale = 1 / math.sqrt(squares / n + eps)
        for j in range(n):
            out[i, j] = (x[i, j] - mean) * scale * weight[j] + bias[j]


one_less = edit(mean_of_parts, "wrong suspect: divided by one less", replace("squares / n", "squares / (n - 1)"))
eps_outside = edit(
    mean_of_parts,
    "wrong suspect: under the root",
    replace("scale = 1 / math.sqrt(squares / n + eps)", "scale = 1 / (math.sqrt(squares / n) + eps)"),
)
no_root = edit(
    mean_of_parts,
    "wrong suspect: divided by the variance",
    replace("scale = 1 / math.sqrt(squares / n + eps)", "scale = 1 / (squares / n + eps)"),
)
rms = edit(
    mean_of_parts, "wrong suspect: for the variance only", replace("(x[i, j] - mean) * scale", "x[i, j] * scale")
)
no_weight = edit(mean_of_parts, "wrong suspect: The weight is missing", replace("scale * weight[j]", "scale"))
bias_first = edit(
    mean_of_parts,
    "wrong suspect: The bias was multiplied",
    replace("(x[i, j] - mean) * scale * weight[j] + bias", "((x[i, j] - mean) * scale + bias[j]) * weight"),
)
sums_outside = edit(
    mean_of_parts,
    "wrong suspect: Is a sum made before the prange loop",
    insert("mean, squares = 0.0, 0.0", after="n = x.shape[1]"),
    cut("mean, squares = 0.0, 0.0"),
    replace("mean += x", "mean = mean + x"),
    replace("squares +=", "squares = squares +"),
)
weight_of_the_row = edit(
    mean_of_parts, "wrong raised-IndexError: an element for each column", replace("[j] + bias[j]", "[i] + bias[i]")
)


@njit
def one_thread(x, weight, bias, eps, out):
    """wrong not-parallel: prange"""
    n = x.shape[1]
    for i in range(x.shape[0]):
        mean, squares = 0.0, 0.0
        for j in range(n):
            mean += x[i, j]
        mean /= n
        for j in range(n):
            squares += (x[i, j] - mean) ** 2
        scale = 1 / math.sqrt(squares / n + eps)
        for j in range(n):
            out[i, j] = (x[i, j] - mean) * scale * weight[j] + bias[j]


no_eps = edit(
    one_thread,
    "wrong suspect: eps is missing",
    replace("njit", "njit(parallel=True)"),
    replace("i in range", "i in prange"),
    replace("n + eps", "n"),
)
distances_in_out = edit(
    one_thread,
    "over budget over-budget: What waits in out",
    replace("njit", "njit(parallel=True)"),
    replace("i in range", "i in prange"),
    replace("squares += (x[i, j] - mean) ** 2", "out[i, j] = x[i, j] - mean\nsquares += out[i, j] ** 2"),
    replace("(x[i, j] - mean) * scale", "out[i, j] * scale"),
)


@njit(parallel=True)
def a_row_of_distances(x, weight, bias, eps, out):
    """over budget over-budget: an array is made"""
    for i in prange(x.shape[0]):
        row = x[i].astype(np.float64)
        away = row - row.mean()
        scale = 1 / math.sqrt((away * away).mean() + eps)
        for j in range(x.shape[1]):
            out[i, j] = away[j] * scale * weight[j] + bias[j]


@njit
def one_row(x, weight, bias, eps, out, i):
    mean, squares = 0.0, 0.0
    for j in range(x.shape[1]):
        one = np.float64(x[i, j])
        before = one - mean
        mean += before / (j + 1)
        squares += before * (one - mean)
    below = math.sqrt(squares / x.shape[1] + eps)
    for j in range(x.shape[1]):
        out[i, j] = weight[j] * ((x[i, j] - mean) / below) + bias[j]


@njit(parallel=True)
def four_rows_of_five(x, weight, bias, eps, out):
    """wrong not-parallel: prange"""
    some = x.shape[0] * 4 // 5
    for i in range(some):
        one_row(x, weight, bias, eps, out, i)
    for i in prange(some, x.shape[0]):
        one_row(x, weight, bias, eps, out, i)


@njit(parallel=True)
def around_a_loop_of_one(x, weight, bias, eps, out):
    """wrong not-parallel: 100% of the loop's loads and stores"""
    n = x.shape[1]
    for _ in prange(1):
        for i in range(x.shape[0]):
            mean, squares = 0.0, 0.0
            for j in range(n):
                mean += x[i, j]
            mean /= n
            for j in range(n):
                squares += (x[i, j] - mean) ** 2
            scale = 1 / math.sqrt(squares / n + eps)
            for j in range(n):
                out[i, j] = (x[i, j] - mean) * scale * weight[j] + bias[j]
