"""Answers to 06-lanes."""

import numpy as np

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


@cuda.jit
def one_barrier_too_many(x, out):
    """over budget over-budget: Lanes of a warp that shuffle need none"""
    lows = cuda.shared.array(4, np.float32)
    highs = cuda.shared.array(4, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    low = high = x[min(i, x.size - 1)]
    for d in (16, 8, 4, 2, 1):
        low = min(low, cuda.shfl_down_sync(ALL, low, d))
        high = max(high, cuda.shfl_down_sync(ALL, high, d))
        cuda.syncthreads()
    if t % 32 == 0:
        lows[t // 32] = low
        highs[t // 32] = high
    cuda.syncthreads()
    if t == 0:
        for w in range(4):
            low = min(low, lows[w])
            high = max(high, highs[w])
        out[cuda.blockIdx.x] = high - low


@cuda.jit
def together_by_atomics(x, out):
    """over budget over-budget: Shuffles need none"""
    lows = cuda.shared.array(1, np.float32)
    highs = cuda.shared.array(1, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t == 0:
        lows[0] = highs[0] = x[i]
    low = high = x[min(i, x.size - 1)]
    for d in (16, 8, 4, 2, 1):
        low = min(low, cuda.shfl_down_sync(ALL, low, d))
        high = max(high, cuda.shfl_down_sync(ALL, high, d))
    cuda.syncthreads()
    if t % 32 == 0:
        cuda.atomic.min(lows, 0, low)
        cuda.atomic.max(highs, 0, high)
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = highs[0] - lows[0]


@cuda.jit
def no_barrier(x, out):
    """wrong race: The warps store their results, then all wait"""
    lows = cuda.shared.array(4, np.float32)
    highs = cuda.shared.array(4, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    low = high = x[min(i, x.size - 1)]
    for d in (16, 8, 4, 2, 1):
        low = min(low, cuda.shfl_down_sync(ALL, low, d))
        high = max(high, cuda.shfl_down_sync(ALL, high, d))
    if t % 32 == 0:
        lows[t // 32] = low
        highs[t // 32] = high
    if t == 127:
        low, high = lows[0], highs[0]
        for w in range(4):
            low = min(low, lows[w])
            high = max(high, highs[w])
        out[cuda.blockIdx.x] = high - low


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


@cuda.jit
def distances_of_a_block(x, out):
    """wrong wrong-value: five rounds"""
    lows = cuda.shared.array(4, np.float32)
    highs = cuda.shared.array(4, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    low = high = x[min(i, x.size - 1)]
    for d in (8, 4, 2, 1):
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


@cuda.jit
def the_other_way(x, out):
    """wrong wrong-value: After which distances has lane 0 seen all 32 numbers"""
    lows = cuda.shared.array(4, np.float32)
    highs = cuda.shared.array(4, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    low = high = x[min(i, x.size - 1)]
    for d in (16, 8, 4, 2, 1):
        low = min(low, cuda.shfl_up_sync(ALL, low, d))
        high = max(high, cuda.shfl_up_sync(ALL, high, d))
    if t % 32 == 0:
        lows[t // 32] = low
        highs[t // 32] = high
    cuda.syncthreads()
    if t == 0:
        for w in range(4):
            low = min(low, lows[w])
            high = max(high, highs[w])
        out[cuda.blockIdx.x] = high - low


@cuda.jit
def shuffles_under_the_guard(x, out):
    """wrong divergent-barrier: Shuffles, too, stand outside of every `if`"""
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


@cuda.jit
def gone_early(x, out):
    """wrong barrier-after-exit: Shuffles, too, stand"""
    lows = cuda.shared.array(4, np.float32)
    highs = cuda.shared.array(4, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i >= x.size:
        return
    low = high = x[i]
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


@cuda.jit
def zero_where_nothing_is(x, out):
    """wrong suspect: 0 took part"""
    lows = cuda.shared.array(4, np.float32)
    highs = cuda.shared.array(4, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    low = high = x[i] if i < x.size else np.float32(0)
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


@cuda.jit
def places_of_threads(x, out):
    """wrong out-of-bounds: which places has the shared array"""
    lows = cuda.shared.array(4, np.float32)
    highs = cuda.shared.array(4, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    low = high = x[min(i, x.size - 1)]
    for d in (16, 8, 4, 2, 1):
        low = min(low, cuda.shfl_down_sync(ALL, low, d))
        high = max(high, cuda.shfl_down_sync(ALL, high, d))
    if t % 32 == 0:
        lows[t] = low
        highs[t] = high
    cuda.syncthreads()
    if t == 0:
        for w in range(4):
            low = min(low, lows[w])
            high = max(high, highs[w])
        out[cuda.blockIdx.x] = high - low


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


@cuda.jit
def only_warp_0_stores(x, out):
    """wrong uninitialised-shared: Which thread of a warp stores the warp's result"""
    lows = cuda.shared.array(4, np.float32)
    highs = cuda.shared.array(4, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    low = high = x[min(i, x.size - 1)]
    for d in (16, 8, 4, 2, 1):
        low = min(low, cuda.shfl_down_sync(ALL, low, d))
        high = max(high, cuda.shfl_down_sync(ALL, high, d))
    if t == 0:
        lows[t // 32] = low
        highs[t // 32] = high
    cuda.syncthreads()
    if t == 0:
        for w in range(4):
            low = min(low, lows[w])
            high = max(high, highs[w])
        out[cuda.blockIdx.x] = high - low


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
