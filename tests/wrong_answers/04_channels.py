"""Answers to 04-channels."""

import numpy as np  # noqa: F401 (edits use it)
from answers import edit, insert, replace
from numba import njit, prange


@njit
def pixel_by_pixel(x, scale, shift, out):
    """right"""
    images, rows, columns, channels = x.shape
    for n in range(images):
        for p in range(rows * columns):
            pixel, to = x[n, p // columns, p % columns], out[n, p // columns, p % columns]
            for c in range(channels):
                to[c] = shift[c] + pixel[c] * scale[c]


@njit(parallel=True)
def with_threads(x, scale, shift, out):
    """right"""
    for n in prange(x.shape[0]):
        for i in range(x.shape[1]):
            for j in range(x.shape[2]):
                for c in range(x.shape[3]):
                    out[n, i, j, c] = x[n, i, j, c] * scale[c] + shift[c]


@njit
def channel_by_channel(x, scale, shift, out):
    """over budget over-budget: Which of the four axes has stride 1"""
    for c in range(x.shape[3]):
        for n in range(x.shape[0]):
            for i in range(x.shape[1]):
                for j in range(x.shape[2]):
                    out[n, i, j, c] = x[n, i, j, c] * scale[c] + shift[c]


@njit
def columns_innermost(x, scale, shift, out):
    """over budget over-budget: belongs into the inner loop"""
    for n in range(x.shape[0]):
        for i in range(x.shape[1]):
            for c in range(x.shape[3]):
                for j in range(x.shape[2]):
                    out[n, i, j, c] = x[n, i, j, c] * scale[c] + shift[c]


@njit
def whole_arrays(x, scale, shift, out):
    """over budget over-budget: an array is made on the way"""
    product = x * scale
    out[:] = product + shift


@njit
def shift_missing(x, scale, shift, out):
    """wrong suspect: the shift is missing"""
    for n in range(x.shape[0]):
        for i in range(x.shape[1]):
            for j in range(x.shape[2]):
                for c in range(x.shape[3]):
                    out[n, i, j, c] = x[n, i, j, c] * scale[c]


shift_first = edit(
    shift_missing, "wrong suspect: multiply first", replace("x[n, i, j, c]", "(x[n, i, j, c] + shift[c])")
)
exchanged = edit(shift_missing, "wrong suspect: exchanged", replace("scale[c]", "shift[c] + scale[c]"))


@njit
def as_if_nchw(x, scale, shift, out):
    """wrong raised-IndexError: image, row, column, channel"""
    for n in range(x.shape[0]):
        for c in range(x.shape[1]):
            for i in range(x.shape[2]):
                for j in range(x.shape[3]):
                    out[n, c, i, j] = x[n, c, i, j] * scale[c] + shift[c] + 0 * scale[j + 1]


@njit
def first_image_only(x, scale, shift, out):
    """wrong some-unwritten: Compare your four bounds"""
    for i in range(x.shape[1]):
        for j in range(x.shape[2]):
            for c in range(x.shape[3]):
                out[0, i, j, c] = x[0, i, j, c] * scale[c] + shift[c]


@njit
def scaled_in_place(x, scale, shift, out):
    """wrong input-changed: Inputs may only be read"""
    for n in range(x.shape[0]):
        for i in range(x.shape[1]):
            for j in range(x.shape[2]):
                for c in range(x.shape[3]):
                    x[n, i, j, c] *= scale[c]
                    out[n, i, j, c] = x[n, i, j, c] + shift[c]


one_factor_for_all = edit(
    shift_missing,
    "wrong suspect: The index of scale and shift is that of the channel",
    insert("factor, summand = np.float32(scale[0]), np.float32(shift[0])", before="for n in range(x.shape[0]):"),
    replace("scale[c]", "factor + summand"),
)
