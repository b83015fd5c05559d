"""Answers to 09-halo."""

import numpy as np
from answers import edit, insert, replace

from dlkernels import cuda

TILE = 16
WIDE = TILE + 2


@cuda.jit
def row_by_row(x, weight, out):
    """right"""
    tile = cuda.shared.array((WIDE, WIDE), np.float32)
    taps = cuda.shared.array(9, np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    z, y = cuda.grid(2)
    for r in range(ty, WIDE, TILE):
        for q in range(tx, WIDE, TILE):
            i, j = cuda.blockIdx.y * TILE + r - 1, cuda.blockIdx.x * TILE + q - 1
            tile[r, q] = 0
            if i >= 0 and i < x.shape[0] and j >= 0 and j < x.shape[1]:
                tile[r, q] = x[i, j]
    if ty < 1 and tx < 9:
        taps[tx] = weight[tx // 3, tx % 3]
    cuda.syncthreads()
    if y >= x.shape[0] or z >= x.shape[1]:
        return
    total = np.float32(0)
    for k in range(9):
        total += taps[k] * tile[ty + k // 3, tx + k % 3]
    out[y, z] = total


@cuda.jit
def own_pixel_and_rims(x, weight, out):
    """right"""
    tile = cuda.shared.array((WIDE, WIDE), np.float32)
    taps = cuda.shared.array((3, 3), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    height, width = x.shape
    z, y = cuda.grid(2)
    here = y < height and z < width
    tile[ty + 1, tx + 1] = x[y, z] if here else 0
    place = ty * TILE + tx
    if place < 2 * WIDE + 2 * TILE:
        r, q = 0, place
        if place >= WIDE:
            r, q = WIDE - 1, place - WIDE
        if place >= 2 * WIDE:
            r, q = place - 2 * WIDE + 1, 0
        if place >= 2 * WIDE + TILE:
            r, q = place - 2 * WIDE - TILE + 1, WIDE - 1
        i, j = y - ty + r - 1, z - tx + q - 1
        tile[r, q] = x[i, j] if i >= 0 and i < height and j >= 0 and j < width else 0
    if place < 9:
        taps[place // 3, place % 3] = weight[place // 3, place % 3]
    cuda.syncthreads()
    if here:
        total = np.float32(0)
        for ky in range(3):
            for kx in range(3):
                total += taps[ky, kx] * tile[ty + ky, tx + kx]
        out[y, z] = total


ROWS, COLUMNS = 34, 50


@cuda.jit
def one_block_for_32_x_48(x, weight, out):
    """right"""
    tile = cuda.shared.array((ROWS, COLUMNS), np.float32)
    taps = cuda.shared.array((3, 3), np.float32)
    place = cuda.threadIdx.y * TILE + cuda.threadIdx.x
    height, width = x.shape
    whole = cuda.gridDim.x == 3 and cuda.gridDim.y == 2 and height == 32 and width == 48
    if whole and (cuda.blockIdx.x > 0 or cuda.blockIdx.y > 0):
        return
    if place < 9:
        taps[place // 3, place % 3] = weight[place // 3, place % 3]
    if whole:
        for p in range(place, ROWS * COLUMNS, TILE * TILE):
            tile[p // COLUMNS, p % COLUMNS] = 0
        cuda.syncthreads()
        for p in range(place, height * width, TILE * TILE):
            tile[p // width + 1, p % width + 1] = x[p // width, p % width]
        cuda.syncthreads()
        for p in range(place, height * width, TILE * TILE):
            y, z = p // width, p % width
            total = np.float32(0)
            for ky in range(3):
                for kx in range(3):
                    total += taps[ky, kx] * tile[y + ky, z + kx]
            out[y, z] = total
        return
    top, left = cuda.blockIdx.y * TILE - 1, cuda.blockIdx.x * TILE - 1
    for p in range(place, WIDE * WIDE, TILE * TILE):
        i, j = top + p // WIDE, left + p % WIDE
        tile[p // WIDE, p % WIDE] = x[i, j] if i >= 0 and i < height and j >= 0 and j < width else 0
    cuda.syncthreads()
    z, y = cuda.grid(2)
    if y < height and z < width:
        total = np.float32(0)
        for ky in range(3):
            for kx in range(3):
                total += taps[ky, kx] * tile[cuda.threadIdx.y + ky, cuda.threadIdx.x + kx]
        out[y, z] = total


@cuda.jit
def no_barrier(x, weight, out):
    """wrong race: where belongs a barrier"""
    tile = cuda.shared.array((WIDE, WIDE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    z, y = cuda.grid(2)
    height, width = x.shape
    for p in range(ty * TILE + tx, WIDE * WIDE, TILE * TILE):
        i, j = y - ty + p // WIDE - 1, z - tx + p % WIDE - 1
        tile[p // WIDE, p % WIDE] = x[i, j] if i >= 0 and i < height and j >= 0 and j < width else 0
    if y < height and z < width:
        total = np.float32(0)
        for ky in range(3):
            for kx in range(3):
                total += weight[ky, kx] * tile[ty + ky, tx + kx]
        out[y, z] = total


barrier_in_the_loop = edit(
    no_barrier,
    "wrong barrier-after-exit: a loop that others leave earlier",
    insert(
        "cuda.syncthreads()",
        after="tile[p // WIDE, p % WIDE] = x[i, j] if i >= 0 and i < height and j >= 0 and j < width else 0",
    ),
)


@cuda.jit
def returns_early(x, weight, out):
    """wrong barrier-after-exit: in the place of the return"""
    tile = cuda.shared.array((WIDE, WIDE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    z, y = cuda.grid(2)
    height, width = x.shape
    if y >= height or z >= width:
        return
    for p in range(ty * TILE + tx, WIDE * WIDE, TILE * TILE):
        i, j = y - ty + p // WIDE - 1, z - tx + p % WIDE - 1
        tile[p // WIDE, p % WIDE] = x[i, j] if i >= 0 and i < height and j >= 0 and j < width else 0
    cuda.syncthreads()
    total = np.float32(0)
    for ky in range(3):
        for kx in range(3):
            total += weight[ky, kx] * tile[ty + ky, tx + kx]
    out[y, z] = total


@cuda.jit
def one_place_each(x, weight, out):
    """wrong uninitialised-shared: who fills the other 68"""
    tile = cuda.shared.array((WIDE, WIDE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    z, y = cuda.grid(2)
    height, width = x.shape
    p = ty * TILE + tx
    i, j = y - ty + p // WIDE - 1, z - tx + p % WIDE - 1
    tile[p // WIDE, p % WIDE] = x[i, j] if i >= 0 and i < height and j >= 0 and j < width else 0
    cuda.syncthreads()
    if y < height and z < width:
        total = np.float32(0)
        for ky in range(3):
            for kx in range(3):
                total += weight[ky, kx] * tile[ty + ky, tx + kx]
        out[y, z] = total


@cuda.jit
def no_edge(x, weight, out):
    """wrong negative-index: row or column -1"""
    tile = cuda.shared.array((WIDE, WIDE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    z, y = cuda.grid(2)
    for p in range(ty * TILE + tx, WIDE * WIDE, TILE * TILE):
        tile[p // WIDE, p % WIDE] = x[y - ty + p // WIDE - 1, z - tx + p % WIDE - 1]
    cuda.syncthreads()
    if y < x.shape[0] and z < x.shape[1]:
        total = np.float32(0)
        for ky in range(3):
            for kx in range(3):
                total += weight[ky, kx] * tile[ty + ky, tx + kx]
        out[y, z] = total


@cuda.jit
def no_halo(x, weight, out):
    """wrong suspect: the halo is missing"""
    tile = cuda.shared.array((WIDE, WIDE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    z, y = cuda.grid(2)
    height, width = x.shape
    for p in range(ty * TILE + tx, WIDE * WIDE, TILE * TILE):
        tile[p // WIDE, p % WIDE] = 0
    cuda.syncthreads()
    if y < height and z < width:
        tile[ty + 1, tx + 1] = x[y, z]
    cuda.syncthreads()
    if y < height and z < width:
        total = np.float32(0)
        for ky in range(3):
            for kx in range(3):
                total += weight[ky, kx] * tile[ty + ky, tx + kx]
        out[y, z] = total


no_corners = edit(
    no_halo,
    "wrong suspect: the four corners of the halo",
    insert(
        """
        if ty == 0 and y > 0:
            tile[0, tx + 1] = x[y - 1, z]
        if tx == 0 and z > 0:
            tile[ty + 1, 0] = x[y, z - 1]
        if ty == TILE - 1 and y + 1 < height:
            tile[WIDE - 1, tx + 1] = x[y + 1, z]
        if tx == TILE - 1 and z + 1 < width:
            tile[ty + 1, WIDE - 1] = x[y, z + 1]
        """,
        after="tile[ty + 1, tx + 1] = x[y, z]",
    ),
)


@cuda.jit
def left_and_above_only(x, weight, out):
    """wrong suspect: the halo below and to the right is missing"""
    tile = cuda.shared.array((WIDE, WIDE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    z, y = cuda.grid(2)
    height, width = x.shape
    for p in range(ty * TILE + tx, WIDE * WIDE, TILE * TILE):
        r, q = p // WIDE, p % WIDE
        i, j = y - ty + r - 1, z - tx + q - 1
        inside = i >= 0 and i < height and j >= 0 and j < width and r <= TILE and q <= TILE
        tile[r, q] = x[i, j] if inside else 0
    cuda.syncthreads()
    if y < height and z < width:
        total = np.float32(0)
        for ky in range(3):
            for kx in range(3):
                total += weight[ky, kx] * tile[ty + ky, tx + kx]
        out[y, z] = total


@cuda.jit
def weights_by_each_warp(x, weight, out):
    """over budget over-budget: the nine weights can be loaded once"""
    tile = cuda.shared.array((WIDE, WIDE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    z, y = cuda.grid(2)
    height, width = x.shape
    for p in range(ty * TILE + tx, WIDE * WIDE, TILE * TILE):
        i, j = y - ty + p // WIDE - 1, z - tx + p % WIDE - 1
        tile[p // WIDE, p % WIDE] = x[i, j] if i >= 0 and i < height and j >= 0 and j < width else 0
    cuda.syncthreads()
    if y < height and z < width:
        total = np.float32(0)
        for ky in range(3):
            for kx in range(3):
                total += weight[ky, kx] * tile[ty + ky, tx + kx]
        out[y, z] = total


nothing_beyond = edit(
    weights_by_each_warp,
    "wrong uninitialised-shared: Beyond the picture a place needs a 0",
    replace(
        "tile[p // WIDE, p % WIDE] = x[i, j] if i >= 0 and i < height and j >= 0 and j < width else 0",
        "if i >= 0 and i < height and j >= 0 and j < width:\n    tile[p // WIDE, p % WIDE] = x[i, j]",
    ),
)
nearest = edit(
    weights_by_each_warp,
    "wrong suspect: A wrong border: beyond the edge the nearest pixel",
    replace(
        "[i, j] if i >= 0 and i < height and j >= 0 and j < width else 0",
        "[min(max(i, 0), height - 1), min(max(j, 0), width - 1)]",
    ),
)
one_tap_left_out = edit(
    weights_by_each_warp,
    "wrong suspect: A wrong tap: the term of weight[0, 2]",
    replace("np.float32(0)", "weight[0, 0] * tile[ty, tx] + weight[0, 1] * tile[ty, tx + 1]"),
    replace("ky in range(3)", "ky in range(1, 3)"),
)
turned = edit(
    weights_by_each_warp, "wrong suspect: Wrong taps: the kernel is turned round", replace("ky, kx", "2 - ky, 2 - kx")
)
tile_begins_at_the_block = edit(
    weights_by_each_warp,
    "wrong suspect: all zeros stand below and to the right",
    replace("WIDE - 1, z - tx + p % WIDE - 1", "WIDE, z - tx + p % WIDE"),
    replace("i >= 0 and i < height and j >= 0", "i < height"),
)
rows_of_16 = edit(weights_by_each_warp, "wrong race: each place have one thread", replace("TILE * TILE", "TILE"))


@cuda.jit
def a_barrier_for_each_row(x, weight, out):
    """over budget over-budget: Nobody fills it again"""
    tile = cuda.shared.array((WIDE, WIDE), np.float32)
    taps = cuda.shared.array((3, 3), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    z, y = cuda.grid(2)
    height, width = x.shape
    for p in range(ty * TILE + tx, WIDE * WIDE, TILE * TILE):
        i, j = y - ty + p // WIDE - 1, z - tx + p % WIDE - 1
        tile[p // WIDE, p % WIDE] = x[i, j] if i >= 0 and i < height and j >= 0 and j < width else 0
    if ty < 3 and tx < 3:
        taps[ty, tx] = weight[ty, tx]
    total = np.float32(0)
    for ky in range(3):
        cuda.syncthreads()
        for kx in range(3):
            total += taps[ky, kx] * tile[ty + ky, tx + kx]
    if y < height and z < width:
        out[y, z] = total
