"""Answers to 07-roofline. CLAIMS: what is said beside each; the last lines say where something else is."""

import math

import numpy as np
from answers import MASTER, edit, replace
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


of_one_element = edit(MASTER, "wrong flops: multiply by the number of elements", claims={"flops": 5})
comparisons_too = edit(MASTER, "wrong flops: min and max are none", claims={"flops": 7 * MATRIX})
twice = edit(MASTER, "wrong flops: not four", claims={"flops": 10 * MATRIX})
elements_not_bytes = edit(
    MASTER, "wrong moved: That is the number of elements", claims={"moved": 2 * MATRIX + 2 * VECTOR}
)
half_of_them = edit(MASTER, "wrong moved: what is written moves", claims={"moved": 4 * (MATRIX + VECTOR)})
vectors_for_each_row = edit(MASTER, "wrong moved: not for each row", claims={"moved": 16 * MATRIX})
bytes_per_flop = edit(
    MASTER, "wrong intensity: bytes for each flop", claims={"intensity": CLAIMS["moved"] / CLAIMS["flops"]}
)
unrelated_intensity = edit(MASTER, "wrong intensity: Divide the flops by the bytes", claims={"intensity": 5})
no_roof = edit(MASTER, 'wrong not-a-roof: "memory" or', claims={"roof": "bandwidth"})
not_a_number = edit(MASTER, "wrong not-a-number: a number above 0", claims={"flops": float("nan")})
code = edit(MASTER, "wrong not-a-number: a number above 0", claims={"moved": print})
no_shift = edit(MASTER, "wrong suspect: The shift was not added", replace("[j] + shift[j]", "[j]"))
no_division = edit(
    MASTER, "wrong suspect: The division by 6 is missing", replace("(max(z + 3, 0), 6) / 6", "(max(z + 3, 0), 6)")
)
gate_alone = edit(MASTER, "wrong suspect: This is the gate alone", replace("z * min", "min"))


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


for function, claims in ((a_sixth, {"flops": 5.01 * MATRIX}),):
    function.py_func.claims = claims
