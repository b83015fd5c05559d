"""Answers to 07-fused."""

import math

import numpy as np
from answers import cut, edit, replace
from numba import njit, prange


@njit(parallel=True)
def by_element(x, bias, out):
    """right"""
    features = x.shape[1]
    for k in prange(x.size):
        i, j = k // features, k % features
        z = x[i, j] + bias[j]
        out[i, j] = z * (0.5 + 0.5 * math.tanh(0.5 * z))


@njit
def without_threads(x, bias, out):
    """wrong not-parallel: @njit without parallel=True"""
    rows, columns = x.shape
    for i in range(rows):
        for j in range(columns):
            out[i, j] = (x[i, j] + bias[j]) / (np.exp(-x[i, j] - bias[j]) + 1)


@njit(parallel=True)
def no_bias(x, bias, out):
    """wrong suspect: the bias was not added"""
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] / (1 + math.exp(-x[i, j]))


@njit(parallel=True)
def only_sigmoid(x, bias, out):
    """wrong suspect: This is sigmoid(z)"""
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = 1 / (1 + math.exp(-(x[i, j] + bias[j])))


@njit(parallel=True)
def overflows(x, bias, out):
    """wrong not-finite: never divides infinity by infinity"""
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            e = np.exp(np.float64(x[i, j] + bias[j]))
            out[i, j] = (x[i, j] + bias[j]) * (e / (1 + e))


@njit(parallel=True)
def an_array_for_each_row(x, bias, out):
    """over budget over-budget: Work on one number at a time"""
    for i in prange(x.shape[0]):
        z = x[i] + bias
        for j in range(x.shape[1]):
            out[i, j] = z[j] / (1 + math.exp(-z[j]))


not_compiled = edit("whole_arrays", "wrong raised-NotCompiled: @njit", cut("@njit(parallel=True)"))
relu = edit(
    no_bias, "wrong suspect: This is ReLU", replace("x[i, j] / (1 + math.exp(-x[i, j]))", "max(x[i, j] + bias[j], 0)")
)


@njit(parallel=True)
def one_number_for_all_threads(x, bias, out):
    """wrong race: an element of its own"""
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            out[0, 0] = x[i, j] + bias[j]
            out[i, j] = out[0, 0] / (1 + math.exp(-out[0, 0]))


@njit(parallel=True)
def four_rows_of_five(x, bias, out):
    """wrong not-parallel: stand outside the loop"""
    some = x.shape[0] * 4 // 5
    for i in range(some):
        for j in range(x.shape[1]):
            z = x[i, j] + bias[j]
            out[i, j] = z / (1 + math.exp(-z))
    for i in prange(some, x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] + bias[j]
            out[i, j] = z / (1 + math.exp(-z))
