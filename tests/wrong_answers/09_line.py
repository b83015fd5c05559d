"""Answers to 09-line."""

import numpy as np

from dlkernels import cuda


@cuda.jit
def with_while(x, weight, stride, out):
    """right"""
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if i >= out.size:
        return
    j, t, total = i * stride, 0, 0.0
    while t < weight.size:
        total += x[j] * weight[t]
        j += 1
        t += 1
    out[i] = total


@cuda.jit
def by_places(x, weight, stride, out):
    """right"""
    i = cuda.grid(1)
    if i < len(out):
        total = np.float32(0)
        for j in range(i * stride, i * stride + len(weight)):
            total = cuda.fma(weight[j - i * stride], x[j], total)
        out[i] = total


@cuda.jit
def no_guard(x, weight, stride, out):
    """wrong out-of-bounds: this thread may have none"""
    i = cuda.grid(1)
    total = np.float32(0)
    for t in range(weight.size):
        total += weight[t] * x[i * stride + t]
    out[i] = total


@cuda.jit
def one_too_many(x, weight, stride, out):
    """wrong out-of-bounds: which index is that of the last one"""
    i = cuda.grid(1)
    if i < out.size:
        total = np.float32(0)
        for t in range(weight.size + 1):
            total += weight[t] * x[i * stride + t]
        out[i] = total


@cuda.jit
def turned(x, weight, stride, out):
    """wrong suspect: in the opposite order"""
    i = cuda.grid(1)
    if i < out.size:
        total = np.float32(0)
        for t in range(weight.size):
            total += weight[weight.size - 1 - t] * x[i * stride + t]
        out[i] = total


@cuda.jit
def no_stride(x, weight, stride, out):
    """wrong suspect: The stride was not used"""
    i = cuda.grid(1)
    if i < out.size:
        total = np.float32(0)
        for t in range(weight.size):
            total += weight[t] * x[i + t]
        out[i] = total


@cuda.jit
def dilated(x, weight, stride, out):
    """wrong suspect: called dilation"""
    i = cuda.grid(1)
    if i < out.size:
        total = np.float32(0)
        for t in range(weight.size):
            total += weight[t] * x[i + t * stride]
        out[i] = total


@cuda.jit
def last_term(x, weight, stride, out):
    """wrong suspect: added up, not replaced"""
    i = cuda.grid(1)
    if i < out.size:
        for t in range(weight.size):
            out[i] = weight[t] * x[i * stride + t]


@cuda.jit
def without_the_last(x, weight, stride, out):
    """wrong suspect: The last weight is missing"""
    i = cuda.grid(1)
    if i < out.size:
        total = np.float32(0)
        for t in range(weight.size - 1):
            total += weight[t] * x[i * stride + t]
        out[i] = total


@cuda.jit
def from_one(x, weight, stride, out):
    """wrong suspect: begin at 0"""
    i = cuda.grid(1)
    if i < out.size:
        total = np.float32(0)
        for t in range(1, weight.size):
            total += weight[t] * x[i * stride + t]
        out[i] = total


@cuda.jit
def always_three(x, weight, stride, out):
    """wrong suspect: The last weight is missing"""
    i = cuda.grid(1)
    if i < out.size:
        total = np.float32(0)
        for t in range(3):
            total += weight[t] * x[i * stride + t]
        out[i] = total


@cuda.jit
def one_weight(x, weight, stride, out):
    """wrong suspect: weight[0] was used"""
    i = cuda.grid(1)
    if i < out.size:
        total = np.float32(0)
        for t in range(weight.size):
            total += weight[0] * x[i * stride + t]
        out[i] = total


@cuda.jit
def into_out(x, weight, stride, out):
    """wrong adds-to-old: Begin each sum with 0"""
    i = cuda.grid(1)
    if i < out.size:
        for t in range(weight.size):
            out[i] += weight[t] * x[i * stride + t]


@cuda.jit
def of_one_block(x, weight, stride, out):
    """wrong one-block: block 0"""
    i = cuda.threadIdx.x
    if i < out.size:
        total = np.float32(0)
        for t in range(weight.size):
            total += weight[t] * x[i * stride + t]
        out[i] = total


@cuda.jit
def without_an_end(x, weight, stride, out):
    """wrong raised-TooManyIterations: Nothing inside the loop changes"""
    i = cuda.grid(1)
    t, total = 0, np.float32(0)
    while i < out.size and t < weight.size:
        total += weight[t] * x[i * stride + t]
        out[i] = total
