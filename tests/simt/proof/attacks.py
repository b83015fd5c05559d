"""Small kernels, right and wrong in ways that a proof could miss. Which they are is known: `races` in some launch, or
never.

Each has launches for the x-ray, (grid, block, *arguments); those of a kernel that races include one that shows it.
"""

from dataclasses import dataclass

import numpy as np
from numba import float32, int32

from simt import cuda

ATTACKS = []


@dataclass(frozen=True)
class Attack:
    """kernel, whether it fails in some launch, launches, and bytes of dynamic shared memory."""

    name: str
    kernel: object
    races: bool
    launches: tuple
    shared_bytes: int = 0


def attack(races, *launches, shared_bytes=0):
    def put(function):
        ATTACKS.append(Attack(function.__name__, cuda.jit(function), races, launches, shared_bytes))
        return function

    return put


def zeros(*shape, dtype=np.float32):
    return lambda: np.zeros(shape, dtype)


def line(n, dtype=np.float32):
    return lambda: np.arange(n).astype(dtype)


X, Y = line(256), zeros(256)


# -- halos and neighbours ----------------------------------------------------------------------------------------------


@attack(True, (1, 32, X, Y), (1, 64, X, Y))
def right_halo_is_one_too_early(x, y):
    s = cuda.shared.array(130, float32)
    t, n = cuda.threadIdx.x, cuda.blockDim.x
    s[t + 1] = x[t]
    if t == n - 1:
        s[n] = x[t + 1]  # not s[n + 1]
    if t == 0:
        s[0] = x[0]
    if t == n - 2:
        s[n] = 0
    cuda.syncthreads()
    y[t] = s[t] + s[t + 1]


@attack(False, (1, 32, X, Y), (2, 64, X, Y))
def halo_on_both_sides(x, y):
    s = cuda.shared.array(130, float32)
    t, n, i = cuda.threadIdx.x, cuda.blockDim.x, cuda.grid(1)
    s[t + 1] = x[i]
    if t == 0:
        s[0] = x[i]
    if t == n - 1:
        s[n + 1] = x[i]
    cuda.syncthreads()
    y[i] = s[t] + s[t + 1] + s[t + 2]


@attack(True, (2, 32, X, Y))
def halo_loaded_by_the_wrong_thread(x, y):
    s = cuda.shared.array(130, float32)
    t, n, i = cuda.threadIdx.x, cuda.blockDim.x, cuda.grid(1)
    s[t + 1] = x[i]
    if t == 0:
        s[1] = x[i]
    if t == 1:
        s[n] = x[i]
    cuda.syncthreads()
    y[i] = s[t + 1]


@attack(True, (2, 32, X, Y))
def blocks_overlap_by_one(x, y):
    first = cuda.blockIdx.x * (cuda.blockDim.x - 1)
    y[first + cuda.threadIdx.x] = x[cuda.threadIdx.x]


@attack(False, (2, 32, X, Y))
def even_and_odd_places(x, y):
    i = cuda.grid(1)
    if 2 * i + 1 < y.shape[0]:
        y[2 * i] = x[i]
        y[2 * i + 1] = -x[i]


@attack(True, (2, 32, X, Y))
def even_and_even_places(x, y):
    i = cuda.grid(1)
    if 2 * i + 2 < y.shape[0]:
        y[2 * i] = x[i]
        y[2 * i + 2] = -x[i]


# -- loops with barriers -----------------------------------------------------------------------------------------------


