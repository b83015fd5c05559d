"""Amdahl's and Gustafson's laws, and their measurement on a machine whose clock and workers the test controls."""

import numba
import numpy as np
import pytest

from cpulab.measure import amdahl, gustafson, serial_share, strong_scaling, weak_scaling

from .test_timing import Machine

pytestmark = pytest.mark.quick


class Team:
    """Workers that share the divisible part of a job evenly, on a `Machine` whose clock they move."""

    def __init__(self, serial, divisible, per_start=0.0):
        self.machine, self.workers = Machine(), 1
        self.serial, self.divisible, self.per_start = serial, divisible, per_start
        self.asked = []

    def use(self, workers):
        self.workers = workers
        self.asked.append(workers)

    def job(self, size=1):
        seconds = self.serial + size * self.divisible / self.workers + self.per_start * (self.workers - 1)
        self.machine.advance(seconds, working=True)

    def strong(self, workers):
        return strong_scaling(self.job, workers, self.use, clock=self.machine)

    def weak(self, workers):
        return weak_scaling(self.job, workers, self.use, clock=self.machine)


def test_the_laws():
    assert amdahl(0, 7) == 7
    assert amdahl(1, 7) == 1
    assert amdahl(0.05, 1e12) == pytest.approx(20)
    assert gustafson(0, 7) == 7
    assert gustafson(1, 7) == 1
    assert gustafson(0.25, 3) == pytest.approx(2.5)


@pytest.mark.parametrize("workers", [2, 5, 64])
@pytest.mark.parametrize("serial", [0.0, 0.1, 0.7, 1.0])
def test_the_laws_are_one_law_seen_from_two_sides(serial, workers):
    """The parallel run of a job with Amdahl's share s spends a share s' of its time alone; both give the same
    speed-up."""
    alone = serial * amdahl(serial, workers)
    assert gustafson(alone, workers) == pytest.approx(amdahl(serial, workers))


@pytest.mark.parametrize("law", [amdahl, gustafson])
@pytest.mark.parametrize(("serial", "workers"), [(-0.1, 2), (1.1, 2), (0.5, 0), (float("nan"), 2)])
def test_impossible_arguments_are_refused(law, serial, workers):
    with pytest.raises(ValueError, match="expected"):
        law(serial, workers)


@pytest.mark.parametrize("workers", [(1, 2), (1, 2, 4, 8), (2, 3, 16)])
@pytest.mark.parametrize("serial", [0.0, 0.03, 0.5, 1.0])
def test_the_share_is_found_again(serial, workers):
    seconds = {n: 7 * (serial + (1 - serial) / n) for n in workers}
    assert serial_share(seconds) == pytest.approx(serial, abs=1e-12)


def test_the_share_of_noisy_times_is_the_one_of_least_squares():
    rng = np.random.default_rng(1)
    workers = np.array([1, 2, 4, 8])
    seconds = (0.2 + 0.8 / workers) * rng.uniform(0.95, 1.05, 4)
    (fixed, divisible), *_ = np.linalg.lstsq(np.stack([np.ones(4), 1 / workers], 1), seconds)
    expected = fixed / (fixed + divisible)
    assert serial_share(dict(zip(workers.tolist(), seconds.tolist(), strict=True))) == pytest.approx(expected)


def test_shares_outside_0_to_1_are_told_as_they_are():
    assert serial_share({1: 1.0, 2: 0.4}) < 0
    assert serial_share({1: 1.0, 2: 1.3}) > 1


@pytest.mark.parametrize(
    "seconds", [{}, {1: 1.0}, [1.0, 0.5], {1: 1.0, 2: 0.0}, {1: 1.0, 2: float("nan")}, {0: 1, 1: 1}]
)
def test_times_that_cannot_be_fitted_are_refused(seconds):
    with pytest.raises(ValueError, match=r"expected|must be"):
        serial_share(seconds)


def test_strong_scaling_measures_amdahls_law():
    team = Team(serial=0.001, divisible=0.004)
    measured = team.strong((1, 2, 8))
    for n in (1, 2, 8):
        assert measured.speedup(n).ratio == pytest.approx(amdahl(0.2, n))
        assert measured.efficiency(n) == pytest.approx(amdahl(0.2, n) / n)
    assert float(measured.serial) == pytest.approx(0.2)
    assert measured.seconds[1] == pytest.approx(0.005)
    assert set(team.asked) == {1, 2, 8}


def test_the_cost_of_starting_workers_is_taken_for_serial_work():
    exact, costly = Team(0.001, 0.004), Team(0.001, 0.004, per_start=0.0005)
    assert float(costly.strong((1, 2)).serial) > float(exact.strong((1, 2)).serial) + 0.1


def test_efficiency_is_relative_to_the_fewest_workers():
    measured = Team(0, 0.004).strong((2, 4))
    assert measured.speedup(4).ratio == pytest.approx(2)
    assert measured.efficiency(4) == pytest.approx(1)


def test_weak_scaling_measures_gustafsons_law():
    measured = Team(serial=0.001, divisible=0.003).weak((1, 2, 8))
    for n in (1, 2, 8):
        assert measured.speedup(n).ratio == pytest.approx(gustafson(0.25, n))
        assert measured.efficiency(n) == pytest.approx(1)


def test_tables_print_and_show():
    team = Team(0.001, 0.004)
    strong, weak = team.strong((1, 2)), team.weak((1, 2))
    assert "Serial share that fits: 20.0% (20.0% to 20.0%)" in str(strong)
    assert "<td style='text-align:right'>1.67</td>" in strong._repr_html_()
    assert "scaled speed-up" in repr(weak)
    assert "1.80" in weak._repr_html_()


def test_tables_say_when_others_had_the_cores():
    team = Team(0.001, 0.004)
    assert "other programs" not in str(team.strong((1, 2)))
    team.machine.others = ((0, 1e9),)
    assert "(other programs were running)" in str(team.strong((1, 2)))
    assert "(other programs were running)" in str(team.weak((1, 2)))


def test_a_share_without_meaning_prints_no_digits():
    hindered = Team(0.001, 0.004, per_start=1.0).strong((1, 2))
    assert str(hindered.serial) == "far above 100%"


@pytest.mark.parametrize("workers", [(), (1,), (2, 1), (1, 1), (0, 1)])
def test_workers_must_rise(workers):
    with pytest.raises(ValueError, match="rising numbers"):
        strong_scaling(lambda: None, workers)


def test_numbas_threads_are_used_and_given_back():
    most, seen = numba.config.NUMBA_NUM_THREADS, []
    if most == 1:
        pytest.skip("numba has one thread here")
    before = numba.get_num_threads()
    team = Team(0.001, 0.004)
    strong_scaling(lambda: (seen.append(numba.get_num_threads()), team.job()), clock=team.machine)
    assert set(seen) >= {1, most}
    assert numba.get_num_threads() == before

    def fails():
        raise KeyError("job")

    with pytest.raises(KeyError):
        strong_scaling(fails, clock=team.machine)
    assert numba.get_num_threads() == before
