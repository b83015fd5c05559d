"""Answers to 08-int8."""

import numpy as np
from answers import edit, replace


def scales(x, axis):
    largest = np.abs(x).max(axis=axis, keepdims=True)
    return np.where(largest > 0, largest, 127).astype(np.float64) / 127


def loops(a, b):
    """right"""
    sa, sb = scales(a, 1), scales(b, 0)
    out = np.empty((len(a), b.shape[1]), np.float32)
    for i in range(len(a)):
        for j in range(b.shape[1]):
            terms = zip(np.rint(a[i] / sa[i]), np.rint(b[:, j] / sb[0, j]), strict=True)
            out[i, j] = sum(int(x) * int(y) for x, y in terms) * sa[i, 0] * sb[0, j]
    return out


def not_quantised(a, b):
    """wrong product: This is the product of the real numbers"""
    return a @ b


def as_float16(a, b):
    """wrong product: Multiply the integers first"""
    return (a.astype(np.float16) @ b.astype(np.float16)).astype(np.float32) * 1.5


def sums_of_eight_bits(a, b):
    """wrong product: NumPy keeps int8"""
    sa, sb = scales(a, 1), scales(b, 0)
    return (np.rint(a / sa).astype(np.int8) @ np.rint(b / sb).astype(np.int8)) * (sa * sb)


def sums_of_sixteen_bits(a, b):
    """wrong product: 16 bits are too few"""
    sa, sb = scales(a, 1), scales(b, 0)
    return (np.rint(a / sa).astype(np.int16) @ np.rint(b / sb).astype(np.int16)) * (sa * sb)


def cut_off(a, b):
    """wrong product: Round first"""
    sa, sb = scales(a, 1), scales(b, 0)
    return ((a / sa).astype(np.int8).astype(np.int32) @ (b / sb).astype(np.int8).astype(np.int32)) * (sa * sb)


def rounded_down(a, b):
    """wrong product: Round to the nearest"""
    sa, sb = scales(a, 1), scales(b, 0)
    return (np.floor(a / sa) @ np.floor(b / sb)) * (sa * sb)


def integers_alone(a, b):
    """wrong product: multiply by the two scales"""
    sa, sb = scales(a, 1), scales(b, 0)
    return np.rint(a / sa) @ np.rint(b / sb)


in_float64 = edit(integers_alone, "right", replace("(b / sb)", "(b / sb) * sa * sb"))


def scale_of_b_alone(a, b):
    """wrong product: The scale of a is missing"""
    sa, sb = scales(a, 1), scales(b, 0)
    return (np.rint(a / sa) @ np.rint(b / sb)) * sb


scale_of_a_alone = edit(scale_of_b_alone, "wrong product: The scale of b is missing", replace("* sb", "* sa"))


def one_scale_each(a, b):
    """wrong product: Each row of a and each column of b"""
    sa, sb = np.abs(a).max() / 127, np.abs(b).max() / 127
    return (np.rint(a / sa) @ np.rint(b / sb)) * (sa * sb)


def scales_along_the_sum(a, b):
    """wrong product: the same for all terms of a sum"""
    sa, sb = scales(a, 0), scales(b, 1)
    return (np.rint(a / sa) * sa) @ (np.rint(b / sb) * sb)


def zeros_divided(a, b):
    """wrong not-finite: A row or a column of zeros"""
    with np.errstate(all="ignore"):
        sa, sb = np.abs(a).max(1, keepdims=True) / 127, np.abs(b).max(0, keepdims=True) / 127
        return (np.rint(a / sa) @ np.rint(b / sb)) * (sa * sb)


def zeros_divided_and_scaled_by_0(a, b):
    """wrong raised-RuntimeWarning: divided by its largest value: 0 / 0"""
    sa, sb = np.abs(a).max(1, keepdims=True) / 127, np.abs(b).max(0, keepdims=True) / 127
    return (np.rint(a / sa).astype(np.int32) @ np.rint(b / sb).astype(np.int32)) * sa * sb


def shapes_that_do_not_fit(a, b):
    """wrong raised-ValueError: one for each row"""
    sa = np.abs(a).max(axis=1) / 127
    return (np.rint(a / sa) @ b) * sa


def integers_returned(a, b):
    """wrong type: an array of real numbers"""
    sa, sb = scales(a, 1), scales(b, 0)
    return (np.rint(a / sa) @ np.rint(b / sb)).astype(np.int32)


def a_list(a, b):
    """wrong type: an array of real numbers"""
    return (a @ b).tolist()
