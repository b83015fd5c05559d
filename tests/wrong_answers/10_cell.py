"""Answers to 10-cell."""

import math

import numpy as np
from answers import edit, replace


def gate_by_gate(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """right"""
    hidden = h.shape[1]

    def gate(k):
        rows = slice(k * hidden, (k + 1) * hidden)
        return x @ w_ih[rows].T + b_ih[rows] + h @ w_hh[rows].T + b_hh[rows]

    def squash(x):
        small = np.exp(-np.abs(x))
        return np.where(x > 0, 1, small) / (1 + small)

    new = squash(gate(1)) * c + squash(gate(0)) * np.tanh(gate(2))
    return [squash(gate(3)) * np.tanh(new), new]


def by_loops(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """right"""
    hidden = h.shape[1]
    both, weights = np.concatenate((x, h), axis=1), np.concatenate((w_ih, w_hh), axis=1)
    new_h, new_c = np.empty_like(h), np.empty_like(c)
    for r in range(len(x)):
        for j in range(hidden):
            z = [
                float(weights[k * hidden + j] @ both[r] + b_ih[k * hidden + j] + b_hh[k * hidden + j]) for k in range(4)
            ]
            i, f, o = (0.5 * (1 + math.tanh(z[k] / 2)) for k in (0, 1, 3))
            new_c[r, j] = f * c[r, j] + i * math.tanh(z[2])
            new_h[r, j] = o * math.tanh(new_c[r, j])
    return new_h, new_c


def exponential_below(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """right"""
    z = x @ w_ih.T + h @ w_hh.T + b_ih + b_hh
    i, f, g, o = z.reshape(len(x), 4, -1).transpose(1, 0, 2)
    c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
    return np.tanh(c) / (1 + np.exp(-o)), c


def _sums(x, h, w_ih, w_hh, b_ih, b_hh):
    z = x @ w_ih.T + h @ w_hh.T + b_ih + b_hh
    return np.split(z, 4, axis=1)


def _s(x):
    return 0.5 + 0.5 * np.tanh(0.5 * x)


def order_of_other_libraries(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """wrong gates: in the order i, f, o, g"""
    i, f, o, g = _sums(x, h, w_ih, w_hh, b_ih, b_hh)
    c = _s(f) * c + _s(i) * np.tanh(g)
    return _s(o) * np.tanh(c), c


order_of_a_paper = edit(order_of_other_libraries, "wrong gates: in the order f, i, o, g", replace("i, f", "f, i"))


def neighbouring_columns(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """wrong gates: neighbours were taken"""
    z = x @ w_ih.T + h @ w_hh.T + b_ih + b_hh
    i, f, g, o = (z[:, k::4] for k in range(4))
    c = _s(f) * c + _s(i) * np.tanh(g)
    return _s(o) * np.tanh(c), c


def one_bias(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """wrong gates: b_hh is missing"""
    i, f, g, o = _sums(x, h, w_ih, w_hh, b_ih, 0)
    c = _s(f) * c + _s(i) * np.tanh(g)
    return _s(o) * np.tanh(c), c


def no_state(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """wrong gates: The product with the state h is missing"""
    i, f, g, o = _sums(x, 0 * h, w_ih, w_hh, b_ih, b_hh)
    c = _s(f) * c + _s(i) * np.tanh(g)
    return _s(o) * np.tanh(c), c


def sigmoid_of_g(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """wrong gates: g went through a sigmoid"""
    i, f, g, o = _sums(x, h, w_ih, w_hh, b_ih, b_hh)
    c = _s(f) * c + _s(i) * _s(g)
    return _s(o) * np.tanh(c), c


c_not_squashed = edit(no_state, "wrong gates: h is o times c", replace("0 * h", "h"), replace("np.tanh(c)", "c"))


def old_c(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """wrong gates: h was computed from the old c"""
    i, f, g, o = _sums(x, h, w_ih, w_hh, b_ih, b_hh)
    h = _s(o) * np.tanh(c)
    c = _s(f) * c + _s(i) * np.tanh(g)
    return h, c


def as_a_gru(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """wrong gates: c mixes by f and 1 - f"""
    _, f, g, o = _sums(x, h, w_ih, w_hh, b_ih, b_hh)
    c = _s(f) * c + (1 - _s(f)) * np.tanh(g)
    return _s(o) * np.tanh(c), c


def swapped(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """wrong exchanged: h is returned first"""
    i, f, g, o = _sums(x, h, w_ih, w_hh, b_ih, b_hh)
    c = _s(f) * c + _s(i) * np.tanh(g)
    return c, _s(o) * np.tanh(c)


only_h = edit(swapped, "wrong type: Two arrays are returned", replace("c, _s", "_s"))


def infinity_by_infinity(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """wrong raised-RuntimeWarning: infinity by infinity"""
    i, f, g, o = _sums(x, h, w_ih, w_hh, b_ih, b_hh)
    i, f, o = (np.exp(gate) / (1 + np.exp(gate)) for gate in (i, f, o))
    c = f * c + i * np.tanh(g)
    return o * np.tanh(c), c


def python_stops(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """wrong raised-OverflowError: math.exp stops there"""
    i, f, g, o = _sums(x, h, w_ih, w_hh, b_ih, b_hh)
    squash = np.vectorize(lambda x: 1 / (1 + math.exp(-x)))
    c = squash(f) * c + squash(i) * np.tanh(g)
    return squash(o) * np.tanh(c), c


def not_transposed(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """wrong raised-ValueError: x @ w_ih.T has (batch, 4 * hidden)"""
    i, f, g, o = np.split(x @ w_ih + h @ w_hh.T + b_ih + b_hh, 4, axis=1)
    c = _s(f) * c + _s(i) * np.tanh(g)
    return _s(o) * np.tanh(c), c


def cut_along_rows(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """wrong raised-ValueError: cut along axis 1"""
    i, f, g, o = np.split(x @ w_ih.T + h @ w_hh.T + b_ih + b_hh, 4)
    c = _s(f) * c + _s(i) * np.tanh(g)
    return _s(o) * np.tanh(c), c


def into_the_caller(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """wrong input-changed: The caller still needs its array"""
    i, f, g, o = _sums(x, h, w_ih, w_hh, b_ih, b_hh)
    c *= _s(f)
    c += _s(i) * np.tanh(g)
    return _s(o) * np.tanh(c), c


def in_float32(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """wrong nearly: Is something float32 on the way"""
    i, f, g, o = _sums(x, h, w_ih, w_hh, b_ih, b_hh)
    c = (_s(f) * c + _s(i) * np.tanh(g)).astype(np.float32)
    return _s(o) * np.tanh(c), c
