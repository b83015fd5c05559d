"""Gradients of attention on the GPU, continued: tiles in shared memory, and patches of all products in registers.

gpu_backward.py reads every number of a key from memory for every query. Here blocks walk over tiles: first one for each
tile of queries, then one for each tile of keys. All products are made by the two device functions of gpu_patches.py,
whichever of the two stands still:

    block of queries   S = q k^T   A = grad v^T   of_q = sum over keys of dS k          dS = scale P (A - inner)
    block of keys      S^T         A^T            of_v = sum over queries of P^T grad   of_k = sum of dS^T q

The rung is given no result and no sums, so it goes the way forward again: a block of queries goes over the keys twice.
After the first time it knows what P needs, the largest score of each row and its sum, and what dS needs, inner = the
sum over keys of P A. Nine products in all. Who has kept the result has inner = the sum over columns of grad * result,
and with the sums no first time is needed: seven.

FlashAttention-2 (Dao 2023) makes five. It keeps the result and the logarithm of each sum from the way forward, and has
no blocks of queries: a block of keys makes all three gradients, and adds to of_q by atomics. So last digits differ from
run to run (but for its option `deterministic`), and weights lose digits where scores are large, as a logarithm beside
them has few.
"""

import functools
import math

from ..device import cuda
from ..implementations import implementation
from ..launches import device_array, launch, line, sent
from ..wide import store4
from .gpu import LINE, PLACES, TERMS, terms_of
from .gpu_backward import attention_backward_threads, collect_kernel, collected
from .gpu_patches import (
    ACROSS,
    DOWN,
    KEYS,
    MOST,
    PITCH,
    THREADS,
    counted,
    eight_max,
    eight_sum,
    in_fours,
    load_rows,
    result_of,
    scores_of,
    u32,
)
from .gpu_rows import f32

#: (rows of a thread, fours of columns): the most rows whose tiles fit into 48 KB, for widths of up to 32, 64 and 128.
SHAPES = ((4, 1), (3, 2), (1, 4))
WIDEST = KEYS * SHAPES[-1][1]


@cuda.jit(device=True)
def score_at(product, scale, mask, mask_place, seen):
    """The score of a query and a key; -inf where the one does not look at the other."""
    return product * scale + mask[mask_place] if seen else f32(-math.inf)


