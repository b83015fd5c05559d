"""Gradients of recurrent networks on a GPU: what a step loads, and that nothing behind the end of a sequence is looked
at.

That the rungs are right at all sizes, layers, directions and layouts is tested from the examples, in
test_operations.py, and beside PyTorch's numbers in test_recurrent.py.
"""

import numpy as np
import pytest

import dlkernels
import simt.dispatcher
from dlkernels import implementations
from dlkernels.device import name as device_name
from dlkernels.recurrent import gpu_backward, gpu_kept, reference
from simt import xray

from .checks import on_device

pytestmark = pytest.mark.rotates

EXECUTOR = pytest.mark.skipif(device_name != "executor", reason="about what stands in for a GPU")
KINDS = {"lstm": 4, "gru": 3, "rnn": 1}
WARP = 32
f32 = np.float32


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, f32) / 2


def network(kind, features, hidden):
    rows = KINDS[kind] * hidden
    return random(rows, features, seed=1), random(rows, hidden, seed=2), *random(2, rows, seed=3)


@pytest.mark.parametrize("kind", KINDS)
def test_device_arrays_get_gradients_that_stay_there(kind):
    """What users call: the gradients of both directions of two layers, of sequences of different lengths."""
    steps, batch, features, hidden = 5, 3, 4, 6
    layers = [*[network(kind, features, hidden)] * 2, *[network(kind, 2 * hidden, hidden)] * 2]
    weights = [list(each) for each in zip(*layers, strict=True)]
    grad, x, lengths = random(steps, batch, 2 * hidden, seed=4), random(steps, batch, features, seed=5), [5, 2, 4]
    states = [random(4, batch, hidden, seed=6 + k) for k in range(2 if kind == "lstm" else 1)]
    how = {"bidirectional": True, "lengths": lengths}
    operation = f"{kind}_backward"
    exact = getattr(reference, operation)(grad, x, *states, *weights, **how)
    there = [[on_device(one) for one in each] for each in weights]
    found = getattr(dlkernels, operation)(on_device(grad), on_device(x), *map(on_device, states), *there, **how)
    assert len(found) == len(exact)
    for one, expected in zip(found, exact, strict=True):
        pairs = zip(one, expected, strict=True) if isinstance(one, tuple) else [(one, expected)]
        for mine, wanted in pairs:
            np.testing.assert_allclose(mine.copy_to_host(), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_what_stands_behind_the_end_of_a_sequence_is_not_looked_at(kind, batch_first):
    steps, lengths = 4, np.array([4, 1, 3])
    grad, x = random(steps, 3, 5, seed=4), random(steps, 3, 2, seed=5)
    behind = np.arange(steps)[:, None] >= lengths
    weights, states = network(kind, 2, 5), [None] * (2 if kind == "lstm" else 1)
    clean = [np.where(behind[:, :, None], f32(0), one) for one in (grad, x)]
    dirty = [np.where(behind[:, :, None], f32(np.nan), one) for one in (grad, x)]
    (rung,) = implementations.of(f"{kind}_backward", "gpu")
    results = []
    for arrays in (clean, dirty):
        turned = [np.ascontiguousarray(one.swapaxes(0, 1)) if batch_first else one for one in arrays]
        results.append(rung(*turned, *states, *weights, batch_first=batch_first, lengths=lengths))
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)
        assert np.isfinite(one).all()


@EXECUTOR
@pytest.mark.parametrize("batch", [1, 2])
def test_a_step_back_reads_u_once_for_each_sequence_in_whole_sectors(batch):
    """Thread (sequence, unit) asks for row k of U at its unit: a warp for 32 neighbours. Gradients of gates are one for
    all."""
    hidden, steps = 64, 3
    size, rows = batch * hidden, 4 * hidden
    p, u, d = random(steps * batch * rows), random(rows, hidden, seed=2), random(rows, seed=3)
    h, c, new, out = np.zeros(size, f32), np.zeros(size, f32), np.zeros(size, f32), np.zeros(steps * size, f32)
    before, kept = np.zeros(steps * size, f32), np.zeros(6 * steps * size, f32)
    lengths, place = np.full(batch, steps), (batch, 1, hidden, hidden, 0)
    turned = np.ascontiguousarray(u.T).reshape(-1)
    for t in range(steps):
        keep = xray.xray(gpu_kept.lstm_keep_kernel, -(-size // 128), 128)
        report = keep(p, turned, d, h, c, new, out, before, kept, lengths, t, *place)
        assert report.ok, str(report)
        h = new.copy()
    of_h, of_c, for_x = random(size, seed=4), random(size, seed=5), np.zeros(steps * batch * rows, f32)
    grad, later = random(steps * size, seed=6), -1
    for t in range(steps - 1, -1, -1):
        back = xray.xray(gpu_backward.lstm_back_kernel, -(-size // 128), 128)
        report = back(u.reshape(-1), kept, grad, of_h, of_c, for_x, lengths, t, later, *place)
        assert report.ok, str(report)
        warps = size // WARP
        loads = {e.array: e for e in report.expressions if (e.kind, e.space) == ("load", "global")}
        if later < 0:
            assert "u" not in loads
        else:
            assert loads["u"].requests == rows * warps
            assert loads["u"].sectors_per_request == 4
            assert loads["for_x"].requests == rows * warps
            assert loads["for_x"].sectors_per_request == 1
        later = t


@EXECUTOR
@pytest.mark.parametrize("kind", KINDS)
def test_a_step_is_a_launch_forward_and_one_back(kind, monkeypatch):
    steps, start, seen = 7, simt.dispatcher.start, []

    def watched(kernel, *rest):
        seen.append(kernel.py_func.__name__)
        return start(kernel, *rest)

    monkeypatch.setattr(simt.dispatcher, "start", watched)
    x, grad = random(steps, 2, 3, seed=4), random(steps, 2, 5, seed=5)
    (rung,) = implementations.of(f"{kind}_backward", "gpu")
    rung(grad, x, *[None] * (2 if kind == "lstm" else 1), *network(kind, 3, 5))
    counted = {name: seen.count(f"{name}_kernel") for name in (f"{kind}_keep", f"{kind}_back", "first_states")}
    assert counted == {f"{kind}_keep": steps, f"{kind}_back": steps, "first_states": 1}
