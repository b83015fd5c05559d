"""Answers to 11-attention."""

import math

import numpy as np

from dlkernels import cuda

BLOCK, TILE, HEAD = 32, 16, 4


@cuda.jit
def row_by_row(q, k, v, scale, out):
    """right"""
    both = cuda.shared.array((2, TILE, HEAD), np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    n = q.shape[0]
    mine = min(i, n - 1)
    a, b, c, d = q[mine, 0], q[mine, 1], q[mine, 2], q[mine, 3]
    largest, total = np.float32(-1e30), np.float32(0)
    for x in range(HEAD):
        result[x] = 0
    start = 0
    while start < k.shape[0]:
        which, row = t // TILE, t % TILE
        if start + row < k.shape[0]:
            for x in range(HEAD):
                both[which, row, x] = v[start + row, x] if which else k[start + row, x]
        cuda.syncthreads()
        if i < n:
            for r in range(TILE):
                if start + r < k.shape[0]:
                    score = (a * both[0, r, 0] + b * both[0, r, 1] + c * both[0, r, 2] + d * both[0, r, 3]) * scale
                    if score > largest:
                        correction = math.exp(largest - score)
                        largest = score
                        total *= correction
                        for x in range(HEAD):
                            result[x] *= correction
                    weight = math.exp(score - largest)
                    total += weight
                    for x in range(HEAD):
                        result[x] += weight * both[1, r, x]
        start += TILE
        cuda.syncthreads()
    if i < n:
        for x in range(HEAD):
            out[i, x] = result[x] / total


@cuda.jit
def largest_of_a_tile_first(q, k, v, scale, out):
    """right"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    scores = cuda.local.array(TILE, np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = np.float32(0)
        query[c] = np.float32(0)
        if i < q.shape[0]:
            query[c] = q[i, c] * scale
    for start in range(0, k.shape[0], TILE):
        if start > 0:
            cuda.syncthreads()
        for p in range(t, TILE * HEAD, BLOCK):
            if start + p // HEAD < k.shape[0]:
                keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
                values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()
        above = largest
        for r in range(TILE):
            scores[r] = -math.inf
            if start + r < k.shape[0]:
                score = np.float32(0)
                for c in range(HEAD):
                    score += query[c] * keys[r, c]
                scores[r] = score
                above = max(above, score)
        correction = math.exp(largest - above)
        largest = above
        total *= correction
        for c in range(HEAD):
            result[c] *= correction
        for r in range(min(TILE, k.shape[0] - start)):
            weight = math.exp(scores[r] - largest)
            total += weight
            for c in range(HEAD):
                result[c] += weight * values[r, c]
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def corrected_by_keys_only(q, k, v, scale, out):
    """wrong suspect: from tile to tile something is not corrected"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    scores = cuda.local.array(TILE, np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = np.float32(0)
        query[c] = np.float32(0)
        if i < q.shape[0]:
            query[c] = q[i, c] * scale
    for start in range(0, k.shape[0], TILE):
        if start > 0:
            cuda.syncthreads()
        for p in range(t, TILE * HEAD, BLOCK):
            if start + p // HEAD < k.shape[0]:
                keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
                values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()
        above = largest
        for r in range(TILE):
            scores[r] = -math.inf
            if start + r < k.shape[0]:
                score = np.float32(0)
                for c in range(HEAD):
                    score += query[c] * keys[r, c]
                scores[r] = score
                above = max(above, score)
        correction = math.exp(largest - above)
        largest = above
        total *= correction
        for r in range(min(TILE, k.shape[0] - start)):
            weight = math.exp(scores[r] - largest)
            total += weight
            for c in range(HEAD):
                result[c] += weight * values[r, c]
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def last_barrier_missing(q, k, v, scale, out):
    """wrong race: at the end of the loop body"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def first_barrier_missing(q, k, v, scale, out):
    """wrong race: Put cuda.syncthreads() (or cuda.syncwarp()) between line"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def sum_not_corrected(q, k, v, scale, out):
    """wrong suspect: The sum was not corrected"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def result_not_corrected(q, k, v, scale, out):
    """wrong suspect: The result was not corrected"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def no_scale(q, k, v, scale, out):
    """wrong suspect: not multiplied by `scale`"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def not_divided(q, k, v, scale, out):
    """wrong suspect: not divided by the sum"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c]


@cuda.jit
def nothing_corrected(q, k, v, scale, out):
    """wrong suspect: Neither sum nor result"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            weight = math.exp(score - above)
            total = total + weight
            for c in range(HEAD):
                result[c] = result[c] + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def keys_as_values(q, k, v, scale, out):
    """wrong suspect: The keys were mixed"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def values_as_keys(q, k, v, scale, out):
    """wrong suspect: The scores were computed with the values"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def last_tile_missing(q, k, v, scale, out):
    """wrong suspect: The last tile, which is not full, is missing"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0] - TILE + 1, TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def first_tile_only(q, k, v, scale, out):
    """wrong suspect: This is the first tile alone"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, TILE, TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def begins_anew(q, k, v, scale, out):
    """wrong suspect: This is the last tile alone"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        largest, total = np.float32(-math.inf), np.float32(0)
        for c in range(HEAD):
            result[c] = 0
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def old_keys(q, k, v, scale, out):
    """wrong suspect: what the tile before left"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(TILE):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def filled_with_zeros(q, k, v, scale, out):
    """wrong suspect: were filled with 0 and used"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, TILE * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD] if p // HEAD < count else 0
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD] if p // HEAD < count else 0
        cuda.syncthreads()  # full
        for r in range(TILE):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def one_place_each(q, k, v, scale, out):
    """wrong uninitialised-shared: each fills two of each tile"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, min(count * HEAD, BLOCK), BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def returns_early(q, k, v, scale, out):
    """wrong barrier-after-exit: in the place of the return"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i >= q.shape[0]:
        return
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def waits_in_the_guard(q, k, v, scale, out):
    """wrong divergent-barrier: Keep cuda.syncthreads() out of every `if`"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        if i < q.shape[0]:
            cuda.syncthreads()
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def no_guard(q, k, v, scale, out):
    """wrong out-of-bounds: threads without a query"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c]
    for start in range(0, k.shape[0], TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def beyond_the_keys(q, k, v, scale, out):
    """wrong out-of-bounds: the last tile fewer keys than 16"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        count = TILE
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def without_a_largest(q, k, v, scale, out):
    """wrong not-finite: subtract the largest score so far"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    total = np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            weight = math.exp(score)
            total += weight
            for c in range(HEAD):
                result[c] += weight * values[r, c]
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def result_not_begun(q, k, v, scale, out):
    """wrong uninitialised-local: Begin `result` with zeros"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def three_barriers(q, k, v, scale, out):
    """over budget over-budget: waits more often than it must"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
        cuda.syncthreads()
        for p in range(t, count * HEAD, BLOCK):
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def query_again(q, k, v, scale, out):
    """over budget over-budget: Which of them is loaded again"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, k.shape[0], TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(count):
            score = np.float32(0)
            for c in range(HEAD):
                score += (q[i, c] if i < q.shape[0] else 0) * keys[r, c]
            score *= scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * values[r, c]
            largest = above
        cuda.syncthreads()  # used
    if i < q.shape[0]:
        for c in range(HEAD):
            out[i, c] = result[c] / total


@cuda.jit
def no_tiles(q, k, v, scale, out):
    """over budget over-budget: Which of them is loaded again"""
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    i = cuda.grid(1)
    if i < q.shape[0]:
        largest, total = np.float32(-math.inf), np.float32(0)
        for c in range(HEAD):
            result[c], query[c] = 0, q[i, c]
        for r in range(k.shape[0]):
            score = np.float32(0)
            for c in range(HEAD):
                score += query[c] * k[r, c] * scale
            above = max(largest, score)
            correction, weight = math.exp(largest - above), math.exp(score - above)
            total = total * correction + weight
            for c in range(HEAD):
                result[c] = result[c] * correction + weight * v[r, c]
            largest = above
        for c in range(HEAD):
            out[i, c] = result[c] / total
