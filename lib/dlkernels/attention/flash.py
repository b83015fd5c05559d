"""Attention by tiles: no score is ever written to an array that grows with the number of keys.

After Dao and others, FlashAttention (2022), with the online softmax of Milakov and Gimelshein (2018), on a CPU's
vectors. The lanes of a vector are queries, so that the largest score and the sum of each query are found lane by lane,
without adding up the lanes of a vector::

    for each tile of queries, QUERIES vectors wide             a task of the team; its queries are transposed once
        for KEYS keys at a time
            scores[key, query]  = k[key, :] . q[:, query]         a product: tiles of ROWS keys in registers
            top, factor         = the new largest score of each query, and what older terms are multiplied by
            scores              = 2^(scores - top)                   our own exponential
            result[c, query]    = result * factor + v[:, c] . scores  a product: tiles of ROWS columns of v in registers
        result / sum is transposed into its place

Scores are multiplied by log2(e) with the scale, so that the exponential is a power of two. A largest score begins at
the least finite number, not at -inf: then there is no difference of two infinities, and a query that may look at no key
ends with a sum of zero.

Modifiers (modifiers.py) are functions compiled into this loop. `mods`: None, or (`Modifiers`, heads in a batch, the
kinds of all tiles in a line, for each head where its kinds begin): tiles where nobody may look are skipped.
"""

import numpy as np
from numba import njit, types
from numba.extending import NativeValue, models, overload, register_model, typeof_impl, unbox

from .. import team
from ..host import workspace
from ..matrix.blocks import REGISTERS
from ..simd import broadcast, first_lanes, lanes, larger, load, smaller, store, vector_width, where
from ..simd.cache import cached_njit
from ..simd.exponential import LOG2_E, exp2
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..simd.pack import pack
from ..simd.tile import tile_load, tile_multiply_add, tile_scale, tile_store, tile_zeros
from ..team import share

QUERIES = 3  # vectors of queries in a tile
ROWS = (REGISTERS - QUERIES - 1) // QUERIES // 4 * 4  # 8 of 32 registers, 4 of 16; both divide most widths
LEFT = 8  # rows where only one vector is in use: enough sums that none waits for the one before it
KEYS = 64  # keys of a tile: what is computed from them stays in the L1 cache
MASKED = 16  # rows of a mask that are turned over at a time: all lanes of a vector
NOBODY, SOME, ALL = 0, 1, 2  # kinds of tiles: how many of the queries may look at how many of the keys
ALONE = 1 << 17  # multiply-adds below which waking another thread costs more than it gains


def wide(dtype):
    """Queries in a tile."""
    return QUERIES * vector_width(dtype)


def room(g, dtype):
    """Numbers that one thread needs: transposed queries, scores, results; of each query the largest score, sum, factor;
    a part of a mask."""
    return (g.width + KEYS + g.values + 3 + MASKED) * wide(dtype)


def attend(q, k, v, mask, g, out, skip):
    """out = the attention of contiguous lines of memory. skip: whether tiles beyond the diagonal are left out."""
    sums = np.empty(0, out.dtype)
    run(q, k, v, mask, g, out, sums, skip)


