"""Device arrays that start with garbage: kernels that read some of it, and kernels that store first, if barely."""

import numpy as np
from numba import float32
from zoo import cage, zeros

from dlkernels import cuda
from dlkernels.wide import store4

BUGGY, CORRECT = [], []
KIND = "uninitialised-global"


def bug(grid, block, *arguments):
    return cage(BUGGY, KIND, grid, block, *arguments)


def fine(grid, block, *arguments):
    return cage(CORRECT, (), grid, block, *arguments)


def unset(*shape, dtype=np.float32):
    return lambda: cuda.device_array(shape, dtype)


@bug(1, 64, unset(64), zeros(64))
def all_read_before_the_barrier_and_store_behind_it(y, out):
    t = cuda.threadIdx.x
    v = y[63 - t]  # BUG
    cuda.syncthreads()
    y[t] = 1
    out[t] = v


@fine(1, 64, unset(64), zeros(64))
def all_store_before_the_barrier_and_read_behind_it(y, out):
    t = cuda.threadIdx.x
    y[t] = 1
    cuda.syncthreads()
    out[t] = y[63 - t]


@bug(2, 32, unset(64), zeros(64))
def the_grid_reads_before_its_barrier(y, out):
    i = cuda.grid(1)
    v = y[63 - i]  # BUG
    cuda.cg.this_grid().sync()
    y[i] = 1
    out[i] = v


@fine(2, 32, unset(64), zeros(64))
def the_grid_reads_behind_its_barrier(y, out):
    i = cuda.grid(1)
    y[i] = 1
    cuda.cg.this_grid().sync()
    out[i] = y[63 - i]


@bug(2, 32, unset(64), zeros(64))
def one_block_stores_late_what_the_other_has_read(y, out):
    """Each block has a barrier of its own before, which says nothing of the other's."""
    i = cuda.grid(1)
    grid = cuda.cg.this_grid()
    cuda.syncthreads()
    v = y[i]  # BUG
    grid.sync()
    if cuda.blockIdx.x == 0:
        y[i] = 1
        y[i + 32] = 1
    out[i] = v


@bug(1, 32, unset(32), zeros(32))
def a_warp_reads_before_its_barrier(y, out):
    t = cuda.threadIdx.x
    v = y[31 - t]  # BUG
    cuda.syncwarp()
    y[t] = 1
    out[t] = v


@fine(1, 32, unset(32), zeros(32))
def a_warp_reads_behind_its_barrier(y, out):
    t = cuda.threadIdx.x
    y[t] = 1
    cuda.syncwarp()
    out[t] = y[31 - t]


@fine(1, 64, unset(64), zeros(64))
def stored_before_read_and_stored_again(y, out):
    t = cuda.threadIdx.x
    if t == 0:
        for k in range(64):
            y[k] = k
    cuda.syncthreads()
    v = y[63 - t]
    cuda.syncthreads()
    y[t] = v
    out[t] = y[t]


@bug(1, 64, unset(64), zeros(64))
def only_the_first_thread_reads_behind_a_store(y, out):
    t = cuda.threadIdx.x
    if t == 0:
        y[0] = 1
    out[t] = y[t]  # BUG
    y[t] = 2


@fine(1, 32, unset(128), zeros(128))
def four_stored_at_once_and_read_one_by_one(y, out):
    t = cuda.threadIdx.x
    v = float32(t)
    store4(y, 4 * t, (v, v, v, v))
    cuda.syncthreads()
    for k in range(4):
        out[t + 32 * k] = y[t + 32 * k]


@bug(1, 16, unset(128), zeros(128))
def four_stored_at_once_by_half_of_the_threads(y, out):
    t = cuda.threadIdx.x
    v = float32(t)
    store4(y, 4 * t, (v, v, v, v))
    cuda.syncthreads()
    for k in range(8):
        out[t + 16 * k] = y[t + 16 * k]  # BUG


@fine(1, 32, unset(32, dtype=np.int64), zeros(32, dtype="int64"))
def bytes_stored_one_by_one_and_read_together(y, out):
    t = cuda.threadIdx.x
    small = y.view(np.uint8)
    for k in range(8):
        small[8 * t + k] = k
    out[t] = y[t]


@bug(1, 32, unset(32, dtype=np.int64), zeros(32, dtype="int64"))
def all_but_the_last_byte_are_stored(y, out):
    t = cuda.threadIdx.x
    small = y.view(np.uint8)
    for k in range(7):
        small[8 * t + k] = k
    cuda.syncthreads()
    out[t] = y[t]  # BUG


def two_views():
    """The two halves of one array, which overlap by 16 elements."""
    whole = cuda.device_array(64, np.float32)
    return whole[:40], whole[24:]


@fine(1, 32, lambda: two_views(), zeros(16))
def stored_through_one_view_and_read_through_another(views, out):
    t = cuda.threadIdx.x
    a, b = views
    a[t + 8] = t
    cuda.syncthreads()
    if t < 16:
        out[t] = b[t]
