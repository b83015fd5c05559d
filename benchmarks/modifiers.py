"""Attention with modifiers compiled into its loop, beside the same loop without.

    python benchmarks/run.py modifiers           recorded in results/modifiers.json
    python benchmarks/run.py modifiers --quick   short sequences, not recorded

8 heads of 64. A score_mod is compared with attention over all keys, a mask_mod with causal attention: what a modifier
costs is plain time / modified time below 1. A window is compared with causal attention, too: there it gains, by the
tiles that it skips.
"""

import numpy as np
from numba import njit

from cpulab.measure import Table, times
from dlkernels import flex_attention, scaled_dot_product_attention
from dlkernels.attention import create_block_mask
from dlkernels.attention.modifiers import alibi, causal, sliding_window, soft_cap

HEADS, WIDTH, WINDOW, SINK = 8, 64, 256, 4


@njit
def same(score, b, h, q_idx, kv_idx):
    return score


def ratios(length, budget=2.0):
    """{name: (plain time / modified time, percentage of tiles skipped)}."""
    draw = np.random.default_rng(0)
    q, k, v = (draw.standard_normal((1, HEADS, length, WIDTH)).astype(np.float32) for _ in range(3))
    cases = {
        "score as it is": (False, same, None),
        "ALiBi": (False, alibi(HEADS), None),
        "soft cap": (False, soft_cap(50.0), None),
        "causal": (True, None, causal),
        f"window of {WINDOW}, sink of {SINK}": (True, None, sliding_window(WINDOW, SINK)),
    }
    found = {}
    for name, (is_causal, score_mod, mask_mod) in cases.items():
        mask = None if mask_mod is None else create_block_mask(mask_mod, None, None, length, length)
        candidates = {
            "plain": lambda is_causal=is_causal: scaled_dot_product_attention(q, k, v, is_causal=is_causal),
            "modified": lambda score_mod=score_mod, mask=mask: flex_attention(q, k, v, score_mod, mask),
        }
        ratio = times(candidates, budget=budget).ratio("plain", "modified").ratio
        found[name] = ratio, 0.0 if mask is None else mask.sparsity()
    return found


def benchmark(quick):
    found = {length: ratios(length) for length in ((1024,) if quick else (1024, 4096))}
    rows = [
        (length, name, f"{ratio:.2f}", f"{skipped:.0f} %")
        for length, one in found.items()
        for name, (ratio, skipped) in one.items()
    ]
    print(Table(("keys", "modifier", "plain / modified", "tiles skipped"), rows))
    return {"heads": HEADS, "width": WIDTH, "lengths": {str(length): one for length, one in found.items()}}
