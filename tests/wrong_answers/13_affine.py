"""Answers to 13-affine."""

import numpy as np
from answers import MASTER, cut, edit, replace


def with_lists(seen, x, low, high):
    """right"""
    least, most = min([0.0, *seen.tolist()]), max([0.0, *seen.tolist()])
    scale = (most - least) / (high - low) or 1.0
    zero, codes = low - round(least / scale), []
    for value in x.tolist():
        codes.append(min(max(round(value / scale) + zero, low), high))
    return [scale, zero, codes]


def in_float32(seen, x, low, high):
    """right"""
    seen = seen.astype(np.float64)
    least, most = np.minimum(0, seen.min()), np.maximum(0, seen.max())
    scale = np.float32(1) if most == least else np.float32((most - least) / (high - low))
    zero = np.int32(low - np.rint(least / np.float64(scale)))
    return scale, zero, np.minimum(np.maximum(np.rint(x / np.float64(scale)) + zero, low), high).astype(np.int32)


without_zero = edit(
    MASTER,
    "wrong without-zero: 0 needs a code",
    replace("min(0.0, seen.min()), max(0.0, seen.max())", "seen.min(), seen.max()"),
)
one_step_more = edit(MASTER, "wrong steps: one step less", replace("/ (high - low)", "/ (high - low + 1)"))
symmetric = edit(
    MASTER,
    "wrong symmetric: This is the symmetric scale",
    replace("(most - least) / (high - low)", "np.abs(seen).max() / high"),
)
turned_over = edit(
    MASTER,
    "wrong inverse: This is 1 / scale",
    replace("(most - least) / (high - low)", "(high - low) / max(most - least, 1e-9)"),
)
divides_by_nothing = edit(
    MASTER,
    "wrong raised-RuntimeWarning: take the scale 1 there",
    cut("if scale == 0:\n    scale = 1.0"),
    replace("round(least / scale)", "(round(least / scale) if scale else 0)"),
)
sign_turned = edit(
    MASTER,
    "wrong sign: the least number has to get the code",
    replace("low - round(least / scale)", "low + round(least / scale)"),
)
at_nought = edit(
    MASTER, "wrong zero-at-0: Which code has the number 0", replace("zero = low - round(least / scale)", "zero = 0")
)
from_low = edit(
    MASTER,
    "wrong low: The least number of the range has the code",
    replace("zero = low - round(least / scale)", "zero = low"),
)
fraction = edit(MASTER, "wrong fraction: a whole number", replace("round(least / scale)", "least / scale"))
zero_cut_off = edit(
    MASTER, "wrong rounding: Off by one", replace("low - round(least / scale)", "int(low - least / scale)")
)
unclipped = edit(
    MASTER,
    "wrong clip: gets the last one",
    replace("np.clip(np.rint(x / scale) + zero, low, high)", "np.rint(x / scale) + zero"),
)
wraps = edit(
    MASTER,
    "wrong wrapped: Clip first",
    replace(
        "np.clip(np.rint(x / scale) + zero, low, high)", "(np.rint(x / scale) + zero - low) % (high - low + 1) + low"
    ),
)
codes_cut_off = edit(
    MASTER, "wrong cut-off: round to the nearest", replace("np.rint(x / scale)", "np.trunc(x / scale)")
)
no_zero_point = edit(MASTER, "wrong no-zero: is not added", replace("np.rint(x / scale) + zero", "np.rint(x / scale)"))
zero_subtracted = edit(
    MASTER,
    "wrong minus-zero: subtracted on the way back",
    replace("np.rint(x / scale) + zero", "np.rint(x / scale) - zero"),
)
clipped_early = edit(
    MASTER,
    "wrong clip-early: then clip",
    replace("np.clip(np.rint(x / scale) + zero, low, high)", "np.clip(np.rint(x / scale), low, high) + zero"),
)
only_codes = edit(MASTER, "wrong type: Return three things", replace("return scale, zero, ", "return "))
range_of_x = edit(
    MASTER,
    "wrong of-x: x may lie beyond them",
    replace("min(0.0, seen.min()), max(0.0, seen.max())", "min(0.0, x.min()), max(0.0, x.max())"),
)
scale_0 = edit(
    MASTER, "wrong no-scale: A scale is a positive number", replace("scale = 1.0", "return 0.0, 0, np.zeros(x.size)")
)
