"""Threads that wait for one another by flags, locks and counters of their own: correct ones, and wrong ones.

In numba a flag is set and read with ``cuda.atomic``: a plain load in a loop may be read once and kept.
"""

from numba import float32, int32
from zoo import cages, ints, numbers, zeros

from dlkernels import cuda

CORRECT, BUGGY, fine, bug = cages()


# -- flags: correct ---------------------------------------------------------------------------------------------------


@fine(1, 64, numbers(64), zeros(64))
def flag_in_shared_memory_between_warps(x, y):
    value, flag = cuda.shared.array(1, float32), cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        flag[0] = 0
    cuda.syncthreads()
    if t == 32:
        value[0] = x[5]
        cuda.threadfence_block()
        cuda.atomic.exch(flag, 0, 1)
    elif t == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        cuda.threadfence_block()
        y[0] = value[0]


@fine(4, 32, numbers(128), zeros(4), ints(4))
def each_block_waits_for_the_next(x, part, flag):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        v = float32(0)
        if b < 3:
            while cuda.atomic.add(flag, b + 1, 0) == 0:
                pass
            cuda.threadfence()
            v = part[b + 1]
        part[b] = x[b * 32] + v
        cuda.threadfence()
        cuda.atomic.exch(flag, b, 1)


@fine(4, 32, numbers(128), zeros(128), ints())
def home_made_grid_barrier(x, y, arrived):
    i = cuda.grid(1)
    y[i] = x[i]
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        cuda.atomic.add(arrived, 0, 1)
        while cuda.atomic.add(arrived, 0, 0) < cuda.gridDim.x:
            pass
        cuda.threadfence()
    cuda.syncthreads()
    x[i] = y[127 - i]


@cuda.jit(device=True)
def meet(arrived, turn):
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        cuda.atomic.add(arrived, 0, 1)
        while cuda.atomic.add(arrived, 0, 0) < turn * cuda.gridDim.x:
            cuda.nanosleep(100)
        cuda.threadfence()
    cuda.syncthreads()


@fine(3, 32, numbers(96), zeros(96), ints())
def grid_barrier_in_a_device_function_three_times(x, y, arrived):
    i = cuda.grid(1)
    for turn in range(1, 4):
        y[i] = x[i] + turn
        meet(arrived, 2 * turn - 1)
        x[i] = y[95 - i]
        meet(arrived, 2 * turn)


@fine(24, 32, numbers(24 * 32), zeros(24), zeros(24), ints(24))
def decoupled_look_back(x, total, upto, state):
    """The sums of the blocks before, as in a scan in one pass: 0 nothing yet, 1 the block's own sum, 2 all up to it."""
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        own = float32(0)
        for k in range(32):
            own += x[b * 32 + k]
        total[b] = own
        cuda.threadfence()
        cuda.atomic.exch(state, b, 1)
        before, p = float32(0), b - 1
        while p >= 0:
            s = cuda.atomic.add(state, p, 0)
            if s == 0:
                continue
            cuda.threadfence()
            if s == 2:
                before += upto[p]
                break
            before += total[p]
            p -= 1
        upto[b] = before + own
        cuda.threadfence()
        cuda.atomic.exch(state, b, 2)


@fine(6, 32, numbers(192), zeros(192), ints(), ints(6), zeros(6))
def look_back_with_a_ticket_and_the_whole_block(x, y, ticket, done, carry):
    """Chained scan: the block's number is drawn, so that it waits only for blocks that have begun."""
    own, s = cuda.shared.array(1, int32), cuda.shared.array(2, float32)
    t = cuda.threadIdx.x
    if t == 0:
        own[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    b = own[0]
    if t == 0:
        v = float32(0)
        for k in range(32):
            v += x[b * 32 + k]
        s[1] = v
        s[0] = 0
        if b > 0:
            while cuda.atomic.add(done, b - 1, 0) == 0:
                pass
            cuda.threadfence()
            s[0] = carry[b - 1]
        carry[b] = s[0] + s[1]
        cuda.threadfence()
        cuda.atomic.exch(done, b, 1)
    cuda.syncthreads()
    y[b * 32 + t] = s[0] + x[b * 32 + t]


@fine(3, 4, numbers(12), zeros(12), ints(2))
def barrier_by_generations_four_times(x, y, state):
    i, n = cuda.grid(1), cuda.gridDim.x
    for k in range(4):
        if k % 2 == 0:
            x[i] = x[i] + k
        else:
            y[i] = y[i] + x[(i + 4) % x.size]
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            generation = cuda.atomic.add(state, 0, 0)
            if cuda.atomic.add(state, 1, 1) == n - 1:
                cuda.atomic.exch(state, 1, 0)
                cuda.threadfence()
                cuda.atomic.add(state, 0, 1)
            else:
                while cuda.atomic.add(state, 0, 0) == generation:
                    pass
            cuda.threadfence()
        cuda.syncthreads()


@fine(2, 1, zeros(3), zeros(3), ints())
def waits_for_each_change_of_a_counter(x, y, count):
    if cuda.blockIdx.x == 0:
        for k in range(3):
            x[k] = k + 1
            cuda.threadfence()
            cuda.atomic.add(count, 0, 1)
    else:
        for k in range(3):
            while cuda.atomic.add(count, 0, 0) == k:
                pass
            cuda.threadfence()
            y[k] = x[k]


@bug("race", 3, 1, zeros(3), zeros(1), ints())
def one_change_of_a_counter_for_two_writers(x, y, count):
    b = cuda.blockIdx.x
    if b < 2:
        x[b] = 1  # BUG
        cuda.threadfence()
        cuda.atomic.add(count, 0, 1)
    else:
        while cuda.atomic.add(count, 0, 0) == 0:
            pass
        cuda.threadfence()
        y[0] = x[0] + x[1]  # BUG


# -- locks: correct ---------------------------------------------------------------------------------------------------


@fine(4, 32, numbers(128), zeros(1), ints())
def lock_taken_by_one_thread_of_each_block(x, o, lock):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        o[0] += x[cuda.blockIdx.x * 32]
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)


