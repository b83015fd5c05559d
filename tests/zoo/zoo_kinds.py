"""Kinds of fault that take more than a missing barrier: memory of one's own, copies on their way, overlapping arrays,
plain flags."""

import numpy as np
from numba import float32
from zoo import cages, ints, numbers, zeros

from dlkernels import cuda
from dlkernels.async_copy import copy_async, wait_copies

CORRECT, BUGGY, fine, bug = cages()
RACES = ("race", "atomic-against-plain")


# -- local arrays start with garbage -----------------------------------------------------------------------------------


@bug("uninitialised-local", 1, 32, numbers(32), zeros(32))
def sums_of_four_begun_without_zeros(x, y):
    t = cuda.threadIdx.x
    sums = cuda.local.array(4, float32)
    for k in range(32):
        sums[k % 4] += x[k]  # BUG
    y[t] = sums[t % 4]


@fine(1, 32, numbers(32), zeros(32))
def sums_of_four_begun_with_zeros(x, y):
    t = cuda.threadIdx.x
    sums = cuda.local.array(4, float32)
    for k in range(4):
        sums[k] = 0
    for k in range(32):
        sums[k % 4] += x[k]
    y[t] = sums[t % 4]


@bug("uninitialised-local", 1, 32, numbers(32), zeros(32), 20)
def window_not_filled_at_the_end(x, y, n):
    t = cuda.threadIdx.x
    window = cuda.local.array(3, float32)
    for k in range(3):
        if t + k < n:
            window[k] = x[t + k]
    y[t] = window[0] + window[1] + window[2]  # BUG


@fine(1, 32, numbers(32), zeros(32), 20)
def window_padded_at_the_end(x, y, n):
    t = cuda.threadIdx.x
    window = cuda.local.array(3, float32)
    for k in range(3):
        window[k] = x[t + k] if t + k < n else 0
    y[t] = window[0] + window[1] + window[2]


# -- copies that are on their way --------------------------------------------------------------------------------------


@bug("unfinished-copy", 1, 32, numbers(128), zeros(32))
def tile_read_while_it_arrives(x, y):
    tile = cuda.shared.array((32, 4), float32)
    t = cuda.threadIdx.x
    copy_async(tile, (t, 0), x, 4 * t, True)
    cuda.syncthreads()
    y[t] = tile[31 - t, 0]  # BUG


@bug("unfinished-copy", 1, 32, numbers(128), zeros(32))
def own_row_read_before_the_wait(x, y):
    tile = cuda.shared.array((32, 4), float32)
    t = cuda.threadIdx.x
    copy_async(tile, (t, 0), x, 4 * t, True)
    v = tile[t, 1]  # BUG
    wait_copies()
    cuda.syncthreads()
    y[t] = v + tile[31 - t, 0]


@bug(("race", "unfinished-copy"), 1, 32, numbers(128), zeros(32))
def each_waits_for_its_own_copy_only(x, y):
    tile = cuda.shared.array((32, 4), float32)
    t = cuda.threadIdx.x
    copy_async(tile, (t, 0), x, 4 * t, True)  # BUG
    wait_copies()
    y[t] = tile[31 - t, 0]  # BUG


@fine(1, 32, numbers(128), zeros(32))
def tile_read_when_all_of_it_has_arrived(x, y):
    tile = cuda.shared.array((32, 4), float32)
    t = cuda.threadIdx.x
    copy_async(tile, (t, 0), x, 4 * t, True)
    wait_copies()
    cuda.syncthreads()
    y[t] = tile[31 - t, 0]


@bug("uninitialised-variable", 1, 32, numbers(20), zeros(32))
def a_variable_for_some_threads_only(x, y):
    t = cuda.threadIdx.x
    if t < x.size:
        v = x[t]
    y[t] = v  # BUG


@fine(1, 32, numbers(20), zeros(32))
def a_variable_read_where_it_is_set(x, y):
    t = cuda.threadIdx.x
    if t < x.size:
        v = x[t]
    cuda.syncthreads()
    if t < x.size:
        y[t] = v


# -- warp operations that the lanes reach in different places ----------------------------------------------------------


@bug("divergent-warp-operation", 1, 32, numbers(32), zeros(32))
def each_half_at_a_shuffle_of_its_own(x, y):
    t = cuda.threadIdx.x
    if t < 16:
        y[t] = cuda.shfl_xor_sync(0xFFFFFFFF, x[t], 1)  # BUG
    else:
        y[t] = cuda.shfl_down_sync(0xFFFFFFFF, x[t], 1)  # BUG


@fine(1, 32, numbers(32), zeros(32))
def all_lanes_at_the_same_shuffle_in_two_places(x, y):
    """shfl.sync waits for the same instruction with the same mask, wherever it stands (PTX)."""
    t = cuda.threadIdx.x
    if t < 16:
        y[t] = cuda.shfl_xor_sync(0xFFFFFFFF, x[t], 16)
    else:
        y[t] = cuda.shfl_xor_sync(0xFFFFFFFF, x[t], 16) + 1


