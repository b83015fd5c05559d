"""Answers to 08-four."""

import numpy as np
from answers import cut, edit, replace

from dlkernels import cuda

TILE = 16
WIDE = 32


@cuda.jit
def two_tall_tiles(a, b, out):
    """right"""
    a_tile = cuda.shared.array((WIDE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, WIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * WIDE, cuda.blockIdx.x * WIDE
    (m, n), k = out.shape, a.shape[1]
    number = y * TILE + x
    p, q = number // (WIDE), number % (WIDE)  # a warp stores a whole row: no conflict
    s00 = s01 = s10 = s11 = np.float32(0)
    for start in range(0, k, TILE):
        for half in range(2):
            i = row + y + half * TILE
            a_tile[y + half * TILE, x] = a[i, start + x] if i < m and start + x < k else 0
            r = p + half * TILE // 2
            b_tile[r, q] = b[start + r, column + q] if start + r < k and column + q < n else 0
        cuda.syncthreads()
        for r in range(TILE):
            a0, a1, b0, b1 = a_tile[y, r], a_tile[y + TILE, r], b_tile[r, x], b_tile[r, x + TILE]
            s00 += a0 * b0
            s01 += a0 * b1
            s10 += a1 * b0
            s11 += a1 * b1
        cuda.syncthreads()
    i, j = row + y, column + x
    if i < m and j < n:
        out[i, j] = s00
    if i < m and j + TILE < n:
        out[i, j + TILE] = s01
    if i + TILE < m and j < n:
        out[i + TILE, j] = s10
    if i + TILE < m and j + TILE < n:
        out[i + TILE, j + TILE] = s11


@cuda.jit
def task_4_four_times(a, b, out):
    """over budget over-budget: loaded from global memory again"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    (m, n), k = out.shape, a.shape[1]
    for quarter in range(4):
        i = cuda.blockIdx.y * WIDE + y + quarter // 2 * TILE
        j = cuda.blockIdx.x * WIDE + x + quarter % 2 * TILE
        total = np.float32(0)
        for start in range(0, k, TILE):
            a_tile[y, x] = a[i, start + x] if i < m and start + x < k else 0
            b_tile[y, x] = b[start + y, j] if start + y < k and j < n else 0
            cuda.syncthreads()
            for p in range(TILE):
                total += a_tile[y, p] * b_tile[p, x]
            cuda.syncthreads()
        if i < m and j < n:
            out[i, j] = total


@cuda.jit
def four_tiles(a, b, out):
    """right"""
    a_top = cuda.shared.array((TILE, TILE), np.float32)
    a_bottom = cuda.shared.array((TILE, TILE), np.float32)
    b_left = cuda.shared.array((TILE, TILE), np.float32)
    b_right = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = cuda.blockIdx.y * WIDE + y, cuda.blockIdx.x * WIDE + x
    (m, n), k = out.shape, a.shape[1]
    s00 = s01 = s10 = s11 = np.float32(0)
    for start in range(0, k, TILE):
        p, q = start + x, start + y
        a_top[y, x] = a[i, p] if i < m and p < k else 0
        a_bottom[y, x] = a[i + TILE, p] if i + TILE < m and p < k else 0
        b_left[y, x] = b[q, j] if q < k and j < n else 0
        b_right[y, x] = b[q, j + TILE] if q < k and j + TILE < n else 0
        cuda.syncthreads()
        for r in range(TILE):
            a0, a1, b0, b1 = a_top[y, r], a_bottom[y, r], b_left[r, x], b_right[r, x]
            s00 += a0 * b0
            s01 += a0 * b1
            s10 += a1 * b0
            s11 += a1 * b1
        cuda.syncthreads()
    if i < m and j < n:
        out[i, j] = s00
    if i < m and j + TILE < n:
        out[i, j + TILE] = s01
    if i + TILE < m and j < n:
        out[i + TILE, j] = s10
    if i + TILE < m and j + TILE < n:
        out[i + TILE, j + TILE] = s11


each_number_loaded_twice = edit(
    four_tiles,
    "over budget over-budget: how many does your round load",
    replace(
        """
        a0, a1, b0, b1 = a_top[y, r], a_bottom[y, r], b_left[r, x], b_right[r, x]
        s00 += a0 * b0
        s01 += a0 * b1
        s10 += a1 * b0
        s11 += a1 * b1
        """,
        """
        s00 += a_top[y, r] * b_left[r, x]
        s01 += a_top[y, r] * b_right[r, x]
        s10 += a_bottom[y, r] * b_left[r, x]
        s11 += a_bottom[y, r] * b_right[r, x]
        """,
    ),
)
no_second_barrier = edit(
    four_tiles, "wrong race: before the next tiles overwrite them", cut("cuda.syncthreads()", after="s11 += a1 * b1")
)
no_first_barrier = edit(
    four_tiles,
    "wrong race: before anyone reads them",
    cut("cuda.syncthreads()", after="b_right[y, x] = b[q, j + TILE] if q < k and j + TILE < n else 0"),
)
only_one_guard_for_the_stores = edit(
    four_tiles,
    "wrong some-unwritten: guarded by its own row and column",
    replace("if i < m and j < n:", "if i + TILE < m and j + TILE < n:"),
    cut("if i < m and j + TILE < n:"),
    cut("if i + TILE < m and j < n:"),
    cut("if i + TILE < m and j + TILE < n:"),
)
guard_of_the_first_for_all = edit(
    four_tiles,
    "wrong out-of-bounds: put 0 into the tile elsewhere",
    cut("if i < m and j + TILE < n:"),
    cut("if i + TILE < m and j < n:"),
    cut("if i + TILE < m and j + TILE < n:"),
)
index_of_task_4 = edit(
    four_tiles,
    "wrong some-unwritten: Which of them is this one",
    replace("i, j = cuda.blockIdx.y * WIDE + y, cuda.blockIdx.x * WIDE + x", "j, i = cuda.grid(2)"),
)
right_and_bottom_exchanged = edit(
    four_tiles,
    "wrong wrong-value: Which two numbers",
    replace("out[i, j + TILE] = s01", "out[i, j + TILE] = s10"),
    replace("out[i + TILE, j] = s10", "out[i + TILE, j] = s01"),
)
one_quarter_only = edit(
    four_tiles,
    "wrong some-unwritten: Each thread writes four elements",
    cut("""
    if i < m and j + TILE < n:
        out[i, j + TILE] = s01
    if i + TILE < m and j < n:
        out[i + TILE, j] = s10
    if i + TILE < m and j + TILE < n:
        out[i + TILE, j + TILE] = s11
    """),
)
