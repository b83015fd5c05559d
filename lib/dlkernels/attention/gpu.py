"""Attention on the GPU, in float32.

The ladder of scaled_dot_product_attention  what the rung adds
    attention_three_kernels     scores, softmax and values one after the other; all scores lie in global memory
    attention_online_thread     one thread for each query, in one pass over the keys: no scores are kept
    attention_shared_tiles      a block for 16 or more queries: keys and values come through shared memory, once for all
                                of them
in gpu_patches.py
    attention_register_tiles    each thread has a patch of scores and of the result, and loads four numbers at once

The third is FlashAttention's way (Dao and others 2022; Dao 2023): a block keeps its queries, walks over tiles of keys,
and corrects what it has when a larger score comes.
"""

import functools
import math

import numpy as np

from .. import launches
from ..device import cuda
from ..implementations import implementation
from ..launches import constant, device_array, line, sent
from .gpu_rows import ALL, MOST_BLOCKS, MOST_WARPS, block_max, block_sum, f32, launch

LINE, PLACES = "float32[::1]", "int64[::1]"
THREADS = 128
ONE_HEAD = f"{PLACES}, {PLACES}, {PLACES}, {PLACES}"
SIZES = "int64, int64, int64, int64, int64, int64, boolean, float32"  # of `numbers`


def on_heads(rung):
    """Let `rung(q, k, v, mask, places, g, out)`, written for lines of memory, take what was prepared.

    mask: a line of terms. places: where the matrices of each head begin in q, k, v and mask. A result of no elements
    never reaches the rung; without keys it is zero.
    """

    @functools.wraps(rung)
    def wrapper(mask, shape, g, q, k, v):
        out = device_array(shape, f32)
        if out.size == 0:
            return out
        if g.keys == 0:
            return cuda.to_device(np.zeros(shape, f32))
        places = [sent(x) for x in (g.of_q, g.of_k, g.of_v, g.of_mask)]
        rung(line(q), line(k), line(v), terms_of(mask), places, g, line(out))
        return out

    return wrapper


def numbers(g):
    """What kernels have to know of a geometry."""
    return g.queries, g.keys, g.width, g.values, g.mask_row, g.mask_column, g.causal, f32(g.scale)


@cuda.jit
def terms_kernel(mask, terms):
    for i in range(cuda.grid(1), mask.size, cuda.gridsize(1)):
        terms[i] = f32(0) if mask[i] else f32(-math.inf)


