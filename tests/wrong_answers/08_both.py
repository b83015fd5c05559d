"""Answers to 08-both."""

import numpy as np
from answers import cut, edit, insert, replace

from dlkernels import cuda

TILE = 16
ALL = 256


@cuda.jit
def wider_rows(at, bt, out):
    """right"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, 22), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    row = cuda.blockIdx.y * TILE + x
    column = cuda.blockIdx.x * TILE + y
    total = np.float32(0)
    for start in range(0, at.shape[0], TILE):
        a_tile[y, x] = at[start + y, row] if start + y < at.shape[0] and row < at.shape[1] else 0
        b_tile[x, y] = bt[column, start + x] if column < bt.shape[0] and start + x < bt.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[p, y] * b_tile[p, x]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def places_exchanged(at, bt, out):
    """right"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array(ALL, np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    row = cuda.blockIdx.y * TILE + x
    column = cuda.blockIdx.x * TILE + y
    total = np.float32(0)
    for start in range(0, at.shape[0], TILE):
        a_tile[y, x] = at[start + y, row] if start + y < at.shape[0] and row < at.shape[1] else 0
        value = bt[column, start + x] if column < bt.shape[0] and start + x < bt.shape[1] else 0
        b_tile[x * TILE + (y ^ (x // 2 * 2))] = value
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[p, y] * b_tile[p * TILE + (x ^ (p // 2 * 2))]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


no_padding = edit(wider_rows, "over budget over-budget: 8, at `b_tile[x, y]`", replace("(TILE, 22)", "(TILE, TILE)"))
the_usual_padding = edit(
    wider_rows, "over budget over-budget: An odd W is for 32 lanes down one column", replace("(TILE, 22)", "(TILE, 17)")
)
four_more = edit(wider_rows, "over budget over-budget: The 32 lanes of a warp", replace("(TILE, 22)", "(TILE, 20)"))
loads_what_it_uses = edit(
    wider_rows,
    "over budget over-budget: 16, at `bt[j, start + y]`",
    replace("(TILE, 22)", "(TILE, TILE)"),
    cut("column = cuda.blockIdx.x * TILE + y"),
    replace(
        "b_tile[x, y] = bt[column, start + x] if column < bt.shape[0] and start + x < bt.shape[1] else 0",
        "b_tile[y, x] = bt[j, start + y] if j < bt.shape[0] and start + y < bt.shape[1] else 0",
    ),
)
stored_as_it_was_loaded = edit(
    wider_rows,
    "over budget over-budget: 8, at `b_tile[x, p]`",
    replace("(TILE, 22)", "(TILE, TILE)"),
    replace("b_tile[x, y]", "b_tile[y, x]"),
    replace("[p, x]", "[x, p]"),
)
not_crossed = edit(
    wider_rows,
    "wrong suspect: Here bt was used as if it were b",
    replace("(TILE, 22)", "(TILE, 18)"),
    replace("b_tile[x, y]", "b_tile[y, x]"),
)
as_in_task_4 = edit(
    wider_rows,
    "wrong suspect: Here bt was used as if it were b",
    replace("(TILE, 22)", "(TILE, 18)"),
    cut("column = cuda.blockIdx.x * TILE + y"),
    replace(
        "b_tile[x, y] = bt[column, start + x] if column < bt.shape[0] and start + x < bt.shape[1] else 0",
        "b_tile[y, x] = bt[start + y, j] if start + y < bt.shape[1] and j < bt.shape[0] else 0",
    ),
)
stores_the_column_of_the_load = edit(
    wider_rows,
    "wrong race: stores it at the same place",
    replace("(TILE, 22)", "(TILE, 18)"),
    replace("j, i = cuda.grid(2)", "i = cuda.grid(2)[1]"),
    replace("[0] and j", "[0] and column"),
    replace("out[i, j]", "out[i, column]"),
)
no_second_barrier = edit(
    wider_rows,
    "wrong race: before the next tiles overwrite them",
    replace("(TILE, 22)", "(TILE, 18)"),
    cut("cuda.syncthreads()", after="total += a_tile[p, y] * b_tile[p, x]"),
)
no_first_barrier = edit(
    wider_rows,
    "wrong race: before anyone reads them",
    replace("(TILE, 22)", "(TILE, 18)"),
    cut(
        "cuda.syncthreads()",
        after="b_tile[x, y] = bt[column, start + x] if column < bt.shape[0] and start + x < bt.shape[1] else 0",
    ),
)
no_guard = edit(
    wider_rows,
    "wrong out-of-bounds: put 0 into the tile elsewhere",
    replace("(TILE, 22)", "(TILE, 18)"),
    replace(
        "b_tile[x, y] = bt[column, start + x] if column < bt.shape[0] and start + x < bt.shape[1] else 0",
        "b_tile[x, y] = bt[column, start + x]",
    ),
)
guard_of_the_own_column = edit(
    wider_rows,
    "wrong out-of-bounds: reaches beyond the matrix",
    replace("(TILE, 22)", "(TILE, 18)"),
    replace("if column", "if j"),
)
early_return = edit(
    wider_rows,
    "wrong barrier-after-exit: do not return early",
    replace("(TILE, 22)", "(TILE, 18)"),
    insert("if i >= out.shape[0] or j >= out.shape[1]:\n    return", after="column = cuda.blockIdx.x * TILE + y"),
)
one_tile_only = edit(
    wider_rows,
    "wrong suspect: Only the first 16 terms",
    replace("(TILE, 22)", "(TILE, 18)"),
    replace("range(0, at.shape[0], TILE)", "range(0, TILE, TILE)"),
)
seventeen_wide_and_crossed_in_the_load = edit(
    wider_rows,
    "over budget over-budget: no W serves both",
    replace("(TILE, 22)", "(TILE, 17)"),
    replace("b_tile[x, y]", "b_tile[y, x]"),
    replace("[p, x]", "[x, p]"),
)
eighteen_wide_and_crossed_in_the_load = edit(
    wider_rows,
    "over budget over-budget: no W serves both",
    replace("(TILE, 22)", "(TILE, 18)"),
    replace("b_tile[x, y]", "b_tile[y, x]"),
    replace("[p, x]", "[x, p]"),
)
