"""Answers to 07-zip."""

import numpy as np
from answers import MASTER, edit, insert, replace

from dlkernels import cuda


@cuda.jit
def with_if(a, b, out):
    """right"""
    i = cuda.grid(1)
    if a[i] < b[i]:
        out[i] = b[i]
    else:
        out[i] = a[i]


@cuda.jit
def guarded(x, y, z):
    """right"""
    k = cuda.threadIdx.x
    if k < z.size:
        z[k] = x[k] if x[k] > y[k] else y[k]


@cuda.jit
def first_alone(a, b, out):
    """wrong suspect: b was never larger"""
    i = cuda.threadIdx.x
    out[i] = a[i]


relu = edit(MASTER, "wrong suspect: This is ReLU of a", replace("b[i]", "0"))


into_an_input = edit(
    first_alone, "wrong input-changed: may only be read", insert("a[i] = max(a[i], b[i])", after="i = cuda.threadIdx.x")
)


@cuda.jit
def not_stored(a, b, out):
    """wrong nothing-written: stored in the output array"""
    i = cuda.threadIdx.x
    larger = max(a[i], b[i])
    larger += 0


def numpy_alone(a, b, out):
    """wrong raised-NotCompiled: @cuda.jit"""
    out[:] = np.maximum(a, b)


@cuda.jit
def no_end(a, b, out):
    """wrong raised-TooManyIterations: Nothing inside the loop changes `i`"""
    i = cuda.threadIdx.x
    while i < out.size:
        out[i] = max(a[i], b[i])


only_one_warp = edit(no_end, "wrong tail: guard", replace("while i < out.size:", "if i < 32:"))
