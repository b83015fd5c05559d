"""Trials on a clock that the test controls."""

import pytest

from cpulab import measure
from cpulab.tune import Failed, Space, Timed, exhaustive, search

SPACE = Space({"n": (5, 3, 4, 2)})


class Clock(measure.Clock):
    """Goes on when work is done, and drifts: the same work takes longer and longer."""

    def __init__(self):
        super().__init__()
        self.time, self.drift = 0.0, 1.0

    def now(self):
        return self.time

    def sleep(self, seconds):
        self.time += seconds

    def own(self):
        return self.time

    everyone = own

    def others_work(self):
        return False

    def work(self, n):
        self.time += n * 1e-3 * self.drift
        return n


@pytest.fixture
def clock():
    return Clock()


def test_scores_compare_in_spite_of_a_machine_that_slows_down(clock):
    trial = Timed(lambda n: lambda: clock.work(n), lambda result: None, clock=clock)
    scores = []
    for number in range(len(SPACE)):
        scores.append(trial(SPACE[number]))
        clock.drift *= 3
    assert scores == pytest.approx([5e-3, 3e-3, 4e-3, 2e-3])


def test_what_computes_something_else_is_never_timed(clock):
    called = []

    def build(n):
        def run():
            called.append(n)
            return clock.work(n)

        return run

    trial = Timed(build, lambda result: "it is 2, not what was asked for" if result == 2 else None, clock=clock)
    found = search(SPACE, trial, exhaustive)
    assert found.best == {"n": 3}
    assert called.count(2) == 1
    assert list(found.failed().values()) == ["{'n': 2}: it is 2, not what was asked for"]


def test_what_does_not_run_is_told_with_its_error():
    def build(n):
        raise TypeError("no such tile")

    with pytest.raises(Failed, match=r"\{'n': 5\}: TypeError: no such tile"):
        Timed(build, lambda result: None)(SPACE[0])


def test_the_best_few_are_measured_again_in_turns(clock):
    trial = Timed(lambda n: lambda: clock.work(n), lambda result: None, clock=clock)
    found = search(SPACE, trial, exhaustive)
    measured = trial.again(SPACE, found, first=2)
    assert sorted(SPACE[number]["n"] for number in measured.seconds) == [2, 3]
    assert measured.ratio(SPACE.number({"n": 3}), SPACE.number({"n": 2})).ratio == pytest.approx(1.5)
