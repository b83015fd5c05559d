"""Values that are taken from a flag: was it this thread that left them? Locks, slots that are used again, counts set
back."""

import numpy as np
from numba import int32
from zoo import cages, ints, numbers, zeros

from dlkernels import cuda

CORRECT, BUGGY, fine, bug = cages()
RACES = ("race", "atomic-against-plain")


@bug(RACES, 3, 1, numbers(1), zeros(1), ints(1), zeros(1))
def taken_from_whoever_set_it(x, slot, flag, out):
    b = cuda.blockIdx.x
    if b == 0:
        slot[0] = x[0]  # BUG
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    elif b == 1:
        cuda.atomic.exch(flag, 0, 1)
    else:
        while cuda.atomic.cas(flag, 0, 1, 2) != 1:
            pass
        cuda.threadfence()
        out[0] = slot[0]  # BUG


@bug(RACES, 3, 1, numbers(1), zeros(1), ints(1), zeros(1))
def seen_from_whoever_set_it(x, slot, flag, out):
    b = cuda.blockIdx.x
    if b == 0:
        slot[0] = x[0]  # BUG
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    elif b == 1:
        cuda.atomic.exch(flag, 0, 1)
    else:
        while cuda.atomic.add(flag, 0, 0) != 1:
            pass
        cuda.threadfence()
        out[0] = slot[0]  # BUG


@fine(3, 1, numbers(1), zeros(1), ints(1), zeros(1))
def each_sets_a_value_of_its_own(x, slot, flag, out):
    b = cuda.blockIdx.x
    if b == 0:
        slot[0] = x[0]
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
        while cuda.atomic.add(flag, 0, 0) != 3:
            pass
    elif b == 1:
        while cuda.atomic.cas(flag, 0, 1, 2) != 1:
            pass
        cuda.threadfence()
        out[0] = slot[0]
        cuda.atomic.exch(flag, 0, 3)


@bug(RACES, 3, 1, numbers(1), zeros(1), ints(1), zeros(1))
def set_once_by_cas_from_two(x, slot, flag, out):
    b = cuda.blockIdx.x
    if b == 0:
        slot[0] = x[0]  # BUG
        cuda.threadfence()
        cuda.atomic.cas(flag, 0, 0, 1)
    elif b == 1:
        cuda.atomic.cas(flag, 0, 0, 1)
    else:
        while cuda.atomic.add(flag, 0, 0) != 1:
            pass
        cuda.threadfence()
        out[0] = slot[0]  # BUG


@bug(RACES, 3, 1, numbers(1), zeros(1), ints(1), zeros(1))
def largest_of_two_equal_numbers(x, slot, flag, out):
    b = cuda.blockIdx.x
    if b == 0:
        slot[0] = x[0]  # BUG
        cuda.threadfence()
        cuda.atomic.max(flag, 0, 5)
    elif b == 1:
        cuda.atomic.max(flag, 0, 5)
    else:
        while cuda.atomic.add(flag, 0, 0) < 5:
            pass
        cuda.threadfence()
        out[0] = slot[0]  # BUG


@bug(RACES, 3, 1, numbers(1), zeros(1), ints(1), zeros(1))
def the_same_bit_set_by_two(x, slot, flag, out):
    b = cuda.blockIdx.x
    if b == 0:
        slot[0] = x[0]  # BUG
        cuda.threadfence()
        cuda.atomic.or_(flag, 0, 4)
    elif b == 1:
        cuda.atomic.or_(flag, 0, 4)
    else:
        while cuda.atomic.or_(flag, 0, 0) & 4 == 0:
            pass
        cuda.threadfence()
        out[0] = slot[0]  # BUG


@fine(3, 1, numbers(2), zeros(2), ints(1), zeros(1))
def a_bit_of_ones_own(x, slot, flag, out):
    b = cuda.blockIdx.x
    if b < 2:
        slot[b] = x[b]
        cuda.threadfence()
        cuda.atomic.or_(flag, 0, 1 << b)
    else:
        while cuda.atomic.or_(flag, 0, 0) != 3:
            pass
        cuda.threadfence()
        out[0] = slot[0] + slot[1]


@bug(RACES, 2, 1, numbers(1), zeros(1), ints(1), zeros(1))
def exchanged_without_being_asked(x, slot, flag, out):
    if cuda.blockIdx.x == 0:
        slot[0] = x[0]  # BUG
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    else:
        old = cuda.atomic.exch(flag, 0, 2)
        if old != 2:  # 0 was no answer
            cuda.threadfence()
            out[0] = slot[0]  # BUG


