"""Attention on the GPU, continued: each thread computes a patch of scores and a patch of the result in its registers.

In gpu.py a thread loads three numbers from shared memory for two multiply-adds. Here 8 threads share QUERIES queries
and a tile of 32 keys, and all loads are of four numbers at once:

    scores    rows x 4      4 numbers of each query and of each key for 16 x rows multiply-adds
    result    rows x 4 n    4 weights of each query and 4 rows of values for 16 x rows x n multiply-adds

so that with rows = 4 and n = 2 a thread issues 8 loads for 64 multiply-adds, and 12 for 128.
"""

import functools
import math

import numpy as np

from ..device import cuda
from ..implementations import implementation
from ..launches import launch
from ..layouts import aligned
from ..wide import load4, store4
from .gpu import LINE, PLACES, TERMS, attention_shared_tiles, f32, numbers, on_heads
from .gpu_rows import ALL

on_tiles = attention_shared_tiles.__wrapped__  # without another look at mask and places

u32 = np.uint32
ACROSS, DOWN = 8, 16  # threads of a block: along keys or columns, along queries
THREADS = ACROSS * DOWN
KEYS = 4 * ACROSS  # of a tile
PITCH = KEYS + 8  # numbers in a row of weights: the 4 rows that a warp writes to begin 8 banks apart
MOST = 1 << 32  # elements of an array: places are counted in 32 bits