@cuda.jit(device=True)
def take(lock):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    cuda.threadfence()


@cuda.jit(device=True)
def give(lock):
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


@fine(3, 64, numbers(192), zeros(1), ints())
def lock_in_device_functions_taken_by_every_thread(x, o, lock):
    """Each thread leaves its turn of the loop only with its work done: no lane waits for a lane of its own warp."""
    open_ = True
    while open_:
        if cuda.atomic.cas(lock, 0, 0, 1) == 0:
            cuda.threadfence()
            o[0] += x[cuda.grid(1)]
            give(lock)
            open_ = False


@fine(2, 64, numbers(128), zeros(2))
def lock_in_shared_memory_of_one_lane_of_each_warp(x, o):
    lock, s = cuda.shared.array(1, int32), cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 0:
        lock[0] = 0
        s[0] = 0
    cuda.syncthreads()
    if t % 32 == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.threadfence_block()
        s[0] += x[cuda.grid(1)]
        cuda.threadfence_block()
        cuda.atomic.exch(lock, 0, 0)
    cuda.syncthreads()
    if t == 0:
        o[cuda.blockIdx.x] = s[0]


# -- counters: correct ------------------------------------------------------------------------------------------------


@fine((4, 20), 32, numbers(4, 20, 32), zeros(4, 20), zeros(20), ints(20))
def split_sums_with_a_counter_for_each_of_twenty_rows(x, part, out, counter):
    k, row = cuda.blockIdx.x, cuda.blockIdx.y
    if cuda.threadIdx.x == 0:
        v = float32(0)
        for j in range(32):
            v += x[k, row, j]
        part[k, row] = v
        cuda.threadfence()
        if cuda.atomic.add(counter, row, 1) == 3:
            cuda.threadfence()
            total = float32(0)
            for j in range(4):
                total += part[j, row]
            out[row] = total


@cuda.jit(device=True)
def last_to_come(counter, parts):
    cuda.threadfence()
    came = cuda.atomic.add(counter, 0, 1)
    cuda.threadfence()
    return came == parts - 1


