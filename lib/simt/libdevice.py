"""``numba.cuda.libdevice``: CUDA's mathematical functions by their own names, those that kernels commonly call.

``sin`` takes and gives float64, ``sinf`` float32; ``fast_sinf`` is computed like ``sinf`` here, and is less exact on a
GPU.
"""

import math

import numpy as np
from numba import float32, float64, int32, int64, uint32, uint64

from . import cuda

_ONE = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "fabs",
    "floor",
    "log", "log10", "log1p", "log2", "sin", "sinh", "sqrt", "tan", "tanh", "tgamma", "lgamma", "trunc",
)  # fmt: skip
_PYTHONS = {"tgamma": math.gamma}
_TWO = ("atan2", "fmod", "hypot", "pow", "copysign")
_FAST = ("cos", "exp", "log", "log10", "log2", "sin", "tan")


def _of_one(function, kind):
    @cuda.jit(device=True)
    def of(x):
        return kind(function(kind(x)))

    return of


def _of_two(function, kind):
    @cuda.jit(device=True)
    def of(x, y):
        return kind(function(kind(x), kind(y)))

    return of


for _kind, _letter in ((float64, ""), (float32, "f")):
    for _name in _ONE:
        globals()[_name + _letter] = _of_one(_PYTHONS.get(_name) or getattr(math, _name), _kind)
    for _name in _TWO:
        globals()[_name + _letter] = _of_two(getattr(math, _name), _kind)
    globals()["fmax" + _letter], globals()["fmin" + _letter] = _of_two(max, _kind), _of_two(min, _kind)
    globals()["rint" + _letter] = _of_one(np.rint, _kind)
for _name in _FAST:
    globals()[f"fast_{_name}f"] = _of_one(getattr(math, _name), float32)
fast_powf = _of_two(math.pow, float32)


@cuda.jit(device=True)
def rsqrt(x):
    return float64(1) / math.sqrt(float64(x))


@cuda.jit(device=True)
def rsqrtf(x):
    return float32(float32(1) / math.sqrt(float32(x)))


@cuda.jit(device=True)
def fast_fdividef(x, y):
    return float32(float32(x) / float32(y))


@cuda.jit(device=True)
def fma(x, y, z):
    return cuda.fma(float64(x), float64(y), float64(z))


@cuda.jit(device=True)
def fmaf(x, y, z):
    return cuda.fma(float32(x), float32(y), float32(z))


@cuda.jit(device=True)
def saturatef(x):
    return min(max(float32(x), float32(0)), float32(1))


@cuda.jit(device=True)
def sincos(x):
    return math.sin(float64(x)), math.cos(float64(x))


@cuda.jit(device=True)
def sincosf(x):
    return math.sin(float32(x)), math.cos(float32(x))


@cuda.jit(device=True)
def popc(x):
    return cuda.popc(int32(x))


@cuda.jit(device=True)
def popcll(x):
    return int32(cuda.popc(int64(x)))


@cuda.jit(device=True)
def clz(x):
    return cuda.clz(int32(x))


@cuda.jit(device=True)
def ffs(x):
    return cuda.ffs(int32(x))


@cuda.jit(device=True)
def brev(x):
    return cuda.brev(uint32(x))


@cuda.jit(device=True)
def mulhi(x, y):
    return int32(int64(x) * int64(y) >> 32)


@cuda.jit(device=True)
def umulhi(x, y):
    return uint32(uint64(x) * uint64(y) >> uint64(32))


@cuda.jit(device=True)
def mul24(x, y):
    return int32(_low24(x) * _low24(y))


@cuda.jit(device=True)
def _low24(x):
    """The low 24 bits, with the highest of them as the sign."""
    return ((int64(x) & 0xFFFFFF) ^ 0x800000) - 0x800000
