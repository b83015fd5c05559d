"""Answers to 11-causal."""

import math

import numpy as np
from answers import cut, edit, insert, replace

from dlkernels import cuda

BLOCK, TILE, HEAD = 32, 16, 4
BOTH = 2 * HEAD


ROUNDS = 3


@cuda.jit
def one_block_for_96(q, k, v, scale, out):
    """right"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array((ROUNDS, HEAD), np.float32)
    result = cuda.local.array((ROUNDS, HEAD), np.float32)
    largest = cuda.local.array(ROUNDS, np.float32)
    total = cuda.local.array(ROUNDS, np.float32)
    t, n = cuda.threadIdx.x, k.shape[0]
    begin = cuda.blockIdx.x * ROUNDS * BLOCK
    if begin >= n:
        return
    for m in range(ROUNDS):
        i = begin + m * BLOCK + t
        largest[m], total[m] = -math.inf, 0
        for c in range(HEAD):
            result[m, c] = 0
            query[m, c] = q[i, c] if i < n else 0
    for start in range(0, min(begin + ROUNDS * BLOCK, n), TILE):
        count = min(TILE, n - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()
        for m in range(ROUNDS):
            i = begin + m * BLOCK + t
            for r in range(min(count, i + 1 - start)):
                score = np.float32(0)
                for c in range(HEAD):
                    score += query[m, c] * keys[r, c]
                score *= scale
                above = max(largest[m], score)
                correction, weight = math.exp(largest[m] - above), math.exp(score - above)
                total[m] = total[m] * correction + weight
                for c in range(HEAD):
                    result[m, c] = result[m, c] * correction + weight * values[r, c]
                largest[m] = above
        cuda.syncthreads()
    for m in range(ROUNDS):
        i = begin + m * BLOCK + t
        if i < n:
            for c in range(HEAD):
                out[i, c] = result[m, c] / total[m]


@cuda.jit
def masked_by_infinity(q, k, v, scale, out):
    """right"""
    tile = cuda.shared.array((TILE, BOTH), np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    n = len(q)
    mine = min(i, n - 1)
    query = q[mine]
    a, b, c, d = query[0], query[1], query[2], query[3]
    largest, total = np.float32(-math.inf), np.float32(0)
    for x in range(HEAD):
        result[x] = 0
    last = min(i - t + BLOCK - 1, n - 1)
    for number in range(last // TILE + 1):
        for p in range(t, TILE * HEAD, BLOCK):
            j = number * TILE + p // HEAD
            if j < n:
                tile[p // HEAD, p % HEAD] = k[j, p % HEAD]
                tile[p // HEAD, HEAD + p % HEAD] = v[j, p % HEAD]
        cuda.syncthreads()
        for r in range(TILE):
            j = number * TILE + r
            if j < n:
                score = (a * tile[r, 0] + b * tile[r, 1] + c * tile[r, 2] + d * tile[r, 3]) * scale
                if j > i:
                    score = -math.inf
                above = max(largest, score)
                correction, weight = math.exp(largest - above), math.exp(score - above)
                largest = above
                total = total * correction + weight
                for x in range(HEAD):
                    result[x] = result[x] * correction + weight * tile[r, HEAD + x]
        cuda.syncthreads()
    if i < n:
        for x in range(HEAD):
            out[i, x] = result[x] / total


@cuda.jit
def scaled_first(q, k, v, scale, out):
    """right"""
    keys = cuda.shared.array((TILE, HEAD), np.float32)
    values = cuda.shared.array((TILE, HEAD), np.float32)
    query = cuda.local.array(HEAD, np.float32)
    result = cuda.local.array(HEAD, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    largest, total = np.float32(-math.inf), np.float32(0)
    for c in range(HEAD):
        result[c] = 0
        query[c] = q[i, c] if i < q.shape[0] else 0
    for start in range(0, min(BLOCK * (cuda.blockIdx.x + 1), k.shape[0]), TILE):
        count = min(TILE, k.shape[0] - start)
        for p in range(t, count * HEAD, BLOCK):
            keys[p // HEAD, p % HEAD] = k[start + p // HEAD, p % HEAD]
            values[p // HEAD, p % HEAD] = v[start + p // HEAD, p % HEAD]
        cuda.syncthreads()  # full
        for r in range(min(count, i + 1 - start)):
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


last_barrier_missing = edit(scaled_first, "wrong race: at the end of the loop body", cut("cuda.syncthreads()  # used"))
first_barrier_missing = edit(
    scaled_first,
    "wrong race: Put cuda.syncthreads() (or cuda.syncwarp()) between line",
    cut("cuda.syncthreads()  # full"),
)
sum_not_corrected = edit(
    scaled_first, "wrong suspect: The sum was not corrected", replace("total * correction", "total")
)
result_not_corrected = edit(
    scaled_first, "wrong suspect: The result was not corrected", replace("result[c] * correction", "result[c]")
)
no_scale = edit(scaled_first, "wrong suspect: not multiplied by `scale`", cut("score *= scale"))
not_divided = edit(scaled_first, "wrong suspect: not divided by the sum", replace("result[c] / total", "result[c]"))
not_causal = edit(
    scaled_first,
    "wrong suspect: Every query looks at every key",
    replace("min(BLOCK * (cuda.blockIdx.x + 1), k.shape[0])", "k.shape[0]"),
    replace("min(count, i + 1 - start)", "count"),
)
own_key_missing = edit(scaled_first, "wrong suspect: its own is left out", replace("i + 1", "max(i, 1)"))
own_key_missing_and_nothing_for_the_first = edit(
    scaled_first, "wrong suspect: its own is left out", replace("i + 1", "i")
)
next_key_too = edit(
    scaled_first,
    "wrong suspect: Query i looks at key i + 1",
    replace("BLOCK * (cuda.blockIdx.x + 1)", "BLOCK * (cuda.blockIdx.x + 1) + 1"),
    replace("i + 1", "i + 2"),
)
turned_round = edit(
    scaled_first,
    "wrong suspect: The mask is turned round",
    replace("min(BLOCK * (cuda.blockIdx.x + 1), k.shape[0])", "k.shape[0]"),
    replace("for r in range(min(count, i + 1 - start)):", "for r in range(max(0, i - start), count):"),
)
whole_tiles = edit(
    scaled_first,
    "wrong suspect: the whole of its own tile",
    replace("min(count, i + 1 - start)", "count if start <= i else 0"),
)
whole_block = edit(
    scaled_first, "wrong suspect: the keys of its whole block", replace("min(count, i + 1 - start)", "count")
)
ends_with_the_first = edit(
    scaled_first,
    "wrong suspect: ends with the first query of the block",
    replace("BLOCK * (cuda.blockIdx.x + 1)", "BLOCK * cuda.blockIdx.x + 1"),
)
diagonal_missing = edit(
    scaled_first,
    "wrong suspect: The tile on the diagonal is missing",
    replace("min(count, i + 1 - start)", "min(count, i + 1 - start) if start + TILE <= i or i < TILE else 0"),
)
masked_with_zero = edit(
    scaled_first,
    "wrong suspect: A masked score became 0",
    replace("min(BLOCK * (cuda.blockIdx.x + 1), k.shape[0])", "k.shape[0]"),
    replace("min(count, i + 1 - start)", "count"),
    replace("score *= scale", "score = score * scale if start + r <= i else np.float32(0)"),
)
each_thread_to_its_own_end = edit(
    scaled_first,
    "wrong barrier-after-exit: The end of that loop belongs to the block",
    replace("BLOCK * (cuda.blockIdx.x + 1)", "i + 1"),
)
skips_the_round = edit(
    scaled_first,
    "wrong barrier-after-exit: The end of a thread belongs into the inner loop",
    insert("if start > i:\n    continue", before="count = min(TILE, k.shape[0] - start)"),
)
returns_early = edit(
    scaled_first,
    "wrong barrier-after-exit: A thread has left",
    insert("if i >= q.shape[0]:\n    return", after="t, i = cuda.threadIdx.x, cuda.grid(1)"),
)
all_tiles = edit(
    scaled_first,
    "over budget over-budget: all tiles are loaded",
    replace("min(BLOCK * (cuda.blockIdx.x + 1), k.shape[0])", "k.shape[0]"),
)
one_tile_more = edit(
    scaled_first,
    "over budget over-budget: no tile beyond it",
    replace("BLOCK * (cuda.blockIdx.x + 1)", "BLOCK * (cuda.blockIdx.x + 1) + 1"),
)
query_in_each_tile = edit(
    scaled_first,
    "over budget over-budget: the query, once for each tile",
    insert(
        """
        for c in range(HEAD):
            query[c] = q[i, c] if i < q.shape[0] else 0
        """,
        before="count = min(TILE, k.shape[0] - start)",
    ),
)