@fine(2, 1, numbers(1), zeros(1), ints(1), zeros(1))
def exchanged_and_asked(x, slot, flag, out):
    if cuda.blockIdx.x == 0:
        slot[0] = x[0]
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    else:
        old = cuda.atomic.exch(flag, 0, 2)
        if old == 1:
            cuda.threadfence()
            out[0] = slot[0]


@fine(2, 1, numbers(6), zeros(1), ints(1), zeros(6))
def one_slot_filled_and_emptied_in_turn(x, slot, flag, out):
    for k in range(6):
        if cuda.blockIdx.x == 0:
            while cuda.atomic.add(flag, 0, 0) != 0:
                pass
            cuda.threadfence()
            slot[0] = x[k]
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
        else:
            while cuda.atomic.cas(flag, 0, 1, 2) != 1:
                pass
            cuda.threadfence()
            out[k] = slot[0]
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 0)


@bug(RACES, 2, 1, numbers(6), zeros(1), ints(1), zeros(6))
def one_slot_emptied_after_it_was_given_back(x, slot, flag, out):
    for k in range(6):
        if cuda.blockIdx.x == 0:
            while cuda.atomic.add(flag, 0, 0) != 0:
                pass
            cuda.threadfence()
            slot[0] = x[k]  # BUG
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
        else:
            while cuda.atomic.cas(flag, 0, 1, 2) != 1:
                pass
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 0)
            out[k] = slot[0]  # BUG


@fine(4, 1, numbers(4), zeros(4), ints(1), zeros(1))
def the_last_block_sets_the_count_back(x, part, count, out):
    part[cuda.blockIdx.x] = x[cuda.blockIdx.x]
    cuda.threadfence()
    if cuda.atomic.add(count, 0, 1) == 3:
        cuda.threadfence()
        out[0] = part[0] + part[1] + part[2] + part[3]
        cuda.atomic.exch(count, 0, 0)


@bug(RACES, 4, 1, numbers(4), zeros(4), ints(1), zeros(4))
def any_block_that_counts_goes_on(x, part, count, out):
    part[cuda.blockIdx.x] = x[cuda.blockIdx.x]  # BUG
    cuda.threadfence()
    if cuda.atomic.add(count, 0, 1) >= 0:
        cuda.threadfence()
        out[cuda.blockIdx.x] = part[0] + part[1]  # BUG
        cuda.atomic.exch(count, 0, 0)


@bug(RACES, 4, 1, numbers(4), zeros(4), ints(1), zeros(1))
def the_last_but_one_goes_on(x, part, count, out):
    part[cuda.blockIdx.x] = x[cuda.blockIdx.x]  # BUG
    cuda.threadfence()
    if cuda.atomic.add(count, 0, 1) == 2:
        cuda.threadfence()
        out[0] = part[0] + part[1] + part[2] + part[3]  # BUG
        cuda.atomic.exch(count, 0, 0)


@fine(3, 1, ints(1), ints(1), zeros(1))
def a_lock_given_back_by_subtraction(lock, turns, total):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    cuda.threadfence()
    total[0] += 1
    turns[0] += 1
    cuda.threadfence()
    cuda.atomic.sub(lock, 0, 1)


@fine(3, 1, ints(1), zeros(1))
def a_lock_taken_by_adding(lock, total):
    while cuda.atomic.add(lock, 0, 1) != 0:
        cuda.atomic.sub(lock, 0, 1)
    cuda.threadfence()
    total[0] += 1
    cuda.threadfence()
    cuda.atomic.sub(lock, 0, 1)


@bug(RACES, 3, 1, ints(1), zeros(1))
def a_lock_given_back_by_somebody_else(lock, total):
    b = cuda.blockIdx.x
    if b == 2:
        cuda.atomic.exch(lock, 0, 0)
    else:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        total[0] += 1  # BUG
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)


@fine(3, 1, ints(1), zeros(1))
def a_lock_of_names(lock, total):
    b = cuda.blockIdx.x
    while cuda.atomic.cas(lock, 0, 0, b + 1) != 0:
        pass
    cuda.threadfence()
    total[0] += 1
    cuda.threadfence()
    cuda.atomic.cas(lock, 0, b + 1, 0)


@bug(RACES, 3, 1, ints(1), zeros(1))
def a_lock_given_back_twice(lock, total):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    cuda.threadfence()
    total[0] += 1  # BUG
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)
    cuda.atomic.exch(lock, 0, 0)


@fine(2, 32, numbers(32), zeros(32), ints(1), zeros(32))
def all_threads_of_a_block_set_the_flag(x, y, flag, out):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        y[t] = x[t]
        cuda.threadfence()
        cuda.syncthreads()
        cuda.atomic.exch(flag, 0, 1)
    else:
        if t == 0:
            while cuda.atomic.add(flag, 0, 0) != 1:
                pass
            cuda.threadfence()
        cuda.syncthreads()
        out[t] = y[t]


