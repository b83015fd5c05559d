"""Fifty small kernels of known truth: the verdict is right, and the x-ray never finds what a proof excludes."""

import sys

import numpy as np
import pytest
from attacks import ATTACKS

from simt import cuda, prove
from simt.xray import xray

pytest.importorskip("z3", reason="pip install z3-solver")

SEEN = ("race", "atomic-against-plain", "divergent-barrier", "barrier-after-exit")


def fresh(launch):
    return [a() if callable(a) else a for a in launch[2:]]


def seen(attack, launch):
    report = xray(attack.kernel, launch[0], launch[1], attack.shared_bytes)(*fresh(launch))
    return {finding.kind for finding in report.findings} & set(SEEN)


@pytest.mark.rotates
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_the_verdict_is_right(attack):
    found = [seen(attack, launch) for launch in attack.launches]
    assert any(found) == attack.races, "the launches show what the kernel is"
    verdict = prove(attack.kernel, *fresh(attack.launches[0]))
    assert verdict.kind == ("fails" if attack.races else "free"), str(verdict)
    if verdict.fails:
        assert verdict.finding.kind in SEEN
        assert verdict.finding in verdict.launch.found


@pytest.mark.quick
def test_a_launch_that_fails_is_told_with_lines_threads_and_array():
    attack = next(a for a in ATTACKS if a.name == "stride_of_a_constant")
    verdict = prove(attack.kernel, *fresh(attack.launches[0]))
    assert np.prod(verdict.launch.block) > 32
    assert verdict.finding.array == "y"
    assert len(verdict.finding.threads) == 2
    assert "fails, for example when launched as `[" in str(verdict)
    assert repr(verdict) == str(verdict)
    assert prove(attack.kernel, *fresh(attack.launches[0]), block=32).free


@pytest.mark.quick
def test_a_proof_says_what_it_assumes():
    attack = next(a for a in ATTACKS if a.name == "stride_of_the_grid")
    text = str(prove(attack.kernel, "void(float32[:], float32[:])"))
    assert "free of races for every block size up to 1024, every grid and every array size" in text
    assert "do not overlap" in text
    assert "every loop ends" in text


@pytest.mark.quick
def test_without_z3_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "z3", None)
    with pytest.raises(ImportError, match="pip install z3-solver"):
        prove(ATTACKS[0].kernel, *fresh(ATTACKS[0].launches[0]))


@pytest.mark.quick
def test_types_must_be_those_of_the_parameters():
    with pytest.raises(TypeError, match=r"takes 2 arguments \(x, y\); types of 1 came"):
        prove(ATTACKS[0].kernel, np.zeros(3, np.float32))


@pytest.mark.quick
def test_there_are_enough_attacks():
    assert len(ATTACKS) >= 50
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert sum(attack.races for attack in ATTACKS) >= 30


def behind_a_float(x, y):
    i = cuda.grid(1)
    y[i // int(x[0])] = x[i]


@pytest.mark.quick
def test_a_launch_that_is_given_is_looked_at_and_changes_nothing():
    """What an index takes from a float, no formula has: the launch shows it."""
    x, y = np.full(64, 2, np.float32), np.zeros(64, np.float32)
    verdict = prove(behind_a_float, x, y, block=32, grid=2)
    assert verdict.fails
    assert not y.any()
    with pytest.raises(ValueError, match="a grid came without a block"):
        prove(behind_a_float, x, y, grid=2)


@pytest.mark.quick
def test_what_cannot_be_followed_is_named_with_its_line():
    def sliced(x, y):
        y[cuda.grid(1) :][0] = x[0]

    verdict = prove(sliced, "void(float32[:], float32[:])")
    assert not verdict.free
    text = str(verdict)
    assert verdict.fails or ("a slice of an array is not followed" in text and "(line" in text)
