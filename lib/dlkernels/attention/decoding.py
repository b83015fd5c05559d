"""Attention of the newest queries over a cache of keys and values: what is called, and what checks its arguments."""

import numpy as np

from ..arguments import float_array, number, one_place, same
from ..implementations import call, operation
from . import examples, reference

INTEGERS = ("int64", "int32")


@operation(
    "decode_attention",
    reference.decode_attention,
    examples.DECODE,
    no_backward="a cache is for a model that has learned already",
)
def _prepare_decode(q, k, v, lengths=None, block_table=None, k_scale=None, v_scale=None, scale=None, return_lse=False):
    factor = check_decode(q, k, v, k_scale, v_scale, scale, return_lse)
    places = {name: x for name, x in (("lengths", lengths), ("block_table", block_table)) if x is not None}
    for name, x in places.items():
        float_array(name, x, INTEGERS)
    one_place(q=q, **places)
    paged = block_table is not None
    sequences = tuple(q.shape)[:-3]
    if not paged and tuple(k.shape)[:-3] != sequences:
        raise ValueError(
            f"q has shape {tuple(q.shape)} and k has shape {tuple(k.shape)}; expected the same dimensions before "
            "heads: one cache for each sequence."
        )
    if paged:
        check_table(block_table, k, sequences)
    elif lengths is None:
        lengths = np.full(sequences, tuple(k.shape)[-2])
    room = tuple(k.shape)[-2] * (tuple(block_table.shape)[-1] if paged else 1)
    check_lengths(lengths, sequences, room)
    if paged:
        check_pages(block_table, lengths, k.shape[0], k.shape[2])
    return lengths, block_table, k_scale, v_scale, factor, bool(return_lse), k, v, q


def check_decode(q, k, v, k_scale, v_scale, scale, return_lse):
    """What scores are multiplied by; ValueError or TypeError where the arrays do not fit each other."""
    float_array("q", q)
    kinds = ("int8",) if k_scale is not None or v_scale is not None else (q.dtype,)
    for name, x in (("k", k), ("v", v)):
        float_array(name, x, kinds)
    arrays = {"q": q, "k": k, "v": v}
    if kinds == ("int8",):
        if k_scale is None or v_scale is None:
            raise ValueError(
                "One of k_scale and v_scale is None; expected both, or neither, for keys and values of floats."
            )
        for name, x in (("k_scale", k_scale), ("v_scale", v_scale)):
            arrays[name] = float_array(name, x, (q.dtype,))
    one_place(**arrays)
    told = ", ".join(f"{name} {tuple(x.shape)}" for name, x in arrays.items())
    q_shape, k_shape, v_shape = (tuple(x.shape) for x in (q, k, v))
    if min(len(q_shape), len(k_shape), len(v_shape)) < 3 or q_shape[-1] != k_shape[-1] or k_shape[:-1] != v_shape[:-1]:
        raise ValueError(
            f"The shapes are {told}; expected q (..., heads, queries, width), k (..., heads of k, room, width) and "
            "v (..., heads of k, room, value width)."
        )
    if q_shape[-1] == 0:
        raise ValueError(f"The shapes are {told}; expected a width of at least 1.")
    if q_shape[-3] % k_shape[-3] if k_shape[-3] else q_shape[-3]:
        raise ValueError(
            f"The shapes are {told}; expected a number of heads of q that is a multiple of that of k and v."
        )
    if k_scale is not None and not tuple(k_scale.shape) == tuple(v_scale.shape) == k_shape[:-1]:
        raise ValueError(f"The shapes are {told}; expected k_scale and v_scale {k_shape[:-1]}: a factor for each row.")
    if not isinstance(return_lse, bool | np.bool):
        raise TypeError(f"return_lse is {return_lse!r}; expected True or False.")
    return q_shape[-1] ** -0.5 if scale is None else float(number("scale", scale, np.float64))


