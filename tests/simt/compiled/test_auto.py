"""``xray(..., engine="auto")``: what the counting engine cannot tell is left to the executor, with the memory as it was
before."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numba import float32

from simt import Unsupported, cuda
from simt.compiled import slots
from simt.xray import xray

sys.path.insert(0, str(Path(__file__).parents[2] / "zoo"))
from zoo_buggy import BUGGY

DIVERGENT = [
    a
    for a in BUGGY
    if a.name in ("barrier_in_half_the_block", "grid_barrier_in_one_block_only", "barrier_skipped_in_different_turns")
]


@pytest.fixture(autouse=True)
def all_launches_are_large(monkeypatch):
    monkeypatch.setattr("simt.policy.LARGE", 0)


def kinds(report):
    return [f.kind for f in report.findings]


@cuda.jit
def whole_array(x, y):
    total = float32(0)
    for value in x:
        total += value
    y[cuda.grid(1)] = total


@cuda.jit
def again_and_again(x, y, n):
    for k in range(n):
        x[8] = k
        y[0] += x[k % 8]


@cuda.jit
def copy(x, y):
    i = cuda.grid(1)
    y[i] = x[i]


def test_what_is_refused_is_still_known_to_be_unwritten():
    x, y = cuda.device_array(8, np.float32), np.zeros(32, np.float32)
    with pytest.raises(Unsupported):
        xray(whole_array, 1, 32, engine="compiled")(x, y)
    report = xray(whole_array, 1, 32, engine="auto")(x, y)
    assert report.engine == "executor"
    assert kinds(report) == ["uninitialised-global"]


@pytest.mark.rotates
def test_what_began_to_run_is_undone_before_the_executor_takes_it():
    x, y = cuda.device_array(9, np.float32), cuda.to_device(np.full(1, 7, np.float32))
    report = xray(again_and_again, 1, 1, engine="auto")(x, y, slots.MOST_SLOTS // 3 + 10)
    assert report.engine == "executor"
    assert kinds(report) == ["uninitialised-global"]
    assert report.findings[0].index == (0,)
    assert report.unwritten == [("x", 8, 9)]


def test_what_was_counted_is_not_known_to_be_unwritten():
    x, y = np.ones(32, np.float32), cuda.device_array(32, np.float32)
    assert xray(copy, 1, 32, engine="auto")(x, y).engine == "compiled"
    assert xray(copy, 1, 32)(y, x).ok


@pytest.mark.rotates
@pytest.mark.parametrize("animal", DIVERGENT, ids=lambda a: a.name)
def test_a_barrier_that_not_all_reach_is_reported(animal):
    def look(engine):
        return xray(animal.kernel, animal.grid, animal.block, animal.shared_bytes, engine=engine)

    report = look("auto")(*animal.make_arguments())
    assert report.engine == "executor"
    assert [f.to_dict() for f in report.findings] == [
        f.to_dict() for f in look("executor")(*animal.make_arguments()).findings
    ]


def test_orders_and_snapshots_that_only_the_executor_has():
    x, y = np.ones(32, np.float32), np.zeros(32, np.float32)
    report = xray(copy, 1, 32, order="shuffled:1", engine="auto")(x, y)
    assert (report.engine, report.trace.order) == ("executor", "shuffled:1")
    assert xray(copy, 1, 32, snapshots=True, engine="auto")(x, y).engine == "executor"
    assert xray(copy, 1, 32, order="reverse", engine="auto")(x, y).order == "reverse"
    with pytest.raises(ValueError, match="knows"):
        xray(copy, 1, 32, order="shuffled:1", engine="compiled")(x, y)
