"""Answers to 12-adam: edits of the master, and others."""

import math

import numpy as np
from answers import MASTER, cut, edit, insert, replace

from dlkernels import cuda


@cuda.jit
def in_float32(p, g, m, v, step, lr, decay, out):
    """right"""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= out.shape[1]:
        return
    b1, b2, one = np.float32(0.9), np.float32(0.999), np.float32(1)
    slope = g[i]
    mean = b1 * m[i] + (one - b1) * slope
    square = b2 * v[i] + (one - b2) * slope * slope
    out[1, i] = mean
    out[2, i] = square
    mean /= np.float32(1 - 0.9**step)
    square /= np.float32(1 - 0.999**step)
    out[0, i] = p[i] * np.float32(1 - lr * decay) - np.float32(lr) * mean / (math.sqrt(square) + np.float32(1e-8))


@cuda.jit
def corrected_in_the_rate(p, g, m, v, step, lr, decay, out):
    """right"""
    i = cuda.grid(1)
    if i < p.size:
        slope = g[i]
        first = m[i]
        second = v[i]
        first += 0.1 * (slope - first)
        second += 0.001 * (slope * slope - second)
        below = math.sqrt(1 - math.pow(0.999, step))
        rate = lr * below / (1 - math.pow(0.9, step))
        weight = p[i]
        out[2, i] = second
        out[1, i] = first
        out[0, i] = weight * (1 - lr * decay) - rate * first / (math.sqrt(second) + 1e-8 * below)


no_correction = edit(
    MASTER,
    "wrong suspect: divide by 1 - beta**step",
    replace("mean / (1 - 0.9**step)", "mean"),
    replace("square / (1 - 0.999**step)", "square"),
)
means_not_corrected = edit(
    MASTER, "wrong suspect: divided by its own correction", replace("mean / (1 - 0.9**step)", "mean")
)
squares_not_corrected = edit(
    MASTER, "wrong suspect: divided by its own correction", replace("square / (1 - 0.999**step)", "square")
)
corrected_averages_kept = edit(
    MASTER,
    "wrong suspect: without the correction",
    replace("out[1, i] = mean", "out[1, i] = rise"),
    replace("out[2, i] = square", "out[2, i] = square / (1 - 0.999**step)"),
)
coupled = edit(
    MASTER,
    "wrong suspect: as in AdamW, it shrinks the parameter",
    replace("weight, slope = p[i], g[i]", "weight = p[i]\nslope = g[i] + decay * weight"),
    replace("weight - lr * decay * weight - lr * rise / root", "weight - lr * rise / root"),
)
no_decay = edit(MASTER, "wrong suspect: The decay is missing", replace(" - lr * decay * weight", ""))
decay_without_rate = edit(
    MASTER, "wrong suspect: without the rate", replace(" - lr * decay * weight", " - decay * weight")
)
no_root = edit(
    MASTER,
    "wrong suspect: It is divided by its root",
    replace("math.sqrt(square / (1 - 0.999**step))", "square / (1 - 0.999**step)"),
)
under_the_root = edit(
    MASTER,
    "wrong suspect: added to the root",
    replace("math.sqrt(square / (1 - 0.999**step)) + 1e-8", "math.sqrt(square / (1 - 0.999**step) + 1e-8)"),
)
old_averages = edit(
    MASTER,
    "wrong suspect: the averages of before",
    replace("rise = mean /", "rise = m[i] /"),
    replace("math.sqrt(square /", "math.sqrt(v[i] /"),
)
step_from_zero = edit(
    MASTER,
    "wrong not-finite: is not 0 from step 1 on",
    replace("0.9**step", "0.9 ** (step - 1)"),
    replace("0.999**step", "0.999 ** (step - 1)"),
)
one_too_many = edit(
    MASTER,
    "wrong suspect: counted one too many",
    replace("0.9**step", "0.9 ** (step + 1)"),
    replace("0.999**step", "0.999 ** (step + 1)"),
)
exchanged = edit(
    MASTER,
    "wrong suspect: changed places",
    replace("0.9 * m[i] + 0.1", "0.999 * m[i] + 0.001"),
    replace("0.999 * v[i] + 0.001", "0.9 * v[i] + 0.1"),
    replace("0.9**step", "0.999**step"),
    replace("0.999**step", "0.9**step"),
)
squared_twice = edit(
    MASTER, "wrong suspect: squares of the gradients", replace("0.001 * slope * slope", "0.001 * slope")
)
no_eps = edit(MASTER, "wrong not-finite: eps is added to the root", replace(" + 1e-8", ""))
up_the_slope = edit(MASTER, "wrong suspect: up the slope", replace("- lr * rise", "+ lr * rise"))
no_guard = edit(MASTER, "wrong out-of-bounds: guard them", replace("if i < p.size:", "if True:"))
one_row = edit(MASTER, "wrong first-round-only: Its three rows", cut("out[1, i] = mean\nout[2, i] = square"))
in_place = edit(
    MASTER,
    "wrong input-changed: Inputs may only be read",
    insert("m[i], v[i] = mean, square", after="out[2, i] = square"),
)
reads_again = edit(
    MASTER,
    "over budget over-budget: read again",
    replace("0.9 * m[i] + 0.1 * slope", "0.9 * m[i] + 0.1 * g[i]"),
    replace("weight - lr * decay * weight", "p[i] - lr * decay * p[i]"),
)
keeps_in_out = edit(
    MASTER,
    "over budget over-budget: out is read back",
    replace("rise = mean / (1 - 0.9**step)", "out[1, i] = mean\nrise = out[1, i] / (1 - 0.9**step)"),
    cut("out[1, i] = mean", after="out[0, i] = weight"),
)
decay_afterwards = edit(
    MASTER,
    "wrong suspect: with p as it was",
    replace("weight - lr * decay * weight - lr * rise / root", "(weight - lr * rise / root) * (1 - lr * decay)"),
)
rows_exchanged = edit(
    MASTER,
    "wrong suspect: The two averages changed places",
    replace("out[1, i] = mean", "out[2, i] = mean"),
    replace("out[2, i] = square", "out[1, i] = square"),
)
mixed = edit(
    MASTER, "wrong suspect: 0.9 and 0.1 changed places", replace("0.9 * m[i] + 0.1 * slope", "0.1 * m[i] + 0.9 * slope")
)