def run(q, k, v, mask, g, out, sums, skip, mods=None):
    """The same; sums: of no element, or room for the largest score (to base 2) of each query and, after all these, the
    sum of each one's weights. Their logarithm would be one number, but beside a score of finfo.min the sum has no digit
    in it.
    """
    tiles, paired = -(-g.queries // wide(out.dtype)), skip and g.causal
    tasks = g.heads * rows_of_tiles(tiles, paired)
    work = g.heads * g.queries * g.keys * (g.width + g.values) // (2 if paired else 1)
    threads = 1 if work < ALONE else team.size()
    per_thread = room(g, out.dtype)
    lines = workspace(out.dtype, threads * per_thread)
    # A score_mod sees scores before they are multiplied by log2(e).
    modified = mods is not None and mods[0].score_mod is not None
    scale = out.dtype.type(g.scale if modified else g.scale * LOG2_E)
    masked = mask.size > 1 or mask[0] != 0
    everything = q, k, v, mask, g, scale, masked, skip, out, sums, lines, per_thread, mods
    attend_tiles = _attend if mods is None else _attend_modified
    attend_tiles(everything, tiles, paired, tasks, threads, work // 100, team.members())


@cached_njit(error_model="numpy")
def _attend(everything, tiles, paired, tasks, threads, least, team):
    share(_rows_of_tiles, (everything, tiles, paired), tasks, threads, least, team)


_attend_modified = njit(error_model="numpy")(_attend.py_func)  # not kept on disk: it holds functions of the caller's


def rows_of_tiles(tiles, paired):
    """Tasks of a head: a tile each, or two."""
    return -(-tiles // 2) if paired else tiles


@inner_njit()
def tiles_of(task, tiles, paired):
    """(head, tile, another tile or the same) of a task. In a triangle tiles t and last - t together are as long for all
    t."""
    if paired:
        half = (tiles + 1) // 2
        return task // half, task % half, tiles - 1 - task % half
    return task // tiles, task % tiles, task % tiles


@inner_njit(error_model="numpy")
def _rows_of_tiles(arguments, task, who):
    everything, tiles, paired = arguments
    head, tile, partner = tiles_of(task, tiles, paired)
    _tile(everything, head, tile, who)
    if partner != tile:
        _tile(everything, head, partner, who)


@inner_njit(error_model="numpy")
def _tile(everything, head, tile, who):
    """The results of one tile of queries."""
    q, k, v, mask, g, scale, masked, skip, out, sums, lines, per_thread, mods = everything
    line, across = memory(lines), QUERIES * lanes(out)
    from_k, from_v, q_start = memory(k), memory(v), tile * across
    count = min(across, g.queries - q_start)
    q_tile = who * per_thread
    scores = q_tile + g.width * across
    result = scores + KEYS * across
    top = result + g.values * across
    summed, factor, spare = top + across, top + 2 * across, top + 3 * across
    transpose_in(memory(q), g.of_q[head] + q_start * g.width, g.width, count, scale, line, q_tile, across)
    least, zero = line.dtype.type(np.finfo(line.dtype).min), line.dtype.type(0)
    fill(line, top, across, least)
    fill(line, summed, across, zero)
    fill(line, result, g.values * across, zero)
    k_stop = min(g.keys, q_start + count) if skip and g.causal else g.keys
    for k_start in range(0, k_stop, KEYS):
        keys = min(KEYS, k_stop - k_start)
        kind = kind_of(mods, head, tile, k_start // KEYS, g.keys)
        if kind == NOBODY:
            continue
        k_row = g.of_k[head] + k_start * g.width
        of_k = k_row, g.width, 1, keys, g.width
        products(from_k, *of_k, line, q_tile, scores, across, count)
        if g.causal and k_start + keys > q_start + 1:
            hide_later(line, scores, across, keys, k_start - q_start)
        if masked:
            row, column = g.mask_row, g.mask_column
            mask_start = g.of_mask[head] + q_start * row + k_start * column
            terms = memory(mask), mask_start, column, row, keys, count
            add_mask(*terms, line, scores, across, spare)
        modify(mods, kind, line, scores, across, head, q_start, k_start, keys, count)
        weigh(line, scores, across, count, keys, top, summed, factor)
        v_row, values = g.of_v[head] + k_start * g.values, g.values
        target = scores, result, factor, across, count
        add_products(from_v, v_row, values, keys, line, *target)
    for i in range(count):
        if sums.size:
            row = head * g.queries + q_start + i
            sums[row], sums[g.heads * g.queries + row] = line[top + i], line[summed + i]
        line[factor + i] = line.dtype.type(1) / line[summed + i] if line[summed + i] != 0 else zero
    transpose_out(
        line, result, across, g.values, count, line, factor, memory(out), (head * g.queries + q_start) * g.values
    )


# ---- its steps -----------------------------------------------------------------------------------------------------


@inner_njit()
def fill(line, start, count, value):
    """The value in `count` numbers, a multiple of the lanes, from `start` on."""
    vector = broadcast(value)
    for i in range(0, count, lanes(line)):
        store(line, start + i, vector)


@inner_njit()
def transpose_in(source, source_start, width, count, scale, line, line_start, across):
    """line[c, i] = scale * source[i, c] for `count` rows; zeros for the lanes that are left."""
    n_full = count - count % lanes(line)
    if n_full < across:
        for c in range(width):
            fill(line, line_start + c * across + n_full, across - n_full, line.dtype.type(0))
    pack(source, source_start, 1, width, width, count, line, line_start, across)
    for i in range(0, width * across, lanes(line)):
        store(line, line_start + i, scale * load(line, line_start + i))


@inner_njit()
def transpose_out(line, result, across, width, count, factors, factor, out, to):
    """out[i, c] = factor[i] * result[c, i] for `count` rows; the result is changed."""
    for v in range(0, across, lanes(line)):
        scale = load(factors, factor + v)
        for c in range(width):
            store(line, result + c * across + v, scale * load(line, result + c * across + v))
    pack(line, result, 1, across, count, width, out, to, width)


def _products(rows_of_tile, vectors):
    """`products` by tiles of so many rows and vectors: constants, as registers have no numbers at run time."""

    @inner_njit()
    def of_rows(matrix, matrix_start, row, step, rows, depth, line, line_start, out_start, across):
        r = 0
        while r < rows:
            if rows >= rows_of_tile:
                r = min(r, rows - rows_of_tile)
                acc = tile_zeros(line, rows_of_tile, vectors)
                acc = tile_multiply_add(
                    acc, depth, matrix, matrix_start + r * row, (row, step), line, line_start, across
                )
                tile_store(line, out_start + r * across, across, acc)
                r += rows_of_tile
            else:
                row_acc = tile_zeros(line, 1, vectors)
                row_acc = tile_multiply_add(
                    row_acc, depth, matrix, matrix_start + r * row, (row, step), line, line_start, across
                )
                tile_store(line, out_start + r * across, across, row_acc)
                r += 1

    return of_rows


def _add_products(columns_of_tile, vectors):
    """`add_products`, likewise."""

    @inner_njit()
    def to_columns(matrix, matrix_start, columns, depth, line, line_start, out_start, factor, across):
        c = 0
        while c + columns_of_tile <= columns:
            acc = tile_scale(tile_load(line, out_start + c * across, across, columns_of_tile, vectors), line, factor)
            acc = tile_multiply_add(acc, depth, matrix, matrix_start + c, (1, columns), line, line_start, across)
            tile_store(line, out_start + c * across, across, acc)
            c += columns_of_tile
        while c < columns:
            row_acc = tile_scale(tile_load(line, out_start + c * across, across, 1, vectors), line, factor)
            row_acc = tile_multiply_add(
                row_acc, depth, matrix, matrix_start + c, (1, columns), line, line_start, across
            )
            tile_store(line, out_start + c * across, across, row_acc)
            c += 1

    return to_columns


_products_1, _products_2, _products_3 = _products(LEFT, 1), _products(ROWS, 2), _products(ROWS, QUERIES)
_add_products_1, _add_products_2, _add_products_3 = (
    _add_products(LEFT, 1),
    _add_products(ROWS, 2),
    _add_products(ROWS, QUERIES),
)


@inner_njit()
def products(matrix, matrix_start, row, step, rows, depth, line, line_start, out_start, across, used):
    """line[r, :used] from `out_start` on = the sum over p < depth of matrix[matrix_start + r row + p step] *
    line[p, :used] from `line_start` on.

    What is left of whole tiles is reached by a last tile that begins earlier, where there are rows enough. used: lanes
    that hold a query; the last tile of a head may have fewer than the others, and vectors without one cost nothing.
    """
    if used > 2 * lanes(line):
        _products_3(matrix, matrix_start, row, step, rows, depth, line, line_start, out_start, across)
    elif used > lanes(line):
        _products_2(matrix, matrix_start, row, step, rows, depth, line, line_start, out_start, across)
    else:
        _products_1(matrix, matrix_start, row, step, rows, depth, line, line_start, out_start, across)


@inner_njit()
def add_products(matrix, matrix_start, columns, depth, line, line_start, out_start, factor, across, used):
    """line[c, :used] from `out_start` on = itself * factor + the sum over p < depth of
    matrix[matrix_start + p columns + c] * line[p, :used]."""
    if used > 2 * lanes(line):
        _add_products_3(matrix, matrix_start, columns, depth, line, line_start, out_start, factor, across)
    elif used > lanes(line):
        _add_products_2(matrix, matrix_start, columns, depth, line, line_start, out_start, factor, across)
    else:
        _add_products_1(matrix, matrix_start, columns, depth, line, line_start, out_start, factor, across)


@inner_njit()
def hide_later(line, scores, across, keys, ahead):
    """-inf for the scores of keys that come after their query. ahead: the first key's place minus the first query's."""
    nothing = broadcast(line.dtype.type(-np.inf))
    for r in range(max(0, 1 - ahead), keys):
        for i in range(0, across, lanes(line)):
            index = scores + r * across + i
            store(line, index, first_lanes(ahead + r - i, nothing, load(line, index)))


@inner_njit()
def add_mask(mask, mask_start, row, lane, rows, count, line, scores, across, spare):
    """scores + mask, which is multiplied by log2(e) as the scores are. row, lane: elements from one to the next. spare:
    place for MASKED rows."""
    for row_start in range(0, rows, MASKED):
        block_rows, scores_start = min(MASKED, rows - row_start), scores + row_start * across
        if lane == 0:
            for r in range(block_rows):
                fill(line, spare + r * across, across, mask[mask_start + (row_start + r) * row])
        else:
            pack(mask, mask_start + row_start * row, row, lane, block_rows, count, line, spare, across)
        for i in range(0, block_rows * across, lanes(line)):
            store(line, scores_start + i, load(line, scores_start + i) + in_base_2(line, load(line, spare + i)))


@inner_njit()
def in_base_2(line, terms):
    """terms * log2(e), of a vector; what is a number stays one: masks often have the least that there is."""
    most = line.dtype.type(np.finfo(line.dtype).max)
    product = line.dtype.type(LOG2_E) * terms
    return where(line.dtype.type(0) * terms, terms, smaller(larger(product, -most), most))  # 0 times an infinity is NaN


class Modifiers:
    """A score_mod and a mask_mod, njit functions or None, as an argument of compiled code: it is compiled for these
    two."""

    def __init__(self, score_mod, mask_mod):
        self.score_mod, self.mask_mod = score_mod, mask_mod


class ModifiersType(types.Opaque):
    """numba's type of `Modifiers`: it holds the functions, a value of it nothing."""

    def __init__(self, score_mod, mask_mod):
        self.score_mod, self.mask_mod = score_mod, mask_mod
        super().__init__(name=f"modifiers({id(score_mod)}, {id(mask_mod)})")


register_model(ModifiersType)(models.OpaqueModel)


@typeof_impl.register(Modifiers)
def _type_of_modifiers(modifiers, context):
    return ModifiersType(modifiers.score_mod, modifiers.mask_mod)


@unbox(ModifiersType)
def _unbox_modifiers(kind, value, context):
    return NativeValue(context.context.get_dummy_value())


def kind_of(mods, head, tile, k_tile, keys):
    """Whether nobody, some or all of a tile of queries may look at a tile of keys; all where nobody asks."""


@overload(kind_of)
def _kind_of(mods, head, tile, k_tile, keys):
    if mods == types.none or mods.types[0].mask_mod is None:
        return lambda mods, head, tile, k_tile, keys: ALL
    return lambda mods, head, tile, k_tile, keys: mods[2][mods[3][head] + tile * (-(-keys // KEYS)) + k_tile]


def modify(mods, kind, line, scores, across, head, q_start, k_start, keys, count):
    """Scores changed by score_mod, then -inf where mask_mod says no; lanes beyond `count` are nobody's."""


@overload(modify)
def _modify(mods, kind, line, scores, across, head, q_start, k_start, keys, count):
    def unchanged(mods, kind, line, scores, across, head, q_start, k_start, keys, count):
        pass

    if mods == types.none:
        return unchanged
    score_mod, mask_mod = mods.types[0].score_mod, mods.types[0].mask_mod

    def changed(mods, kind, line, scores, across, head, q_start, k_start, keys, count):
        b, h = head // mods[1], head % mods[1]
        for r in range(keys):
            row_start = np.uint64(scores + r * across)  # an index that might be negative would cost the vectors
            for i in range(np.uint64(count)):
                line[row_start + i] = line.dtype.type(
                    score_mod(line[row_start + i], b, h, q_start + np.int64(i), k_start + r)
                )
        for i in range(scores, scores + keys * across, lanes(line)):
            store(line, i, in_base_2(line, load(line, i)))

    def hidden(mods, kind, line, scores, across, head, q_start, k_start, keys, count):
        b, h = head // mods[1], head % mods[1]
        if kind == SOME:
            for r in range(keys):
                row_start = np.uint64(scores + r * across)
                for i in range(np.uint64(count)):
                    seen = mask_mod(b, h, q_start + np.int64(i), k_start + r)
                    line[row_start + i] = line[row_start + i] if seen else line.dtype.type(-np.inf)

    if mask_mod is None:
        return changed
    if score_mod is None:
        return hidden
    change, hide = njit(error_model="numpy")(changed), njit(error_model="numpy")(hidden)

    def both(mods, kind, line, scores, across, head, q_start, k_start, keys, count):
        change(mods, kind, line, scores, across, head, q_start, k_start, keys, count)
        hide(mods, kind, line, scores, across, head, q_start, k_start, keys, count)

    return both


@inner_njit()
def weigh(line, scores, across, used, keys, top, summed, factor):
    """Scores become weights 2^(score - largest); largest, sums and factors of all queries move on."""
    width = lanes(line)
    for v in range(0, used, width):
        before = load(line, top + v)
        new, odd = before, before  # two chains: each one waits for the one before it. The weight of a NaN is NaN, too
        for r in range(keys // 2):
            new = larger(load(line, scores + 2 * r * across + v), new)
            odd = larger(load(line, scores + (2 * r + 1) * across + v), odd)
        new = larger(load(line, scores + (keys - 1) * across + v), larger(new, odd))
        store(line, top + v, new)
        correction = exp2(before - new)
        total = correction * load(line, summed + v)
        for r in range(keys):
            weight = exp2(load(line, scores + r * across + v) - new)
            store(line, scores + r * across + v, weight)
            total = total + weight
        store(line, summed + v, total)
        store(line, factor + v, correction)
