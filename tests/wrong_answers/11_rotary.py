"""Answers to 11-rotary."""

import math

from dlkernels import cuda


@cuda.jit
def partner_by_rest(x, positions, frequencies, out):
    """right"""
    place = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    tokens, width = out.shape
    if place >= tokens * width:
        return
    row, column = place // width, place % width
    half = width // 2
    other = x[row, (column + half) % width]
    sign = -1 if column < half else 1
    angle = positions[row] * frequencies[column - half * (column // half)]
    out[row, column] = math.cos(angle) * x[row, column] + sign * math.sin(angle) * other


@cuda.jit
def neighbours(x, positions, frequencies, out):
    """wrong suspect: Neighbours were paired"""
    i = cuda.grid(1)
    width = x.shape[1]
    if i < out.size:
        t, c = i // width, i % width
        angle = positions[t] * frequencies[c // 2]
        cos, sin = math.cos(angle), math.sin(angle)
        if c % 2 == 0:
            out[t, c] = x[t, c] * cos - x[t, c + 1] * sin
        else:
            out[t, c] = x[t, c] * cos + x[t, c - 1] * sin


@cuda.jit
def other_way(x, positions, frequencies, out):
    """wrong suspect: turned the other way round"""
    i = cuda.grid(1)
    width, half = x.shape[1], x.shape[1] // 2
    if i < out.size:
        t, c = i // width, i % width
        angle = positions[t] * frequencies[c % half]
        cos, sin = math.cos(angle), math.sin(angle)
        if c < half:
            out[t, c] = x[t, c] * cos + x[t, c + half] * sin
        else:
            out[t, c] = x[t, c] * cos - x[t, c - half] * sin


@cuda.jit
def both_added(x, positions, frequencies, out):
    """wrong suspect: Both terms with a sine are added"""
    i = cuda.grid(1)
    width, half = x.shape[1], x.shape[1] // 2
    if i < out.size:
        t, c = i // width, i % width
        angle = positions[t] * frequencies[c % half]
        cos, sin = math.cos(angle), math.sin(angle)
        if c < half:
            out[t, c] = x[t, c] * cos + x[t, c + half] * sin
        else:
            out[t, c] = x[t, c] * cos + x[t, c - half] * sin


@cuda.jit
def no_partner(x, positions, frequencies, out):
    """wrong suspect: the partner is missing"""
    i = cuda.grid(1)
    width, half = x.shape[1], x.shape[1] // 2
    if i < out.size:
        t, c = i // width, i % width
        angle = positions[t] * frequencies[c % half]
        cos = math.cos(angle)
        if c < half:
            out[t, c] = x[t, c] * cos
        else:
            out[t, c] = x[t, c] * cos


@cuda.jit
def exchanged(x, positions, frequencies, out):
    """wrong suspect: at position 0 nothing changes"""
    i = cuda.grid(1)
    width, half = x.shape[1], x.shape[1] // 2
    if i < out.size:
        t, c = i // width, i % width
        angle = positions[t] * frequencies[c % half]
        cos, sin = math.sin(angle), math.cos(angle)
        if c < half:
            out[t, c] = x[t, c] * cos - x[t, c + half] * sin
        else:
            out[t, c] = x[t, c] * cos + x[t, c - half] * sin


@cuda.jit
def row_as_position(x, positions, frequencies, out):
    """wrong suspect: The row was taken for the position"""
    i = cuda.grid(1)
    width, half = x.shape[1], x.shape[1] // 2
    if i < out.size:
        t, c = i // width, i % width
        angle = t * frequencies[c % half]
        cos, sin = math.cos(angle), math.sin(angle)
        if c < half:
            out[t, c] = x[t, c] * cos - x[t, c + half] * sin
        else:
            out[t, c] = x[t, c] * cos + x[t, c - half] * sin


@cuda.jit
def one_frequency(x, positions, frequencies, out):
    """wrong suspect: with the first frequency"""
    i = cuda.grid(1)
    width, half = x.shape[1], x.shape[1] // 2
    if i < out.size:
        t, c = i // width, i % width
        angle = positions[t] * frequencies[0]
        cos, sin = math.cos(angle), math.sin(angle)
        if c < half:
            out[t, c] = x[t, c] * cos - x[t, c + half] * sin
        else:
            out[t, c] = x[t, c] * cos + x[t, c - half] * sin


@cuda.jit
def no_position(x, positions, frequencies, out):
    """wrong suspect: The frequency was taken for the angle"""
    i = cuda.grid(1)
    width, half = x.shape[1], x.shape[1] // 2
    if i < out.size:
        t, c = i // width, i % width
        angle = frequencies[c % half]
        cos, sin = math.cos(angle), math.sin(angle)
        if c < half:
            out[t, c] = x[t, c] * cos - x[t, c + half] * sin
        else:
            out[t, c] = x[t, c] * cos + x[t, c - half] * sin


@cuda.jit
def no_guard(x, positions, frequencies, out):
    """wrong out-of-bounds: guard them"""
    i = cuda.grid(1)
    width, half = x.shape[1], x.shape[1] // 2
    if i >= 0:
        t, c = i // width, i % width
        angle = positions[t] * frequencies[c % half]
        cos, sin = math.cos(angle), math.sin(angle)
        if c < half:
            out[t, c] = x[t, c] * cos - x[t, c + half] * sin
        else:
            out[t, c] = x[t, c] * cos + x[t, c - half] * sin


@cuda.jit
def frequency_of_the_column(x, positions, frequencies, out):
    """wrong out-of-bounds: half as many numbers"""
    i = cuda.grid(1)
    width, half = x.shape[1], x.shape[1] // 2
    if i < out.size:
        t, c = i // width, i % width
        angle = positions[t] * frequencies[c]
        cos, sin = math.cos(angle), math.sin(angle)
        if c < half:
            out[t, c] = x[t, c] * cos - x[t, c + half] * sin
        else:
            out[t, c] = x[t, c] * cos + x[t, c - half] * sin


@cuda.jit
def first_half_only(x, positions, frequencies, out):
    """wrong some-unwritten: in the first half or in the second"""
    i = cuda.grid(1)
    width, half = x.shape[1], x.shape[1] // 2
    if i < out.size:
        t, c = i // width, i % width
        angle = positions[t] * frequencies[c % half]
        cos, sin = math.cos(angle), math.sin(angle)
        if c < half:
            out[t, c] = x[t, c] * cos - x[t, c + half] * sin


@cuda.jit
def partner_to_the_left(x, positions, frequencies, out):
    """wrong negative-index: partner of column c is c + half"""
    i = cuda.grid(1)
    width, half = x.shape[1], x.shape[1] // 2
    if i < out.size:
        t, c = i // width, i % width
        angle = positions[t] * frequencies[c % half]
        cos, sin = math.cos(angle), math.sin(angle)
        if c < half:
            out[t, c] = x[t, c] * cos - x[t, c - half] * sin
        else:
            out[t, c] = x[t, c] * cos + x[t, c - half] * sin


@cuda.jit
def one_block(x, positions, frequencies, out):
    """wrong one-block: every block works on the same elements"""
    i = cuda.threadIdx.x
    width, half = x.shape[1], x.shape[1] // 2
    if i < out.size:
        t, c = i // width, i % width
        angle = positions[t] * frequencies[c % half]
        cos, sin = math.cos(angle), math.sin(angle)
        if c < half:
            out[t, c] = x[t, c] * cos - x[t, c + half] * sin
        else:
            out[t, c] = x[t, c] * cos + x[t, c - half] * sin
