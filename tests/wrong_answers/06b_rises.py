"""Answers to 06b-rises. What is said beside the kernel is CLAIMS, or the kernel's own `claims`."""

import numpy as np
from answers import MASTER, cut, edit, insert, replace

from dlkernels import cuda

CLAIMS = {"fault": "race"}


@cuda.jit
def from_x(x, out):
    """right"""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = max(x[i], np.float32(0))
    right = np.float32(0)
    if i + 1 < x.size:
        right = max(x[i + 1], np.float32(0))
    if i < x.size:
        out[i] = right - out[i]


@cuda.jit
def a_tile_with_a_halo(x, out):
    """right"""
    tile = cuda.shared.array(65, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    for k in range(t, 65, 64):
        j = i - t + k
        tile[k] = max(x[j], np.float32(0)) if j < x.size else 0
    cuda.syncthreads()
    if i < x.size:
        out[i] = tile[t + 1] - tile[t]


without_the_barriers = edit(
    from_x,
    "wrong race: Are the two in one block?",
    replace("right = max(x[i + 1], np.float32(0))", "right = out[i + 1]"),
)
barriers_for_those_inside = edit(
    MASTER,
    "wrong barrier-after-exit: Which threads go another way",
    insert("cuda.syncthreads()", after="left = max(x[i], np.float32(0))"),
)
turned_round = edit(
    MASTER,
    "wrong suspect: The sign is turned round",
    cut("left = max(x[i], np.float32(0))"),
    replace("right - left", "max(x[i], np.float32(0)) - right"),
)


@cuda.jit
def no_guard_for_the_neighbour(x, out):
    """wrong out-of-bounds: how large is the array?"""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = max(x[i + 1], np.float32(0)) - max(x[i], np.float32(0))


@cuda.jit
def relu_in_place(x, out):
    """wrong input-changed: Inputs may only be read"""
    i = cuda.grid(1)
    if i < x.size:
        x[i] = max(x[i], np.float32(0))
    cuda.syncthreads()
    if i < x.size:
        out[i] = (x[i + 1] if i + 1 < x.size else 0) - x[i]


@cuda.jit
def called_stuck(x, out):
    """wrong verdict: look at `out[i + 1]` in thread 63 of block 0 and thread 0 of block 1"""
    i = cuda.grid(1)
    if i < x.size:
        right = np.float32(0)
        if i + 1 < x.size:
            right = max(x[i + 1], np.float32(0))
        out[i] = right - max(x[i], np.float32(0))


the_last_of_a_block_has_no_neighbour = edit(
    called_stuck,
    "wrong suspect: The last thread of each block sees no right neighbour",
    replace("i + 1 < x", "cuda.threadIdx.x < 63 and i + 1 < x"),
)
the_neighbour_as_it_is = edit(
    called_stuck,
    "wrong suspect: The right neighbour went in without ReLU",
    replace("max(x[i + 1], np.float32(0))", "x[i + 1]"),
)
no_relu = edit(
    called_stuck,
    "wrong suspect: These are steps of x itself",
    replace("max(x[i + 1], np.float32(0))", "x[i + 1]"),
    replace("max(x[i], np.float32(0))", "x[i]"),
)


called_stuck.py_func.claims = {"fault": "stuck"}
