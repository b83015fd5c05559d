"""Answers to 08-tiled."""

import numpy as np
from answers import cut, edit, insert, replace

from dlkernels import cuda

TILE = 16
PADDED = 17
ROWS, COLUMNS = 32, 48


@cuda.jit
def turned_tile(at, b, out):
    """right"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    row = cuda.blockIdx.y * TILE + x
    total = np.float32(0)
    for start in range(0, at.shape[0], TILE):
        a_tile[y, x] = at[start + y, row] if start + y < at.shape[0] and row < at.shape[1] else 0
        b_tile[y, x] = b[start + y, j] if start + y < b.shape[0] and j < b.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[p, y] * b_tile[p, x]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


float64_sums = edit(
    turned_tile, "right", replace("np.float32(0)", "np.float64(0)"), replace("b_tile[p, x]", "np.float64(b_tile[p, x])")
)


@cuda.jit
def two_pairs_of_tiles_one_barrier(at, b, out):
    """right"""
    a_tiles = cuda.shared.array((2, TILE, TILE), np.float32)
    b_tiles = cuda.shared.array((2, TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    row = i - y + x
    total = np.float32(0)
    turn = 0
    for start in range(0, at.shape[0], TILE):
        p = start + y
        a_tiles[turn, y, x] = at[p, row] if p < at.shape[0] and row < at.shape[1] else 0
        b_tiles[turn, y, x] = b[p, j] if p < b.shape[0] and j < b.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tiles[turn, p, y] * b_tiles[turn, p, x]
        turn = 1 - turn
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def one_block_for_32_x_48(at, b, out):
    """right"""
    a_tile = cuda.shared.array((ROWS, TILE), np.float32)
    b_tile = cuda.shared.array((COLUMNS, TILE), np.float32)
    sums = cuda.local.array((2, 3), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    (m, n), k = out.shape, at.shape[0]
    across = (n + COLUMNS - 1) // COLUMNS
    tiles = (m + ROWS - 1) // ROWS * across
    for tile in range(cuda.blockIdx.y * cuda.gridDim.x + cuda.blockIdx.x, tiles, cuda.gridDim.x * cuda.gridDim.y):
        top, left = tile // across * ROWS, tile % across * COLUMNS
        for r in range(2):
            for c in range(3):
                sums[r, c] = 0
        for start in range(0, k, TILE):
            for r in range(2):
                row = top + r * TILE + x
                a_tile[r * TILE + y, x] = at[start + y, row] if start + y < k and row < m else 0
            for c in range(3):
                column = left + c * TILE + x
                b_tile[c * TILE + y, x] = b[start + y, column] if start + y < k and column < n else 0
            cuda.syncthreads()
            for s in range(TILE):
                for r in range(2):
                    for c in range(3):
                        sums[r, c] += a_tile[r * TILE + s, y] * b_tile[c * TILE + s, x]
            cuda.syncthreads()
        for r in range(2):
            for c in range(3):
                row, column = top + r * TILE + y, left + c * TILE + x
                if row < m and column < n:
                    out[row, column] = sums[r, c]


loads_what_it_uses = edit(
    turned_tile,
    "over budget over-budget: 16, at `at[start + x, i]`",
    cut("row = cuda.blockIdx.y * TILE + x"),
    replace(
        "at[start + y, row] if start + y < at.shape[0] and row", "at[start + x, i] if start + x < at.shape[0] and i"
    ),
    replace("a_tile[p, y]", "a_tile[y, p]"),
)
crossed_while_it_is_stored = edit(
    turned_tile,
    "over budget over-budget: Which index of `a_tile` is `p` then",
    replace("a_tile[y, x]", "a_tile[x, y]"),
    replace("a_tile[p, y]", "a_tile[y, p]"),
)
padded_rows = edit(
    turned_tile,
    "over budget over-budget: needs no padding",
    replace(
        "a_tile = cuda.shared.array((TILE, TILE), np.float32)", "a_tile = cuda.shared.array((TILE, PADDED), np.float32)"
    ),
    replace(
        "b_tile = cuda.shared.array((TILE, TILE), np.float32)", "b_tile = cuda.shared.array((TILE, PADDED), np.float32)"
    ),
)


@cuda.jit
def no_tiles(at, b, out):
    """over budget over-budget: 4608; the budget is 288"""
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = np.float32(0)
        for p in range(at.shape[0]):
            total += at[p, i] * b[p, j]
        out[i, j] = total


@cuda.jit
def only_a_has_a_tile(at, b, out):
    """over budget over-budget: 2448; the budget is 288"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    row = cuda.blockIdx.y * TILE + x
    total = np.float32(0)
    for start in range(0, at.shape[0], TILE):
        a_tile[y, x] = at[start + y, row] if start + y < at.shape[0] and row < at.shape[1] else 0
        cuda.syncthreads()
        if j < out.shape[1]:
            for p in range(min(TILE, at.shape[0] - start)):
                total += a_tile[p, y] * b[start + p, j]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def a_barrier_in_the_loop_over_p(at, b, out):
    """over budget over-budget: 51; the budget is 6"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    row = cuda.blockIdx.y * TILE + x
    total = np.float32(0)
    for start in range(0, at.shape[0], TILE):
        a_tile[y, x] = at[start + y, row] if start + y < at.shape[0] and row < at.shape[1] else 0
        b_tile[y, x] = b[start + y, j] if start + y < b.shape[0] and j < b.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[p, y] * b_tile[p, x]
            cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


as_in_the_chapter = edit(
    turned_tile,
    "wrong suspect: Row p of at is column p of a",
    cut("row = cuda.blockIdx.y * TILE + x"),
    replace(
        "a_tile[y, x] = at[start + y, row] if start + y < at.shape[0] and row < at.shape[1] else 0",
        "a_tile[y, x] = at[i, start + x] if i < out.shape[0] and start + x < at.shape[0] else 0",
    ),
    replace("a_tile[p, y]", "a_tile[y, p]"),
)
tile_read_as_in_the_chapter = edit(
    turned_tile, "wrong suspect: Row p of at is column p of a", replace("a_tile[p, y]", "a_tile[y, p]")
)
own_row_for_the_load = edit(turned_tile, "wrong wrong-value: element", replace("cuda.blockIdx.y", "cuda.blockIdx.x"))
no_second_barrier = edit(
    turned_tile,
    "wrong race: before the next tiles overwrite them",
    cut("cuda.syncthreads()", after="total += a_tile[p, y] * b_tile[p, x]"),
)
no_first_barrier = edit(
    turned_tile,
    "wrong race: before anyone reads them",
    cut(
        "cuda.syncthreads()", after="b_tile[y, x] = b[start + y, j] if start + y < b.shape[0] and j < b.shape[1] else 0"
    ),
)
no_guard = edit(
    turned_tile,
    "wrong out-of-bounds: put 0 into the tile elsewhere",
    replace("[start + y, row] if start + y < at.shape[0] and row < at.shape[1] else 0", "[start + y, row]"),
    replace("[start + y, j] if start + y < b.shape[0] and j < b.shape[1] else 0", "[start + y, j]"),
)
guard_of_the_own_row = edit(
    turned_tile, "wrong out-of-bounds: reaches beyond the matrix", replace("[0] and row", "[0] and i")
)
early_return = edit(
    turned_tile,
    "wrong barrier-after-exit: do not return early",
    insert("if i >= out.shape[0] or j >= out.shape[1]:\n    return", after="row = cuda.blockIdx.y * TILE + x"),
)
barriers_under_a_guard = edit(
    turned_tile,
    "wrong barrier-after-exit: Keep cuda.syncthreads() out of every",
    insert(
        "if row >= at.shape[1]:\n    break",
        before="a_tile[y, x] = at[start + y, row] if start + y < at.shape[0] and row < at.shape[1] else 0",
    ),
)
tiles_rounded_down = edit(
    turned_tile,
    "wrong suspect: the number of tiles along k was rounded down",
    replace("range(0, at.shape[0], TILE)", "range(0, max(TILE, at.shape[0] // TILE * TILE), TILE)"),
)
one_tile_only = edit(
    turned_tile,
    "wrong suspect: Only the first 16 terms",
    replace("range(0, at.shape[0], TILE)", "range(0, TILE, TILE)"),
)
one_block_only = edit(
    turned_tile,
    "wrong one-block: but not the block's number",
    replace("j, i = cuda.grid(2)\nrow = cuda.blockIdx.y * TILE + x", "j, i = x, y\nrow = x"),
)
result_turned = edit(
    turned_tile,
    "wrong suspect: This is the transpose of the result",
    replace("i < out.shape[0] and j", "j < out.shape[0] and i"),
    replace("out[i, j]", "out[j, i]"),
)
guard_of_one_case = edit(
    turned_tile,
    "wrong some-unwritten: Which block should have written",
    replace("out.shape[1]", "min(out.shape[1], 28)"),
)
