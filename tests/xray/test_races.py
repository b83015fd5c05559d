"""Races in random traces, against a search over all pairs of accesses."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.source.sites import Site
from simt.trace import GLOBAL, SHARED, ArrayInfo, Trace
from simt.xray import raced

pytestmark = pytest.mark.quick

LOAD, STORE, ATOMIC = 0, 1, 2
KINDS = ("load", "store", "atomic")
THREADS = 64  # two warps
BLOCKS = 2


@st.composite
def accesses(draw):
    """Rows (thread, array, element, kind, epoch, warp epoch, grid epoch, elements touched)."""
    rows = []
    for _ in range(draw(st.integers(1, 14))):
        thread = draw(st.sampled_from([0, 1, 31, 32, 33, 64, 65, 96]))
        array = draw(st.integers(0, 2))
        wide = draw(st.sampled_from([1, 1, 1, 4]))
        element = draw(st.integers(0, 2)) if wide == 1 else 0
        kind = draw(st.integers(0, 2)) if wide == 1 else draw(st.integers(0, 1))
        grid_epoch = draw(st.integers(0, 1))
        rows.append((thread, array, element, kind, draw(st.integers(0, 1)), draw(st.integers(0, 1)), grid_epoch, wide))
    return rows


def trace_of(rows):
    """Array 0 is shared, 1 and 2 are global. A site for each array and kind."""
    trace = Trace()
    trace.grid, trace.block_shape = (BLOCKS, 1, 1), (THREADS, 1, 1)
    trace.sites = [Site("k.py", 3 * a + k, 0, 0, 9, f"a{a}[i]", "k", KINDS[k]) for a in range(3) for k in range(3)]
    trace.arrays = [
        ArrayInfo("s", "shared", np.dtype("f4"), (8,), (4,), 0),
        ArrayInfo("x", "global", np.dtype("f4"), (8,), (4,), 0),
        ArrayInfo("y", "global", np.dtype("f4"), (8,), (4,), 256),
    ]
    thread, array, element, kind, epoch, warp_epoch, grid_epoch, wide = np.array(rows, np.int64).T
    trace.thread, trace.array, trace.element, trace.kind = thread, array, element, kind
    trace.block, trace.warp, trace.lane = thread // THREADS, thread // 32, thread % 32
    trace.epoch, trace.warp_epoch, trace.grid_epoch = epoch, warp_epoch, grid_epoch
    trace.space = np.where(array == 0, SHARED, GLOBAL)
    trace.site, trace.visit = array * 3 + kind, np.zeros(len(rows), np.int64)
    trace.size, trace.offset = 4 * wide, 4 * element
    trace.address = trace.offset + np.where(array == 2, 256, 0)
    return trace


def conflict(a, b):
    """The rule, said once more: who can meet whom, and what orders them."""
    thread, array, element, kind, epoch, warp_epoch, grid_epoch, wide = zip(a, b, strict=True)
    if thread[0] == thread[1] or array[0] != array[1]:
        return False
    if element[0] >= element[1] + wide[1] or element[1] >= element[0] + wide[0]:
        return False
    if STORE not in kind and (kind[0] == ATOMIC) == (kind[1] == ATOMIC):
        return False
    if grid_epoch[0] != grid_epoch[1]:
        return False
    if thread[0] // THREADS != thread[1] // THREADS:
        return array[0] != 0  # shared memory of two blocks is not the same memory
    if epoch[0] != epoch[1]:
        return False
    return thread[0] // 32 != thread[1] // 32 or warp_epoch[0] == warp_epoch[1]


@settings(max_examples=400, deadline=None)
@given(accesses())
def test_races_are_those_of_all_pairs(rows):
    expected = set()
    for a, b in combinations(rows, 2):
        if conflict(a, b):
            expected.add((("s", "x", "y")[a[1]], tuple(sorted({3 * a[1] + a[3], 3 * b[1] + b[3]}))))
    found = raced.find_races(trace_of(rows))
    assert {(f.array, f.lines) for f in found} == expected
    assert len(found) == len(expected)


@settings(max_examples=100, deadline=None)
@given(accesses(), st.randoms(use_true_random=False))
def test_races_do_not_depend_on_the_order_of_the_run(rows, random):
    expected = raced.find_races(trace_of(rows))
    random.shuffle(rows)
    assert raced.find_races(trace_of(rows)) == expected


def test_the_example_of_a_race_does_not_depend_on_the_order_of_wide_and_narrow_stores():
    rows = [(1, 1, 1, 1, 0, 0, 0, 1), (1, 1, 0, 1, 0, 0, 0, 4), (0, 1, 1, 0, 0, 0, 0, 1)]
    expected = raced.find_races(trace_of(rows))
    for order in permutations(rows):
        assert raced.find_races(trace_of(list(order))) == expected
