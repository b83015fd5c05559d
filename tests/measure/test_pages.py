"""New memory: zeros, page by page, each first touch a fault that is counted."""

import numpy as np
import pytest

from cpulab.measure import new_memory, page_faults
from cpulab.measure.pages import PAGE

pytestmark = pytest.mark.quick


def test_each_page_faults_once():
    pages = 512
    memory = new_memory(pages * PAGE)
    faults = []
    for _ in range(2):
        before = page_faults()
        memory[::PAGE] = 1
        faults.append(page_faults() - before)
    assert faults[0] >= pages // 32  # a system may provide some pages at once
    assert faults[1] < faults[0]


def test_memory_is_zero_writable_and_shaped():
    memory = new_memory((3, 5), np.float32)
    assert memory.shape == (3, 5)
    assert memory.dtype == np.float32
    assert not memory.any()
    memory[:] = 2
    assert memory.sum() == 30


def test_no_elements_are_refused():
    with pytest.raises(ValueError, match="at least one element"):
        new_memory((0, 4))