@fine(1, 32, numbers(32), zeros(32))
def each_half_at_a_shuffle_with_its_mask(x, y):
    t = cuda.threadIdx.x
    if t < 16:
        y[t] = cuda.shfl_xor_sync(0x0000FFFF, x[t], 1)
    else:
        y[t] = cuda.shfl_xor_sync(0xFFFF0000, x[t], 2)


@bug("divergent-warp-operation", 1, 32, numbers(32), zeros(32))
def some_vote_while_others_wait(x, y):
    t = cuda.threadIdx.x
    if x[t] > 5:
        y[t] = cuda.ballot_sync(0xFFFFFFFF, True)  # BUG
    else:
        cuda.syncwarp()  # BUG


@fine(1, 32, numbers(32), zeros(32))
def all_vote_and_some_take_the_result(x, y):
    t = cuda.threadIdx.x
    votes = cuda.ballot_sync(0xFFFFFFFF, x[t] > 5)
    if x[t] > 5:
        y[t] = votes


@bug("divergent-warp-operation", 1, 64, numbers(50), zeros(2))
def a_shuffle_for_lanes_with_elements_only(x, y):
    sums = cuda.shared.array(2, float32)
    t = cuda.threadIdx.x
    if t < x.size:
        v = cuda.shfl_down_sync(0xFFFFFFFF, x[t], 1)  # BUG
        if t % 32 == 0:
            sums[t // 32] = v
    cuda.syncthreads()
    if t < 2:
        y[t] = sums[t]


@bug("divergent-barrier", 1, 64, numbers(64), zeros(64))
def a_barrier_for_some_before_a_shuffle_for_all(x, y):
    t = cuda.threadIdx.x
    if t < 16:
        cuda.syncthreads()  # BUG
    y[t] = cuda.shfl_down_sync(0xFFFFFFFF, x[t], 1)


# -- arrays that lie in the same memory --------------------------------------------------------------------------------


def shifted():
    """All of an array but its last element, and all but its first; of one on the device: those of the host are
    copied."""
    whole = cuda.to_device(np.arange(65, dtype=np.float32))
    return whole[:-1], whole[1:]


def halves():
    whole = cuda.to_device(np.arange(128, dtype=np.float32))
    return whole[:64], whole[64:]


@bug("race", 1, 64, shifted)
def shifted_in_place(views):
    t = cuda.threadIdx.x
    x, y = views
    y[t] = x[t]  # BUG


@fine(1, 64, shifted)
def shifted_in_place_with_a_barrier(views):
    t = cuda.threadIdx.x
    x, y = views
    v = x[t]
    cuda.syncthreads()
    y[t] = v


@fine(2, 32, halves)
def from_one_half_to_the_other(views):
    x, y = views
    i = cuda.grid(1)
    y[63 - i] = x[i]


@bug("race", 1, 64, numbers(64), zeros(64), shared_bytes=512)
def dynamic_memory_taken_twice(x, y):
    t = cuda.threadIdx.x
    a = cuda.shared.array(0, float32)
    b = cuda.shared.array(0, float32)
    a[t] = x[t]  # BUG
    b[63 - t] = 2 * x[t]  # BUG
    cuda.syncthreads()
    y[t] = a[t] + b[t]


@fine(1, 64, numbers(64), zeros(64), shared_bytes=512)
def dynamic_memory_cut_in_two(x, y):
    t = cuda.threadIdx.x
    whole = cuda.shared.array(0, float32)
    a, b = whole[:64], whole[64:128]
    a[t] = x[t]
    b[63 - t] = 2 * x[t]
    cuda.syncthreads()
    y[t] = a[t] + b[t]


# -- flags that are plain elements -------------------------------------------------------------------------------------


@bug(RACES, 2, 32, numbers(1), zeros(1), ints(1), zeros(1))
def flag_stored_and_read_plainly(x, part, flag, out):
    """A compiler may read the flag once, and the loop never ends: nothing says that others write it."""
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            part[0] = x[0]  # BUG
            cuda.threadfence()
            flag[0] = 1  # BUG
        else:
            while flag[0] == 0:  # BUG
                pass
            cuda.threadfence()
            out[0] = part[0]  # BUG


@bug(RACES, 2, 32, numbers(1), zeros(1), ints(1), zeros(1))
def flag_set_atomically_and_read_plainly(x, part, flag, out):
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            part[0] = x[0]  # BUG
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)  # BUG
        else:
            while flag[0] == 0:  # BUG
                pass
            cuda.threadfence()
            out[0] = part[0]  # BUG


@fine(2, 32, numbers(1), zeros(1), ints(1), zeros(1))
def flag_set_and_read_atomically(x, part, flag, out):
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            part[0] = x[0]
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
        else:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            cuda.threadfence()
            out[0] = part[0]
