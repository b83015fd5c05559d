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


@njit
def whole(value):
    """In units of 2 ** -24, without a multiplication."""
    value = float(value)
    for _ in range(24):
        value += value
    return int(value)


@njit
def product_of_integers(a, b):
    """Never divides, but is too long for LLVM to write it where it is called."""
    p = a * b
    if p % 8 == 9:
        p = p // a % b // (p + 3) % (b - 5) // (a + 9) % (p - a) // (b + 7) % (a - 11)
    if p // 8 == 1 << 60:
        p = p // (a + 1) % (b + 1) // (p + 4) % (b - 6) // (a + 8) % (p - b) // (b + 6) % (a - 10)
    if p == a + (1 << 61):
        p = p // (a + 2) % (b + 2) // (p + 5) % (b - 7) // (a + 7) % (a - p) // (b + 5) % (a - 9)
    return p


@njit
def products_in_another_function(x, g, out):
    """over budget over-budget: three multiplications for each result or more"""
    first, second, third = whole(g[0]), whole(g[1]), whole(g[2])
    a, b, smaller = whole(x[0]), whole(x[1]), 1 / float(1 << 48)
    for i in range(out.size):
        c = whole(x[i + 2])
        total = product_of_integers(first, a) + product_of_integers(second, b) + product_of_integers(third, c)
        out[i] = total * smaller
        a, b = b, c


@njit
def product_left_in_an_array(a, b, left):
    left[0] = product_of_integers(a, b)


@njit
def products_left_in_an_array(x, g, out):
    """over budget over-budget: three multiplications for each result or more"""
    left, numbers, smaller = np.zeros(1, np.int64), np.empty(x.size, np.int64), 1 / float(1 << 48)
    weights = whole(g[0]), whole(g[1]), whole(g[2])
    for i in range(x.size):
        numbers[i] = whole(x[i])
    for i in range(out.size):
        total = 0
        for k in range(3):
            product_left_in_an_array(weights[k], numbers[i + k], left)
            total += left[0]
        out[i] = total * smaller


@njit
def one_pair(x, i, g0, g2, plus, minus):
    m1, m2 = (x[i + 1] + x[i + 2]) * plus, (x[i + 2] - x[i + 1]) * minus
    return (x[i] - x[i + 2]) * g0 + m1 + m2, m1 - m2 - (x[i + 1] - x[i + 3]) * g2


@njit
def pairs_in_another_function(x, g, out):
    """right"""
    plus, minus = (g[0] + g[1] + g[2]) / 2, (g[0] - g[1] + g[2]) / 2
    for p in range(out.size // 2):
        out[2 * p], out[2 * p + 1] = one_pair(x, 2 * p, g[0], g[2], plus, minus)
    if out.size % 2:
        out[-1] = g[0] * x[-3] + g[1] * x[-2] + g[2] * x[-1]


@njit
def indices_from_an_array(x, g, out):
    """right"""
    plus, minus = (g[0] + g[1] + g[2]) / 2, (g[0] - g[1] + g[2]) / 2
    begins = np.empty(out.size // 2, np.int64)
    for p in range(begins.size):
        begins[p] = p * 2
    for i in begins:
        out[i], out[i + 1] = one_pair(x, i, g[0], g[2], plus, minus)
    if out.size % 2:
        out[-1] = g[0] * x[-3] + g[1] * x[-2] + g[2] * x[-1]
