"""Answers to 06b-norms. What is said beside the kernel is CLAIMS, or the kernel's own `claims`."""

import math

import numpy as np
from answers import MASTER, edit, insert, replace

from dlkernels import cuda

CLAIMS = {"fault": "lanes"}


@cuda.jit
def a_zero_for_the_others(x, out):
    """right"""
    i = cuda.grid(1)
    total = x[i] ** 2 if i < x.size else np.float32(0)
    for d in (1, 2, 4, 8, 16):
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, d)
    if i < x.size and i % 32 == 0:
        out[i // 32] = math.sqrt(total)


@cuda.jit
def through_shared_memory(x, out):
    """right"""
    s = cuda.shared.array(2, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t < 2:
        s[t] = 0
    cuda.syncthreads()
    if i < x.size:
        cuda.atomic.add(s, t // 32, x[i] * x[i])
    cuda.syncthreads()
    if i < x.size and t % 32 == 0:
        out[i // 32] = math.sqrt(s[t // 32])


@cuda.jit
def only_as_many_lanes_as_there_are(x, out):
    """right"""
    i, lane = cuda.grid(1), cuda.laneid
    left = x.size - (i - lane)
    own = x[i] * x[i] if i < x.size else np.float32(0)
    total = own
    for k in range(1, 32):
        other = cuda.shfl_sync(0xFFFFFFFF, own, k)
        if k < left:
            total += other
    if lane == 0 and left > 0:
        out[i // 32] = math.sqrt(total)


@cuda.jit
def as_it_was(x, out):
    """wrong inactive-lane-read: Which lanes come to this line"""
    i = cuda.grid(1)
    if i < x.size:
        total = x[i] * x[i]
        for d in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)
        if cuda.laneid == 0:
            out[i // 32] = math.sqrt(total)


the_mask_of_those_who_are_there = edit(
    as_it_was,
    "wrong inactive-lane-read: that one is not there",
    insert("mask = cuda.activemask()", before="total = x[i] * x[i]"),
    replace("0xFFFFFFFF", "mask"),
)


@cuda.jit
def nothing_to_load(x, out):
    """wrong out-of-bounds: loads or stores all the same"""
    i = cuda.grid(1)
    total = x[i] * x[i]
    for d in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)
    if cuda.laneid == 0:
        out[i // 32] = math.sqrt(total)


all_lanes_store = edit(
    MASTER,
    "wrong race: what would have to lie between the two?",
    replace("if i < x.size and cuda.laneid == 0:", "if i < x.size:"),
)


@cuda.jit
def no_shuffles(x, out):
    """wrong suspect: Only the first number of each group went in"""
    i = cuda.grid(1)
    if i < x.size and cuda.laneid == 0:
        out[i // 32] = math.sqrt(x[i] * x[i])


the_last_one_again = edit(
    nothing_to_load,
    "wrong wrong-value: Has lane 0 seen every number",
    replace("total = x[i] * x[i]", "own = x[min(i, x.size - 1)]\ntotal = own * own"),
    replace("cuda.laneid", "i < x.size and cuda.laneid"),
)


@cuda.jit
def called_stuck(x, out):
    """wrong verdict: in thread 32 of block 1"""
    i = cuda.grid(1)
    if i < x.size and i % 32 == 0:
        total = np.float32(0)
        for k in range(i, min(i + 32, x.size)):
            total += x[k] * x[k]
        out[i // 32] = math.sqrt(total)


called_stuck.py_func.claims = {"fault": "stuck"}
