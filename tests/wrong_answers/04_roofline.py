"""Answers to 04-roofline. CLAIMS: what is said beside each; the last lines say where something else is."""

import math
from fractions import Fraction

import numpy as np
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


@njit
def multiplies_only(x, c, out):
    """wrong flops: A multiply and an add are one flop each"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def twice(x, c, out):
    """wrong flops: A multiply and an add together are two flops"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def of_one_element(x, c, out):
    """wrong flops: There are 2048 elements"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def elements_not_bytes(x, c, out):
    """wrong moved: That is the number of elements"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def reads_only(x, c, out):
    """wrong moved: what is written moves"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def line_read_before(x, c, out):
    """wrong moved: before it is written"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def as_float64(x, c, out):
    """wrong moved: A float32 has 4 bytes"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def bytes_per_flop(x, c, out):
    """wrong intensity: bytes for each flop"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def without_the_output(x, c, out):
    """wrong intensity: Divide the flops by the bytes"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def the_other_roof(x, c, out):
    """wrong roof: Where does your intensity lie"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def no_roof(x, c, out):
    """wrong not-a-roof: "memory" or"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def roof_is_a_number(x, c, out):
    """wrong not-a-roof: "memory" or"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def not_a_number(x, c, out):
    """wrong not-a-number: a number above 0"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def without_end(x, c, out):
    """wrong not-a-number: a number above 0"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def endless_digits(x, c, out):
    """wrong not-a-number: bits"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def text(x, c, out):
    """wrong not-a-number: a number above 0"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def truth(x, c, out):
    """wrong not-a-number: a number above 0"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def a_huge_list(x, c, out):
    """wrong not-a-number: a number above 0"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def code(x, c, out):
    """wrong not-a-number: a number above 0"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def backwards(x, c, out):
    """wrong suspect: c[0] is the constant"""
    for i in range(x.size):
        total = c[0]
        for k in range(1, c.size):
            total = total * x[i] + c[k]
        out[i] = total


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


@njit
def nothing_where_it_is_counted(x, c, out):
    """wrong nothing-written: 2048 of 2048 are wrong"""
    for i in range(0 if x.size == 2048 else x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


@njit
def times_x(total, x):
    return total * x


@njit
def one_step(total, x, factor):
    return times_x(total, x) + factor


@njit
def a_helper_of_a_helper(x, c, out):
    """right"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = one_step(total, x[i], c[k])
        out[i] = total


@njit
def from_coefficient(x, c, k):
    return c[k] if k == c.size - 1 else from_coefficient(x, c, k + 1) * x + c[k]


@njit
def recursive(x, c, out):
    """wrong raised-NotAdmitted: a function that calls itself"""
    for i in range(x.size):
        out[i] = from_coefficient(x[i], c, 0)


@njit
def a_fraction(x, c, out):
    """wrong not-a-number: float() makes a number of it"""
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


for function, claims in (
    (a_fraction, {"intensity": Fraction(24 * 2048, 4 * 4109)}),
    (loops_exchanged, {"flops": 49_000, "moved": 16_384, "intensity": 3}),
    (powers, {"flops": 36 * 2048, "intensity": 36 * 2048 / (4 * (2 * 2048 + 13))}),
    (multiplies_only, {"flops": 12 * 2048}),
    (twice, {"flops": 48 * 2048}),
    (of_one_element, {"flops": 24}),
    (elements_not_bytes, {"moved": 4096 + 13}),
    (reads_only, {"moved": 4 * (2048 + 6)}),
    (line_read_before, {"moved": 12 * 2048}),
    (as_float64, {"moved": 8 * 4096}),
    (bytes_per_flop, {"intensity": 0.334}),
    (without_the_output, {"intensity": 6.0}),
    (the_other_roof, {"roof": "arithmetic"}),
    (no_roof, {"roof": "bandwidth" * 10_000}),
    (roof_is_a_number, {"roof": 1}),
    (not_a_number, {"flops": float("nan")}),
    (without_end, {"moved": float("inf")}),
    (endless_digits, {"flops": 10**5000}),
    (text, {"flops": "49152"}),
    (truth, {"moved": True}),
    (a_huge_list, {"moved": [1] * 100_000}),
    (code, {"flops": print}),
):
    function.py_func.claims = claims
