"""Keys and values of few bits: what a Transformer keeps of each token is rounded, and attention runs over the codes.

Keys have channels that are large in every token: a scale for a token, which covers all channels, makes the others
coarse. So keys get a scale for each channel of a group of tokens, values one for each token (Liu et al. 2024, "KIVI: A
Tuning-Free Asymmetric 2bit Quantization for KV Cache"). Chapter 11's `KVCache(dtype="int8")` has one for each token.
"""

from dataclasses import dataclass

import numpy as np

import dlkernels

from .rounded import grid
from .storage import total


@dataclass(frozen=True)
class Kept:
    """Keys or values that were kept: the `numbers` that the codes stand for, and the bytes of codes, scales, zeros."""

    numbers: np.ndarray
    nbytes: int


def kept(x, bits=4, by="token", group_size=32):
    """`Kept` of x, (batch, heads, tokens, width) float32. by: "token" for a scale and zero point for each `group_size`
    channels of a token, "channel" for one for each channel of `group_size` tokens; the last tokens that do not fill a
    group stay float32 until it is full, as in a cache that grows."""
    if x.ndim != 4 or x.dtype != np.float32:
        raise ValueError(f"x is {x.shape} {x.dtype}; expected (batch, heads, tokens, width), float32.")
    if by not in ("token", "channel"):
        raise ValueError(f'by is {by!r}; expected "token" or "channel".')
    if group_size < 1:
        raise ValueError(f"group_size is {group_size}; expected at least 1.")
    along = x if by == "token" else x.swapaxes(2, 3)
    length = along.shape[-1] if by == "token" else along.shape[-1] // group_size * group_size
    numbers, nbytes = np.array(along, order="C"), along[..., length:].nbytes
    if length:
        matrix = along[..., :length].reshape(-1, length)
        found = grid(matrix, bits, "group", group_size, symmetric=False)
        codes = found.codes(matrix)
        numbers[..., :length] = found.numbers(codes).reshape(*along.shape[:-1], length)
        nbytes += total(found.arrays(codes))
    return Kept(numbers if by == "token" else np.ascontiguousarray(numbers.swapaxes(2, 3)), nbytes)


def attention_error(q, k, v, bits=4, keys="channel", values="token", group_size=32):
    """(error, bytes) of attention of queries q (batch, heads, n, width) over keys and values of few bits.

    error: |attention(q, k, v) - attention(q, k', v')| / |attention(q, k, v)|. keys, values: "channel", "token".
    """
    of_k, of_v = kept(k, bits, keys, group_size), kept(v, bits, values, group_size)
    exact = dlkernels.scaled_dot_product_attention(q, k, v)
    found = dlkernels.scaled_dot_product_attention(q, of_k.numbers, of_v.numbers)
    return float(np.linalg.norm(exact - found) / np.linalg.norm(exact)), of_k.nbytes + of_v.nbytes
