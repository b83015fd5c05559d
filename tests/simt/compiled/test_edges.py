"""Kernels that are hard to split give what the executor gives: forward, reverse, checked and not."""

import numpy as np
import pytest
from edges import EDGES
from numba import float64

import simt
from simt import compiled, cuda

pytestmark = pytest.mark.rotates

#: each is compiled anew: two that differ in everything, and by night the two between them
WAYS = [
    {},
    {"order": "reverse", "checked": False},
    pytest.param({"order": "reverse"}, marks=pytest.mark.slow),
    pytest.param({"checked": False}, marks=pytest.mark.slow),
]


def arguments_of(makers):
    return [m() if callable(m) else m for m in makers]


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("case", EDGES, ids=lambda case: case[0])
def test_the_same_as_the_executor(case, way):
    _, kernel, grid, block, makers, shared_bytes = case
    expected, got = arguments_of(makers), arguments_of(makers)
    simt.run(kernel, grid, block, expected, shared_bytes=shared_bytes)
    compiled.run(kernel, grid, block, got, shared_bytes=shared_bytes, **way)
    for a, b in zip(expected, got, strict=True):
        if isinstance(a, np.ndarray):
            np.testing.assert_array_equal(b, a)


@cuda.jit
def last_block_wins(x):
    x[0] = cuda.blockIdx.x


@pytest.mark.parametrize(("order", "last"), [("forward", 7), ("reverse", 0)])
def test_the_blocks_run_in_the_order_asked_for(order, last):
    x = np.zeros(1)
    simt.compiled.run(last_block_wins, 8, 1, [x], order=order, threads=1)
    assert x[0] == last


def test_there_are_enough():
    assert len(EDGES) >= 33
    assert len({case[0] for case in EDGES}) == len(EDGES)


@cuda.jit(device=True)
def extremes(x, v):
    cuda.atomic.max(x, 0, v)
    cuda.atomic.min(x, 1, v)
    cuda.atomic.nanmax(x, 2, v)
    cuda.atomic.nanmin(x, 3, v)


@cuda.jit
def extremes_in_global_memory(x, v):
    extremes(x, v[0])


@cuda.jit
def extremes_in_shared_memory(x, v):
    s = cuda.shared.array(4, float64)
    for i in range(4):
        s[i] = x[i]
    extremes(s, v[0])
    for i in range(4):
        x[i] = s[i]


@pytest.mark.parametrize("kernel", [extremes_in_global_memory, extremes_in_shared_memory])
@pytest.mark.parametrize("run", [simt.run, compiled.run], ids=["executor", "compiled"])
def test_a_nan_on_either_side_changes_no_maximum(kernel, run):
    """As numba compiles `cuda.atomic.max` and `min`; `nanmax` and `nanmin` take the other number."""
    nan = np.nan
    for start, value, expected in ((nan, 2.0, [nan, nan, 2, 2]), (5.0, nan, [5, 5, 5, 5])):
        x = np.full(4, start)
        run(kernel, 1, 1, (x, np.array([value])))
        np.testing.assert_equal(x, expected)
