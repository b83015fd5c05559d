"""Answers to 09-line."""

import numpy as np
from answers import MASTER, edit, replace

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


one_too_many = edit(
    MASTER, "wrong out-of-bounds: which index is that of the last one", replace("weight.size", "weight.size + 1")
)
turned = edit(MASTER, "wrong suspect: in the opposite order", replace("weight[t]", "weight[weight.size - 1 - t]"))
no_stride = edit(MASTER, "wrong suspect: The stride was not used", replace("i * stride", "i"))
dilated = edit(MASTER, "wrong suspect: called dilation", replace("i * stride + t", "i + t * stride"))
from_one = edit(MASTER, "wrong suspect: begin at 0", replace("range(weight.size)", "range(1, weight.size)"))
always_three = edit(MASTER, "wrong suspect: The last weight is missing", replace("weight.size", "3"))
one_weight = edit(MASTER, "wrong suspect: weight[0] was used", replace("weight[t]", "weight[0]"))


@cuda.jit
def into_out(x, weight, stride, out):
    """wrong adds-to-old: Begin each sum with 0"""
    i = cuda.grid(1)
    if i < out.size:
        for t in range(weight.size):
            out[i] += weight[t] * x[i * stride + t]


last_term = edit(into_out, "wrong suspect: added up, not replaced", replace("[i] += weight", "[i] = weight"))


@cuda.jit
def without_an_end(x, weight, stride, out):
    """wrong raised-TooManyIterations: Nothing inside the loop changes"""
    i = cuda.grid(1)
    t, total = 0, np.float32(0)
    while i < out.size and t < weight.size:
        total += weight[t] * x[i * stride + t]
        out[i] = total
