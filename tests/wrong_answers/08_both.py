"""Answers to 08-both."""

import numpy as np

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


@cuda.jit
def no_padding(at, bt, out):
    """over budget over-budget: 8, at `b_tile[x, y]`"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
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
def the_usual_padding(at, bt, out):
    """over budget over-budget: An odd W is for 32 lanes down one column"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, 17), np.float32)
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
def four_more(at, bt, out):
    """over budget over-budget: The 32 lanes of a warp"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, 20), np.float32)
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
def loads_what_it_uses(at, bt, out):
    """over budget over-budget: 16, at `bt[j, start + y]`"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    row = cuda.blockIdx.y * TILE + x
    total = np.float32(0)
    for start in range(0, at.shape[0], TILE):
        a_tile[y, x] = at[start + y, row] if start + y < at.shape[0] and row < at.shape[1] else 0
        b_tile[y, x] = bt[j, start + y] if j < bt.shape[0] and start + y < bt.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[p, y] * b_tile[p, x]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def stored_as_it_was_loaded(at, bt, out):
    """over budget over-budget: 8, at `b_tile[x, p]`"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    row = cuda.blockIdx.y * TILE + x
    column = cuda.blockIdx.x * TILE + y
    total = np.float32(0)
    for start in range(0, at.shape[0], TILE):
        a_tile[y, x] = at[start + y, row] if start + y < at.shape[0] and row < at.shape[1] else 0
        b_tile[y, x] = bt[column, start + x] if column < bt.shape[0] and start + x < bt.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[p, y] * b_tile[x, p]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def not_crossed(at, bt, out):
    """wrong suspect: Here bt was used as if it were b"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, 18), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    row = cuda.blockIdx.y * TILE + x
    column = cuda.blockIdx.x * TILE + y
    total = np.float32(0)
    for start in range(0, at.shape[0], TILE):
        a_tile[y, x] = at[start + y, row] if start + y < at.shape[0] and row < at.shape[1] else 0
        b_tile[y, x] = bt[column, start + x] if column < bt.shape[0] and start + x < bt.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[p, y] * b_tile[p, x]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def as_in_task_4(at, bt, out):
    """wrong suspect: Here bt was used as if it were b"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, 18), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    row = cuda.blockIdx.y * TILE + x
    total = np.float32(0)
    for start in range(0, at.shape[0], TILE):
        a_tile[y, x] = at[start + y, row] if start + y < at.shape[0] and row < at.shape[1] else 0
        b_tile[y, x] = bt[start + y, j] if start + y < bt.shape[1] and j < bt.shape[0] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[p, y] * b_tile[p, x]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def stores_the_column_of_the_load(at, bt, out):
    """wrong race: stores it at the same place"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, 18), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i = cuda.grid(2)[1]
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
    if i < out.shape[0] and column < out.shape[1]:
        out[i, column] = total


@cuda.jit
def no_second_barrier(at, bt, out):
    """wrong race: before the next tiles overwrite them"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, 18), np.float32)
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
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def no_first_barrier(at, bt, out):
    """wrong race: before anyone reads them"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, 18), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    row = cuda.blockIdx.y * TILE + x
    column = cuda.blockIdx.x * TILE + y
    total = np.float32(0)
    for start in range(0, at.shape[0], TILE):
        a_tile[y, x] = at[start + y, row] if start + y < at.shape[0] and row < at.shape[1] else 0
        b_tile[x, y] = bt[column, start + x] if column < bt.shape[0] and start + x < bt.shape[1] else 0
        for p in range(TILE):
            total += a_tile[p, y] * b_tile[p, x]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def no_guard(at, bt, out):
    """wrong out-of-bounds: put 0 into the tile elsewhere"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, 18), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    row = cuda.blockIdx.y * TILE + x
    column = cuda.blockIdx.x * TILE + y
    total = np.float32(0)
    for start in range(0, at.shape[0], TILE):
        a_tile[y, x] = at[start + y, row] if start + y < at.shape[0] and row < at.shape[1] else 0
        b_tile[x, y] = bt[column, start + x]
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[p, y] * b_tile[p, x]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def guard_of_the_own_column(at, bt, out):
    """wrong out-of-bounds: reaches beyond the matrix"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, 18), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    row = cuda.blockIdx.y * TILE + x
    column = cuda.blockIdx.x * TILE + y
    total = np.float32(0)
    for start in range(0, at.shape[0], TILE):
        a_tile[y, x] = at[start + y, row] if start + y < at.shape[0] and row < at.shape[1] else 0
        b_tile[x, y] = bt[column, start + x] if j < bt.shape[0] and start + x < bt.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[p, y] * b_tile[p, x]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def early_return(at, bt, out):
    """wrong barrier-after-exit: do not return early"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, 18), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    row = cuda.blockIdx.y * TILE + x
    column = cuda.blockIdx.x * TILE + y
    if i >= out.shape[0] or j >= out.shape[1]:
        return
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
def one_tile_only(at, bt, out):
    """wrong suspect: Only the first 16 terms"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, 18), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    row = cuda.blockIdx.y * TILE + x
    column = cuda.blockIdx.x * TILE + y
    total = np.float32(0)
    for start in range(0, TILE, TILE):
        a_tile[y, x] = at[start + y, row] if start + y < at.shape[0] and row < at.shape[1] else 0
        b_tile[x, y] = bt[column, start + x] if column < bt.shape[0] and start + x < bt.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[p, y] * b_tile[p, x]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def seventeen_wide_and_crossed_in_the_load(at, bt, out):
    """over budget over-budget: no W serves both"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, 17), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    row = cuda.blockIdx.y * TILE + x
    column = cuda.blockIdx.x * TILE + y
    total = np.float32(0)
    for start in range(0, at.shape[0], TILE):
        a_tile[y, x] = at[start + y, row] if start + y < at.shape[0] and row < at.shape[1] else 0
        b_tile[y, x] = bt[column, start + x] if column < bt.shape[0] and start + x < bt.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[p, y] * b_tile[x, p]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def eighteen_wide_and_crossed_in_the_load(at, bt, out):
    """over budget over-budget: no W serves both"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, 18), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    row = cuda.blockIdx.y * TILE + x
    column = cuda.blockIdx.x * TILE + y
    total = np.float32(0)
    for start in range(0, at.shape[0], TILE):
        a_tile[y, x] = at[start + y, row] if start + y < at.shape[0] and row < at.shape[1] else 0
        b_tile[y, x] = bt[column, start + x] if column < bt.shape[0] and start + x < bt.shape[1] else 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[p, y] * b_tile[x, p]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total
