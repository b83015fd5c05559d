"""Our own exponential: additions, multiplications and a shift, for a vector of numbers at once.

    2^x = 2^n 2^r        n = x rounded to a whole number, r = x - n in [-1/2, 1/2]
    2^r                  a polynomial that is 1 at 0. For float32 it is fitted: of all of degree 5 its largest relative
                         error is about the least (Remez 1934), below two roundings. For float64 it is the Taylor
                         series, to where the next term is below half the spacing of numbers at 1
    2^n                  n, written into the bits of a number that hold its exponent
    e^x = 2^(x / ln 2)   with 1 / ln 2 in two parts, so that r keeps its digits: x times the one, less n, plus x times
                         the other, each step a multiply-add that rounds once. (Cody and Waite, 1980, split ln 2 in its
                         place, and take n times each part away from x: n times the first one is exact without a
                         multiply-add. That is done where the processor has none)

`exp2(x)` and `exp(x)` take a float32 or float64, or a vector of them (dlkernels.simd), of at most 0 as softmax has
them: the largest score was taken away before. Larger numbers, up to 88, are right too. What is below 1/sqrt(2) of the
smallest normal number becomes 0; NaN stays NaN.

The library's `expf` takes one number at a time; a loop around it cannot be vectorised.
"""

import math
import platform

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from .target import has
from .vector import ELEMENTS, VectorType, call_llvm, splat

LOG2_E = 1 / math.log(2)
X86 = platform.machine().lower() in ("x86_64", "amd64")
ROUNDS_ONCE = has("fma") or has("avx512f") or not X86  # is there a multiply-add that does?

#: Coefficients of 2^r by its powers. Those of float32 were fitted: tests/kernels/test_attention.py does it again.
FITTED = (1.0, 0.693147, 0.24022244, 0.055507332, 0.009671514, 0.0013264726)
TAYLOR = tuple(math.log(2) ** k / math.factorial(k) for k in range(14))

#: By type: bits of a number, of its fraction; coefficients of 2^r; LOG2_E in two parts.
FORMATS = {
    types.float32: (32, 23, FITTED, float(np.float32(LOG2_E)), LOG2_E - float(np.float32(LOG2_E))),
    types.float64: (64, 52, TAYLOR, LOG2_E, 2.0355273740931033e-17),
}

#: By type: ln 2 in two parts, the first so short that its product with n is exact. (2.3e-17 is what `math.log` lacks.)
SHORT = {types.float32: round(math.log(2) * 2**14) / 2**14, types.float64: round(math.log(2) * 2**40) / 2**40}
LN_2 = {number: (high, math.log(2) - high + 2.3190468138462996e-17) for number, high in SHORT.items()}


def _describe(name, x):
    """(type of a number, lanes or None) of an argument."""
    number = x.dtype if isinstance(x, VectorType) else x
    if number not in ELEMENTS:
        raise TypingError(f"{name} expects a float32 or float64, or a vector of them, not {x}")
    return number, x.lanes if isinstance(x, VectorType) else None


def _emit(builder, number, lanes, x, natural):
    """LLVM: 2^x, or e^x where `natural`."""
    bits, fraction, coefficients, high, low = FORMATS[number]
    element, word = (ir.FloatType() if bits == 32 else ir.DoubleType()), ir.IntType(bits)
    words = word if lanes is None else ir.VectorType(word, lanes)
    kind = f"f{bits}" if lanes is None else f"v{lanes}f{bits}"

    def constant(value, of=element):
        scalar = ir.Constant(of, value)
        return scalar if lanes is None else splat(builder, scalar, lanes)

    def multiply_add(a, b, c):
        return call_llvm(builder, f"fmuladd.{kind}", a.type, [a, b, c])

    bias = (1 << (bits - fraction - 2)) - 1  # 127, 1023: an exponent of -bias, written as 0, is the number 0
    least = constant(-bias / (LOG2_E if natural else 1))
    x = builder.select(builder.fcmp_ordered("<", x, least), least, x)  # this way round NaN stays NaN
    scaled = builder.fmul(x, constant(high)) if natural else x
    # A number beside which only whole ones have room: adding it rounds. It has the bias of an exponent in its last
    # bits.
    shift = constant(1.5 * 2.0**fraction + bias)
    shifted = builder.fadd(scaled, shift)
    rounded = builder.fsub(shifted, shift)
    if natural and not ROUNDS_ONCE:
        high, low = (builder.fmul(rounded, constant(part)) for part in LN_2[number])
        rest = builder.fmul(builder.fsub(builder.fsub(x, high), low), constant(LOG2_E))
    elif natural:
        rest = multiply_add(x, constant(low), multiply_add(x, constant(high), builder.fneg(rounded)))
    else:
        rest = builder.fsub(x, rounded)
    power = constant(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        power = multiply_add(power, rest, constant(coefficient))
    factor = builder.bitcast(builder.shl(builder.bitcast(shifted, words), constant(fraction, word)), x.type)
    return builder.fmul(power, factor)


@intrinsic
def exp2(typingctx, x):
    """``exp2(x)``: 2 to the power of x, at most 0, to a relative error of 2 roundings."""
    number, lanes = _describe("exp2", x)
    return x(x), lambda context, builder, signature, arguments: _emit(builder, number, lanes, arguments[0], False)


@intrinsic
def exp(typingctx, x):
    """``exp(x)``: e to the power of x, at most 0, to a relative error of 2 roundings."""
    number, lanes = _describe("exp", x)
    return x(x), lambda context, builder, signature, arguments: _emit(builder, number, lanes, arguments[0], True)
