"""Order between lanes of a warp where ``cuda.syncwarp(mask)`` did not name all of them.

If every warp barrier takes in the whole warp, counting the barriers that a thread has passed tells what is ordered. If
some take in a part of it, two accesses are ordered only if barriers lead from one lane to the other between them: one
that took in both, or a chain in which each shares a lane with the next.
"""

import numpy as np

from .traffic import WARP


def divided(trace):
    """For each warp of the launch: did a warp barrier leave some of its lanes out?"""
    apart = np.zeros(trace.warps_per_block * int(np.prod(trace.grid)), bool)
    for event in _barriers(trace):
        first_thread = event.warp % trace.warps_per_block * WARP
        threads = min(WARP, trace.threads_per_block - first_thread)
        apart[event.warp] |= event.lanes != (1 << threads) - 1
    return apart


def barriers(trace):
    """For each warp that had any: the lanes (bits) of its warp barriers, in the order in which they were passed."""
    passed = {}
    for event in _barriers(trace):
        passed.setdefault(event.warp, []).append(event.lanes)
    return passed


def unordered(trace, i, j):
    """Which pairs of rows (i, j) of divided warps no barriers order, in either direction."""
    passed = barriers(trace)
    keys = np.stack([trace.warp[i], trace.lane[i], trace.warp_epoch[i], trace.lane[j], trace.warp_epoch[j]], axis=1)
    distinct, number = np.unique(keys, axis=0, return_inverse=True)
    answers = []
    for warp, *stamps in distinct.tolist():
        stamp_i, stamp_j = stamps[:2], stamps[2:]
        events = passed.get(warp, ())
        answers.append(not (before(events, *stamp_i, *stamp_j) or before(events, *stamp_j, *stamp_i)))
    return np.array(answers, bool)[number.ravel()]


def before(barriers, a, passed_a, b, passed_b):
    """Do barriers put what lane ``a`` did after its first ``passed_a`` ones before what ``b`` did after its
    ``passed_b``?"""
    reached = 0  # lanes that know of it
    for lanes in barriers:
        if lanes >> a & 1:
            reached |= (passed_a <= 0) << a
            passed_a -= 1
        if lanes & reached:
            reached |= lanes
        if lanes >> b & 1:
            if passed_b <= 0:
                return False
            if reached >> b & 1:
                return True
            passed_b -= 1
    return False


def _barriers(trace):
    return (event for event in trace.collectives if event.name == "syncwarp")