@cuda.jit(device=True)
def load_rows(x, first, rows, width, tile_rows, tile, columns, threads, t):
    """Rows of `columns` numbers into a tile, from element `first` of x on; zeros outside of `rows` and `width`."""
    for e in range(t, tile_rows * (columns // u32(4)), threads):
        i, c = u32(e // (columns // u32(4))), u32(e % (columns // u32(4)) * u32(4))
        four = f32(0), f32(0), f32(0), f32(0)
        if i < rows and c < width:
            four = load4(x, u32(first + i * width + c))
        store4(tile, (i, c), four)


@cuda.jit(device=True)
def eight_max(value):
    """The largest of the 8 threads of a query."""
    value = max(value, cuda.shfl_xor_sync(ALL, value, 4))
    value = max(value, cuda.shfl_xor_sync(ALL, value, 2))
    return max(value, cuda.shfl_xor_sync(ALL, value, 1))


@cuda.jit(device=True)
def eight_sum(value):
    """The sum over the 8 threads of a query."""
    value += cuda.shfl_xor_sync(ALL, value, 4)
    value += cuda.shfl_xor_sync(ALL, value, 2)
    return value + cuda.shfl_xor_sync(ALL, value, 1)


@functools.cache
def scores_of(rows):
    """The device function that multiplies `rows` queries of a thread by its 4 keys."""

    @cuda.jit(device=True)
    def multiply(q_tile, tile, y, x, width, scores):
        left, right = cuda.local.array(4, f32), cuda.local.array((4, 4), f32)
        for r in range(rows):
            for s in range(4):
                scores[r, s] = f32(0)
        for c in range(u32(0), width, u32(4)):
            for s in range(4):
                key = load4(tile, (x + u32(ACROSS * s), c))
                right[s, 0], right[s, 1], right[s, 2], right[s, 3] = key
            for r in range(rows):
                left[0], left[1], left[2], left[3] = load4(q_tile, (y + u32(DOWN * r), c))
                for s in range(4):
                    for e in range(4):
                        scores[r, s] += left[e] * right[s, e]

    return multiply


@functools.cache
def result_of(rows, fours):
    """The device function that adds weights times values: `rows` queries by `fours` times 4 columns of a thread."""

    @cuda.jit(device=True)
    def multiply(weights, tile, y, x, count, sums):
        left, right = cuda.local.array((rows, 4), f32), cuda.local.array(4, f32)
        for j in range(u32(0), count, u32(4)):
            for r in range(rows):
                four = load4(weights, (y + u32(DOWN * r), j))
                left[r, 0], left[r, 1], left[r, 2], left[r, 3] = four
            for e in range(4):
                for n in range(fours):
                    place = u32(j + u32(e)), u32(u32(4) * x + u32(KEYS * n))
                    right[0], right[1], right[2], right[3] = load4(tile, place)
                    for r in range(rows):
                        for c in range(4):
                            sums[r, 4 * n + c] += left[r, e] * right[c]

    return multiply


@functools.cache
def patches_kernel(rows, fours):
    """The kernel for 16 x `rows` queries in a block and widths of up to 32 x `fours`."""
    tile_rows, columns, thread_columns = DOWN * rows, KEYS * fours, 4 * fours
    padded = columns + 4  # 8 rows begin in 8 groups of 4 banks
    score, add_values = scores_of(rows), result_of(rows, fours)

    @cuda.jit
    def kernel(
        q, k, v, mask, of_q, of_k, of_v, of_mask, out,
        queries, keys, width, values, mask_row, mask_column, causal, scale,
    ):  # fmt: skip
        q_tile = cuda.shared.array((tile_rows, padded), f32)
        tile = cuda.shared.array((KEYS, padded), f32)  # keys, then their values
        weights = cuda.shared.array((tile_rows, PITCH), f32)
        scores, sums = cuda.local.array((rows, 4), f32), cuda.local.array((rows, thread_columns), f32)
        top, total = cuda.local.array(rows, f32), cuda.local.array(rows, f32)
        t, threads = u32(cuda.threadIdx.x), u32(THREADS)
        x, y = u32(t % u32(ACROSS)), u32(t // u32(ACROSS))
        tiles = u32((queries + u32(tile_rows - 1)) // u32(tile_rows))
        block = u32(cuda.blockIdx.x)
        h, first = u32(block // tiles), u32((tiles - u32(1) - block % tiles) * u32(tile_rows))  # long rows first
        block_rows = min(u32(tile_rows), u32(queries - first))
        k_head, v_head, mask_head = u32(of_k[h]), u32(of_v[h]), u32(of_mask[h])
        load_rows(q, u32(of_q[h] + first * width), block_rows, width, u32(tile_rows), q_tile, u32(columns), threads, t)
        for r in range(rows):
            top[r], total[r] = f32(-math.inf), f32(0)
            for c in range(thread_columns):
                sums[r, c] = f32(0)
        last = min(keys, u32(first + block_rows)) if causal else keys
        for begin in range(u32(0), last, u32(KEYS)):
            count = u32(last - begin)
            load_rows(k, u32(k_head + begin * width), count, width, u32(KEYS), tile, u32(columns), threads, t)
            cuda.syncthreads()  # queries and keys are there
            score(q_tile, tile, y, x, width, scores)
            for r in range(rows):
                i = min(u32(first + y + u32(DOWN * r)), u32(queries - u32(1)))
                largest = top[r]
                for s in range(4):
                    j = u32(begin + x + u32(ACROSS * s))
                    if j >= last or (causal and j > i):
                        scores[r, s] = f32(-math.inf)
                    else:
                        term = mask[u32(mask_head + i * mask_row + j * mask_column)]
                        scores[r, s] = scores[r, s] * scale + term
                    largest = max(largest, scores[r, s])
                largest = eight_max(largest)
                shift = f32(0) if largest == -math.inf else largest
                correction = math.exp(top[r] - shift)
                top[r] = largest
                thread_sum = f32(0)
                for s in range(4):
                    weight = math.exp(scores[r, s] - shift)
                    weights[y + u32(DOWN * r), x + u32(ACROSS * s)] = weight
                    thread_sum += weight
                total[r] = total[r] * correction + eight_sum(thread_sum)
                for c in range(thread_columns):
                    sums[r, c] = sums[r, c] * correction
            cuda.syncthreads()  # weights are there, and nobody reads the keys any more
            load_rows(v, u32(v_head + begin * values), count, values, u32(KEYS), tile, u32(columns), threads, t)
            cuda.syncthreads()  # values are there
            add_values(weights, tile, y, x, min(count, u32(KEYS)), sums)
            cuda.syncthreads()  # nobody reads weights and values any more: the next tile may come
        for r in range(rows):
            i = u32(y + u32(DOWN * r))
            if i < block_rows:
                factor = f32(0) if total[r] == f32(0) else f32(1) / total[r]
                for n in range(fours):
                    c = u32(u32(4) * x + u32(KEYS * n))
                    if c < values:
                        s0, s1 = sums[r, 4 * n] * factor, sums[r, 4 * n + 1] * factor
                        s2, s3 = sums[r, 4 * n + 2] * factor, sums[r, 4 * n + 3] * factor
                        store4(out, u32((h * queries + first + i) * values + c), (s0, s1, s2, s3))

    return kernel


#: (queries of a thread, fours of columns): 64 queries of up to 32 or 64 elements, 16 where few, 32 of up to 128.
SHAPES = ((4, 2), (4, 1), (1, 2), (2, 4))
WIDEST = KEYS * SHAPES[-1][1]
PATCHES = (
    f"void({LINE}, {LINE}, {LINE}, {LINE}, {PLACES}, {PLACES}, {PLACES}, {PLACES}, {LINE}, "
    "uint32, uint32, uint32, uint32, uint32, uint32, boolean, float32)"
)


def shape_for(g):
    """Which of SHAPES fits a geometry."""
    widest = max(g.width, g.values)
    if widest > 2 * KEYS:
        return 2, 4
    if g.queries <= DOWN:
        return 1, 2
    return 4, 1 if widest <= KEYS else 2


def in_fours(g, *arrays):
    """Whether all rows begin at a multiple of 16 bytes, and 32 bits are enough for all places."""
    return g.width % 4 == g.values % 4 == 0 and aligned(*arrays) and max(x.size for x in arrays) < MOST


def counted(g):
    """What a kernel that counts in 32 bits has to know of a geometry."""
    *sizes, causal, scale = numbers(g)
    return *map(u32, sizes), causal, scale


@implementation(
    "scaled_dot_product_attention",
    "gpu",
    adds="register tiles: a thread has 4 x 4 scores and 4 x 8 numbers of the result, and loads four numbers at once",
    limits=f"widths over {WIDEST} or that are no multiples of 4, slices at odd places and arrays of 2^32 elements and "
    "more go the way of attention_shared_tiles",
    dtypes=("float32",),
    kernels=[*((patches_kernel(*shape), [PATCHES]) for shape in SHAPES), TERMS],
    public=True,
)
@on_heads
def attention_register_tiles(q, k, v, mask, places, g, out):
    if max(g.width, g.values) > WIDEST or not in_fours(g, q, k, v, out) or mask.size >= MOST:
        on_tiles(q, k, v, mask, places, g, out)
        return
    shape = shape_for(g)
    tiles = -(-g.queries // (DOWN * shape[0]))
    launch(patches_kernel(*shape), g.heads * tiles, THREADS, q, k, v, mask, *places, out, *counted(g))
