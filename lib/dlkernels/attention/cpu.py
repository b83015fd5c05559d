"""Attention on the CPU.

The ladder of scaled_dot_product_attention  what the rung adds
    attention_naive        the formula: a product, a softmax, a product; all scores are kept
    attention_rows         one query at a time: only its row of scores is kept; all cores
    attention_online       no row either: largest score and sum are corrected as the keys go by
    attention_tiles        48 queries and 64 keys at a time: products in registers, our own exponential (flash.py)
    attention_causal       tiles of which no query may look at a key are skipped; a task has a short and a long row of
                           tiles

Memory is what separates them (`extra_bytes`): the first needs all scores, queries x keys for each head, the last the
same few tiles for any length.
"""

import functools
import math

import numpy as np
from numba import njit, prange

from .. import team
from ..convolution.reference import widened
from ..host import plain
from ..implementations import implementation
from ..matrix.backward import product
from ..simd.cache import cached_njit
from . import flash, split

CONTRACT, REASSOCIATE = {"contract"}, {"contract", "reassoc"}


def on_heads(rung):
    """Let `rung(q, k, v, mask, g, out)`, written for contiguous lines of memory and a mask of terms, take all arrays.

    mask: a line of numbers to add to scores, of one element where there is none. A result of no elements never reaches
    the rung.
    """

    @functools.wraps(rung)
    def wrapper(mask, shape, g, q, k, v):
        out = np.zeros(shape, q.dtype)
        if out.size and g.keys:
            rung(*(plain(x).reshape(-1) for x in (q, k, v)), terms_of(mask, q.dtype), g, out.reshape(-1))
        return out

    return wrapper


def terms_of(mask, dtype):
    """A mask as a line of numbers to be added to scores: 0 where True and -inf where False, as PyTorch has it."""
    if mask is None:
        return np.zeros(1, dtype)
    if mask.dtype == np.bool:
        return np.where(mask, dtype.type(0), dtype.type(-np.inf)).reshape(-1)
    return plain(mask).reshape(-1)


def extra_bytes(name, g, dtype=np.float32, threads=None):
    """Bytes that a rung of this ladder keeps beside its arguments and its result, while it runs on so many threads.

    name: of the rung. g: the `geometry.Geometry` of the call. threads: None for all that it would use.
    """
    threads = team.size() if threads is None else threads
    numbers = {
        "attention_naive": g.heads * g.queries * g.keys,
        "attention_rows": threads * g.keys,
        "attention_online": 0,
        "attention_tiles": threads * flash.room(g, dtype),
        "attention_causal": threads * flash.room(g, dtype),
        "attention_split": split_room(g, dtype, threads) if few(g, dtype) else threads * flash.room(g, dtype),
    }
    return numbers[name] * np.dtype(dtype).itemsize


# ---- 1: the formula ----------------------------------------------------------------------------------------------


@implementation(
    "scaled_dot_product_attention",
    device="cpu",
    adds="the formula: a product of matrices, a softmax, another product; the scores of all heads are kept",
)
@on_heads
def attention_naive(q, k, v, mask, g, out):
    scores = np.empty((g.heads, g.queries, g.keys), q.dtype)
    result, later = out.reshape(g.heads, g.queries, g.values), np.triu_indices(g.queries, 1, g.keys)
    with np.errstate(invalid="ignore", over="ignore"):
        for h in range(g.heads):
            queries = q[g.of_q[h] : g.of_q[h] + g.queries * g.width].reshape(g.queries, g.width)
            keys = k[g.of_k[h] : g.of_k[h] + g.keys * g.width].reshape(g.keys, g.width)
            scores[h] = product(queries, keys.T)
            scores[h] *= q.dtype.type(g.scale)
            steps = (g.mask_row * mask.itemsize, g.mask_column * mask.itemsize)
            scores[h] += np.lib.stride_tricks.as_strided(mask[g.of_mask[h] :], (g.queries, g.keys), steps)
            if g.causal:
                scores[h][later] = -np.inf
        top = scores.max(axis=2, keepdims=True)
        top[top == -np.inf] = 0  # a query that may look at no key: exponentials of -inf, not of NaN
        np.subtract(scores, top, out=scores)
        np.exp(scores, out=scores)
        sums = scores.sum(axis=2, keepdims=True)
        sums[sums == 0] = 1
        scores /= sums
        for h in range(g.heads):
            values = v[g.of_v[h] : g.of_v[h] + g.keys * g.values].reshape(g.keys, g.values)
            result[h] = product(scores[h], values) if g.values else 0