def check_table(block_table, k, sequences):
    """ValueError unless it has a row of page numbers for each sequence."""
    if k.ndim != 4 or block_table.ndim != len(sequences) + 1 or tuple(block_table.shape)[:-1] != sequences:
        raise ValueError(
            f"block_table has shape {tuple(block_table.shape)} and k has shape {tuple(k.shape)}; expected "
            f"({', '.join(map(str, (*sequences, 'pages of each')))}), and k (pages, heads, tokens of a page, width)."
        )


def check_lengths(lengths, sequences, room):
    """ValueError unless it has a number of keys, 0 to room, for each sequence."""
    if lengths is None:
        raise ValueError("lengths is None, and block_table is given; expected the number of keys of each sequence.")
    if tuple(lengths.shape) != sequences:
        raise ValueError(
            f"lengths has shape {tuple(lengths.shape)}; expected {sequences}, one number for each sequence."
        )
    if isinstance(lengths, np.ndarray) and lengths.size and not 0 <= lengths.min() <= lengths.max() <= room:
        raise ValueError(
            f"lengths are from {lengths.min()} to {lengths.max()}; expected 0 to {room}, the room of k and v."
        )


def check_pages(block_table, lengths, pages, page):
    """ValueError unless all pages that are read exist."""
    if isinstance(block_table, np.ndarray) and isinstance(lengths, np.ndarray) and block_table.size:
        used = np.arange(tuple(block_table.shape)[-1]) * page < lengths[..., None]
        wrong = block_table[used & ((block_table < 0) | (block_table >= pages))]
        if wrong.size:
            raise ValueError(f"block_table names page {wrong[0]}; expected 0 to {pages - 1}, as k has {pages} pages.")


@operation(
    "merge_attention",
    reference.merge_attention,
    examples.MERGE,
    no_backward="what it merges are results of decode_attention, which has none",
)
def _prepare_merge(one, one_lse, other, other_lse):
    arrays = {"one": one, "one_lse": one_lse, "other": other, "other_lse": other_lse}
    for name, x in arrays.items():
        float_array(name, x)
    one_place(**arrays)
    same("dtype", **arrays)
    same("shape", one=one, other=other)
    same("shape", one_lse=one_lse, other_lse=other_lse)
    if tuple(one.shape)[:-1] != tuple(one_lse.shape) or not one.ndim:
        raise ValueError(
            f"one has shape {tuple(one.shape)} and one_lse has shape {tuple(one_lse.shape)}; expected (..., values) "
            "and (...)."
        )
    return one_lse, other, other_lse, one


# ---- what is called -------------------------------------------------------------------------------------------------


def decode_attention(q, k, v, lengths=None, block_table=None, k_scale=None, v_scale=None, scale=None, return_lse=False):
    """Attention of the newest queries of each sequence over its cache of keys and values. A new array.

    q: (..., heads, queries, width), usually one query. k: (..., heads of k, room, width), v: (..., heads of k, room,
    value width); the heads of q are a multiple, and neighbours share. Float32 or float64 (on a GPU: float32), or int8
    with k_scale and v_scale, of the dtype of q and shape (..., heads of k, room): a key is its bytes times its factor.
    lengths: (...), int64 or int32: how many keys each sequence has; None for all of the room. The queries are the last
    of their sequence, whose keys are in the cache already: query i looks at keys 0 to length - queries + i. A query
    before the first key gets zeros. What lengths and block_table hold is checked in host memory only. block_table:
    None, or for a cache in pages their numbers, in order, (..., pages of a sequence), int64 or int32: then k and v are
    (pages, heads of k, tokens of a page, width), and lengths must be given. scale: None for 1 / sqrt(width).
    return_lse: True for (result, logarithm of each query's sum of exponentials, of shape (..., heads, queries), -inf
    where there is no key), as `merge_attention` takes them.
    """
    return call("decode_attention", q, k, v, lengths, block_table, k_scale, v_scale, scale, return_lse)


def merge_attention(one, one_lse, other, other_lse):
    """(result, lse) of attention over two sets of keys, from the results over each. New arrays; host memory only.

    one, other: (..., values). one_lse, other_lse: (...), the logarithm of each query's sum of exponentials, -inf for no
    key.
    """
    return call("merge_attention", one, one_lse, other, other_lse)
