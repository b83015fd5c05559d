"""Patterns of chapters 6 and 13: counters drawn for a warp, privatised bins, tiles that take turns, packed codes, 2:4,
the merge path, sorting and compaction; correct ones, and wrong ones that differ by a line.
"""

import numpy as np
from numba import float32, int32, int64
from zoo import bins, cages, ints, numbers, zeros

from dlkernels import cuda

CORRECT, BUGGY, fine, bug = cages()


def words(n):
    return lambda: np.random.default_rng(1).integers(-(2**31), 2**31, n).astype(np.int32)


def pointers():
    return np.array([0, 0, 9, 10, 10, 16])


# -- warp-aggregated atomics: one lane draws for all lanes that want --------------------------------------------------
@fine(2, 64, numbers(128), zeros(128), ints(1))
def warp_aggregated_compaction(x, out, count):
    i = cuda.grid(1)
    lane = cuda.threadIdx.x % 32
    keep = x[i] > 6
    mask = cuda.ballot_sync(0xFFFFFFFF, keep)
    leader = cuda.ffs(mask) - 1
    base = int32(0)
    if lane == leader:
        base = cuda.atomic.add(count, 0, cuda.popc(mask))
    base = cuda.shfl_sync(0xFFFFFFFF, base, leader)
    if keep:
        out[base + cuda.popc(mask & ((1 << lane) - 1))] = x[i]


@bug("race", 2, 64, numbers(128), zeros(128), ints(1))
def warp_aggregated_base_not_shared(x, out, count):
    i = cuda.grid(1)
    lane = cuda.threadIdx.x % 32
    keep = x[i] > 6
    mask = cuda.ballot_sync(0xFFFFFFFF, keep)
    leader = cuda.ffs(mask) - 1
    base = int32(0)
    if lane == leader:
        base = cuda.atomic.add(count, 0, cuda.popc(mask))
    if keep:
        out[base + cuda.popc(mask & ((1 << lane) - 1))] = x[i]  # BUG


