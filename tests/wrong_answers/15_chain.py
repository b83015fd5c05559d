"""Answers to 15-chain."""

import math

from dlkernels import cuda


@cuda.jit
def as_taught(x, bias, residual, scale, out):
    """right"""
    column, first = cuda.grid(2)
    if column < out.shape[1]:
        own = bias[column]
        for row in range(first, out.shape[0], cuda.gridsize(2)[1]):
            z = x[row, column] + own
            out[row, column] = z / (1 + math.exp(-z)) * scale + residual[row, column]


@cuda.jit
def with_while(x, bias, residual, scale, out):
    """right"""
    column = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if column >= out.shape[1]:
        return
    own = bias[column]
    while row < out.shape[0]:
        z = own + x[row, column]
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
        own = bias[column]
        for row in range(first, out.shape[0], cuda.gridsize(2)[1]):
            out[row, column] = x[row, column] + own
            out[row, column] = out[row, column] / (1 + math.exp(-out[row, column]))
            out[row, column] = out[row, column] * scale + residual[row, column]


@cuda.jit
def reads_x_twice(x, bias, residual, scale, out):
    """over budget over-budget: read"""
    column, first = cuda.grid(2)
    if column < out.shape[1]:
        own = bias[column]
        for row in range(first, out.shape[0], cuda.gridsize(2)[1]):
            gate = 1 / (1 + math.exp(-x[row, column] - own))
            out[row, column] = (x[row, column] + own) * gate * scale + residual[row, column]


@cuda.jit
def no_bias(x, bias, residual, scale, out):
    """wrong suspect: The bias is missing"""
    column, first = cuda.grid(2)
    if column < out.shape[1]:
        for row in range(first, out.shape[0], cuda.gridsize(2)[1]):
            z = x[row, column]
            out[row, column] = z / (1 + math.exp(-z)) * scale + residual[row, column]


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


@cuda.jit
def scales_all(x, bias, residual, scale, out):
    """wrong suspect: not to the residual"""
    column, first = cuda.grid(2)
    if column < out.shape[1]:
        for row in range(first, out.shape[0], cuda.gridsize(2)[1]):
            z = x[row, column] + bias[column]
            out[row, column] = (z / (1 + math.exp(-z)) + residual[row, column]) * scale


@cuda.jit
def scales_before(x, bias, residual, scale, out):
    """wrong suspect: comes after SiLU"""
    column, first = cuda.grid(2)
    if column < out.shape[1]:
        for row in range(first, out.shape[0], cuda.gridsize(2)[1]):
            z = (x[row, column] + bias[column]) * scale
            out[row, column] = z / (1 + math.exp(-z)) + residual[row, column]


@cuda.jit
def residual_before(x, bias, residual, scale, out):
    """wrong suspect: added at the end"""
    column, first = cuda.grid(2)
    if column < out.shape[1]:
        for row in range(first, out.shape[0], cuda.gridsize(2)[1]):
            z = x[row, column] + bias[column] + residual[row, column]
            out[row, column] = z / (1 + math.exp(-z)) * scale


@cuda.jit
def only_sigmoid(x, bias, residual, scale, out):
    """wrong suspect: SiLU is z times it"""
    column, first = cuda.grid(2)
    if column < out.shape[1]:
        for row in range(first, out.shape[0], cuda.gridsize(2)[1]):
            z = x[row, column] + bias[column]
            out[row, column] = scale / (1 + math.exp(-z)) + residual[row, column]


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
    own = bias[column]
    for row in range(first, out.shape[0], cuda.gridsize(2)[1]):
        z = x[row, column] + own
        out[row, column] = z / (1 + math.exp(-z)) * scale + residual[row, column]


@cuda.jit
def steps_of_one(x, bias, residual, scale, out):
    """wrong race: number of threads along y"""
    column, first = cuda.grid(2)
    if column < out.shape[1]:
        for row in range(first, out.shape[0]):
            z = x[row, column] + bias[column]
            out[row, column] = z / (1 + math.exp(-z)) * scale + residual[row, column]
