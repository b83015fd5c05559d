"""Kernels that are hard to split give what the executor gives: forward, reverse, checked and not."""

import numpy as np
import pytest
from edges import EDGES

import simt
from simt import compiled, cuda

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