# ---- 2: a query at a time ----------------------------------------------------------------------------------------


@njit(fastmath=REASSOCIATE)
def dot(a, a_start, b, b_start, n):
    """The sum of n products, in an order that the compiler chooses."""
    a, b = (
        a[a_start : a_start + n],
        b[b_start : b_start + n],
    )  # indices from 0: an `a_start + i` might be negative, and costs the vectors
    result = a.dtype.type(0)
    for i in range(n):
        result += a[i] * b[i]
    return result


@njit(fastmath=CONTRACT)
def add_scaled(factor, source, source_start, target, target_start, n):
    """target += factor * source for n numbers."""
    source, target = source[source_start : source_start + n], target[target_start : target_start + n]
    for i in range(n):
        target[i] += factor * source[i]


@cached_njit(parallel=True, error_model="numpy")
def _rows(q, k, v, mask, g, scale, out):
    for job in prange(g.heads * g.queries):
        h, i = job // g.queries, job % g.queries
        row = np.empty(g.keys, q.dtype)
        keys = min(i + 1, g.keys) if g.causal else g.keys
        top = q.dtype.type(-np.inf)
        for j in range(keys):
            k_start = g.of_k[h] + j * g.width
            score = scale * dot(q, g.of_q[h] + i * g.width, k, k_start, g.width)
            score += mask[g.of_mask[h] + i * g.mask_row + j * g.mask_column]
            row[j] = score
            top = score if score > top or score != score else top
        if top != -np.inf:
            total = q.dtype.type(0)
            for j in range(keys):
                row[j] = math.exp(row[j] - top)
                total += row[j]
            for j in range(keys):
                v_start, weight = g.of_v[h] + j * g.values, row[j] / total
                add_scaled(weight, v, v_start, out, job * g.values, g.values)


@implementation(
    "scaled_dot_product_attention",
    device="cpu",
    adds="one query at a time: its row of scores becomes weights and is forgotten; all cores share the queries",
)
@on_heads
def attention_rows(q, k, v, mask, g, out):
    _rows(q, k, v, mask, g, q.dtype.type(g.scale), out)


# ---- 3: online ---------------------------------------------------------------------------------------------------


@cached_njit(parallel=True, error_model="numpy")
def _online(q, k, v, mask, g, scale, out):
    for job in prange(g.heads * g.queries):
        h, i = job // g.queries, job % g.queries
        keys = min(i + 1, g.keys) if g.causal else g.keys
        top, total = q.dtype.type(-np.inf), q.dtype.type(0)
        for j in range(keys):
            k_start = g.of_k[h] + j * g.width
            score = scale * dot(q, g.of_q[h] + i * g.width, k, k_start, g.width)
            score += mask[g.of_mask[h] + i * g.mask_row + j * g.mask_column]
            if score == -np.inf:
                continue
            if score > top:
                # what is there so far was weighed too heavily
                correction = math.exp(top - score)
                total *= correction
                for c in range(g.values):
                    out[job * g.values + c] *= correction
                top = score
            weight = math.exp(score - top)
            total += weight
            v_start = g.of_v[h] + j * g.values
            add_scaled(weight, v, v_start, out, job * g.values, g.values)
        if total != 0:
            for c in range(g.values):
                out[job * g.values + c] /= total


@implementation(
    "scaled_dot_product_attention",
    device="cpu",
    adds="no row of scores: the largest so far, the sum and the result are corrected when a larger score comes",
)
@on_heads
def attention_online(q, k, v, mask, g, out):
    _online(q, k, v, mask, g, q.dtype.type(g.scale), out)


# ---- 4, 5: tiles (flash.py) --------------------------------------------------------------------------------------


