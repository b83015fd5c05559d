"""Answers to 09-pool."""

import math

import numpy as np

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
def the_last_of_equals(x, size, stride, padding, places):
    """wrong suspect: The first counts"""
    z, y, c = cuda.grid(3)
    if y < places.shape[1] and z < places.shape[2]:
        largest, place = np.float32(-math.inf), -1
        for ky in range(size):
            for kx in range(size):
                i, j = y * stride + ky - padding, z * stride + kx - padding
                if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                    if x[c, i, j] >= largest or math.isnan(x[c, i, j]):
                        largest, place = x[c, i, j], i * x.shape[2] + j
        places[c, y, z] = place


@cuda.jit
def passes_over_nan(x, size, stride, padding, places):
    """wrong suspect: A NaN was passed over"""
    z, y, c = cuda.grid(3)
    if y < places.shape[1] and z < places.shape[2]:
        largest, place = np.float32(-math.inf), -1
        for ky in range(size):
            for kx in range(size):
                i, j = y * stride + ky - padding, z * stride + kx - padding
                if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                    if not math.isnan(x[c, i, j]) and (place < 0 or x[c, i, j] > largest):
                        largest, place = x[c, i, j], i * x.shape[2] + j
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
def begins_at_0(x, size, stride, padding, places):
    """wrong suspect: Does the search begin with 0"""
    z, y, c = cuda.grid(3)
    if y < places.shape[1] and z < places.shape[2]:
        largest, place = np.float32(0), -1
        for ky in range(size):
            for kx in range(size):
                i, j = y * stride + ky - padding, z * stride + kx - padding
                if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                    if x[c, i, j] > largest or math.isnan(x[c, i, j]):
                        largest, place = x[c, i, j], i * x.shape[2] + j
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


@cuda.jit
def begins_at_the_corner(x, size, stride, padding, places):
    """wrong suspect: does the search begin at the corner of the window"""
    z, y, c = cuda.grid(3)
    if y < places.shape[1] and z < places.shape[2]:
        largest = np.float32(-math.inf)
        place = (y * stride - padding) * x.shape[2] + z * stride - padding
        for ky in range(size):
            for kx in range(size):
                i, j = y * stride + ky - padding, z * stride + kx - padding
                if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                    if x[c, i, j] > largest or math.isnan(x[c, i, j]):
                        largest, place = x[c, i, j], i * x.shape[2] + j
        places[c, y, z] = place


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


@cuda.jit
def padding_is_minus_infinity_until_a_place(x, size, stride, padding, places):
    """wrong suspect: which was compared as -inf"""
    z, y, c = cuda.grid(3)
    if y < places.shape[1] and z < places.shape[2]:
        largest, place = np.float32(-math.inf), -1
        for ky in range(size):
            for kx in range(size):
                i, j = y * stride + ky - padding, z * stride + kx - padding
                inside = i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]
                v = x[c, i, j] if inside else np.float32(-math.inf)
                if place < 0 or v > largest or math.isnan(v):
                    largest, place = v, i * x.shape[2] + j
        places[c, y, z] = place


@cuda.jit
def smallest(x, size, stride, padding, places):
    """wrong suspect: where the smallest pixel is"""
    z, y, c = cuda.grid(3)
    if y < places.shape[1] and z < places.shape[2]:
        least, place = np.float32(math.inf), -1
        for ky in range(size):
            for kx in range(size):
                i, j = y * stride + ky - padding, z * stride + kx - padding
                if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                    if place < 0 or x[c, i, j] < least:
                        least, place = x[c, i, j], i * x.shape[2] + j
        places[c, y, z] = place


@cuda.jit
def within_the_window(x, size, stride, padding, places):
    """wrong suspect: places within the window"""
    z, y, c = cuda.grid(3)
    if y < places.shape[1] and z < places.shape[2]:
        largest, place = np.float32(-math.inf), -1
        for ky in range(size):
            for kx in range(size):
                i, j = y * stride + ky - padding, z * stride + kx - padding
                if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                    if place < 0 or x[c, i, j] > largest or math.isnan(x[c, i, j]):
                        largest, place = x[c, i, j], ky * size + kx
        places[c, y, z] = place


@cuda.jit
def times_the_height(x, size, stride, padding, places):
    """wrong suspect: not x.shape[1]"""
    z, y, c = cuda.grid(3)
    if y < places.shape[1] and z < places.shape[2]:
        largest, place = np.float32(-math.inf), -1
        for ky in range(size):
            for kx in range(size):
                i, j = y * stride + ky - padding, z * stride + kx - padding
                if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                    if place < 0 or x[c, i, j] > largest or math.isnan(x[c, i, j]):
                        largest, place = x[c, i, j], i * x.shape[1] + j
        places[c, y, z] = place


@cuda.jit
def from_the_first_channel(x, size, stride, padding, places):
    """wrong suspect: within its own channel"""
    z, y, c = cuda.grid(3)
    if y < places.shape[1] and z < places.shape[2]:
        largest, place = np.float32(-math.inf), -1
        for ky in range(size):
            for kx in range(size):
                i, j = y * stride + ky - padding, z * stride + kx - padding
                if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                    if place < 0 or x[c, i, j] > largest or math.isnan(x[c, i, j]):
                        largest, place = x[c, i, j], (c * x.shape[1] + i) * x.shape[2] + j
        places[c, y, z] = place


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


@cuda.jit
def one_channel(x, size, stride, padding, places):
    """wrong suspect: searched in channel 0"""
    z, y, c = cuda.grid(3)
    if y < places.shape[1] and z < places.shape[2]:
        largest, place = np.float32(-math.inf), -1
        for ky in range(size):
            for kx in range(size):
                i, j = y * stride + ky - padding, z * stride + kx - padding
                if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                    if place < 0 or x[0, i, j] > largest or math.isnan(x[0, i, j]):
                        largest, place = x[0, i, j], i * x.shape[2] + j
        places[c, y, z] = place
