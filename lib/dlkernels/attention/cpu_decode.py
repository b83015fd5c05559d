"""Decoding on the CPU: the newest queries of each sequence over its cache of keys and values.

The ladder of decode_attention       what the rung adds
    decode_gathered     the formula, head by head, on a copy of the keys and values that are there
    decode_in_place     no copy: pages and bytes are read where they lie, lanes are columns; each head reads for itself
    decode_packed       heads that share keys go through them together: the cache is read once for all of them
    decode_split        the keys of a head are shared out over the cores too, and the partial results merged (split.py)

merge_attention merges two partial results: attention over some keys, and over others.
"""

import numpy as np

from ..host import plain
from ..implementations import implementation
from ..matrix.backward import product
from . import split


def decode_plan(q, k, v, lengths, block_table, scale, together):
    """The `split.Plan` of a call. together: whether heads that share keys form one group."""
    heads, queries, width = q.shape[-3:]
    values, page = v.shape[-1], k.shape[-2]
    sequences, shared = lengths.size, k.shape[-3]
    if block_table is None:
        pages = np.arange(sequences).reshape(sequences, 1)
    else:
        pages = block_table.reshape(sequences, -1).astype(np.int64)
    places = pages[:, None, :] * shared + np.arange(shared)[:, None]  # (sequences, heads of k, pages): matrices before
    packed = split.largest_group(heads // shared, queries) if together else 1
    places = np.repeat(places.reshape(sequences * shared, -1), heads // shared // packed, axis=0) * page
    of_mask = np.zeros(sequences * heads, np.int64)
    keys = np.repeat(lengths.reshape(-1).astype(np.int64), heads // packed)
    of_q = np.arange(sequences * heads) * (queries * width)
    sizes = len(keys), packed * queries, queries, width, values, scale, of_q, page
    return split.Plan(*sizes, places * width, places * values, keys, keys - queries, of_mask, 0, 0)


def in_place(prepared, together, splits):
    """The result on what was prepared. together: whether heads that share keys form a group; splits: as for
    `split.attend`."""
    lengths, block_table, k_scale, v_scale, scale, return_lse, k, v, q = prepared
    out = np.zeros((*q.shape[:-1], v.shape[-1]), q.dtype)
    lse = np.full(q.shape[:-1], -np.inf, q.dtype)
    if lse.size and k.size:
        plan = decode_plan(q, k, v, lengths, block_table, scale, together)
        scales = [x if x is None else plain(x).reshape(-1) for x in (k_scale, v_scale)]
        lines = [plain(x).reshape(-1) for x in (q, k, v)]
        lse = split.attend(plan, *lines, *scales, np.zeros(1, q.dtype), out.reshape(-1), splits).reshape(lse.shape)
    return (out, lse) if return_lse else out


# ---- 1: the formula ----------------------------------------------------------------------------------------------


def gathered(x, scale, block_table, sequence, length, dtype):
    """(heads, length, width): keys or values of a sequence as a new array of `dtype`."""
    if block_table is None:
        part, factors = x[sequence, :, :length], None if scale is None else scale[sequence, :, :length]
    else:
        page = x.shape[-2]
        used = block_table[sequence, : -(-length // page)]
        part, factors = (
            None
            if array is None
            else np.moveaxis(array[used], 1, 0).reshape(array.shape[1], len(used) * page, *array.shape[3:])
            for array in (x, scale)
        )
        part, factors = part[:, :length], None if factors is None else factors[:, :length]
    return part.astype(dtype) if factors is None else part.astype(dtype) * factors[..., None]


@implementation(
    "decode_attention",
    device="cpu",
    adds="the formula, head by head, on a copy of the keys and values there are: pages put in order, bytes widened",
)
def decode_gathered(lengths, block_table, k_scale, v_scale, scale, return_lse, k, v, q):
    out = np.zeros((*q.shape[:-1], v.shape[-1]), q.dtype)
    lse = np.full(q.shape[:-1], -np.inf, q.dtype)
    heads, queries, _ = q.shape[-3:]
    rows, results, sums = (x.reshape(lengths.size, *x.shape[q.ndim - 3 :]) for x in (plain(q), out, lse))
    if block_table is None:
        k, v, k_scale, v_scale = (
            None if x is None else plain(x).reshape(lengths.size, *x.shape[q.ndim - 3 :])
            for x in (k, v, k_scale, v_scale)
        )
    else:
        block_table = block_table.reshape(lengths.size, block_table.shape[-1])
    for s, length in enumerate(lengths.reshape(-1) if lse.size else ()):
        keys, values = (
            gathered(x, factors, block_table, s, length, q.dtype) for x, factors in ((k, k_scale), (v, v_scale))
        )
        later = np.arange(length) > (length - queries + np.arange(queries))[:, None]
        for h in range(heads if length else 0):
            shared = h // (heads // len(keys))
            scores = q.dtype.type(scale) * product(rows[s, h], keys[shared].T)
            scores[later] = -np.inf
            top = scores.max(axis=1)
            top[top == -np.inf] = 0
            weights = np.exp(scores - top[:, None])
            total = weights.sum(axis=1)
            with np.errstate(divide="ignore"):
                sums[s, h] = top + np.log(total)
            total[total == 0] = 1
            if values.shape[-1]:
                results[s, h] = product(weights / total[:, None], values[shared])
    return (out, lse) if return_lse else out


# ---- 2, 3, 4: in place (split.py) --------------------------------------------------------------------------------


@implementation(
    "decode_attention",
    device="cpu",
    adds="no copy: pages and bytes are read where they lie, the lanes of a vector are columns; each head reads for "
    "itself",
)
def decode_in_place(*prepared):
    return in_place(prepared, together=False, splits=1)


@implementation(
    "decode_attention",
    device="cpu",
    adds="heads that share keys and values go through them together: the cache is read once for all of them",
)
def decode_packed(*prepared):
    return in_place(prepared, together=True, splits=1)


@implementation(
    "decode_attention",
    device="cpu",
    adds="split-KV: parts of the keys are worked on at the same time, and their results merged by the sums of their "
    "weights",
    public=True,
)
def decode_split(*prepared):
    return in_place(prepared, together=True, splits=None)


# ---- two partial results -----------------------------------------------------------------------------------------


@implementation(
    "merge_attention",
    device="cpu",
    adds="the mean of both results, weighed by their sums of exponentials, of which only logarithms are known",
    public=True,
)
def merge_results(one_lse, other, other_lse, one):
    top = np.maximum(one_lse, other_lse)
    base = np.where(top == -np.inf, one_lse.dtype.type(0), top)  # nothing in both: weights of zero, not of NaN
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        one_weight, other_weight = np.exp(one_lse - base), np.exp(other_lse - base)
        total = one_weight + other_weight
        merged = sum(
            (w / np.where(total == 0, 1, total))[..., None] * x for w, x in ((one_weight, one), (other_weight, other))
        )
        return np.asarray(merged, one.dtype), np.asarray(base + np.log(total), one.dtype)
