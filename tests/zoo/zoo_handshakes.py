"""Queues, ticket locks, sense-reversing barriers, wavefronts, producer and consumer warps: correct ones, and wrong
ones."""

import numpy as np
from numba import float32, int32
from zoo import cages, ints, numbers, zeros

from dlkernels import cuda

CORRECT, BUGGY, fine, bug = cages()
RACES = ("race", "atomic-against-plain")
MIXED = np.dtype([("n", np.int32), ("v", np.float64)])


# -- queue: producer block fills, consumers pop by ticket and wait for each slot's flag ----------------------------
@fine(4, 32, numbers(16), ints(16), ints(1), zeros(16), zeros(16))
def queue_of_slots(x, ready, head, slot, out):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if b == 0:
            for k in range(16):
                slot[k] = x[k]
                cuda.threadfence()
                cuda.atomic.exch(ready, k, 1)
        else:
            while True:
                k = cuda.atomic.add(head, 0, 1)
                if k >= 16:
                    break
                while cuda.atomic.cas(ready, k, 1, 2) != 1:
                    pass
                cuda.threadfence()
                out[k] = slot[k] * 2


@bug(RACES, 4, 32, numbers(16), ints(16), ints(1), zeros(16), zeros(16))
def queue_flag_before_the_slot(x, ready, head, slot, out):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if b == 0:
            for k in range(16):
                cuda.atomic.exch(ready, k, 1)
                cuda.threadfence()
                slot[k] = x[k]  # BUG
        else:
            while True:
                k = cuda.atomic.add(head, 0, 1)
                if k >= 16:
                    break
                while cuda.atomic.cas(ready, k, 1, 2) != 1:
                    pass
                cuda.threadfence()
                out[k] = slot[k] * 2  # BUG


# -- ticket lock ---------------------------------------------------------------------------------------------------
@fine(5, 32, numbers(160), zeros(1), ints(1), ints(1))
def ticket_lock(x, o, ticket, serving):
    if cuda.threadIdx.x == 0:
        mine = cuda.atomic.add(ticket, 0, 1)
        while cuda.atomic.add(serving, 0, 0) != mine:
            pass
        cuda.threadfence()
        o[0] += x[cuda.blockIdx.x]
        cuda.threadfence()
        cuda.atomic.add(serving, 0, 1)


@bug(RACES, 5, 32, numbers(160), zeros(1), ints(1), ints(1))
def ticket_lock_without_waiting(x, o, ticket, serving):
    if cuda.threadIdx.x == 0:
        mine = cuda.atomic.add(ticket, 0, 1)
        cuda.threadfence()
        o[0] += x[cuda.blockIdx.x] + mine  # BUG
        cuda.threadfence()
        cuda.atomic.add(serving, 0, 1)


@bug(RACES, 5, 32, numbers(160), zeros(1), ints(1), ints(1))
def ticket_lock_waits_for_any_after_it(x, o, ticket, serving):
    if cuda.threadIdx.x == 0:
        mine = cuda.atomic.add(ticket, 0, 1)
        while cuda.atomic.add(serving, 0, 0) < mine - 1:
            pass
        cuda.threadfence()
        o[0] += x[cuda.blockIdx.x]  # BUG
        cuda.threadfence()
        cuda.atomic.add(serving, 0, 1)


# -- sense reversing barrier ---------------------------------------------------------------------------------------
@fine(3, 32, numbers(96), zeros(96), ints(1), ints(1))
def sense_reversing_barrier(x, y, count, sense):
    i = cuda.grid(1)
    for turn in range(1, 4):
        y[i] = x[i] + turn
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            if cuda.atomic.add(count, 0, 1) == 2:
                cuda.atomic.exch(count, 0, 0)
                cuda.threadfence()
                cuda.atomic.exch(sense, 0, 2 * turn - 1)
            else:
                while cuda.atomic.add(sense, 0, 0) < 2 * turn - 1:
                    pass
            cuda.threadfence()
        cuda.syncthreads()
        x[i] = y[95 - i]
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            if cuda.atomic.add(count, 0, 1) == 2:
                cuda.atomic.exch(count, 0, 0)
                cuda.threadfence()
                cuda.atomic.exch(sense, 0, 2 * turn)
            else:
                while cuda.atomic.add(sense, 0, 0) < 2 * turn:
                    pass
            cuda.threadfence()
        cuda.syncthreads()