@attack(True, (1, 32, X, Y, 3))
def no_barrier_at_the_end_of_the_round(x, y, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for k in range(n):
        s[t] = x[t] + k
        cuda.syncthreads()
        y[t] += s[cuda.blockDim.x - 1 - t]


@attack(True, (1, 32, X, Y, 3))
def no_barrier_at_the_begin_of_the_round(x, y, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for k in range(n):
        s[t] = x[t] + k
        y[t] += s[cuda.blockDim.x - 1 - t]
        cuda.syncthreads()


@attack(True, (1, 32, X, Y, 0), (1, 32, X, Y, 2))
def only_without_any_round(x, y, n):
    """With rounds there is a barrier; n = 0 leaves none."""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    for _ in range(n):
        cuda.syncthreads()
    y[t] = s[cuda.blockDim.x - 1 - t]


@attack(True, (1, 32, X, Y, 1), (1, 32, X, Y, 4))
def only_from_the_second_round_on(x, y, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    k = 0
    while k < n:
        if k > 0:
            s[cuda.blockDim.x - 1 - t] = x[t]
        v = s[t] if k > 0 else float32(0)
        cuda.syncthreads()
        y[t] += v
        k += 1


@attack(True, (1, 32, X, Y, 4))
def last_round_meets_what_follows(x, y, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for k in range(n):
        cuda.syncthreads()
        s[t] = x[t] + k
    y[t] = s[cuda.blockDim.x - 1 - t]


@attack(True, (1, 32, X, Y, 8))
def barrier_in_every_fourth_round_only(x, y, n):
    """Rounds 1 and 3 meet: not only neighbours do."""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for k in range(n):
        if k % 4 == 0:
            cuda.syncthreads()
        if k % 4 == 1:
            s[t] = x[t]
        if k % 4 == 3:
            y[t] = s[cuda.blockDim.x - 1 - t]


@attack(False, (1, 32, X, Y, 8))
def barrier_in_every_second_round(x, y, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for k in range(n):
        if k % 2 == 0:
            cuda.syncthreads()
            s[t] = x[t]
            cuda.syncthreads()
        y[t] = s[cuda.blockDim.x - 1 - t]


@attack(True, (1, 32, X, Y, 8))
def continue_before_the_barrier(x, y, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for k in range(n):
        s[(t + k) % cuda.blockDim.x] = x[t]
        if k != 5:
            continue
        cuda.syncthreads()
    y[t] = x[t]


@attack(True, (1, 32, X, Y, 4))
def break_before_the_barrier(x, y, n):
    """What the last full round stored is read behind the loop, and the barrier between is left out by `break`."""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    k = 0
    while True:
        if k == n:
            break
        cuda.syncthreads()
        s[t] = x[t]
        k += 1
    y[t] = s[cuda.blockDim.x - 1 - t]


@attack(False, (1, 32, X, Y, 4))
def break_behind_the_barrier(x, y, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    k = 0
    s[t] = x[t]
    while True:
        cuda.syncthreads()
        if k == n:
            break
        v = s[cuda.blockDim.x - 1 - t]
        cuda.syncthreads()
        s[t] = v
        k += 1
    y[t] = s[cuda.blockDim.x - 1 - t]


@attack(False, (1, 32, X, Y, 3, 2))
def loops_inside_one_another(x, y, m, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for _ in range(m):
        for k in range(n):
            s[t] = x[t] + k
            cuda.syncthreads()
            y[t] += s[cuda.blockDim.x - 1 - t]
            cuda.syncthreads()


@attack(True, (1, 32, X, Y, 3, 2))
def inner_loop_leaves_the_barrier_out_at_its_end(x, y, m, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for _ in range(m):
        s[t] = x[t]
        cuda.syncthreads()
        for k in range(n):
            y[t] += s[cuda.blockDim.x - 1 - t]
            if k < n - 1:
                cuda.syncthreads()


@attack(True, (1, 32, X, Y, 3, 0), (1, 32, X, Y, 3, 2))
def inner_loop_of_no_rounds(x, y, m, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for _ in range(m):
        s[t] = x[t]
        for _ in range(n):
            cuda.syncthreads()
        y[t] += s[cuda.blockDim.x - 1 - t]
        cuda.syncthreads()


# -- rings -------------------------------------------------------------------------------------------------------------


@attack(False, (1, 32, X, Y, 6))
def ring_of_three(x, y, n):
    s = cuda.shared.array((3, 64), float32)
    t = cuda.threadIdx.x
    for k in range(n):
        s[k % 3, t] = x[t]
        cuda.syncthreads()
        y[t] += s[k % 3, cuda.blockDim.x - 1 - t]


@attack(True, (1, 32, X, Y, 6))
def ring_of_two_read_one_behind(x, y, n):
    s = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    s[0, t] = 0
    s[1, t] = 0
    for k in range(n):
        cuda.syncthreads()
        s[k % 2, t] = x[t]
        if k > 1:
            y[t] += s[k % 2, cuda.blockDim.x - 1 - t]


@attack(False, (1, 32, X, Y, 6))
def two_buffers_exchanged_by_number(x, y, n):
    s = cuda.shared.array((2, 64), float32)
    t, now = cuda.threadIdx.x, 0
    s[0, t] = x[t]
    cuda.syncthreads()
    for _ in range(n):
        s[1 - now, t] = s[now, cuda.blockDim.x - 1 - t]
        cuda.syncthreads()
        now = 1 - now
    y[t] = s[now, t]


# -- strides -----------------------------------------------------------------------------------------------------------


@attack(True, (1, 32, X, Y), (1, 64, X, Y))
def stride_of_a_constant(x, y):
    """A loop for blocks of 32, in larger ones."""
    for i in range(cuda.threadIdx.x, y.shape[0], 32):
        y[i] = x[i]


@attack(False, (1, 32, X, Y), (3, 64, X, Y))
def stride_of_the_grid(x, y):
    for i in range(cuda.grid(1), y.shape[0], cuda.gridsize(1)):
        y[i] = x[i]


@attack(True, (1, 32, X, Y), (2, 32, X, Y))
def stride_of_the_block_in_several_blocks(x, y):
    for i in range(cuda.grid(1), y.shape[0], cuda.blockDim.x):
        y[i] = x[i]


@attack(False, (1, 32, X, Y))
def stride_of_the_block_in_one_block(x, y):
    for i in range(cuda.threadIdx.x, y.shape[0], cuda.blockDim.x):
        y[i] = x[i]


@attack(False, ((2, 2), (8, 4), X, Y, 16, 8))
def rows_of_a_width(x, y, width, height):
    c, r = cuda.grid(2)
    if c < width and r < height:
        y[r * width + c] = x[c]


@attack(True, ((2, 2), (8, 4), X, Y, 9, 8), ((2, 2), (8, 4), X, Y, 16, 8))
def rows_of_a_width_unguarded(x, y, width, height):
    c, r = cuda.grid(2)
    if r < height:
        y[r * width + c] = x[c]


# -- blocks of two axes ------------------------------------------------------------------------------------------------


@attack(True, (1, (8, 8), X, Y), (1, (8, 4), X, Y))
def wrong_number_of_a_thread(x, y):
    t = cuda.threadIdx.y * cuda.blockDim.y + cuda.threadIdx.x
    y[t] = x[t]


@attack(False, (1, (8, 8), X, Y), (1, (8, 4), X, Y))
def right_number_of_a_thread(x, y):
    t = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    y[t] = x[t]


@attack(True, (1, (16, 2), X, Y), (1, (32, 2), X, Y))
def number_for_blocks_of_sixteen(x, y):
    t = cuda.threadIdx.y * 16 + cuda.threadIdx.x
    y[t] = x[t]


@attack(True, (1, (4, 4), X, Y))
def all_rows_store(x, y):
    if cuda.threadIdx.y < 4:
        y[cuda.threadIdx.x] = x[cuda.threadIdx.x]


# -- guards ------------------------------------------------------------------------------------------------------------


@attack(False, (1, 64, X, Y))
def guard_keeps_halves_apart(x, y):
    t, n = cuda.threadIdx.x, cuda.blockDim.x // 2
    if t < n:
        y[t] = y[t + n] + x[t]


@attack(True, (1, 33, X, Y), (1, 64, X, Y))
def guard_is_one_too_wide(x, y):
    t, n = cuda.threadIdx.x, cuda.blockDim.x // 2
    if t <= n:
        y[t] = y[t + n] + x[t] if t + n < cuda.blockDim.x else x[t]


@attack(True, (1, 32, X, Y), (1, 40, X, Y))
def warp_is_not_full(x, y):
    """Right where the block is a multiple of 32."""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    if cuda.blockDim.x % 32 == 0:
        cuda.syncthreads()
    y[t] = s[cuda.blockDim.x - 1 - t]


@attack(True, (1, 32, X, Y, 100), (2, 32, X, Y, 101))
def only_beyond_a_hundred(x, y, n):
    i = cuda.grid(1)
    y[i if n <= 100 else i // 2] = x[i]


@attack(True, (1, 32, X, Y), (2, 32, X, Y))
def one_result_for_all_blocks(x, y):
    if cuda.threadIdx.x == 0:
        y[0] = x[cuda.blockIdx.x]


@attack(True, (1, 32, X, Y, 40), (1, 32, X, Y, 20))
def index_is_clamped(x, y, n):
    i = cuda.grid(1)
    y[min(i, n - 1)] = x[i]


@attack(True, (1, 32, X, Y), (1, 128, X, Y))
def index_goes_round(x, y):
    i = cuda.grid(1)
    y[i % 100] = x[i]


@attack(True, (1, 32, line(64, np.int32), Y), (1, 32, zeros(64, dtype=np.int32), Y))
def scattered(where, y):
    i = cuda.grid(1)
    y[where[i]] = i


# -- barriers that not all reach ---------------------------------------------------------------------------------------


@attack(True, (1, 32, X, Y), (1, 64, X, Y))
def barrier_of_a_part(x, y):
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    if t < 32:
        cuda.syncthreads()
    y[t] = s[cuda.blockDim.x - 1 - t]


@attack(True, (2, 32, X, Y, 64), (2, 32, X, Y, 40))
def return_before_the_barrier(x, y, n):
    s = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i >= n:
        return
    s[t] = x[i]
    cuda.syncthreads()
    y[i] = s[0]


@attack(True, (1, 32, X, Y))
def threads_leave_the_loop_one_by_one(x, y):
    s = cuda.shared.array(64, float32)
    t, k = cuda.threadIdx.x, 0
    while k < 40:
        cuda.syncthreads()
        s[t] = x[t]
        k += 1
        if k > t:
            break
    y[t] = s[t]


@attack(False, (2, 32, X, Y, 40))
def whole_blocks_return(x, y, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if cuda.blockIdx.x * cuda.blockDim.x >= n:
        return
    s[t] = x[t]
    cuda.syncthreads()
    y[cuda.grid(1)] = s[cuda.blockDim.x - 1 - t]


# -- helpers, atomics, other memory ------------------------------------------------------------------------------------


@cuda.jit(device=True)
def exchanged(s, v):
    s[cuda.threadIdx.x] = v
    cuda.syncthreads()
    return s[cuda.blockDim.x - 1 - cuda.threadIdx.x]


@attack(True, (1, 32, X, Y))
def helper_called_twice(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    y[t] = exchanged(s, exchanged(s, x[t]))


@attack(False, (1, 32, X, Y))
def helper_called_twice_with_arrays_of_their_own(x, y):
    s, r = cuda.shared.array(64, float32), cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    y[t] = exchanged(r, exchanged(s, x[t]))


@attack(False, (2, 32, X, zeros(1)))
def atomics_only(x, y):
    cuda.atomic.add(y, 0, x[cuda.grid(1)])


@attack(True, (1, 32, X, zeros(1)))
def atomics_and_a_load(x, y):
    t = cuda.threadIdx.x
    cuda.atomic.add(y, 0, x[t])
    if t == 5 and y[0] > 3:
        x[t] = 0


@attack(True, (1, 32, X, Y), shared_bytes=1024)
def dynamic_memory_under_two_names(x, y):
    a, b = cuda.shared.array(0, float32), cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    a[t] = x[t]
    y[t] = b[cuda.blockDim.x - 1 - t]


@attack(False, (1, 32, X, Y))
def columns_by_exclusive_or(x, y):
    s = cuda.shared.array((32, 32), int32)
    t = cuda.threadIdx.x
    for r in range(8):
        s[r, t ^ r] = r
    y[t] = t


@attack(True, (1, 32, X, Y))
def exclusive_or_of_the_neighbour(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    y[t] = s[t ^ 1]
