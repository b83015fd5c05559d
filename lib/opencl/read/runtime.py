"""What the Python that is written for a kernel calls: C's division, shifts of ulong, minima of floats."""

import math

import numba
import numpy as np

from simt import cuda


@cuda.jit(device=True)
def signed_quotient(a, b):
    if b == 0:
        return 0
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


@cuda.jit(device=True)
def signed_remainder(a, b):
    if b == 0:
        return 0
    r = abs(a) % abs(b)
    return -r if a < 0 else r


@cuda.jit(device=True)
def unsigned_quotient(a, b):
    """Of two ulong, as int64 holds their bits."""
    if b == 0:
        return numba.int64(0)
    return numba.int64(numba.uint64(a) // numba.uint64(b))


@cuda.jit(device=True)
def unsigned_remainder(a, b):
    if b == 0:
        return numba.int64(0)
    return numba.int64(numba.uint64(a) % numba.uint64(b))


@cuda.jit(device=True)
def unsigned_shift(a, count):
    return numba.int64(numba.uint64(a) >> numba.uint64(count))


@cuda.jit(device=True)
def from_ulong(a):
    return numba.uint64(a)


@cuda.jit(device=True)
def lanes_here(size, linear):
    """Work-items in the sub-group of one: the last sub-group of a group may be smaller."""
    return min(32, size - linear // 32 * 32)


@cuda.jit(device=True)
def least(a, b):
    if a != a:
        return b
    return b if b < a else a


@cuda.jit(device=True)
def most(a, b):
    if a != a:
        return b
    return b if b > a else a


#: the global names of the Python that is written
NAMESPACE = {
    f"ocl_{label}": thing
    for label, thing in {
        "cuda": cuda, "range": range, "min": min, "max": max, "abs": abs, "fmin": least, "fmax": most,
        "round": np.rint,
        "signed_quotient": signed_quotient, "signed_remainder": signed_remainder,
        "unsigned_quotient": unsigned_quotient, "unsigned_remainder": unsigned_remainder,
        "unsigned_shift": unsigned_shift, "from_ulong": from_ulong, "lanes_here": lanes_here,
        **{kind: getattr(numba, kind) for kind in (
            "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")},
        **{f: getattr(math, f) for f in (
            "sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan", "asin", "acos", "atan",
            "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma", "floor", "ceil", "trunc",
            "fabs", "pow", "atan2", "hypot", "fmod", "copysign", "isnan", "isinf")},
        "tgamma": math.gamma,
    }.items()
}  # fmt: skip
