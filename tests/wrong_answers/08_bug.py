"""Answers to 08-bug."""

import numpy as np
from answers import MASTER, cut, edit, insert, replace

from dlkernels import cuda

TILE = 16


@cuda.jit
def zero_first(a, b, out):
    """right"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        cuda.syncthreads()
        a_tile[y, x] = 0
        b_tile[y, x] = 0
        if i < out.shape[0] and start + x < a.shape[1]:
            a_tile[y, x] = a[i, start + x]
        if start + y < a.shape[1] and j < out.shape[1]:
            b_tile[y, x] = b[start + y, j]
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def only_what_is_full_is_added(a, b, out):
    """right"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        if i < out.shape[0] and start + x < a.shape[1]:
            a_tile[y, x] = a[i, start + x]
        if start + y < a.shape[1] and j < out.shape[1]:
            b_tile[y, x] = b[start + y, j]
        cuda.syncthreads()
        if i < out.shape[0] and j < out.shape[1]:
            for p in range(min(TILE, a.shape[1] - start)):
                total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


as_given = edit(
    zero_first,
    "wrong race: a fast thread stores the next tile",
    cut("""
    cuda.syncthreads()
    a_tile[y, x] = 0
    b_tile[y, x] = 0
    """),
)
barrier_still_missing = edit(
    MASTER,
    "wrong race: Between which two statements",
    cut("(m, n), k = out.shape, a.shape[1]"),
    replace("range(0, k, TILE)", "range(0, a.shape[1], TILE)"),
    replace("m and start + x < k", "out.shape[0] and start + x < a.shape[1]"),
    replace("k and j < n", "a.shape[1] and j < out.shape[1]"),
    replace("    cuda.syncthreads()\nif i < m and j < n:", "if i < out.shape[0] and j < out.shape[1]:"),
)


@cuda.jit
def barrier_inside_the_guard(a, b, out):
    """wrong divergent-barrier: Keep cuda.syncthreads() out of every"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        if i < out.shape[0] and start + x < a.shape[1]:
            a_tile[y, x] = a[i, start + x]
        else:
            a_tile[y, x] = 0
        if start + y < a.shape[1] and j < out.shape[1]:
            b_tile[y, x] = b[start + y, j]
        else:
            b_tile[y, x] = 0
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        if i < out.shape[0] and j < out.shape[1]:
            cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


stale_elements_still_there = edit(
    barrier_inside_the_guard,
    "wrong uninitialised-shared: nobody stored",
    cut("else:\n    a_tile[y, x] = 0"),
    cut("else:\n    b_tile[y, x] = 0"),
    replace("if i < out.shape[0] and j < out.shape[1]:\n    cuda.syncthreads()", "cuda.syncthreads()"),
)
zero_before_the_loop_only = edit(
    barrier_inside_the_guard,
    "wrong wrong-value: the last tile is not full",
    insert("a_tile[y, x] = 0\nb_tile[y, x] = 0", after="total = np.float32(0)"),
    cut("else:\n    a_tile[y, x] = 0"),
    cut("else:\n    b_tile[y, x] = 0"),
    replace("if i < out.shape[0] and j < out.shape[1]:\n    cuda.syncthreads()", "cuda.syncthreads()"),
)


@cuda.jit
def barrier_moved_not_added(a, b, out):
    """wrong race: no barrier"""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        a_tile[y, x] = a[i, start + x] if i < out.shape[0] and start + x < a.shape[1] else 0
        b_tile[y, x] = b[start + y, j] if start + y < a.shape[1] and j < out.shape[1] else 0
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def without_tiles(a, b, out):
    """wrong replaced: Keep them"""
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = np.float32(0)
        for p in range(a.shape[1]):
            total += a[i, p] * b[p, j]
        out[i, j] = total


zeros_once = edit(
    MASTER,
    "wrong wrong-value: the last tile is not full",
    insert("a_tile[y, x] = 0\nb_tile[y, x] = 0", after="(m, n), k = out.shape, a.shape[1]"),
    cut("else:\n    a_tile[y, x] = 0"),
    cut("else:\n    b_tile[y, x] = 0"),
)
