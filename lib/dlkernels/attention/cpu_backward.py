"""Gradients of attention on the CPU.

With w the weights, s the scores, o = w v the result, and g the gradient that arrives,

    of v        w^T g
    of w        g v^T
    of s        w * (g v^T - d),   d = the sum of g * o for each query, which is that of w * (g v^T), too
    of q, k     scale * (of s) k,  scale * (of s)^T q

The ladder                                   what the rung adds
    attention_backward_kept     the formulas: all weights of a head and their gradients are kept
    attention_backward_tiles    weights are computed again, tile by tile, from the largest score of each query and their
                                sum: nothing that grows with queries x keys is kept (Dao and others 2022, section 3.1)

Who has called `attention_with_sums` has the result and these two numbers of each query; otherwise they are computed
first.

Where heads can be shared out evenly, and the width is a multiple of VECTORS vectors, a head is a task. Its tiles are
walked through once, with keys in the lanes; the gradient of q grows in memory. Otherwise they are walked through twice:
with queries in the lanes for the gradient of q, with keys in the lanes for those of k and v. So nobody adds to what
another thread adds to, at the price of computing scores and gradients of weights twice.
"""

import math

import numpy as np

from .. import team
from ..host import new, plain, workspace
from ..implementations import implementation
from ..matrix.backward import product
from ..simd import broadcast, first_lanes, lanes, load, store, vector_width
from ..simd.cache import cached_njit
from ..simd.exponential import LOG2_E, exp2
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..simd.tile import tile_load, tile_multiply_add, tile_store
from ..team import share
from . import flash
from .cpu import attention_with_sums, dot, terms_of
from .flash import (
    KEYS,
    MASKED,
    QUERIES,
    ROWS,
    add_products,
    fill,
    hide_later,
    products,
    tiles_of,
    transpose_in,
    transpose_out,
)

VECTORS = 2  # of columns in a tile of the gradient of q


def collected(part, places, size, shape):
    """The gradients of matrices of `size` numbers from those of all heads, (heads, size): heads that share one add
    up."""
    if part.size == math.prod(shape):  # each matrix served one head, and leading dimensions are in order
        return part.reshape(shape)
    numbers = places // max(size, 1)
    total = np.zeros((math.prod(shape[:-2]), size))
    np.add.at(total, numbers, part.reshape(len(numbers), size))
    return total.astype(part.dtype).reshape(shape)


def of_all(g, parts, q, k, v):
    """Gradients of q, k and v, from those by heads."""
    sizes = g.queries * g.width, g.keys * g.width, g.keys * g.values
    rows = zip(parts, (g.of_q, g.of_k, g.of_v), sizes, (q, k, v), strict=True)
    return tuple(collected(part, places, size, x.shape) for part, places, size, x in rows)


# ---- 1: the formulas ---------------------------------------------------------------------------------------------


@implementation(
    "scaled_dot_product_attention_backward",
    device="cpu",
    adds="the formulas: all weights of a head and their gradients are kept, and each line is a product of matrices",
)
def attention_backward_kept(mask, shape, g, grad, q, k, v):
    sizes = (g.queries, g.width), (g.keys, g.width), (g.keys, g.values), (g.queries, g.values)
    parts = tuple(np.zeros((g.heads, *size), q.dtype) for size in sizes[:3])
    if g.heads * g.queries * g.keys:
        of_grad = np.arange(g.heads) * (g.queries * g.values)
        starts = g.of_q, g.of_k, g.of_v, of_grad
        terms, scale = terms_of(mask, q.dtype), q.dtype.type(g.scale)
        later = np.triu_indices(g.queries, 1, g.keys)
        lines = [plain(x).reshape(-1) for x in (q, k, v, grad)]
        for h in range(g.heads):
            rows = zip(lines, starts, sizes, strict=True)
            queries, keys, values, arrived = (x[start[h] : start[h] + n * m].reshape(n, m) for x, start, (n, m) in rows)
            scores = scale * product(queries, keys.T)
            steps = (g.mask_row * terms.itemsize, g.mask_column * terms.itemsize)
            scores += np.lib.stride_tricks.as_strided(terms[g.of_mask[h] :], scores.shape, steps)
            if g.causal:
                scores[later] = -np.inf
            top = scores.max(axis=1, keepdims=True)
            top[top == -np.inf] = 0
            weights = np.exp(scores - top)
            sums = weights.sum(axis=1, keepdims=True)
            sums[sums == 0] = 1
            weights /= sums
            if g.values:
                inner = product(arrived, values.T)
                parts[2][h] = product(weights.T, arrived)
                inner -= (weights * inner).sum(axis=1, keepdims=True)
                inner *= scale * weights
                parts[0][h], parts[1][h] = product(inner, keys), product(inner.T, queries)
    return of_all(g, parts, q, k, v)


