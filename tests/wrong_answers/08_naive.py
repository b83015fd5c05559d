"""Answers to 08-naive."""

import numpy as np
from answers import edit, replace

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


no_sum = edit("sum_in_an_out_that_holds_nan", "wrong suspect: must be added up", replace("[i, j] += a", "[i, j] = a"))
rows_for_columns_without_a_guard = edit(
    no_guard, "wrong out-of-bounds: `cuda.grid(2)` gives x first", replace("j, i", "i, j")
)
