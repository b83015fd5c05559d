"""Answers to 07-zip."""

import numpy as np

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
def smaller(a, b, out):
    """wrong suspect: This is the smaller one"""
    i = cuda.threadIdx.x
    out[i] = min(a[i], b[i])


@cuda.jit
def the_sum(a, b, out):
    """wrong suspect: The larger one of the two is asked for"""
    i = cuda.threadIdx.x
    out[i] = a[i] + b[i]


@cuda.jit
def first_alone(a, b, out):
    """wrong suspect: b was never larger"""
    i = cuda.threadIdx.x
    out[i] = a[i]


@cuda.jit
def relu(a, b, out):
    """wrong suspect: This is ReLU of a"""
    i = cuda.threadIdx.x
    out[i] = max(a[i], 0)


@cuda.jit
def counts_from_one(a, b, out):
    """wrong out-of-bounds: Count from 0"""
    i = cuda.threadIdx.x + 1
    out[i] = max(a[i], b[i])


@cuda.jit
def every_thread_all(a, b, out):
    """wrong race: Does every thread of this kernel walk"""
    for i in range(out.size):
        out[i] = max(a[i], b[i])


@cuda.jit
def the_block_number(a, b, out):
    """wrong two-writers: All threads of the block use the same index"""
    i = cuda.blockIdx.x
    out[i] = max(a[i], b[i])


@cuda.jit
def into_an_input(a, b, out):
    """wrong input-changed: may only be read"""
    i = cuda.threadIdx.x
    a[i] = max(a[i], b[i])
    out[i] = a[i]


@cuda.jit
def only_one_warp(a, b, out):
    """wrong tail: guard"""
    i = cuda.threadIdx.x
    if i < 32:
        out[i] = max(a[i], b[i])


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
