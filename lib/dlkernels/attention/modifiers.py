"""What changes scores, or hides keys, inside the tile loop of attention: functions compiled into it.

Names and arguments are those of PyTorch's FlexAttention (Dong and others, Flex Attention, 2024):

    score_mod(score, b, h, q_idx, kv_idx) -> score        any change of one score, scaled already
    mask_mod(b, h, q_idx, kv_idx) -> True or False        whether this query may look at this key

Both are njit functions of single numbers. Here are those that models use: `causal`, `sliding_window`, `soft_cap`,
`alibi`.

A mask_mod is asked before the kernel runs, once for all heads if it is the same for them: `create_block_mask` sorts
tiles of queries and keys into those where nobody may look (skipped), everybody may (not asked again), and some may.
"""

import functools
from dataclasses import dataclass

import numpy as np
from numba import njit
from numba.core.dispatcher import Dispatcher

from ..simd.exponential import exp, exp2
from .flash import ALL, KEYS, NOBODY, SOME, wide

# ---- that models use -----------------------------------------------------------------------------------------------


@njit
def causal(b, h, q_idx, kv_idx):
    """mask_mod: no key after the query's own place."""
    return q_idx >= kv_idx


@functools.cache
def sliding_window(window, sink=0):
    """The mask_mod of a causal window: a query looks at its own key and the `window` - 1 before it, and at the first
    `sink`.

    The first tokens gather what weight is not needed elsewhere: without them a window fails when they leave it (Xiao
    and others, Efficient Streaming Language Models with Attention Sinks, 2024).
    """

    @njit
    def mask_mod(b, h, q_idx, kv_idx):
        return (q_idx >= kv_idx) & ((q_idx - kv_idx < window) | (kv_idx < sink))

    return mask_mod


@functools.cache
def soft_cap(limit):
    """The score_mod that keeps scores between -limit and limit: limit * tanh(score / limit), as in Gemma 2 (2024)."""
    most, one, two = np.float32(limit), np.float32(1), np.float32(2)

    @njit(error_model="numpy")
    def score_mod(score, b, h, q_idx, kv_idx):
        small = exp(-two * abs(score / most))  # the library's tanh takes one number at a time
        size = most * (one - small) / (one + small)
        return size if score > 0 else -size

    return score_mod


@functools.cache
def alibi(heads):
    """The score_mod that takes away 2^(-8 (h + 1) / heads) times the distance, in float32 (Press and others, ALiBi,
    2022)."""
    step = np.float32(-8 / heads)

    @njit
    def score_mod(score, b, h, q_idx, kv_idx):
        return score + exp2(step * np.float32(h + 1)) * np.float32(kv_idx - q_idx)

    return score_mod


# ---- tiles ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BlockMask:
    """A mask_mod and what it is asked for: B batches and H heads (1: the same for all), Q_LEN queries, KV_LEN keys."""

    mask_mod: Dispatcher
    B: int
    H: int
    Q_LEN: int
    KV_LEN: int

    def kinds(self, dtype):
        """(B, H, tiles of queries, tiles of keys): NOBODY, SOME or ALL. Found once for a size of tiles, then kept."""
        return _kinds_of(self, wide(dtype))

    def sparsity(self, dtype=np.float32):
        """The percentage of tiles that attention of this dtype skips."""
        kinds = self.kinds(dtype)
        return 100 * float((kinds == NOBODY).mean()) if kinds.size else 0.0


@functools.lru_cache(maxsize=64)
def _kinds_of(mask, across):
    shape = mask.B, mask.H, -(-mask.Q_LEN // across), -(-mask.KV_LEN // KEYS)
    kinds = np.empty(shape, np.int8)
    _asker(mask.mask_mod)(kinds, mask.Q_LEN, mask.KV_LEN, across)
    kinds.flags.writeable = False
    return kinds


@functools.lru_cache(maxsize=64)
def _asker(mask_mod):
    """A compiled function that asks for each query and key, and sorts the tiles."""

    @njit
    def ask(kinds, queries, keys, across):
        for b in range(kinds.shape[0]):
            for h in range(kinds.shape[1]):
                for q_tile in range(kinds.shape[2]):
                    q_start, q_stop = q_tile * across, min((q_tile + 1) * across, queries)
                    for k_tile in range(kinds.shape[3]):
                        k_start, k_stop = k_tile * KEYS, min((k_tile + 1) * KEYS, keys)
                        seen = 0
                        for key in range(k_start, k_stop):
                            for query in range(q_start, q_stop):
                                seen += 1 if mask_mod(b, h, query, key) else 0
                        everyone = (q_stop - q_start) * (k_stop - k_start)
                        kinds[b, h, q_tile, k_tile] = NOBODY if seen == 0 else ALL if seen == everyone else SOME

    return ask


def create_block_mask(mask_mod, B, H, Q_LEN, KV_LEN):
    """The `BlockMask` of a mask_mod: which tiles of attention are skipped, asked once and good for many calls.

    mask_mod: a njit function (b, h, q_idx, kv_idx) -> bool. B, H: numbers of batches and heads, or None where the
    answer does not depend on b or h. Q_LEN, KV_LEN: numbers of queries and keys.
    """
    check_modifier("mask_mod", mask_mod)
    sizes = {"B": 1 if B is None else B, "H": 1 if H is None else H, "Q_LEN": Q_LEN, "KV_LEN": KV_LEN}
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, int | np.integer):
            raise TypeError(f"{name} is {size!r}; expected a whole number{' or None' if name in 'BH' else ''}.")
        if size < 0:
            raise ValueError(f"{name} is {size}; expected a number that is not negative.")
    return BlockMask(mask_mod, **{name: int(size) for name, size in sizes.items()})


def check_modifier(name, function):
    """TypeError unless it is a njit function."""
    if not isinstance(function, Dispatcher):
        raise TypeError(
            f"{name} is a {type(function).__name__}; expected a function with @numba.njit, as it is compiled into the "
            "loop."
        )
