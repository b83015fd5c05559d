"""Answers to 09-winograd."""

import math

import numpy as np
from answers import MASTER, cut, edit, replace
from numba import njit

weights_by_number = edit(
    MASTER,
    "right",
    cut("first, last = g[0], g[2]"),
    replace("m0 = (x[i] - x[i + 2]) * first", "m0 = (x[i] - x[i + 2]) * g[0]"),
    replace("m3 = (x[i + 1] - x[i + 3]) * last", "m3 = (x[i + 1] - x[i + 3]) * g[2]"),
)
halves_by_products = edit(
    weights_by_number,
    "right",
    replace(
        "plus, minus = (g[0] + g[1] + g[2]) / 2, (g[0] - g[1] + g[2]) / 2",
        "plus, minus = 0.5 * (g[0] + g[1] + g[2]), 0.5 * (g[0] - g[1] + g[2])",
    ),
)


@njit
def pairs_counted(x, g, out):
    """right"""
    whole, half = g[0] + g[2], np.float32(0.5)
    plus, minus = half * (whole + g[1]), half * (whole - g[1])
    for p in range(out.size // 2):
        a, b, c, d = x[2 * p], x[2 * p + 1], x[2 * p + 2], x[2 * p + 3]
        m1, m2 = (b + c) * plus, (c - b) * minus
        out[2 * p] = (a - c) * g[0] + (m1 + m2)
        out[2 * p + 1] = (m1 - m2) - (b - d) * g[2]
    for i in range(out.size // 2 * 2, out.size):
        total = np.float32(0)
        for t in range(3):
            total += g[t] * x[i + t]
        out[i] = total


not_halved = edit(
    weights_by_number,
    "wrong suspect: must be halved",
    replace(
        "plus, minus = (g[0] + g[1] + g[2]) / 2, (g[0] - g[1] + g[2]) / 2",
        "plus, minus = (g[0] + g[1] + g[2]), (g[0] - g[1] + g[2])",
    ),
)
third_turned = edit(
    weights_by_number, "wrong suspect: The third product", replace("x[i + 2] - x[i + 1]", "x[i + 1] - x[i + 2]")
)
fourth_turned = edit(
    weights_by_number, "wrong suspect: The fourth product", replace("x[i + 1] - x[i + 3]", "x[i + 3] - x[i + 1]")
)
first_turned = edit(
    weights_by_number, "wrong suspect: The first product", replace("x[i] - x[i + 2]", "x[i + 2] - x[i]")
)
m2_added = edit(weights_by_number, "wrong suspect: m2 was added", replace("m1 - m2", "m1 + m2"))
m3_missing = edit(
    weights_by_number,
    "wrong suspect: m3 is missing",
    cut("m3 = (x[i + 1] - x[i + 3]) * g[2]"),
    replace("- m2 - m3", "- m2"),
)
turned = edit(
    weights_by_number,
    "wrong suspect: The weights are turned round",
    replace("m0 = (x[i] - x[i + 2]) * g[0]", "m0 = (x[i] - x[i + 2]) * g[2]"),
    replace("m3 = (x[i + 1] - x[i + 3]) * g[2]", "m3 = (x[i + 1] - x[i + 3]) * g[0]"),
    replace("g[0] * x[i] + g[1] * x[i + 1] + g[2]", "g[2] * x[i] + g[1] * x[i + 1] + g[0]"),
)
twice_the_first = edit(
    weights_by_number,
    "wrong suspect: Both results of a pair",
    cut("m3 = (x[i + 1] - x[i + 3]) * g[2]"),
    replace("m1 - m2 - m3", "m0 + m1 + m2"),
)


@njit
def last_left_out(x, g, out):
    """wrong some-unwritten: the last one is left over"""
    plus, minus = (g[0] + g[1] + g[2]) / 2, (g[0] - g[1] + g[2]) / 2
    for i in range(0, out.size - 1, 2):
        m0 = (x[i] - x[i + 2]) * g[0]
        m1 = (x[i + 1] + x[i + 2]) * plus
        m2 = (x[i + 2] - x[i + 1]) * minus
        m3 = (x[i + 1] - x[i + 3]) * g[2]
        out[i] = m0 + m1 + m2
        out[i + 1] = m1 - m2 - m3


only_even = edit(
    weights_by_number,
    "wrong some-unwritten: each stores out[i] and out[i + 1]",
    cut("m3 = (x[i + 1] - x[i + 3]) * g[2]"),
    cut("out[i + 1] = m1 - m2 - m3"),
)
beyond_the_end = edit(
    weights_by_number,
    "wrong raised-IndexError: An index left its array",
    replace("range(0, out.size - 1, 2)", "range(0, out.size, 2)"),
)
step_of_4 = edit(
    weights_by_number,
    "wrong some-unwritten: Pairs begin at 0, 2, 4",
    replace("range(0, out.size - 1, 2)", "range(0, out.size - 1, 4)"),
)


@njit
def as_it_stands(x, g, out):
    """over budget over-budget: as the sum does as it stands"""
    for i in range(out.size):
        out[i] = g[0] * x[i] + g[1] * x[i + 1] + g[2] * x[i + 2]


halved_each_time = edit(
    weights_by_number,
    "over budget over-budget: prepared once",
    cut("plus, minus = (g[0] + g[1] + g[2]) / 2, (g[0] - g[1] + g[2]) / 2"),
    replace("m1 = (x[i + 1] + x[i + 2]) * plus", "m1 = (x[i + 1] + x[i + 2]) * (g[0] + g[1] + g[2]) / 2"),
    replace("m2 = (x[i + 2] - x[i + 1]) * minus", "m2 = (x[i + 2] - x[i + 1]) * (g[0] - g[1] + g[2]) / 2"),
)


@njit
def windows_one_by_one(x, g, out):
    """over budget over-budget: three multiplications for each result or more"""
    plus, minus = (g[0] + g[1] + g[2]) / 2, (g[0] - g[1] + g[2]) / 2
    for i in range(out.size):
        out[i] = (x[i] - x[i + 2]) * g[0] + (x[i + 1] + x[i + 2]) * plus + (x[i + 2] - x[i + 1]) * minus


@njit
def by_logarithms(a, b):
    if a == 0 or b == 0:
        return 0.0
    size = math.exp(math.log(abs(a)) + math.log(abs(b)))
    return size if (a < 0) == (b < 0) else -size


@njit
def products_by_logarithms(x, g, out):
    """over budget over-budget: three multiplications for each result or more"""
    for i in range(out.size):
        out[i] = by_logarithms(x[i], g[0]) + by_logarithms(x[i + 1], g[1]) + by_logarithms(x[i + 2], g[2])


@njit
def products_of_integers(x, g, out):
    """over budget over-budget: three multiplications for each result or more"""
    unit = float(1 << 24)
    first, second, third = int(g[0] * unit), int(g[1] * unit), int(g[2] * unit)
    a, b, smaller = int(x[0] * unit), int(x[1] * unit), 1 / (unit * unit)
    for i in range(out.size):
        c = int(x[i + 2] * unit)
        out[i] = (first * a + second * b + third * c) * smaller
        a, b = b, c
