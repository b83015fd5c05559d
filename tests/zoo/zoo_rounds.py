"""Counters that run round, barriers made of them, locks, look-back, warps, narrow types, shared parts, updates."""

import numpy as np
from numba import float32, int32, uint8
from zoo import cages, ints, numbers, zeros

from dlkernels import cuda

CORRECT, BUGGY, fine, bug = cages()
RACES = ("race", "atomic-against-plain")
ALL = 0xFFFFFFFF


def words(n=1):
    return zeros(n, dtype=np.uint32)


# -- barriers of counters that run round -----------------------------------------------------------------------------
@fine(3, 4, numbers(12), zeros(12), words(), words())
def inc_counts_and_a_turn_is_passed_on(x, y, count, turn):
    i, n = cuda.grid(1), cuda.gridDim.x
    for k in range(4):
        if k % 2 == 0:
            y[i] = x[i] + k
        else:
            x[i] = y[n * 4 - 1 - i]
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            mine = cuda.atomic.add(turn, 0, 0)
            if cuda.atomic.inc(count, 0, n - 1) == n - 1:
                cuda.threadfence()
                cuda.atomic.inc(turn, 0, 0xFFFFFFFF)
            else:
                while cuda.atomic.add(turn, 0, 0) == mine:
                    pass
            cuda.threadfence()
        cuda.syncthreads()


@bug(RACES, 3, 4, numbers(12), zeros(12), words(), words())
def inc_counts_one_too_few(x, y, count, turn):
    i, n = cuda.grid(1), cuda.gridDim.x
    y[i] = x[i]  # BUG
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        if cuda.atomic.inc(count, 0, n - 2) == n - 2:
            cuda.threadfence()
            cuda.atomic.inc(turn, 0, 0xFFFFFFFF)
        else:
            while cuda.atomic.add(turn, 0, 0) == 0:
                pass
        cuda.threadfence()
    cuda.syncthreads()
    x[i] = y[n * 4 - 1 - i]  # BUG


@fine(3, 4, numbers(12), zeros(12), words())
def the_other_half_of_the_round(x, y, count):
    i, n = cuda.grid(1), cuda.gridDim.x
    for _ in range(3):
        y[i] = x[i] + 1
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.inc(count, 0, 2 * n - 1)
            while cuda.atomic.add(count, 0, 0) < n:
                pass
            cuda.threadfence()
        cuda.syncthreads()
        x[i] = y[n * 4 - 1 - i]
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.inc(count, 0, 2 * n - 1)
            while cuda.atomic.add(count, 0, 0) >= n:
                pass
            cuda.threadfence()
        cuda.syncthreads()


@bug(RACES, 3, 1, numbers(3), zeros(6), words(), zeros(2))
def the_last_of_a_turn_that_nobody_waits_for(x, part, count, out):
    b, n = cuda.blockIdx.x, cuda.gridDim.x
    for turn in range(2):
        part[turn * n + b] = x[b] + turn  # BUG
        cuda.threadfence()
        if cuda.atomic.inc(count, 0, n - 1) == n - 1:  # one block may have come twice
            cuda.threadfence()
            out[turn] = part[turn * n] + part[turn * n + 1] + part[turn * n + 2]  # BUG


@fine(4, 1, numbers(4), zeros(4), lambda: np.full(1, 3, np.uint32), zeros(1))
def dec_counts_down(x, part, left, out):
    b = cuda.blockIdx.x
    part[b] = x[b]
    cuda.threadfence()
    if cuda.atomic.dec(left, 0, 3) == 0:
        cuda.threadfence()
        out[0] = part[0] + part[1] + part[2] + part[3]


@bug(RACES, 4, 1, numbers(4), zeros(4), lambda: np.full(1, 3, np.uint32), zeros(4))
def dec_is_asked_for_one(x, part, left, out):
    b = cuda.blockIdx.x
    part[b] = x[b]  # BUG
    cuda.threadfence()
    if cuda.atomic.dec(left, 0, 3) == 1:
        cuda.threadfence()
        out[0] = part[0] + part[1] + part[2] + part[3]  # BUG


@fine(3, 1, numbers(3), zeros(3), words(), zeros(1))
def inc_with_a_bound_of_its_own_for_one_block(x, part, count, out):
    b = cuda.blockIdx.x
    part[b] = x[b]
    cuda.threadfence()
    if cuda.atomic.inc(count, 0, 2 if b else 9) == 2:
        cuda.threadfence()
        out[0] = part[0] + part[1] + part[2]


# -- locks -----------------------------------------------------------------------------------------------------------
@bug("race", 2, 1, ints(2), ints(1), zeros(1))
def lock_of_plain_flags(flag, turn, total):
    """Peterson's: right only where loads and stores are atomic."""
    me = cuda.blockIdx.x
    for _ in range(2):
        flag[me] = 1  # BUG
        cuda.threadfence()
        turn[0] = 1 - me  # BUG
        cuda.threadfence()
        while flag[1 - me] == 1 and turn[0] == 1 - me:  # BUG
            pass
        cuda.threadfence()
        total[0] += 1  # BUG
        cuda.threadfence()
        flag[me] = 0  # BUG


