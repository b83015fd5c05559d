"""Correct kernels that look like buggy ones: nothing may be found in them, in any order of threads."""

import numpy as np
from numba import float32, int32
from zoo import bins, cages, numbers, zeros

from dlkernels import cuda

CORRECT, _, fine, _ = cages()
WEIGHTS = np.arange(32, dtype=np.float32)


@fine(4, 32, numbers(100), numbers(100), zeros(100))
def guarded_vector_add(x, y, z):
    i = cuda.grid(1)
    if i < z.shape[0]:
        z[i] = x[i] + y[i]


@fine(2, 32, numbers(100), zeros(100))
def grid_stride_loop(x, y):
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        y[i] = 2 * x[i]


@fine(2, 128, numbers(256), zeros(2))
def reduction_by_halves(x, out):
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@fine(1, 64, numbers(64), zeros(1))
def reduction_last_warp_with_syncwarp(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    if t < 32:
        step = 32
        while step > 0:
            v = s[t + step] if t + step < 64 else float32(0)
            cuda.syncwarp()
            s[t] += v
            cuda.syncwarp()
            step //= 2
        if t == 0:
            out[0] = s[0]


@fine(1, 64, numbers(64), zeros(2))
def reduction_by_shuffles(x, out):
    t = cuda.threadIdx.x
    v = x[t]
    step = 16
    while step > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, step)
        step //= 2
    if t % 32 == 0:
        out[t // 32] = v


@fine(2, 64, numbers(128), zeros(1))
def reduction_with_atomic_at_the_end(x, out):
    s = cuda.shared.array(2, float32)
    t = cuda.threadIdx.x
    v = x[cuda.grid(1)]
    for step in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, step)
    if t % 32 == 0:
        s[t // 32] = v
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(out, 0, s[0] + s[1])


@fine((2, 2), (8, 8), numbers(16, 16), numbers(16, 16), zeros(16, 16))
def tiled_matmul(A, B, C):
    a, b = cuda.shared.array((8, 8), float32), cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for k in range(0, 16, 8):
        a[ty, tx] = A[row, k + tx]
        b[ty, tx] = B[k + ty, col]
        cuda.syncthreads()
        for j in range(8):
            acc += a[ty, j] * b[j, tx]
        cuda.syncthreads()
    C[row, col] = acc


@fine((2, 2), (8, 8), numbers(13, 11), numbers(11, 14), zeros(13, 14))
def tiled_matmul_ragged(A, B, C):
    a = cuda.shared.array((8, 8), float32)
    b = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for k in range(0, A.shape[1], 8):
        a[ty, tx] = A[row, k + tx] if row < A.shape[0] and k + tx < A.shape[1] else float32(0)
        b[ty, tx] = B[k + ty, col] if k + ty < B.shape[0] and col < B.shape[1] else float32(0)
        cuda.syncthreads()
        for j in range(8):
            acc += a[ty, j] * b[j, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc


@fine(1, 32, numbers(4, 32), numbers(4, 32), zeros(32))
def double_buffer_with_one_barrier(K, Q, out):
    """One barrier a turn is enough: the tile being stored is not the tile being read."""
    key = cuda.shared.array((2, 32), float32)
    t = cuda.threadIdx.x
    acc = float32(0)
    key[0, t] = K[0, t]
    cuda.syncthreads()
    for tile in range(4):
        if tile < 3:
            key[(tile + 1) % 2, t] = K[tile + 1, t]
        for j in range(32):
            acc += Q[tile, t] * key[tile % 2, j]
        cuda.syncthreads()
    out[t] = acc


@fine(1, 64, numbers(64), zeros(64))
def scan_with_two_buffers(x, y):
    s = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    s[0, t] = x[t]
    cuda.syncthreads()
    step, now = 1, 0
    while step < 64:
        s[1 - now, t] = s[now, t] + (s[now, t - step] if t >= step else float32(0))
        cuda.syncthreads()
        now = 1 - now
        step *= 2
    y[t] = s[now, t]


@fine(1, 64, numbers(64), zeros(64))
def scan_with_two_barriers(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 1
    while step < 64:
        v = s[t - step] if t >= step else float32(0)
        cuda.syncthreads()
        s[t] += v
        cuda.syncthreads()
        step *= 2
    y[t] = s[t]


@fine((2, 2), (16, 16), numbers(32, 32), zeros(32, 32))
def transpose_through_a_padded_tile(A, B):
    tile = cuda.shared.array((16, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    tile[ty, tx] = A[y, x]
    cuda.syncthreads()
    B[cuda.blockIdx.x * 16 + ty, cuda.blockIdx.y * 16 + tx] = tile[tx, ty]


@fine(2, 64, zeros(8, dtype="int32"), bins(128, 8))
def histogram_in_shared_memory(h, x):
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        s[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, x[cuda.grid(1)], 1)
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(h, t, s[t])


@fine(4, 32, zeros(8, dtype="int32"), bins(128, 8))
def histogram_in_global_memory(h, x):
    cuda.atomic.add(h, x[cuda.grid(1)], 1)


@fine(1, 64, numbers(64), zeros(64))
def one_thread_stores_all_read_after_barrier(x, y):
    s = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = x[0]
    cuda.syncthreads()
    y[t] = s[0]


@fine(2, 64, numbers(128), zeros(128))
def barrier_in_a_branch_of_the_whole_block(x, y):
    s = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if cuda.blockIdx.x == 0:
        s[t] = x[i]
        cuda.syncthreads()
        y[i] = s[63 - t]
    else:
        y[i] = x[i]


@fine(2, 64, numbers(100), zeros(100), 100)
def guard_without_return(x, y, n):
    s = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < n else float32(0)
    cuda.syncthreads()
    if i < n:
        y[i] = s[63 - t]


@fine(2, 64, numbers(128), zeros(128), 64)
def whole_block_returns_before_the_barrier(x, y, n):
    s = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if cuda.blockIdx.x * 64 >= n:
        return
    s[t] = x[i]
    cuda.syncthreads()
    y[i] = s[63 - t]


@fine(1, 64, zeros(64, dtype="uint8"))
def neighbours_share_a_word(y):
    t = cuda.threadIdx.x
    y[t] = t  # four threads in one 4-byte word, but different bytes


@fine(2, 32, numbers(64), zeros(64), zeros(64))
def blocks_use_their_own_scratch(x, scratch, y):
    i = cuda.grid(1)
    scratch[i] = x[i]
    cuda.syncthreads()
    y[i] = scratch[cuda.blockIdx.x * 32 + 31 - cuda.threadIdx.x]


@fine(2, 32, numbers(64), zeros(64))
def grid_sync_between_phases(x, y):
    i = cuda.grid(1)
    grid = cuda.cg.this_grid()
    y[i] = x[i]
    grid.sync()
    x[i] = y[63 - i]


@fine(1, 64, numbers(64), zeros(1), zeros(64))
def atomic_then_barrier_then_plain(x, total, y):
    s = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, 0, x[t])
    cuda.syncthreads()
    y[t] = s[0]


@fine(4, 32, numbers(128), zeros(128))
def stencil_into_another_array(x, y):
    i = cuda.grid(1)
    if 0 < i < 127:
        y[i] = (x[i - 1] + x[i + 1]) / 2


@fine(2, 32, numbers(64), zeros(64))
def halo_loaded_and_padded(x, y):
    s = cuda.shared.array(34, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t + 1] = x[i]
    if t == 0:
        s[0] = x[i - 1] if i > 0 else float32(0)
    if t == 31:
        s[33] = x[i + 1] if i + 1 < x.shape[0] else float32(0)
    cuda.syncthreads()
    y[i] = s[t] + s[t + 1] + s[t + 2]


@fine(1, 32, numbers(32), zeros(32))
def every_thread_updates_its_own_element(x, y):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    for _ in range(3):
        s[t] += x[t]
    y[t] = s[t]


@fine(1, 64, numbers(64), zeros(64), zeros(64))
def shared_array_used_again_after_a_barrier(x, y, z):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    y[t] = s[63 - t]
    cuda.syncthreads()
    s[t] = y[t]
    cuda.syncthreads()
    z[t] = s[(t + 1) % 64]


@fine(1, 32, numbers(32), zeros(32))
def divergent_if_inside_a_loop(x, y):
    t = cuda.threadIdx.x
    acc = float32(0)
    for j in range(4):
        if (t + j) % 2 == 0:
            acc += x[(t + j) % 32]
    y[t] = acc


@fine(1, 32, numbers(32), zeros(32))
def shuffle_with_the_mask_of_a_ballot(x, y):
    t = cuda.threadIdx.x
    mask = cuda.ballot_sync(0xFFFFFFFF, t < 20)
    if t < 20:
        y[t] = cuda.shfl_sync(mask, x[t], 3)


@fine(1, 128, numbers(128), zeros(128))
def warps_work_on_rows_of_their_own(x, y):
    s = cuda.shared.array((4, 32), float32)
    t = cuda.threadIdx.x
    w, lane = t // 32, t % 32
    s[w, lane] = x[t]
    cuda.syncwarp()
    y[t] = s[w, 31 - lane]


@fine(1, 48, numbers(48), zeros(48))
def last_warp_is_not_full_and_waits_for_whom_there_is(x, y):
    s = cuda.shared.array(48, float32)
    t = cuda.threadIdx.x
    if t == 47:
        return
    s[t] = x[t]
    cuda.syncwarp()  # waits for no lane that has returned or never was
    y[t] = s[t ^ 1] if t != 46 else float32(0)


@fine(1, 32, numbers(32), zeros(32))
def local_array_of_each_thread(x, y):
    acc = cuda.local.array(4, float32)
    t = cuda.threadIdx.x
    for k in range(4):
        acc[k] = x[(t + k) % 32]
    y[t] = acc[0] + acc[1] + acc[2] + acc[3]


@fine(1, 32, zeros(32))
def constant_array_read_by_all(y):
    w = cuda.const.array_like(WEIGHTS)
    t = cuda.threadIdx.x
    y[t] = w[0] + w[t]


@fine(1, 32, numbers(4, 32), numbers(4, 32), zeros(32))
def flash_loop_with_both_barriers(K, Q, out):
    key = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    acc = float32(0)
    for tile in range(4):
        key[t] = K[tile, t]
        cuda.syncthreads()
        for j in range(32):
            acc += Q[tile, t] * key[j]
        cuda.syncthreads()
    out[t] = acc


@fine(1, 64, numbers(64), zeros(64), shared_bytes=512)
def dynamic_shared_cut_in_two(x, y):
    whole = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    whole[t] = x[t]
    whole[64 + t] = 2 * x[t]
    cuda.syncthreads()
    y[t] = whole[63 - t] + whole[127 - t]


@fine(4, 32, numbers(128), zeros(4), zeros(1, dtype="int32"), zeros(1))
def last_block_adds_the_parts(x, parts, counter, out):
    """A reduction in one launch: a fence and an atomic counter order the parts before the block that counts last."""
    s = cuda.shared.array(32, float32)
    last = cuda.shared.array(1, int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    if t == 0:
        part = float32(0)
        for k in range(32):
            part += s[k]
        parts[b] = part
        cuda.threadfence()
        last[0] = cuda.atomic.add(counter, 0, 1)
    cuda.syncthreads()
    if last[0] == 3 and t == 0:
        for k in range(4):
            out[0] += parts[k]
        counter[0] = 0


@fine(1, 32, numbers(32), zeros(32))
def halves_of_a_warp_mind_their_own(x, y):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    if t < 16:
        cuda.syncwarp(0x0000FFFF)
        y[t] = s[15 - t]
    else:
        cuda.syncwarp(0xFFFF0000)
        y[t] = s[47 - t]


@fine(1, 32, numbers(32), zeros(32))
def a_half_waits_again_within_the_whole(x, y):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    if t < 16:
        cuda.syncwarp(0x0000FFFF)
    cuda.syncwarp()
    y[t] = s[31 - t]


@fine(1, 48, numbers(48), zeros(48))
def last_warp_is_not_full(x, y):
    """A mask may name lanes that are not there: only those that are must come."""
    t = cuda.threadIdx.x
    y[t] = cuda.shfl_xor_sync(0xFFFFFFFF, x[t], 1)


@fine(1, 32, numbers(32), zeros(32), zeros(32, dtype="int32"))
def broadcast_and_vote_after_some_lanes_left(x, y, votes):
    t = cuda.threadIdx.x
    if t >= 20:
        return
    y[t] = cuda.shfl_sync(0xFFFFFFFF, x[t], 3)
    votes[t] = cuda.ballot_sync(0xFFFFFFFF, x[t] > 6)


@fine(1, 32, numbers(32), zeros(1))
def half_a_warp_adds_and_the_upper_lanes_add_nonsense(x, out):
    """Lanes 8 to 15 get values of lanes that take no part; nobody uses what they make of them."""
    t = cuda.threadIdx.x
    if t < 16:
        v = x[t]
        for step in (8, 4, 2, 1):
            v += cuda.shfl_down_sync(0x0000FFFF, v, step)
        if t == 0:
            out[0] = v


@cuda.jit(device=True)
def stage(s, v):
    cuda.syncthreads()
    s[cuda.threadIdx.x] = v
    cuda.syncthreads()


@fine(1, 64, numbers(64), zeros(64))
def barriers_of_a_device_function_in_loops_and_branches_of_all(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    v = x[t]
    for k in range(3):
        stage(s, v)
        v += s[63 - t]
        if k == 1:
            stage(s, v)
            v += s[t ^ 1]
    y[t] = v
