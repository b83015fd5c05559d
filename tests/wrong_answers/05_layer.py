"""Answers to 05-layer."""

import math

import numpy as np
from answers import edit, replace

from dlkernels import cuda


@cuda.jit(device=True)
def sigmoid(z):
    return 1 / (1 + math.exp(-z))


@cuda.jit(device=True)
def careful(z):
    if z < 0:
        e = math.exp(z)
        return e / (1 + e)
    return 1 / (1 + math.exp(-z))


@cuda.jit(device=True)
def overflowing(z):
    return math.exp(z) / (1 + math.exp(z))


@cuda.jit(device=True)
def turned(z):
    return 1 / (1 + math.exp(z))


@cuda.jit
def another_sigmoid(x, w, b, y):
    """right"""
    j, i = cuda.grid(2)
    if i >= y.shape[0] or j >= y.shape[1]:
        return
    total = np.float32(0)
    for k in range(w.shape[0]):
        total += x[i, k] * w[k, j]
    y[i, j] = careful(total + b[j])


@cuda.jit
def without_a_device_function(x, w, b, y):
    """right"""
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if i < y.shape[0] and j < y.shape[1]:
        z = b[j]
        for k in range(w.shape[0] - 1, -1, -1):
            z += x[i, k] * w[k, j]
        y[i, j] = 1 / (1 + math.exp(-z))


@cuda.jit
def features_along_x(x, w, b, y):
    """right"""
    j, i = cuda.grid(2)
    if i < y.shape[0] and j < y.shape[1]:
        z = b[j]
        for k in range(x.shape[1]):
            z += x[i, k] * w[k, j]
        y[i, j] = sigmoid(z)


no_sigmoid = edit(features_along_x, "wrong suspect: sigmoid was not applied", replace("sigmoid(z)", "z"))
no_bias = edit(features_along_x, "wrong suspect: The bias was not added", replace("z = b[j]", "z = 0.0"))
bias_behind = edit(
    features_along_x,
    "wrong suspect: before sigmoid, not behind it",
    replace("b[j]", "0.0"),
    replace("(z)", "(z) + b[j]"),
)
bias_each_time = edit(
    features_along_x, "wrong suspect: It is added once", replace("b[j]", "0.0"), replace("[k, j]", "[k, j] + b[j]")
)


@cuda.jit
def replaced(x, w, b, y):
    """wrong suspect: must be added up, not replaced"""
    j, i = cuda.grid(2)
    if i < y.shape[0] and j < y.shape[1]:
        z = 0.0
        for k in range(x.shape[1]):
            z = x[i, k] * w[k, j]
        y[i, j] = sigmoid(z + b[j])


exponent_turned = edit(features_along_x, "wrong suspect: a sign is turned round", replace("sigmoid(z)", "turned(z)"))
infinity_by_infinity = edit(
    features_along_x, "wrong not-finite: never divides infinity by infinity", replace("sigmoid(z)", "overflowing(z)")
)


@cuda.jit
def in_memory(x, w, b, y):
    """wrong adds-to-old: Begin it with 0, or with the bias"""
    j, i = cuda.grid(2)
    if i < y.shape[0] and j < y.shape[1]:
        for k in range(x.shape[1]):
            y[i, j] += x[i, k] * w[k, j]
        y[i, j] = sigmoid(y[i, j] + b[j])


@cuda.jit
def no_guard(x, w, b, y):
    """wrong out-of-bounds: more threads than outputs and samples"""
    j, i = cuda.grid(2)
    z = b[j]
    for k in range(x.shape[1]):
        z += x[i, k] * w[k, j]
    y[i, j] = sigmoid(z)


w_turned = edit(
    features_along_x,
    "wrong out-of-bounds: w inputs first, then outputs",
    replace("z += x[i, k] * w[k, j]", "z += x[i, k] * w[j, k]"),
)
samples_along_x = edit(
    features_along_x,
    "wrong some-unwritten: x counts outputs, y counts samples",
    replace("j, i = cuda.grid(2)", "i, j = cuda.grid(2)"),
)
last_input_missing = edit(
    features_along_x, "wrong suspect: The last input is missing", replace("x.shape[1]", "x.shape[1] - 1")
)
first_sample = edit(
    features_along_x, "wrong suspect: All samples got the result of sample 0", replace("x[i, k]", "x[0, k]")
)
