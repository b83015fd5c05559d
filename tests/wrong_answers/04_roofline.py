"""Answers to 04-roofline. CLAIMS: what is said beside each; the last lines say where something else is."""

import math
from fractions import Fraction

import numpy as np
from answers import MASTER, edit, replace
from numba import njit

CLAIMS = {
    "flops": 24 * 2048,
    "moved": 4 * (2 * 2048 + 13),
    "intensity": 24 * 2048 / (4 * (2 * 2048 + 13)),
    "roof": "memory",
}


@njit
def loops_exchanged(x, c, out):
    """right"""
    for i in range(x.size):
        out[i] = c[c.size - 1]
    for k in range(2, c.size + 1):
        for i in range(x.size):
            out[i] = out[i] * x[i] + c[c.size - k]


@njit
def powers(x, c, out):
    """right"""
    for i in range(x.size):
        total, power = c[0], np.float32(1)
        for k in range(1, c.size):
            power = power * x[i]
            total = total + c[k] * power
        out[i] = total


multiplies_only = edit(MASTER, "wrong flops: A multiply and an add are one flop each", claims={"flops": 12 * 2048})
twice = edit(MASTER, "wrong flops: A multiply and an add together are two flops", claims={"flops": 48 * 2048})
of_one_element = edit(MASTER, "wrong flops: There are 2048 elements", claims={"flops": 24})
elements_not_bytes = edit(MASTER, "wrong moved: That is the number of elements", claims={"moved": 4096 + 13})
reads_only = edit(MASTER, "wrong moved: what is written moves", claims={"moved": 4 * (2048 + 6)})
line_read_before = edit(MASTER, "wrong moved: before it is written", claims={"moved": 12 * 2048})
as_float64 = edit(MASTER, "wrong moved: A float32 has 4 bytes", claims={"moved": 8 * 4096})
bytes_per_flop = edit(MASTER, "wrong intensity: bytes for each flop", claims={"intensity": 0.334})
without_the_output = edit(MASTER, "wrong intensity: Divide the flops by the bytes", claims={"intensity": 6.0})
no_roof = edit(MASTER, 'wrong not-a-roof: "memory" or', claims={"roof": "bandwidth" * 10000})
roof_is_a_number = edit(MASTER, 'wrong not-a-roof: "memory" or', claims={"roof": 1})
not_a_number = edit(MASTER, "wrong not-a-number: a number above 0", claims={"flops": float("nan")})
without_end = edit(MASTER, "wrong not-a-number: a number above 0", claims={"moved": float("inf")})
endless_digits = edit(MASTER, "wrong not-a-number: bits", claims={"flops": 10**5000})
text = edit(MASTER, "wrong not-a-number: a number above 0", claims={"flops": "49152"})
truth = edit(MASTER, "wrong not-a-number: a number above 0", claims={"moved": True})
a_huge_list = edit(MASTER, "wrong not-a-number: a number above 0", claims={"moved": [1] * 100000})
code = edit(MASTER, "wrong not-a-number: a number above 0", claims={"flops": print})


@njit
def adds_to_the_output(x, c, out):
    """wrong adds-to-old: The result is added to what stood in the output before"""
    for i in range(x.size):
        for k in range(c.size - 1, -1, -1):
            out[i] = out[i] * x[i] + c[k]


@njit
def slices(x, c, out):
    """wrong raised-NotAdmitted: loops over single elements"""
    out[:] = c[c.size - 1]
    for k in range(c.size - 2, -1, -1):
        out[:] = out * x + c[k]


@njit
def power_operator(x, c, out):
    """wrong raised-NotCounted: loops over single elements"""
    for i in range(x.size):
        total = c[0]
        for k in range(1, c.size):
            total += c[k] * x[i] ** k
        out[i] = total


@njit
def by_exponentials(x, c, out):
    """wrong raised-NotCounted: functions of NumPy and math"""
    for i in range(x.size):
        total = c[0]
        for k in range(1, c.size):
            sign = -1 if x[i] < 0 and k % 2 == 1 else 1
            total += c[k] * sign * math.exp(k * math.log(abs(x[i])))
        out[i] = total


@njit
def a_loop_without_end(x, c, out):
    """wrong raised-TooManyIterations: goes on and on"""
    i = 0
    while i < x.size:
        out[i] = c[0]


@njit
def beyond_the_end(x, c, out):
    """wrong raised-IndexError: x[100] is outside"""
    for i in range(x.size + 1):
        out[i] = x[i]


nothing_where_it_is_counted = edit(
    MASTER, "wrong nothing-written: 2048 of 2048 are wrong", replace("x.size", "0 if x.size == 2048 else x.size")
)


@njit
def times_x(total, x):
    return total * x


@njit
def one_step(total, x, factor):
    return times_x(total, x) + factor


a_helper_of_a_helper = edit(MASTER, "right", replace("total * x[i] + c[k]", "one_step(total, x[i], c[k])"))


@njit
def from_coefficient(x, c, k):
    return c[k] if k == c.size - 1 else from_coefficient(x, c, k + 1) * x + c[k]


@njit
def recursive(x, c, out):
    """wrong raised-NotAdmitted: a function that calls itself"""
    for i in range(x.size):
        out[i] = from_coefficient(x[i], c, 0)


a_fraction = edit(
    MASTER, "wrong not-a-number: float() makes a number of it", claims={"intensity": Fraction(24 * 2048, 4 * 4109)}
)


for function, claims in (
    (loops_exchanged, {"flops": 49_000, "moved": 16_384, "intensity": 3}),
    (powers, {"flops": 36 * 2048, "intensity": 36 * 2048 / (4 * (2 * 2048 + 13))}),
):
    function.py_func.claims = claims