# ---- 2: weights computed again -----------------------------------------------------------------------------------


def room(g, dtype):
    """Numbers that one thread needs: two transposed operands, scores and their gradients, two results, and lines."""
    return (2 * (g.width + g.values) + 2 * KEYS + 4 + MASKED) * flash.wide(dtype)


@implementation(
    "scaled_dot_product_attention_backward",
    device="cpu",
    adds="weights are computed again, tile by tile, from the sum of each query: nothing of queries x keys numbers is "
    "kept",
    public=True,
)
def attention_backward_tiles(mask, shape, g, grad, q, k, v):
    result, sums = attention_with_sums(mask, shape, g, q, k, v)
    return attention_backward_from_sums(mask, g, result, sums, grad, q, k, v)


@implementation(
    "attention_backward_from_sums",
    device="cpu",
    adds="weights are computed again, tile by tile, from what the way forward has kept of each query",
    public=True,
)
def attention_backward_from_sums(mask, g, result, sums, grad, q, k, v):
    sizes = g.queries * g.width, g.keys * g.width, g.keys * g.values
    rows = g.heads * g.queries
    if rows * g.keys == 0:
        return of_all(g, [np.zeros(g.heads * size, q.dtype) for size in sizes], q, k, v)
    lines = [plain(x).reshape(-1) for x in (q, k, v, grad)]
    terms, kept, found = terms_of(mask, q.dtype), plain(sums).reshape(-1), np.empty(2 * rows, q.dtype)
    of_rows = kept[:rows], found[:rows], found[rows:]
    across, per_thread = flash.wide(q.dtype), room(g, q.dtype)
    work = 4 * rows * g.keys * (g.width + g.values)
    threads = 1 if work < flash.ALONE else team.size()
    work_lines = workspace(q.dtype, threads * per_thread)
    masked = terms.size > 1 or terms[0] != 0
    shared = *lines, terms, g, q.dtype.type(g.scale), masked, of_rows, work_lines, per_thread
    everything = shared, plain(result).reshape(-1), kept[rows:]
    tiles = -(-g.queries // across), -(-g.keys // across)
    by_heads = g.heads % threads == 0 and g.width % (VECTORS * vector_width(q.dtype)) == 0
    parts = [new((g.heads * size,), q.dtype) for size in sizes]
    if by_heads:
        _backward_by_heads(everything, *parts, tiles[1], threads, work // 250, team.members())
    else:
        tasks = tuple(g.heads * flash.rows_of_tiles(count, g.causal) for count in tiles)
        _backward(everything, *parts, tiles, tasks, threads, work // 200, team.members())
    return of_all(g, parts, q, k, v)


@cached_njit(error_model="numpy")
def _backward_by_heads(everything, of_q, of_k, of_v, tiles, threads, least, team):
    share(_head, (everything, of_q, of_k, of_v, tiles), everything[0][5].heads, threads, least, team)


@inner_njit(error_model="numpy")
def _head(arguments, task, who):
    everything, of_q, of_k, of_v, tiles = arguments
    shared, g, scale = everything[0], everything[0][5], everything[0][6]
    _along(everything, task, who)
    start, stop = task * g.queries * g.width, (task + 1) * g.queries * g.width
    of_q[start:stop] = 0
    for tile in range(tiles):
        _tile_for_k(shared, of_q, of_k, of_v, task, tile, who)
    of_head = of_q[start:stop]
    for i in range(of_head.size):
        of_head[i] *= scale


@cached_njit(error_model="numpy")
def _backward(everything, of_q, of_k, of_v, tiles, tasks, threads, least, team):
    shared = everything[0]
    share(_along, everything, shared[5].heads, threads, least, team)
    share(_rows_for_q, (shared, of_q, tiles[0]), tasks[0], threads, least, team)
    share(_rows_for_k, (shared, of_k, of_v, tiles[1]), tasks[1], threads, least, team)


@inner_njit(error_model="numpy")
def _along(everything, head, who):
    """Of each query of a head d, the sum of gradient * result, and what its weights are multiplied by: 1 / their
    sum."""
    shared, result, sums = everything
    grad, g, (_, inverse, inner) = shared[3], shared[5], shared[8]
    for row in range(head * g.queries, (head + 1) * g.queries):
        inverse[row] = grad.dtype.type(1) / sums[row] if sums[row] != 0 else 0
        inner[row] = dot(grad, row * g.values, result, row * g.values, g.values)


@inner_njit(error_model="numpy")
def _rows_for_q(arguments, task, who):
    shared, of_q, tiles = arguments
    head, tile, partner = tiles_of(task, tiles, shared[5].causal)
    _tile_for_q(shared, of_q, head, tile, who)
    if partner != tile:
        _tile_for_q(shared, of_q, head, partner, who)


@inner_njit(error_model="numpy")
def _rows_for_k(arguments, task, who):
    shared, of_k, of_v, tiles = arguments
    head, tile, partner = tiles_of(task, tiles, shared[5].causal)
    _tile_for_k(shared, of_k[:0], of_k, of_v, head, tile, who)
    if partner != tile:
        _tile_for_k(shared, of_k[:0], of_k, of_v, head, partner, who)


@inner_njit(error_model="numpy")
def _tile_for_q(shared, of_q, head, tile, who):
    """The gradient of a tile of queries: they are the lanes, keys go by."""
    q, k, v, grad, mask, g, scale, masked, (tops, inverse, inner), lines, per_thread = shared
    line, across, one = memory(lines), QUERIES * lanes(lines), lines.dtype.type(1)
    q_start = tile * across
    count = min(across, g.queries - q_start)
    q_tile = who * per_thread
    arrived = q_tile + g.width * across
    scores = arrived + g.values * across
    slopes = scores + KEYS * across
    result = slopes + KEYS * across
    ones = result + g.width * across
    largest, along = ones + across, ones + 2 * across
    share, spare = ones + 3 * across, ones + 4 * across
    row = head * g.queries + q_start
    log2_e = lines.dtype.type(LOG2_E)
    transpose_in(memory(q), g.of_q[head] + q_start * g.width, g.width, count, scale * log2_e, line, q_tile, across)
    transpose_in(memory(grad), row * g.values, g.values, count, one, line, arrived, across)
    for i in range(across):
        line[ones + i] = one
        line[largest + i] = tops[row + i] if i < count else 0
        line[along + i] = inner[row + i] if i < count else 0
        line[share + i] = inverse[row + i] if i < count else 0
    fill(line, result, g.width * across, line.dtype.type(0))
    k_stop = min(g.keys, q_start + count) if g.causal else g.keys
    for k_start in range(0, k_stop, KEYS):
        block_keys = min(KEYS, k_stop - k_start)
        keys, values = g.of_k[head] + k_start * g.width, g.of_v[head] + k_start * g.values
        products(memory(k), keys, g.width, 1, block_keys, g.width, line, q_tile, scores, across, count)
        if g.causal and k_start + block_keys > q_start + 1:
            hide_later(line, scores, across, block_keys, k_start - q_start)
        if masked:
            mask_start = g.of_mask[head] + q_start * g.mask_row + k_start * g.mask_column
            flash.add_mask(
                memory(mask), mask_start, g.mask_column, g.mask_row, block_keys, count, line, scores, across, spare
            )
        products(memory(v), values, g.values, 1, block_keys, g.values, line, arrived, slopes, across, count)
        width = lanes(lines)
        for r in range(block_keys):
            for i in range(0, count, width):
                score = scores + r * across + i
                weight = load(line, share + i) * exp2(load(line, score) - load(line, largest + i))
                store(line, score, weight * (load(line, slopes + r * across + i) - load(line, along + i)))
        add_products(memory(k), keys, g.width, block_keys, line, scores, result, ones, across, count)
    fill(line, ones, across, scale)
    transpose_out(line, result, across, g.width, count, line, ones, memory(of_q), row * g.width)


@inner_njit(error_model="numpy")
def _tile_for_k(shared, of_q, of_k, of_v, head, tile, who):
    """The gradients of a tile of keys and their values: they are the lanes, queries go by.

    What it adds to that of q, but for the scale, is added to of_q, if this has any elements."""
    q, k, v, grad, mask, g, scale, masked, (tops, inverse, inner), lines, per_thread = shared
    line, across, one = memory(lines), QUERIES * lanes(lines), lines.dtype.type(1)
    k_start = tile * across
    count = min(across, g.keys - k_start)
    k_tile = who * per_thread
    values = k_tile + g.width * across
    scores = values + g.values * across
    slopes = scores + KEYS * across
    for_k = slopes + KEYS * across
    for_v = for_k + g.width * across
    ones = for_v + g.values * across
    spare = ones + across
    log2_e = lines.dtype.type(LOG2_E)
    transpose_in(memory(k), g.of_k[head] + k_start * g.width, g.width, count, scale * log2_e, line, k_tile, across)
    transpose_in(memory(v), g.of_v[head] + k_start * g.values, g.values, count, one, line, values, across)
    fill(line, ones, across, one)
    fill(line, for_k, (g.width + g.values) * across, line.dtype.type(0))
    for q_start in range(k_start if g.causal else 0, g.queries, KEYS):
        block_queries = min(KEYS, g.queries - q_start)
        row = head * g.queries + q_start
        queries, arrived = g.of_q[head] + q_start * g.width, row * g.values
        products(memory(q), queries, g.width, 1, block_queries, g.width, line, k_tile, scores, across, count)
        if g.causal:
            hide_earlier(line, scores, across, block_queries, q_start - k_start)
        if masked:
            mask_start = g.of_mask[head] + q_start * g.mask_row + k_start * g.mask_column
            flash.add_mask(
                memory(mask), mask_start, g.mask_row, g.mask_column, block_queries, count, line, scores, across, spare
            )
        products(memory(grad), arrived, g.values, 1, block_queries, g.values, line, values, slopes, across, count)
        width = lanes(lines)
        for r in range(block_queries):
            top, share, along = tops[row + r], inverse[row + r], inner[row + r]
            for i in range(r * across, r * across + count, width):
                weight = share * exp2(load(line, scores + i) - top)
                store(line, scores + i, weight)
                store(line, slopes + i, weight * (load(line, slopes + i) - along))
        add_products(memory(grad), arrived, g.values, block_queries, line, scores, for_v, ones, across, count)
        add_products(memory(q), queries, g.width, block_queries, line, slopes, for_k, ones, across, count)
        if of_q.size:
            keys = g.of_k[head] + k_start * g.width
            add_to_rows(
                memory(of_q), row * g.width, g.width, block_queries, line, slopes, across, count, memory(k), keys
            )
    k_row = head * g.keys + k_start
    transpose_out(line, for_v, across, g.values, count, line, ones, memory(of_v), k_row * g.values)
    fill(line, ones, across, scale)
    transpose_out(line, for_k, across, g.width, count, line, ones, memory(of_k), k_row * g.width)


@inner_njit()
def add_to_rows(out, out_start, columns, rows, line, line_start, across, depth, matrix, matrix_start):
    """out[r, :] from `out_start` on += the sum over p < depth of line[line_start + r across + p] * matrix[p, :] from
    `matrix_start` on.

    columns: of out and matrix, a multiple of VECTORS vectors.
    """
    for c in range(0, columns, VECTORS * lanes(line)):
        full_rows = rows - rows % ROWS
        for r in range(0, full_rows, ROWS):
            acc = tile_load(out, out_start + r * columns + c, columns, ROWS, VECTORS)
            acc = tile_multiply_add(
                acc, depth, line, line_start + r * across, (across, 1), matrix, matrix_start + c, columns
            )
            tile_store(out, out_start + r * columns + c, columns, acc)
        for r in range(full_rows, rows):
            row_acc = tile_load(out, out_start + r * columns + c, columns, 1, VECTORS)
            row_acc = tile_multiply_add(
                row_acc, depth, line, line_start + r * across, (across, 1), matrix, matrix_start + c, columns
            )
            tile_store(out, out_start + r * columns + c, columns, row_acc)


@inner_njit()
def hide_earlier(line, scores, across, queries, ahead):
    """-inf for the scores of queries that come before their key. ahead: the first query's place minus the first
    key's."""
    nothing = broadcast(line.dtype.type(-np.inf))
    for r in range(min(queries, across - 1 - ahead)):
        for i in range(0, across, lanes(line)):
            index = scores + r * across + i
            store(line, index, first_lanes(ahead + r + 1 - i, load(line, index), nothing))