@bug(RACES, 3, 32, numbers(96), zeros(96), ints(1))
def barrier_once_for_two_turns(x, y, count):
    i = cuda.grid(1)
    for turn in range(1, 3):
        y[i] = x[i] + turn  # BUG
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.add(count, 0, 1)
            while cuda.atomic.add(count, 0, 0) < turn * 3:
                pass
            cuda.threadfence()
        cuda.syncthreads()
        x[i] = y[95 - i]  # BUG


@bug("waits-for-ever", 3, 32, zeros(96), ints(1))
def barrier_counter_reset_too_early(y, count):
    i = cuda.grid(1)
    y[i] = 1
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        if cuda.atomic.add(count, 0, 1) == 2:
            cuda.atomic.exch(count, 0, 0)
        else:
            while cuda.atomic.add(count, 0, 0) < 3:  # BUG
                pass
    cuda.syncthreads()


# -- message passing chains ----------------------------------------------------------------------------------------
@fine(3, 32, zeros(1), ints(2), zeros(1))
def passed_on_by_a_block_between(x, flag, y):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if b == 0:
            x[0] = 42
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
        elif b == 1:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            cuda.threadfence()
            cuda.atomic.exch(flag, 1, 1)
        else:
            while cuda.atomic.add(flag, 1, 0) == 0:
                pass
            cuda.threadfence()
            y[0] = x[0]


@bug(RACES, 3, 32, zeros(1), ints(2), zeros(1))
def passed_on_without_waiting(x, flag, y):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if b == 0:
            x[0] = 42  # BUG
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
        elif b == 1:
            cuda.threadfence()
            cuda.atomic.exch(flag, 1, 1)
        else:
            while cuda.atomic.add(flag, 1, 0) == 0:
                pass
            cuda.threadfence()
            y[0] = x[0]  # BUG


@bug(RACES, 3, 32, zeros(2), ints(1), zeros(1))
def two_writers_one_flag_value(x, flag, y):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if b < 2:
            x[b] = b  # BUG
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
        else:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            cuda.threadfence()
            y[0] = x[0] + x[1]  # BUG


@fine(3, 32, zeros(2), ints(1), zeros(1))
def two_writers_two_bits(x, flag, y):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if b < 2:
            x[b] = b
            cuda.threadfence()
            cuda.atomic.add(flag, 0, 1 << b)
        else:
            while cuda.atomic.add(flag, 0, 0) != 3:
                pass
            cuda.threadfence()
            y[0] = x[0] + x[1]


@fine(3, 32, zeros(2), ints(1), zeros(1))
def two_writers_two_bits_or(x, flag, y):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if b < 2:
            x[b] = b
            cuda.threadfence()
            cuda.atomic.or_(flag, 0, 1 << b)
        else:
            while cuda.atomic.or_(flag, 0, 0) != 3:
                pass
            cuda.threadfence()
            y[0] = x[0] + x[1]


# -- counters ------------------------------------------------------------------------------------------------------
@bug(RACES, 4, 32, numbers(4), zeros(4), ints(1), zeros(4))
def the_second_reads_the_first(x, part, count, out):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        part[b] = x[b]  # BUG
        cuda.threadfence()
        n = cuda.atomic.add(count, 0, 1)
        cuda.threadfence()
        if n == 1:
            out[b] = part[0] + part[1]  # BUG


@bug(RACES, 4, 32, numbers(4), zeros(4), ints(1), zeros(4))
def tested_for_something_else(x, part, count, out):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        part[b] = x[b]  # BUG
        cuda.threadfence()
        cuda.atomic.add(count, 0, 1)
        if b == 3:
            n = cuda.atomic.add(count, 0, 0)
            cuda.threadfence()
            if n == 4:
                out[0] = 1
            out[1] = part[0]  # BUG


@bug(RACES, 4, 32, numbers(4), zeros(4), ints(1), zeros(4))
def no_fence_after_the_test(x, part, count, out):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        part[b] = x[b]  # BUG
        cuda.threadfence()
        if cuda.atomic.add(count, 0, 1) == 3:
            for k in range(4):
                out[0] += part[k]  # BUG


