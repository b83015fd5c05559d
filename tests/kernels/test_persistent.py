"""The LSTM in one launch: what it moves in a step, how its blocks share the sequences, and where it cannot be."""

import numpy as np
import pytest

from dlkernels import cuda, implementations
from dlkernels.device import name as device_name
from dlkernels.recurrent import gpu_persistent, reference
from simt.xray import xray

pytestmark = pytest.mark.rotates

EXECUTOR = pytest.mark.skipif(device_name != "executor", reason="about what stands in for a GPU")
f32 = np.float32
RUNGS = {rung.name: rung for rung in implementations.of("lstm", "gpu")}
PERSISTENT, PARALLEL = RUNGS["lstm_persistent"], RUNGS["lstm_batch_parallel"]


def layer(steps, batch, hidden, features=3):
    rng = np.random.default_rng(hidden)

    def draw(*shape):
        return (rng.standard_normal(shape) * 0.3).astype(f32)

    x, states = draw(steps, batch, features), (draw(1, batch, hidden), draw(1, batch, hidden))
    return x, *states, draw(4 * hidden, features), draw(4 * hidden, hidden), draw(4 * hidden), draw(4 * hidden)


def launched(monkeypatch, run):
    """(grid, report) of each launch of the persistent kernel."""
    found, kernels = [], dict(gpu_persistent.KERNELS)

    class Watched:
        def __init__(self, kernel):
            self.kernel, self.overloads = kernel, kernel.overloads

        def __getitem__(self, shape):
            def launch(*arguments):
                found.append((shape[0], xray(self.kernel, *shape)(*arguments)))

            return launch

    with monkeypatch.context() as patch:
        for places, kernel in kernels.items():
            patch.setitem(gpu_persistent.KERNELS, places, Watched(kernel))
        return found, run()


def bytes_of(report, array):
    loads = [e for e in report.expressions if e.kind == "load" and e.array == array and e.space == "global"]
    return sum(32 * e.requests * e.sectors_per_request for e in loads)


@EXECUTOR
@pytest.mark.parametrize(("batch", "hidden"), [(1, 32), (11, 40)])
def test_a_step_moves_h_and_no_weights(monkeypatch, batch, hidden):
    """Weights: 16 H^2 bytes in all. h: 4 H bytes for each sequence to each block of 8 units, in full sectors."""
    moved = {}
    for steps in (1, 3):
        given = layer(steps, batch, hidden)
        ((grid, report),), results = launched(monkeypatch, lambda given=given: PERSISTENT(*given))
        for found, expected in zip(results, reference.lstm(*given), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-5)
        assert report.ok
        assert grid == (hidden // 8, 1)
        assert report.total["grid_barriers"] == steps
        moved[steps] = {array: bytes_of(report, array) for array in ("u", "rooms")}
    assert moved[1]["u"] == moved[3]["u"] == 16 * hidden**2
    assert moved[1]["rooms"] == hidden // 8 * batch * hidden * 4
    assert moved[3]["rooms"] == 3 * moved[1]["rooms"]


@EXECUTOR
def test_groups_of_blocks_share_the_sequences(monkeypatch):
    given = layer(2, 19, 12)
    ((grid, report),), results = launched(monkeypatch, lambda: PARALLEL(*given))
    assert grid == (2, 3)
    assert report.ok
    assert bytes_of(report, "u") > 2 * 16 * 12**2  # a copy for each group
    for found, expected in zip(results, reference.lstm(*given), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("rung", [PERSISTENT, PARALLEL], ids=lambda rung: rung.name)
def test_where_blocks_do_not_fit_together_the_rung_before_does_the_work(monkeypatch, rung):
    given = layer(2, 3, 20)
    monkeypatch.setattr(gpu_persistent, "resident", lambda kernel: 2)
    found, results = launched(monkeypatch, lambda: rung(*given))
    assert not found
    for one, expected in zip(results, reference.lstm(*given), strict=True):
        np.testing.assert_allclose(one, expected, atol=1e-5)


@EXECUTOR
@pytest.mark.parametrize("hidden", [100, 200])
def test_compiled_for_the_cpu_each_of_its_kernels_is_right(hidden):
    given = layer(5, 10, hidden)
    for rung in (PERSISTENT, PARALLEL):
        with cuda.engine("compiled"):
            results = rung(*given)
        for found, expected in zip(results, reference.lstm(*given), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-5)
