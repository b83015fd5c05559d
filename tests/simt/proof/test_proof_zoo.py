"""The zoo: no kernel with a race is proved free, no right one is said to fail."""

import sys
from pathlib import Path

import pytest

from simt import prove

sys.path.insert(0, str(Path(__file__).parents[2] / "zoo"))
from zoo_buggy import BUGGY
from zoo_correct import CORRECT

pytest.importorskip("z3", reason="pip install z3-solver")
RACES = {"race", "atomic-against-plain"}
PARTED = {"divergent-barrier", "barrier-after-exit"}


def name(animal):
    return animal.name


@pytest.mark.rotates
@pytest.mark.parametrize("animal", [a for a in BUGGY if a.expected & (RACES | PARTED)], ids=name)
def test_no_wrong_kernel_is_free(animal):
    verdict = prove(animal.kernel, *animal.make_arguments())
    assert not verdict.free
    if verdict.fails:
        assert verdict.finding.kind in RACES | PARTED
        assert animal.lines & set(verdict.finding.lines)


@pytest.mark.rotates
@pytest.mark.parametrize("animal", CORRECT, ids=name)
def test_what_fails_in_a_right_kernel_needs_another_block(animal):
    """With the block that it was written for, none fails; many are proved."""
    verdict = prove(animal.kernel, *animal.make_arguments(), block=animal.block)
    assert not verdict.fails, str(verdict)
