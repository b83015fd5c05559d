"""Answers to 06-soa."""

import numpy as np
from answers import MASTER, cut, edit, replace

from dlkernels import cuda

THREADS = 64
NUMBERS = 192
LONG = 75


@cuda.jit
def three_rounds(points, out):
    """right"""
    tile = cuda.shared.array(NUMBERS, np.float32)
    t, n = cuda.threadIdx.x, out.shape[1]
    start = cuda.blockIdx.x * NUMBERS
    for c in range(3):
        k = start + c * THREADS + t
        if k < 3 * n:
            tile[c * THREADS + t] = points[k]
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < n:
        out[0, i] = tile[3 * t]
        out[1, i] = tile[3 * t + 1]
        out[2, i] = tile[3 * t + 2]


@cuda.jit
def sorted_on_the_way_in(points, out):
    """right"""
    tile = cuda.shared.array((3, LONG), np.float32)
    t, n = cuda.threadIdx.x, out.shape[1]
    start = cuda.blockIdx.x * NUMBERS
    for k in range(t, min(NUMBERS, 3 * n - start), THREADS):
        tile[k % 3, k // 3] = points[start + k]
    cuda.syncthreads()
    i = cuda.grid(1)
    for c in range(3):
        if i < n:
            out[c, i] = tile[c, t]


sorted_on_the_way_in_and_in_the_way = edit(
    sorted_on_the_way_in, "over budget over-budget: lanes meet in a bank", replace("(3, LONG)", "(3, THREADS)")
)


@cuda.jit
def straight(points, out):
    """over budget over-budget: 12 bytes apart"""
    i = cuda.grid(1)
    if i < out.shape[1]:
        for c in range(3):
            out[c, i] = points[3 * i + c]


@cuda.jit
def a_thread_for_each_number(points, out):
    """over budget over-budget: into several rows of out at a time"""
    start = cuda.blockIdx.x * NUMBERS
    for k in range(cuda.threadIdx.x, NUMBERS, THREADS):
        if start + k < points.size:
            out[(start + k) % 3, (start + k) // 3] = points[start + k]


rows_of_the_tile_are_long = edit(
    sorted_on_the_way_in,
    "over budget over-budget: a step that shares a factor with 32 does",
    replace("(3, LONG)", "(THREADS, 4)"),
    replace("tile[k % 3, k // 3]", "tile[k // 3, k % 3]"),
    replace("tile[c, t]", "tile[t, c]"),
)


@cuda.jit
def loaded_through_twice(points, out):
    """over budget over-budget: Each number of points is loaded once"""
    tile = cuda.shared.array(NUMBERS, np.float32)
    t, n = cuda.threadIdx.x, out.shape[1]
    start = cuda.blockIdx.x * NUMBERS
    for again in range(2):
        for k in range(t, min(NUMBERS, 3 * n - start), THREADS):
            tile[k] = points[start + k] + 0 * again
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < n:
        for c in range(3):
            out[c, i] = tile[3 * t + c]


@cuda.jit
def barrier_under_the_guard(points, out):
    """wrong barrier-after-exit: is the barrier in an `if` that they skip"""
    tile = cuda.shared.array(NUMBERS, np.float32)
    t, n, i = cuda.threadIdx.x, out.shape[1], cuda.grid(1)
    start = cuda.blockIdx.x * NUMBERS
    if i < n:
        for k in range(t, min(NUMBERS, 3 * n - start), THREADS):
            tile[k] = points[start + k]
        cuda.syncthreads()
        for c in range(3):
            out[c, i] = tile[3 * t + c]
    else:
        for k in range(t, min(NUMBERS, 3 * n - start), THREADS):
            tile[k] = points[start + k]


@cuda.jit
def gone_early(points, out):
    """wrong barrier-after-exit: Did they return early"""
    tile = cuda.shared.array(NUMBERS, np.float32)
    t, n, i = cuda.threadIdx.x, out.shape[1], cuda.grid(1)
    if i >= n:
        return
    start = cuda.blockIdx.x * NUMBERS
    for k in range(t, min(NUMBERS, 3 * n - start), THREADS):
        tile[k] = points[start + k]
    cuda.syncthreads()
    for c in range(3):
        out[c, i] = tile[3 * t + c]


as_they_came = edit(
    MASTER,
    "wrong suspect: in the tile the three numbers of point t lie side by side",
    replace("t, n = cuda.threadIdx.x, out.shape[1]", "t, n, i = cuda.threadIdx.x, out.shape[1], cuda.grid(1)"),
    cut("i = cuda.grid(1)"),
    replace("3 * t + c", "c * THREADS + t"),
)
one_number_each = edit(
    MASTER,
    "wrong uninitialised-shared: does each thread store three",
    replace("n = cuda.threadIdx.x, out.shape[1]", "n, i = cuda.threadIdx.x, out.shape[1], cuda.grid(1)"),
    replace("for k in range(t, min(NUMBERS, 3 * n - start), THREADS):", "if start + t < 3 * n:"),
    replace("[k] = points[start + k]", "[t] = points[start + t]"),
    cut("i = cuda.grid(1)"),
)
a_tile_of_64 = edit(
    MASTER,
    "wrong out-of-bounds: so the tile needs as many places",
    replace("(NUMBERS, np.float32)", "(THREADS, np.float32)"),
    replace("t, n = cuda.threadIdx.x, out.shape[1]", "t, n, i = cuda.threadIdx.x, out.shape[1], cuda.grid(1)"),
    cut("i = cuda.grid(1)"),
)


@cuda.jit
def no_guard(points, out):
    """wrong out-of-bounds: the last block has fewer points"""
    tile = cuda.shared.array(NUMBERS, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    for c in range(3):
        k = c * THREADS + t
        tile[k] = points[cuda.blockIdx.x * NUMBERS + k]
    cuda.syncthreads()
    for c in range(3):
        out[c, i] = tile[3 * t + c]


blocks_of_64_numbers = edit(
    MASTER,
    "wrong wrong-value: its first number is number 192 of points",
    replace("t, n = cuda.threadIdx.x, out.shape[1]", "t, n, i = cuda.threadIdx.x, out.shape[1], cuda.grid(1)"),
    replace("x * NUMBERS", "x * THREADS"),
    cut("i = cuda.grid(1)"),
)


@cuda.jit
def the_block_forgotten(points, out):
    """wrong two-writers: Which point is the first one of a block"""
    tile = cuda.shared.array(NUMBERS, np.float32)
    t, n = cuda.threadIdx.x, out.shape[1]
    for k in range(t, min(NUMBERS, 3 * n), THREADS):
        tile[k] = points[k]
    cuda.syncthreads()
    if t < n:
        for c in range(3):
            out[c, t] = tile[3 * t + c]


three_times_x = edit(
    MASTER,
    "wrong suspect: All three rows got x",
    replace("t, n = cuda.threadIdx.x, out.shape[1]", "t, n, i = cuda.threadIdx.x, out.shape[1], cuda.grid(1)"),
    cut("i = cuda.grid(1)"),
    replace("3 * t + c", "3 * t"),
)


@cuda.jit
def flat_out(points, out):
    """wrong suspect: nothing was sorted"""
    n, start = out.shape[1], cuda.blockIdx.x * NUMBERS
    for k in range(cuda.threadIdx.x, NUMBERS, THREADS):
        if start + k < 3 * n:
            out[(start + k) // n, (start + k) % n] = points[start + k]


@cuda.jit
def a_barrier_for_each(points, out):
    """wrong divergent-barrier: Every thread comes to the barrier"""
    tile = cuda.shared.array(NUMBERS, np.float32)
    t, n, i = cuda.threadIdx.x, out.shape[1], cuda.grid(1)
    start = cuda.blockIdx.x * NUMBERS
    for k in range(t, min(NUMBERS, 3 * n - start), THREADS):
        tile[k] = points[start + k]
    if i < n:
        cuda.syncthreads()
        for c in range(3):
            out[c, i] = tile[3 * t + c]
    else:
        cuda.syncthreads()


z_first = edit(
    MASTER,
    "wrong suspect: row 0 is for x",
    replace("t, n = cuda.threadIdx.x, out.shape[1]", "t, n, i = cuda.threadIdx.x, out.shape[1], cuda.grid(1)"),
    cut("i = cuda.grid(1)"),
    replace("out[c, i]", "out[2 - c, i]"),
)
