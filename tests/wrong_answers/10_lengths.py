"""Answers to 10-lengths."""

import math

import numpy as np
from answers import MASTER, cut, edit, insert, replace
from numba import njit


@njit
def step_by_step(x, u, lengths, out):
    """right"""
    steps, batch, hidden = x.shape
    for t in range(steps - 1, -1, -1):
        for r in range(batch):
            if t >= lengths[r]:
                out[t, r, :] = 0
                continue
            for j in range(hidden):
                out[t, r, j] = x[t, r, j]
            if t < lengths[r] - 1:
                for k in range(hidden):
                    h = out[t + 1, r, k]
                    for j in range(hidden):
                        out[t, r, j] += u[j, k] * h
            for j in range(hidden):
                out[t, r, j] = np.tanh(out[t, r, j])


forwards = edit(
    MASTER,
    "wrong suspect: from its begin to its end",
    replace("range(lengths[r] - 1, -1, -1)", "range(lengths[r])"),
    replace("if t + 1 < lengths[r]:", "if t > 0:"),
    replace("[t + 1, r, k]", "[t - 1, r, k]"),
)


@njit
def padding_counts(x, u, lengths, out):
    """wrong suspect: the padding counted as if it were steps"""
    steps, batch, hidden = x.shape
    for r in range(batch):
        for t in range(steps - 1, -1, -1):
            for j in range(hidden):
                total = x[t, r, j]
                if t + 1 < steps:
                    for k in range(hidden):
                        total += u[j, k] * out[t + 1, r, k]
                out[t, r, j] = math.tanh(total)


@njit
def padding_as_zeros(x, u, lengths, out):
    """right"""
    steps, batch, hidden = x.shape
    for r in range(batch):
        for t in range(steps - 1, -1, -1):
            for j in range(hidden):
                total = x[t, r, j] if t < lengths[r] else np.float32(0)
                if t + 1 < steps:
                    for k in range(hidden):
                        total += u[j, k] * out[t + 1, r, k]
                out[t, r, j] = math.tanh(total)
        for t in range(lengths[r], steps):
            for j in range(hidden):
                out[t, r, j] = 0


zeros_put_afterwards = edit(
    padding_as_zeros,
    "wrong suspect: the state went through it before",
    replace("[t, r, j] if t < lengths[r] else np.float32(0)", "[t, r, j]"),
)
last_step_missing = edit(
    MASTER,
    "wrong suspect: The last step of each row is missing",
    replace("range(lengths[r], steps)", "range(max(lengths[r] - 1, 0), steps)"),
    replace("lengths[r] - 1", "lengths[r] - 2"),
    replace("if t + 1", "if t + 2"),
)
one_step_too_many = edit(
    MASTER,
    "wrong suspect: One step too many",
    replace("range(lengths[r], steps)", "range(lengths[r] + 1, steps)"),
    replace("lengths[r] - 1", "min(lengths[r], steps - 1)"),
    replace("if t + 1 < lengths[r]:", "if t < min(lengths[r], steps - 1):"),
)
transposed = edit(MASTER, "wrong suspect: The matrix is transposed", replace("u[j, k]", "u[k, j]"))
no_state = edit(MASTER, "wrong suspect: The state before has no part in it", replace("out[t + 1, r, k]", "0"))
not_squashed = edit(MASTER, "wrong suspect: tanh is missing", replace("math.tanh(total)", "total"))


@njit
def carried_over(x, u, lengths, out):
    """wrong suspect: the row before it had left"""
    steps, batch, hidden = x.shape
    h, new = np.zeros(hidden), np.zeros(hidden)
    for r in range(batch):
        for t in range(lengths[r], steps):
            out[t, r, :] = 0
        for t in range(lengths[r] - 1, -1, -1):
            for j in range(hidden):
                total = np.float64(x[t, r, j])
                for k in range(hidden):
                    total += u[j, k] * h[k]
                new[j] = math.tanh(total)
            h[:] = new
            out[t, r, :] = new


length_of_row_0 = edit(
    MASTER,
    "wrong suspect: All rows got the length of row 0",
    replace("range(lengths[r], steps)", "range(lengths[0], steps)"),
    replace("lengths[r] - 1", "lengths[0] - 1"),
    replace("lengths[r]:", "lengths[0]:"),
)


@njit
def new_among_old(x, u, lengths, out):
    """wrong wrong-value: are they all still the old ones"""
    steps, batch, hidden = x.shape
    for r in range(batch):
        h = np.zeros(hidden)
        for t in range(lengths[r], steps):
            out[t, r, :] = 0
        for t in range(lengths[r] - 1, -1, -1):
            for j in range(hidden):
                total = np.float64(x[t, r, j])
                for k in range(hidden):
                    total += u[j, k] * h[k]
                h[j] = math.tanh(total)
            out[t, r, :] = h


padding_left = edit(
    padding_counts,
    "wrong some-unwritten: also in a row of length 0",
    replace("steps, batch, hidden = x.shape", "batch, hidden = x.shape[1:]"),
    replace("steps - 1", "lengths[r] - 1"),
    replace("steps:", "lengths[r]:"),
)
old_out_at_the_end = edit(
    MASTER, "wrong raised-IndexError: there is no step t + 1", replace("if t + 1 < lengths[r]:", "if True:")
)
first_step_from_out = edit(
    padding_as_zeros,
    "wrong adds-to-old: At the last step of a row the state is 0",
    replace("steps - 1", "lengths[r] - 1"),
    replace("total = x[t, r, j] if t < lengths[r] else np.float32(0)", "total = x[t, r, j]"),
)
masked_by_a_product = edit(
    padding_counts, "wrong suspect: 0 * NaN is NaN", replace("(total)", "(total) * (t < lengths[r])")
)
an_array_for_the_state = edit(
    carried_over,
    "over budget over-budget: where did you store it",
    cut("h, new = np.zeros(hidden), np.zeros(hidden)"),
    insert("h = np.zeros(hidden)", before="for t in range(lengths[r], steps):"),
    insert("new = np.zeros(hidden)", before="for j in range(hidden):"),
    replace("[:]", ""),
    replace("[t, r, :] = new", "[t, r, :] = h"),
)
