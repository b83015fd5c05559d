"""NumPy at its best: a variable that slows it down is taken out, and that is said."""

import subprocess
import sys

import pytest

from cpulab.measure import peers


@pytest.fixture
def no_handicaps(monkeypatch):
    for name in peers.HANDICAPS:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_where_nothing_is_set_the_product_is_timed_here(no_handicaps):
    no_handicaps.setattr(subprocess, "run", None)
    seconds, told = peers.matmul_seconds(64, budget=0.05)
    assert seconds > 0
    assert told == ""
    assert peers.warning() == ""


def test_a_variable_that_slows_numpy_down_is_taken_out_and_named(no_handicaps):
    no_handicaps.setenv("OPENBLAS_CORETYPE", "Haswell")
    no_handicaps.setattr(peers, "times", None)  # not in this process
    seconds, told = peers.matmul_seconds(64, budget=0.05)
    assert seconds > 0
    assert "a process of its own, without OPENBLAS_CORETYPE=Haswell (OpenBLAS takes the kernels of" in told
    assert "slowed down here by OPENBLAS_CORETYPE=Haswell" in peers.warning()


def test_the_process_of_its_own_has_the_kernels_of_this_processor(no_handicaps):
    ask = "from cpulab.measure.machine import blas_kernels; print(blas_kernels())"

    def kernels():
        return subprocess.run(
            [sys.executable, "-c", ask], env=peers.environment(), capture_output=True, text=True
        ).stdout

    best = kernels()
    no_handicaps.setenv("OPENBLAS_CORETYPE", "Prescott")
    assert kernels() == best
