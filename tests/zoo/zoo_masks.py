"""Warp barriers for some lanes only: what they order, alone, one after another, and before a fence."""

from numba import float32
from zoo import cages, ints, numbers, zeros

from dlkernels import cuda

CORRECT, BUGGY, fine, bug = cages()


# -- one after another -------------------------------------------------------------------------------------------------


@fine(1, 32, numbers(32), zeros(32))
def two_barriers_hand_on_what_lanes_between_them_know(x, y):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    if t < 16:
        cuda.syncwarp(0x0000FFFF)
    if t >= 8:
        cuda.syncwarp(0xFFFFFF00)
    if t >= 16:
        y[t] = s[t - 16]


@bug("race", 1, 32, numbers(32), zeros(32))
def two_barriers_the_other_way_round(x, y):
    """What the lowest lanes stored is known to lanes 8 to 15 only when these have met the others."""
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  # BUG
    if t >= 8:
        cuda.syncwarp(0xFFFFFF00)
    if t < 16:
        cuda.syncwarp(0x0000FFFF)
    if t >= 16:
        y[t] = s[t - 16]  # BUG


# -- before a fence and behind it --------------------------------------------------------------------------------------


@bug("race", 2, 32, zeros(32), ints(), zeros(1))
def the_half_that_stores_does_not_meet_the_fence(x, flag, out):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        if t == 20:
            x[20] = 5  # BUG
        if t < 16:
            cuda.syncwarp(0x0000FFFF)
            if t == 0:
                cuda.threadfence()
                cuda.atomic.exch(flag, 0, 1)
        else:
            cuda.syncwarp(0xFFFF0000)
    elif t == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        cuda.threadfence()
        out[0] = x[20]  # BUG


@fine(2, 32, zeros(32), ints(), zeros(1))
def the_lanes_concerned_meet_before_the_fence(x, flag, out):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        if t == 20:
            x[20] = 5
        if t == 20 or t == 0:
            cuda.syncwarp(0x00100001)
        if t == 0:
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
    elif t == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        cuda.threadfence()
        out[0] = x[20]


@fine(2, 32, zeros(32), ints(), zeros(1))
def two_barriers_lead_to_the_fence(x, flag, out):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        if t >= 16:
            x[t] = t
            cuda.syncwarp(0xFFFF0000)
        if t == 16 or t == 0:
            cuda.syncwarp(0x00010001)
        if t == 0:
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
    elif t == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        cuda.threadfence()
        out[0] = x[20] + x[31]


@bug("race", 2, 32, zeros(32), ints(), zeros(32))
def the_other_half_reads_as_if_it_had_waited(x, flag, out):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        x[t] = t  # BUG
        cuda.syncwarp()
        if t == 0:
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
        return
    if t == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        cuda.threadfence()
    if t < 16:
        cuda.syncwarp(0x0000FFFF)
    else:
        cuda.syncwarp(0xFFFF0000)
    out[t] = x[t]  # BUG


@fine(2, 32, zeros(32), ints(), zeros(32))
def the_half_that_reads_has_met_the_one_that_waited(x, flag, out):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        x[t] = t
        cuda.syncwarp()
        if t == 0:
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
        return
    if t == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        cuda.threadfence()
    if t < 16:
        cuda.syncwarp(0x0000FFFF)
        out[t] = x[t + 16]
