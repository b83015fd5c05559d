"""Answers to 11-attention."""

import math

import numpy as np
from answers import MASTER, cut, edit, insert, replace

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


corrected_by_keys_only = edit(
    largest_of_a_tile_first,
    "wrong suspect: from tile to tile something is not corrected",
    cut("for c in range(HEAD):\n    result[c] *= correction"),
)


scaled_first = edit(
    MASTER,
    "right",
    replace(
        """
        above = max(largest, score * scale)
        correction, weight = math.exp(largest - above), math.exp(score * scale - above)
        """,
        """
        score *= scale
        above = max(largest, score)
        correction, weight = math.exp(largest - above), math.exp(score - above)
        """,
    ),
)
last_barrier_missing = edit(
    scaled_first, "wrong race: at the end of the loop body", cut("cuda.syncthreads()", after="largest = above")
)
first_barrier_missing = edit(
    scaled_first,
    "wrong race: Put cuda.syncthreads() (or cuda.syncwarp()) between line",
    cut("cuda.syncthreads()", after="values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]"),
)
sum_not_corrected = edit(
    scaled_first, "wrong suspect: The sum was not corrected", replace("total * correction", "total")
)
result_not_corrected = edit(
    scaled_first, "wrong suspect: The result was not corrected", replace("result[c] * correction", "result[c]")
)
not_divided = edit(scaled_first, "wrong suspect: not divided by the sum", replace("result[c] / total", "result[c]"))
nothing_corrected = edit(
    scaled_first,
    "wrong suspect: Neither sum nor result",
    replace(
        "correction, weight = math.exp(largest - above), math.exp(score - above)", "weight = math.exp(score - above)"
    ),
    replace("total * correction", "total"),
    replace("result[c] * correction", "result[c]"),
)
keys_as_values = edit(
    scaled_first,
    "wrong suspect: The keys were mixed",
    replace("v[start + p // HEAD, p % HEAD]", "k[start + p // HEAD, p % HEAD]"),
)
values_as_keys = edit(
    scaled_first,
    "wrong suspect: The scores were computed with the values",
    replace("k[start + p // HEAD, p % HEAD]", "v[start + p // HEAD, p % HEAD]"),
)
last_tile_missing = edit(
    scaled_first,
    "wrong suspect: The last tile, which is not full, is missing",
    replace("range(0, k.shape[0], TILE)", "range(0, k.shape[0] - TILE + 1, TILE)"),
)
first_tile_only = edit(
    scaled_first,
    "wrong suspect: This is the first tile alone",
    replace("range(0, k.shape[0], TILE)", "range(0, TILE, TILE)"),
)
begins_anew = edit(
    scaled_first,
    "wrong suspect: This is the last tile alone",
    insert(
        """
        largest, total = np.float32(-math.inf), np.float32(0)
        for c in range(HEAD):
            result[c] = 0
        """,
        before="count = min(TILE, k.shape[0] - start)",
    ),
)
old_keys = edit(scaled_first, "wrong suspect: what the tile before left", replace("range(count)", "range(TILE)"))
filled_with_zeros = edit(
    scaled_first,
    "wrong suspect: were filled with 0 and used",
    replace("count * HEAD", "TILE * HEAD"),
    replace("k[start + p // HEAD, p % HEAD]", "k[start + p // HEAD, p % HEAD] if p // HEAD < count else 0"),
    replace("v[start + p // HEAD, p % HEAD]", "v[start + p // HEAD, p % HEAD] if p // HEAD < count else 0"),
    replace("range(count)", "range(TILE)"),
)
one_place_each = edit(
    scaled_first,
    "wrong uninitialised-shared: each fills two of each tile",
    replace("count * HEAD", "min(count * HEAD, BLOCK)"),
)
returns_early = edit(
    scaled_first,
    "wrong barrier-after-exit: in the place of the return",
    insert("if i >= q.shape[0]:\n    return", after="t, i = cuda.threadIdx.x, cuda.grid(1)"),
)
waits_in_the_guard = edit(
    scaled_first,
    "wrong divergent-barrier: Keep cuda.syncthreads() out of every `if`",
    replace(
        "cuda.syncthreads()",
        "if i < q.shape[0]:\n    cuda.syncthreads()",
        after="values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]",
    ),
)
no_guard = edit(
    scaled_first, "wrong out-of-bounds: threads without a query", replace("q[i, c] if i < q.shape[0] else 0", "q[i, c]")
)
beyond_the_keys = edit(
    scaled_first,
    "wrong out-of-bounds: the last tile fewer keys than 16",
    replace("count = min(TILE, k.shape[0] - start)", "count = TILE"),
)


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


result_not_begun = edit(scaled_first, "wrong uninitialised-local: Begin `result` with zeros", cut("result[c] = 0"))


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


query_again = edit(
    scaled_first,
    "over budget over-budget: Which of them is loaded again",
    replace("query[c] * keys[r, c]", "(q[i, c] if i < q.shape[0] else 0) * keys[r, c]"),
)


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
