"""Answers to 11-roofline. CLAIMS: what is said beside each; the last lines say where something else is."""

import numpy as np
from answers import edit
from numba import njit

RESULTS = 2 * 4 * 32
MOVED = 4 * (2 * 4 * 128 + 2 * 128 * 32 + RESULTS)
CLAIMS = {"flops": 2 * 128 * RESULTS, "moved": MOVED, "intensity": 2 * 128 * RESULTS / MOVED, "roof": "memory"}


@njit
def positions_outside(weights, values, out):
    """right"""
    groups, heads, width = out.shape
    for g in range(groups):
        for h in range(heads):
            for c in range(width):
                out[g, h, c] = 0
        for j in range(values.shape[1]):
            for h in range(heads):
                weight = weights[g, h, j]
                for c in range(width):
                    out[g, h, c] += weight * values[g, j, c]


@njit
def group_0(weights, values, out):
    """wrong suspect: Each has its own"""
    for g in range(out.shape[0]):
        for h in range(out.shape[1]):
            for c in range(out.shape[2]):
                total = np.float32(0)
                for j in range(values.shape[1]):
                    total += weights[g, h, j] * values[0, j, c]
                out[g, h, c] = total


@njit
def head_0(weights, values, out):
    """wrong suspect: not the weights"""
    for g in range(out.shape[0]):
        for h in range(out.shape[1]):
            for c in range(out.shape[2]):
                total = np.float32(0)
                for j in range(values.shape[1]):
                    total += weights[g, 0, j] * values[g, j, c]
                out[g, h, c] = total


@njit
def from_1(weights, values, out):
    """wrong suspect: The first position is missing"""
    for g in range(out.shape[0]):
        for h in range(out.shape[1]):
            for c in range(out.shape[2]):
                total = np.float32(0)
                for j in range(min(1, values.shape[1] - 1), values.shape[1]):
                    total += weights[g, h, j] * values[g, j, c]
                out[g, h, c] = total


@njit
def replaced(weights, values, out):
    """wrong suspect: the last position alone"""
    for g in range(out.shape[0]):
        for h in range(out.shape[1]):
            for c in range(out.shape[2]):
                total = np.float32(0)
                for j in range(values.shape[1]):
                    total = weights[g, h, j] * values[g, j, c]
                out[g, h, c] = total


@njit
def no_weights(weights, values, out):
    """wrong suspect: The weights are missing"""
    for g in range(out.shape[0]):
        for h in range(out.shape[1]):
            for c in range(out.shape[2]):
                total = np.float32(0)
                for j in range(values.shape[1]):
                    total += values[g, j, c]
                out[g, h, c] = total


@njit
def divided(weights, values, out):
    """wrong suspect: ready to use"""
    for g in range(out.shape[0]):
        for h in range(out.shape[1]):
            for c in range(out.shape[2]):
                total, below = np.float32(0), np.float32(0)
                for j in range(values.shape[1]):
                    below += weights[g, h, j]
                    total += weights[g, h, j] * values[g, j, c]
                out[g, h, c] = total / below


@njit
def begins_with_what_was_there(weights, values, out):
    """wrong adds-to-old: Begin it with 0"""
    for g in range(out.shape[0]):
        for h in range(out.shape[1]):
            for c in range(out.shape[2]):
                total = out[g, h, c]
                for j in range(values.shape[1]):
                    total += weights[g, h, j] * values[g, j, c]
                out[g, h, c] = total


@njit
def values_for_each_head(weights, values, out):
    """wrong raised-IndexError: values have no axis for the heads"""
    for g in range(out.shape[0]):
        for h in range(out.shape[1]):
            for c in range(out.shape[2]):
                total = np.float32(0)
                for j in range(values.shape[1]):
                    total += weights[g, h, j] * values[g * out.shape[1] + h, j, c]
                out[g, h, c] = total


@njit
def multiplications_only(weights, values, out):
    """wrong flops: That is half of them"""
    for g in range(out.shape[0]):
        for h in range(out.shape[1]):
            for c in range(out.shape[2]):
                total = np.float32(0)
                for j in range(values.shape[1]):
                    total += weights[g, h, j] * values[g, j, c]
                out[g, h, c] = total


one_head_of_them = edit(
    multiplications_only,
    "wrong flops: a multiplication and an addition for each of 128",
    claims={"flops": 64 * RESULTS},
)
values_for_four_heads = edit(
    multiplications_only,
    "wrong moved: that is what sharing saves",
    claims={"moved": 4 * (2 * 4 * 128 + 4 * 2 * 128 * 32 + RESULTS)},
)
elements = edit(multiplications_only, "wrong moved: the number of elements", claims={"moved": MOVED // 4})
arithmetic = edit(multiplications_only, "wrong roof: to the left of it", claims={"roof": "arithmetic"})


for function, claims in ((multiplications_only, {"flops": 128 * RESULTS}),):
    function.py_func.claims = claims
