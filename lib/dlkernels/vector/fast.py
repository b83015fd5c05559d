"""Activations that LLVM turns into vector instructions, in float32.

A call to the C library's `expf` handles one element; a loop around it cannot be vectorised. These functions
use only additions, multiplications, comparisons and integer shifts, which exist for 4, 8 or 16 elements at
once, so that a plain loop over them is compiled to vector code.

exp(x) = 2^n * exp(r), with n = round(x / ln 2) and r = x - n ln 2 in [-0.35, 0.35]: the range reduction of
Cody and Waite (Software Manual for the Elementary Functions, 1980) and a polynomial for exp(r).
erfc after Abramowitz and Stegun, Handbook of Mathematical Functions, formula 7.1.26 (error below 1.5e-7).
tanh as a quotient of two polynomials, fitted so that its largest relative error is small (Remez 1934), then rounded.
"""

import math

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from .scalar import PARAMETERS, functions

f = np.float32
ZERO, HALF, ONE, TWO, FOUR = f(0), f(0.5), f(1), f(2), f(4)
ROOT_HALF = f(math.sqrt(0.5))
BELL = f(1 / math.sqrt(2 * math.pi))
LOG2_E = f(1 / math.log(2))
# ln 2 in two parts: the first has so few bits that n * LN2_HIGH is exact
LN2_HIGH = f(0.693359375)
LN2_LOW = f(math.log(2) - 0.693359375)
ROUND = f(1.5 * 2**23)  # adding and taking it away rounds a float32 to an integer
LOWEST, HIGHEST = f(-104), f(89.5)  # exp is 0 below and inf above in float32
FLAT = f(9.05)  # tanh is 1 from there on
#: tanh x = x (1 + s (D1 + ...)) / (1 + s (E1 + ...)), s = x^2: off by 6.5e-8 of it, 2.8e-7 in float32
D1, D2, D3, D4 = f(0.13380748), f(0.003495153), f(2.0597759e-05), f(1.3331234e-08)
E1, E2, E3, E4 = f(0.46714067), f(0.0258756), f(0.00032847424), f(7.768603e-07)
T2, T3, T4, T5, T6 = (f(1 / math.factorial(k)) for k in range(2, 7))
A1, A2, A3, A4, A5 = f(0.254829592), f(-0.284496736), f(1.421413741), f(-1.453152027), f(1.061405429)
AP = f(0.3275911)


@intrinsic
def _times_power_of_two(typing_context, y, n):
    """y * 2^n for float32 y and integral n, by its exponent bits; in two steps for subnormal results."""

    def generate(context, builder, signature, args):
        i32 = ir.IntType(32)
        y, n = args
        n = builder.fptosi(n, i32)
        half = builder.ashr(n, i32(1))
        for power in (half, builder.sub(n, half)):
            bits = builder.shl(builder.add(power, i32(127)), i32(23))
            y = builder.fmul(y, builder.bitcast(bits, ir.FloatType()))
        return y

    return types.float32(types.float32, types.float32), generate


# contract: a * b + c may become one fma; a function that was not inlined would be a call in the loop, and no vectors
compiled = njit(error_model="numpy", fastmath={"contract"}, forceinline=True)


@compiled
def reduced(x):
    """(p, n): e^x = p 2^n."""
    n = (x * LOG2_E + ROUND) - ROUND
    r = x - n * LN2_HIGH - n * LN2_LOW
    p = T6 * r + T5
    p = p * r + T4
    p = p * r + T3
    p = p * r + T2
    p = p * r + ONE
    return p * r + ONE, n


@compiled
def exp(x):
    """e^x of a float32 x, to a relative error of 3e-7."""
    z = LOWEST if x < LOWEST else x
    p, n = reduced(HIGHEST if z > HIGHEST else z)
    return x if x != x else _times_power_of_two(p, n)


@compiled
def erfc(x, bell):
    """The complementary error function of a float32 x >= 0; bell: exp(-x^2), which others need, too."""
    t = ONE / (ONE + AP * x)
    return t * (A1 + t * (A2 + t * (A3 + t * (A4 + t * A5)))) * bell


@compiled
def elu(x, parameter):
    # near zero exp(x) - 1 cancels: use exp(x) - 1 = tanh(x/2) (exp(x) + 1)
    return x if x > ZERO else parameter * _tanh(HALF * x) * (exp(x) + ONE)


@compiled
def sigmoid(x, parameter):
    return ONE / (ONE + exp(-x))


@compiled
def _tanh(x):
    z = -FLAT if x < -FLAT else x
    z = FLAT if z > FLAT else z
    square = z * z
    above = (((D4 * square + D3) * square + D2) * square + D1) * square
    below = (((E4 * square + E3) * square + E2) * square + E1) * square + ONE
    y = (z * above + z) / below
    y = -ONE if y < -ONE else y
    return ONE if y > ONE else y


@compiled
def tanh(x, parameter):
    return _tanh(x)


@compiled
def silu(x, parameter):
    return x / (ONE + exp(-x))


@compiled
def gelu(x, parameter):
    tail = HALF * erfc(abs(x) * ROOT_HALF, exp(-HALF * x * x))
    return x * (ONE - tail) if x > ZERO else x * tail


@compiled
def sigmoid_backward(grad, x, parameter):
    small = exp(-abs(x))
    return grad * (small / ((ONE + small) * (ONE + small)))


@compiled
def tanh_backward(grad, x, parameter):
    small = exp(-TWO * abs(x))
    return grad * (FOUR * small / ((ONE + small) * (ONE + small)))


@compiled
def elu_backward(grad, x, parameter):
    return grad if x > ZERO else grad * parameter * exp(x)


@compiled
def silu_backward(grad, x, parameter):
    s = ONE / (ONE + exp(-x))
    return grad * (s * (ONE + x * (ONE - s)))


@compiled
def gelu_backward(grad, x, parameter):
    bell = exp(-HALF * x * x)
    tail = HALF * erfc(abs(x) * ROOT_HALF, bell)
    return grad * ((ONE - tail if x > ZERO else tail) + x * BELL * bell)


#: name -> function, the plain ones of scalar.py where there is nothing to replace (relu, leaky_relu)
FUNCTIONS = {
    name: globals().get(name, functions(np.float32)[name])
    for name in [*PARAMETERS, *(name + "_backward" for name in PARAMETERS)]
}
