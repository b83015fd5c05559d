"""Answers to 09-plane."""

import numpy as np
from answers import MASTER, edit, insert, replace

from dlkernels import cuda


@cuda.jit
def bounds_of_loops(x, weight, padding, out):
    """right"""
    z, y = cuda.grid(2)
    if y >= out.shape[0] or z >= out.shape[1]:
        return
    top, left, total = y - padding, z - padding, np.float32(0)
    for ky in range(max(0, -top), min(weight.shape[1], x.shape[1] - top)):
        for kx in range(max(0, -left), min(weight.shape[2], x.shape[2] - left)):
            for c in range(x.shape[0]):
                total += weight[c, ky, kx] * x[c, top + ky, left + kx]
    out[y, z] = total


@cuda.jit
def by_pixels(x, weight, padding, out):
    """right"""
    z = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if y < out.shape[0] and z < out.shape[1]:
        total = 0.0
        for c in range(weight.shape[0]):
            for i in range(y - padding, y - padding + weight.shape[1]):
                for j in range(z - padding, z - padding + weight.shape[2]):
                    pixel = x[c, i, j] if 0 <= i and i < x.shape[1] and 0 <= j and j < x.shape[2] else 0
                    total += pixel * weight[c, i - y + padding, j - z + padding]
        out[y, z] = total


@cuda.jit
def around_the_corner(x, weight, padding, out):
    """wrong suspect: begins again at the other side"""
    z, y = cuda.grid(2)
    if y < out.shape[0] and z < out.shape[1]:
        total = np.float32(0)
        for c in range(x.shape[0]):
            for ky in range(weight.shape[1]):
                for kx in range(weight.shape[2]):
                    i, j = (y + ky - padding) % x.shape[1], (z + kx - padding) % x.shape[2]
                    total += weight[c, ky, kx] * x[c, i, j]
        out[y, z] = total


nearest = edit(
    around_the_corner,
    "wrong suspect: A wrong border: beyond the edge the nearest pixel",
    replace(
        "i, j = (y + ky - padding) % x.shape[1], (z + kx - padding) % x.shape[2]",
        "i = min(max(y + ky - padding, 0), x.shape[1] - 1)\nj = min(max(z + kx - padding, 0), x.shape[2] - 1)",
    ),
)
no_padding = edit(
    MASTER,
    "wrong suspect: all zeros stand below and to the right",
    replace("i, j = y + ky - padding, z + kx - padding", "i, j = y + ky, z + kx"),
    replace("i >= 0 and i < x.shape[1] and j >= 0", "i < x.shape[1]"),
)
padding_added = edit(
    MASTER,
    "wrong suspect: must be subtracted",
    replace("i, j = y + ky - padding, z + kx - padding", "i, j = y + ky + padding, z + kx + padding"),
    replace("i >= 0 and i < x.shape[1] and j >= 0", "i < x.shape[1]"),
)


@cuda.jit
def whole_windows_only(x, weight, padding, out):
    """wrong suspect: out is 0 where a window reaches beyond"""
    z, y = cuda.grid(2)
    if y < out.shape[0] and z < out.shape[1]:
        total = np.float32(0)
        i, j = y - padding, z - padding
        if i >= 0 and i + weight.shape[1] <= x.shape[1] and j >= 0 and j + weight.shape[2] <= x.shape[2]:
            for c in range(x.shape[0]):
                for ky in range(weight.shape[1]):
                    for kx in range(weight.shape[2]):
                        total += weight[c, ky, kx] * x[c, i + ky, j + kx]
        out[y, z] = total


negative = edit(
    MASTER,
    "wrong negative-index: Ask before you load",
    replace("i >= 0 and i < x.shape[1] and j >= 0", "i < x.shape[1]"),
)
not_the_last_column = edit(
    MASTER, "wrong suspect: the last column of weights is missing", replace("weight.shape[2]", "weight.shape[2] - 1")
)
turned = edit(
    MASTER,
    "wrong suspect: Wrong taps: the kernel is turned round",
    insert("tall, broad = weight.shape[1], weight.shape[2]", after="z, y = cuda.grid(2)"),
    replace("weight.shape[1]", "tall"),
    replace("weight.shape[2]", "broad"),
    replace("weight[c, ky, kx]", "weight[c, tall - 1 - ky, broad - 1 - kx]"),
)
exchanged = edit(
    MASTER,
    "wrong suspect: ky and kx are exchanged",
    replace("i, j = y + ky - padding, z + kx - padding", "i, j = y + kx - padding, z + ky - padding"),
)
without_the_middle = edit(
    MASTER,
    "wrong suspect: the term of weight[1, 1] is missing",
    replace("x.shape[2]", "x.shape[2] and (ky != 1 or kx != 1)"),
)


