"""Trainings as tasks of Dask: the numbers of a loop, also if a worker is lost. What is `slow` needs a folder with Dask:

make build/dask
PYTHONPATH=$PWD/build/dask .venv/bin/python -m pytest tests/workers/test_coarse.py -m slow
"""

import os
import signal
from types import SimpleNamespace

import numpy as np
import pytest

from workers import coarse
from workers.examples import DigitsMLP

NO_DASK = "Dask is not installed (see the head of this file)"
SETTINGS = [{"lr": lr, "width": width} for lr in (0.05, 0.2) for width in (8, 32)]


def test_a_training_repeats_itself_and_learns():
    found = [coarse.train(0.2, part=(1, 3), epochs=2, seed=5) for _ in range(2)]
    for one, other in zip(found[0]["weights"], found[1]["weights"], strict=True):
        assert one.tobytes() == other.tobytes()
    before = coarse.train(0.2, epochs=0)["loss"]
    assert found[0]["loss"] == found[1]["loss"] < 0.9 * before
    again = coarse.train(0.2, epochs=0, weights=found[0]["weights"])
    assert again["loss"] == found[0]["loss"]
    with pytest.raises(ValueError, match="zip"):
        coarse.train(0.2, weights=found[0]["weights"][:-1])


class Here:
    """A client that calls at once."""

    def scatter(self, value, broadcast):
        return value

    def nthreads(self):
        return {"here": 1}

    def submit(self, function, *args, actor=False, pure=None, workers=None, allow_other_workers=False, **named):
        found = function(*args, **named)
        return SimpleNamespace(result=lambda: Actor(found) if actor else found, found=found)

    def gather(self, futures):
        return [future.found for future in futures]


class Actor:
    def __init__(self, there):
        self.there = there

    def __getattr__(self, name):
        return lambda *args: SimpleNamespace(result=lambda: getattr(self.there, name)(*args))


def test_one_part_is_an_epoch_after_the_other():
    found = coarse.local_epochs(Here(), 2, 1, 0.1)
    weights = None
    for seed in range(2):
        weights = coarse.train(0.1, weights=weights, seed=seed)["weights"]
    for mine, expected in zip(found["weights"], weights, strict=True):
        assert mine.tobytes() == expected.tobytes()
    two = coarse.local_epochs(Here(), 1, 2, 0.1)["weights"]
    parts = [coarse.train(0.1, part=(k, 2))["weights"] for k in range(2)]
    for mine, *both in zip(two, *parts, strict=True):
        np.testing.assert_allclose(mine, (both[0] + both[1]) / 2, rtol=1e-6)


def test_a_server_that_nobody_waits_at():
    found = coarse.asynchronous(Here(), 1, 30, 0.1)
    assert found["staleness"] == [0] * 30
    assert found["loss"] < coarse.train(0, epochs=0, weights=[p.data for p in DigitsMLP().parameters()])["loss"]


@pytest.mark.slow
def test_on_a_cluster():
    pytest.importorskip("distributed", reason=NO_DASK)
    expected = [coarse.train(**setting)["loss"] for setting in SETTINGS]
    with coarse.cluster(2) as client:
        assert coarse.sweep(client, SETTINGS) == pytest.approx(expected, rel=1e-6)
        found, here = coarse.local_epochs(client, 3, 2, 0.1), coarse.local_epochs(Here(), 3, 2, 0.1)
        assert found["losses"] == pytest.approx(here["losses"], rel=1e-6)
        assert found["losses"][-1] < found["losses"][0]
        server = coarse.asynchronous(client, 2, 40, 0.1)
        assert len(server["staleness"]) == 40
        assert server["loss"] < 2.2


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_finishes():
    pytest.importorskip("distributed", reason=NO_DASK)
    expected = [coarse.train(**setting)["loss"] for setting in SETTINGS]
    with coarse.cluster(2) as client:
        pids = client.run(os.getpid)

        def kill(number):
            if number == 1:
                os.kill(next(iter(pids.values())), signal.SIGKILL)

        assert coarse.sweep(client, SETTINGS, kill) == pytest.approx(expected, rel=1e-6)
        assert set(client.run(os.getpid).values()) != set(pids.values())
