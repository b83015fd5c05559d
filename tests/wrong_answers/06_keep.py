"""Answers to 06-keep."""

import numpy as np

from dlkernels import cuda

ALL = 0xFFFFFFFF


@cuda.jit
def by_hand(x, out):
    """right"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    value = x[t] if t < x.size else 0.0
    keeps = value > 0
    votes = cuda.ballot_sync(ALL, keeps)
    if lane == 31:
        counts[warp] = cuda.popc(votes)
    cuda.syncthreads()
    before, total = 0, 0
    for w in range((cuda.blockDim.x + 31) // 32):
        if w < warp:
            before += counts[w]
        total += counts[w]
    if keeps:
        out[before + cuda.popc(votes & ((1 << lane) - 1))] = value
    if t >= total and t < x.size:
        out[t] = 0


@cuda.jit
def zeros_by_those_that_go(x, out):
    """right"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    value = x[t] if t < x.size else 0.0
    votes = cuda.ballot_sync(ALL, value > 0)
    if lane == 0:
        counts[warp] = cuda.popc(votes)
    cuda.syncthreads()
    place, total = cuda.popc(votes & ((1 << lane) - 1)), 0
    for w in range(cuda.blockDim.x // 32):
        if w < warp:
            place += counts[w]
        total += counts[w]
    goes = t - place  # numbers before this one that are not kept
    if value > 0:
        out[place] = value
    elif t < x.size:
        out[total + goes] = 0


@cuda.jit
def lanes_above_turned_round(x, out):
    """right"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    value = x[t] if t < x.size else 0.0
    votes = cuda.ballot_sync(ALL, value > 0)
    if lane == 0:
        counts[warp] = cuda.popc(votes)
    cuda.syncthreads()
    place, total = cuda.popc(votes << (32 - lane) & ALL) if lane > 0 else 0, 0
    for w in range(cuda.blockDim.x // 32):
        if w < warp:
            place += counts[w]
        total += counts[w]
    if value > 0:
        out[place] = value
    if total <= t and t < x.size:
        out[t] = 0


@cuda.jit
def atomics(x, out):
    """over budget over-budget: A vote needs none"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    if t < 8:
        counts[t] = 0
    cuda.syncthreads()
    value = x[t] if t < x.size else 0.0
    votes = cuda.ballot_sync(ALL, value > 0)
    if value > 0:
        cuda.atomic.add(counts, warp, 1)
    cuda.syncthreads()
    place, total = cuda.popc(votes & ((1 << lane) - 1)), 0
    for w in range(cuda.blockDim.x // 32):
        if w < warp:
            place += counts[w]
        total += counts[w]
    if value > 0:
        out[place] = value
    if total <= t and t < x.size:
        out[t] = 0


@cuda.jit
def everybody_counts_for_itself(x, out):
    """over budget over-budget: its bits tell each lane its place"""
    signs = cuda.shared.array(256, np.int32)
    t = cuda.threadIdx.x
    value = x[t] if t < x.size else 0.0
    signs[t] = 1 if value > 0 else 0
    cuda.syncthreads()
    place, total = 0, 0
    for k in range(cuda.blockDim.x):
        if k < t:
            place += signs[k]
        total += signs[k]
    if value > 0:
        out[place] = value
    if total <= t and t < x.size:
        out[t] = 0


@cuda.jit
def thread_0_adds_up(x, out):
    """over budget over-budget: each thread can add up what it needs"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    value = x[t] if t < x.size else 0.0
    votes = cuda.ballot_sync(ALL, value > 0)
    if lane == 0:
        counts[warp] = cuda.popc(votes)
    cuda.syncthreads()
    if t == 0:
        total = 0
        for w in range(cuda.blockDim.x // 32):
            total += counts[w]
        for w in range(cuda.blockDim.x // 32 - 1, -1, -1):
            total -= counts[w]
            counts[w] = total
    cuda.syncthreads()
    place = counts[warp] + cuda.popc(votes & ((1 << lane) - 1))
    if value > 0:
        out[place] = value
    elif t < x.size:
        out[x.size - 1 - t + place] = 0


@cuda.jit
def loaded_twice(x, out):
    """over budget over-budget: x is loaded more than once"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    votes = cuda.ballot_sync(ALL, t < x.size and x[min(t, x.size - 1)] > 0)
    if lane == 0:
        counts[warp] = cuda.popc(votes)
    cuda.syncthreads()
    place, total = cuda.popc(votes & ((1 << lane) - 1)), 0
    for w in range(cuda.blockDim.x // 32):
        if w < warp:
            place += counts[w]
        total += counts[w]
    if t < x.size and x[t] > 0:
        out[place] = x[t]
    if total <= t and t < x.size:
        out[t] = 0


@cuda.jit
def no_barrier(x, out):
    """wrong race: Between storing and reading it a barrier has to come"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    value = x[t] if t < x.size else 0.0
    votes = cuda.ballot_sync(ALL, value > 0)
    if lane == 0:
        counts[warp] = cuda.popc(votes)
    place, total = cuda.popc(votes & ((1 << lane) - 1)), 0
    for w in range(cuda.blockDim.x // 32):
        if w < warp:
            place += counts[w]
        total += counts[w]
    if value > 0:
        out[place] = value
    if total <= t and t < x.size:
        out[t] = 0


@cuda.jit
def each_warp_begins_at_0(x, out):
    """wrong suspect: Every warp began at place 0 again"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    value = x[t] if t < x.size else 0.0
    votes = cuda.ballot_sync(ALL, value > 0)
    if lane == 0:
        counts[warp] = cuda.popc(votes)
    cuda.syncthreads()
    place, total = cuda.popc(votes & ((1 << lane) - 1)), 0
    for w in range(cuda.blockDim.x // 32):
        total += counts[w]
    if value > 0:
        out[place] = value
    if total <= t and t < x.size:
        out[t] = 0


@cuda.jit
def itself_counted_too(x, out):
    """wrong head: How many positive numbers come before the first one"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    value = x[t] if t < x.size else 0.0
    votes = cuda.ballot_sync(ALL, value > 0)
    if lane == 0:
        counts[warp] = cuda.popc(votes)
    cuda.syncthreads()
    place, total = cuda.popc(votes & ((2 << lane) - 1)), 0
    for w in range(cuda.blockDim.x // 32):
        if w < warp:
            place += counts[w]
        total += counts[w]
    if value > 0:
        out[place] = value
    if total <= t and t < x.size:
        out[t] = 0


@cuda.jit
def own_warp_counted_too(x, out):
    """wrong head: before the first one"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    value = x[t] if t < x.size else 0.0
    votes = cuda.ballot_sync(ALL, value > 0)
    if lane == 0:
        counts[warp] = cuda.popc(votes)
    cuda.syncthreads()
    place, total = cuda.popc(votes & ((1 << lane) - 1)), 0
    for w in range(cuda.blockDim.x // 32):
        if w <= warp:
            place += counts[w]
        total += counts[w]
    if value > 0:
        out[place] = value
    if total <= t and t < x.size:
        out[t] = 0


@cuda.jit
def no_zeros(x, out):
    """wrong tail: Who stores the zeros there"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    value = x[t] if t < x.size else 0.0
    votes = cuda.ballot_sync(ALL, value > 0)
    if lane == 0:
        counts[warp] = cuda.popc(votes)
    cuda.syncthreads()
    place, total = cuda.popc(votes & ((1 << lane) - 1)), 0
    for w in range(cuda.blockDim.x // 32):
        if w < warp:
            place += counts[w]
        total += counts[w]
    if value > 0:
        out[place] = value


@cuda.jit
def zeros_where_they_were(x, out):
    """wrong some-unwritten: get a number, those from there on a 0"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    value = x[t] if t < x.size else 0.0
    votes = cuda.ballot_sync(ALL, value > 0)
    if lane == 0:
        counts[warp] = cuda.popc(votes)
    cuda.syncthreads()
    place, total = cuda.popc(votes & ((1 << lane) - 1)), 0
    for w in range(cuda.blockDim.x // 32):
        if w < warp:
            place += counts[w]
        total += counts[w]
    if value > 0:
        out[place] = value
    elif t < x.size:
        out[t] = 0


@cuda.jit
def stayed_where_they_were(x, out):
    """wrong suspect: They shall move together"""
    t = cuda.threadIdx.x
    if t < x.size:
        out[t] = max(x[t], 0)


@cuda.jit
def the_lanes_above(x, out):
    """wrong suspect: The order is turned round"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    value = x[t] if t < x.size else 0.0
    votes = cuda.ballot_sync(ALL, value > 0)
    if lane == 0:
        counts[warp] = cuda.popc(votes)
    cuda.syncthreads()
    place, total = cuda.popc((votes & ALL) >> lane >> 1), 0
    for w in range(cuda.blockDim.x // 32):
        if w < warp:
            place += counts[w]
        total += counts[w]
    if value > 0:
        out[place] = value
    if total <= t and t < x.size:
        out[t] = 0


@cuda.jit
def no_guard(x, out):
    """wrong out-of-bounds: it votes, and says no"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    value = x[t]
    votes = cuda.ballot_sync(ALL, value > 0)
    if lane == 0:
        counts[warp] = cuda.popc(votes)
    cuda.syncthreads()
    place, total = cuda.popc(votes & ((1 << lane) - 1)), 0
    for w in range(cuda.blockDim.x // 32):
        if w < warp:
            place += counts[w]
        total += counts[w]
    if value > 0:
        out[place] = value
    if total <= t and t < x.size:
        out[t] = 0


@cuda.jit
def the_vote_under_the_guard(x, out):
    """wrong divergent-barrier: Votes, too, stand outside"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    value = 0.0
    votes = 0
    if t < x.size:
        value = x[t]
        votes = cuda.ballot_sync(ALL, value > 0)
    if lane == 0:
        counts[warp] = cuda.popc(votes)
    cuda.syncthreads()
    place, total = cuda.popc(votes & ((1 << lane) - 1)), 0
    for w in range(cuda.blockDim.x // 32):
        if w < warp:
            place += counts[w]
        total += counts[w]
    if value > 0:
        out[place] = value
    if total <= t and t < x.size:
        out[t] = 0


@cuda.jit
def gone_early(x, out):
    """wrong barrier-after-exit: Votes, too, stand outside"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    if t >= x.size:
        return
    value = x[t]
    votes = cuda.ballot_sync(ALL, value > 0)
    if lane == 0:
        counts[warp] = cuda.popc(votes)
    cuda.syncthreads()
    place, total = cuda.popc(votes & ((1 << lane) - 1)), 0
    for w in range(cuda.blockDim.x // 32):
        if w < warp:
            place += counts[w]
        total += counts[w]
    if value > 0:
        out[place] = value
    if total <= t and t < x.size:
        out[t] = 0


@cuda.jit
def eight_warps_always(x, out):
    """wrong uninitialised-shared: how many has this one"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    value = x[t] if t < x.size else 0.0
    votes = cuda.ballot_sync(ALL, value > 0)
    if lane == 0:
        counts[warp] = cuda.popc(votes)
    cuda.syncthreads()
    place, total = cuda.popc(votes & ((1 << lane) - 1)), 0
    for w in range(8):
        if w < warp:
            place += counts[w]
        total += counts[w]
    if value > 0:
        out[place] = value
    if total <= t and t < x.size:
        out[t] = 0


@cuda.jit
def what_is_negative(x, out):
    """wrong suspect: The negative numbers were kept"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    value = x[t] if t < x.size else 0.0
    votes = cuda.ballot_sync(ALL, value < 0)
    if lane == 0:
        counts[warp] = cuda.popc(votes)
    cuda.syncthreads()
    place, total = cuda.popc(votes & ((1 << lane) - 1)), 0
    for w in range(cuda.blockDim.x // 32):
        if w < warp:
            place += counts[w]
        total += counts[w]
    if value < 0:
        out[place] = value
    if total <= t and t < x.size:
        out[t] = 0


@cuda.jit
def any_for_ballot(x, out):
    """wrong wrong-value: which bits of the votes count"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    value = x[t] if t < x.size else 0.0
    votes = cuda.any_sync(ALL, value > 0)
    if lane == 0:
        counts[warp] = cuda.popc(votes)
    cuda.syncthreads()
    place, total = cuda.popc(votes & ((1 << lane) - 1)), 0
    for w in range(cuda.blockDim.x // 32):
        if w < warp:
            place += counts[w]
        total += counts[w]
    if value > 0:
        out[place] = value
    if total <= t and t < x.size:
        out[t] = 0


@cuda.jit
def zeros_nowhere(x, out):
    """wrong tail: How many are kept in all"""
    counts = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    value = x[t] if t < x.size else 0.0
    votes = cuda.ballot_sync(ALL, value > 0)
    if lane == 0:
        counts[warp] = cuda.popc(votes)
    cuda.syncthreads()
    place, total = cuda.popc(votes & ((1 << lane) - 1)), 0
    for w in range(cuda.blockDim.x // 32):
        if w < warp:
            place += counts[w]
    total = x.size
    if value > 0:
        out[place] = value
    if total <= t and t < x.size:
        out[t] = 0
