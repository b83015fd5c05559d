"""What random kernels found wrong in the compiled engine, each as a small kernel of its own."""

import numpy as np
import pytest
from numba import float32, int32

from simt import compiled, cuda, run

pytestmark = pytest.mark.rotates

STEPS = (3, 1, 2)


@cuda.jit
def parameter_becomes_wider(o, k):
    k = k + 1
    o[cuda.grid(1)] = k


@cuda.jit
def parameter_in_a_branch(o, k):
    g = cuda.grid(1)
    if g < 100:
        k = int32(k * 2)
    o[g] = k


@cuda.jit
def parameter_in_a_branch_never_taken(o, k):
    for _ in range(4):
        if k < -100:
            k = int32(5)
        o[cuda.grid(1)] = k


@cuda.jit
def parameter_added_to_itself(o, x):
    g = cuda.grid(1)
    if x > 0:
        x += x
    o[g] = x


@cuda.jit
def parameter_squared_behind_a_branch(o, x):
    g = cuda.grid(1)
    if x > cuda.blockIdx.x:
        o[g] = 2
        x += float32(0.5) + x
    x = x * x
    o[g] += x


@cuda.jit
def scalar_of_the_block_updated_between_barriers(o, n):
    g = cuda.grid(1)
    u = n * 2
    o[g] = u
    cuda.syncthreads()
    u += u
    o[g] += u
    cuda.syncthreads()
    for i in range(n):
        if i % 2 == 0:
            u = u + i
        o[g] += u


@cuda.jit
def return_in_a_branch_in_a_branch(o, n):
    g = cuda.grid(1)
    if n > 3:
        if n % 5 == 2:
            o[g] = 1
            return
        o[g] = 2
    o[g] += 3


@cuda.jit
def return_in_a_branch_behind_a_barrier(o, n):
    g = cuda.grid(1)
    s = cuda.shared.array(32, int32)
    s[cuda.threadIdx.x] = g
    cuda.syncthreads()
    if n > 3:
        if n % 5 == 2:
            o[g] = 1
            return
        o[g] = 2
    else:
        o[g] = s[31 - cuda.threadIdx.x]
    o[g] += 3


@cuda.jit
def block_index_kept_for_a_later_piece(o, n):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x + 0
    g = b * 32 + t
    s = cuda.shared.array(32, int32)
    s[t] = g
    cuda.syncthreads()
    if (n + s[b]) % 3 >= 0:
        n = int32(n % 1099511627773)
        n = int32(-n if n > s[b] or b % 3 >= 1 else n)
        o[g] = n
    if g >= 10_000:
        return
    o[g] += b


@cuda.jit
def barrier_in_a_loop_over_a_tuple_from_outside(o, n):
    t = cuda.threadIdx.x
    s = cuda.shared.array(32, int32)
    for step in STEPS:
        s[t] = step * t + n
        cuda.syncthreads()
        o[cuda.grid(1)] += s[(t + step) % 32]
        cuda.syncthreads()


CASES = [
    (kernel, value)
    for kernel, values in {
        parameter_becomes_wider: (5, np.int32(5), np.float32(5)),
        parameter_in_a_branch: (4, np.int32(4)),
        parameter_in_a_branch_never_taken: (7, np.int32(7)),
        parameter_added_to_itself: (1.1, np.float32(1.1), 3),
        parameter_squared_behind_a_branch: (1.1, np.float32(1.1)),
        scalar_of_the_block_updated_between_barriers: (5, np.int32(5)),
        return_in_a_branch_in_a_branch: (4, 7, 2),
        return_in_a_branch_behind_a_barrier: (4, 7, 2),
        block_index_kept_for_a_later_piece: (6, np.int32(6)),
        barrier_in_a_loop_over_a_tuple_from_outside: (1,),
    }.items()
    for value in values
]


@pytest.mark.parametrize("order", ["forward", "reverse"])
@pytest.mark.parametrize(("kernel", "value"), CASES, ids=lambda v: getattr(v, "__name__", f"{type(v).__name__} {v}"))
def test_what_random_kernels_found(kernel, value, order):
    expected, found = np.zeros(4 * 32), np.zeros(4 * 32)
    run(kernel, 4, 32, (expected, value))
    compiled.run(kernel, 4, 32, (found, value), order=order)
    np.testing.assert_array_equal(found, expected)