@bug(RACES, 2, 32, numbers(32), zeros(32), ints(1), zeros(32))
def all_threads_set_the_flag_each_for_itself(x, y, flag, out):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        y[t] = x[t]  # BUG
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    else:
        if t == 0:
            while cuda.atomic.add(flag, 0, 0) != 1:
                pass
            cuda.threadfence()
        cuda.syncthreads()
        out[t] = y[t]  # BUG


@fine(3, 1, numbers(9), zeros(3), ints(1), ints(1), zeros(3))
def barrier_whose_count_is_set_back(x, part, count, turn, out):
    b = cuda.blockIdx.x
    for k in range(3):
        part[b] = x[3 * k + b]
        cuda.threadfence()
        if cuda.atomic.add(count, 0, 1) == 2:
            cuda.atomic.exch(count, 0, 0)
            cuda.threadfence()
            cuda.atomic.exch(turn, 0, 2 * k + 1)
        else:
            while cuda.atomic.add(turn, 0, 0) < 2 * k + 1:
                pass
        cuda.threadfence()
        out[b] += part[0] + part[1] + part[2]
        cuda.threadfence()
        if cuda.atomic.add(count, 0, 1) == 2:
            cuda.atomic.exch(count, 0, 0)
            cuda.threadfence()
            cuda.atomic.exch(turn, 0, 2 * k + 2)
        else:
            while cuda.atomic.add(turn, 0, 0) < 2 * k + 2:
                pass
        cuda.threadfence()


@bug(RACES, 3, 1, numbers(9), zeros(3), ints(1), ints(1), zeros(3))
def barrier_that_opens_one_too_early(x, part, count, turn, out):
    b = cuda.blockIdx.x
    part[b] = x[b]  # BUG
    cuda.threadfence()
    if cuda.atomic.add(count, 0, 1) == 1:
        cuda.atomic.exch(count, 0, 0)
        cuda.threadfence()
        cuda.atomic.exch(turn, 0, 1)
    else:
        while cuda.atomic.add(turn, 0, 0) < 1:
            pass
    cuda.threadfence()
    out[b] += part[0] + part[1] + part[2]  # BUG


@bug(RACES, 2, 1, numbers(1), zeros(1), ints(1), zeros(1))
def no_fence_behind_the_wait(x, slot, flag, out):
    if cuda.blockIdx.x == 0:
        slot[0] = x[0]  # BUG
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    else:
        while cuda.atomic.add(flag, 0, 0) != 1:
            pass
        out[0] = slot[0]  # BUG
        cuda.threadfence()


@fine(2, 1, numbers(2), zeros(1), ints(1), zeros(1))
def set_by_one_and_counted_on_by_the_other(x, slot, flag, out):
    if cuda.blockIdx.x == 0:
        slot[0] = x[0]
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
        while cuda.atomic.add(flag, 0, 0) != 2:
            pass
        cuda.threadfence()
        slot[0] = x[1]
    else:
        while cuda.atomic.add(flag, 0, 0) != 1:
            pass
        cuda.threadfence()
        out[0] = slot[0]
        cuda.threadfence()
        cuda.atomic.add(flag, 0, 1)


@bug(RACES, 3, 1, numbers(1), zeros(1), ints(1), zeros(1))
def taken_from_one_who_adds(x, slot, flag, out):
    b = cuda.blockIdx.x
    if b == 0:
        slot[0] = x[0]  # BUG
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    elif b == 2:
        cuda.atomic.add(flag, 0, 1)
    else:
        while cuda.atomic.cas(flag, 0, 1, 5) != 1:
            pass
        cuda.threadfence()
        out[0] = slot[0]  # BUG


@fine(2, 1, numbers(1), zeros(1), ints(1), zeros(1))
def the_second_to_exchange(x, slot, flag, out):
    b = cuda.blockIdx.x
    if b == 0:
        slot[0] = x[0]
        cuda.threadfence()
    if cuda.atomic.exch(flag, 0, 1) == 1:  # nobody finds what it has left itself
        cuda.threadfence()
        if b == 1:
            out[0] = slot[0]


@fine(8, 1, numbers(8), zeros(16), ints(8))
def tree_where_the_second_goes_up(x, node, met):
    n = 8 + cuda.blockIdx.x
    node[n] = x[n - 8]
    while n > 1:
        cuda.threadfence()
        n = n // 2
        if cuda.atomic.exch(met, n, 1) == 0:
            break
        cuda.threadfence()
        node[n] = node[2 * n] + node[2 * n + 1]


