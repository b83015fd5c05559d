"""Correct kernels that are hard to split: (name, kernel, grid, block, arguments, bytes of dynamic shared memory)."""

import math

import numpy as np
from numba import float32, float64, int32, int64, uint32

from simt import cuda

EDGES = []
FULL = 0xFFFFFFFF


def edge(grid, block, *arguments, shared_bytes=0):
    """Register a kernel; ``arguments`` are functions that make them, or plain numbers."""

    def register(function):
        EDGES.append((function.__name__, cuda.jit(function), grid, block, arguments, shared_bytes))
        return function

    return register


def numbers(*shape, dtype=np.float32):
    return lambda: (np.arange(math.prod(shape)) * 7 % 23 + 1).reshape(shape).astype(dtype)


def zeros(*shape, dtype=np.float32):
    return lambda: np.zeros(shape, dtype)


@edge(2, 64, numbers(128), zeros(128), 3)
def a_varying_break_leaves_a_barrier_loop(x, y, n):
    """Every thread leaves in the same turn, for a reason of its own."""
    s = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    left = t * 0 + n
    s[t] = x[i]
    while True:
        cuda.syncthreads()
        v = s[(t + 1) % 64]
        cuda.syncthreads()
        s[t] = v
        left -= 1
        if left == 0:
            break
    y[i] = s[t]