@implementation(
    "scaled_dot_product_attention",
    device="cpu",
    adds="tiles of queries and keys: scores and results grow in registers, an exponential for a vector of queries at "
    "once",
)
@on_heads
def attention_tiles(q, k, v, mask, g, out):
    flash.attend(q, k, v, mask, g, out, skip=False)


@implementation(
    "scaled_dot_product_attention",
    device="cpu",
    adds="causal: what lies beyond the diagonal is not computed; a task has a short and a long row of tiles, so all "
    "are alike",
)
@on_heads
def attention_causal(q, k, v, mask, g, out):
    flash.attend(q, k, v, mask, g, out, skip=True)


@implementation(
    "scaled_dot_product_attention",
    device="cpu",
    adds="few queries: lanes are columns, heads that share keys read them once, and parts of the keys are merged in "
    "the end",
    public=True,
)
@on_heads
def attention_split(q, k, v, mask, g, out):
    if few(g, out.dtype):
        split.attend(split.plan_of(g), q, k, v, None, None, mask, out)
    else:
        flash.attend(q, k, v, mask, g, out, skip=True)


@implementation(
    "attention_half",
    device="cpu",
    adds="numbers of 16 bits become float32 first; then as scaled_dot_product_attention",
    dtypes=("float32",),
    public=True,
)
def attention_half_widened(mask, g, q, k, v, out):
    return attention_split(mask, out.shape, g, *(widened(x) for x in (q, k, v)))


def few(g, dtype):
    """Whether so few queries leave most lanes of flash.py's tiles empty."""
    return g.queries <= flash.wide(dtype) // 6


def split_room(g, dtype, threads):
    """Numbers that attention_split keeps: a line for each thread, and the results of each split."""
    plan = split.plan_of(g)
    return threads * split.room(plan, dtype, 0) + split.splits_for(plan, threads) * plan.groups * plan.rows * (
        g.values + 1
    )


# ---- with what its gradients need ------------------------------------------------------------------------------------


@implementation(
    "attention_with_sums",
    device="cpu",
    adds="as attention_causal; the largest score and the sum of each query are written, too",
    public=True,
)
def attention_with_sums(mask, shape, g, q, k, v):
    out, sums = np.zeros(shape, q.dtype), np.zeros((2, *shape[:-1]), q.dtype)
    sums[0] = np.finfo(q.dtype).min
    if sums.size and g.keys:
        lines = [plain(x).reshape(-1) for x in (q, k, v)]
        flash.run(*lines, terms_of(mask, q.dtype), g, out.reshape(-1), sums.reshape(-1), skip=True)
    return out, sums


# ---- modifiers ---------------------------------------------------------------------------------------------------


@implementation(
    "flex_attention",
    device="cpu",
    adds="functions of a score and its places compiled into the loop over tiles; tiles where nobody may look are "
    "skipped",
    public=True,
)
def flex_tiles(score_mod, block_mask, shape, g, q, k, v):
    out = np.zeros(shape, q.dtype)
    if out.size and g.keys:
        lines = [plain(x).reshape(-1) for x in (q, k, v)]
        sums = np.empty(0, q.dtype)
        mods = modifiers_of(score_mod, block_mask, g, shape[-3] if len(shape) > 2 else 1, q.dtype)
        flash.run(*lines, np.zeros(1, q.dtype), g, out.reshape(-1), sums, False, mods)
    return out


def modifiers_of(score_mod, block_mask, g, heads, dtype):
    """`mods` of flash.run; heads: of a batch."""
    if block_mask is None:
        return None if score_mod is None else (flash.Modifiers(score_mod, None), heads, None, None)
    kinds = block_mask.kinds(dtype)
    of_all = np.arange(kinds.shape[0] * kinds.shape[1]).reshape(kinds.shape[:2]) * (kinds.shape[2] * kinds.shape[3])
    of_heads = np.broadcast_to(of_all, (g.heads // heads, heads)).reshape(-1)
    return flash.Modifiers(score_mod, block_mask.mask_mod), heads, plain(kinds).reshape(-1), plain(of_heads)
