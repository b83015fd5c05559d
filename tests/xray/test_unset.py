"""Reads of memory that nobody had written, in random kernels: those that are found are those that all stores come
after."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import int32

from simt import cuda
from simt.trace import STORE
from simt.xray import unset, xray
from simt.xray.conflicts import locations_of

STEPS, PLACES, BLOCKS, THREADS = 5, 3, 2, 34  # the second warp of a block has two threads
NOTHING, LOADS, STORES, UPDATES = range(4)


@cuda.jit
def plays(shared, does, where, barrier, y, out):
    s = cuda.shared.array(PLACES, int32)
    t = cuda.grid(1)
    for k in range(STEPS):
        p = where[k, t]
        if does[k, t] == LOADS:
            out[t] = s[p] if shared else y[p]
        elif does[k, t] == STORES:
            if shared:
                s[p] = k
            else:
                y[p] = k
        elif does[k, t] == UPDATES:
            if shared:
                s[p] += 1
            else:
                y[p] += 1
        if barrier[k] == 1:
            cuda.syncwarp()
        elif barrier[k] == 2:
            cuda.syncthreads()
        elif barrier[k] == 3:
            cuda.cg.this_grid().sync()


def before(t, i, j):
    """Whether barriers, or the program of one thread, put access i before access j in every run."""
    if t.grid_epoch[i] != t.grid_epoch[j]:
        return t.grid_epoch[i] < t.grid_epoch[j]
    if t.block[i] != t.block[j]:
        return False
    if t.epoch[i] != t.epoch[j]:
        return t.epoch[i] < t.epoch[j]
    if t.warp[i] != t.warp[j]:
        return False
    if t.warp_epoch[i] != t.warp_epoch[j]:
        return t.warp_epoch[i] < t.warp_epoch[j]
    return t.thread[i] == t.thread[j] and i < j


def too_early(t, rows, owner):
    """Loads that come before every store to their place; owner: accesses of different ones go to different places."""
    places = [(owner[r], t.address[r]) for r in rows]
    stores = [(r, p) for r, p in zip(rows, places, strict=True) if t.kind[r] == STORE]
    return {
        r
        for r, place in zip(rows, places, strict=True)
        if t.kind[r] != STORE and all(before(t, r, other) for other, p in stores if p == place)
    }


@pytest.mark.parametrize("order", ["forward", "shuffled:3"])
@pytest.mark.parametrize("shared", [False, True], ids=["global", "shared"])
@settings(max_examples=40, deadline=None)
@example([(0, 0, 0, LOADS), (1, 1, 0, STORES)], [1, 0, 0, 0, 0])  # only the warp's barrier is between them
@given(
    acts=st.lists(
        st.tuples(
            st.integers(0, STEPS - 1),
            st.sampled_from([0, 1, 32, 33, THREADS, THREADS + 32]),
            st.integers(0, PLACES - 1),
            st.sampled_from([LOADS, STORES, UPDATES]),
        ),
        min_size=2,
        max_size=14,
    ),
    barriers=st.lists(st.integers(0, 3), min_size=STEPS, max_size=STEPS),
)
def test_what_is_found_is_what_all_stores_come_after(shared, order, acts, barriers):
    does, where = np.zeros((2, STEPS, BLOCKS * THREADS), np.int32)
    for step, thread, place, what in acts:
        does[step, thread], where[step, thread] = what, place
    y, out = cuda.device_array(PLACES, np.int32), np.zeros(BLOCKS * THREADS)
    report = xray(plays, BLOCKS, THREADS, order=order)(shared, does, where, np.array(barriers), y, out)
    trace = report.trace
    names = np.array([a.name for a in trace.arrays])
    rows = np.flatnonzero(names[trace.array[:]] == ("s" if shared else "y")).tolist()
    found = unset.of_shared(trace, *locations_of(trace)) if shared else unset.of_global(trace)
    assert set(found.tolist()) == too_early(trace, rows, trace.block[:] if shared else np.zeros(len(trace)))
