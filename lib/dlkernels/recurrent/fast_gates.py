"""What follows the products of a step of LSTM and GRU on a CPU: gates and new states, a vector of them at once, in
float32.

tanh is a quotient of polynomials: its continued fraction

    tanh x = x / (1 + x^2 / (3 + x^2 / (5 + ...)))                     Lambert 1768

cut after LAST has an error below half a rounding to where tanh is 1 in float32, and all its coefficients are positive:
no digit is lost. Where a gate multiplies a tanh, their two divisions are one.

New states are rounded to multiples of the smallest normal number: a state that fades would else stay at the smallest of
all numbers, with which some CPUs are slow (`settled`).
"""

import numpy as np

from ..simd import broadcast, fma, larger, load, smaller, store, vector_width, where
from ..simd.exponential import exp
from ..simd.inner import inner_njit

f32 = np.float32
lanes = vector_width(np.float32)
SMALLEST = f32(2.0**-102)  # above it there is room for multiples of 2^-125, below it of 2^-126, the least normal number
ONE, MINUS_ONE = f32(1), f32(-1)
LAST = 25
FLAT = f32(9.02)  # tanh is 1 from there on
STEEP = f32(88)  # e to this power still fits float32


def continued_fraction(last):
    """(numerator, denominator): coefficients of tanh(x) / x as a quotient of polynomials in x^2, the highest power
    first."""
    above, below = [1], [last]
    for k in range(last - 2, 0, -2):  # k + x^2 above / below
        longer = [*above, 0]
        scaled = [0] * (len(longer) - len(below)) + [k * number for number in below]
        above, below = below, [a + b for a, b in zip(scaled, longer, strict=True)]
    return above, below


A, B = (tuple(f32(number) for number in part) for part in continued_fraction(LAST))
A_0, A_1, A_2, A_3, A_4, A_5, A_6 = A
B_0, B_1, B_2, B_3, B_4, B_5, B_6 = B


@inner_njit(forceinline=True)
def settled(x):
    """x, but a multiple of the smallest normal number, or of twice that."""
    return (x + SMALLEST) - SMALLEST


@inner_njit()
def tanh_as_quotient(x):
    """(numerator, denominator) of the tanh of a vector. NaN stays NaN."""
    x = smaller(FLAT, larger(-FLAT, x))
    s = x * x
    above = fma(fma(fma(fma(fma(fma(A_0, s, A_1), s, A_2), s, A_3), s, A_4), s, A_5), s, A_6)
    below = fma(fma(fma(fma(fma(fma(B_0, s, B_1), s, B_2), s, B_3), s, B_4), s, B_5), s, B_6)
    return x * above, below


@inner_njit()
def below_sigmoid(x):
    """The denominator of the sigmoid of a vector, 1 + e^-x."""
    return ONE + exp(smaller(STEEP, MINUS_ONE * x))


@inner_njit()
def gone_on(going, new, old):
    """The new state where a sequence goes on (1), the old one where it has ended (0), whatever the other one is."""
    return where(going, settled(new), old)


@inner_njit()
def lstm_vector(
    gates, gate_at, gate_stride, b_i, b_f, b_g, b_o, going, going_at, states, h_at, c_at, target, new_at, cell_at
):
    """A vector of new h and c, to target[new_at :] and target[cell_at :]; gates[gate_at + k * gate_stride :]: of gate
    k."""
    mask, c = load(going, going_at), load(states, c_at)
    i, f = load(gates, gate_at) + b_i, load(gates, gate_at + gate_stride) + b_f
    g = load(gates, gate_at + 2 * gate_stride) + b_g
    o = load(gates, gate_at + 3 * gate_stride) + b_o
    above, below = tanh_as_quotient(g)
    added = above / (below * below_sigmoid(i))
    cell = gone_on(mask, c / below_sigmoid(f) + added, c)
    above, below = tanh_as_quotient(cell)
    shown = above / (below * below_sigmoid(o))
    store(target, new_at, gone_on(mask, shown, load(states, h_at)))
    store(target, cell_at, cell)


@inner_njit()
def gru_vector(gates, gate_at, gate_stride, p, p_at, b_r, b_z, b_n, b_h, going, going_at, states, h_at, target, new_at):
    """A vector of new h, to target[new_at :]; p[p_at :]: the part of gate n that x has."""
    mask, h = load(going, going_at), load(states, h_at)
    of_n = (load(gates, gate_at + 2 * gate_stride) + b_h) / below_sigmoid(load(gates, gate_at) + b_r)
    above, below = tanh_as_quotient(load(p, p_at) + b_n + of_n)
    n, z = above / below, broadcast(ONE) / below_sigmoid(load(gates, gate_at + gate_stride) + b_z)
    store(target, new_at, gone_on(mask, fma(z, h - n, n), h))
