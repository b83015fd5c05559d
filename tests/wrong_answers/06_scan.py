"""Answers to 06-scan."""

import numpy as np
from answers import MASTER, cut, edit, replace

from dlkernels import cuda

ALL = 0xFFFFFFFF


@cuda.jit
def all_the_same_loop(x, out):
    """right"""
    sums = cuda.shared.array(8, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    total = x[row, t] if t < x.shape[1] else np.float32(0)
    d = 1
    while d < 32:
        before = cuda.shfl_up_sync(ALL, total, d)
        total += before if lane >= d else 0
        d *= 2
    if lane == 31:
        sums[warp] = total
    cuda.syncthreads()
    for w in range(8):
        if w < warp:
            total += sums[w]
    if t < x.shape[1]:
        out[row, t] = total


@cuda.jit
def the_warps_scanned_by_shuffles(x, out):
    """right"""
    sums = cuda.shared.array(8, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    total = x[row, t] if t < x.shape[1] else np.float32(0)
    for d in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, d)
        if lane >= d:
            total += before
    if lane == 31:
        sums[warp] = total
    cuda.syncthreads()
    others = sums[lane % 8]
    for d in (1, 2, 4):
        before = cuda.shfl_up_sync(ALL, others, d)
        if lane >= d:
            others += before
    mine = cuda.shfl_sync(ALL, others, max(warp - 1, 0))
    if warp > 0:
        total += mine
    if t < x.shape[1]:
        out[row, t] = total


@cuda.jit
def hillis_and_steele_in_shared_memory(x, out):
    """over budget over-budget: In a warp shuffles hand on the sums"""
    s = cuda.shared.array(256, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    s[t] = x[row, t] if t < x.shape[1] else 0
    d = 1
    while d < 256:
        cuda.syncthreads()
        before = s[t - d] if t >= d else np.float32(0)
        cuda.syncthreads()
        s[t] += before
        d *= 2
    if t < x.shape[1]:
        out[row, t] = s[t]


@cuda.jit
def everybody_adds_up(x, out):
    """over budget over-budget: x is loaded more often than once"""
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    if t < x.shape[1]:
        total = np.float32(0)
        for k in range(t + 1):
            total += x[row, k]
        out[row, t] = total


@cuda.jit
def a_warp_begins_anew(x, out):
    """wrong suspect: What has thread 32 to add"""
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    lane = t % 32
    total = x[row, t] if t < x.shape[1] else np.float32(0)
    for d in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, d)
        if lane >= d:
            total += before
    if t < x.shape[1]:
        out[row, t] = total


eight_warps = edit(MASTER, "right", replace("WARPS", "8"))
own_number_again = edit(
    eight_warps, "wrong wrong-value: Who adds what", replace("if lane >= d:\n    total += before", "total += before")
)
own_number_again_and_one_warp = edit(
    a_warp_begins_anew,
    "wrong suspect: Which lanes have a partner",
    cut("lane = t % 32"),
    replace("if lane >= d:\n    total += before", "total += before"),
)
downwards = edit(
    a_warp_begins_anew,
    "wrong suspect: In each warp the sums run from the end",
    replace("shfl_up_sync", "shfl_down_sync"),
    replace("lane >= d", "lane + d < 32"),
)
shuffle_under_the_if = edit(
    eight_warps,
    "wrong divergent-warp-operation: Shuffles, too, stand outside",
    cut("before = cuda.shfl_up_sync(ALL, total, d)"),
    replace("total += before", "total += cuda.shfl_up_sync(ALL, total, d)"),
)
no_barrier = edit(eight_warps, "wrong race: no barrier lies between the two", cut("cuda.syncthreads()"))
the_first_lane_stores = edit(
    eight_warps, "wrong wrong-value: of all their 32 lanes", replace("lane == 31", "lane == 0")
)
every_lane_stores = edit(
    eight_warps,
    "wrong race: One lane of a warp has its whole sum",
    replace("if lane == 31:\n    sums[warp] = total", "sums[warp] = total"),
)
its_own_warp_too = edit(
    eight_warps, "wrong suspect: Each warp added its own sum", replace("range(warp)", "range(warp + 1)")
)
only_the_warp_before = edit(
    eight_warps,
    "wrong suspect: the sum of one warp, the one before it",
    replace("for w in range(warp):\n    total += sums[w]", "if warp > 0:\n    total += sums[warp - 1]"),
)
four_rounds = edit(
    eight_warps,
    "wrong wrong-value: Work out lanes 0 to 3",
    replace("for d in (1, 2, 4, 8, 16):", "for d in (1, 2, 4, 8):"),
)
exclusive = edit(
    eight_warps,
    "wrong suspect: The number itself belongs to it",
    replace("total = x[row, t]", "own = total = x[row, t]"),
    replace("out[row, t] = total", "out[row, t] = total - own"),
)
no_guard = edit(
    eight_warps,
    "wrong out-of-bounds: it takes part with 0",
    replace("total = x[row, t] if t < x.shape[1] else np.float32(0)", "total = x[row, t]"),
)
gone_early = edit(
    eight_warps,
    "wrong barrier-after-exit: Shuffles, too, stand outside",
    replace(
        "total = x[row, t] if t < x.shape[1] else np.float32(0)",
        """
        if t >= x.shape[1]:
            return
        total = x[row, t]
        """,
    ),
)
always_row_0 = edit(eight_warps, "wrong one-block: row is the one of its number", replace("cuda.blockIdx.x", "0"))
sums_of_row_0 = edit(eight_warps, "wrong suspect: Which row is a block's own", replace("x[row, t]", "x[0, t]"))