@fine(4, 32, numbers(128), zeros(4), ints(), zeros(1))
def fence_and_counter_in_a_device_function(x, parts, counter, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        parts[b] = x[b * 32]
        if last_to_come(counter, 4):
            for k in range(4):
                out[0] += parts[k]


@fine(1, 128, numbers(128), zeros(1))
def last_warp_adds_through_a_shared_counter(x, out):
    s, count = cuda.shared.array(4, float32), cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        count[0] = 0
    cuda.syncthreads()
    v = x[t]
    for step in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, step)
    if t % 32 == 0:
        s[t // 32] = v
        cuda.threadfence_block()
        if cuda.atomic.add(count, 0, 1) == 3:
            cuda.threadfence_block()
            out[0] = s[0] + s[1] + s[2] + s[3]


@fine(4, 32, numbers(128), zeros(128), ints(), zeros(1))
def every_thread_fences_then_one_counts_for_the_block(x, parts, counter, out):
    """The order passes from each thread to thread 0 by the barrier: releases are cumulative."""
    last = cuda.shared.array(1, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    parts[i] = 2 * x[i]
    cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        last[0] = cuda.atomic.add(counter, 0, 1)
        cuda.threadfence()
    cuda.syncthreads()
    if last[0] == 3:
        for k in range(4):
            cuda.atomic.add(out, 0, parts[32 * k + t])


@fine(2, 32, ints(64))
def exchange_as_initialiser(out):
    s = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    cuda.atomic.exch(s, t, 0)
    cuda.syncthreads()
    cuda.atomic.add(s, (t * 7) % 32, 1)
    cuda.syncthreads()
    out[cuda.grid(1)] = s[t]


# -- an order that is not there ---------------------------------------------------------------------------------------


@bug("race", 4, 32, numbers(128), zeros(4), ints(), zeros(1))
def fence_before_the_store(x, part, count, out):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        part[b] = x[b * 32]  # BUG
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        if cuda.atomic.add(count, 0, 1) == 3:
            cuda.threadfence()
            for k in range(4):
                out[0] += part[k]  # BUG


@bug("race", 4, 32, numbers(128), zeros(4), ints(), zeros(1))
def fence_by_another_thread(x, part, count, out):
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    if t == 1:
        cuda.threadfence()
    if t == 0:
        part[b] = x[b * 32]  # BUG
        if cuda.atomic.add(count, 0, 1) == 3:
            cuda.threadfence()
            for k in range(4):
                out[0] += part[k]  # BUG


@bug("race", 4, 32, numbers(128), zeros(1), ints())
def lock_with_its_fences_outside(x, o, lock):
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        o[0] += x[cuda.blockIdx.x * 32]  # BUG
        cuda.atomic.exch(lock, 0, 0)
        cuda.threadfence()


@bug("race", 4, 32, numbers(128), zeros(4), zeros(4), ints(4))
def flag_read_but_not_waited_for(x, upto, out, state):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        upto[b] = x[b * 32]  # BUG
        cuda.threadfence()
        cuda.atomic.exch(state, b, 1)
        if b > 0:
            cuda.atomic.add(state, b - 1, 0)
            cuda.threadfence()
            out[b] = upto[b - 1]  # BUG


@bug("race", 4, 32, numbers(128), zeros(4), zeros(4), zeros(1))
def an_atomic_sum_taken_for_a_flag(x, y, o, loss):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        v = x[b * 32]
        y[b] = v  # BUG
        cuda.threadfence()
        cuda.atomic.add(loss, 0, v)
        if b > 0:
            o[b] = y[b - 1]  # BUG


@bug("race", 4, 32, numbers(128), zeros(4), ints(), zeros(4))
def fence_of_the_block_between_blocks(x, part, count, out):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        part[b] = x[b * 32]  # BUG
        cuda.threadfence_block()
        if cuda.atomic.add(count, 0, 1) == 3:
            cuda.threadfence_block()
            for k in range(4):
                out[0] += part[k]  # BUG


# -- what is never set ------------------------------------------------------------------------------------------------

WAITS = "waits-for-ever"


@bug(WAITS, 2, 32, numbers(64), zeros(64), ints(2))
def flag_that_nobody_sets(x, y, flag):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        while cuda.atomic.add(flag, b, 0) != 1:  # BUG
            pass
    cuda.syncthreads()
    y[cuda.grid(1)] = x[cuda.grid(1)]


@bug(WAITS, 4, 32, numbers(128), ints())
def grid_barrier_that_waits_for_one_too_many(x, arrived):
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(arrived, 0, 1)
        while cuda.atomic.add(arrived, 0, 0) <= cuda.gridDim.x:  # BUG
            pass
    cuda.syncthreads()
    x[cuda.grid(1)] = 0


@bug(WAITS, 2, 32, zeros(1), ints())
def lock_that_is_not_given_back(o, lock):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:  # BUG
            pass
        cuda.threadfence()
        o[0] += 1


@bug(WAITS, 1, 64, zeros(2), ints(2))
def two_locks_in_opposite_order(o, lock):
    """Warp 0 holds lock 0 and wants lock 1, warp 1 the other way round: a barrier makes sure that both hold one."""
    t = cuda.threadIdx.x
    w = t // 32
    if t % 32 == 0:
        while cuda.atomic.cas(lock, w, 0, 1) != 0:
            pass
    cuda.syncthreads()
    if t % 32 == 0:
        while cuda.atomic.cas(lock, 1 - w, 0, 1) != 0:  # BUG
            pass
        o[w] = 1


@bug(WAITS, 1, 32, ints(), zeros(32))
def waits_before_the_barrier_that_the_setter_is_at(flag, y):
    t = cuda.threadIdx.x
    if t == 1:
        while cuda.atomic.add(flag, 0, 0) == 0:  # BUG
            pass
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.exch(flag, 0, 1)
    y[t] = t
