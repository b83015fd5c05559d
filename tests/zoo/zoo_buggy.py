"""Kernels with one bug each. ``# BUG`` marks the lines a finding must name."""

from numba import float32, int32
from zoo import bins, cage, numbers, zeros

from dlkernels import cuda

BUGGY = []


def bug(expected, grid, block, *arguments, **options):
    return cage(BUGGY, expected, grid, block, *arguments, **options)


# -- races on shared memory ------------------------------------------------------------------------------------


@bug("race", 2, 64, numbers(128), zeros(128))
def neighbour_without_barrier(x, y):
    s = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i]  # BUG
    if t < 63:
        y[i] = s[t + 1]  # BUG


@bug("race", 1, 64, numbers(64), zeros(64))
def reversed_without_barrier(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  # BUG
    y[t] = s[63 - t]  # BUG


@bug("race", 1, 128, numbers(128), zeros(1))
def reduction_without_barrier_in_loop(x, out):
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            s[t] += s[t + step]  # BUG
        step //= 2
    cuda.syncthreads()
    if t == 0:
        out[0] = s[0]


@bug("race", 1, 128, numbers(128), zeros(1))
def reduction_without_first_barrier(x, out):
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  # BUG
    step = 64
    while step > 0:
        if t < step:
            s[t] += s[t + step]  # BUG
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[0] = s[0]


@bug("race", 1, 64, numbers(64), zeros(64))
def reduction_result_read_early(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    if t == 0:
        for k in range(1, 64):
            s[0] += s[k]  # BUG
    out[t] = s[0]  # BUG


@bug("race", (2, 2), (8, 8), numbers(16, 16), numbers(16, 16), zeros(16, 16))
def tiled_matmul_without_first_barrier(A, B, C):
    a, b = cuda.shared.array((8, 8), float32), cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for k in range(0, 16, 8):
        a[ty, tx] = A[row, k + tx]  # BUG
        b[ty, tx] = B[k + ty, col]
        for j in range(8):
            acc += a[ty, j] * b[j, tx]  # BUG
        cuda.syncthreads()
    C[row, col] = acc


@bug("race", (2, 2), (8, 8), numbers(16, 16), numbers(16, 16), zeros(16, 16))
def tiled_matmul_without_second_barrier(A, B, C):
    a, b = cuda.shared.array((8, 8), float32), cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for k in range(0, 16, 8):
        a[ty, tx] = A[row, k + tx]  # BUG
        b[ty, tx] = B[k + ty, col]
        cuda.syncthreads()
        for j in range(8):
            acc += a[ty, j] * b[j, tx]  # BUG
    C[row, col] = acc


@bug("race", 1, (16, 16), numbers(16, 16), zeros(16, 16))
def transpose_without_barrier(A, B):
    tile = cuda.shared.array((16, 17), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = A[y, x]  # BUG
    B[y, x] = tile[x, y]  # BUG


@bug("race", 1, 64, numbers(64), zeros(64))
def stencil_in_place(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    if 0 < t < 63:
        s[t] = s[t - 1] + s[t + 1]  # BUG
    cuda.syncthreads()
    y[t] = s[t]


@bug("race", 1, 64, numbers(64), zeros(64))
def scan_with_one_buffer(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 1
    while step < 64:
        if t >= step:
            s[t] += s[t - step]  # BUG
        cuda.syncthreads()
        step *= 2
    y[t] = s[t]


@bug("race", 1, 64, numbers(64), zeros(64))
def flag_read_without_barrier(x, y):
    s = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = x[0]  # BUG
    y[t] = s[0]  # BUG


@bug("race", 1, 64, numbers(64), zeros(64))
def everyone_stores_one_element(x, y):
    s = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    s[0] = x[t]  # BUG
    cuda.syncthreads()
    y[t] = s[0]


@bug("race", 1, 64, zeros(8, dtype="int32"), bins(64, 8))
def shared_histogram_without_atomics(h, x):
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        s[t] = 0
    cuda.syncthreads()
    s[x[t]] += 1  # BUG
    cuda.syncthreads()
    if t < 8:
        h[t] = s[t]


@bug("race", 1, 32, numbers(4, 32), numbers(4, 32), zeros(32))
def flash_loop_without_last_barrier(K, Q, out):
    """The bug of a published attention kernel: the next key tile overwrites the one still being read."""
    key = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    acc = float32(0)
    for tile in range(4):
        key[t] = K[tile, t]  # BUG
        cuda.syncthreads()
        for j in range(32):
            acc += Q[tile, t] * key[j]  # BUG
    out[t] = acc


@bug("race", 1, 32, numbers(32), zeros(1))
def warp_reduction_without_syncwarp(x, out):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncwarp()
    step = 16
    while step > 0:
        if t < step:
            s[t] += s[t + step]  # BUG
        step //= 2
    cuda.syncwarp()
    if t == 0:
        out[0] = s[0]


@bug("race", 1, 64, numbers(64), zeros(64))
def syncwarp_where_the_block_must_wait(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  # BUG
    cuda.syncwarp()
    y[t] = s[63 - t]  # BUG


@bug("race", 1, 64, numbers(64), zeros(64), shared_bytes=256)
def dynamic_shared_without_barrier(x, y):
    s = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  # BUG
    y[t] = s[t ^ 1]  # BUG


@cuda.jit(device=True)
def shift_left(s, t):
    return s[(t + 1) % 64]  # the other half of the race below


@bug("race", 1, 64, numbers(64), zeros(64))
def race_through_a_device_function(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  # BUG
    y[t] = shift_left(s, t)


@bug("race", 1, 32, numbers(32), zeros(32))
def halves_of_a_warp_wait_apart(x, y):
    """Each half waits for itself; then it reads what the other half stored."""
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  # BUG
    if t < 16:
        cuda.syncwarp(0x0000FFFF)
    else:
        cuda.syncwarp(0xFFFF0000)
    y[t] = s[31 - t]  # BUG


@bug("race", 1, 32, numbers(32), zeros(32))
def only_one_half_waits(x, y):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  # BUG
    if t < 16:
        cuda.syncwarp(0x0000FFFF)
        y[t] = s[t + 16]  # BUG


# -- races on global memory ------------------------------------------------------------------------------------


@bug("race", 1, 64, numbers(64), zeros(1))
def sum_without_atomic(x, out):
    out[0] += x[cuda.threadIdx.x]  # BUG


@bug("race", 4, 32, zeros(8, dtype="int32"), bins(128, 8))
def global_histogram_without_atomics(h, x):
    h[x[cuda.grid(1)]] += 1  # BUG


@bug("race", 4, 32, numbers(128), zeros(129))
def blocks_store_each_others_edge(x, y):
    i = cuda.grid(1)
    y[i] = x[i]  # BUG
    y[i + 1] = x[i]  # BUG


@bug("race", 4, 1, numbers(4), zeros(1))
def blocks_store_one_result(x, out):
    out[0] = x[cuda.blockIdx.x]  # BUG


@bug("race", 4, 32, numbers(128))
def global_stencil_in_place(x):
    i = cuda.grid(1)
    if 0 < i < 127:
        x[i] = (x[i - 1] + x[i + 1]) / 2  # BUG


@bug("race", 4, 32, numbers(128), zeros(4), zeros(1))
def block_reads_sums_of_others(x, sums, out):
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    if t == 0:
        sums[b] = x[b * 32]  # BUG
    cuda.syncthreads()
    if b == 3 and t == 0:
        for k in range(4):
            out[0] += sums[k]  # BUG


@bug("race", 2, 32, numbers(64), zeros(64))
def grid_sync_after_the_read(x, y):
    i = cuda.grid(1)
    grid = cuda.cg.this_grid()
    y[i] = x[i]  # BUG
    x[i] = y[63 - i]  # BUG
    grid.sync()


@bug("race", 1, 64, numbers(64), zeros(64))
def global_scratch_without_barrier(x, scratch):
    t = cuda.threadIdx.x
    scratch[t] = x[t]  # BUG
    x[t] = scratch[(t + 32) % 64]  # BUG


@bug("race", 4, 32, numbers(128), zeros(4), zeros(1, dtype="int32"), zeros(4))
def parts_read_by_a_block_that_is_not_last(x, parts, counter, out):
    """A fence and a counter, but every block reads all the parts without asking whether it counted last."""
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        parts[b] = x[b * 32]  # BUG
        cuda.threadfence()
        cuda.atomic.add(counter, 0, 1)
        for k in range(4):
            out[b] += parts[k]  # BUG


@bug("race", 4, 32, numbers(128), zeros(4), zeros(1, dtype="int32"), zeros(1))
def part_stored_after_the_counter(x, parts, counter, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        cuda.threadfence()
        ticket = cuda.atomic.add(counter, 0, 1)
        parts[b] = x[b * 32]  # BUG
        if ticket == 3:
            for k in range(4):
                out[0] += parts[k]  # BUG


@bug("race", 4, 32, numbers(128), zeros(4), zeros(1, dtype="int32"), zeros(1))
def counter_without_a_fence(x, parts, counter, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        parts[b] = x[b * 32]  # BUG
        if cuda.atomic.add(counter, 0, 1) == 3:
            for k in range(4):
                out[0] += parts[k]  # BUG


# -- atomic against plain ----------------------------------------------------------------------------------------


@bug("atomic-against-plain", 1, 64, numbers(64), zeros(64))
def count_read_while_others_add(x, y):
    s = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, 0, x[t])  # BUG
    y[t] = s[0]  # BUG


@bug("atomic-against-plain", 1, 64, zeros(8, dtype="int32"), bins(64, 8))
def histogram_cleared_without_barrier(h, x):
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        s[t] = 0  # BUG
    cuda.atomic.add(s, x[t], 1)  # BUG
    cuda.syncthreads()
    if t < 8:
        h[t] = s[t]


@bug("atomic-against-plain", 4, 32, numbers(128), zeros(1), zeros(4))
def total_read_before_other_blocks_add(x, total, seen):
    cuda.atomic.add(total, 0, x[cuda.grid(1)])  # BUG
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        seen[cuda.blockIdx.x] = total[0]  # BUG


@bug("atomic-against-plain", 2, 32, zeros(1))
def first_block_clears_the_counter(counter):
    if cuda.grid(1) == 0:
        counter[0] = 0  # BUG
    cuda.syncthreads()
    cuda.atomic.add(counter, 0, 1)  # BUG


# -- uninitialised shared memory -----------------------------------------------------------------------------------


@bug("uninitialised-shared", 1, 32, numbers(32), zeros(32))
def halo_never_loaded(x, y):
    s = cuda.shared.array(34, float32)
    t = cuda.threadIdx.x
    s[t + 1] = x[t]
    cuda.syncthreads()
    y[t] = s[t] + s[t + 1] + s[t + 2]  # BUG


@bug("uninitialised-shared", 1, 64, numbers(64), zeros(64), 40)
def ragged_tile_not_padded(x, y, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < n:
        s[t] = x[t]
    cuda.syncthreads()
    y[t] = s[63 - t]  # BUG


@bug("uninitialised-shared", 1, 64, zeros(8, dtype="int32"), bins(64, 8))
def histogram_never_cleared(h, x):
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    cuda.atomic.add(s, x[t], 1)  # BUG
    cuda.syncthreads()
    if t < 8:
        h[t] = s[t]  # BUG


@bug("uninitialised-shared", 1, 32, numbers(32), zeros(32))
def added_to_before_stored(x, y):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] += x[t]  # BUG
    y[t] = s[t]


@bug("uninitialised-shared", 2, 32, numbers(64), zeros(64))
def second_block_trusts_the_first(x, y):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        s[t] = x[t]
    cuda.syncthreads()
    y[cuda.grid(1)] = s[t]  # BUG


# -- indices -----------------------------------------------------------------------------------------------------------


@bug("out-of-bounds", 2, 64, numbers(100), zeros(128))
def no_guard_on_the_load(x, y):
    i = cuda.grid(1)
    y[i] = x[i]  # BUG


@bug("out-of-bounds", 2, 64, numbers(128), zeros(100))
def no_guard_on_the_store(x, y):
    i = cuda.grid(1)
    y[i] = x[i]  # BUG


@bug("out-of-bounds", 1, 32, numbers(32), zeros(32))
def last_thread_reads_past_shared(x, y):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    y[t] = s[t + 1]  # BUG


@bug("out-of-bounds", 1, (8, 4), numbers(4, 8), zeros(4, 8))
def axes_swapped(A, B):
    x, y = cuda.grid(2)
    B[y, x] = A[x, y]  # BUG


@bug("out-of-bounds", 1, 32, zeros(16, dtype="int32"), bins(32, 20))
def bin_out_of_range(h, x):
    cuda.atomic.add(h, x[cuda.grid(1)], 1)  # BUG


@bug("negative-index", 1, 64, numbers(64), zeros(64))
def left_neighbour_of_the_first(x, y):
    i = cuda.grid(1)
    y[i] = x[i] - x[i - 1]  # BUG


@bug("negative-index", 1, 32, numbers(32), zeros(32))
def negative_index_in_shared(x, y):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    y[t] = s[t - 1]  # BUG


# -- barriers ----------------------------------------------------------------------------------------------------------


@bug("divergent-barrier", 1, 64, numbers(64), zeros(64))
def barrier_in_half_the_block(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    if t < 32:
        cuda.syncthreads()  # BUG
        y[t] = s[t]
    else:
        cuda.syncthreads()  # BUG
        y[t] = -s[t]


@bug({"divergent-barrier", "barrier-after-exit"}, 1, 64, numbers(64), zeros(64))
def barrier_for_some_threads_only(x, y):
    t = cuda.threadIdx.x
    if x[t] > 6:
        cuda.syncthreads()  # BUG
    y[t] = x[t]


@bug({"divergent-barrier", "barrier-after-exit"}, 1, 64, zeros(64))
def barrier_in_loop_of_unequal_length(y):
    t = cuda.threadIdx.x
    for _ in range(t % 3):
        cuda.syncthreads()  # BUG
    y[t] = t


@bug("barrier-after-exit", 2, 64, numbers(100), zeros(100), 100)
def early_return_before_barrier(x, y, n):
    s = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i >= n:
        return
    s[t] = x[i]
    cuda.syncthreads()  # BUG
    y[i] = s[t]


@bug("barrier-after-exit", 2, 32, numbers(50), zeros(50))
def early_return_before_the_grid_barrier(x, y):
    """As in a published heat equation: threads outside the array leave, the others wait for them."""
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    y[i] = x[i]
    cuda.cg.this_grid().sync()  # BUG
    x[i] = y[49 - i]


@bug("divergent-barrier", 2, 32, numbers(64), zeros(64))
def grid_barrier_in_one_block_only(x, y):
    i = cuda.grid(1)
    y[i] = x[i]
    if cuda.blockIdx.x == 0:
        cuda.cg.this_grid().sync()  # BUG
    x[i] = y[i]


# -- warps -----------------------------------------------------------------------------------------------------------


@bug("inactive-lane-read", 1, 32, numbers(32), zeros(32))
def shuffle_after_some_returned(x, y):
    t = cuda.threadIdx.x
    if t >= 20:
        return
    y[t] = cuda.shfl_down_sync(0xFFFFFFFF, x[t], 1)  # BUG


@bug("lane-not-in-mask", 1, 32, numbers(32), zeros(32))
def mask_leaves_callers_out(x, y):
    t = cuda.threadIdx.x
    y[t] = cuda.shfl_xor_sync(0x0000FFFF, x[t], 1)  # BUG


@bug("inactive-lane-read", 1, 32, numbers(32), zeros(32))
def shuffle_from_a_lane_outside(x, y):
    t = cuda.threadIdx.x
    if t < 16:
        y[t] = cuda.shfl_sync(0x0000FFFF, x[t], 20)  # BUG


# -- one barrier, two meetings -----------------------------------------------------------------------------------------


@cuda.jit(device=True)
def bar():
    cuda.syncthreads()


@bug("divergent-barrier", 1, 64, zeros(64))
def barrier_of_a_device_function_in_both_branches(y):
    t = cuda.threadIdx.x
    if t % 2:
        bar()  # BUG
    else:
        bar()  # BUG
    y[t] = t


@bug({"divergent-barrier", "barrier-after-exit"}, 1, 64, zeros(64))
def barrier_skipped_in_different_turns(y):
    t = cuda.threadIdx.x
    for k in range(4):
        if k != 3 * (t % 2):
            cuda.syncthreads()  # BUG
    y[t] = t


@bug("uninitialised-shared", 1, 32, numbers(32), zeros(32))
def read_before_the_warp_has_stored(x, y):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    v = s[31 - t]  # BUG
    cuda.syncwarp()
    s[t] = x[t]
    cuda.syncwarp()
    y[t] = v + s[t]
