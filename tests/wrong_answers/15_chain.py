"""Answers to 15-chain."""

import math

from answers import MASTER, edit, replace

from dlkernels import cuda


@cuda.jit
def with_while(x, bias, residual, scale, out):
    """right"""
    column = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if column >= out.shape[1]:
        return
    shift = bias[column]
    while row < out.shape[0]:
        z = shift + x[row, column]
        out[row, column] = residual[row, column] + scale * (z * (0.5 + 0.5 * math.tanh(0.5 * z)))
        row += cuda.blockDim.y * cuda.gridDim.y


@cuda.jit
def bias_in_each_round(x, bias, residual, scale, out):
    """over budget over-budget: the same in every round"""
    column, first = cuda.grid(2)
    if column < out.shape[1]:
        for row in range(first, out.shape[0], cuda.gridsize(2)[1]):
            z = x[row, column] + bias[column]
            out[row, column] = z / (1 + math.exp(-z)) * scale + residual[row, column]


@cuda.jit
def by_way_of_out(x, bias, residual, scale, out):
    """over budget over-budget: go to out and come back"""
    column, first = cuda.grid(2)
    if column < out.shape[1]:
        shift = bias[column]
        for row in range(first, out.shape[0], cuda.gridsize(2)[1]):
            out[row, column] = x[row, column] + shift
            out[row, column] = out[row, column] / (1 + math.exp(-out[row, column]))
            out[row, column] = out[row, column] * scale + residual[row, column]


reads_x_twice = edit(
    MASTER,
    "over budget over-budget: read",
    replace("z = x[row, column] + shift", "gate = 1 / (1 + math.exp(-x[row, column] - shift))"),
    replace("z / (1 + math.exp(-z))", "(x[row, column] + shift) * gate"),
)
no_bias = edit(
    bias_in_each_round, "wrong suspect: The bias is missing", replace("[row, column] + bias[column]", "[row, column]")
)


@cuda.jit
def no_residual(x, bias, residual, scale, out):
    """wrong suspect: The residual is missing"""
    column, first = cuda.grid(2)
    if column < out.shape[1]:
        for row in range(first, out.shape[0], cuda.gridsize(2)[1]):
            z = x[row, column] + bias[column]
            out[row, column] = z / (1 + math.exp(-z)) * scale


@cuda.jit
def no_scale(x, bias, residual, scale, out):
    """wrong suspect: The scale is missing"""
    column, first = cuda.grid(2)
    if column < out.shape[1]:
        for row in range(first, out.shape[0], cuda.gridsize(2)[1]):
            z = x[row, column] + bias[column]
            out[row, column] = z / (1 + math.exp(-z)) + residual[row, column]


scales_all = edit(
    no_residual,
    "wrong suspect: not to the residual",
    replace("z / (1 + math.exp(-z))", "(z / (1 + math.exp(-z)) + residual[row, column])"),
)
scales_before = edit(
    no_scale,
    "wrong suspect: comes after SiLU",
    replace("x[row, column] + bias[column]", "(x[row, column] + bias[column]) * scale"),
)
residual_before = edit(
    no_residual, "wrong suspect: added at the end", replace("[column]", "[column] + residual[row, column]")
)
only_sigmoid = edit(no_scale, "wrong suspect: SiLU is z times it", replace("= z", "= scale"))


@cuda.jit
def one_row_each(x, bias, residual, scale, out):
    """wrong first-round-only: takes several rows"""
    column, row = cuda.grid(2)
    if column < out.shape[1] and row < out.shape[0]:
        z = x[row, column] + bias[column]
        out[row, column] = z / (1 + math.exp(-z)) * scale + residual[row, column]


@cuda.jit
def unguarded(x, bias, residual, scale, out):
    """wrong out-of-bounds: the matrix has columns"""
    column, first = cuda.grid(2)
    shift = bias[column]
    for row in range(first, out.shape[0], cuda.gridsize(2)[1]):
        z = x[row, column] + shift
        out[row, column] = z / (1 + math.exp(-z)) * scale + residual[row, column]


steps_of_one = edit(
    bias_in_each_round, "wrong race: number of threads along y", replace("[0], cuda.gridsize(2)[1]", "[0]")
)
