"""Answers to 06-keep."""

import numpy as np
from answers import MASTER, cut, edit, insert, replace

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


eight_warps = edit(
    MASTER,
    "right",
    replace("WARPS", "8"),
    replace("0xFFFFFFFF", "ALL"),
    replace(
        "place = cuda.popc(votes & ((1 << lane) - 1))\ntotal = 0",
        "place, total = cuda.popc(votes & ((1 << lane) - 1)), 0",
    ),
)
zeros_by_those_that_go = edit(
    eight_warps,
    "right",
    insert("goes = t - place  # numbers before this one that are not kept", before="if value > 0:"),
    replace("if total <= t and t", "elif t"),
    replace("out[t] = 0", "out[total + goes] = 0"),
)
lanes_above_turned_round = edit(
    eight_warps, "right", replace("(votes & ((1 << lane) - 1))", "(votes << (32 - lane) & ALL) if lane > 0 else 0")
)


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


no_barrier = edit(
    eight_warps, "wrong race: Between storing and reading it a barrier has to come", cut("cuda.syncthreads()")
)
each_warp_begins_at_0 = edit(
    eight_warps, "wrong suspect: Every warp began at place 0 again", cut("if w < warp:\n    place += counts[w]")
)
itself_counted_too = edit(
    eight_warps, "wrong head: How many positive numbers come before the first one", replace("1 << lane", "2 << lane")
)
own_warp_counted_too = edit(eight_warps, "wrong head: before the first one", replace("w < warp", "w <= warp"))
no_zeros = edit(
    eight_warps, "wrong tail: Who stores the zeros there", cut("if total <= t and t < x.size:\n    out[t] = 0")
)
zeros_where_they_were = edit(
    eight_warps, "wrong some-unwritten: get a number, those from there on a 0", replace("if total <= t and t", "elif t")
)


@cuda.jit
def stayed_where_they_were(x, out):
    """wrong suspect: They shall move together"""
    t = cuda.threadIdx.x
    if t < x.size:
        out[t] = max(x[t], 0)


the_lanes_above = edit(
    eight_warps,
    "wrong suspect: The order is turned round",
    replace("votes & ((1 << lane) - 1)", "(votes & ALL) >> lane >> 1"),
)
no_guard = edit(
    eight_warps,
    "wrong out-of-bounds: it votes, and says no",
    replace("value = x[t] if t < x.size else 0.0", "value = x[t]"),
)


@cuda.jit
def the_vote_under_the_guard(x, out):
    """wrong divergent-warp-operation: Votes, too, stand outside"""
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


gone_early = edit(
    eight_warps,
    "wrong barrier-after-exit: Votes, too, stand outside",
    replace(
        "value = x[t] if t < x.size else 0.0",
        """
        if t >= x.size:
            return
        value = x[t]
        """,
    ),
)
eight_warps_always = edit(
    eight_warps, "wrong uninitialised-shared: how many has this one", replace("cuda.blockDim.x // 32", "8")
)
what_is_negative = edit(
    eight_warps,
    "wrong suspect: The negative numbers were kept",
    replace("(ALL, value > 0)", "(ALL, value < 0)"),
    replace("if value > 0:", "if value < 0:"),
)
any_for_ballot = edit(
    eight_warps, "wrong wrong-value: which bits of the votes count", replace("cuda.ballot_sync", "cuda.any_sync")
)


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
