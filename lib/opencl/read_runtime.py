"""What the Python that is written for a kernel calls: C's division, and what a sub-group does together.

A sub-group is a warp of 32 work-items here. On other devices it has 8, 16 or 64; a kernel asks get_sub_group_size().
"""

import itertools
import math
import operator

import numba
import numpy as np

from simt import cuda, warp_stand_in


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


def _together(sort, combine):
    """A device function whose lanes hand in a number each; the executor runs what is written below it."""

    def by_shuffles(x):
        return cuda.shfl_sync(0xFFFFFFFF, x, 0)

    by_shuffles.__name__ = f"{sort}_{combine.__name__}"
    made = cuda.jit(by_shuffles, device=True)

    def as_a_group(lanes):
        order = sorted(lanes)
        values = [lanes[lane][0] for lane in order]
        sums = list(itertools.accumulate(values, combine))
        if sort == "reduce":
            sums = [sums[-1]] * len(order)
        if sort == "scan_exclusive":
            sums = [type(values[0])(0), *sums[:-1]]
        return dict(zip(order, sums, strict=True))

    as_a_group.__name__ = f"sub_group_{sort}_{'add' if combine is operator.add else combine.__name__}"
    warp_stand_in(made, as_a_group)
    return made


def _sub_groups():
    for label, combine in (("add", operator.add), ("min", min), ("max", max)):
        yield f"reduce_{label}", _together("reduce", combine)
        yield f"scan_inclusive_{label}", _together("scan_inclusive", combine)
    yield "scan_exclusive_add", _together("scan_exclusive", operator.add)


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
        **dict(_sub_groups()),
    }.items()
}  # fmt: skip
