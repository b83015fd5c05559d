"""Answers to 09-pool."""

import math

import numpy as np
from answers import edit, replace

from dlkernels import cuda


@cuda.jit
def by_comparison_with_itself(x, size, stride, padding, places):
    """right"""
    z = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    c = cuda.blockIdx.z
    if y >= places.shape[1] or z >= places.shape[2]:
        return
    top, left = y * stride - padding, z * stride - padding
    place, largest = -1, 0.0
    for i in range(max(top, 0), min(top + size, x.shape[1])):
        for j in range(max(left, 0), min(left + size, x.shape[2])):
            v = x[c, i, j]
            if place < 0 or v > largest or v != v:
                place, largest = i * x.shape[2] + j, v
    places[c, y, z] = place


@cuda.jit
def not_smaller(x, size, stride, padding, places):
    """right"""
    z, y, c = cuda.grid(3)
    if y < places.shape[1] and z < places.shape[2]:
        place = -1
        for k in range(size * size):
            i, j = y * stride + k // size - padding, z * stride + k % size - padding
            if i < 0 or i >= x.shape[1] or j < 0 or j >= x.shape[2]:
                continue
            if place < 0 or not x[c, i, j] <= x[c, place // x.shape[2], place % x.shape[2]]:
                if place < 0 or math.isnan(x[c, i, j]) or not math.isnan(x[c, place // x.shape[2], place % x.shape[2]]):
                    place = i * x.shape[2] + j
        places[c, y, z] = place


@cuda.jit
def stays_at_the_first_nan(x, size, stride, padding, places):
    """wrong suspect: the last one counts"""
    z, y, c = cuda.grid(3)
    if y < places.shape[1] and z < places.shape[2]:
        largest, place = np.float32(-math.inf), -1
        for ky in range(size):
            for kx in range(size):
                i, j = y * stride + ky - padding, z * stride + kx - padding
                if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                    v = x[c, i, j]
                    if place < 0 or v > largest or (math.isnan(v) and not math.isnan(largest)):
                        largest, place = v, i * x.shape[2] + j
        places[c, y, z] = place


@cuda.jit
def padding_is_a_pixel(x, size, stride, padding, places):
    """wrong suspect: Padding is no pixel"""
    z, y, c = cuda.grid(3)
    if y < places.shape[1] and z < places.shape[2]:
        largest, place = np.float32(-math.inf), -1
        for ky in range(size):
            for kx in range(size):
                i, j = y * stride + ky - padding, z * stride + kx - padding
                inside = i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]
                v = x[c, i, j] if inside else np.float32(0)
                if v > largest or math.isnan(v):
                    largest, place = v, i * x.shape[2] + j
        places[c, y, z] = place


@cuda.jit
def nothing_above_minus_infinity(x, size, stride, padding, places):
    """wrong suspect: The first pixel counts, whatever it is"""
    z, y, c = cuda.grid(3)
    if y < places.shape[1] and z < places.shape[2]:
        largest, place = np.float32(-math.inf), -1
        for ky in range(size):
            for kx in range(size):
                i, j = y * stride + ky - padding, z * stride + kx - padding
                if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                    if x[c, i, j] > largest or math.isnan(x[c, i, j]):
                        largest, place = x[c, i, j], i * x.shape[2] + j
        places[c, y, z] = place


the_last_of_equals = edit(
    nothing_above_minus_infinity,
    "wrong suspect: The first counts",
    replace("[c, i, j] > largest", "[c, i, j] >= largest"),
)
passes_over_nan = edit(
    nothing_above_minus_infinity,
    "wrong suspect: A NaN was passed over",
    replace(
        "x[c, i, j] > largest or math.isnan(x[c, i, j]):",
        "not math.isnan(x[c, i, j]) and (place < 0 or x[c, i, j] > largest):",
    ),
)
begins_at_0 = edit(
    nothing_above_minus_infinity, "wrong suspect: Does the search begin with 0", replace("(-math.inf)", "(0)")
)
begins_at_the_corner = edit(
    nothing_above_minus_infinity,
    "wrong suspect: does the search begin at the corner of the window",
    replace(
        "largest, place = np.float32(-math.inf), -1",
        "largest = np.float32(-math.inf)\nplace = (y * stride - padding) * x.shape[2] + z * stride - padding",
    ),
)


@cuda.jit
def padding_is_minus_infinity(x, size, stride, padding, places):
    """wrong suspect: the place is that of padding"""
    z, y, c = cuda.grid(3)
    if y < places.shape[1] and z < places.shape[2]:
        largest, place = np.float32(0), -1
        for k in range(size * size):
            i, j = y * stride + k // size - padding, z * stride + k % size - padding
            inside = i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]
            v = x[c, i, j] if inside else np.float32(-math.inf)
            if k == 0 or v > largest or math.isnan(v):
                largest, place = v, i * x.shape[2] + j
        places[c, y, z] = place


padding_is_minus_infinity_until_a_place = edit(
    padding_is_a_pixel,
    "wrong suspect: which was compared as -inf",
    replace("(0)", "(-math.inf)"),
    replace("v > largest", "place < 0 or v > largest"),
)
smallest = edit(
    nothing_above_minus_infinity,
    "wrong suspect: where the smallest pixel is",
    replace("largest, place = np.float32(-math.inf)", "least, place = np.float32(math.inf)"),
    replace("x[c, i, j] > largest or math.isnan(x[c, i, j])", "place < 0 or x[c, i, j] < least"),
    replace("largest, place = x", "least, place = x"),
)
within_the_window = edit(
    nothing_above_minus_infinity,
    "wrong suspect: places within the window",
    replace("if x", "if place < 0 or x"),
    replace("i * x.shape[2] + j", "ky * size + kx"),
)
times_the_height = edit(
    nothing_above_minus_infinity,
    "wrong suspect: not x.shape[1]",
    replace("if x", "if place < 0 or x"),
    replace("[2] + j", "[1] + j"),
)
from_the_first_channel = edit(
    nothing_above_minus_infinity,
    "wrong suspect: within its own channel",
    replace("if x", "if place < 0 or x"),
    replace("i * x", "(c * x.shape[1] + i) * x"),
)


@cuda.jit
def no_edge(x, size, stride, padding, places):
    """wrong negative-index: never the largest"""
    z, y, c = cuda.grid(3)
    if y < places.shape[1] and z < places.shape[2]:
        largest, place = np.float32(-math.inf), -1
        for ky in range(size):
            for kx in range(size):
                i, j = y * stride + ky - padding, z * stride + kx - padding
                if place < 0 or x[c, i, j] > largest or math.isnan(x[c, i, j]):
                    largest, place = x[c, i, j], i * x.shape[2] + j
        places[c, y, z] = place


@cuda.jit
def no_guard(x, size, stride, padding, places):
    """wrong out-of-bounds: Two guards are needed"""
    z, y, c = cuda.grid(3)
    largest, place = np.float32(-math.inf), -1
    for ky in range(size):
        for kx in range(size):
            i, j = y * stride + ky - padding, z * stride + kx - padding
            if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                if place < 0 or x[c, i, j] > largest or math.isnan(x[c, i, j]):
                    largest, place = x[c, i, j], i * x.shape[2] + j
    places[c, y, z] = place


one_channel = edit(
    nothing_above_minus_infinity,
    "wrong suspect: searched in channel 0",
    replace(
        "x[c, i, j] > largest or math.isnan(x[c, i, j])", "place < 0 or x[0, i, j] > largest or math.isnan(x[0, i, j])"
    ),
    replace("[c, i, j], i", "[0, i, j], i"),
)
