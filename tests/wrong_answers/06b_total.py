"""Answers to 06b-total. What is said beside the kernel is CLAIMS, or the kernel's own `claims`."""

import numpy as np

from dlkernels import cuda

CLAIMS = {"fault": "race"}


@cuda.jit
def the_second_fence_inside(x, parts, count, out):
    """right"""
    i, block = cuda.grid(1), cuda.blockIdx.x
    own = x[i] if i < x.size else np.float32(0)
    for d in (16, 8, 4, 2, 1):
        own += cuda.shfl_down_sync(0xFFFFFFFF, own, d)
    if cuda.threadIdx.x == 0:
        parts[block] = own
        cuda.threadfence()
        if cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1:
            cuda.threadfence()
            result = np.float32(0)
            for b in range(cuda.gridDim.x):
                result += parts[b]
            out[0] = result


@cuda.jit
def one_block_adds_everything(x, parts, count, out):
    """right"""
    if cuda.grid(1) == 0:
        result = np.float32(0)
        for i in range(x.size):
            result += x[i]
        out[0] = result


@cuda.jit
def as_it_was(x, parts, count, out):
    """wrong race: what may be loaded before the counter is known?"""
    i, block = cuda.grid(1), cuda.blockIdx.x
    own = x[i] if i < x.size else np.float32(0)
    for d in (16, 8, 4, 2, 1):
        own += cuda.shfl_down_sync(0xFFFFFFFF, own, d)
    if cuda.threadIdx.x == 0:
        parts[block] = own
        cuda.threadfence()
        before = cuda.atomic.add(count, 0, 1)
        if before == cuda.gridDim.x - 1:
            result = np.float32(0)
            for b in range(cuda.gridDim.x):
                result += parts[b]
            out[0] = result


@cuda.jit
def the_fence_moved(x, parts, count, out):
    """wrong race: What must be seen before the counter is raised?"""
    i, block = cuda.grid(1), cuda.blockIdx.x
    own = x[i] if i < x.size else np.float32(0)
    for d in (16, 8, 4, 2, 1):
        own += cuda.shfl_down_sync(0xFFFFFFFF, own, d)
    if cuda.threadIdx.x == 0:
        parts[block] = own
        before = cuda.atomic.add(count, 0, 1)
        cuda.threadfence()
        if before == cuda.gridDim.x - 1:
            result = np.float32(0)
            for b in range(cuda.gridDim.x):
                result += parts[b]
            out[0] = result


@cuda.jit
def a_fence_of_the_block(x, parts, count, out):
    """wrong race: all that passed between them is the counter"""
    i, block = cuda.grid(1), cuda.blockIdx.x
    own = x[i] if i < x.size else np.float32(0)
    for d in (16, 8, 4, 2, 1):
        own += cuda.shfl_down_sync(0xFFFFFFFF, own, d)
    if cuda.threadIdx.x == 0:
        parts[block] = own
        cuda.threadfence()
        before = cuda.atomic.add(count, 0, 1)
        cuda.threadfence_block()
        if before == cuda.gridDim.x - 1:
            result = np.float32(0)
            for b in range(cuda.gridDim.x):
                result += parts[b]
            out[0] = result


@cuda.jit
def both_fences_before(x, parts, count, out):
    """wrong race: what may be loaded before the counter is known?"""
    i, block = cuda.grid(1), cuda.blockIdx.x
    own = x[i] if i < x.size else np.float32(0)
    for d in (16, 8, 4, 2, 1):
        own += cuda.shfl_down_sync(0xFFFFFFFF, own, d)
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        parts[block] = own
        cuda.threadfence()
        before = cuda.atomic.add(count, 0, 1)
        if before == cuda.gridDim.x - 1:
            result = np.float32(0)
            for b in range(cuda.gridDim.x):
                result += parts[b]
            out[0] = result


@cuda.jit
def a_plain_counter(x, parts, count, out):
    """wrong race: One block reads a number"""
    i, block = cuda.grid(1), cuda.blockIdx.x
    own = x[i] if i < x.size else np.float32(0)
    for d in (16, 8, 4, 2, 1):
        own += cuda.shfl_down_sync(0xFFFFFFFF, own, d)
    if cuda.threadIdx.x == 0:
        parts[block] = own
        cuda.threadfence()
        before = count[0]
        count[0] += 1
        cuda.threadfence()
        if before == cuda.gridDim.x - 1:
            result = np.float32(0)
            for b in range(cuda.gridDim.x):
                result += parts[b]
            out[0] = result


@cuda.jit
def one_block_too_early(x, parts, count, out):
    """wrong race: One block reads a number"""
    i, block = cuda.grid(1), cuda.blockIdx.x
    own = x[i] if i < x.size else np.float32(0)
    for d in (16, 8, 4, 2, 1):
        own += cuda.shfl_down_sync(0xFFFFFFFF, own, d)
    if cuda.threadIdx.x == 0:
        parts[block] = own
        cuda.threadfence()
        before = cuda.atomic.add(count, 0, 1)
        cuda.threadfence()
        if before >= cuda.gridDim.x - 2:
            result = np.float32(0)
            for b in range(cuda.gridDim.x):
                result += parts[b]
            out[0] = result


@cuda.jit
def its_own_sum_alone(x, parts, count, out):
    """wrong suspect: the last block alone"""
    i = cuda.grid(1)
    own = x[i] if i < x.size else np.float32(0)
    for d in (16, 8, 4, 2, 1):
        own += cuda.shfl_down_sync(0xFFFFFFFF, own, d)
    if cuda.threadIdx.x == 0 and cuda.blockIdx.x == cuda.gridDim.x - 1:
        out[0] = own


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
        own = x[i]
        for d in (16, 8, 4, 2, 1):
            own += cuda.shfl_down_sync(0xFFFFFFFF, own, d)
        if cuda.threadIdx.x == 0:
            parts[block] = own
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