@cuda.jit
def first_channel(x, weight, padding, out):
    """wrong suspect: the first channel alone"""
    z, y = cuda.grid(2)
    if y < out.shape[0] and z < out.shape[1]:
        total = np.float32(0)
        for ky in range(weight.shape[1]):
            for kx in range(weight.shape[2]):
                i, j = y + ky - padding, z + kx - padding
                if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                    total += weight[0, ky, kx] * x[0, i, j]
        out[y, z] = total


@cuda.jit
def anew_for_each_channel(x, weight, padding, out):
    """wrong suspect: the last channel alone"""
    z, y = cuda.grid(2)
    if y < out.shape[0] and z < out.shape[1]:
        for c in range(x.shape[0]):
            total = np.float32(0)
            for ky in range(weight.shape[1]):
                for kx in range(weight.shape[2]):
                    i, j = y + ky - padding, z + kx - padding
                    if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                        total += weight[c, ky, kx] * x[c, i, j]
            out[y, z] = total


@cuda.jit
def no_guard(x, weight, padding, out):
    """wrong out-of-bounds: Two guards are needed"""
    z, y = cuda.grid(2)
    total = np.float32(0)
    for c in range(x.shape[0]):
        for ky in range(weight.shape[1]):
            for kx in range(weight.shape[2]):
                i, j = y + ky - padding, z + kx - padding
                if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                    total += weight[c, ky, kx] * x[c, i, j]
    out[y, z] = total


@cuda.jit
def down_the_columns(x, weight, padding, out):
    """over budget over-budget: let it choose the column"""
    place = (cuda.blockIdx.x + cuda.blockIdx.y * cuda.gridDim.x) * 128 + cuda.threadIdx.y * 32 + cuda.threadIdx.x
    for p in range(place, out.size, 128 * cuda.gridDim.x * cuda.gridDim.y):
        y, z = p % out.shape[0], p // out.shape[0]
        total = np.float32(0)
        for c in range(x.shape[0]):
            for ky in range(weight.shape[1]):
                for kx in range(weight.shape[2]):
                    i, j = y + ky - padding, z + kx - padding
                    if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                        total += weight[c, ky, kx] * x[c, i, j]
        out[y, z] = total


@cuda.jit
def sums_in_out(x, weight, padding, out):
    """over budget over-budget: add up in a local variable"""
    z, y = cuda.grid(2)
    if y < out.shape[0] and z < out.shape[1]:
        out[y, z] = 0
        for c in range(x.shape[0]):
            for ky in range(weight.shape[1]):
                for kx in range(weight.shape[2]):
                    i, j = y + ky - padding, z + kx - padding
                    if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                        out[y, z] += weight[c, ky, kx] * x[c, i, j]


@cuda.jit
def lane_by_lane(x, weight, padding, out):
    """over budget over-budget: lanes of a warp should load together"""
    z, y = cuda.grid(2)
    if y < out.shape[0] and z < out.shape[1]:
        total = np.float32(0)
        for lane in range(32):
            if cuda.threadIdx.x == lane:
                for c in range(x.shape[0]):
                    for ky in range(weight.shape[1]):
                        for kx in range(weight.shape[2]):
                            i, j = y + ky - padding, z + kx - padding
                            if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                                total += weight[c, ky, kx] * x[c, i, j]
        out[y, z] = total


@cuda.jit
def inner_pixels_without_questions(x, weight, padding, out):
    """right"""
    z, y = cuda.grid(2)
    if y >= out.shape[0] or z >= out.shape[1]:
        return
    top, left, total = y - padding, z - padding, np.float32(0)
    if top >= 0 and left >= 0 and top + weight.shape[1] <= x.shape[1] and left + weight.shape[2] <= x.shape[2]:
        for c in range(x.shape[0]):
            for ky in range(weight.shape[1]):
                for kx in range(weight.shape[2]):
                    total += weight[c, ky, kx] * x[c, top + ky, left + kx]
    else:
        for c in range(x.shape[0]):
            for ky in range(weight.shape[1]):
                for kx in range(weight.shape[2]):
                    i, j = top + ky, left + kx
                    if 0 <= i and i < x.shape[1] and 0 <= j and j < x.shape[2]:
                        total += weight[c, ky, kx] * x[c, i, j]
    out[y, z] = total
