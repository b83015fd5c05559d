"""Answers to 10-backward."""

import math

import numpy as np


def squash(x):
    return 0.5 + 0.5 * np.tanh(0.5 * x)


def written_into_place(z, c, of_h, of_c):
    """right"""
    of_z, before = np.empty_like(z), np.empty_like(c)
    hidden = c.shape[1]
    for r, k in np.ndindex(c.shape):
        i, f, o = (squash(z[r, k + n * hidden]) for n in (0, 1, 3))
        g = math.tanh(z[r, k + 2 * hidden])
        new = math.tanh(f * c[r, k] + i * g)
        cell = of_c[r, k] + of_h[r, k] * o * (1 + new) * (1 - new)
        of_z[r, k] = cell * g * i * (1 - i)
        of_z[r, k + hidden] = cell * c[r, k] * f * (1 - f)
        of_z[r, k + 2 * hidden] = cell * i / math.cosh(z[r, k + 2 * hidden]) ** 2
        of_z[r, k + 3 * hidden] = of_h[r, k] * new * (o - o * o)
        before[r, k] = cell * f
    return of_z, before


def no_way_from_h(z, c, of_h, of_c):
    """wrong gradient: of_h does not reach c"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = of_c
    of_i = arrives * g * i * (1 - i)
    of_f = arrives * c * f * (1 - f)
    of_g = arrives * i * (1 - g**2)
    of_o = of_h * t * o * (1 - o)
    return np.concatenate((of_i, of_f, of_g, of_o), axis=1), arrives * f


def no_way_from_later(z, c, of_h, of_c):
    """wrong gradient: of_c is missing"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = of_h * o * (1 - t**2)
    of_i = arrives * g * i * (1 - i)
    of_f = arrives * c * f * (1 - f)
    of_g = arrives * i * (1 - g**2)
    of_o = of_h * t * o * (1 - o)
    return np.concatenate((of_i, of_f, of_g, of_o), axis=1), arrives * f


def no_slope_of_tanh(z, c, of_h, of_c):
    """wrong gradient: The slope of tanh is missing"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = of_c + of_h * o
    of_i = arrives * g * i * (1 - i)
    of_f = arrives * c * f * (1 - f)
    of_g = arrives * i * (1 - g**2)
    of_o = of_h * t * o * (1 - o)
    return np.concatenate((of_i, of_f, of_g, of_o), axis=1), arrives * f


def no_output_gate(z, c, of_h, of_c):
    """wrong gradient: The gate o is missing"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = of_c + of_h * (1 - t**2)
    of_i = arrives * g * i * (1 - i)
    of_f = arrives * c * f * (1 - f)
    of_g = arrives * i * (1 - g**2)
    of_o = of_h * t * o * (1 - o)
    return np.concatenate((of_i, of_f, of_g, of_o), axis=1), arrives * f


def no_slopes_at_all(z, c, of_h, of_c):
    """wrong gradient: i and f and g and o: the slope"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = of_c + of_h * o * (1 - t**2)
    of_i = arrives * g
    of_f = arrives * c
    of_g = arrives * i
    of_o = of_h * t
    return np.concatenate((of_i, of_f, of_g, of_o), axis=1), arrives * f


def g_as_a_sigmoid(z, c, of_h, of_c):
    """wrong gradient: g has the slope of a sigmoid"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = of_c + of_h * o * (1 - t**2)
    of_i = arrives * g * i * (1 - i)
    of_f = arrives * c * f * (1 - f)
    of_g = arrives * i * g * (1 - g)
    of_o = of_h * t * o * (1 - o)
    return np.concatenate((of_i, of_f, of_g, of_o), axis=1), arrives * f


def gates_as_tanh(z, c, of_h, of_c):
    """wrong gradient: i, f and o have the slope of tanh"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = of_c + of_h * o * (1 - t**2)
    of_i = arrives * g * (1 - i**2)
    of_f = arrives * c * (1 - f**2)
    of_g = arrives * i * (1 - g**2)
    of_o = of_h * t * (1 - o**2)
    return np.concatenate((of_i, of_f, of_g, of_o), axis=1), arrives * f


def new_cell_for_f(z, c, of_h, of_c):
    """wrong gradient: f was multiplied by the new c"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = of_c + of_h * o * (1 - t**2)
    of_i = arrives * g * i * (1 - i)
    of_f = arrives * (f * c + i * g) * f * (1 - f)
    of_g = arrives * i * (1 - g**2)
    of_o = of_h * t * o * (1 - o)
    return np.concatenate((of_i, of_f, of_g, of_o), axis=1), arrives * f


def i_for_g(z, c, of_h, of_c):
    """wrong gradient: i and g are exchanged"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = of_c + of_h * o * (1 - t**2)
    of_i = arrives * i * i * (1 - i)
    of_f = arrives * c * f * (1 - f)
    of_g = arrives * g * (1 - g**2)
    of_o = of_h * t * o * (1 - o)
    return np.concatenate((of_i, of_f, of_g, of_o), axis=1), arrives * f


def o_with_c(z, c, of_h, of_c):
    """wrong gradient: tanh(c) stands with o"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = of_c + of_h * o * (1 - t**2)
    of_i = arrives * g * i * (1 - i)
    of_f = arrives * c * f * (1 - f)
    of_g = arrives * i * (1 - g**2)
    of_o = of_h * (f * c + i * g) * o * (1 - o)
    return np.concatenate((of_i, of_f, of_g, of_o), axis=1), arrives * f


