"""Answers to 10-backward."""

import math

import numpy as np
from answers import edit, insert, replace


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


def squashed_after_the_split(z, c, of_h, of_c):
    """right"""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)
    t = np.tanh(f * c + i * g)
    arrives = of_c + of_h * o * (1 - t**2)
    of_i = arrives * g * i * (1 - i)
    of_f = arrives * c * f * (1 - f)
    of_g = arrives * i * (1 - g**2)
    of_o = of_h * t * o * (1 - o)
    return np.concatenate((of_i, of_f, of_g, of_o), axis=1), arrives * f


no_way_from_h = edit(
    squashed_after_the_split, "wrong gradient: of_h does not reach c", replace("of_c + of_h * o * (1 - t**2)", "of_c")
)
no_way_from_later = edit(squashed_after_the_split, "wrong gradient: of_c is missing", replace("of_c + of_h", "of_h"))
no_slope_of_tanh = edit(
    squashed_after_the_split, "wrong gradient: The slope of tanh is missing", replace("o * (1 - t**2)", "o")
)
no_output_gate = edit(
    squashed_after_the_split, "wrong gradient: The gate o is missing", replace("o * (1 - t**2)", "(1 - t**2)")
)


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


g_as_a_sigmoid = edit(
    squashed_after_the_split, "wrong gradient: g has the slope of a sigmoid", replace("(1 - g**2)", "g * (1 - g)")
)
gates_as_tanh = edit(
    squashed_after_the_split,
    "wrong gradient: i, f and o have the slope of tanh",
    replace("i * (1 - i)", "(1 - i**2)"),
    replace("f * (1 - f)", "(1 - f**2)"),
    replace("o * (1 - o)", "(1 - o**2)"),
)
new_cell_for_f = edit(
    squashed_after_the_split,
    "wrong gradient: f was multiplied by the new c",
    replace("arrives * c", "arrives * (f * c + i * g)"),
)
i_for_g = edit(
    squashed_after_the_split,
    "wrong gradient: i and g are exchanged",
    replace("arrives * g", "arrives * i"),
    replace("arrives * i", "arrives * g"),
)
o_with_c = edit(
    squashed_after_the_split, "wrong gradient: tanh(c) stands with o", replace("of_h * t", "of_h * (f * c + i * g)")
)
old_cell_without_f = edit(
    squashed_after_the_split,
    "wrong gradient: The old c: it went into the new one times f",
    replace("arrives * f", "arrives"),
)
old_cell_of_later_only = edit(
    squashed_after_the_split, "wrong gradient: not of_c alone", replace("arrives * f", "of_c * f")
)
another_order = edit(
    squashed_after_the_split,
    "wrong gradient: The four parts stand in the order i, f, o, g",
    replace("(of_i, of_f, of_g, of_o)", "(of_i, of_f, of_o, of_g)"),
)
turned_round = edit(
    squashed_after_the_split,
    "wrong gradient: All signs are turned round",
    replace("of_c + of_h", "-of_c - of_h"),
    replace("of_h * t", "-of_h * t"),
)
only_o = edit(
    squashed_after_the_split,
    "wrong gradient: the gradient of o is of_h times tanh(c)",
    replace("of_h * t * o", "of_h * o"),
)
only_f = edit(
    squashed_after_the_split,
    "wrong one-gate: Only f is wrong",
    replace("of_f = arrives * c * f * (1 - f)", "of_f = arrives * f * (1 - f) / 2"),
)


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


gate_blocks_below_each_other = edit(
    squashed_after_the_split, "wrong raised-ValueError: along axis 1", replace("(z, 4, axis=1)", "(z, 4)")
)
stacked = edit(
    squashed_after_the_split,
    "wrong type: as wide as z",
    replace("np.concatenate((of_i, of_f, of_g, of_o), axis=1)", "np.stack((of_i, of_f, of_g, of_o))"),
)
z_alone = edit(squashed_after_the_split, "wrong type: Two arrays are returned", replace(", arrives * f", ""))
z_overwritten = edit(
    squashed_after_the_split,
    "wrong input-changed: The caller still needs its array",
    insert(
        "z[:] = np.concatenate((i, f, g, o), axis=1)", after="i, f, g, o = squash(i), squash(f), np.tanh(g), squash(o)"
    ),
)
