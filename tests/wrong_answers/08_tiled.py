"""Answers to 08-tiled."""

import numpy as np

from dlkernels import cuda

TILE = 16
PADDED = 17
ROWS, COLUMNS = 32, 48


@cuda.jit
def counted_tiles(a, b, out):
    """right"""
    left = cuda.shared.array((TILE, TILE), np.float32)
    right = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    column = cuda.blockIdx.x * TILE + tx
    total = np.float64(0)
    for t in range((a.shape[1] + TILE - 1) // TILE):
        left[ty, tx] = 0
        right[ty, tx] = 0
        if row < a.shape[0] and t * TILE + tx < a.shape[1]:
            left[ty, tx] = a[row, t * TILE + tx]
        if t * TILE + ty < b.shape[0] and column < b.shape[1]:
            right[ty, tx] = b[t * TILE + ty, column]
        cuda.syncthreads()
        for p in range(min(TILE, a.shape[1] - t * TILE)):
            total += left[ty, p] * np.float64(right[p, tx])
        cuda.syncthreads()
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = total


@cuda.jit
def two_pairs_of_tiles_one_barrier(a, b, out):
    """right"""
    a_tiles = cuda.shared.array((2, TILE, TILE), np.float32)
    b_tiles = cuda.shared.array((2, TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = np.float32(0)
    turn = 0
    for start in range(0, a.shape[1], TILE):
        p = start + x
        a_tiles[turn, y, x] = a[i, p] if i < a.shape[0] and p < a.shape[1] else 0
        p = start + y
        b_tiles[turn, y, x] = b[p, j] if p < b.shape[0] and j < b.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tiles[turn, y, p] * b_tiles[turn, p, x]
        turn = 1 - turn
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def one_block_for_32_x_48(a, b, out):
    """right"""
    a_tile = cuda.shared.array((ROWS, TILE), np.float32)
    b_tile = cuda.shared.array((COLUMNS, TILE), np.float32)
    sums = cuda.local.array((2, 3), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    (m, n), k = out.shape, a.shape[1]
    across = (n + COLUMNS - 1) // COLUMNS
    tiles = (m + ROWS - 1) // ROWS * across
    for tile in range(cuda.blockIdx.y * cuda.gridDim.x + cuda.blockIdx.x, tiles, cuda.gridDim.x * cuda.gridDim.y):
        i, j = tile // across * ROWS + y, tile % across * COLUMNS + x
        for r in range(2):
            for c in range(3):
                sums[r, c] = 0
        for start in range(0, k, TILE):
            p, q = start + x, start + y
            for r in range(2):
                row = i + r * TILE
                a_tile[y + r * TILE, x] = a[row, p] if row < m and p < k else 0
            for c in range(3):
                column = j + c * TILE
                b_tile[y + c * TILE, x] = b[q, column] if q < k and column < n else 0
            cuda.syncthreads()
            for s in range(TILE):
                for r in range(2):
                    for c in range(3):
                        sums[r, c] += a_tile[y + r * TILE, s] * b_tile[c * TILE + s, x]
            cuda.syncthreads()
        for r in range(2):
            for c in range(3):
                row, column = i + r * TILE, j + c * TILE
                if row < m and column < n:
                    out[row, column] = sums[r, c]


@cuda.jit
def padded_rows(a, b, out):
    """over budget over-budget: The tiles need no padding"""
    a_tile = cuda.shared.array((TILE, PADDED), np.float32)
    b_tile = cuda.shared.array((TILE, PADDED), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        a_tile[y, x] = a[i, start + x] if i < out.shape[0] and start + x < a.shape[1] else 0
        b_tile[y, x] = b[start + y, j] if start + y < b.shape[0] and j < out.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def no_tiles(a, b, out):
    """over budget over-budget: 4608; the budget is 288"""
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = np.float32(0)
        for p in range(a.shape[1]):
            total += a[i, p] * b[p, j]
        out[i, j] = total


@cuda.jit
def only_a_has_a_tile(a, b, out):
    """over budget over-budget: 2448; the budget is 288"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        a_tile[y, x] = a[i, start + x] if i < out.shape[0] and start + x < a.shape[1] else 0
        cuda.syncthreads()
        if j < out.shape[1]:
            for p in range(min(TILE, a.shape[1] - start)):
                total += a_tile[y, p] * b[start + p, j]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def tile_of_b_turned_over(a, b, out):
    """over budget over-budget: 8, at `b_tile[x, y]`"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        a_tile[y, x] = a[i, start + x] if i < out.shape[0] and start + x < a.shape[1] else 0
        b_tile[x, y] = b[start + y, j] if start + y < b.shape[0] and j < out.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[x, p]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def rows_along_x(a, b, out):
    """over budget over-budget: 16, at `a[i, start + x]`"""
    a_tile = cuda.shared.array((TILE, PADDED), np.float32)
    b_tile = cuda.shared.array((TILE, PADDED), np.float32)
    y, x = cuda.threadIdx.x, cuda.threadIdx.y
    i = cuda.blockIdx.y * TILE + y
    j = cuda.blockIdx.x * TILE + x
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        a_tile[y, x] = a[i, start + x] if i < out.shape[0] and start + x < a.shape[1] else 0
        b_tile[y, x] = b[start + y, j] if start + y < b.shape[0] and j < out.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def a_barrier_in_the_loop_over_p(a, b, out):
    """over budget over-budget: 51; the budget is 6"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        a_tile[y, x] = a[i, start + x] if i < out.shape[0] and start + x < a.shape[1] else 0
        b_tile[y, x] = b[start + y, j] if start + y < b.shape[0] and j < out.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
            cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def no_second_barrier(a, b, out):
    """wrong race: before the next tiles overwrite them"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        a_tile[y, x] = a[i, start + x] if i < out.shape[0] and start + x < a.shape[1] else 0
        b_tile[y, x] = b[start + y, j] if start + y < b.shape[0] and j < out.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def no_first_barrier(a, b, out):
    """wrong race: before anyone reads them"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        a_tile[y, x] = a[i, start + x] if i < out.shape[0] and start + x < a.shape[1] else 0
        b_tile[y, x] = b[start + y, j] if start + y < b.shape[0] and j < out.shape[1] else 0
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def no_guard(a, b, out):
    """wrong out-of-bounds: put 0 into the tile elsewhere"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        a_tile[y, x] = a[i, start + x]
        b_tile[y, x] = b[start + y, j]
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    out[i, j] = total


@cuda.jit
def all_under_one_guard(a, b, out):
    """wrong barrier-after-exit: Keep cuda.syncthreads() out of every"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        if i < out.shape[0] and j < out.shape[1]:
            a_tile[y, x] = a[i, start + x] if start + x < a.shape[1] else 0
            b_tile[y, x] = b[start + y, j] if start + y < b.shape[0] else 0
            cuda.syncthreads()
            for p in range(TILE):
                total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def early_return(a, b, out):
    """wrong barrier-after-exit: do not return early"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    if i >= out.shape[0] or j >= out.shape[1]:
        return
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        a_tile[y, x] = a[i, start + x] if start + x < a.shape[1] else 0
        b_tile[y, x] = b[start + y, j] if start + y < b.shape[0] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    out[i, j] = total


@cuda.jit
def one_tile_only(a, b, out):
    """wrong suspect: Only the first 16 terms"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    a_tile[y, x] = a[i, x] if i < out.shape[0] and x < a.shape[1] else 0
    b_tile[y, x] = b[y, j] if y < b.shape[0] and j < out.shape[1] else 0
    cuda.syncthreads()
    total = np.float32(0)
    for p in range(TILE):
        total += a_tile[y, p] * b_tile[p, x]
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def tiles_rounded_down(a, b, out):
    """wrong suspect: the number of tiles along k was rounded down"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = np.float32(0)
    for t in range(max(1, a.shape[1] // TILE)):
        start = t * TILE
        a_tile[y, x] = a[i, start + x] if i < out.shape[0] and start + x < a.shape[1] else 0
        b_tile[y, x] = b[start + y, j] if start + y < b.shape[0] and j < out.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def one_block_only(a, b, out):
    """wrong one-block: but not the block's number"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        a_tile[y, x] = a[y, start + x] if y < out.shape[0] and start + x < a.shape[1] else 0
        b_tile[y, x] = b[start + y, x] if start + y < b.shape[0] and x < out.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = total


@cuda.jit
def b_tile_transposed(a, b, out):
    """wrong suspect: This is a @ b.T"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        a_tile[y, x] = a[i, start + x] if i < out.shape[0] and start + x < a.shape[1] else 0
        b_tile[y, x] = b[start + y, j] if start + y < b.shape[0] and j < out.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[x, p]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def guard_of_one_case(a, b, out):
    """wrong some-unwritten: Which block should have written"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    j, i = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        a_tile[y, x] = a[i, start + x] if i < a.shape[0] and start + x < a.shape[1] else 0
        b_tile[y, x] = b[start + y, j] if start + y < a.shape[1] and j < min(b.shape[1], 28) else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if i < out.shape[0] and j < 28:
        out[i, j] = total
