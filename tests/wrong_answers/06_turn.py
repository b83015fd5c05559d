"""Answers to 06-turn."""

import numpy as np
from answers import MASTER, cut, edit, insert, replace

from dlkernels import cuda

TILE = 32
WIDE = 33


@cuda.jit
def crossed_in_the_store(picture, out):
    """right"""
    tile = cuda.shared.array((TILE, WIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    rows, columns = picture.shape
    if top + y < rows and left + x < columns:
        tile[x, TILE - 1 - y] = picture[top + y, left + x]
    cuda.syncthreads()
    place = rows - top - TILE + x
    if 0 <= place and place < rows and left + y < columns:
        out[left + y, place] = tile[y, x]


@cuda.jit
def straight(picture, out):
    """over budget over-budget: in the store it must count along a row of out"""
    column, row = cuda.grid(2)
    if row < picture.shape[0] and column < picture.shape[1]:
        out[column, picture.shape[0] - 1 - row] = picture[row, column]


@cuda.jit
def loads_down_a_column(picture, out):
    """over budget over-budget: neighbouring lanes load from different rows"""
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * TILE + x, cuda.blockIdx.x * TILE + y
    if row < picture.shape[0] and column < picture.shape[1]:
        out[column, picture.shape[0] - 1 - row] = picture[row, column]


width_by_name = edit(MASTER, "right", replace("(TILE, 33)", "(TILE, WIDE)"), replace("- (top + x)", "- top - x"))
rows_of_32 = edit(
    width_by_name, "over budget over-budget: With W = 32 that is one bank", replace("(TILE, WIDE)", "(TILE, TILE)")
)


@cuda.jit
def a_tile_that_is_not_used(picture, out):
    """over budget over-budget: The tile has all 1024 elements"""
    tile = cuda.shared.array((TILE, WIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < picture.shape[0] and column < picture.shape[1]:
        tile[y, x] = picture[row, column]
    cuda.syncthreads()
    if row < picture.shape[0] and column < picture.shape[1]:
        out[column, picture.shape[0] - 1 - row] = tile[y, x]


swizzled = edit(
    a_tile_that_is_not_used,
    "right",
    replace("WIDE", "TILE"),
    replace("[y, x] = picture", "[y, x ^ y] = picture"),
    insert("row, column = row - y + x, column - x + y", after="cuda.syncthreads()"),
    replace("[column, picture.shape[0] - 1 - row] = tile[y, x]", "[column, out.shape[1] - 1 - row] = tile[x, y ^ x]"),
)
two_barriers = edit(
    width_by_name,
    "over budget over-budget: with one barrier between them",
    insert("cuda.syncthreads()", after="top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE"),
)
no_barrier = edit(width_by_name, "wrong race: Where must all threads of the block have come", cut("cuda.syncthreads()"))
one_guard_for_both = edit(
    width_by_name,
    "wrong negative-index: does its guard ask for that one",
    replace("if top + y < rows and left + x < columns:", "inside = top + y < rows and left + x < columns\nif inside:"),
    replace("if top + x < rows and left + y < columns:", "if inside:"),
)


@cuda.jit
def barrier_under_the_guard(picture, out):
    """wrong barrier-after-exit: is the barrier in an `if` that they skip"""
    tile = cuda.shared.array((TILE, WIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    rows, columns = picture.shape
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    if top + y < rows and left + x < columns:
        tile[y, x] = picture[top + y, left + x]
        cuda.syncthreads()
    if top + x < rows and left + y < columns:
        out[left + y, rows - 1 - top - x] = tile[x, y]


@cuda.jit
def gone_early(picture, out):
    """wrong barrier-after-exit: it may have something to store"""
    tile = cuda.shared.array((TILE, WIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    rows, columns = picture.shape
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    if top + y >= rows or left + x >= columns:
        return
    tile[y, x] = picture[top + y, left + x]
    cuda.syncthreads()
    if top + x < rows and left + y < columns:
        out[left + y, rows - 1 - top - x] = tile[x, y]


transposed = edit(
    width_by_name,
    "wrong suspect: The first row of the picture becomes the last column",
    replace("rows - 1 - top - x", "top + x"),
)
to_the_left = edit(
    width_by_name,
    "wrong suspect: It was turned to the left",
    replace("out[left + y, rows - 1 - top - x]", "out[columns - 1 - left - y, top + x]"),
)
not_crossed = edit(width_by_name, "wrong suspect: The tile is crossed once", replace("tile[x, y]", "tile[y, x]"))


@cuda.jit
def no_guards(picture, out):
    """wrong out-of-bounds: At the edge the tile is not full"""
    tile = cuda.shared.array((TILE, WIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    tile[y, x] = picture[top + y, left + x]
    cuda.syncthreads()
    out[left + y, picture.shape[0] - 1 - top - x] = tile[x, y]


counted_from_one = edit(
    width_by_name, "wrong out-of-bounds: the last column is one less than their number", replace("- 1 - top", "- top")
)


@cuda.jit
def the_block_forgotten(picture, out):
    """wrong some-unwritten: Is the number of the block in their place"""
    tile = cuda.shared.array((TILE, WIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    rows, columns = picture.shape
    if y < rows and x < columns:
        tile[y, x] = picture[y, x]
    cuda.syncthreads()
    if x < rows and y < columns:
        out[y, rows - 1 - x] = tile[x, y]


blocks_not_exchanged = edit(
    width_by_name,
    "wrong out-of-bounds: one used as the other",
    replace("top + x < rows and left + y", "top + y < rows and left + x"),
    replace("out[left + y, rows - 1 - top - x]", "out[top + y, rows - 1 - left - x]"),
)
padding_in_front = edit(
    width_by_name,
    "wrong uninitialised-shared: An element of the tile is read that nobody stored",
    replace("tile[y, x]", "tile[y, x + 1]"),
)
both_from_the_end = edit(
    width_by_name, "wrong suspect: Only the rows are", replace("left + y, rows", "columns - 1 - left - y, rows")
)
tiles_stay_where_they_are = edit(
    width_by_name,
    "wrong wrong-value: its tile begins at row 32 of the picture",
    replace("rows - 1 - top", "top + TILE - 1"),
)
