"""What the chapters' kernels are made of: each pattern right, and with one slip."""

import math

import numpy as np
from numba import float32, int32
from zoo import bins, cages, ints, numbers, zeros

from dlkernels import cuda

CORRECT, BUGGY, fine, bug = cages()
ALL = 0xFFFFFFFF
POINT = np.dtype([("re", np.float32), ("im", np.float32)])


# -- a halo in two dimensions ------------------------------------------------------------------------------------------


@fine((2, 2), (8, 8), numbers(16, 16), zeros(16, 16))
def plane_with_halo(x, y):
    s = cuda.shared.array((10, 10), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    c0, r0 = cuda.blockIdx.x * 8 - 1, cuda.blockIdx.y * 8 - 1
    k = ty * 8 + tx
    while k < 100:
        r, c = r0 + k // 10, c0 + k % 10
        s[k // 10, k % 10] = x[r, c] if 0 <= r < 16 and 0 <= c < 16 else 0
        k += 64
    cuda.syncthreads()
    y[r0 + 1 + ty, c0 + 1 + tx] = s[ty, tx + 1] + s[ty + 2, tx + 1] + s[ty + 1, tx] + s[ty + 1, tx + 2]


@bug("uninitialised-shared", (2, 2), (8, 8), numbers(16, 16), zeros(16, 16))
def plane_whose_halo_is_loaded_once(x, y):
    s = cuda.shared.array((10, 10), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    c0, r0 = cuda.blockIdx.x * 8 - 1, cuda.blockIdx.y * 8 - 1
    k = ty * 8 + tx
    r, c = r0 + k // 10, c0 + k % 10
    s[k // 10, k % 10] = x[r, c] if 0 <= r < 16 and 0 <= c < 16 else 0
    cuda.syncthreads()
    y[r0 + 1 + ty, c0 + 1 + tx] = s[ty, tx + 1] + s[ty + 2, tx + 1]  # BUG


# -- scans -------------------------------------------------------------------------------------------------------------


@fine(1, 128, numbers(128), zeros(128))
def scan_of_warps_then_of_their_sums(x, y):
    sums = cuda.shared.array(4, float32)
    t = cuda.threadIdx.x
    lane, w = t % 32, t // 32
    v = x[t]
    d = 1
    while d < 32:
        other = cuda.shfl_up_sync(ALL, v, d)
        if lane >= d:
            v += other
        d *= 2
    if lane == 31:
        sums[w] = v
    cuda.syncthreads()
    for k in range(w):
        v += sums[k]
    y[t] = v


@bug("race", 1, 128, numbers(128), zeros(128))
def scan_of_warps_without_waiting_for_their_sums(x, y):
    sums = cuda.shared.array(4, float32)
    t = cuda.threadIdx.x
    lane, w = t % 32, t // 32
    v = x[t]
    d = 1
    while d < 32:
        other = cuda.shfl_up_sync(ALL, v, d)
        if lane >= d:
            v += other
        d *= 2
    if lane == 31:
        sums[w] = v  # BUG
    for k in range(w):
        v += sums[k]  # BUG
    y[t] = v


@fine(4, 32, numbers(128), zeros(128), zeros(4), ints(4))
def look_back_over_blocks(x, y, upto, flag):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    s = cuda.shared.array(1, float32)
    v = x[b * 32 + t]
    d = 1
    while d < 32:
        other = cuda.shfl_up_sync(ALL, v, d)
        if t >= d:
            v += other
        d *= 2
    if t == 31:
        before = float32(0)
        if b > 0:
            while cuda.atomic.add(flag, b - 1, 0) == 0:
                pass
            cuda.threadfence()
            before = upto[b - 1]
        upto[b] = before + v
        cuda.threadfence()
        cuda.atomic.exch(flag, b, 1)
        s[0] = before
    cuda.syncthreads()
    y[b * 32 + t] = v + s[0]


@bug("race", 4, 32, numbers(4), zeros(4), zeros(4), ints(4))
def look_back_with_the_flag_set_first(x, y, upto, flag):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        before = float32(0)
        if b > 0:
            while cuda.atomic.add(flag, b - 1, 0) == 0:
                pass
            cuda.threadfence()
            before = upto[b - 1]  # BUG
        cuda.atomic.exch(flag, b, 1)
        cuda.threadfence()
        upto[b] = before + x[b]  # BUG
        y[b] = before


# -- split-K -----------------------------------------------------------------------------------------------------------


@fine(4, 32, numbers(128), zeros(4, 32), ints(1), zeros(32))
def split_sum_ended_by_the_last(x, part, count, out):
    last = cuda.shared.array(1, int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    part[b, t] = x[b * 32 + t]
    cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        last[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0]:
        cuda.threadfence()
        total = float32(0)
        for k in range(4):
            total += part[k, t]
        out[t] = total


@bug("race", 4, 32, numbers(128), zeros(4, 32), ints(1), zeros(32))
def split_sum_without_the_barrier_before_the_count(x, part, count, out):
    last = cuda.shared.array(1, int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    part[b, t] = x[b * 32 + t]  # BUG
    cuda.threadfence()
    if t == 0:
        last[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0]:
        cuda.threadfence()
        total = float32(0)
        for k in range(4):
            total += part[k, t]  # BUG
        out[t] = total


@fine(4, 32, numbers(128), zeros(32))
def split_sum_added_atomically(x, out):
    t = cuda.threadIdx.x
    cuda.atomic.add(out, t, x[cuda.blockIdx.x * 32 + t])


@bug("race", 4, 32, numbers(128), zeros(32))
def split_sum_added_plainly(x, out):
    t = cuda.threadIdx.x
    out[t] += x[cuda.blockIdx.x * 32 + t]  # BUG


# -- tickets -----------------------------------------------------------------------------------------------------------


@fine(3, 32, numbers(320), zeros(320), ints(1))
def rows_by_ticket(x, y, head):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    while True:
        if t == 0:
            s[0] = cuda.atomic.add(head, 0, 1)
        cuda.syncthreads()
        row = s[0]
        cuda.syncthreads()
        if row >= 10:
            break
        y[row * 32 + t] = 2 * x[row * 32 + t]


@bug("race", 3, 32, numbers(320), zeros(320), ints(1))
def rows_by_ticket_without_the_second_barrier(x, y, head):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    for _ in range(3):
        if t == 0:
            s[0] = cuda.atomic.add(head, 0, 1)  # BUG
        cuda.syncthreads()
        y[s[0] * 32 + t] = 2 * x[s[0] * 32 + t]  # BUG


# -- two buffers -------------------------------------------------------------------------------------------------------


@fine(1, 32, numbers(6, 32), zeros(32))
def next_tile_while_this_one_is_used(x, y):
    s = cuda.shared.array((2, 32), float32)
    t = cuda.threadIdx.x
    acc = float32(0)
    s[0, t] = x[0, t]
    for k in range(6):
        cuda.syncthreads()
        if k < 5:
            s[(k + 1) % 2, t] = x[k + 1, t]
        for j in range(32):
            acc += s[k % 2, j]
    y[t] = acc


@bug("race", 1, 32, numbers(6, 32), zeros(32))
def next_tile_into_the_same_buffer(x, y):
    s = cuda.shared.array((2, 32), float32)
    t = cuda.threadIdx.x
    acc = float32(0)
    s[0, t] = x[0, t]
    for k in range(6):
        cuda.syncthreads()
        if k < 5:
            s[k % 2, t] = x[k + 1, t]  # BUG
        for j in range(32):
            acc += s[k % 2, j]  # BUG
    y[t] = acc


# -- warps with different work -----------------------------------------------------------------------------------------


@fine(1, 64, numbers(4, 32), zeros(32))
def one_warp_loads_and_one_adds(x, y):
    s = cuda.shared.array((2, 32), float32)
    t = cuda.threadIdx.x
    w, lane = t // 32, t % 32
    acc = float32(0)
    for k in range(5):
        if w == 0 and k < 4:
            s[k % 2, lane] = x[k, lane]
        if w == 1 and k > 0:
            acc += s[(k - 1) % 2, 31 - lane]
        cuda.syncthreads()
    if w == 1:
        y[lane] = acc


@bug("race", 1, 64, numbers(4, 32), zeros(32))
def one_warp_adds_what_the_other_loads_now(x, y):
    s = cuda.shared.array((2, 32), float32)
    t = cuda.threadIdx.x
    w, lane = t // 32, t % 32
    acc = float32(0)
    for k in range(4):
        if w == 0:
            s[k % 2, lane] = x[k, lane]  # BUG
        if w == 1:
            acc += s[k % 2, 31 - lane]  # BUG
        cuda.syncthreads()
    if w == 1:
        y[lane] = acc


@fine(1, 64, numbers(8), zeros(8), shared_bytes=0)
def ring_of_two_places(x, y):
    """A warp fills, the other empties: how much is full, and how much was taken, are counters."""
    ring, full, taken = cuda.shared.array(2, float32), cuda.shared.array(1, int32), cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        full[0] = 0
        taken[0] = 0
    cuda.syncthreads()
    if t == 0:
        for k in range(8):
            while cuda.atomic.add(taken, 0, 0) < k - 1:
                pass
            cuda.threadfence_block()
            ring[k % 2] = x[k]
            cuda.threadfence_block()
            cuda.atomic.add(full, 0, 1)
    elif t == 32:
        for k in range(8):
            while cuda.atomic.add(full, 0, 0) < k + 1:
                pass
            cuda.threadfence_block()
            y[k] = ring[k % 2]
            cuda.threadfence_block()
            cuda.atomic.add(taken, 0, 1)


@bug("race", 1, 64, numbers(8), zeros(8))
def ring_that_is_not_waited_for(x, y):
    ring, full = cuda.shared.array(2, float32), cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        full[0] = 0
    cuda.syncthreads()
    if t == 0:
        for k in range(8):
            ring[k % 2] = x[k]  # BUG
            cuda.threadfence_block()
            cuda.atomic.add(full, 0, 1)
    elif t == 32:
        for k in range(8):
            while cuda.atomic.add(full, 0, 0) < k + 1:
                pass
            cuda.threadfence_block()
            y[k] = ring[k % 2]  # BUG


# -- transposes, histograms, segments ----------------------------------------------------------------------------------


@fine((2, 2), (16, 4), numbers(32, 32), zeros(32, 32))
def transpose_by_four_rows(x, y):
    s = cuda.shared.array((16, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    c, r = cuda.blockIdx.x * 16, cuda.blockIdx.y * 16
    for k in range(0, 16, 4):
        s[ty + k, tx] = x[r + ty + k, c + tx]
    cuda.syncthreads()
    for k in range(0, 16, 4):
        y[c + ty + k, r + tx] = s[tx, ty + k]


@bug("race", (2, 2), (16, 4), numbers(32, 32), zeros(32, 32))
def transpose_to_where_another_block_goes(x, y):
    s = cuda.shared.array((16, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    c, r = cuda.blockIdx.x * 16, cuda.blockIdx.y * 16
    for k in range(0, 16, 4):
        s[ty + k, tx] = x[r + ty + k, c + tx]
    cuda.syncthreads()
    for k in range(0, 16, 4):
        y[c + ty + k, tx] = s[tx, ty + k]  # BUG


@fine(2, 64, bins(128, 8), ints(8))
def bins_of_each_warp(x, h):
    s = cuda.shared.array((2, 8), int32)
    t = cuda.threadIdx.x
    if t < 16:
        s[t // 8, t % 8] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, (t // 32, x[cuda.grid(1)]), 1)
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(h, t, s[0, t] + s[1, t])


@bug("atomic-against-plain", 2, 64, bins(128, 8), ints(8))
def bins_of_each_warp_merged_too_early(x, h):
    s = cuda.shared.array((2, 8), int32)
    t = cuda.threadIdx.x
    if t < 16:
        s[t // 8, t % 8] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, (t // 32, x[cuda.grid(1)]), 1)  # BUG
    if t < 8:
        cuda.atomic.add(h, t, s[0, t] + s[1, t])  # BUG


@fine(1, 64, numbers(64), bins(64, 4), zeros(4))
def segments_by_atomics(x, segment, out):
    t = cuda.threadIdx.x
    cuda.atomic.add(out, segment[t], x[t])


@bug("out-of-bounds", 1, 64, numbers(64), bins(64, 5), zeros(4))
def segments_with_one_too_many(x, segment, out):
    t = cuda.threadIdx.x
    cuda.atomic.add(out, segment[t], x[t])  # BUG


@fine(2, 64, numbers(128), zeros(8))
def segments_of_sixteen_by_shuffles(x, out):
    i = cuda.grid(1)
    v = x[i]
    for d in (8, 4, 2, 1):
        v += cuda.shfl_xor_sync(ALL, v, d)
    if i % 16 == 0:
        out[i // 16] = v


@bug("race", 2, 64, numbers(128), zeros(8))
def segments_of_sixteen_stored_by_too_many(x, out):
    i = cuda.grid(1)
    v = x[i]
    for d in (4, 2, 1):
        v += cuda.shfl_xor_sync(ALL, v, d)
    if i % 8 == 0:
        out[i // 16] = v  # BUG


# -- softmax while it streams ------------------------------------------------------------------------------------------


@fine(2, 64, numbers(2, 256), zeros(2, 256))
def softmax_online(x, y):
    m, s = cuda.shared.array(64, float32), cuda.shared.array(64, float32)
    t, r = cuda.threadIdx.x, cuda.blockIdx.x
    top, total = float32(-math.inf), float32(0)
    for k in range(t, 256, 64):
        new = max(top, x[r, k])
        total = total * math.exp(top - new) + math.exp(x[r, k] - new)
        top = new
    m[t] = top
    s[t] = total
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            new = max(m[t], m[t + step])
            s[t] = s[t] * math.exp(m[t] - new) + s[t + step] * math.exp(m[t + step] - new)
            m[t] = new
        cuda.syncthreads()
        step //= 2
    for k in range(t, 256, 64):
        y[r, k] = math.exp(x[r, k] - m[0]) / s[0]


@bug("race", 2, 64, numbers(2, 256), zeros(2, 256))
def softmax_online_without_its_last_barrier(x, y):
    m, s = cuda.shared.array(64, float32), cuda.shared.array(64, float32)
    t, r = cuda.threadIdx.x, cuda.blockIdx.x
    m[t] = x[r, t]
    s[t] = 1
    step = 32
    while step > 0:
        cuda.syncthreads()
        if t < step:
            new = max(m[t], m[t + step])
            s[t] = s[t] * math.exp(m[t] - new) + s[t + step] * math.exp(m[t + step] - new)  # BUG
            m[t] = new  # BUG
        step //= 2
    for k in range(t, 256, 64):
        y[r, k] = math.exp(x[r, k] - m[0]) / s[0]  # BUG


# -- records and dynamic memory ----------------------------------------------------------------------------------------


@fine(1, 64, lambda: np.zeros(32, POINT), numbers(64))
def two_threads_on_two_fields(p, x):
    t = cuda.threadIdx.x
    if t % 2 == 0:
        p[t // 2]["re"] = x[t]
    else:
        p[t // 2]["im"] = x[t]


@bug("race", 1, 64, lambda: np.zeros(32, POINT), numbers(64))
def two_threads_on_one_field(p, x):
    t = cuda.threadIdx.x
    p[t // 2]["re"] = x[t]  # BUG


@fine(1, 64, numbers(64), zeros(64), 16, shared_bytes=512)
def dynamic_parts_by_an_argument(x, y, n):
    whole = cuda.shared.array(0, float32)
    a, b = whole[:64], whole[64 : 64 + n]
    t = cuda.threadIdx.x
    a[t] = x[t]
    if t < n:
        b[t] = 2 * x[t]
    cuda.syncthreads()
    y[t] = a[63 - t] + b[t % n]


@bug("race", 1, 64, numbers(64), zeros(64), 16, shared_bytes=512)
def dynamic_parts_that_overlap(x, y, n):
    whole = cuda.shared.array(0, float32)
    a, b = whole[:64], whole[48 : 48 + n]
    t = cuda.threadIdx.x
    a[t] = x[t]  # BUG
    if t < n:
        b[t] = 2 * x[t]  # BUG
    cuda.syncthreads()
    y[t] = a[63 - t] + b[t % n]


@fine(1, 40, numbers(40), zeros(1))
def sum_of_a_warp_and_a_bit(x, out):
    """The last warp has eight lanes; those that are not there are not asked."""
    s = cuda.shared.array(2, float32)
    t = cuda.threadIdx.x
    v = x[t]
    for d in (4, 2, 1):
        v += cuda.shfl_xor_sync(ALL, v, d)
    if t < 32:
        v += cuda.shfl_xor_sync(ALL, v, 8)
        v += cuda.shfl_xor_sync(ALL, v, 16)
    if t % 32 == 0:
        s[t // 32] = v
    cuda.syncthreads()
    if t == 0:
        out[0] = s[0] + s[1]


@bug("inactive-lane-read", 1, 40, numbers(40), zeros(1))
def sum_of_a_warp_and_a_bit_asks_everybody(x, out):
    s = cuda.shared.array(2, float32)
    t = cuda.threadIdx.x
    v = x[t]
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_xor_sync(ALL, v, d)  # BUG
    if t % 32 == 0:
        s[t // 32] = v
    cuda.syncthreads()
    if t == 0:
        out[0] = s[0] + s[1]


@fine(2, 32, numbers(64), zeros(64), ints(1))
def persistent_steps_with_a_barrier_each(x, h, n):
    i = cuda.grid(1)
    grid = cuda.cg.this_grid()
    for _ in range(3):
        v = x[i] + h[63 - i]
        grid.sync()
        h[i] = v
        grid.sync()


@bug("race", 2, 32, numbers(64), zeros(64), ints(1))
def persistent_steps_with_one_barrier_each(x, h, n):
    i = cuda.grid(1)
    grid = cuda.cg.this_grid()
    for _ in range(3):
        v = x[i] + h[63 - i]  # BUG
        grid.sync()
        h[i] = v  # BUG


# -- a lock, a norm ----------------------------------------------------------------------------------------------------


@fine(4, 32, numbers(4), zeros(2), ints(1))
def best_of_all_blocks_under_a_lock(x, best, lock):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        if x[b] > best[0]:
            best[0] = x[b]
            best[1] = b
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)


@bug("race", 4, 32, numbers(4), zeros(2), ints(1))
def best_of_all_blocks_looked_at_outside(x, best, lock):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0 and x[b] > best[0]:  # BUG
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        best[0] = x[b]  # BUG
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)


@fine(2, 64, numbers(2, 64), zeros(2, 64))
def row_divided_by_its_sum(x, y):
    s = cuda.shared.array(2, float32)
    t, r = cuda.threadIdx.x, cuda.blockIdx.x
    v = x[r, t]
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_xor_sync(ALL, v, d)
    if t % 32 == 0:
        s[t // 32] = v
    cuda.syncthreads()
    y[r, t] = x[r, t] / (s[0] + s[1])


@bug("race", 2, 64, numbers(2, 64), zeros(2, 64))
def row_divided_by_a_sum_of_one_warp(x, y):
    """A barrier of the warp, where both warps are asked."""
    s = cuda.shared.array(2, float32)
    t, r = cuda.threadIdx.x, cuda.blockIdx.x
    v = x[r, t]
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_xor_sync(ALL, v, d)
    if t % 32 == 0:
        s[t // 32] = v  # BUG
    cuda.syncwarp()
    y[r, t] = x[r, t] / (s[0] + s[1])  # BUG