def terms_of(mask):
    """A mask as a line of numbers to be added to scores; a single zero where there is none."""
    if mask is None:
        return constant(1, 0)
    if mask.dtype != np.bool:
        return line(mask)
    terms = device_array(mask.size, f32)
    launches.launch(terms_kernel, min(-(-mask.size // THREADS), MOST_BLOCKS), THREADS, line(mask), terms)
    return terms


TERMS = (terms_kernel, ["void(boolean[::1], float32[::1])"])


# ---- three kernels ---------------------------------------------------------------------------------------------------


@cuda.jit
def scores_kernel(q, k, mask, of_q, of_k, of_mask, scores, queries, keys, width, mask_row, mask_column, causal, scale):
    """One thread for each score."""
    element = cuda.grid(1)
    if element < scores.size:
        h, i, j = element // (queries * keys), element // keys % queries, element % keys
        if causal and j > i:
            scores[element] = -math.inf
        else:
            total = f32(0)
            for c in range(width):
                total += q[of_q[h] + i * width + c] * k[of_k[h] + j * width + c]
            mask_place = of_mask[h] + i * mask_row + j * mask_column
            scores[element] = total * scale + mask[mask_place]


@cuda.jit
def weights_kernel(scores):
    """The softmax of each row in its place, a block for each; zeros where all is -inf."""
    parts = cuda.shared.array(MOST_WARPS, f32)
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    rows, n = scores.shape
    for r in range(cuda.blockIdx.x, rows, cuda.gridDim.x):
        top = f32(-math.inf)
        for j in range(t, n, threads):
            top = max(top, scores[r, j])
        top = block_max(top, parts)
        if top == -math.inf:
            top = f32(0)
        total = f32(0)
        for j in range(t, n, threads):
            total += math.exp(scores[r, j] - top)
        total = block_sum(total, parts)
        if total == 0:
            total = f32(1)
        for j in range(t, n, threads):
            scores[r, j] = math.exp(scores[r, j] - top) / total


@cuda.jit
def values_kernel(weights, v, of_v, out, queries, keys, values):
    """One thread for each element of the result."""
    element = cuda.grid(1)
    if element < out.size:
        row, c = element // values, element % values
        v_start = of_v[row // queries]
        total = f32(0)
        for j in range(keys):
            total += weights[row, j] * v[v_start + j * values + c]
        out[element] = total


@implementation(
    "scaled_dot_product_attention",
    "gpu",
    adds="three kernels: scores, their softmax, values; all scores go to global memory and come back twice",
    dtypes=("float32",),
    kernels=[
        (
            scores_kernel,
            [f"void({LINE}, {LINE}, {LINE}, {PLACES}, {PLACES}, {PLACES}, {LINE}, int64, int64, int64, int64, int64, "
             "boolean, float32)"],
        ),
        (weights_kernel, ["void(float32[:, ::1])"]),
        (values_kernel, [f"void(float32[:, ::1], {LINE}, {PLACES}, {LINE}, int64, int64, int64)"]),
        TERMS,
    ],
)  # fmt: skip
@on_heads
def attention_three_kernels(q, k, v, mask, places, g, out):
    rows = g.heads * g.queries
    scores = device_array(rows * g.keys, f32)
    of_q, of_k, of_v, of_mask = places
    strides = g.mask_row, g.mask_column, g.causal, f32(g.scale)
    scores_kernel[-(-scores.size // THREADS), THREADS](
        q, k, mask, of_q, of_k, of_mask, scores, g.queries, g.keys, g.width, *strides
    )
    matrix = scores.reshape(rows, g.keys)
    launch(weights_kernel, rows, g.keys, matrix)
    values_kernel[-(-out.size // THREADS), THREADS](matrix, v, of_v, out, g.queries, g.keys, g.values)


# ---- one thread for each query ---------------------------------------------------------------------------------------


@cuda.jit
def online_kernel(
    q, k, v, mask, of_q, of_k, of_v, of_mask, out, queries, keys, width, values, mask_row, mask_column, causal, scale
):
    row = cuda.grid(1)
    if row * values < out.size:
        h, i = row // queries, row % queries
        q_start, mask_start, out_start = of_q[h] + i * width, of_mask[h] + i * mask_row, row * values
        top, total = f32(-math.inf), f32(0)
        for c in range(values):
            out[out_start + c] = f32(0)
        last = min(i + 1, keys) if causal else keys
        for j in range(last):
            score = f32(0)
            for c in range(width):
                score += q[q_start + c] * k[of_k[h] + j * width + c]
            score = score * scale + mask[mask_start + j * mask_column]
            if score != -math.inf:
                if score > top:
                    correction = math.exp(top - score)
                    total *= correction
                    for c in range(values):
                        out[out_start + c] *= correction
                    top = score
                weight = math.exp(score - top)
                total += weight
                for c in range(values):
                    out[out_start + c] += weight * v[of_v[h] + j * values + c]
        if total != 0:
            for c in range(values):
                out[out_start + c] /= total


@implementation(
    "scaled_dot_product_attention",
    "gpu",
    adds="one thread for each query, in one pass over the keys: no scores are kept, but each thread reads all keys "
    "itself",
    dtypes=("float32",),
    kernels=[(online_kernel, [f"void({LINE}, {LINE}, {LINE}, {LINE}, {ONE_HEAD}, {LINE}, {SIZES})"]), TERMS],
)
@on_heads
def attention_online_thread(q, k, v, mask, places, g, out):
    online_kernel[-(-g.heads * g.queries // THREADS), THREADS](q, k, v, mask, *places, out, *numbers(g))


# ---- tiles in shared memory ------------------------------------------------------------------------------------------

SIDE = 16  # threads of a block along queries, and along keys or columns: half a warp shares a query
KEYS = 32  # of a tile, two for each thread
ROOM = KEYS + 1  # numbers from one row of weights to the next
WIDEST = 128  # elements of a query, key or value that fit


@functools.cache
def tiles_kernel(rows, columns, barrier=True):
    """For `rows` x 16 queries in a block and widths of up to 16 x `columns`.

    barrier: False leaves out the one at the end of the loop over tiles: wrong.
    """
    tile_rows, padded = SIDE * rows, SIDE * columns + 1

    @cuda.jit
    def kernel(
        q,
        k,
        v,
        mask,
        of_q,
        of_k,
        of_v,
        of_mask,
        out,
        queries,
        keys,
        width,
        values,
        mask_row,
        mask_column,
        causal,
        scale,
    ):
        q_tile = cuda.shared.array(
            (tile_rows, padded), f32
        )  # queries; a column more, so that rows begin in other banks
        tile = cuda.shared.array((KEYS, padded), f32)  # keys, then their values
        weights = cuda.shared.array((tile_rows, ROOM), f32)
        scores = cuda.local.array((rows, 2), f32)
        top, total = cuda.local.array(rows, f32), cuda.local.array(rows, f32)
        sums = cuda.local.array((rows, columns), f32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        t = y * SIDE + x
        tiles = (queries + tile_rows - 1) // tile_rows
        h, first = (
            cuda.blockIdx.x // tiles,
            (tiles - 1 - cuda.blockIdx.x % tiles) * tile_rows,
        )  # the longest rows first
        block_rows = min(tile_rows, queries - first)
        for e in range(t, block_rows * width, SIDE * SIDE):
            q_tile[e // width, e % width] = q[of_q[h] + first * width + e]
        for r in range(rows):
            top[r], total[r] = f32(-math.inf), f32(0)
            for c in range(columns):
                sums[r, c] = f32(0)
        last = min(keys, first + block_rows) if causal else keys
        for begin in range(0, last, KEYS):
            count = min(KEYS, last - begin)
            for e in range(t, count * width, SIDE * SIDE):
                tile[e // width, e % width] = k[of_k[h] + begin * width + e]
            cuda.syncthreads()  # queries and keys are there
            for r in range(rows):
                scores[r, 0] = f32(0)
                scores[r, 1] = f32(0)
            low, high = min(x, count - 1), min(x + SIDE, count - 1)
            for c in range(width):
                for r in range(rows):
                    q_value = q_tile[min(y + SIDE * r, block_rows - 1), c]
                    scores[r, 0] += q_value * tile[low, c]
                    scores[r, 1] += q_value * tile[high, c]
            for r in range(rows):
                i = min(first + y + SIDE * r, queries - 1)
                largest = top[r]
                for s in range(2):
                    j = begin + x + SIDE * s
                    if j >= last or (causal and j > i):
                        scores[r, s] = -math.inf
                    else:
                        place = of_mask[h] + i * mask_row + j * mask_column
                        scores[r, s] = scores[r, s] * scale + mask[place]
                    largest = max(largest, scores[r, s])
                largest = half_warp_max(largest)
                shift = f32(0) if largest == -math.inf else largest
                correction = math.exp(top[r] - shift)
                top[r] = largest
                thread_sum = f32(0)
                for s in range(2):
                    weight = math.exp(scores[r, s] - shift)
                    weights[y + SIDE * r, x + SIDE * s] = weight
                    thread_sum += weight
                total[r] = total[r] * correction + half_warp_sum(thread_sum)
                for c in range(columns):
                    sums[r, c] *= correction
            cuda.syncthreads()  # weights are there; nobody reads the keys any more
            for e in range(t, count * values, SIDE * SIDE):
                tile[e // values, e % values] = v[of_v[h] + begin * values + e]
            cuda.syncthreads()  # values are there
            for j in range(count):
                for r in range(rows):
                    weight = weights[y + SIDE * r, j]
                    for c in range(columns):
                        if x + SIDE * c < values:
                            sums[r, c] += weight * tile[j, x + SIDE * c]
            if barrier:
                cuda.syncthreads()  # nobody reads weights and values any more
        for r in range(rows):
            i = y + SIDE * r
            if i < block_rows:
                factor = f32(0) if total[r] == 0 else f32(1) / total[r]
                for c in range(columns):
                    if x + SIDE * c < values:
                        place = (h * queries + first + i) * values + x + SIDE * c
                        out[place] = sums[r, c] * factor

    return kernel


@cuda.jit(device=True)
def half_warp_max(value):
    """The largest of the 16 threads of a query; NaN may be lost, but then the sum has it."""
    value = max(value, cuda.shfl_xor_sync(ALL, value, 8))
    value = max(value, cuda.shfl_xor_sync(ALL, value, 4))
    value = max(value, cuda.shfl_xor_sync(ALL, value, 2))
    return max(value, cuda.shfl_xor_sync(ALL, value, 1))


@cuda.jit(device=True)
def half_warp_sum(value):
    """The sum over the 16 threads of a query."""
    value += cuda.shfl_xor_sync(ALL, value, 8)
    value += cuda.shfl_xor_sync(ALL, value, 4)
    value += cuda.shfl_xor_sync(ALL, value, 2)
    return value + cuda.shfl_xor_sync(ALL, value, 1)


#: (queries of a thread, columns of a thread): 64 queries of up to 64 elements, 16 where there are few, 32 of up to 128.
SHAPES = ((4, 4), (1, 4), (2, 8))
TILES = f"void({LINE}, {LINE}, {LINE}, {LINE}, {ONE_HEAD}, {LINE}, {SIZES})"


def shape_for(g):
    """Which of SHAPES fits a geometry."""
    if max(g.width, g.values) > SIDE * SHAPES[0][1]:
        return SHAPES[2]
    return SHAPES[1] if g.queries <= SIDE else SHAPES[0]


@implementation(
    "scaled_dot_product_attention",
    "gpu",
    adds="a block for up to 64 queries: a tile of keys, then of values, lies in shared memory and serves all of them",
    limits=f"widths over {WIDEST} take the kernel of attention_online_thread",
    dtypes=("float32",),
    kernels=[*((tiles_kernel(*shape), [TILES]) for shape in SHAPES), TERMS],
)
@on_heads
def attention_shared_tiles(q, k, v, mask, places, g, out):
    if max(g.width, g.values) > WIDEST:
        online_kernel[-(-g.heads * g.queries // THREADS), THREADS](q, k, v, mask, *places, out, *numbers(g))
        return
    shape = shape_for(g)
    tiles = -(-g.queries // (SIDE * shape[0]))
    launches.launch(tiles_kernel(*shape), g.heads * tiles, (SIDE, SIDE), q, k, v, mask, *places, out, *numbers(g))