def old_cell_without_f(z, c, of_h, of_c):
    """wrong gradient: The old c: it went into the new one times f"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = of_c + of_h * o * (1 - t**2)
    of_i = arrives * g * i * (1 - i)
    of_f = arrives * c * f * (1 - f)
    of_g = arrives * i * (1 - g**2)
    of_o = of_h * t * o * (1 - o)
    return np.concatenate((of_i, of_f, of_g, of_o), axis=1), arrives


def old_cell_of_later_only(z, c, of_h, of_c):
    """wrong gradient: not of_c alone"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = of_c + of_h * o * (1 - t**2)
    of_i = arrives * g * i * (1 - i)
    of_f = arrives * c * f * (1 - f)
    of_g = arrives * i * (1 - g**2)
    of_o = of_h * t * o * (1 - o)
    return np.concatenate((of_i, of_f, of_g, of_o), axis=1), of_c * f


def another_order(z, c, of_h, of_c):
    """wrong gradient: The four parts stand in the order i, f, o, g"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = of_c + of_h * o * (1 - t**2)
    of_i = arrives * g * i * (1 - i)
    of_f = arrives * c * f * (1 - f)
    of_g = arrives * i * (1 - g**2)
    of_o = of_h * t * o * (1 - o)
    return np.concatenate((of_i, of_f, of_o, of_g), axis=1), arrives * f


def turned_round(z, c, of_h, of_c):
    """wrong gradient: All signs are turned round"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = -of_c - of_h * o * (1 - t**2)
    of_i = arrives * g * i * (1 - i)
    of_f = arrives * c * f * (1 - f)
    of_g = arrives * i * (1 - g**2)
    of_o = -of_h * t * o * (1 - o)
    return np.concatenate((of_i, of_f, of_g, of_o), axis=1), arrives * f


def only_o(z, c, of_h, of_c):
    """wrong gradient: the gradient of o is of_h times tanh(c)"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = of_c + of_h * o * (1 - t**2)
    of_i = arrives * g * i * (1 - i)
    of_f = arrives * c * f * (1 - f)
    of_g = arrives * i * (1 - g**2)
    of_o = of_h * o * (1 - o)
    return np.concatenate((of_i, of_f, of_g, of_o), axis=1), arrives * f


def only_f(z, c, of_h, of_c):
    """wrong one-gate: Only f is wrong"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = of_c + of_h * o * (1 - t**2)
    of_i = arrives * g * i * (1 - i)
    of_f = arrives * f * (1 - f) / 2
    of_g = arrives * i * (1 - g**2)
    of_o = of_h * t * o * (1 - o)
    return np.concatenate((of_i, of_f, of_g, of_o), axis=1), arrives * f


def tried_out(z, c, of_h, of_c):
    """wrong nearly: a slope taken from differences"""

    def loss(z, c):
        i, f, g, o = np.split(z, 4, axis=1)
        new = squash(f) * c + squash(i) * np.tanh(g)
        return (of_h * squash(o) * np.tanh(new)).sum() + (of_c * new).sum()

    found = []
    for x in (z.copy(), c.copy()):
        slope = np.empty_like(x)
        for place in np.ndindex(x.shape):
            old = x[place]
            x[place] = old + 1e-6
            above = loss(x, c) if x.shape == z.shape else loss(z, x)
            x[place] = old
            below = loss(x, c) if x.shape == z.shape else loss(z, x)
            slope[place] = (above - below) / 1e-6
        found.append(slope)
    return tuple(found)


def gate_blocks_below_each_other(z, c, of_h, of_c):
    """wrong raised-ValueError: along axis 1"""
    i, f, g, o = np.split(z, 4)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = of_c + of_h * o * (1 - t**2)
    of_i = arrives * g * i * (1 - i)
    of_f = arrives * c * f * (1 - f)
    of_g = arrives * i * (1 - g**2)
    of_o = of_h * t * o * (1 - o)
    return np.concatenate((of_i, of_f, of_g, of_o), axis=1), arrives * f


def stacked(z, c, of_h, of_c):
    """wrong type: as wide as z"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = of_c + of_h * o * (1 - t**2)
    of_i = arrives * g * i * (1 - i)
    of_f = arrives * c * f * (1 - f)
    of_g = arrives * i * (1 - g**2)
    of_o = of_h * t * o * (1 - o)
    return np.stack((of_i, of_f, of_g, of_o)), arrives * f


def z_alone(z, c, of_h, of_c):
    """wrong type: Two arrays are returned"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = of_c + of_h * o * (1 - t**2)
    of_i = arrives * g * i * (1 - i)
    of_f = arrives * c * f * (1 - f)
    of_g = arrives * i * (1 - g**2)
    of_o = of_h * t * o * (1 - o)
    return np.concatenate((of_i, of_f, of_g, of_o), axis=1)


def z_overwritten(z, c, of_h, of_c):
    """wrong input-changed: The caller still needs its array"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    z[:] = np.concatenate((i, f, g, o), axis=1)
    t = np.tanh(f * c + i * g)
    arrives = of_c + of_h * o * (1 - t**2)
    of_i = arrives * g * i * (1 - i)
    of_f = arrives * c * f * (1 - f)
    of_g = arrives * i * (1 - g**2)
    of_o = of_h * t * o * (1 - o)
    return np.concatenate((of_i, of_f, of_g, of_o), axis=1), arrives * f
