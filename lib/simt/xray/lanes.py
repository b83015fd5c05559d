"""Order between lanes of a warp where ``cuda.syncwarp(mask)`` did not name all of them.

If every warp barrier takes in the whole warp, counting the barriers that a thread has passed tells what is ordered. If
some take in a part of it, two accesses are ordered only if one barrier took in *both* lanes between them.
"""

import numpy as np

from .traffic import WARP


def divided(trace):
    """For each warp of the launch: did a warp barrier leave some of its lanes out?"""
    apart = np.zeros(trace.warps_per_block * int(np.prod(trace.grid)), bool)
    for event in _barriers(trace):
        first = event.warp % trace.warps_per_block * WARP
        threads = min(WARP, trace.threads_per_block - first)
        apart[event.warp] |= event.lanes != (1 << threads) - 1
    return apart


def unordered(trace, i, j):
    """Which pairs of rows (i, j) of divided warps no common barrier orders, in either direction."""
    events = {}
    for event in _barriers(trace):
        events.setdefault(event.warp, []).append(event.lanes)
    keys = np.stack([trace.warp[i], trace.lane[i], trace.warp_epoch[i], trace.lane[j], trace.warp_epoch[j]], axis=1)
    distinct, number = np.unique(keys, axis=0, return_inverse=True)
    answers = [not _ordered(events.get(warp, []), *rest) for warp, *rest in distinct.tolist()]
    return np.array(answers, bool)[number.ravel()]


def _ordered(events, a, passed_a, b, passed_b):
    """Is there a barrier of both lanes after the first ``passed`` ones of one and before those of the other?"""
    count_a = count_b = 0
    for lanes in events:
        in_a, in_b = lanes >> a & 1, lanes >> b & 1
        if in_a and in_b and (count_a >= passed_a) != (count_b >= passed_b):
            return True
        count_a, count_b = count_a + in_a, count_b + in_b
    return False


def _barriers(trace):
    return (event for event in trace.collectives if event.name == "syncwarp")