@bug("race", 3, 1, numbers(3), ints(3), zeros(1))
def ring_of_plain_flags(x, flag, total):
    b = cuda.blockIdx.x
    if b > 0:
        while flag[b - 1] == 0:  # BUG
            pass
        cuda.threadfence()
    total[0] += x[b]  # BUG
    cuda.threadfence()
    flag[b] = 1  # BUG


@fine(3, 32, ints(1), zeros(1))
def lock_that_lanes_take_one_by_one(lock, total):
    for lane in range(32):
        if cuda.threadIdx.x == lane:
            while cuda.atomic.exch(lock, 0, 1) == 1:
                pass
            cuda.threadfence()
            total[0] += 1
            cuda.threadfence()
            cuda.atomic.exch(lock, 0, 0)
        cuda.syncwarp()


@bug(RACES, 3, 1, ints(2), zeros(1))
def two_locks_for_one_sum(lock, total):
    mine = cuda.blockIdx.x % 2
    while cuda.atomic.cas(lock, mine, 0, 1) != 0:
        pass
    cuda.threadfence()
    total[0] += 1  # BUG
    cuda.threadfence()
    cuda.atomic.exch(lock, mine, 0)


@fine(4, 1, ints(4), zeros(4))
def a_lock_for_each_element(lock, total):
    for k in range(4):
        mine = (cuda.blockIdx.x + k) % 4
        while cuda.atomic.cas(lock, mine, 0, 1) != 0:
            pass
        cuda.threadfence()
        total[mine] += 1
        cuda.threadfence()
        cuda.atomic.exch(lock, mine, 0)


# -- look-back, persistent blocks ------------------------------------------------------------------------------------
@fine(4, 8, numbers(32), zeros(4), zeros(4), ints(4), zeros(32))
def look_back_by_two_states(x, own, upto, state, y):
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    before = cuda.shared.array(1, float32)
    if t == 0:
        mine = x[b * 8]
        own[b] = mine
        cuda.threadfence()
        cuda.atomic.exch(state, b, 1)
        total, k = float32(0), b - 1
        while k >= 0:
            seen = cuda.atomic.add(state, k, 0)
            cuda.threadfence()
            if seen == 2:
                total += upto[k]
                k = -1
            elif seen == 1:
                total += own[k]
                k -= 1
        upto[b] = total + mine
        cuda.threadfence()
        cuda.atomic.exch(state, b, 2)
        before[0] = total
    cuda.syncthreads()
    y[b * 8 + t] = before[0] + x[b * 8 + t]


@bug(RACES, 4, 8, numbers(32), zeros(4), zeros(4), ints(4), zeros(32))
def look_back_that_takes_any_state(x, own, upto, state, y):
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    before = cuda.shared.array(1, float32)
    if t == 0:
        mine = x[b * 8]
        own[b] = mine
        cuda.threadfence()
        cuda.atomic.exch(state, b, 1)
        total, k = float32(0), b - 1
        while k >= 0:
            seen = cuda.atomic.add(state, k, 0)
            cuda.threadfence()
            if seen >= 1:
                total += upto[k]  # BUG
                k = -1
        upto[b] = total + mine  # BUG
        cuda.threadfence()
        cuda.atomic.exch(state, b, 2)
        before[0] = total
    cuda.syncthreads()
    y[b * 8 + t] = before[0] + x[b * 8 + t]


@fine(3, 8, numbers(7, 8), zeros(7), ints(1))
def persistent_blocks_draw_rows(x, out, drawn):
    row, parts = cuda.shared.array(1, int32), cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    while True:
        if t == 0:
            row[0] = cuda.atomic.add(drawn, 0, 1)
        cuda.syncthreads()
        mine = row[0]
        if mine >= x.shape[0]:
            break
        parts[t] = x[mine, t]
        cuda.syncthreads()
        if t == 0:
            total = float32(0)
            for k in range(8):
                total += parts[k]
            out[mine] = total


@bug("race", 3, 8, numbers(7, 8), zeros(7), ints(1))
def persistent_blocks_draw_before_all_have_read(x, out, drawn):
    row, parts = cuda.shared.array(1, int32), cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    while True:
        if t == 7:
            row[0] = cuda.atomic.add(drawn, 0, 1)  # BUG
        cuda.syncthreads()
        if row[0] >= x.shape[0]:  # BUG
            break
        parts[t] = x[row[0], t]
        cuda.syncthreads()
        if t == 0:
            total = float32(0)
            for k in range(8):
                total += parts[k]
            out[row[0]] = total  # BUG


# -- barriers of the grid --------------------------------------------------------------------------------------------
@fine(3, 8, numbers(24), zeros(24))
def the_grid_meets_twice_in_a_turn(x, y):
    grid, i = cuda.cg.this_grid(), cuda.grid(1)
    for _ in range(2):
        y[i] = x[23 - i]
        grid.sync()
        x[i] = y[i] + 1
        grid.sync()