@fine(4, 64, numbers(256), zeros(4), zeros(1, dtype="uint32"), zeros(4))
def inc_wraps_by_itself(x, part, count, out):
    last = cuda.shared.array(1, int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        part[b] = x[b * 64]
        cuda.threadfence()
        last[0] = cuda.atomic.inc(count, 0, np.uint32(3)) == 3
    cuda.syncthreads()
    if last[0]:
        cuda.threadfence()
        if t < 4:
            out[t] = part[t] + 1


@bug(RACES, 4, 64, numbers(256), zeros(256), ints(1), zeros(64))
def the_other_threads_are_not_waited_for(x, part, count, out):
    last = cuda.shared.array(1, int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    part[b * 64 + t] = x[b * 64 + t]  # BUG
    if t == 0:
        cuda.threadfence()
        last[0] = cuda.atomic.add(count, 0, 1)
    cuda.syncthreads()
    if last[0] == 3:
        cuda.threadfence()
        out[t] = part[t] + part[64 + t]  # BUG


@fine(4, 64, numbers(256), zeros(256), ints(1), zeros(64))
def cumulative_fence_by_one_thread(x, part, count, out):
    last = cuda.shared.array(1, int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    part[b * 64 + t] = x[b * 64 + t]
    cuda.syncthreads()
    if t == 0:
        cuda.threadfence()
        last[0] = cuda.atomic.add(count, 0, 1)
        cuda.threadfence()
    cuda.syncthreads()
    if last[0] == 3:
        out[t] = part[t] + part[64 + t] + part[128 + t] + part[192 + t]


# -- locks ---------------------------------------------------------------------------------------------------------
@bug(RACES, 4, 32, numbers(4), zeros(1), ints(2))
def two_different_locks_for_one_thing(x, o, lock):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, b % 2, 0, 1) != 0:
            pass
        cuda.threadfence()
        o[0] += x[b]  # BUG
        cuda.threadfence()
        cuda.atomic.exch(lock, b % 2, 0)


@fine(4, 32, numbers(4), zeros(2), ints(2))
def two_locks_for_two_things(x, o, lock):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        while cuda.atomic.exch(lock, b % 2, 1) == 1:
            pass
        cuda.threadfence()
        o[b % 2] += x[b]
        cuda.threadfence()
        cuda.atomic.exch(lock, b % 2, 0)


@bug(RACES, 4, 32, numbers(4), zeros(1), ints(1))
def read_outside_the_lock(x, o, lock):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        v = o[0]  # BUG
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        o[0] = v + x[b]  # BUG
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)


@bug("waits-for-ever", 1, 32, zeros(1), ints(1))
def lock_taken_twice(o, lock):
    if cuda.threadIdx.x == 0:
        for _ in range(2):
            while cuda.atomic.cas(lock, 0, 0, 1) != 0:  # BUG
                pass
            o[0] += 1


@bug("waits-for-ever", 2, 64, zeros(1), ints(1))
def released_by_value_never_written(o, state):
    t = cuda.threadIdx.x
    if t == 0:
        cuda.atomic.add(state, 0, 1)
        v = cuda.atomic.add(state, 0, 0)
        while v != 3:  # BUG
            v = cuda.atomic.add(state, 0, 0)
    cuda.syncthreads()
    o[0] = 1 if cuda.grid(1) == 0 else o[0]


# -- producer / consumer warps in a block --------------------------------------------------------------------------
@fine(1, 64, numbers(8, 32), zeros(8, 32))
def double_buffer_between_two_warps(x, y):
    buf = cuda.shared.array((2, 32), float32)
    full, empty = cuda.shared.array(1, int32), cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    lane = t % 32
    if t == 0:
        full[0] = 0
        empty[0] = 0
    cuda.syncthreads()
    for k in range(8):
        if t < 32:
            if lane == 0:
                while cuda.atomic.add(empty, 0, 0) < k - 1:
                    pass
                cuda.threadfence_block()
            cuda.syncwarp()
            buf[k % 2, lane] = x[k, lane]
            cuda.syncwarp()
            if lane == 0:
                cuda.threadfence_block()
                cuda.atomic.add(full, 0, 1)
        else:
            if lane == 0:
                while cuda.atomic.add(full, 0, 0) < k + 1:
                    pass
                cuda.threadfence_block()
            cuda.syncwarp()
            y[k, lane] = buf[k % 2, 31 - lane]
            cuda.syncwarp()
            if lane == 0:
                cuda.threadfence_block()
                cuda.atomic.add(empty, 0, 1)


@bug(RACES, 1, 64, numbers(8, 32), zeros(8, 32))
def double_buffer_one_slot_too_early(x, y):
    buf = cuda.shared.array((2, 32), float32)
    full, empty = cuda.shared.array(1, int32), cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    lane = t % 32
    if t == 0:
        full[0] = 0
        empty[0] = 0
    cuda.syncthreads()
    for k in range(8):
        if t < 32:
            if lane == 0:
                while cuda.atomic.add(empty, 0, 0) < k - 2:
                    pass
                cuda.threadfence_block()
            cuda.syncwarp()
            buf[k % 2, lane] = x[k, lane]  # BUG
            cuda.syncwarp()
            if lane == 0:
                cuda.threadfence_block()
                cuda.atomic.add(full, 0, 1)
        else:
            if lane == 0:
                while cuda.atomic.add(full, 0, 0) < k + 1:
                    pass
                cuda.threadfence_block()
            cuda.syncwarp()
            y[k, lane] = buf[k % 2, 31 - lane]  # BUG
            cuda.syncwarp()
            if lane == 0:
                cuda.threadfence_block()
                cuda.atomic.add(empty, 0, 1)


@bug(RACES, 1, 64, numbers(32), zeros(32))
def the_warp_is_not_waited_for(x, y):
    s, flag = cuda.shared.array(32, float32), cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        flag[0] = 0
    cuda.syncthreads()
    if t < 32:
        s[t] = x[t]  # BUG
        if t == 0:
            cuda.threadfence_block()
            cuda.atomic.exch(flag, 0, 1)
    else:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        cuda.threadfence_block()
        y[t - 32] = s[t - 32]  # BUG


# -- device functions and data structures --------------------------------------------------------------------------
@cuda.jit(device=True)
def wait_for(flag, k, value):
    while cuda.atomic.add(flag, k, 0) < value:
        cuda.nanosleep(20)
    cuda.threadfence()


@cuda.jit(device=True)
def publish(flag, k, value):
    cuda.threadfence()
    cuda.atomic.exch(flag, k, value)


@fine(4, 1, zeros(4, 6), ints(4))
def wavefront_over_blocks(a, done):
    b = cuda.blockIdx.x
    for j in range(6):
        if b > 0:
            wait_for(done, b - 1, j + 1)
        up = a[b - 1, j] if b > 0 else float32(1)
        left = a[b, j - 1] if j > 0 else float32(1)
        a[b, j] = up + left
        publish(done, b, j + 1)


@bug(RACES, 4, 1, zeros(4, 6), ints(4))
def wavefront_one_behind(a, done):
    b = cuda.blockIdx.x
    for j in range(6):
        if b > 0:
            wait_for(done, b - 1, j)
        up = a[b - 1, j] if b > 0 else float32(1)  # BUG
        left = a[b, j - 1] if j > 0 else float32(1)
        a[b, j] = up + left  # BUG
        publish(done, b, j + 1)


@fine(1, 128, numbers(128), ints(1), lambda: np.full(128, -1, np.int32))
def linked_list_by_cas(x, head, following):
    i = cuda.grid(1)
    old = cuda.atomic.add(head, 0, 0)
    while True:
        cuda.atomic.exch(following, i, old)
        seen = cuda.atomic.cas(head, 0, old, i + 1)
        if seen == old:
            break
        old = seen


@fine(1, 64, numbers(64), lambda: np.full(97, -1, np.int32), zeros(97))
def hash_table_insert(x, keys, values):
    i = cuda.grid(1)
    h = (i * 31) % 97
    while True:
        old = cuda.atomic.cas(keys, h, -1, i)
        if old == -1:
            values[h] = x[i]
            break
        h = (h + 1) % 97


@bug(RACES, 1, 64, numbers(64), ints(97), zeros(97))
def hash_table_insert_without_cas(x, keys, values):
    i = cuda.grid(1)
    h = (i * 31) % 16
    while keys[h] != 0:  # BUG
        h = (h + 1) % 97
    keys[h] = i + 1  # BUG
    values[h] = x[i]  # BUG


# -- work that ends ------------------------------------------------------------------------------------------------
@fine(3, 32, numbers(200), zeros(200), ints(1))
def persistent_threads_draw_work(x, y, next_):
    while True:
        i = cuda.atomic.add(next_, 0, 1)
        if i >= x.size:
            break
        y[i] = 2 * x[i]


@bug("out-of-bounds", 3, 32, numbers(200), zeros(200), ints(1))
def persistent_threads_draw_one_too_many(x, y, next_):
    while True:
        i = cuda.atomic.add(next_, 0, 1)
        if i > x.size:
            break
        y[i] = 2 * x[i]  # BUG


@fine(1, 64, numbers(64), zeros(64))
def binary_search(x, y):
    i = cuda.grid(1)
    low, high = 0, 64
    while low < high:
        middle = (low + high) // 2
        if x[middle] < x[i]:
            low = middle + 1
        else:
            high = middle
    y[i] = low


# -- warps ---------------------------------------------------------------------------------------------------------
@fine(1, 32, numbers(32), zeros(32))
def scan_by_shuffles_up(x, y):
    lane = cuda.threadIdx.x
    v = x[lane]
    d = 1
    while d < 32:
        u = cuda.shfl_up_sync(0xFFFFFFFF, v, d)
        if lane >= d:
            v += u
        d *= 2
    y[lane] = v


@bug("inactive-lane-read", 1, 20, numbers(20), zeros(20))
def ring_of_twenty_lanes(x, y):
    lane = cuda.threadIdx.x
    y[lane] = cuda.shfl_down_sync(0xFFFFFFFF, x[lane], 1)  # BUG


@fine(1, 20, numbers(20), zeros(20))
def ring_of_twenty_lanes_mended(x, y):
    lane = cuda.threadIdx.x
    v = cuda.shfl_down_sync(0xFFFFFFFF, x[lane], 1)
    y[lane] = v if lane < 19 else x[0]


@cuda.jit(device=True)
def shift_in(s, v):
    s[cuda.threadIdx.x] = v
    cuda.syncthreads()


@bug("divergent-barrier", 1, 64, numbers(64), zeros(64))
def nested_call_paths(x, y):
    t = cuda.threadIdx.x
    s = cuda.shared.array(64, float32)
    if x[t] > 6:
        shift_in(s, x[t])  # BUG
    else:
        shift_in(s, -x[t])  # BUG
    y[t] = s[t]


@fine(2, 32, zeros(64, dtype=MIXED), numbers(64))
def records_of_mixed_sizes(p, x):
    i = cuda.grid(1)
    p[i].n = i
    cuda.syncthreads()
    p[i].v = x[i] + p[i ^ 1].n


@bug(RACES, 2, 32, zeros(64, dtype=MIXED), numbers(64))
def records_read_without_barrier(p, x):
    i = cuda.grid(1)
    p[i].n = i  # BUG
    p[i].v = x[i] + p[i ^ 1].n  # BUG


# -- what is kept of an answer, and how far it reaches -----------------------------------------------------------------


@fine(4, 32, numbers(4), zeros(4), ints(1), zeros(1))
def bool_kept_in_a_variable(x, part, count, out):
    if cuda.threadIdx.x == 0:
        part[cuda.blockIdx.x] = x[cuda.blockIdx.x]
        cuda.threadfence()
        n = cuda.atomic.add(count, 0, 1)
        is_last = n == cuda.gridDim.x - 1
        cuda.threadfence()
        if is_last:
            for k in range(4):
                out[0] += part[k]


@bug(RACES, 4, 32, numbers(4), zeros(4), ints(1), zeros(1))
def bool_kept_off_by_one(x, part, count, out):
    if cuda.threadIdx.x == 0:
        part[cuda.blockIdx.x] = x[cuda.blockIdx.x]  # BUG
        cuda.threadfence()
        n = cuda.atomic.add(count, 0, 1)
        nearly = n == cuda.gridDim.x - 2
        cuda.threadfence()
        if nearly:
            for k in range(4):
                out[0] += part[k]  # BUG


@fine(4, 32, numbers(4), zeros(4), lambda: np.full(1, 4, np.int32), zeros(1))
def counts_down_to_zero(x, part, left, out):
    if cuda.threadIdx.x == 0:
        part[cuda.blockIdx.x] = x[cuda.blockIdx.x]
        cuda.threadfence()
        if cuda.atomic.sub(left, 0, 1) == 1:
            cuda.threadfence()
            for k in range(4):
                out[0] += part[k]


@fine(4, 32, numbers(4), zeros(4), ints(1), zeros(4))
def all_wait_at_or_after(x, part, count, out):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        part[b] = x[b]
        cuda.threadfence()
        n = cuda.atomic.add(count, 0, 1) + 1
        while n < 4:
            n = cuda.atomic.add(count, 0, 0)
        cuda.threadfence()
        out[b] = part[(b + 1) % 4]


@bug(RACES, 4, 32, numbers(4), zeros(4), ints(1), zeros(4))
def all_wait_but_one_short(x, part, count, out):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        part[b] = x[b]  # BUG
        cuda.threadfence()
        n = cuda.atomic.add(count, 0, 1) + 1
        while n < 3:
            n = cuda.atomic.add(count, 0, 0)
        cuda.threadfence()
        out[b] = part[(b + 1) % 4]  # BUG


@fine(4, 32, numbers(4), zeros(1), ints(1), ints(1))
def max_with_its_place_under_a_lock(x, best, where, lock):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        done = False
        while not done:
            if cuda.atomic.cas(lock, 0, 0, 1) == 0:
                cuda.threadfence()
                if x[b] > best[0]:
                    best[0] = x[b]
                    where[0] = b
                cuda.threadfence()
                cuda.atomic.exch(lock, 0, 0)
                done = True


@bug("waits-for-ever", 4, 32, numbers(4), zeros(1), ints(1))
def lock_not_given_back_in_a_branch(x, best, lock):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:  # BUG
            pass
        cuda.threadfence()
        if x[b] > 2:
            best[0] = x[b]
            cuda.threadfence()
            cuda.atomic.exch(lock, 0, 0)


@fine(2, 64, zeros(64), ints(2))
def ping_pong_own(x, turn):
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    for k in range(3):
        if t == 0:
            while cuda.atomic.add(turn, 0, 0) != 2 * k + b:
                pass
            cuda.threadfence()
        cuda.syncthreads()
        x[t] += b + 1
        cuda.syncthreads()
        if t == 0:
            cuda.threadfence()
            cuda.atomic.add(turn, 0, 1)


@bug(RACES, 2, 64, zeros(64), ints(2))
def ping_pong_wrong_turn(x, turn):
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    for k in range(3):
        if t == 0:
            while cuda.atomic.add(turn, 0, 0) < 2 * k:
                pass
            cuda.threadfence()
        cuda.syncthreads()
        x[t] += b + 1  # BUG
        cuda.syncthreads()
        if t == 0:
            cuda.threadfence()
            cuda.atomic.add(turn, 0, 1)


@bug(RACES, 2, 64, zeros(64), ints(2))
def ping_pong_without_last_barrier(x, turn):
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    if t == 0:
        while cuda.atomic.add(turn, 0, 0) != b:
            pass
        cuda.threadfence()
    cuda.syncthreads()
    x[t] += b + 1  # BUG
    if t == 0:
        cuda.threadfence()
        cuda.atomic.add(turn, 0, 1)


@fine(3, 64, numbers(192), zeros(3), ints(1), zeros(1))
def the_last_warp_of_the_last_block(x, part, count, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    v = x[cuda.grid(1)]
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, d)
    if t % 32 == 0:
        cuda.atomic.add(part, b, v)
        cuda.threadfence()
        if cuda.atomic.add(count, 0, 1) == 5:
            cuda.threadfence()
            out[0] = part[0] + part[1] + part[2]


@fine(1, 96, numbers(96), zeros(96))
def pipeline_of_three_warps(x, y):
    s, stage = cuda.shared.array((3, 32), float32), cuda.shared.array(3, int32)
    t = cuda.threadIdx.x
    w, lane = t // 32, t % 32
    if t < 3:
        cuda.atomic.exch(stage, t, 0)
    cuda.syncthreads()
    if w > 0:
        if lane == 0:
            while cuda.atomic.add(stage, w - 1, 0) == 0:
                pass
            cuda.threadfence_block()
        cuda.syncwarp()
        s[w, lane] = s[w - 1, 31 - lane] + x[t]
    else:
        s[w, lane] = x[t]
    cuda.syncwarp()
    if lane == 0:
        cuda.threadfence_block()
        cuda.atomic.exch(stage, w, 1)
    y[t] = s[w, lane]


@bug(RACES, 1, 96, numbers(96), zeros(96))
def pipeline_without_syncwarp_after_the_wait(x, y):
    s, stage = cuda.shared.array((3, 32), float32), cuda.shared.array(3, int32)
    t = cuda.threadIdx.x
    w, lane = t // 32, t % 32
    if t < 3:
        cuda.atomic.exch(stage, t, 0)
    cuda.syncthreads()
    if w > 0:
        if lane == 0:
            while cuda.atomic.add(stage, w - 1, 0) == 0:
                pass
            cuda.threadfence_block()
        s[w, lane] = s[w - 1, 31 - lane] + x[t]  # BUG
    else:
        s[w, lane] = x[t]  # BUG
    cuda.syncwarp()
    if lane == 0:
        cuda.threadfence_block()
        cuda.atomic.exch(stage, w, 1)
    y[t] = s[w, lane]


@fine(3, 32, numbers(3), zeros(3), ints(3), zeros(3))
def flags_in_both_directions(x, a, flag, y):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        a[b] = x[b]
        cuda.threadfence()
        cuda.atomic.max(flag, b, 1)
        for k in range(3):
            while cuda.atomic.max(flag, k, 0) == 0:
                pass
        cuda.threadfence()
        y[b] = a[0] + a[1] + a[2]


@bug(RACES, 3, 32, numbers(3), zeros(3), ints(3), zeros(3))
def flags_of_all_but_the_last(x, a, flag, y):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        a[b] = x[b]  # BUG
        cuda.threadfence()
        cuda.atomic.max(flag, b, 1)
        for k in range(2):
            while cuda.atomic.max(flag, k, 0) == 0:
                pass
        cuda.threadfence()
        y[b] = a[0] + a[1] + a[2]  # BUG


@fine(1, 64, numbers(64), zeros(64))
def warp_votes_then_block_counts(x, y):
    t = cuda.threadIdx.x
    n = cuda.syncthreads_count(1 if x[t] > 5 else 0)
    m = cuda.popc(cuda.ballot_sync(0xFFFFFFFF, x[t] > 5))
    y[t] = n * 100 + m


@fine(2, 32, numbers(64), zeros(64), ints(1))
def bounded_wait_that_gives_up(x, y, flag):
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    if b == 1 and t == 0:
        y[0] = x[0]
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    if b == 0 and t == 0:
        for _ in range(1000):
            if cuda.atomic.add(flag, 0, 0) == 1:
                cuda.threadfence()
                y[1] = y[0]
                break


@bug(RACES, 2, 32, numbers(64), zeros(64), ints(1))
def bounded_wait_that_goes_on_all_the_same(x, y, flag):
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    if b == 1 and t == 0:
        y[0] = x[0]  # BUG
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    if b == 0 and t == 0:
        for _ in range(1000):
            if cuda.atomic.add(flag, 0, 0) == 1:
                break
        cuda.threadfence()
        y[1] = y[0]  # BUG


@fine(4, 32, numbers(4), zeros(4), ints(1), zeros(1))
def flag_of_shared_memory_set_in_a_branch(x, part, count, out):
    last = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        last[0] = 0
        part[cuda.blockIdx.x] = x[cuda.blockIdx.x]
        cuda.threadfence()
        if cuda.atomic.add(count, 0, 1) == 3:
            last[0] = 1
    cuda.syncthreads()
    if last[0] == 1 and t < 4:
        cuda.threadfence()
        cuda.atomic.add(out, 0, part[t])


@fine(4, 32, zeros(4), zeros(1), ints(1))
def waits_for_all_but_itself(x, y, count):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if b > 0:
            x[b] = b
            cuda.threadfence()
            cuda.atomic.add(count, 0, 1)
        else:
            while cuda.atomic.add(count, 0, 0) + 1 < cuda.gridDim.x:
                pass
            cuda.threadfence()
            for k in range(1, cuda.gridDim.x):
                y[0] += x[k]


@bug(RACES, 4, 32, zeros(4), zeros(1), ints(1))
def waits_for_all_but_itself_and_one(x, y, count):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if b > 0:
            x[b] = b  # BUG
            cuda.threadfence()
            cuda.atomic.add(count, 0, 1)
        else:
            while True:
                came = 2 + cuda.atomic.add(count, 0, 0)
                if cuda.gridDim.x <= came:
                    break
            cuda.threadfence()
            for k in range(1, cuda.gridDim.x):
                y[0] += x[k]  # BUG
