"""``cuda.fp16``: arithmetic of half precision by CUDA's names. Arrays of float16 are loaded, stored and computed with
anyway.

Sums, products, quotients, roots and `hfma` are rounded once, as on a GPU. The other functions are computed in float32
and rounded; a GPU's may differ in the last bit. As there, a comparison with a NaN is False, that of `hne` too, and
`hmax` and `hmin` of a NaN and a number give the number. Only the executor has float16: no CPU type of numba's is one.
"""

import math

import numpy as np
from numba import float32, float64
from numba.core.types import float16

from . import cuda


def _of_one(function):
    @cuda.jit(device=True)
    def of(x):
        return float16(function(float32(x)))

    return of


for _name in ("sin", "cos", "log", "log2", "log10", "exp", "sqrt", "ceil", "floor", "trunc"):
    globals()["h" + _name] = _of_one(getattr(math, _name))
hrint = _of_one(np.rint)


@cuda.jit(device=True)
def hexp2(x):
    return float16(math.pow(float32(2), float32(x)))


@cuda.jit(device=True)
def hexp10(x):
    return float16(math.pow(float32(10), float32(x)))


@cuda.jit(device=True)
def hrsqrt(x):
    return float16(float64(1) / math.sqrt(float64(x)))


@cuda.jit(device=True)
def hrcp(x):
    return float16(float32(1) / float32(x))


@cuda.jit(device=True)
def hadd(a, b):
    return float16(float32(a) + float32(b))


@cuda.jit(device=True)
def hsub(a, b):
    return float16(float32(a) - float32(b))


@cuda.jit(device=True)
def hmul(a, b):
    return float16(float32(a) * float32(b))


@cuda.jit(device=True)
def hdiv(a, b):
    return float16(float32(a) / float32(b))


@cuda.jit(device=True)
def hfma(a, b, c):
    # the product is exact in float64, and where the sum is not, it is far from the middle of two float16
    return float16(float64(a) * float64(b) + float64(c))


@cuda.jit(device=True)
def hneg(a):
    return float16(-float32(a))


@cuda.jit(device=True)
def habs(a):
    return float16(abs(float32(a)))


@cuda.jit(device=True)
def heq(a, b):
    return a == b


@cuda.jit(device=True)
def hne(a, b):
    return a < b or a > b


@cuda.jit(device=True)
def hge(a, b):
    return a >= b


@cuda.jit(device=True)
def hgt(a, b):
    return a > b


@cuda.jit(device=True)
def hle(a, b):
    return a <= b


@cuda.jit(device=True)
def hlt(a, b):
    return a < b


@cuda.jit(device=True)
def hmax(a, b):
    return float16(max(float32(a), float32(b)))


@cuda.jit(device=True)
def hmin(a, b):
    return float16(min(float32(a), float32(b)))