@bug("race", 3, 8, numbers(24), zeros(24))
def the_grid_meets_once_in_a_turn(x, y):
    grid, i = cuda.cg.this_grid(), cuda.grid(1)
    for _ in range(2):
        y[i] = x[23 - i]  # BUG
        grid.sync()
        x[i] = y[i] + 1  # BUG


# -- narrow types, parts of one memory -------------------------------------------------------------------------------
@fine(1, 64, lambda: np.arange(64, dtype=np.uint8), zeros(64, dtype=np.uint8))
def neighbours_in_one_word(x, y):
    kept = cuda.shared.array(64, uint8)
    t = cuda.threadIdx.x
    kept[t] = x[t]
    cuda.syncthreads()
    y[t] = kept[63 - t]


@bug("race", 1, 64, lambda: np.arange(64, dtype=np.uint8), zeros(8, dtype=np.uint8))
def bits_of_one_byte(x, y):
    t = cuda.threadIdx.x
    if x[t] % 2 == 0:
        y[t // 8] |= 1 << t % 8  # BUG


@fine(1, 32, numbers(32), zeros(32), shared_bytes=256)
def two_halves_of_one_memory(x, y):
    memory = cuda.shared.array(0, float32)
    a, b = memory[:32], memory[32:]
    t = cuda.threadIdx.x
    a[t], b[t] = x[t], 2 * x[t]
    cuda.syncthreads()
    y[t] = a[31 - t] + b[t]


@bug("race", 1, 64, numbers(64), zeros(64), shared_bytes=256)
def two_names_for_one_memory(x, y):
    a, b = cuda.shared.array(0, float32), cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    a[t] = x[t]  # BUG
    b[63 - t] = 2 * x[t]  # BUG
    cuda.syncthreads()
    y[t] = a[t]


# -- warps -----------------------------------------------------------------------------------------------------------
@fine(1, 64, numbers(64), zeros(2))
def each_warp_sums_through_its_own_part(x, y):
    part = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    lane, first = t % 32, t // 32 * 32
    part[t] = x[t]
    cuda.syncwarp()
    step = 16
    while step > 0:
        mine = part[first + (lane ^ step)]
        cuda.syncwarp()
        part[t] += mine
        cuda.syncwarp()
        step //= 2
    if lane == 0:
        y[t // 32] = part[t]


@bug("race", 1, 64, numbers(64), zeros(2))
def a_warp_reads_what_another_stores(x, y):
    part = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    part[t] = x[t]  # BUG
    cuda.syncwarp()
    if t < 2:
        y[t] = part[63 - t]  # BUG


@fine(1, 32, numbers(32), zeros(1))
def all_lanes_hand_over(x, y):
    total = x[cuda.threadIdx.x]
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(ALL, total, step)
    if cuda.threadIdx.x == 0:
        y[0] = total


@bug("divergent-warp-operation", 1, 32, numbers(32), zeros(1))
def some_lanes_hand_over(x, y):
    t = cuda.threadIdx.x
    total = x[t]
    if t < 24:
        total += cuda.shfl_down_sync(ALL, total, 8)  # BUG
    cuda.syncthreads()
    if t == 0:
        y[0] = total


@fine(1, 32, numbers(32), zeros(32))
def lanes_that_are_alike_meet_by_mask(x, y):
    t = cuda.threadIdx.x
    mine = x[t]
    if t < 16:
        mine += cuda.shfl_xor_sync(0x0000FFFF, mine, 8)
    else:
        mine += cuda.shfl_xor_sync(0xFFFF0000, mine, 4)
    y[t] = mine


# -- updates ---------------------------------------------------------------------------------------------------------
@fine(2, 32, ints(4))
def atomics_of_four_kinds(x):
    t = cuda.threadIdx.x
    cuda.atomic.or_(x, 0, 1 << t % 8)
    cuda.atomic.max(x, 1, t)
    cuda.atomic.xor(x, 2, t)
    cuda.atomic.sub(x, 3, t)


@bug("race", 2, 32, ints(1))
def bits_gathered_by_two_lines(x):
    t = cuda.threadIdx.x
    x[0] |= 1 << t % 8  # BUG
    if t % 2:
        x[0] |= 256  # BUG


@bug("race", 1, 32, numbers(32), lambda: np.ones(1, np.float32))
def a_product(x, y):
    y[0] *= x[cuda.threadIdx.x]  # BUG


# -- waiting for ever ------------------------------------------------------------------------------------------------
@bug("waits-for-ever", 2, 1, words(), zeros(2))
def inc_never_comes_to_that_number(count, y):
    cuda.atomic.inc(count, 0, 1)
    while cuda.atomic.add(count, 0, 0) != 2:  # BUG
        pass
    y[cuda.blockIdx.x] = 1


@fine(2, 1, words(), zeros(2))
def inc_comes_to_that_number(count, y):
    cuda.atomic.inc(count, 0, 2)
    while cuda.atomic.add(count, 0, 0) != 2:
        pass
    y[cuda.blockIdx.x] = 1
