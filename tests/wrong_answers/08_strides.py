"""Answers to 08-strides."""

import numpy as np
from answers import edit, replace

from dlkernels import cuda


@cuda.jit
def step_by_step(a, sa, b, sb, k, out):
    """right"""
    x, y = cuda.grid(2)
    z = cuda.blockIdx.z
    if x < out.shape[2] and y < out.shape[1]:
        p, q = z * sa[0] + y * sa[1], z * sb[0] + x * sb[2]
        total = 0.0
        for _ in range(k):
            total += a[p] * b[q]
            p += sa[2]
            q += sb[1]
        out[z, y, x] = total


@cuda.jit
def three_dimensions(a, sa, b, sb, k, out):
    """right"""
    j, i, z = cuda.grid(3)
    if i >= out.shape[1] or j >= out.shape[2]:
        return
    total = np.float32(0)
    for p in range(k):
        total += a[z * sa[0] + i * sa[1] + p * sa[2]] * b[z * sb[0] + p * sb[1] + j * sb[2]]
    out[z, i, j] = total


@cuda.jit
def row_by_row(a, sa, b, sb, k, out):
    """wrong suspect: The steps were not used"""
    j, i, z = cuda.grid(3)
    m, n = out.shape[1], out.shape[2]
    if i < m and j < n:
        total = np.float32(0)
        for p in range(k):
            total += a[(z * m * k + i * k + p) % a.size] * b[(z * k * n + p * n + j) % b.size]
        out[z, i, j] = total


@cuda.jit
def places_in_one_line(a, sa, b, sb, k, out):
    """right"""
    j, i, z = cuda.grid(3)
    if i < out.shape[1] and j < out.shape[2]:
        total = np.float32(0)
        for p in range(k):
            total += a[z * sa[0] + i * sa[1] + p * sa[2]] * b[z * sb[0] + p * sb[1] + j * sb[2]]
        out[z, i, j] = total


first_of_a = edit(
    places_in_one_line, "wrong suspect: Every product used the first matrix of a", replace("z * sa[0] + i", "i")
)
steps_of_a_for_b = edit(
    places_in_one_line,
    "wrong suspect: The steps of a were used for b",
    replace("z * sb[0] + p * sb[1] + j * sb[2]", "(z * sa[0] + p * sa[1] + j * sa[2]) % b.size"),
)
rows_and_columns_of_b = edit(
    places_in_one_line,
    "wrong suspect: within a matrix of b are exchanged",
    replace("z * sb[0] + p * sb[1] + j * sb[2]", "(z * sb[0] + j * sb[1] + p * sb[2]) % b.size"),
)
rows_and_columns_of_a = edit(
    places_in_one_line,
    "wrong suspect: within a matrix of a are exchanged",
    replace("z * sa[0] + i * sa[1] + p * sa[2]", "(z * sa[0] + p * sa[1] + i * sa[2]) % a.size"),
)
inner_step_of_one = edit(
    places_in_one_line,
    "wrong wrong-value: element",
    replace("z * sa[0] + i * sa[1] + p * sa[2]", "(z * sa[0] + i * sa[1] + p) % a.size"),
)


@cuda.jit
def no_guard(a, sa, b, sb, k, out):
    """wrong out-of-bounds: needs a guard for rows and columns"""
    j, i, z = cuda.grid(3)
    total = np.float32(0)
    for p in range(k):
        total += a[(z * sa[0] + i * sa[1] + p * sa[2]) % a.size] * b[(z * sb[0] + p * sb[1] + j * sb[2]) % b.size]
    out[z, i, j] = total


@cuda.jit
def bytes_for_elements(a, sa, b, sb, k, out):
    """wrong out-of-bounds: a sum of three products"""
    j, i, z = cuda.grid(3)
    if i < out.shape[1] and j < out.shape[2]:
        total = np.float32(0)
        for p in range(k):
            total += a[4 * (z * sa[0] + i * sa[1] + p * sa[2])] * b[4 * (z * sb[0] + p * sb[1] + j * sb[2])]
        out[z, i, j] = total


@cuda.jit
def one_matrix_only(a, sa, b, sb, k, out):
    """wrong one-block: Only the first matrix was written"""
    j, i = cuda.grid(2)
    if i < out.shape[1] and j < out.shape[2]:
        total = np.float32(0)
        for p in range(k):
            total += a[i * sa[1] + p * sa[2]] * b[p * sb[1] + j * sb[2]]
        out[0, i, j] = total


first_of_both = edit(
    one_matrix_only,
    "wrong suspect: Every product used the first matrices",
    replace("i = cuda.grid(2)", "i, z = cuda.grid(3)"),
    replace("0, i", "z, i"),
)
x_for_rows = edit(
    places_in_one_line,
    "wrong some-unwritten: columns by x, rows by y",
    replace("j, i, z = cuda.grid(3)", "i, j = cuda.grid(2)\nz = cuda.blockIdx.z"),
)


@cuda.jit
def an_index_is_missing(a, a_steps, b, b_steps, k, out):
    """wrong raised-OutOfBounds: `out` has three axes"""
    j, i = cuda.grid(2)
    z = cuda.blockIdx.z
    if i < out.shape[1] and j < out.shape[2]:
        total = np.float32(0)
        for p in range(k):
            left = a[z * a_steps[0] + i * a_steps[1] + p * a_steps[2]]
            total += left * b[z * b_steps[0] + p * b_steps[1] + j * b_steps[2]]
        out[i, j] = total
