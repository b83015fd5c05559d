"""Answers to 06-bug."""

import numpy as np
from answers import MASTER, cut, edit, insert, replace

from dlkernels import cuda

partner_asked_for = edit(
    MASTER,
    "right",
    insert("left = cuda.blockDim.x", after="s[t] = x[i] * x[i] if i < x.size else 0"),
    cut("left = cuda.blockDim.x"),
    replace("if t + half < left:", "if t < left - half:"),
)


@cuda.jit
def the_odd_one_apart(x, out):
    """right"""
    s = cuda.shared.array(128, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] ** 2 if i < x.size else 0.0
    left = cuda.blockDim.x
    while left > 1:
        cuda.syncthreads()
        if t < left // 2:
            s[t] += s[t + left // 2]
            if t == 0 and left % 2 == 1:
                s[0] += s[left - 1]
        left //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@cuda.jit
def rounded_up_to_128(x, out):
    """right"""
    s = cuda.shared.array(128, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    for k in range(t, 128, cuda.blockDim.x):
        s[k] = 0
    s[t] = x[i] * x[i] if i < x.size else 0
    half = 64
    while half > 0:
        cuda.syncthreads()
        if t < half and t + half < cuda.blockDim.x:
            s[t] += s[t + half]
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


only_the_barrier = edit(
    "as_it_was",
    "wrong wrong-value: is one left out",
    cut("cuda.syncthreads()"),
    insert("cuda.syncthreads()", before="left //= 2"),
)


@cuda.jit
def barrier_for_those_who_work(x, out):
    """wrong divergent-barrier: only the work stands under the `if`"""
    s = cuda.shared.array(128, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] * x[i] if i < x.size else 0
    cuda.syncthreads()
    left = cuda.blockDim.x
    while left > 1:
        half = (left + 1) // 2
        if t + half < left:
            s[t] += s[t + half]
            cuda.syncthreads()
        left = half
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


no_partner_asked_for = edit(
    "as_it_was",
    "wrong wrong-value: a partner that is not there any more",
    cut("cuda.syncthreads()"),
    replace("left //= 2", "cuda.syncthreads()\nleft = (left + 1) // 2"),
)
barrier_behind_the_loop = edit(
    "as_it_was", "wrong race: before the next round begins", insert("cuda.syncthreads()", before="if t == 0:")
)


@cuda.jit
def thread_0_alone(x, out):
    """wrong replaced: The tree is gone"""
    s = cuda.shared.array(128, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] * x[i] if i < x.size else 0
    cuda.syncthreads()
    if t == 0:
        total = np.float32(0)
        for k in range(cuda.blockDim.x):
            total += s[k]
        out[cuda.blockIdx.x] = total


@cuda.jit
def atomics(x, out):
    """wrong replaced: Keep it, and repair its rounds"""
    s = cuda.shared.array(1, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    if i < x.size:
        cuda.atomic.add(s, 0, x[i] * x[i])
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


no_squares = edit(
    MASTER,
    "wrong suspect: The squares are asked for",
    replace("s[t] = x[i] * x[i] if i < x.size else 0\ncuda.syncthreads()", "s[t] = x[i] if i < x.size else 0"),
    insert("cuda.syncthreads()", before="half = (left + 1) // 2"),
    cut("cuda.syncthreads()", after="left = half"),
)


@cuda.jit
def the_odd_one_added_by_another(x, out):
    """wrong race: no barrier lies between the two"""
    s = cuda.shared.array(128, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] * x[i] if i < x.size else 0
    left = cuda.blockDim.x
    while left > 1:
        cuda.syncthreads()
        half = left // 2
        if t < half:
            s[t] += s[t + half]
        if left % 2 == 1 and t == left - 1:
            s[0] += s[t]
        left = half
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


one_partner_too_many = edit(
    MASTER,
    "wrong out-of-bounds: A partner must be a thread of the block",
    cut("cuda.syncthreads()", after="s[t] = x[i] * x[i] if i < x.size else 0"),
    insert("cuda.syncthreads()", before="half = (left + 1) // 2"),
    replace("if t + half < left:", "if t + half <= left:"),
    cut("cuda.syncthreads()", after="left = half"),
)


@cuda.jit
def thread_0_walks(x, out):
    """wrong replaced: The tree is gone"""
    first = cuda.blockIdx.x * cuda.blockDim.x
    if cuda.threadIdx.x == 0:
        total = np.float32(0)
        for i in range(first, min(first + cuda.blockDim.x, x.size)):
            total += x[i] * x[i]
        out[cuda.blockIdx.x] = total
