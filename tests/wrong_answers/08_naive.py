"""Answers to 08-naive."""

import numpy as np
from answers import MASTER, edit, insert, replace

from dlkernels import cuda


@cuda.jit
def by_hand(a, b, out):
    """right"""
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    column = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row >= out.shape[0] or column >= out.shape[1]:
        return
    total = np.float64(0)
    p = 0
    while p < b.shape[0]:
        total += np.float64(a[row, p]) * b[p, column]
        p += 1
    out[row, column] = total


@cuda.jit
def column_of_the_grid_row_of_the_warp(a, b, out):
    """over budget over-budget: `threadIdx.x` changes fastest"""
    i = cuda.blockIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    j = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if i < out.shape[0] and j < out.shape[1]:
        total = np.float32(0)
        for p in range(a.shape[1]):
            total += a[i, p] * b[p, j]
        out[i, j] = total


@cuda.jit
def no_guard(a, b, out):
    """wrong out-of-bounds: at the row and at the column"""
    j, i = cuda.grid(2)
    total = np.float32(0)
    for p in range(a.shape[1]):
        total += a[i, p] * b[p, j]
    out[i, j] = total


guard_of_rows_only = edit(
    MASTER, "wrong out-of-bounds: at the row and at the column", replace("[0] and j < out.shape[1]", "[0]")
)
row_from_x = edit(
    MASTER, "wrong some-unwritten: cuda.grid(2) gives x first", replace("j, i = cuda.grid(2)", "i, j = cuda.grid(2)")
)
one_block_only = edit(
    MASTER,
    "wrong some-unwritten: x counts blocks and threads along a row",
    replace("j, i = cuda.grid(2)", "j, i = cuda.threadIdx.x, cuda.threadIdx.y"),
)
b_transposed = edit(MASTER, "wrong suspect: This is a @ b.T", replace("a[i, p] * b[p, j]", "a[i, p] * b[j, p]"))


@cuda.jit
def sum_in_an_out_that_holds_nan(a, b, out):
    """wrong adds-to-old: Begin each sum with 0"""
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        for p in range(a.shape[1]):
            out[i, j] += a[i, p] * b[p, j]


no_sum = edit(sum_in_an_out_that_holds_nan, "wrong suspect: must be added up", replace("[i, j] += a", "[i, j] = a"))
sixteen_terms = edit(MASTER, "wrong out-of-bounds: p runs over the columns of `a`", replace("a.shape[1]", "16"))
stored_in_every_round = edit(
    sum_in_an_out_that_holds_nan,
    "over budget over-budget: stored more than once",
    insert("total = np.float32(0)", before="for p in range(a.shape[1]):"),
    replace("out[i, j] += a[i, p] * b[p, j]", "total += a[i, p] * b[p, j]\nout[i, j] = total"),
)
rows_for_columns_without_a_guard = edit(
    no_guard, "wrong out-of-bounds: `cuda.grid(2)` gives x first", replace("j, i", "i, j")
)
