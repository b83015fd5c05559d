"""Answers to 07-roofline. CLAIMS: what is said beside each; the last lines say where something else is."""

import math

import numpy as np
from numba import njit

MATRIX, VECTOR = 32 * 64, 64
CLAIMS = {
    "flops": 5 * MATRIX,
    "moved": 4 * (2 * MATRIX + 2 * VECTOR),
    "intensity": 5 * MATRIX / (4 * (2 * MATRIX + 2 * VECTOR)),
    "roof": "memory",
}


@njit
def with_ifs(x, scale, shift, out):
    """right"""
    rows, features = x.shape
    for j in range(features):
        for i in range(rows):
            z = scale[j] * x[i, j] + shift[j]
            gate = z + 3
            if gate < 0:
                gate = 0.0
            elif gate > 6:
                gate = 6.0
            out[i, j] = z * gate / 6


@njit
def a_sixth(x, scale, shift, out):
    """right"""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            z = x[i, j] * scale[j] + shift[j]
            out[i, j] = z * min(max(z + 3, 0), 6) * (1 / 6)


@njit
def of_one_element(x, scale, shift, out):
    """wrong flops: multiply by the number of elements"""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[j] + shift[j]
            out[i, j] = z * min(max(z + 3, 0), 6) / 6


@njit
def comparisons_too(x, scale, shift, out):
    """wrong flops: min and max are none"""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[j] + shift[j]
            out[i, j] = z * min(max(z + 3, 0), 6) / 6


@njit
def twice(x, scale, shift, out):
    """wrong flops: not four"""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[j] + shift[j]
            out[i, j] = z * min(max(z + 3, 0), 6) / 6


@njit
def elements_not_bytes(x, scale, shift, out):
    """wrong moved: That is the number of elements"""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[j] + shift[j]
            out[i, j] = z * min(max(z + 3, 0), 6) / 6


@njit
def half_of_them(x, scale, shift, out):
    """wrong moved: what is written moves"""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[j] + shift[j]
            out[i, j] = z * min(max(z + 3, 0), 6) / 6


@njit
def vectors_for_each_row(x, scale, shift, out):
    """wrong moved: not for each row"""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[j] + shift[j]
            out[i, j] = z * min(max(z + 3, 0), 6) / 6


@njit
def bytes_per_flop(x, scale, shift, out):
    """wrong intensity: bytes for each flop"""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[j] + shift[j]
            out[i, j] = z * min(max(z + 3, 0), 6) / 6


@njit
def unrelated_intensity(x, scale, shift, out):
    """wrong intensity: Divide the flops by the bytes"""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[j] + shift[j]
            out[i, j] = z * min(max(z + 3, 0), 6) / 6


@njit
def the_other_roof(x, scale, shift, out):
    """wrong roof: The ridge is peak divided by bandwidth"""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[j] + shift[j]
            out[i, j] = z * min(max(z + 3, 0), 6) / 6


@njit
def no_roof(x, scale, shift, out):
    """wrong not-a-roof: "memory" or"""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[j] + shift[j]
            out[i, j] = z * min(max(z + 3, 0), 6) / 6


@njit
def not_a_number(x, scale, shift, out):
    """wrong not-a-number: a number above 0"""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[j] + shift[j]
            out[i, j] = z * min(max(z + 3, 0), 6) / 6


@njit
def code(x, scale, shift, out):
    """wrong not-a-number: a number above 0"""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[j] + shift[j]
            out[i, j] = z * min(max(z + 3, 0), 6) / 6


@njit
def no_shift(x, scale, shift, out):
    """wrong suspect: The shift was not added"""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[j]
            out[i, j] = z * min(max(z + 3, 0), 6) / 6


@njit
def no_division(x, scale, shift, out):
    """wrong suspect: The division by 6 is missing"""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[j] + shift[j]
            out[i, j] = z * min(max(z + 3, 0), 6)


@njit
def gate_alone(x, scale, shift, out):
    """wrong suspect: This is the gate alone"""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[j] + shift[j]
            out[i, j] = min(max(z + 3, 0), 6) / 6


@njit
def by_rows(x, scale, shift, out):
    """wrong suspect: scale[j] belongs to feature (column) j"""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[i] + shift[i]
            out[i, j] = z * min(max(z + 3, 0), 6) / 6


@njit
def whole_arrays(x, scale, shift, out):
    """wrong raised-NotAdmitted: loops over single elements"""
    for i in range(x.shape[0]):
        z = x[i] * scale + shift
        out[i] = z * np.minimum(np.maximum(z + 3, 0), 6) / 6


@njit
def a_function_of_math(x, scale, shift, out):
    """wrong raised-NotCounted: functions of NumPy and math"""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = x[i, j] * scale[j] + shift[j]
            out[i, j] = z * (abs(math.fabs(z + 3) + z + 3) / 2 if z < 3 else 6.0) / 6


@njit
def without_an_end(x, scale, shift, out):
    """wrong raised-TooManyIterations: goes on and on"""
    i = 0
    while i < x.shape[0]:
        out[i, 0] = x[i, 0]


for function, claims in (
    (a_sixth, {"flops": 5.01 * MATRIX}),
    (of_one_element, {"flops": 5}),
    (comparisons_too, {"flops": 7 * MATRIX}),
    (twice, {"flops": 10 * MATRIX}),
    (elements_not_bytes, {"moved": 2 * MATRIX + 2 * VECTOR}),
    (half_of_them, {"moved": 4 * (MATRIX + VECTOR)}),
    (vectors_for_each_row, {"moved": 16 * MATRIX}),
    (bytes_per_flop, {"intensity": CLAIMS["moved"] / CLAIMS["flops"]}),
    (unrelated_intensity, {"intensity": 5}),
    (the_other_roof, {"roof": "arithmetic"}),
    (no_roof, {"roof": "bandwidth"}),
    (not_a_number, {"flops": float("nan")}),
    (code, {"moved": print}),
):
    function.py_func.claims = claims
