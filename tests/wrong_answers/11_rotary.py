"""Answers to 11-rotary."""

import math

from answers import cut, edit, replace

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
def one_flat_index(x, positions, frequencies, out):
    """right"""
    i = cuda.grid(1)
    width, half = x.shape[1], x.shape[1] // 2
    if i < out.size:
        t, c = i // width, i % width
        angle = positions[t] * frequencies[c % half]
        cos, sin = math.cos(angle), math.sin(angle)
        if c < half:
            out[t, c] = x[t, c] * cos - x[t, c + half] * sin
        else:
            out[t, c] = x[t, c] * cos + x[t, c - half] * sin


other_way = edit(
    one_flat_index,
    "wrong suspect: turned the other way round",
    replace("x[t, c] * cos - x", "x[t, c] * cos + x"),
    replace("x[t, c] * cos + x", "x[t, c] * cos - x"),
)
both_added = edit(
    one_flat_index, "wrong suspect: Both terms with a sine are added", replace("x[t, c] * cos - x", "x[t, c] * cos + x")
)
no_partner = edit(
    one_flat_index,
    "wrong suspect: the partner is missing",
    replace("cos, sin = math.cos(angle), math.sin(angle)", "cos = math.cos(angle)"),
    replace("cos - x[t, c + half] * sin", "cos"),
    replace("cos + x[t, c - half] * sin", "cos"),
)
exchanged = edit(
    one_flat_index,
    "wrong suspect: at position 0 nothing changes",
    replace("cos, sin = math.cos(angle), math.sin(angle)", "cos, sin = math.sin(angle), math.cos(angle)"),
)
row_as_position = edit(
    one_flat_index, "wrong suspect: The row was taken for the position", replace("positions[t]", "t")
)
one_frequency = edit(one_flat_index, "wrong suspect: with the first frequency", replace("c % half", "0"))
no_position = edit(
    one_flat_index,
    "wrong suspect: The frequency was taken for the angle",
    replace("angle = positions[t] * frequencies[c % half]", "angle = frequencies[c % half]"),
)
no_guard = edit(one_flat_index, "wrong out-of-bounds: guard them", replace("if i < out.size:", "if i >= 0:"))
frequency_of_the_column = edit(one_flat_index, "wrong out-of-bounds: half as many numbers", replace("c % half", "c"))
first_half_only = edit(
    one_flat_index,
    "wrong some-unwritten: in the first half or in the second",
    cut("else:\n    out[t, c] = x[t, c] * cos + x[t, c - half] * sin"),
)
partner_to_the_left = edit(
    one_flat_index, "wrong negative-index: partner of column c is c + half", replace("c + half", "c - half")
)
one_block = edit(
    one_flat_index,
    "wrong one-block: every block works on the same elements",
    replace("i = cuda.grid(1)", "i = cuda.threadIdx.x"),
)