# -- histogram privatised by warp, merged -----------------------------------------------------------------------------
@fine(2, 64, ints(16), bins(256, 16))
def histogram_of_each_warp(h, x):
    t = cuda.threadIdx.x
    part = cuda.shared.array((2, 16), int32)
    if t < 32:
        part[t // 16, t % 16] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(part, (t // 32, x[i]), 1)
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(h, t, part[0, t] + part[1, t])


@bug("atomic-against-plain", 2, 64, ints(16), bins(256, 16))
def histogram_of_each_warp_merged_too_early(h, x):
    t = cuda.threadIdx.x
    part = cuda.shared.array((2, 16), int32)
    if t < 32:
        part[t // 16, t % 16] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(part, (t // 32, x[i]), 1)  # BUG
    cuda.syncwarp()
    if t < 16:
        cuda.atomic.add(h, t, part[0, t] + part[1, t])  # BUG


@bug("race", 1, 64, ints(16), bins(64, 16))
def histogram_of_each_lane_in_one_word(h, x):
    t = cuda.threadIdx.x
    part = cuda.shared.array((2, 16), int32)
    if t < 32:
        part[t // 16, t % 16] = 0
    cuda.syncthreads()
    part[t // 32, x[t]] += 1  # BUG
    cuda.syncthreads()
    if t < 16:
        h[t] = part[0, t] + part[1, t]


# -- ping-pong shared tiles, one barrier a turn -----------------------------------------------------------------------
@fine(1, 32, numbers(256), zeros(32))
def ping_pong_tiles(x, y):
    t = cuda.threadIdx.x
    tile = cuda.shared.array((2, 32), float32)
    tile[0, t] = x[t]
    total = float32(0)
    for k in range(8):
        cuda.syncthreads()
        if k < 7:
            tile[(k + 1) % 2, t] = x[32 * (k + 1) + t]
        for j in range(32):
            total += tile[k % 2, j]
    y[t] = total


@bug("race", 1, 64, numbers(512), zeros(64))
def ping_pong_tiles_same_side(x, y):
    t = cuda.threadIdx.x
    tile = cuda.shared.array((2, 64), float32)
    tile[0, t] = x[t]
    tile[1, t] = 0
    total = float32(0)
    for k in range(8):
        cuda.syncthreads()
        for j in range(64):
            total += tile[k % 2, j]  # BUG
        if k < 7:
            tile[k % 2, t] = x[64 * (k + 1) + t]  # BUG
    y[t] = total


# -- register prefetch, single tile, two barriers ---------------------------------------------------------------------
@fine(1, 64, numbers(256), zeros(64))
def prefetch_in_a_register(x, y):
    t = cuda.threadIdx.x
    tile = cuda.shared.array(64, float32)
    ahead = x[t]
    total = float32(0)
    for k in range(4):
        tile[t] = ahead
        cuda.syncthreads()
        if k < 3:
            ahead = x[64 * (k + 1) + t]
        for j in range(64):
            total += tile[j]
        cuda.syncthreads()
    y[t] = total


@bug("race", 1, 64, numbers(256), zeros(64))
def prefetch_without_the_second_barrier(x, y):
    t = cuda.threadIdx.x
    tile = cuda.shared.array(64, float32)
    ahead = x[t]
    total = float32(0)
    for k in range(4):
        tile[t] = ahead  # BUG
        cuda.syncthreads()
        if k < 3:
            ahead = x[64 * (k + 1) + t]
        for j in range(64):
            total += tile[j]  # BUG
    y[t] = total


# -- look-back with value and flag in one word ------------------------------------------------------------------------
@fine(4, 32, bins(128, 5), ints(128), zeros(4, dtype="int64"), ints(1))
def look_back_in_one_word(x, out, state, ticket):
    mine = cuda.shared.array(1, int32)
    before = cuda.shared.array(1, int64)
    s = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    if t == 0:
        mine[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    b = mine[0]
    v = x[32 * b + t]
    d = 1
    while d < 32:
        o = cuda.shfl_up_sync(0xFFFFFFFF, v, d)
        if t >= d:
            v += o
        d *= 2
    s[t] = v
    cuda.syncthreads()
    if t == 0:
        total = int64(s[31])
        if b > 0:
            cuda.atomic.exch(state, b, (total << 2) | 1)
            acc = int64(0)
            k = b - 1
            while True:
                w = cuda.atomic.add(state, k, int64(0))
                while w & 3 == 0:
                    w = cuda.atomic.add(state, k, int64(0))
                acc += w >> 2
                if w & 3 == 2:
                    break
                k -= 1
            before[0] = acc
            total += acc
        else:
            before[0] = 0
        cuda.atomic.exch(state, b, (total << 2) | 2)
    cuda.syncthreads()
    out[32 * b + t] = v + before[0]


@bug("race", 4, 64, numbers(256), zeros(256), zeros(4), ints(4), ints(1))
def look_back_value_beside_the_flag_without_fence(x, out, total, flag, ticket):
    mine = cuda.shared.array(1, int32)
    before = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 0:
        mine[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    b = mine[0]
    if t == 0:
        v = float32(0)
        if b > 0:
            while cuda.atomic.add(flag, b - 1, 0) == 0:
                pass
            v = total[b - 1]  # BUG
        before[0] = v
        total[b] = v + x[64 * b]  # BUG
        cuda.atomic.exch(flag, b, 1)
    cuda.syncthreads()
    out[64 * b + t] = before[0] + x[64 * b + t]


# -- grid.sync phases, temporal stencil ping-pong ---------------------------------------------------------------------
@fine(2, 32, numbers(64), zeros(64))
def stencil_by_grid_sync(a, b):
    i = cuda.grid(1)
    g = cuda.cg.this_grid()
    for _ in range(2):
        if 0 < i < 63:
            b[i] = a[i - 1] + a[i + 1]
        else:
            b[i] = a[i]
        g.sync()
        if 0 < i < 63:
            a[i] = b[i - 1] + b[i + 1]
        else:
            a[i] = b[i]
        g.sync()


@bug("race", 2, 32, numbers(64), zeros(64))
def stencil_by_block_barrier(a, b):
    i = cuda.grid(1)
    if 0 < i < 63:
        b[i] = a[i - 1] + a[i + 1]  # BUG
    else:
        b[i] = a[i]  # BUG
    cuda.syncthreads()
    if 0 < i < 63:
        a[i] = b[i - 1] + b[i + 1]  # BUG
    else:
        a[i] = b[i]


# -- packed int4: two threads, one byte -------------------------------------------------------------------------------
@fine(1, 32, words(8), zeros(64))
def unpack_int4(w, y):
    t = cuda.threadIdx.x
    for n in range(2):
        k = 2 * t + n
        q = (w[k // 8] >> (4 * (k % 8))) & 15
        if q > 7:
            q -= 16
        y[k] = q


@fine(1, 32, bins(64, 16), zeros(32, dtype="uint8"))
def pack_int4_a_thread_a_byte(q, out):
    t = cuda.threadIdx.x
    out[t] = (q[2 * t] & 15) | ((q[2 * t + 1] & 15) << 4)


@bug("race", 1, 64, bins(64, 16), ints(32))
def pack_int4_two_threads_a_byte(q, out):
    t = cuda.threadIdx.x
    out[t // 2] |= (q[t] & 15) << (4 * (t % 2))  # BUG


@fine(1, 64, bins(64, 16), ints(8))
def pack_int4_by_atomic_or(q, out):
    t = cuda.threadIdx.x
    cuda.atomic.or_(out, t // 8, (q[t] & 15) << (4 * (t % 8)))


@fine(1, 64, bins(64, 16), ints(8))
def pack_int4_by_shuffles(q, out):
    t = cuda.threadIdx.x
    w = (q[t] & 15) << (4 * (t % 8))
    for d in (4, 2, 1):
        w |= cuda.shfl_down_sync(0xFFFFFFFF, w, d)
    if t % 8 == 0:
        out[t // 8] = w


# -- 2:4 sparse product, activations in shared memory -----------------------------------------------------------------
@fine(1, 32, numbers(32, 16), bins(32 * 4, 256), numbers(32), zeros(32))
def two_four_row_for_each_thread(values, places, x, y):
    t = cuda.threadIdx.x
    s = cuda.shared.array(32, float32)
    s[t] = x[t]
    cuda.syncwarp()
    total = float32(0)
    for k in range(16):
        at = 4 * (k // 2) + ((places[4 * t + k // 4] >> (2 * (k % 4))) & 3)
        total += values[t, k] * s[at]
    y[t] = total


@bug("race", 1, 64, numbers(64, 16), bins(64 * 4, 256), numbers(32), zeros(64))
def two_four_vector_loaded_by_one_warp(values, places, x, y):
    t = cuda.threadIdx.x
    s = cuda.shared.array(32, float32)
    if t < 32:
        s[t] = x[t]  # BUG
    cuda.syncwarp()
    total = float32(0)
    for k in range(16):
        at = 4 * (k // 2) + ((places[4 * t + k // 4] >> (2 * (k % 4))) & 3)
        total += values[t, k] * s[at]  # BUG
    y[t] = total


# -- merge path spmv: carries by atomics or a second array ------------------------------------------------------------
@fine(2, 4, pointers, numbers(16), zeros(5))
def merge_path_with_carries(crow, v, y):
    rows, n = crow.size - 1, v.size
    parts = cuda.gridsize(1)
    p = cuda.grid(1)
    each = (rows + n + parts - 1) // parts
    d = min(p * each, rows + n)
    stop = min(d + each, rows + n)
    low, high = max(0, d - n), min(d, rows)
    while low < high:
        m = (low + high) // 2
        if crow[m + 1] <= d - m - 1:
            low = m + 1
        else:
            high = m
    r, k = low, d - low
    total = float32(0)
    for _ in range(d, stop):
        if k < crow[r + 1]:
            total += v[k]
            k += 1
        else:
            cuda.atomic.add(y, r, total)
            total = float32(0)
            r += 1
    if r < rows:
        cuda.atomic.add(y, r, total)


# -- bitonic sort: syncwarp where partners share a warp ---------------------------------------------------------------
@fine(1, 64, numbers(64))
def bitonic_with_warp_barriers(x):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    k = 2
    while k <= 64:
        j = k // 2
        while j > 0:
            o = t ^ j
            if o > t:
                if (s[t] > s[o]) == (t & k == 0):
                    a = s[t]
                    s[t] = s[o]
                    s[o] = a
            if j > 16:
                cuda.syncthreads()
            elif j > 1 or k < 32:
                cuda.syncwarp()
            else:
                cuda.syncthreads()
            j //= 2
        k *= 2
    x[t] = s[t]


# -- ticket lock with try (CAS), each thread once, one thread of the block --------------------------------------------
@fine(3, 32, zeros(1), ints(2))
def ticket_lock_by_one_thread(o, lock):
    if cuda.threadIdx.x == 0:
        mine = cuda.atomic.add(lock, 0, 1)
        while cuda.atomic.add(lock, 1, 0) != mine:
            pass
        cuda.threadfence()
        o[0] += float32(1)
        cuda.threadfence()
        cuda.atomic.add(lock, 1, 1)


@bug("race", 3, 32, zeros(1), ints(2))
def ticket_lock_gives_before_it_is_done(o, lock):
    if cuda.threadIdx.x == 0:
        mine = cuda.atomic.add(lock, 0, 1)
        while cuda.atomic.add(lock, 1, 0) != mine:
            pass
        cuda.threadfence()
        v = o[0] + float32(1)  # BUG
        cuda.threadfence()
        cuda.atomic.add(lock, 1, 1)
        o[0] = v  # BUG


# -- generation barrier used by blocks, twice, data both ways ---------------------------------------------------------
@fine(3, 32, numbers(96), zeros(96), ints(2))
def generation_barrier_both_ways(x, y, state):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    for turn in range(2):
        y[32 * b + t] = x[32 * ((b + 1) % 3) + t] + turn
        cuda.threadfence()
        cuda.syncthreads()
        if t == 0:
            generation = cuda.atomic.add(state, 1, 0)
            if cuda.atomic.add(state, 0, 1) == cuda.gridDim.x - 1:
                cuda.atomic.exch(state, 0, 0)
                cuda.threadfence()
                cuda.atomic.add(state, 1, 1)
            else:
                while cuda.atomic.add(state, 1, 0) == generation:
                    pass
            cuda.threadfence()
        cuda.syncthreads()
        x[32 * b + t] = y[32 * ((b + 2) % 3) + t]
        cuda.threadfence()
        cuda.syncthreads()
        if t == 0:
            generation = cuda.atomic.add(state, 1, 0)
            if cuda.atomic.add(state, 0, 1) == cuda.gridDim.x - 1:
                cuda.atomic.exch(state, 0, 0)
                cuda.threadfence()
                cuda.atomic.add(state, 1, 1)
            else:
                while cuda.atomic.add(state, 1, 0) == generation:
                    pass
            cuda.threadfence()
        cuda.syncthreads()


@bug("race", 3, 32, numbers(96), zeros(96), ints(2))
def generation_barrier_only_one_way(x, y, state):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    for turn in range(2):
        y[32 * b + t] = x[32 * ((b + 1) % 3) + t] + turn  # BUG
        cuda.threadfence()
        cuda.syncthreads()
        if t == 0:
            generation = cuda.atomic.add(state, 1, 0)
            if cuda.atomic.add(state, 0, 1) == cuda.gridDim.x - 1:
                cuda.atomic.exch(state, 0, 0)
                cuda.threadfence()
                cuda.atomic.add(state, 1, 1)
            else:
                while cuda.atomic.add(state, 1, 0) == generation:
                    pass
            cuda.threadfence()
        cuda.syncthreads()
        x[32 * b + t] = y[32 * ((b + 2) % 3) + t]  # BUG


# -- radix split by ballots, offsets of warps through shared memory ---------------------------------------------------
@fine(1, 64, bins(64, 8), ints(64))
def split_by_a_bit(x, out):
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    zeros_of = cuda.shared.array(2, int32)
    bit = x[t] & 1
    m = cuda.ballot_sync(0xFFFFFFFF, bit == 0)
    if lane == 0:
        zeros_of[warp] = cuda.popc(m)
    cuda.syncthreads()
    before = cuda.popc(m & ((1 << lane) - 1)) + (zeros_of[0] if warp == 1 else 0)
    if bit == 0:
        out[before] = x[t]
    else:
        out[zeros_of[0] + zeros_of[1] + t - before] = x[t]


@bug("uninitialised-shared", 1, 64, bins(64, 8), ints(64))
def split_by_a_bit_only_one_warp_counts(x, out):
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    zeros_of = cuda.shared.array(2, int32)
    bit = x[t] & 1
    m = cuda.ballot_sync(0xFFFFFFFF, bit == 0)
    if t == 0:
        zeros_of[warp] = cuda.popc(m)
    cuda.syncthreads()
    before = cuda.popc(m & ((1 << lane) - 1)) + (zeros_of[0] if warp == 1 else 0)
    if bit == 0:
        out[before] = x[t]
    else:
        out[min(63, zeros_of[0] + zeros_of[1] + t - before)] = x[t]  # BUG


# -- segmented sum: heads found by shuffles ---------------------------------------------------------------------------
@fine(1, 32, bins(32, 5), numbers(32), zeros(8))
def segmented_sum_of_sorted_keys(keys, x, out):
    t = cuda.threadIdx.x
    key = t // 5
    v = x[t]
    d = 1
    while d < 32:
        o = cuda.shfl_up_sync(0xFFFFFFFF, v, d)
        k = cuda.shfl_up_sync(0xFFFFFFFF, key, d)
        if t >= d and k == key:
            v += o
        d *= 2
    after = cuda.shfl_down_sync(0xFFFFFFFF, key, 1)
    if t == 31 or after != key:
        out[key] = v


@bug("inactive-lane-read", 1, 32, numbers(32), zeros(32))
def odd_lanes_ask_even_ones(x, y):
    t = cuda.threadIdx.x
    v = x[t]
    if t % 2 == 1:
        v += cuda.shfl_up_sync(0xAAAAAAAA, v, 1)  # BUG
    y[t] = v


# -- stream compaction: block offset drawn by one thread, after a block scan ------------------------------------------
@fine(2, 64, numbers(128), zeros(128), ints(1))
def compaction_with_a_block_offset(x, out, count):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    of_warp = cuda.shared.array(2, int32)
    base = cuda.shared.array(1, int32)
    keep = x[i] > 3
    m = cuda.ballot_sync(0xFFFFFFFF, keep)
    if t % 32 == 0:
        of_warp[t // 32] = cuda.popc(m)
    cuda.syncthreads()
    if t == 0:
        base[0] = cuda.atomic.add(count, 0, of_warp[0] + of_warp[1])
    cuda.syncthreads()
    at = base[0] + cuda.popc(m & ((1 << (t % 32)) - 1))
    if t >= 32:
        at += of_warp[0]
    if keep:
        out[at] = x[i]


# -- producer warp and consumer warp by shared flags, ring of two -----------------------------------------------------
@fine(1, 64, numbers(128), zeros(32))
def ring_of_two_tiles_between_warps(x, y):
    t = cuda.threadIdx.x
    ring = cuda.shared.array((2, 32), float32)
    full = cuda.shared.array(2, int32)
    if t < 2:
        full[t] = 0
    cuda.syncthreads()
    lane = t % 32
    total = float32(0)
    for k in range(4):
        s = k % 2
        if t < 32:
            if lane == 0:
                while cuda.atomic.add(full, s, 0) != 0:
                    pass
                cuda.threadfence_block()
            cuda.syncwarp()
            ring[s, lane] = x[32 * k + lane]
            cuda.threadfence_block()
            cuda.syncwarp()
            if lane == 0:
                cuda.atomic.exch(full, s, 1)
        else:
            if lane == 0:
                while cuda.atomic.add(full, s, 0) != 1:
                    pass
                cuda.threadfence_block()
            cuda.syncwarp()
            total += ring[s, 31 - lane]
            cuda.threadfence_block()
            cuda.syncwarp()
            if lane == 0:
                cuda.atomic.exch(full, s, 0)
    if t >= 32:
        y[lane] = total


@bug("race", 1, 64, numbers(128), zeros(32))
def ring_of_two_tiles_not_waited_for(x, y):
    t = cuda.threadIdx.x
    ring = cuda.shared.array((2, 32), float32)
    full = cuda.shared.array(4, int32)
    if t < 4:
        full[t] = 0
    cuda.syncthreads()
    lane = t % 32
    total = float32(0)
    for k in range(4):
        s = k % 2
        if t < 32:
            ring[s, lane] = x[32 * k + lane]  # BUG
            cuda.threadfence_block()
            cuda.syncwarp()
            if lane == 0:
                cuda.atomic.exch(full, k, 1)
        else:
            if lane == 0:
                while cuda.atomic.add(full, k, 0) != 1:
                    pass
                cuda.threadfence_block()
            cuda.syncwarp()
            total += ring[s, 31 - lane]  # BUG
    if t >= 32:
        y[lane] = total
