"""Attention of few queries over many keys: decoding, where each new token asks all tokens before it.

Each number of keys and values is used for a few queries only, so reading them is the cost. flash.py would fill its 48
lanes with one query. Here the lanes of a vector are columns of a key or value, as they lie in memory::

    for each group of rows that look at the same keys          the heads that share keys, their queries: keys are read
                                                               once
        for each split of these keys                           a task of the team (split-KV)
            for KEYS keys at a time, never across two pages
                scores[row, key] = q[row, :] . k[key, :]            sums of products along the vector
                top, factor      = the new largest score of each row, and what older terms are multiplied by
                scores           = 2^(scores - top)
                result[row, :]   = result * factor + scores[row, :] . v   a product: tiles of rows and columns in
                                 registers
            result / sum, the sum and the largest score are kept for the split
        the splits' results are merged by these

After Dao and others, Flash-Decoding (2023). Keys and values may lie in pages, in any order (Kwon and others,
PagedAttention, 2023), and may be bytes, with a factor for each key and value: a tile of them is widened in the cache,
and only bytes travel.
"""

import math
from collections import namedtuple

import numpy as np
from numba import types
from numba.extending import overload

from .. import team
from ..host import workspace
from ..matrix.blocks import REGISTERS
from ..simd import broadcast, fma, lanes, load, load_bytes, maximum, reduce_add, reduce_max, store
from ..simd.cache import cached_njit
from ..simd.exponential import LOG2_E, exp2
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..simd.tile import tile_load, tile_multiply_add, tile_store
from ..team import share
from .flash import ALONE, add_mask

KEYS = 64  # keys of a tile: a multiple of all numbers of lanes
ROWS = 4 if REGISTERS == 32 else 2  # rows of a tile in registers
VECTORS = 4  # and its vectors of columns
MOST_ROWS = 32  # of a group: their queries, scores and results stay in the L1 cache
SHORTEST = 256  # keys of a split: below, the merge costs more than another thread gains

#: groups: of rows that look at the same keys; rows: of each, heads after heads, each with so many `queries`. width: of
#: a key, values: of a value. scale: what scores are multiplied by. of_q: for each head where its queries begin. page:
#: keys that lie one after the other. of_k, of_v (groups, pages): where each page begins. keys: of each group. ahead:
#: query i of a group looks at keys up to ahead + i. of_mask, mask_row, mask_column: as in geometry.Geometry.
Plan = namedtuple(
    "Plan", "groups rows queries width values scale of_q page of_k of_v keys ahead of_mask mask_row mask_column"
)


def largest_group(sharing, queries):
    """How many of the heads that share keys go through them together: a divisor of `sharing`."""
    fitting = (n for n in range(1, sharing + 1) if sharing % n == 0 and n * queries <= MOST_ROWS)
    return max(fitting, default=1)