@edge(1, 64, numbers(64), zeros(64), 5)
def all_return_inside_a_barrier_loop(x, y, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for k in range(n):
        s[t] = x[t] + k
        cuda.syncthreads()
        y[t] += s[63 - t]
        cuda.syncthreads()
        if k + t - t == 3:
            return
    y[t] = -1


@edge(1, 96, numbers(96), zeros(96))
def shuffles_in_one_warp_only(x, y):
    t = cuda.threadIdx.x
    v = x[t]
    if t < 32:
        step = 16
        while step > 0:
            v += cuda.shfl_down_sync(FULL, v, step)
            step //= 2
    y[t] = v


@edge(2, 64, numbers(128), zeros(128), 70)
def shuffles_after_an_early_return(x, y, n):
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i >= n:
        return
    lanes = n - (i - t % 32)
    mask = FULL if lanes >= 32 else (1 << lanes) - 1
    v = x[i]
    for k in range(3):
        v += cuda.shfl_xor_sync(mask, v, 1) + k
    y[i] = v


@edge(2, 64, numbers(128), zeros(128), 1)
def barrier_loops_inside_an_if(x, y, which):
    s = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    acc = float32(0)
    if cuda.blockIdx.x == which:
        for k in range(2):
            for m in range(3):
                s[t] = x[i] * (k + m)
                cuda.syncthreads()
                acc += s[63 - t]
                cuda.syncthreads()
    else:
        acc = x[i]
    y[i] = acc


@cuda.jit(device=True)
def block_sum(value, scratch, t):
    scratch[t] = value
    cuda.syncthreads()
    total = float32(0)
    if t == 0:
        for k in range(scratch.shape[0]):
            total += scratch[k]
        scratch[0] = total
    cuda.syncthreads()
    total = scratch[0]
    cuda.syncthreads()
    return total


@edge(2, 32, numbers(64), zeros(64))
def a_device_function_with_barriers(x, y):
    s = cuda.shared.array(32, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    y[i] = block_sum(x[i], s, t) + block_sum(x[i] * 2, s, t)


@edge((2, 1, 2), (4, 2, 3), numbers(2, 3, 2, 2, 4), zeros(2, 3, 2, 2, 4))
def blocks_of_three_dimensions(x, y):
    s = cuda.shared.array((3, 2, 4), float32)
    t = cuda.threadIdx
    s[t.z, t.y, t.x] = x[cuda.blockIdx.z, t.z, t.y, cuda.blockIdx.x, t.x]
    cuda.syncthreads()
    y[cuda.blockIdx.z, t.z, t.y, cuda.blockIdx.x, t.x] = s[2 - t.z, 1 - t.y, 3 - t.x]


@cuda.jit(device=True)
def fill(values, start):
    for k in range(values.shape[0]):
        values[k] = start + k


@edge(1, 32, zeros(32))
def a_private_array_across_a_barrier(y):
    mine = cuda.local.array(4, float32)
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    fill(mine, t)
    s[t] = mine[3]
    cuda.syncthreads()
    y[t] = mine[0] + mine[1] + s[31 - t]


@edge(1, 32, numbers(32), zeros(32, 3))
def a_tuple_across_a_barrier(x, y):
    t = cuda.threadIdx.x
    pair = (x[t], t + 1)
    cuda.syncthreads()
    y[t, 0], y[t, 1] = pair
    y[t, 2] = pair[0] * pair[1]


@edge(1, 32, zeros(32, dtype=np.float64), zeros(32, dtype=np.float64))
def a_whole_number_that_becomes_a_float(y, z):
    t = cuda.threadIdx.x
    v = t + 7
    cuda.syncthreads()
    y[t] = v // 2
    v = v / 2
    cuda.syncthreads()
    z[t] = v // 0.5


@edge(1, 32, numbers(32), zeros(32))
def a_float_only_where_the_branches_meet(x, y):
    t = cuda.threadIdx.x
    v = 3
    y[t] = v // 2
    if t % 2:
        v = 1.5
    cuda.syncthreads()
    y[t] += v


@edge(1, 32, zeros(32), 2, 10)
def parameters_are_assigned(y, n, start):
    t = cuda.threadIdx.x
    n = n + t
    cuda.syncthreads()
    start += n
    cuda.syncthreads()
    y[t] = start * 100 + n


@edge(1, 64, numbers(64, dtype=np.int32), zeros(64, dtype=np.int32))
def ballots_in_both_branches(x, y):
    t = cuda.threadIdx.x
    odd = cuda.ballot_sync(FULL, x[t] % 2 == 1)
    if x[t] % 2 == 1:
        y[t] = cuda.popc(cuda.ballot_sync(odd, x[t] > 10))
    else:
        y[t] = -cuda.popc(cuda.ballot_sync(~odd, x[t] > 10))


@edge(1, 40, numbers(40, dtype=np.int32), zeros(40, 6, dtype=np.int32))
def votes_and_matches(x, y):
    t = cuda.threadIdx.x
    mask = FULL if t < 32 else 0xFF
    y[t, 0] = cuda.any_sync(mask, x[t] == 1)
    y[t, 1] = cuda.all_sync(mask, x[t] > 0)
    y[t, 2] = cuda.match_any_sync(mask, x[t] % 5)
    same, all_same = cuda.match_all_sync(mask, x[t] > 0)
    y[t, 3], y[t, 4] = same, all_same
    y[t, 5] = cuda.eq_sync(mask, x[t] > 3)


@edge(2, 64, numbers(128, dtype=np.int32), zeros(128, 3, dtype=np.int32))
def barriers_that_count(x, y):
    i = cuda.grid(1)
    y[i, 0] = cuda.syncthreads_count(int32(x[i] > 7))
    y[i, 1] = cuda.syncthreads_and(int32(x[i] > 0)) + 2 * cuda.syncthreads_or(int32(x[i] > 22))
    if cuda.syncthreads_or(int32(x[i] > 22)):
        y[i, 2] = 5


@edge(2, 64, numbers(130), zeros(130), 130)
def a_grid_stride_loop_with_barriers(x, y, n):
    """The bounds are every thread's own; the number of turns is the same for all of a block."""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for start in range(cuda.blockIdx.x * 64, n, cuda.gridsize(1)):
        i = start + t
        s[t] = x[i] if i < n else float32(0)
        cuda.syncthreads()
        if i < n:
            y[i] = s[63 - t]
        cuda.syncthreads()


@edge(1, 64, numbers(64), zeros(64), numbers(1, dtype=np.int64))
def a_trip_count_from_memory(x, y, count):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    n = count[0] + 2
    acc = float32(0)
    for k in range(n):
        cuda.syncthreads()
        acc += s[(t + k) % 64]
    y[t] = acc


@edge(1, 32, numbers(32), zeros(32))
def an_operand_before_the_barrier_in_one_expression(x, y):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    y[t] = s[t] + cuda.syncthreads_count(int32(s[t] > 5)) * 100
    s[t] = 0


@edge(1, 32, numbers(32), zeros(32))
def a_shuffle_behind_and(x, y):
    t = cuda.threadIdx.x
    half = t < 16
    if half and cuda.shfl_xor_sync(0xFFFF, x[t], 1) > 5:
        y[t] = 1
    y[t] += cuda.shfl_sync(FULL, x[t], 0) if x[0] > 0 else float32(2)


@edge(1, 32, numbers(32), zeros(32))
def loops_over_tuples(x, y):
    t = cuda.threadIdx.x
    v = x[t]
    for step in (16, 8, 4, 2, 1):
        v += cuda.shfl_xor_sync(FULL, v, step)
    for scale in (0.5, 2.0):
        v *= scale
    y[t] = v


@edge(1, 64, numbers(64), zeros(64), shared_bytes=64 * 4 + 64 * 8)
def dynamic_shared_memory(x, y):
    s = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    s[64 + t] = 2 * x[t]
    cuda.syncthreads()
    y[t] = s[63 - t] + s[127 - t]


@edge(
    3, 32, numbers(96, dtype=np.int32), zeros(8, dtype=np.int32), zeros(8, dtype=np.int64), zeros(4, dtype=np.float64)
)
def atomics_of_all_kinds(x, a, b, c):
    i = cuda.grid(1)
    cuda.atomic.add(a, 0, x[i])
    cuda.atomic.max(a, 1, x[i])
    cuda.atomic.min(a, 2, -x[i])
    cuda.atomic.xor(a, 3, x[i])
    cuda.atomic.or_(a, 4, x[i])
    cuda.atomic.sub(b, 0, x[i])
    cuda.atomic.cas(b, 1, 0, 77)
    cuda.atomic.add(c, 0, float64(x[i]))
    cuda.atomic.max(c, 1, float64(x[i]))


@edge(1, 4, zeros(4, dtype=np.uint32))
def the_largest_unsigned_number(y):
    s, t = cuda.shared.array(1, uint32), cuda.threadIdx.x
    s[0] = 0
    cuda.syncthreads()
    cuda.atomic.max(s, 0, uint32(t * 2**30))
    cuda.syncthreads()
    y[t] = s[0]


@edge(1, 32, zeros(32, 4, dtype=np.int64))
def a_while_loop_of_every_threads_own_length(y):
    t = cuda.threadIdx.x
    n, steps = t + 1, 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        if steps > 100:
            break
    y[t, 0] = steps
    v = 0
    for k in range(t):
        if k == 5:
            continue
        if k == 9:
            break
        v += k
    y[t, 1] = v
    cuda.syncwarp()
    for k in range(40):
        y[t, 2] += k
    for k in range(3):
        y[t, 3] += k
    else:
        y[t, 3] += 100


@edge(1, 32, numbers(32, dtype=np.uint32), zeros(32, 5, dtype=np.uint32))
def bits(x, y):
    t = cuda.threadIdx.x
    v = x[t]
    y[t, 0], y[t, 1], y[t, 2], y[t, 3] = cuda.popc(v), cuda.clz(v), cuda.ffs(v), cuda.brev(v)
    y[t, 4] = uint32(v << uint32(t)) ^ (v >> 1)


@edge(1, 32, numbers(32), zeros(32, 4), zeros(32, 2, dtype=np.int32))
def numbers_as_on_a_gpu(x, y, z):
    t = cuda.threadIdx.x
    nan = x[t] * math.inf - math.inf
    y[t, 0] = min(nan, x[t])
    y[t, 1] = math.floor(x[t] / 3) + math.fmod(x[t], 2.0)
    y[t, 2] = cuda.fma(x[t], x[t], float32(1))
    y[t, 3] = 1 / (x[t] - x[t])
    z[t, 0] = int32(x[t] * 1e20)
    z[t, 1] = t // (t - t) + int64(nan)


@edge(2, 48, numbers(96), zeros(96))
def a_last_warp_that_is_not_full(x, y):
    t, i = cuda.threadIdx.x, cuda.grid(1)
    mask = FULL if t < 32 else 0xFFFF
    y[i] = cuda.shfl_up_sync(mask, x[i], 1) + cuda.shfl_down_sync(mask, x[i], 2)


@edge(1, 40, zeros(40))
def a_shuffle_beyond_the_last_thread(y):
    t = cuda.threadIdx.x
    y[t] = cuda.shfl_down_sync(0xFFFFFFFF, float32(t), 4)


@edge(1, 64, numbers(64, 40), numbers(40), zeros(64), 60)
def a_long_loop_behind_a_guard(x, w, y, n):
    """Interchange moves the loop outside; some threads of the block have no part in it."""
    t = cuda.threadIdx.x
    if t >= n:
        return
    total = float32(0)
    for k in range(w.size):
        if k % 3 == 1:
            continue
        total += x[t, k] * w[k]
    y[t] = total


@edge(1, 64, numbers(64, 40), zeros(64))
def nested_long_loops(x, y):
    t = cuda.threadIdx.x
    best = float32(-1)
    for i in range(x.shape[0]):
        dot = float32(0)
        for k in range(x.shape[1]):
            dot += x[t, k] * x[i, k]
        best = max(best, dot)
    y[t] = best


@edge(2, 64, numbers(128), zeros(128))
def a_scan_whose_stride_doubles(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i]
    cuda.syncthreads()
    stride = 1
    while stride < 64:
        before = s[t - stride] if t >= stride else float32(0)
        cuda.syncthreads()
        s[t] += before
        cuda.syncthreads()
        stride *= 2
    y[i] = s[t]


@edge(2, 40, numbers(70), zeros(80))
def a_comparison_behind_its_guard(x, y):
    """Python evaluates the middle of a chain once, and only where what stands before it allows that."""
    i = cuda.grid(1)
    if i < x.size and 5 < x[i] < 15:
        y[i] = x[i]
    if i >= x.size or 5 < x[i] <= x[(i + 1) % 70] < 20:
        y[i] += 100
    y[i] += 3.0 if i >= x.size else (1.0 if 2 < x[i] + 1 < 9 else 2.0)
    if 0 <= i < x.size and 1 < x[i] <= 9 != x[(i + 2) % 70] < 23:
        y[i] += 1000


@edge(2, 40, numbers(70), zeros(80))
def a_member_behind_its_guard(x, y):
    i, k = cuda.grid(1), 0
    if i < 70 and x[i] in (1, 8, 15):
        y[i] = 1
    if i >= 70 or x[i] not in (1.0, 2.0, x[i] + 1.0):
        y[i] += 2
    while i + k < 70 and 2 < x[i + k] < 22:
        k += 1
    y[i] += k * 10


@edge(2, 40, zeros(80), zeros(3, dtype=np.int32))
def an_atomic_behind_its_guard(y, count):
    i = cuda.grid(1)
    if 10 < i < 60 <= cuda.atomic.add(count, 0, 1) * 0 + i + 1 < 1000:
        y[i] = 1
    if i == 7 and 0 <= cuda.atomic.add(count, 1, 1) < 5:
        y[i] += 2
    y[i] += 4 if i < 20 and -1 < cuda.atomic.max(count, 2, 9) < 100 else 8


@edge(2, 32, numbers(64), zeros(64), 2)
def a_tuple_of_numbers_by_index(x, y, n):
    i = cuda.grid(1)
    weights, half = (3, 1, 4), (0.5, 1.5)
    y[i] = weights[i % 3] * x[i] + half[n - 1] + weights[-1] + weights[n - 3]


@cuda.jit(device=True)
def taken(s):
    return cuda.atomic.add(s, 0, 1)


@edge(200, 32, zeros(1, dtype=np.int32), zeros(6400, dtype=np.int32))
def a_parameter_with_the_name_of_a_shared_array(counter, seen):
    """The atomic in the device function works on memory that all blocks see, whatever its parameter is called."""
    s = cuda.shared.array(4, int32)
    s[cuda.threadIdx.x % 4] = 0
    for _ in range(20):
        seen[taken(counter) % 6400] = 1


@edge(1, 32, zeros(32), zeros(32, dtype=np.int32))
def variables_with_an_underscore(y, _flag):
    _tx = cuda.threadIdx.x + 1
    _b, _ = 4, 5
    _load = _b + _
    y[cuda.threadIdx.x] = _tx * _load
    _flag[cuda.threadIdx.x] = _tx


@edge(1, 32, zeros(32), zeros(32))
def an_assignment_inside_a_statement(x, y):
    t = cuda.threadIdx.x
    q = i = t % 4
    y[t] = 0 < q < (q := q + 1)
    x[t // 4 * 4 + i] += (i := t)
    y[t] += i + q


@edge(1, 1, zeros(4, dtype=np.int32), zeros(4))
def both_items_are_made_before_they_are_compared(count, y):
    if 0 in (cuda.atomic.add(count, 0, 1), cuda.atomic.add(count, 0, 1)):
        y[0] = count[0]
    y[1] = (cuda.atomic.add(count, 1, 7), 5)[1]


@cuda.jit(device=True)
def digits(a, b=9):
    return a * 10 + b


@edge(1, 1, zeros(1, dtype=np.int32), zeros(4))
def keywords_in_the_order_of_the_source(count, y):
    y[0] = digits(b=cuda.atomic.add(count, 0, 1), a=cuda.atomic.add(count, 0, 1))
    y[1] = digits(a=cuda.atomic.add(count, 0, 1))


@edge(1, 32, numbers(32), zeros(32))
def nested_targets(x, y):
    t = cuda.threadIdx.x
    a, b = x[t], float32(t)
    (a, b), c = (b, a), a
    y[t] = a * 10000 + b * 100 + c


@edge(2, 64, zeros(128, dtype=np.int64), zeros(128, dtype=np.int64))
def integers_that_wrap(y, z):
    i = cuda.grid(1)
    state = i * 6364136223846793005 + 1442695040888963407
    for _ in range(8):
        state = (state ^ (state >> 7)) * 6364136223846793005
    y[i] = state
    largest = 9223372036854775807 - i % 64
    z[i] = 1 if largest + 100 < largest else 0