@functools.cache
def two_products_of(rows, fours):
    """The device function that multiplies a block's rows by a tile of `left`, then by one of `right`, which stays."""
    product = scores_of(rows)

    @cuda.jit(device=True)
    def multiply(
        left,
        left_start,
        left_width,
        left_tile,
        right,
        right_start,
        right_width,
        right_tile,
        count,
        tile,
        t,
        left_products,
        right_products,
    ):
        x, y, columns = u32(t % u32(ACROSS)), u32(t // u32(ACROSS)), u32(KEYS * fours)
        load_rows(left, left_start, count, left_width, u32(KEYS), tile, columns, u32(THREADS), t)
        cuda.syncthreads()  # the tile is there; the first time, the block's rows are, too
        product(left_tile, tile, y, x, left_width, left_products)
        cuda.syncthreads()  # nobody reads the first one any more
        load_rows(right, right_start, count, right_width, u32(KEYS), tile, columns, u32(THREADS), t)
        cuda.syncthreads()  # the other one is there
        product(right_tile, tile, y, x, right_width, right_products)

    return multiply


@functools.cache
def store_of(rows, fours):
    """The device function that stores a thread's patch, of the block's first `block_rows` rows."""

    @cuda.jit(device=True)
    def store(sums, out, first, block_rows, width, y, x):
        for r in range(rows):
            i = u32(y + u32(DOWN * r))
            for n in range(fours):
                c = u32(u32(4) * x + u32(KEYS * n))
                if i < block_rows and c < width:
                    four = sums[r, 4 * n], sums[r, 4 * n + 1], sums[r, 4 * n + 2], sums[r, 4 * n + 3]
                    store4(out, u32(first + i * width + c), four)

    return store


@functools.cache
def clear_of(rows, fours):
    @cuda.jit(device=True)
    def clear(sums):
        for r in range(rows):
            for c in range(4 * fours):
                sums[r, c] = f32(0)

    return clear


@functools.cache
def queries_kernel(rows, fours):
    """The kernel of blocks of 16 x `rows` queries, for widths of up to 32 x `fours`: part = the gradient of q, by
    heads."""
    tile_rows, columns, thread_columns = DOWN * rows, KEYS * fours, 4 * fours
    padded = columns + 4  # 8 rows begin in 8 groups of 4 banks
    two_products, add, store = two_products_of(rows, fours), result_of(rows, fours), store_of(rows, fours)
    clear = clear_of(rows, fours)

    @cuda.jit
    def query_tiles_kernel(
        q, k, v, mask, of_q, of_k, of_v, of_mask, grad, tops, shares, inners, part,
        queries, keys, width, values, mask_row, mask_column, causal, scale,
    ):  # fmt: skip
        q_tile = cuda.shared.array((tile_rows, padded), f32)
        grad_tile = cuda.shared.array((tile_rows, padded), f32)
        tile = cuda.shared.array((KEYS, padded), f32)  # values, then their keys
        slopes = cuda.shared.array((tile_rows, PITCH), f32)
        arrived, scores = cuda.local.array((rows, 4), f32), cuda.local.array((rows, 4), f32)
        sums = cuda.local.array((rows, thread_columns), f32)
        top, total, inner = cuda.local.array(rows, f32), cuda.local.array(rows, f32), cuda.local.array(rows, f32)
        t, threads = u32(cuda.threadIdx.x), u32(THREADS)
        x, y = u32(t % u32(ACROSS)), u32(t // u32(ACROSS))
        tiles, block = u32((queries + u32(tile_rows - 1)) // u32(tile_rows)), u32(cuda.blockIdx.x)
        h, first = u32(block // tiles), u32((tiles - u32(1) - block % tiles) * u32(tile_rows))  # long rows first
        block_rows, line = min(u32(tile_rows), u32(queries - first)), u32(h * queries + first)
        k_head, v_head, mask_head = u32(of_k[h]), u32(of_v[h]), u32(of_mask[h])
        load_rows(q, u32(of_q[h] + first * width), block_rows, width, u32(tile_rows), q_tile, u32(columns), threads, t)
        load_rows(grad, u32(line * values), block_rows, values, u32(tile_rows), grad_tile, u32(columns), threads, t)
        clear(sums)
        for r in range(rows):
            top[r], total[r], inner[r] = f32(-math.inf), f32(0), f32(0)
        last = min(keys, u32(first + block_rows)) if causal else keys
        for begin in range(u32(0), last, u32(KEYS)):
            v_start, k_start = u32(v_head + begin * values), u32(k_head + begin * width)
            two_products(
                v, v_start, values, grad_tile, k, k_start, width, q_tile, u32(last - begin), tile, t, arrived, scores
            )
            for r in range(rows):
                i = min(u32(first + y + u32(DOWN * r)), u32(queries - u32(1)))
                largest = top[r]
                for s in range(4):
                    j = u32(begin + x + u32(ACROSS * s))
                    seen = j < last and (not causal or j <= i)
                    mask_place = u32(mask_head + i * mask_row + j * mask_column)
                    scores[r, s] = score_at(scores[r, s], scale, mask, mask_place, seen)
                    largest = max(largest, scores[r, s])
                largest = eight_max(largest)
                shift = f32(0) if largest == -math.inf else largest
                correction = math.exp(top[r] - shift)
                top[r] = largest
                thread_sum, thread_inner = f32(0), f32(0)
                for s in range(4):
                    weight = math.exp(scores[r, s] - shift)
                    thread_sum += weight
                    thread_inner += weight * arrived[r, s]
                total[r] = total[r] * correction + eight_sum(thread_sum)
                inner[r] = inner[r] * correction + eight_sum(thread_inner)
            cuda.syncthreads()  # nobody reads the keys any more: the next tile may come
        for r in range(rows):
            i = u32(y + u32(DOWN * r))
            if top[r] == -math.inf:  # a row that sees nothing
                top[r] = f32(0)
            total[r] = f32(0) if total[r] == f32(0) else f32(1) / total[r]
            inner[r] = inner[r] * total[r]
            if x == u32(0) and i < block_rows:
                tops[u32(line + i)], shares[u32(line + i)], inners[u32(line + i)] = top[r], total[r], inner[r]
        for begin in range(u32(0), last, u32(KEYS)):
            v_start, k_start = u32(v_head + begin * values), u32(k_head + begin * width)
            two_products(
                v, v_start, values, grad_tile, k, k_start, width, q_tile, u32(last - begin), tile, t, arrived, scores
            )
            for r in range(rows):
                i = min(u32(first + y + u32(DOWN * r)), u32(queries - u32(1)))
                for s in range(4):
                    j = u32(begin + x + u32(ACROSS * s))
                    seen = j < last and (not causal or j <= i)
                    mask_place = u32(mask_head + i * mask_row + j * mask_column)
                    weight = math.exp(score_at(scores[r, s], scale, mask, mask_place, seen) - top[r]) * total[r]
                    slopes[y + u32(DOWN * r), x + u32(ACROSS * s)] = scale * weight * (arrived[r, s] - inner[r])
            cuda.syncthreads()  # slopes are there
            add(slopes, tile, y, x, min(u32(last - begin), u32(KEYS)), sums)
            cuda.syncthreads()  # nobody reads slopes and keys any more
        store(sums, part, u32(line * width), block_rows, width, y, x)

    return query_tiles_kernel


@functools.cache
def keys_kernel(rows, fours):
    """The kernel of blocks of 16 x `rows` keys: part_k and part_v = the gradients of k and v, by heads."""
    tile_rows, columns, thread_columns = DOWN * rows, KEYS * fours, 4 * fours
    padded = columns + 4
    two_products, add, store = two_products_of(rows, fours), result_of(rows, fours), store_of(rows, fours)
    clear = clear_of(rows, fours)

    @cuda.jit
    def key_tiles_kernel(
        q, k, v, mask, of_q, of_k, of_v, of_mask, grad, tops, shares, inners, part_k, part_v,
        queries, keys, width, values, mask_row, mask_column, causal, scale,
    ):  # fmt: skip
        k_tile = cuda.shared.array((tile_rows, padded), f32)
        v_tile = cuda.shared.array((tile_rows, padded), f32)
        tile = cuda.shared.array((KEYS, padded), f32)  # queries, then what arrived for them, then queries again
        factors = cuda.shared.array((tile_rows, PITCH), f32)  # weights, then slopes
        arrived, scores = cuda.local.array((rows, 4), f32), cuda.local.array((rows, 4), f32)
        sums_k, sums_v = cuda.local.array((rows, thread_columns), f32), cuda.local.array((rows, thread_columns), f32)
        t, threads = u32(cuda.threadIdx.x), u32(THREADS)
        x, y = u32(t % u32(ACROSS)), u32(t // u32(ACROSS))
        tiles, block = u32((keys + u32(tile_rows - 1)) // u32(tile_rows)), u32(cuda.blockIdx.x)
        h, first = u32(block // tiles), u32(block % tiles * u32(tile_rows))
        block_rows, line = min(u32(tile_rows), u32(keys - first)), u32(h * keys + first)
        q_head, mask_head = u32(of_q[h]), u32(of_mask[h])
        load_rows(k, u32(of_k[h] + first * width), block_rows, width, u32(tile_rows), k_tile, u32(columns), threads, t)
        load_rows(
            v, u32(of_v[h] + first * values), block_rows, values, u32(tile_rows), v_tile, u32(columns), threads, t
        )
        clear(sums_k)
        clear(sums_v)
        start = first if causal else u32(0)  # queries before it look at none of these keys
        for begin in range(start, queries, u32(KEYS)):
            count, row = u32(queries - begin), u32(h * queries + begin)
            q_start, grad_start = u32(q_head + begin * width), u32(row * values)
            two_products(q, q_start, width, k_tile, grad, grad_start, values, v_tile, count, tile, t, scores, arrived)
            for r in range(rows):
                j = min(u32(first + y + u32(DOWN * r)), u32(keys - u32(1)))
                for s in range(4):
                    apart = u32(x + u32(ACROSS * s))
                    i, weight, slope = u32(begin + apart), f32(0), f32(0)
                    if i < queries and (not causal or j <= i):
                        mask_place = u32(mask_head + i * mask_row + j * mask_column)
                        score = score_at(scores[r, s], scale, mask, mask_place, True)
                        weight = math.exp(score - tops[u32(row + apart)]) * shares[u32(row + apart)]
                        slope = scale * weight * (arrived[r, s] - inners[u32(row + apart)])
                    factors[y + u32(DOWN * r), apart] = weight
                    scores[r, s] = slope
            cuda.syncthreads()  # weights are there
            add(factors, tile, y, x, min(count, u32(KEYS)), sums_v)
            cuda.syncthreads()  # nobody reads weights and gradients any more
            load_rows(q, q_start, count, width, u32(KEYS), tile, u32(columns), threads, t)
            for r in range(rows):
                for s in range(4):
                    factors[y + u32(DOWN * r), x + u32(ACROSS * s)] = scores[r, s]
            cuda.syncthreads()  # slopes and queries are there
            add(factors, tile, y, x, min(count, u32(KEYS)), sums_k)
            cuda.syncthreads()  # nobody reads slopes and queries any more
        store(sums_k, part_k, u32(line * width), block_rows, width, y, x)
        store(sums_v, part_v, u32(line * values), block_rows, values, y, x)

    return key_tiles_kernel


ARRAYS = ", ".join([*[LINE] * 4, *[PLACES] * 4])
SIZES = "uint32, uint32, uint32, uint32, uint32, uint32, boolean, float32"


def shape_for(g):
    """Which of SHAPES fits a geometry."""
    return next(shape for shape in SHAPES if max(g.width, g.values) <= KEYS * shape[1])


@implementation(
    "scaled_dot_product_attention_backward",
    "gpu",
    adds="tiles in shared memory and patches in registers: blocks of queries, then blocks of keys, all products by "
    "fours",
    limits=f"widths over {WIDEST} or that are no multiples of 4, slices at odd places and arrays of 2^32 elements and "
    "more go the way of attention_backward_threads",
    dtypes=("float32",),
    kernels=[
        *((queries_kernel(*shape), [f"void({ARRAYS}, {', '.join([LINE] * 5)}, {SIZES})"]) for shape in SHAPES),
        *((keys_kernel(*shape), [f"void({ARRAYS}, {', '.join([LINE] * 6)}, {SIZES})"]) for shape in SHAPES),
        (collect_kernel, [f"void({LINE}, {PLACES}, int64, {LINE})"]),
        TERMS,
    ],
    public=True,
)
def attention_backward_register_tiles(mask, shape, g, grad, q, k, v):
    most = max(0 if mask is None else mask.size, g.heads * g.keys * max(g.width, g.values))
    small = max(g.width, g.values) <= WIDEST and most < MOST and in_fours(g, grad, q, k, v)
    if not small or g.heads * g.queries * g.keys == 0 or g.values == 0:
        return attention_backward_threads(mask, shape, g, grad, q, k, v)
    sizes = g.queries * g.width, g.keys * g.width, g.keys * g.values
    of_queries, of_keys, of_values = parts = [device_array(g.heads * size, f32) for size in sizes]
    rows = [device_array(g.heads * g.queries, f32) for _ in range(3)]
    lines = [line(x) for x in (q, k, v)]
    places = [sent(x) for x in (g.of_q, g.of_k, g.of_v, g.of_mask)]
    everything, tile_rows = (*lines, terms_of(mask), *places, line(grad), *rows), DOWN * shape_for(g)[0]
    blocks, known = (g.heads * -(-n // tile_rows) for n in (g.queries, g.keys)), counted(g)
    launch(queries_kernel(*shape_for(g)), next(blocks), THREADS, *everything, of_queries, *known)
    launch(keys_kernel(*shape_for(g)), next(blocks), THREADS, *everything, of_keys, of_values, *known)
    found = zip(parts, (g.of_q, g.of_k, g.of_v), sizes, (q, k, v), strict=True)
    return tuple(collected(*each) for each in found)