def room(plan, dtype, tile):
    """Numbers that one thread needs: a widened tile, queries, scores, results, three of each row, a mask; whole
    lines."""
    numbers = tile + plan.rows * (plan.width + KEYS + plan.values + 3) + KEYS
    line = 64 // np.dtype(dtype).itemsize
    return -(-numbers // line) * line


def splits_for(plan, threads):
    """How many parts of the keys are worked on at a time: four tasks for each thread, if they are long enough."""
    if threads == 1:
        return 1
    return max(1, min(-(-4 * threads // plan.groups), int(plan.keys.max(initial=0)) // SHORTEST))


def plan_of(g):
    """The `Plan` of a `geometry.Geometry`: heads that lie next to each other and look at the same keys form groups."""
    same = (g.of_k[1:] == g.of_k[:-1]) & (g.of_v[1:] == g.of_v[:-1])
    sharing = int(np.argmin(same)) + 1 if same.size and not same.all() else max(1, g.heads)
    if g.heads % sharing or not same.reshape(-1)[np.arange(1, g.heads) % sharing > 0].all():
        sharing = 1
    packed = largest_group(sharing, g.queries)
    groups = g.heads // packed
    keys = np.full(groups, min(g.keys, g.queries) if g.causal else g.keys)
    ahead = np.full(groups, 0 if g.causal else g.keys)
    of_k, of_v = (np.ascontiguousarray(x[::packed, None]) for x in (g.of_k, g.of_v))
    places = g.of_q, g.keys, of_k, of_v, keys, ahead, g.of_mask
    return Plan(groups, packed * g.queries, g.queries, g.width, g.values, g.scale, *places, g.mask_row, g.mask_column)


def attend(plan, q, k, v, k_scale, v_scale, mask, out, splits=None):
    """out = the attention of contiguous lines of memory; the logarithm (natural) of each row's sum is returned.

    k_scale, v_scale: factors of keys and values that are bytes, or None. mask: terms of scores, of one element for
    none. splits: how many parts of the keys are worked on at a time; None to choose.
    """
    rows = plan.groups * plan.rows
    sums = np.full(rows, -np.inf, out.dtype)
    most = int(plan.keys.max(initial=0))
    if not rows or not most:
        return sums
    work = int(plan.keys.sum()) * plan.rows * (plan.width + plan.values)
    threads = 1 if work < ALONE else team.size()
    splits = splits_for(plan, threads) if splits is None else splits
    parts = out if splits == 1 else np.empty(splits * out.size, out.dtype)
    found = np.empty((2, splits * rows), out.dtype)  # the largest score (to base 2) of each row and split, and its sum
    tile = 0 if k_scale is None else KEYS * max(plan.width, plan.values)
    per_thread = room(plan, out.dtype, tile)
    line = workspace(out.dtype, threads * per_thread)
    masked = mask.size > 1 or mask[0] != 0
    everything = (
        (q, k, v, k_scale, v_scale, mask, masked),
        plan,
        out.dtype.type(plan.scale * LOG2_E),
        line,
        per_thread,
        tile,
    )
    _attend(everything, parts, *found, splits, out, sums, threads, work // 20, team.members())
    return sums


@cached_njit(error_model="numpy")
def _attend(everything, parts, tops, part_sums, splits, out, sums, threads, least, team):
    plan = everything[1]
    share(_split, (everything, parts, tops, part_sums, splits), plan.groups * splits, threads, least, team)
    for row in range(sums.size):
        _merge_splits(parts, tops, part_sums, splits, plan.rows, plan.values, row, out, sums)


@inner_njit(error_model="numpy")
def _merge_splits(parts, tops, part_sums, splits, rows, columns, row, out, sums):
    """A row's result from those of its splits: their mean, weighed by their sums of exponentials; and the logarithm of
    all."""
    first_row, top = row // rows * splits * rows + row % rows, tops.dtype.type(np.finfo(tops.dtype).min)
    for split_row in range(first_row, first_row + splits * rows, rows):
        top = tops[split_row] if tops[split_row] > top or tops[split_row] != tops[split_row] else top
    total = sums.dtype.type(0)
    for split_row in range(first_row, first_row + splits * rows, rows):
        part_sums[split_row] *= exp2(tops[split_row] - top)
        total += part_sums[split_row]
    if total == 0:
        return
    sums[row] = (top + math.log2(total)) / sums.dtype.type(LOG2_E)
    if splits > 1:
        target = out[row * columns : (row + 1) * columns]
        target[:] = 0
        for split_row in range(first_row, first_row + splits * rows, rows):
            weight = part_sums[split_row] / total
            part = parts[split_row * columns : (split_row + 1) * columns]
            for c in range(columns):
                target[c] += weight * part[c]


@inner_njit(error_model="numpy")
def _split(arguments, task, who):
    """The results of the rows of one group over one split of its keys, their largest scores (to base 2) and their
    sums."""
    everything, parts, tops, part_sums, splits = arguments
    (q, k, v, k_scale, v_scale, mask, masked), plan, scale, lines, per_thread, tile = everything
    group, split = task // splits, task % splits
    start, stop = plan.keys[group] * split // splits, plan.keys[group] * (split + 1) // splits
    line, rows, width, values = memory(lines), plan.rows, plan.width, plan.values
    wide = who * per_thread  # the tile comes first: vectors that lie across two cache lines take twice as long
    q_tile = wide + tile
    scores = q_tile + rows * width
    result = scores + rows * KEYS
    top = result + rows * values
    summed, factor, spare = top + rows, top + 2 * rows, top + 3 * rows
    least, zero = line.dtype.type(np.finfo(line.dtype).min), line.dtype.type(0)
    heads = rows // plan.queries
    for r in range(rows):
        query = plan.of_q[group * heads + r // plan.queries] + r % plan.queries * width
        source, target = q[query : query + width], line[q_tile + r * width : q_tile + (r + 1) * width]
        for c in range(width):
            target[c] = scale * source[c]
        line[top + r] = least
        line[summed + r] = zero
    for i in range(rows * values):
        line[result + i] = zero
    begin = start
    while begin < stop:
        page, inside = begin // plan.page, begin % plan.page
        block_keys = min(KEYS, stop - begin, plan.page - inside)
        keys, keys_at = fetch(k, plan.of_k[group, page] + inside * width, k_scale, block_keys, width, line, wide)
        for r in range(rows):
            dots(line, q_tile + r * width, keys, keys_at, block_keys, width, scores + r * KEYS)
            query = r % plan.queries
            for j in range(max(0, plan.ahead[group] + query + 1 - begin), block_keys):
                line[scores + r * KEYS + j] = -np.inf
            if masked:
                term = (
                    plan.of_mask[group * heads + r // plan.queries] + query * plan.mask_row + begin * plan.mask_column
                )
                add_mask(memory(mask), term, 0, plan.mask_column, 1, block_keys, line, scores + r * KEYS, KEYS, spare)
            weigh(line, scores + r * KEYS, block_keys, top + r, summed + r, factor + r)
            if line[factor + r] != 1:
                correction, row = line[factor + r], line[result + r * values : result + (r + 1) * values]
                for c in range(values):
                    row[c] *= correction
        of_values, values_at = fetch(
            v, plan.of_v[group, page] + inside * values, v_scale, block_keys, values, line, wide
        )
        add_products(line, scores, rows, of_values, values_at, block_keys, values, result)
        begin += block_keys
    for r in range(rows):
        total, out_row = line[summed + r], task * rows + r
        over = line.dtype.type(1) / total if total != 0 else zero
        tops[out_row], part_sums[out_row] = line[top + r], total
        source, target = line[result + r * values : result + (r + 1) * values], parts[out_row * values :][:values]
        for c in range(values):
            target[c] = over * source[c]


# ---- its steps -----------------------------------------------------------------------------------------------------


def fetch(source, start, factors, rows, width, line, line_start):
    """(line of memory, where) of a tile of rows: in their place, or, for bytes, widened into `line` and multiplied."""


@overload(fetch)
def _fetch(source, start, factors, rows, width, line, line_start):
    if factors == types.none:
        return lambda source, start, factors, rows, width, line, line_start: (memory(source), start)

    def widen(source, start, factors, rows, width, line, line_start):
        first_row = start // width if width else 0
        for r in range(rows):
            factor, i = factors[first_row + r], r * width
            end = i + width
            while i + lanes(line) <= end:
                store(line, line_start + i, factor * load_bytes(source, start + i, line))
                i += lanes(line)
            while i < end:
                line[line_start + i] = factor * line.dtype.type(source[start + i])
                i += 1
        return line, line_start

    return widen


@inner_njit()
def dots(line, query, keys, keys_start, count, width, out_start):
    """line[out_start + j] = the product of a query and key j; four keys at a time, so that four sums are under way."""
    across, j, zero = lanes(line), 0, line.dtype.type(0)
    while j + 4 <= count:
        a, b, c, d = broadcast(zero), broadcast(zero), broadcast(zero), broadcast(zero)
        key, i = keys_start + j * width, 0
        while i + across <= width:
            x = load(line, query + i)
            a = fma(x, load(keys, key + i), a)
            b = fma(x, load(keys, key + width + i), b)
            c = fma(x, load(keys, key + 2 * width + i), c)
            d = fma(x, load(keys, key + 3 * width + i), d)
            i += across
        e, f, g, h = reduce_add(a), reduce_add(b), reduce_add(c), reduce_add(d)
        while i < width:
            x = line[query + i]
            e += x * keys[key + i]
            f += x * keys[key + width + i]
            g += x * keys[key + 2 * width + i]
            h += x * keys[key + 3 * width + i]
            i += 1
        line[out_start + j], line[out_start + j + 1], line[out_start + j + 2], line[out_start + j + 3] = e, f, g, h
        j += 4
    while j < count:
        a, key, i = broadcast(zero), keys_start + j * width, 0
        while i + across <= width:
            a = fma(load(line, query + i), load(keys, key + i), a)
            i += across
        e = reduce_add(a)
        while i < width:
            e += line[query + i] * keys[key + i]
            i += 1
        line[out_start + j] = e
        j += 1


@inner_njit()
def weigh(line, scores, count, top, summed, factor):
    """Scores become weights 2^(score - largest); largest, sum and factor of their row move on."""
    across = lanes(line)
    padded = -(-count // across) * across
    for j in range(count, padded):
        line[scores + j] = -np.inf
    found = load(line, scores)
    for j in range(across, padded, across):
        found = maximum(found, load(line, scores + j))
    before, new = line[top], reduce_max(found)
    new = before if before > new else new  # NaN is not smaller: it stays
    total = broadcast(line.dtype.type(0))
    for j in range(0, padded, across):
        weight = exp2(load(line, scores + j) - new)
        store(line, scores + j, weight)
        total = total + weight
    older = exp2(before - new)  # what was added so far was weighed too heavily
    line[top], line[factor] = new, older
    line[summed] = line[summed] * older + reduce_add(total)


@inner_njit()
def add_products(line, weights, rows, matrix, matrix_start, depth, columns, result):
    """line[result + r columns + c] += the sum over p < depth of line[weights + r KEYS + p] *
    matrix[matrix_start + p columns + c]."""
    across, c = lanes(line), 0
    while c + VECTORS * across <= columns:
        r = 0
        while r + ROWS <= rows:
            many = tile_load(line, result + r * columns + c, columns, ROWS, VECTORS)
            many = tile_multiply_add(
                many, depth, line, weights + r * KEYS, (KEYS, 1), matrix, matrix_start + c, columns
            )
            tile_store(line, result + r * columns + c, columns, many)
            r += ROWS
        while r < rows:
            few = tile_load(line, result + r * columns + c, columns, 1, VECTORS)
            few = tile_multiply_add(few, depth, line, weights + r * KEYS, (KEYS, 1), matrix, matrix_start + c, columns)
            tile_store(line, result + r * columns + c, columns, few)
            r += 1
        c += VECTORS * across
    while c + across <= columns:
        for r in range(rows):
            sums = tile_load(line, result + r * columns + c, columns, 1, 1)
            sums = tile_multiply_add(
                sums, depth, line, weights + r * KEYS, (KEYS, 1), matrix, matrix_start + c, columns
            )
            tile_store(line, result + r * columns + c, columns, sums)
        c += across
    while c < columns:
        for r in range(rows):
            total = line[result + r * columns + c]
            for p in range(depth):
                total += line[weights + r * KEYS + p] * matrix[matrix_start + p * columns + c]
            line[result + r * columns + c] = total
        c += 1
