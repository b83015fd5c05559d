"""Every method over real processes: the bits that threads give; and an asynchronous training that learns."""

import pytest
from methods import all_of_them, asynchronous
from nets import same_bits

from workers import processes, threads

pytestmark = pytest.mark.rotates(whole=True)


def test_processes_give_the_bits_of_threads():
    with processes.Workers(2) as workers:
        found = workers.run(all_of_them)
    for mine, expected in zip(found, threads.run(all_of_them, 2), strict=True):
        assert mine.keys() == expected.keys() == {"data", "zero", "tensor", "context", "experts", "pipeline"}
        for name in mine:
            same_bits(mine[name], expected[name])


def test_an_asynchronous_training_by_processes():
    (before, after), *steps = processes.run(asynchronous, 3)
    assert sum(steps) == 30
    assert after < 0.9 * before
