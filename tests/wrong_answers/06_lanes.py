"""Answers to 06-lanes."""

import numpy as np
from answers import MASTER, edit, insert, replace

from dlkernels import cuda

ALL = 0xFFFFFFFF


@cuda.jit
def every_lane_knows(x, out):
    """right"""
    results = cuda.shared.array((2, 4), np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    low = high = x[min(i, x.size - 1)]
    for k in range(5):
        low = min(low, cuda.shfl_xor_sync(ALL, low, 1 << k))
        high = max(high, cuda.shfl_xor_sync(ALL, high, 1 << k))
    if t % 32 == 5:
        results[0, t // 32] = low
        results[1, t // 32] = high
    cuda.syncthreads()
    if t == 77:
        for w in range(4):
            low = min(low, results[0, w])
            high = max(high, results[1, w])
        out[cuda.blockIdx.x] = high - low


@cuda.jit
def the_first_warp_shuffles_again(x, out):
    """right"""
    lows = cuda.shared.array(4, np.float32)
    highs = cuda.shared.array(4, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    low = high = x[min(i, x.size - 1)]
    d = 16
    while d > 0:
        low = min(low, cuda.shfl_down_sync(ALL, low, d))
        high = max(high, cuda.shfl_down_sync(ALL, high, d))
        d //= 2
    if cuda.laneid == 0:
        lows[t // 32] = low
        highs[t // 32] = high
    cuda.syncthreads()
    if t < 32:
        low, high = lows[t % 4], highs[t % 4]
        for d in (2, 1):
            low = min(low, cuda.shfl_down_sync(ALL, low, d))
            high = max(high, cuda.shfl_down_sync(ALL, high, d))
        if t == 0:
            out[cuda.blockIdx.x] = high - low


@cuda.jit
def the_tree_of_before(x, out):
    """over budget over-budget: Inside a warp a shuffle hands a number from register to register"""
    low = cuda.shared.array(128, np.float32)
    high = cuda.shared.array(128, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    low[t] = high[t] = x[min(i, x.size - 1)]
    cuda.syncthreads()
    d = 64
    while d > 0:
        if t < d:
            low[t] = min(low[t], low[t + d])
            high[t] = max(high[t], high[t + d])
        cuda.syncthreads()
        d //= 2
    if t == 0:
        out[cuda.blockIdx.x] = high[0] - low[0]


index_at_first = edit(
    MASTER,
    "right",
    replace("t = cuda.threadIdx.x", "t, i = cuda.threadIdx.x, cuda.grid(1)"),
    replace("cuda.grid(1)", "i"),
)
one_barrier_too_many = edit(
    index_at_first,
    "over budget over-budget: Lanes of a warp that shuffle need none",
    insert("cuda.syncthreads()", after="high = max(high, cuda.shfl_down_sync(ALL, high, d))"),
)
no_barrier = edit(
    index_at_first,
    "wrong race: The warps store their results, then all wait",
    replace("cuda.syncthreads()\nif t == 0:", "if t == 127:\n    low, high = lows[0], highs[0]"),
)


@cuda.jit
def the_first_warp_alone(x, out):
    """wrong suspect: The block has four warps"""
    t, i = cuda.threadIdx.x, cuda.grid(1)
    low = high = x[min(i, x.size - 1)]
    for d in (16, 8, 4, 2, 1):
        low = min(low, cuda.shfl_down_sync(ALL, low, d))
        high = max(high, cuda.shfl_down_sync(ALL, high, d))
    if t == 0:
        out[cuda.blockIdx.x] = high - low


distances_of_a_block = edit(
    index_at_first, "wrong wrong-value: five rounds", replace("for d in (16, 8, 4, 2, 1):", "for d in (8, 4, 2, 1):")
)
the_other_way = edit(
    index_at_first,
    "wrong wrong-value: After which distances has lane 0 seen all 32 numbers",
    replace("cuda.shfl_down_sync(ALL, low, d)", "cuda.shfl_up_sync(ALL, low, d)"),
    replace("cuda.shfl_down_sync(ALL, high, d)", "cuda.shfl_up_sync(ALL, high, d)"),
)


@cuda.jit
def shuffles_under_the_guard(x, out):
    """wrong divergent-warp-operation: Shuffles, too, stand outside of every `if`"""
    lows = cuda.shared.array(4, np.float32)
    highs = cuda.shared.array(4, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    low = high = x[min(i, x.size - 1)]
    if i < x.size:
        for d in (16, 8, 4, 2, 1):
            low = min(low, cuda.shfl_down_sync(ALL, low, d))
            high = max(high, cuda.shfl_down_sync(ALL, high, d))
    if t % 32 == 0:
        lows[t // 32] = low
        highs[t // 32] = high
    cuda.syncthreads()
    if t == 0:
        for w in range(4):
            low = min(low, lows[w])
            high = max(high, highs[w])
        out[cuda.blockIdx.x] = high - low


gone_early = edit(
    index_at_first,
    "wrong barrier-after-exit: Shuffles, too, stand",
    replace(
        "low = high = x[min(i, x.size - 1)]",
        """
        if i >= x.size:
            return
        low = high = x[i]
        """,
    ),
)
zero_where_nothing_is = edit(
    index_at_first,
    "wrong suspect: 0 took part",
    replace("x[min(i, x.size - 1)]", "x[i] if i < x.size else np.float32(0)"),
)
places_of_threads = edit(
    index_at_first,
    "wrong out-of-bounds: which places has the shared array",
    replace("lows[t // 32]", "lows[t]"),
    replace("highs[t // 32]", "highs[t]"),
)


@cuda.jit
def one_place_for_all_warps(x, out):
    """wrong race: who stores to which place"""
    lows = cuda.shared.array(4, np.float32)
    highs = cuda.shared.array(4, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    low = high = x[min(i, x.size - 1)]
    for d in (16, 8, 4, 2, 1):
        low = min(low, cuda.shfl_down_sync(ALL, low, d))
        high = max(high, cuda.shfl_down_sync(ALL, high, d))
    if t % 32 == 0:
        lows[0] = low
        highs[0] = high
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = highs[0] - lows[0]


together_by_atomics = edit(
    one_place_for_all_warps,
    "over budget over-budget: Shuffles need none",
    replace("lows = cuda.shared.array(4, np.float32)", "lows = cuda.shared.array(1, np.float32)"),
    replace("highs = cuda.shared.array(4, np.float32)", "highs = cuda.shared.array(1, np.float32)"),
    insert("if t == 0:\n    lows[0] = highs[0] = x[i]", after="t, i = cuda.threadIdx.x, cuda.grid(1)"),
    insert("cuda.syncthreads()", before="if t % 32 == 0:"),
    replace("lows[0] = low", "cuda.atomic.min(lows, 0, low)"),
    replace("highs[0] = high", "cuda.atomic.max(highs, 0, high)"),
)
only_warp_0_stores = edit(
    index_at_first,
    "wrong uninitialised-shared: Which thread of a warp stores the warp's result",
    replace("if t % 32", "if t"),
)


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
