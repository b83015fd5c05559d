"""Answers to 13-rows."""

import numpy as np
from answers import MASTER, edit, replace

from dlkernels import cuda


@cuda.jit
def by_xor(crow, col, values, x, out):
    """right"""
    lane, row = cuda.laneid, cuda.blockIdx.x
    k, end = crow[row] + lane, crow[row + 1]
    total = np.float32(0)
    while k < end:
        total += x[col[k]] * values[k]
        k += 32
    d = 16
    while d > 0:
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, d)
        d //= 2
    if lane == 31:
        out[row] = total


@cuda.jit
def in_float64(crow, col, values, x, out):
    """right"""
    lane, row = cuda.threadIdx.x, cuda.blockIdx.x
    total = 0.0
    for k in range(crow[row] + lane, crow[row + 1], 32):
        total += np.float64(values[k]) * x[col[k]]
    for d in (1, 2, 4, 8, 16):
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, d)
    if lane == 0:
        out[row] = total


first_round = edit(
    MASTER,
    "wrong suspect: Each row ends after 32 entries",
    replace(
        "range(crow[row] + lane, crow[row + 1], 32)", "range(crow[row] + lane, min(crow[row] + 32, crow[row + 1]), 32)"
    ),
)
values_only = edit(MASTER, "wrong suspect: sums of the values", replace("values[k] * x[col[k]]", "values[k]"))
in_order = edit(
    MASTER, "wrong suspect: in the order of the entries", replace("x[col[k]]", "x[(k - crow[row]) % x.size]")
)
without_first = edit(
    MASTER,
    "wrong suspect: The first entry of each row is missing",
    replace("range(crow[row] + lane,", "range(crow[row] + 1 + lane,"),
)
without_last = edit(
    MASTER,
    "wrong suspect: The last entry of each row is missing",
    replace("crow[row + 1], 32)", "crow[row + 1] - 1, 32)"),
)
all_store = edit(
    MASTER,
    "wrong two-writers: Only lane 0",
    replace("if lane == 0:", "if lane < 4:"),
    replace("out[row] = total", "out[row] = total + lane"),
)
only_full_rows = edit(
    MASTER,
    "wrong some-unwritten: An empty row has a result",
    replace("if lane == 0:", "if lane == 0 and crow[row] < crow[row + 1]:"),
)
beyond = edit(
    MASTER, "wrong negative-index: A row ends before", replace("crow[row + 1], 32)", "crow[row + 1] + 31, 32)")
)
returned = edit(
    MASTER,
    "wrong inactive-lane-read: All 32 lanes have to come",
    replace("total = np.float32(0)", "total = np.float32(0)\nif crow[row] + lane >= crow[row + 1]:\n    return"),
)
with_atomics = edit(
    MASTER,
    "over budget over-budget: This result needs none",
    replace("total += values[k] * x[col[k]]", "cuda.atomic.add(out, row, values[k] * x[col[k]])"),
    replace("total = np.float32(0)", "total = np.float32(0)\nif lane == 0:\n    out[row] = total\ncuda.syncthreads()"),
    replace("if lane == 0:\n    out[row] = total", "", after="shfl_down_sync(0xFFFFFFFF, total, d)"),
)
