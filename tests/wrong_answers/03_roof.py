"""Answers to 03-roof. What is said beside the loop is CLAIMS, or the function's own `claims`."""

import math  # noqa: F401 (an edit uses it)

from answers import MASTER, edit, replace
from numba import njit, prange

FLOPS, MOVED = 3 * 1024 * 32, 4 * (1024 * 32 + 32 + 1024)
CLAIMS = {"flops": FLOPS, "moved": MOVED, "intensity": FLOPS / MOVED, "roof": "arithmetic"}


@njit(parallel=True)
def subtracted_twice(x, c, out):
    """right"""
    for i in prange(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += (x[i, j] - c[j]) * (x[i, j] - c[j])
        out[i] = total


@njit(parallel=True)
def begun_with_the_first(x, c, out):
    """right"""
    for i in prange(x.shape[0]):
        first = x[i, 0] - c[0]
        total = first * first
        for j in range(1, x.shape[1]):
            d = x[i, j] - c[j]
            total += d * d
        out[i] = total


@njit(parallel=True)
def two_flops(x, c, out):
    """wrong flops: a subtraction, a multiplication, an addition"""
    for i in prange(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            d = x[i, j] - c[j]
            total += d * d
        out[i] = total


centre_for_each_row = edit(
    two_flops, "wrong moved: once for all rows", claims={"moved": 4 * (1024 * 32 + 1024 * 32 + 1024)}
)
elements_for_bytes = edit(two_flops, "wrong moved: A float32 has 4 bytes", claims={"moved": MOVED // 4})
no_roof = edit(two_flops, 'wrong not-a-roof: "memory" or "arithmetic"', claims={"roof": "both"})
on_one_thread = edit(
    two_flops,
    "wrong not-parallel: @njit without parallel=True",
    replace("(parallel=True)", ""),
    replace("prange", "range"),
)
no_centre = edit(
    MASTER,
    "wrong suspect: was not subtracted",
    replace("difference = x[i, j] - c[j]\ntotal += difference * difference", "total += x[i, j] * x[i, j]"),
)


@njit(parallel=True)
def columns_shared_out(x, c, out):
    """wrong race: made inside the prange loop"""
    for i in range(x.shape[0]):
        out[i] = 0
    for j in prange(x.shape[1]):
        for i in range(x.shape[0]):
            out[i] += (x[i, j] - c[j]) * (x[i, j] - c[j])


@njit(parallel=True)
def whole_rows(x, c, out):
    """wrong raised-NotAdmitted: Flops are counted in your source"""
    for i in prange(x.shape[0]):
        out[i] = ((x[i] - c) ** 2).sum()


for function, claims in (
    (subtracted_twice, {"flops": 4 * 1024 * 32, "intensity": 4 * 1024 * 32 / MOVED}),
    (begun_with_the_first, {"flops": 3 * 1024 * 32 - 1024, "intensity": (3 * 1024 * 32 - 1024) / MOVED}),
    (two_flops, {"flops": 2 * 1024 * 32}),
):
    function.py_func.claims = claims


@njit(parallel=True)
def four_rows_of_five(x, c, out):
    """wrong not-parallel: stand outside the loop"""
    some = x.shape[0] * 4 // 5
    for i in range(some):
        total = 0.0
        for j in range(x.shape[1]):
            d = x[i, j] - c[j]
            total += d * d
        out[i] = total
    for i in prange(some, x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            d = x[i, j] - c[j]
            total += d * d
        out[i] = total
