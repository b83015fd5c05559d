"""Answers to 09-im2col."""

import numpy as np
from answers import MASTER, edit, insert, replace
from numba import njit, prange


@njit(parallel=True)
def by_channels(x, kernel, stride, padding, out):
    """right"""
    channels, height, width = x.shape
    wide = (width + 2 * padding - kernel) // stride + 1
    for c in prange(channels):
        for ky in range(kernel):
            for kx in range(kernel):
                row = (c * kernel + ky) * kernel + kx
                for column in range(out.shape[1]):
                    i, j = column // wide * stride + ky - padding, column % wide * stride + kx - padding
                    if i < 0 or i >= height or j < 0 or j >= width:
                        out[row, column] = 0
                    else:
                        out[row, column] = x[c, i, j]


@njit(parallel=True)
def by_windows(x, kernel, stride, padding, out):
    """right"""
    channels, height, width = x.shape
    wide = (width + 2 * padding - kernel) // stride + 1
    for column in prange(out.shape[1]):
        top, left = column // wide * stride - padding, column % wide * stride - padding
        for c in range(channels):
            for k in range(kernel * kernel):
                i, j = top + k // kernel, left + k % kernel
                there = 0 <= i < height and 0 <= j < width
                out[c * kernel * kernel + k, column] = x[c, i, j] if there else 0.0


one_thread = edit(MASTER, "wrong not-parallel: prange", replace("prange(out.shape[0])", "range(out.shape[0])"))


@njit(parallel=True)
def without_the_channel(x, kernel, stride, padding, out):
    """wrong race: made of c, ky and kx"""
    channels, height, width = x.shape
    high = (height + 2 * padding - kernel) // stride + 1
    wide = (width + 2 * padding - kernel) // stride + 1
    for c in prange(channels):
        for ky in range(kernel):
            for kx in range(kernel):
                for y in range(high):
                    i = y * stride + ky - padding
                    for z in range(wide):
                        j = z * stride + kx - padding
                        inside = i >= 0 and i < height and j >= 0 and j < width
                        out[ky * kernel + kx, y * wide + z] = x[c, i, j] if inside else 0


row_counted_up = edit(
    without_the_channel,
    "wrong raised-IndexError: Is a row counted up",
    insert("row = -1", after="wide = (width + 2 * padding - kernel) // stride + 1"),
    insert("row = row + 1", before="for y in range(high):"),
    replace("ky * kernel + kx", "row"),
)
padding_forgotten = edit(
    MASTER,
    "wrong suspect: the padding was not subtracted",
    replace("ky - padding", "ky"),
    replace("kx - padding", "kx"),
)
nearest = edit(
    MASTER,
    "wrong suspect: the nearest pixel",
    replace(
        "inside = i >= 0 and i < height and j >= 0 and j < width\nout[row, y * wide + z] = x[c, i, j] if inside else 0",
        "out[row, y * wide + z] = x[c, min(max(i, 0), height - 1), min(max(j, 0), width - 1)]",
    ),
)
other_side = edit(
    MASTER,
    "wrong suspect: takes a pixel from the other side",
    replace("i >= 0 and i < height and j >= 0", "i < height"),
)
one_channel = edit(
    MASTER,
    "wrong suspect: from channel 0",
    replace("c, ky, kx = row // (kernel * kernel), row", "ky, kx = row"),
    replace("c, i", "0, i"),
)
height_for_width = edit(
    MASTER,
    "wrong raised-IndexError: its row must be from 0",
    replace("height and j >= 0 and j < width", "width and j >= 0 and j < height"),
)


@njit(parallel=True)
def a_padded_copy(x, kernel, stride, padding, out):
    """over budget over-budget: A padded copy is not needed"""
    channels, height, width = x.shape
    around = np.zeros((channels, height + 2 * padding, width + 2 * padding), x.dtype)
    around[:, padding : padding + height, padding : padding + width] = x
    high = (height + 2 * padding - kernel) // stride + 1
    wide = (width + 2 * padding - kernel) // stride + 1
    for row in prange(out.shape[0]):
        c, ky, kx = row // (kernel * kernel), row // kernel % kernel, row % kernel
        for y in range(high):
            for z in range(wide):
                out[row, y * wide + z] = around[c, y * stride + ky, z * stride + kx]


@njit(parallel=True)
def zeros_first(x, kernel, stride, padding, out):
    """over budget over-budget: are stored twice"""
    height, width = x.shape[1], x.shape[2]
    wide = (width + 2 * padding - kernel) // stride + 1
    for row in prange(out.shape[0]):
        c, ky, kx = row // (kernel * kernel), row // kernel % kernel, row % kernel
        for column in range(out.shape[1]):
            out[row, column] = 0
            i, j = column // wide * stride + ky - padding, column % wide * stride + kx - padding
            if i >= 0 and i < height and j >= 0 and j < width:
                out[row, column] = x[c, i, j]


@njit
def one_row(x, kernel, stride, padding, out, row):
    height, width = x.shape[1], x.shape[2]
    wide = (width + 2 * padding - kernel) // stride + 1
    c, ky, kx = row // (kernel * kernel), row // kernel % kernel, row % kernel
    for column in range(out.shape[1]):
        i, j = column // wide * stride + ky - padding, column % wide * stride + kx - padding
        out[row, column] = x[c, i, j] if i >= 0 and i < height and j >= 0 and j < width else 0


@njit(parallel=True)
def serial_where_nobody_watches(x, kernel, stride, padding, out):
    """wrong not-parallel: with no iteration of its loops"""
    if out.size > 20_000:
        for row in range(out.shape[0]):
            one_row(x, kernel, stride, padding, out, row)
    else:
        for row in prange(out.shape[0]):
            one_row(x, kernel, stride, padding, out, row)


serial_where_it_is_counted = edit(
    serial_where_nobody_watches,
    "wrong not-parallel: the case: counted",
    replace("out.size > 20_000", "2000 < out.size < 20_000"),
)


@njit(parallel=True)
def most_rows_before_where_nobody_watches(x, kernel, stride, padding, out):
    """wrong not-parallel: of the result is right all the same"""
    first = out.shape[0] * 3 // 4 if out.size > 20_000 else 0
    for row in range(first):
        one_row(x, kernel, stride, padding, out, row)
    for row in prange(first, out.shape[0]):
        one_row(x, kernel, stride, padding, out, row)


@njit(parallel=True)
def strips_of_rows(x, kernel, stride, padding, out):
    """right"""
    strips = (out.shape[0] + 2) // 3
    for strip in prange(strips):
        for row in range(3 * strip, min(3 * strip + 3, out.shape[0])):
            one_row(x, kernel, stride, padding, out, row)


@njit(parallel=True)
def last_rows_first(x, kernel, stride, padding, out):
    """right"""
    for k in prange(out.shape[0]):
        one_row(x, kernel, stride, padding, out, out.shape[0] - 1 - k)
