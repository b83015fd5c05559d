"""Answers to 06b-total. What is said beside the kernel is CLAIMS, or the kernel's own `claims`."""

import numpy as np
from answers import cut, edit, insert, replace

from dlkernels import cuda

CLAIMS = {"fault": "race"}


@cuda.jit
def the_second_fence_inside(x, parts, count, out):
    """right"""
    i, block = cuda.grid(1), cuda.blockIdx.x
    lane_sum = x[i] if i < x.size else np.float32(0)
    for d in (16, 8, 4, 2, 1):
        lane_sum += cuda.shfl_down_sync(0xFFFFFFFF, lane_sum, d)
    if cuda.threadIdx.x == 0:
        parts[block] = lane_sum
        cuda.threadfence()
        if cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1:
            cuda.threadfence()
            result = np.float32(0)
            for b in range(cuda.gridDim.x):
                result += parts[b]
            out[0] = result


@cuda.jit
def one_block_adds_everything(x, parts, count, out):
    """wrong replaced: Start again from the kernel as it was handed out"""
    if cuda.grid(1) == 0:
        result = np.float32(0)
        for i in range(x.size):
            result += x[i]
        out[0] = result


@cuda.jit
def fence_before_the_test(x, parts, count, out):
    """right"""
    i, block = cuda.grid(1), cuda.blockIdx.x
    lane_sum = x[i] if i < x.size else np.float32(0)
    for d in (16, 8, 4, 2, 1):
        lane_sum += cuda.shfl_down_sync(0xFFFFFFFF, lane_sum, d)
    if cuda.threadIdx.x == 0:
        parts[block] = lane_sum
        cuda.threadfence()
        before = cuda.atomic.add(count, 0, 1)
        cuda.threadfence()
        if before == cuda.gridDim.x - 1:
            result = np.float32(0)
            for b in range(cuda.gridDim.x):
                result += parts[b]
            out[0] = result


as_it_was = edit(
    fence_before_the_test,
    "wrong race: what may be loaded before the counter is known?",
    cut("cuda.threadfence()", after="before = cuda.atomic.add(count, 0, 1)"),
)
the_fence_moved = edit(
    fence_before_the_test,
    "wrong race: What must be seen before the counter is raised?",
    cut("cuda.threadfence()", after="parts[block] = lane_sum"),
)
a_fence_of_the_block = edit(
    fence_before_the_test,
    "wrong race: all that passed between them is the counter",
    replace("cuda.threadfence()", "cuda.threadfence_block()", after="before = cuda.atomic.add(count, 0, 1)"),
)
both_fences_before = edit(
    fence_before_the_test,
    "wrong race: what may be loaded before the counter is known?",
    insert("cuda.threadfence()", before="parts[block] = lane_sum"),
    cut("cuda.threadfence()", after="before = cuda.atomic.add(count, 0, 1)"),
)
a_plain_counter = edit(
    fence_before_the_test,
    "wrong race: One block reads a number",
    replace("before = cuda.atomic.add(count, 0, 1)", "before = count[0]\ncount[0] += 1"),
)
one_block_too_early = edit(
    fence_before_the_test,
    "wrong race: One block reads a number",
    replace("if before == cuda.gridDim.x - 1:", "if before >= cuda.gridDim.x - 2:"),
)


@cuda.jit
def its_own_sum_alone(x, parts, count, out):
    """wrong suspect: the last block alone"""
    i = cuda.grid(1)
    lane_sum = x[i] if i < x.size else np.float32(0)
    for d in (16, 8, 4, 2, 1):
        lane_sum += cuda.shfl_down_sync(0xFFFFFFFF, lane_sum, d)
    if cuda.threadIdx.x == 0 and cuda.blockIdx.x == cuda.gridDim.x - 1:
        out[0] = lane_sum


@cuda.jit
def added_to_what_was_there(x, parts, count, out):
    """wrong adds-to-old: what stood in the output before"""
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, 0, x[i])


@cuda.jit
def shuffles_of_those_inside(x, parts, count, out):
    """wrong inactive-lane-read: that one is not there"""
    i, block = cuda.grid(1), cuda.blockIdx.x
    if i < x.size:
        lane_sum = x[i]
        for d in (16, 8, 4, 2, 1):
            lane_sum += cuda.shfl_down_sync(0xFFFFFFFF, lane_sum, d)
        if cuda.threadIdx.x == 0:
            parts[block] = lane_sum
            cuda.threadfence()
            before = cuda.atomic.add(count, 0, 1)
            cuda.threadfence()
            if before == cuda.gridDim.x - 1:
                result = np.float32(0)
                for b in range(cuda.gridDim.x):
                    result += parts[b]
                out[0] = result


@cuda.jit
def called_right(x, parts, count, out):
    """wrong verdict: look at `parts[b]` in thread 0 of block 3 and thread 0 of block 0"""
    if cuda.grid(1) == 0:
        result = np.float32(0)
        for i in range(x.size):
            result += x[i]
        out[0] = result


called_right.py_func.claims = {"fault": "right"}
