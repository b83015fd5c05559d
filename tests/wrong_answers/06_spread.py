"""Answers to 06-spread."""

import math

import numpy as np
from answers import cut, edit, replace

from dlkernels import cuda

REDUCED = 128


@cuda.jit
def infinite_where_nothing_is(x, out):
    """right"""
    low = cuda.shared.array(REDUCED, np.float32)
    high = cuda.shared.array(REDUCED, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    low[t] = x[i] if i < x.size else math.inf
    high[t] = x[i] if i < x.size else -math.inf
    d = REDUCED // 2
    while d > 0:
        cuda.syncthreads()
        if t < d:
            if low[t + d] < low[t]:
                low[t] = low[t + d]
            if high[t + d] > high[t]:
                high[t] = high[t + d]
        d //= 2
    if t == 0:
        out[cuda.blockIdx.x] = high[0] - low[0]


@cuda.jit
def kept_in_registers(x, out):
    """right"""
    both = cuda.shared.array((2, REDUCED), np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    low = high = x[min(i, x.size - 1)]
    both[0, t], both[1, t] = low, high
    cuda.syncthreads()
    for k in range(6, -1, -1):
        d = 1 << k
        if t < d:
            low = min(low, both[0, t + d])
            high = max(high, both[1, t + d])
            both[0, t], both[1, t] = low, high
        cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = high - low


@cuda.jit
def interleaved_by_the_first_threads(x, out):
    """over budget over-budget: their places lie 2, 4, 8 ... words apart"""
    low = cuda.shared.array(REDUCED, np.float32)
    high = cuda.shared.array(REDUCED, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    low[t] = high[t] = x[min(i, x.size - 1)]
    cuda.syncthreads()
    d = 1
    while d < REDUCED:
        k = 2 * d * t
        if k + d < REDUCED:
            low[k] = min(low[k], low[k + d])
            high[k] = max(high[k], high[k + d])
        cuda.syncthreads()
        d *= 2
    if t == 0:
        out[cuda.blockIdx.x] = high[0] - low[0]


@cuda.jit
def thread_0_alone(x, out):
    """over budget over-budget: Does one thread read everything"""
    tree = cuda.shared.array(REDUCED, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tree[t] = x[min(i, x.size - 1)]
    cuda.syncthreads()
    if t == 0:
        low = high = tree[0]
        for k in range(1, REDUCED):
            low = min(low, tree[k])
            high = max(high, tree[k])
        out[cuda.blockIdx.x] = high - low


@cuda.jit
def by_atomics(x, out):
    """over budget over-budget: threads go one after the other through an atomic operation"""
    low = cuda.shared.array(1, np.float32)
    high = cuda.shared.array(1, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t == 0:
        low[0] = high[0] = x[i]
    cuda.syncthreads()
    if i < x.size:
        cuda.atomic.min(low, 0, x[i])
        cuda.atomic.max(high, 0, x[i])
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = high[0] - low[0]


@cuda.jit
def halves(x, out):
    """right"""
    low = cuda.shared.array(REDUCED, np.float32)
    high = cuda.shared.array(REDUCED, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    low[t] = high[t] = x[min(i, x.size - 1)]
    cuda.syncthreads()
    d = REDUCED // 2
    while d > 0:
        if t < d:
            low[t] = min(low[t], low[t + d])
            high[t] = max(high[t], high[t + d])
        cuda.syncthreads()
        d //= 2
    if t == 0:
        out[cuda.blockIdx.x] = high[0] - low[0]


interleaved = edit(
    halves,
    "over budget over-budget: Are the threads that work in a round spread over all warps",
    replace("REDUCED // 2", "1"),
    replace("d > 0", "d < REDUCED"),
    replace("t < d", "t % (2 * d) == 0"),
    replace("d //= 2", "d *= 2"),
)
no_barrier_in_the_loop = edit(
    halves,
    "wrong race: after each round, the next readers have to wait",
    cut("cuda.syncthreads()", after="high[t] = max(high[t], high[t + d])"),
)
no_first_barrier = edit(
    halves,
    "wrong race: After the tree is filled",
    cut("cuda.syncthreads()", after="low[t] = high[t] = x[min(i, x.size - 1)]"),
)


@cuda.jit
def barrier_for_those_who_work(x, out):
    """wrong divergent-barrier: only the work stands under the `if`"""
    low = cuda.shared.array(REDUCED, np.float32)
    high = cuda.shared.array(REDUCED, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    low[t] = high[t] = x[min(i, x.size - 1)]
    cuda.syncthreads()
    d = REDUCED // 2
    while d > 0:
        if t < d:
            low[t] = min(low[t], low[t + d])
            high[t] = max(high[t], high[t + d])
            cuda.syncthreads()
        d //= 2
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = high[0] - low[0]


@cuda.jit
def gone_early(x, out):
    """wrong barrier-after-exit: Everybody comes to every barrier"""
    low = cuda.shared.array(REDUCED, np.float32)
    high = cuda.shared.array(REDUCED, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i >= x.size:
        return
    low[t] = high[t] = x[i]
    cuda.syncthreads()
    d = REDUCED // 2
    while d > 0:
        if t < d and i + d < x.size:
            low[t] = min(low[t], low[t + d])
            high[t] = max(high[t], high[t + d])
        cuda.syncthreads()
        d //= 2
    if t == 0:
        out[cuda.blockIdx.x] = high[0] - low[0]


zero_where_nothing_is = edit(
    halves, "wrong suspect: 0 took part, and x has no 0", replace("x[min(i, x.size - 1)]", "x[i] if i < x.size else 0")
)
nothing_where_nothing_is = edit(
    halves,
    "wrong uninitialised-shared: A thread without an element has to put in something",
    replace("low[t] = high[t] = x[min(i, x.size - 1)]", "if i < x.size:\n    low[t] = high[t] = x[i]"),
)
no_guard = edit(halves, "wrong out-of-bounds: The last stretch of x may be short", replace("min(i, x.size - 1)", "i"))
begins_with_128 = edit(halves, "wrong out-of-bounds: which d comes first", replace("d = REDUCED // 2", "d = REDUCED"))
one_round_too_few = edit(
    halves, "wrong wrong-value: Does every number get to place 0", replace("while d > 0:", "while d > 1:")
)
the_largest = edit(
    halves,
    "wrong suspect: The smallest one has to be taken away",
    cut("low = cuda.shared.array(REDUCED, np.float32)"),
    replace("low[t] = high[t]", "high[t]"),
    cut("low[t] = min(low[t], low[t + d])"),
    replace("high[0] - low[0]", "high[0]"),
)
the_first_stretch = edit(
    halves,
    "wrong suspect: Which element does thread t of block b load",
    replace("t, i = cuda.threadIdx.x, cuda.grid(1)", "t = cuda.threadIdx.x"),
    replace("min(i, x.size - 1)", "min(t, x.size - 1)"),
)
stored_by_all = edit(
    halves,
    "wrong race: There one thread of a block is enough",
    replace("if t == 0:\n    out[cuda.blockIdx.x] = high[0] - low[0]", "out[cuda.blockIdx.x] = high[0] - low[0]"),
)
all_into_place_0 = edit(halves, "wrong two-writers: that of its number", replace("cuda.blockIdx.x", "0"))


@cuda.jit
def thread_0_walks(x, out):
    """over budget over-budget: Does one thread walk through a stretch"""
    first = cuda.blockIdx.x * 128
    if cuda.threadIdx.x == 0:
        low = high = x[first]
        for i in range(first + 1, min(first + 128, x.size)):
            low = min(low, x[i])
            high = max(high, x[i])
        out[cuda.blockIdx.x] = high - low