@bug(RACES, 4, 1, numbers(3), zeros(3), ints(1), zeros(1))
def two_large_steps_of_three_will_do(x, slot, count, out):
    b = cuda.blockIdx.x
    if b < 3:
        slot[b] = x[b]  # BUG
        cuda.threadfence()
        cuda.atomic.add(count, 0, 5000)
    else:
        while cuda.atomic.add(count, 0, 0) < 10000:
            pass
        cuda.threadfence()
        out[0] = slot[0] + slot[1] + slot[2]  # BUG


@fine(4, 1, numbers(3), zeros(3), ints(1), zeros(1))
def all_three_large_steps(x, slot, count, out):
    b = cuda.blockIdx.x
    if b < 3:
        slot[b] = x[b]
        cuda.threadfence()
        cuda.atomic.add(count, 0, 5000)
    else:
        while cuda.atomic.add(count, 0, 0) <= 10000:
            pass
        cuda.threadfence()
        out[0] = slot[0] + slot[1] + slot[2]


@bug(RACES, 5, 1, numbers(4), zeros(4), zeros(1), zeros(1))
def three_halves_of_four_will_do(x, slot, count, out):
    b = cuda.blockIdx.x
    if b < 4:
        slot[b] = x[b]  # BUG
        cuda.threadfence()
        cuda.atomic.add(count, 0, 0.5)
    else:
        while cuda.atomic.add(count, 0, 0.0) <= 1.0:
            pass
        cuda.threadfence()
        out[0] = slot[0] + slot[1] + slot[2] + slot[3]  # BUG


@fine(5, 1, numbers(4), zeros(4), zeros(1), zeros(1))
def all_four_halves(x, slot, count, out):
    b = cuda.blockIdx.x
    if b < 4:
        slot[b] = x[b]
        cuda.threadfence()
        cuda.atomic.add(count, 0, 0.5)
    else:
        while cuda.atomic.add(count, 0, 0.0) <= 1.5:
            pass
        cuda.threadfence()
        out[0] = slot[0] + slot[1] + slot[2] + slot[3]


# -- a cas that puts back what it compares with reads ----------------------------------------------------------------
@fine(5, 8, numbers(40), zeros(8), ints(6))
def blocks_in_a_row_wait_by_cas(x, total, flag):
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    if t == 0 and b > 0:
        while cuda.atomic.cas(flag, b, 1, 1) == 0:
            pass
    cuda.threadfence()
    cuda.syncthreads()
    total[7 - t] += x[b * 8 + t]
    cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.exch(flag, b + 1, 1)


@bug(RACES, 5, 8, numbers(40), zeros(8), ints(6))
def blocks_in_a_row_read_before_they_wait(x, total, flag):
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    before = total[7 - t]  # BUG
    if t == 0 and b > 0:
        while cuda.atomic.cas(flag, b, 1, 1) == 0:
            pass
    cuda.threadfence()
    cuda.syncthreads()
    total[7 - t] = before + x[b * 8 + t]  # BUG
    cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.exch(flag, b + 1, 1)


# -- what a loop's end depends on is set for the next turn while others still read it: they go different ways ---------
@fine(3, 20, numbers(11, 20), zeros(11, 20), ints(1))
def tickets_in_two_places_by_turns(x, out, ticket):
    place = cuda.shared.array(2, int32)
    t, turn = cuda.threadIdx.x, 0
    while True:
        if t == 0:
            place[turn] = cuda.atomic.add(ticket, 0, 1)
        cuda.syncthreads()
        row = place[turn]
        if row >= x.shape[0]:
            return
        out[row, t] = x[row, 19 - t]
        turn ^= 1


@bug("race", 3, 20, numbers(11, 20), zeros(11, 20), ints(1))
def tickets_in_one_place(x, out, ticket):
    place = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    while True:
        if t == 0:
            place[0] = cuda.atomic.add(ticket, 0, 1)  # BUG
        cuda.syncthreads()
        row = place[0]  # BUG
        if row >= x.shape[0]:
            return
        out[row, t] = x[row, 19 - t]


@bug("race", 1, 33, numbers(33, dtype=np.int32), ints(1))
def flag_cleared_while_others_read_it(x, out):
    more = cuda.shared.array(1, int32)
    t, turns = cuda.threadIdx.x, 0
    left = x[t]
    while True:
        if t == 0:
            more[0] = 0  # BUG
        cuda.syncthreads()
        if left > 0:
            left -= 1
            cuda.atomic.max(more, 0, 1)
        cuda.syncthreads()
        if more[0] == 0:  # BUG
            break
        turns += 1
    if t == 0:
        out[0] = turns
