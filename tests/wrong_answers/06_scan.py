"""Answers to 06-scan."""

import numpy as np

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


@cuda.jit
def own_number_again(x, out):
    """wrong wrong-value: Who adds what"""
    sums = cuda.shared.array(8, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    total = x[row, t] if t < x.shape[1] else np.float32(0)
    for d in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, d)
        total += before
    if lane == 31:
        sums[warp] = total
    cuda.syncthreads()
    for w in range(warp):
        total += sums[w]
    if t < x.shape[1]:
        out[row, t] = total


@cuda.jit
def own_number_again_and_one_warp(x, out):
    """wrong suspect: Which lanes have a partner"""
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    total = x[row, t] if t < x.shape[1] else np.float32(0)
    for d in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, d)
        total += before
    if t < x.shape[1]:
        out[row, t] = total


@cuda.jit
def downwards(x, out):
    """wrong suspect: In each warp the sums run from the end"""
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    lane = t % 32
    total = x[row, t] if t < x.shape[1] else np.float32(0)
    for d in (1, 2, 4, 8, 16):
        before = cuda.shfl_down_sync(ALL, total, d)
        if lane + d < 32:
            total += before
    if t < x.shape[1]:
        out[row, t] = total


@cuda.jit
def shuffle_under_the_if(x, out):
    """wrong divergent-barrier: Shuffles, too, stand outside"""
    sums = cuda.shared.array(8, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    total = x[row, t] if t < x.shape[1] else np.float32(0)
    for d in (1, 2, 4, 8, 16):
        if lane >= d:
            total += cuda.shfl_up_sync(ALL, total, d)
    if lane == 31:
        sums[warp] = total
    cuda.syncthreads()
    for w in range(warp):
        total += sums[w]
    if t < x.shape[1]:
        out[row, t] = total


@cuda.jit
def no_barrier(x, out):
    """wrong race: no barrier lies between the two"""
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
    for w in range(warp):
        total += sums[w]
    if t < x.shape[1]:
        out[row, t] = total


@cuda.jit
def the_first_lane_stores(x, out):
    """wrong wrong-value: of all their 32 lanes"""
    sums = cuda.shared.array(8, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    total = x[row, t] if t < x.shape[1] else np.float32(0)
    for d in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, d)
        if lane >= d:
            total += before
    if lane == 0:
        sums[warp] = total
    cuda.syncthreads()
    for w in range(warp):
        total += sums[w]
    if t < x.shape[1]:
        out[row, t] = total


@cuda.jit
def every_lane_stores(x, out):
    """wrong race: One lane of a warp has its whole sum"""
    sums = cuda.shared.array(8, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    total = x[row, t] if t < x.shape[1] else np.float32(0)
    for d in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, d)
        if lane >= d:
            total += before
    sums[warp] = total
    cuda.syncthreads()
    for w in range(warp):
        total += sums[w]
    if t < x.shape[1]:
        out[row, t] = total


@cuda.jit
def its_own_warp_too(x, out):
    """wrong wrong-value: Then lane 0 of warp 2"""
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
    for w in range(warp + 1):
        total += sums[w]
    if t < x.shape[1]:
        out[row, t] = total


@cuda.jit
def only_the_warp_before(x, out):
    """wrong wrong-value: it needs the sums of the warps 0 and 1"""
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
    if warp > 0:
        total += sums[warp - 1]
    if t < x.shape[1]:
        out[row, t] = total


@cuda.jit
def four_rounds(x, out):
    """wrong wrong-value: Work out lanes 0 to 3"""
    sums = cuda.shared.array(8, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    total = x[row, t] if t < x.shape[1] else np.float32(0)
    for d in (1, 2, 4, 8):
        before = cuda.shfl_up_sync(ALL, total, d)
        if lane >= d:
            total += before
    if lane == 31:
        sums[warp] = total
    cuda.syncthreads()
    for w in range(warp):
        total += sums[w]
    if t < x.shape[1]:
        out[row, t] = total


@cuda.jit
def exclusive(x, out):
    """wrong suspect: The number itself belongs to it"""
    sums = cuda.shared.array(8, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    own = total = x[row, t] if t < x.shape[1] else np.float32(0)
    for d in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, d)
        if lane >= d:
            total += before
    if lane == 31:
        sums[warp] = total
    cuda.syncthreads()
    for w in range(warp):
        total += sums[w]
    if t < x.shape[1]:
        out[row, t] = total - own


@cuda.jit
def no_guard(x, out):
    """wrong out-of-bounds: it takes part with 0"""
    sums = cuda.shared.array(8, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    total = x[row, t]
    for d in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, d)
        if lane >= d:
            total += before
    if lane == 31:
        sums[warp] = total
    cuda.syncthreads()
    for w in range(warp):
        total += sums[w]
    if t < x.shape[1]:
        out[row, t] = total


@cuda.jit
def gone_early(x, out):
    """wrong barrier-after-exit: Shuffles, too, stand outside"""
    sums = cuda.shared.array(8, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    if t >= x.shape[1]:
        return
    total = x[row, t]
    for d in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, d)
        if lane >= d:
            total += before
    if lane == 31:
        sums[warp] = total
    cuda.syncthreads()
    for w in range(warp):
        total += sums[w]
    if t < x.shape[1]:
        out[row, t] = total


@cuda.jit
def always_row_0(x, out):
    """wrong one-block: row is the one of its number"""
    sums = cuda.shared.array(8, np.float32)
    row, t = 0, cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    total = x[row, t] if t < x.shape[1] else np.float32(0)
    for d in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, d)
        if lane >= d:
            total += before
    if lane == 31:
        sums[warp] = total
    cuda.syncthreads()
    for w in range(warp):
        total += sums[w]
    if t < x.shape[1]:
        out[row, t] = total


@cuda.jit
def sums_of_row_0(x, out):
    """wrong suspect: Which row is a block's own"""
    sums = cuda.shared.array(8, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    total = x[0, t] if t < x.shape[1] else np.float32(0)
    for d in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, d)
        if lane >= d:
            total += before
    if lane == 31:
        sums[warp] = total
    cuda.syncthreads()
    for w in range(warp):
        total += sums[w]
    if t < x.shape[1]:
        out[row, t] = total
