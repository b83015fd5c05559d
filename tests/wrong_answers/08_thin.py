"""Answers to 08-thin. CLAIMS: what is said beside each; the last lines say where something else is."""

import numpy as np
from answers import edit, replace
from numba import njit

FLOPS, BYTES = 2 * 256 * 32 * 8, 4 * (256 * 32 + 32 * 8 + 256 * 8)
CLAIMS = {"flops": FLOPS, "moved": BYTES, "intensity": FLOPS / BYTES, "roof": "memory"}


@njit
def dot_by_dot(a, b, out):
    """right"""
    for j in range(b.shape[1]):
        for i in range(a.shape[0]):
            total = np.float32(0)
            for p in range(b.shape[0]):
                total += b[p, j] * a[i, p]
            out[i, j] = total


@njit
def first_term_alone(a, b, out):
    """right"""
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = a[i, 0] * b[0, j]
            for p in range(1, b.shape[0]):
                total = total + a[i, p] * b[p, j]
            out[i, j] = total


@njit
def products_only(a, b, out):
    """wrong flops: A multiply and an add are one flop each"""
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = np.float32(0)
            for p in range(b.shape[0]):
                total += a[i, p] * b[p, j]
            out[i, j] = total


of_one_element = edit(products_only, "wrong flops: is a sum of 32 products", claims={"flops": 64})
elements_not_bytes = edit(products_only, "wrong moved: That is the number of elements", claims={"moved": BYTES // 4})
without_out = edit(
    products_only, "wrong moved: The elements of a, of b and of out", claims={"moved": 4 * (256 * 32 + 32 * 8)}
)
every_access = edit(products_only, "wrong moved: each counted once", claims={"moved": 8 * 256 * 32 * 8})
bytes_per_flop = edit(products_only, "wrong intensity: bytes for each flop", claims={"intensity": BYTES / FLOPS})
of_large_squares = edit(products_only, "wrong intensity: Divide the flops by the bytes", claims={"intensity": 128.0})
matmul_is_arithmetic = edit(
    products_only, "wrong roof: A matmul need not be bound by arithmetic", claims={"roof": "arithmetic"}
)
a_number_for_a_roof = edit(products_only, 'wrong not-a-roof: "memory" or', claims={"roof": 0})
text_for_a_number = edit(products_only, "wrong not-a-number: a number above 0", claims={"flops": "131072"})


@njit
def slices(a, b, out):
    """wrong raised-NotAdmitted: loops over single elements"""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(a[i] * b[:, j])


@njit
def last_term_only(a, b, out):
    """wrong suspect: the last term of the sum alone"""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for p in range(a.shape[1]):
                out[i, j] = a[i, p] * b[p, j]


adds_to_old = edit(last_term_only, "wrong adds-to-old: Begin each sum with 0", replace("[i, j] = a", "[i, j] += a"))


@njit
def lengths_of_the_claims(a, b, out):
    """wrong raised-IndexError: out has the rows of a"""
    for i in range(256):
        for j in range(8):
            total = np.float32(0)
            for p in range(32):
                total += a[i, p] * b[p, j]
            out[i, j] = total


for function, claims in (
    (first_term_alone, {"flops": FLOPS - 256 * 8, "intensity": (FLOPS - 256 * 8) / BYTES}),
    (products_only, {"flops": FLOPS // 2}),
):
    function.py_func.claims = claims
