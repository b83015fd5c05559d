"""Answers to 11-roofline. CLAIMS: what is said beside each; the last lines say where something else is."""

import numpy as np
from answers import edit, insert, replace
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
def multiplications_only(weights, values, out):
    """wrong flops: That is half of them"""
    for g in range(out.shape[0]):
        for h in range(out.shape[1]):
            for c in range(out.shape[2]):
                total = np.float32(0)
                for j in range(values.shape[1]):
                    total += weights[g, h, j] * values[g, j, c]
                out[g, h, c] = total


group_0 = edit(multiplications_only, "wrong suspect: Each has its own", replace("g, j", "0, j"))
head_0 = edit(multiplications_only, "wrong suspect: not the weights", replace("h, j", "0, j"))
from_1 = edit(
    multiplications_only,
    "wrong suspect: The first position is missing",
    replace("values.shape", "min(1, values.shape[1] - 1), values.shape"),
)
replaced = edit(
    multiplications_only, "wrong suspect: the last position alone", replace("total += weights", "total = weights")
)
no_weights = edit(
    multiplications_only, "wrong suspect: The weights are missing", replace("weights[g, h, j] * values", "values")
)
divided = edit(
    multiplications_only,
    "wrong suspect: ready to use",
    replace("total = np", "total, below = np.float32(0), np"),
    insert("below += weights[g, h, j]", before="total += weights[g, h, j] * values[g, j, c]"),
    replace("[g, h, c] = total", "[g, h, c] = total / below"),
)
begins_with_what_was_there = edit(
    multiplications_only, "wrong adds-to-old: Begin it with 0", replace("np.float32(0)", "out[g, h, c]")
)
values_for_each_head = edit(
    multiplications_only,
    "wrong raised-IndexError: values have no axis for the heads",
    replace("g, j", "g * out.shape[1] + h, j"),
)
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
