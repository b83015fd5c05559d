"""Answers to 06-turn."""

import numpy as np

from dlkernels import cuda

TILE = 32
WIDE = 33


@cuda.jit
def swizzled(picture, out):
    """right"""
    tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < picture.shape[0] and column < picture.shape[1]:
        tile[y, x ^ y] = picture[row, column]
    cuda.syncthreads()
    row, column = row - y + x, column - x + y
    if row < picture.shape[0] and column < picture.shape[1]:
        out[column, out.shape[1] - 1 - row] = tile[x, y ^ x]


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


@cuda.jit
def rows_of_32(picture, out):
    """over budget over-budget: With W = 32 that is one bank"""
    tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    rows, columns = picture.shape
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    if top + y < rows and left + x < columns:
        tile[y, x] = picture[top + y, left + x]
    cuda.syncthreads()
    if top + x < rows and left + y < columns:
        out[left + y, rows - 1 - top - x] = tile[x, y]


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


@cuda.jit
def two_barriers(picture, out):
    """over budget over-budget: with one barrier between them"""
    tile = cuda.shared.array((TILE, WIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    rows, columns = picture.shape
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    cuda.syncthreads()
    if top + y < rows and left + x < columns:
        tile[y, x] = picture[top + y, left + x]
    cuda.syncthreads()
    if top + x < rows and left + y < columns:
        out[left + y, rows - 1 - top - x] = tile[x, y]


@cuda.jit
def no_barrier(picture, out):
    """wrong race: Where must all threads of the block have come"""
    tile = cuda.shared.array((TILE, WIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    rows, columns = picture.shape
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    if top + y < rows and left + x < columns:
        tile[y, x] = picture[top + y, left + x]
    if top + x < rows and left + y < columns:
        out[left + y, rows - 1 - top - x] = tile[x, y]


@cuda.jit
def one_guard_for_both(picture, out):
    """wrong negative-index: does its guard ask for that one"""
    tile = cuda.shared.array((TILE, WIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    rows, columns = picture.shape
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    inside = top + y < rows and left + x < columns
    if inside:
        tile[y, x] = picture[top + y, left + x]
    cuda.syncthreads()
    if inside:
        out[left + y, rows - 1 - top - x] = tile[x, y]


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


@cuda.jit
def transposed(picture, out):
    """wrong suspect: The first row of the picture becomes the last column"""
    tile = cuda.shared.array((TILE, WIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    rows, columns = picture.shape
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    if top + y < rows and left + x < columns:
        tile[y, x] = picture[top + y, left + x]
    cuda.syncthreads()
    if top + x < rows and left + y < columns:
        out[left + y, top + x] = tile[x, y]


@cuda.jit
def to_the_left(picture, out):
    """wrong suspect: It was turned to the left"""
    tile = cuda.shared.array((TILE, WIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    rows, columns = picture.shape
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    if top + y < rows and left + x < columns:
        tile[y, x] = picture[top + y, left + x]
    cuda.syncthreads()
    if top + x < rows and left + y < columns:
        out[columns - 1 - left - y, top + x] = tile[x, y]


@cuda.jit
def not_crossed(picture, out):
    """wrong suspect: The tile is crossed once"""
    tile = cuda.shared.array((TILE, WIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    rows, columns = picture.shape
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    if top + y < rows and left + x < columns:
        tile[y, x] = picture[top + y, left + x]
    cuda.syncthreads()
    if top + x < rows and left + y < columns:
        out[left + y, rows - 1 - top - x] = tile[y, x]


@cuda.jit
def no_guards(picture, out):
    """wrong out-of-bounds: At the edge the tile is not full"""
    tile = cuda.shared.array((TILE, WIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    tile[y, x] = picture[top + y, left + x]
    cuda.syncthreads()
    out[left + y, picture.shape[0] - 1 - top - x] = tile[x, y]


@cuda.jit
def counted_from_one(picture, out):
    """wrong out-of-bounds: the last column is one less than their number"""
    tile = cuda.shared.array((TILE, WIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    rows, columns = picture.shape
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    if top + y < rows and left + x < columns:
        tile[y, x] = picture[top + y, left + x]
    cuda.syncthreads()
    if top + x < rows and left + y < columns:
        out[left + y, rows - top - x] = tile[x, y]


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


@cuda.jit
def blocks_not_exchanged(picture, out):
    """wrong out-of-bounds: one used as the other"""
    tile = cuda.shared.array((TILE, WIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    rows, columns = picture.shape
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    if top + y < rows and left + x < columns:
        tile[y, x] = picture[top + y, left + x]
    cuda.syncthreads()
    if top + y < rows and left + x < columns:
        out[top + y, rows - 1 - left - x] = tile[x, y]


@cuda.jit
def padding_in_front(picture, out):
    """wrong uninitialised-shared: An element of the tile is read that nobody stored"""
    tile = cuda.shared.array((TILE, WIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    rows, columns = picture.shape
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    if top + y < rows and left + x < columns:
        tile[y, x + 1] = picture[top + y, left + x]
    cuda.syncthreads()
    if top + x < rows and left + y < columns:
        out[left + y, rows - 1 - top - x] = tile[x, y]


@cuda.jit
def both_from_the_end(picture, out):
    """wrong suspect: Only the rows are"""
    tile = cuda.shared.array((TILE, WIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    rows, columns = picture.shape
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    if top + y < rows and left + x < columns:
        tile[y, x] = picture[top + y, left + x]
    cuda.syncthreads()
    if top + x < rows and left + y < columns:
        out[columns - 1 - left - y, rows - 1 - top - x] = tile[x, y]


@cuda.jit
def tiles_stay_where_they_are(picture, out):
    """wrong wrong-value: its tile begins at row 32 of the picture"""
    tile = cuda.shared.array((TILE, WIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    rows, columns = picture.shape
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    if top + y < rows and left + x < columns:
        tile[y, x] = picture[top + y, left + x]
    cuda.syncthreads()
    if top + x < rows and left + y < columns:
        out[left + y, top + TILE - 1 - x] = tile[x, y]
