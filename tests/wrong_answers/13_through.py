"""Answers to 13-through."""

import numpy as np
from answers import MASTER, edit, replace


def by_loops(w, grad, scale, low, high):
    """right"""
    rounded, back = np.zeros(len(w)), np.zeros(len(w))
    for i in range(len(w)):
        code = round(float(w[i]) / scale)
        rounded[i] = scale * min(max(code, low), high)
        if code == min(max(code, low), high):
            back[i] = grad[i]
    return rounded, back


def clipped_is_equal(w, grad, scale, low, high):
    """right"""
    code = np.rint(w / scale)
    clipped = np.minimum(np.maximum(code, low), high)
    return [clipped * scale, grad * (clipped == code)]


codes = edit(
    MASTER, "wrong code: This is the code", replace("scale * np.clip(code, low, high)", "np.clip(code, low, high)")
)
unclipped = edit(MASTER, "wrong clip: Codes end at", replace("scale * np.clip(code, low, high)", "scale * code"))
as_it_was = edit(MASTER, "wrong unrounded: has to feel", replace("scale * np.clip(code, low, high)", "w.copy()"))
true_slope = edit(
    MASTER,
    "wrong true-slope: the true slope of a staircase",
    replace("np.where(inside, grad, 0.0)", "np.zeros(len(w))"),
)
all_pass = edit(
    MASTER,
    "wrong clipped-too: to move it further changes nothing",
    replace("np.where(inside, grad, 0.0)", "grad.copy()"),
)
turned = edit(
    MASTER,
    "wrong turned: The mask is turned round",
    replace("np.where(inside, grad, 0.0)", "np.where(inside, 0.0, grad)"),
)
without_ends = edit(
    MASTER, "wrong ends: was not clipped", replace("(code >= low) & (code <= high)", "(code > low) & (code < high)")
)
by_weight = edit(
    MASTER,
    "wrong edge: Compare the code, not the weight",
    replace("(code >= low) & (code <= high)", "(w >= scale * low) & (w <= scale * high)"),
)
times_scale = edit(
    MASTER,
    "wrong scaled: was multiplied by the scale",
    replace("np.where(inside, grad, 0.0)", "np.where(inside, grad * scale, 0.0)"),
)
over_scale = edit(
    MASTER,
    "wrong scaled: was divided by the scale",
    replace("np.where(inside, grad, 0.0)", "np.where(inside, grad / scale, 0.0)"),
)
slope = edit(
    MASTER, "wrong mask: This is the slope", replace("np.where(inside, grad, 0.0)", "np.where(inside, 1.0, 0.0)")
)
in_place = edit(
    MASTER,
    "wrong input-changed: The caller still needs its array",
    replace("code = np.rint(w / scale)", "code = np.rint(w / scale)\ngrad[code > high] = 0"),
)
one_only = edit(
    MASTER, "wrong type: Return two arrays", replace("return scale * np.clip(code, low, high), ", "return ")
)
no_numbers = edit(MASTER, "wrong rounded: clip(round", replace("scale * np.clip(code, low, high)", "w * np.nan"))
no_gradient = edit(MASTER, "wrong gradient: as it arrives", replace("np.where(inside, grad, 0.0)", "grad * np.nan"))
exchanged = edit(
    MASTER,
    "wrong order: exchanged",
    replace(
        "scale * np.clip(code, low, high), np.where(inside, grad, 0.0)",
        "np.where(inside, grad, 0.0), scale * np.clip(code, low, high)",
    ),
)
