"""Answers to 12-adam: edits of the master, and others."""

import math  # noqa: F401  for the answers in mistakes

import numpy as np  # noqa: F401  the same
from answers import MASTER, cut, edit, insert, replace

from dlkernels import cuda  # noqa: F401  the same

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
rows_exchanged = edit(
    MASTER,
    "wrong suspect: The two averages changed places",
    replace("out[1, i] = mean", "out[2, i] = mean"),
    replace("out[2, i] = square", "out[1, i] = square"),
)
mixed = edit(
    MASTER, "wrong suspect: 0.9 and 0.1 changed places", replace("0.9 * m[i] + 0.1 * slope", "0.1 * m[i] + 0.9 * slope")
)
