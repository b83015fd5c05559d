"""The slow step of chapter 15 computes the same, whatever of it is mended."""

import numpy as np
import pytest

from training.slow import FAULTS, Step


@pytest.fixture(scope="module")
def losses():
    step = Step(FAULTS)
    return [step() for _ in range(3)]


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_alone_changes_no_loss(fault, losses):
    step = Step([one for one in FAULTS if one != fault])
    np.testing.assert_allclose([step() for _ in range(3)], losses, rtol=1e-5)
    assert losses[2] < losses[0]


def test_all_faults_change_no_loss(losses):
    step = Step()
    np.testing.assert_allclose([step() for _ in range(3)], losses, rtol=1e-5)
    assert {w.dtype for w in step.weights} == {np.dtype(np.float64)}


def test_a_wrong_name_is_told():
    with pytest.raises(ValueError, match=r"np\.add\.at"):
        Step(["add.at"])
