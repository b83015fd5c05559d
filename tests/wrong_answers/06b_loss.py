"""Answers to 06b-loss. What is said beside the kernel is CLAIMS, or the kernel's own `claims`."""

import numpy as np
from answers import MASTER, edit, replace

from dlkernels import cuda

CLAIMS = {"fault": "wrong number"}


@cuda.jit
def a_while_loop(y, target, out):
    """right"""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    total = np.float32(0)
    while i < y.size:
        total += (y[i] - target[i]) ** 2
        i += cuda.blockDim.x * cuda.gridDim.x
    cuda.atomic.add(out, 0, total)


@cuda.jit
def a_stretch_for_each_thread(y, target, out):
    """right"""
    each = (y.size + cuda.gridsize(1) - 1) // cuda.gridsize(1)
    first = cuda.grid(1) * each
    for i in range(first, min(first + each, y.size)):
        error = y[i] - target[i]
        cuda.atomic.add(out, 0, error * error)


@cuda.jit
def one_round(y, target, out):
    """wrong suspect: the first 32 elements: each thread took one"""
    i = cuda.grid(1)
    if i < y.size:
        error = y[i] - target[i]
        cuda.atomic.add(out, 0, error * error)


@cuda.jit
def no_guard(y, target, out):
    """wrong out-of-bounds: what is there for it to do?"""
    total = np.float32(0)
    for k in range(0, y.size, cuda.gridsize(1)):
        error = y[cuda.grid(1) + k] - target[cuda.grid(1) + k]
        total += error * error
    cuda.atomic.add(out, 0, total)


the_last_one_wins = edit(
    MASTER,
    "wrong race: How did the kernel that was handed out do that?",
    replace("cuda.atomic.add(out, 0, total)", "out[0] = total"),
)


@cuda.jit
def no_squares(y, target, out):
    """wrong suspect: Their squares are asked for"""
    total = np.float32(0)
    for i in range(cuda.grid(1), y.size, cuda.gridsize(1)):
        total += y[i] - target[i]
    cuda.atomic.add(out, 0, total)
