"""The statistics of timing, on a machine whose clock the test controls; no test depends on real speed."""

import gc
import itertools
from types import SimpleNamespace

import numba
import numpy as np
import pytest

from cpulab.measure import ThreadClock, fastest, limit_threads, ratio, times, timing

pytestmark = pytest.mark.quick


class Machine(timing.Clock):
    """A clock that only moves when a candidate runs or somebody sleeps."""

    def __init__(self):
        self.time = self.used = 0.0
        self.lingering_until = 0.0  # worker threads of this process spin until then
        self.others = ()  # (begin, end): another program uses one core
        self.own_is_fine = True
        self.log = []

    def advance(self, seconds, working):
        spinning = max(0.0, min(self.time + seconds, self.lingering_until) - self.time)
        self.used += (seconds if working else 0.0) + spinning
        self.time += seconds

    def now(self):
        return self.time

    def sleep(self, seconds):
        self.advance(seconds, working=False)

    def own(self):
        return self.used

    def others_work(self):
        before = self.used
        self.sleep(0.001)
        return self.used > before

    def everyone(self):
        return self.used + sum(max(0.0, min(end, self.time) - begin) for begin, end in self.others)

    def disturbed(self):
        return any(begin <= self.time < end for begin, end in self.others)

    def candidate(self, cost, name="", first=0.0, lingers=0.0):
        """A function that takes ``cost(time)`` or ``cost`` seconds, ``first`` more the first time."""
        calls = itertools.count()

        def run():
            self.log.append(name)
            seconds = cost(self.time) if callable(cost) else cost
            self.advance(seconds + (first if next(calls) == 0 else 0.0), working=True)
            self.lingering_until = max(self.lingering_until, self.time + lingers)

        return run


@pytest.fixture
def machine():
    return Machine()


def test_ratio_is_peer_time_over_our_time(machine):
    r = ratio(machine.candidate(0.004), machine.candidate(0.001), clock=machine)
    assert float(r) == pytest.approx(4)
    assert (r.low, r.high) == pytest.approx((4, 4))
    assert (r.seconds, r.peer_seconds) == pytest.approx((0.001, 0.004))
    assert not r.busy
    assert "4.00x (4.00 to 4.00; 1.00\xa0ms against 4.00\xa0ms" in str(r)


def test_compilation_is_not_counted(machine):
    r = ratio(machine.candidate(0.002), machine.candidate(0.001, first=30.0), clock=machine)
    assert r.ratio == pytest.approx(2)


def test_a_drifting_clock_does_not_change_the_ratio(machine):
    slower = lambda cost: lambda time: cost * (1 + time)  # noqa: E731
    r = ratio(machine.candidate(slower(0.002)), machine.candidate(slower(0.001)), clock=machine)
    assert r.ratio == pytest.approx(2, rel=0.05)
    assert r.peer_seconds > 0.003  # the times themselves did drift


def test_single_spikes_do_not_change_the_ratio(machine):
    count = itertools.count()
    spiky = lambda time: 0.5 if next(count) % 97 == 0 else 0.001  # noqa: E731
    r = ratio(machine.candidate(0.002), machine.candidate(spiky), clock=machine, budget=20)
    assert r.ratio == pytest.approx(2, rel=0.01)


def test_the_best_is_what_a_busy_machine_let_through(machine):
    count = itertools.count()
    mostly_slow = lambda time: 0.001 if next(count) % 7 == 3 else 0.002  # noqa: E731
    found = times({"a": machine.candidate(0.1), "b": machine.candidate(mostly_slow)}, clock=machine, budget=20)
    assert found.best["a"] == pytest.approx(0.1)
    assert found.best["b"] < found.seconds["b"]
    assert found.best["b"] == min(found.samples["b"])


def test_fastest_is_the_least_of_many_calls_in_turns(machine):
    count = itertools.count()
    mostly_slow = lambda time: 0.001 if next(count) % 7 == 3 else 0.002  # noqa: E731
    a, b = machine.candidate(0.1, "a", first=5), machine.candidate(mostly_slow, "b")
    assert fastest({"a": a, "b": b}, limit=100, clock=machine) == pytest.approx({"a": 0.1, "b": 0.001})
    assert machine.log == ["a", "b"] * 61


@pytest.mark.parametrize(("steps", "waits"), [(1e-9, 0), (0.016, 0.01)], ids=["fine", "coarse"])
def test_a_thread_clock_leaves_out_the_time_without_a_core(machine, monkeypatch, steps, waits):
    """But not where the system counts processor time in steps of milliseconds."""
    clocks = {"perf_counter": machine.now, "thread_time": machine.own, "process_time": machine.own}
    info = {"get_clock_info": lambda name: SimpleNamespace(resolution=steps)}
    monkeypatch.setattr(timing, "time", SimpleNamespace(**clocks, **info))
    functions = {"waits": lambda: machine.sleep(0.01), "works": machine.candidate(0.002)}
    assert fastest(functions, 7, clock=ThreadClock()) == pytest.approx({"waits": waits, "works": 0.002})


def test_fastest_stops_at_its_limit_after_seven_rounds(machine):
    fastest({"a": machine.candidate(1.0, "a")}, limit=2, clock=machine)
    assert len(machine.log) == 1 + 7


def lingering_blas(machine):
    """A peer whose workers spin 30 ms after its work, and a victim that they make twice as slow."""
    victim = machine.candidate(lambda time: 0.002 if time < machine.lingering_until else 0.001)
    return machine.candidate(0.01, lingers=0.03), victim


def test_lingering_workers_of_the_peer_are_waited_for(machine):
    assert ratio(*lingering_blas(machine), clock=machine).ratio == pytest.approx(10)


def test_without_waiting_the_lingering_workers_would_be_seen(machine, monkeypatch):
    monkeypatch.setattr(timing, "settle", lambda clock: None)
    assert ratio(*lingering_blas(machine), clock=machine).ratio < 9


def test_settle_gives_up_on_a_process_that_never_rests(machine):
    machine.lingering_until = 100.0
    timing.settle(machine, limit=0.2)
    assert machine.time == pytest.approx(0.2, abs=0.005)


def test_settle_sleeps_a_fixed_time_where_processor_time_is_coarse(machine):
    machine.own_is_fine = False
    timing.settle(machine)
    assert machine.time == pytest.approx(0.05)


def test_rounds_disturbed_by_other_programs_are_discarded(machine):
    machine.others = [(t, t + 0.2) for t in np.arange(0.3, 20, 0.5)]
    peer = machine.candidate(lambda time: 0.008 if machine.disturbed() else 0.002)
    r = ratio(peer, machine.candidate(0.001), clock=machine, rounds=40, budget=10)
    assert r.ratio == pytest.approx(2)
    assert r.discarded > 0
    assert not r.busy


def test_a_machine_that_is_never_quiet_is_said_to_be_busy(machine):
    machine.others = [(0.0, 1000.0)]
    r = ratio(machine.candidate(0.002), machine.candidate(0.001), clock=machine, budget=1)
    assert r.busy
    assert r.rounds >= timing.LEAST_ROUNDS
    assert "machine busy" in str(r)


def test_a_steady_machine_needs_few_rounds_and_a_shaky_one_more(machine):
    steady = ratio(machine.candidate(0.002), machine.candidate(0.001), clock=machine, budget=100)
    random = np.random.default_rng(0)
    shaky_cost = lambda time: 0.05 * random.uniform(0.5, 1.5)  # noqa: E731
    shaky = ratio(machine.candidate(0.05), machine.candidate(shaky_cost), clock=machine, budget=100)
    assert steady.rounds < 10 < shaky.rounds <= 50
    assert shaky.low < shaky.ratio < shaky.high


def test_budget_bounds_the_rounds_but_three_are_made(machine):
    times({"slow": machine.candidate(10.0)}, clock=machine, budget=1)
    assert machine.log.count("") == 2 + 3  # warm-up, calibration; in a call so long nothing has to be warmed up again
    machine.log.clear()
    times({"shorter": machine.candidate(0.09)}, clock=machine, budget=0.1)
    assert machine.log.count("") == 2 + 3 * 2  # an untimed call in each round
    machine.log.clear()
    begin = machine.time
    random = np.random.default_rng(0)
    noisy = machine.candidate(lambda time: random.uniform(0.01, 0.1))
    times({"a": noisy, "b": machine.candidate(0.05)}, clock=machine, budget=2, rounds=1000)
    assert machine.time - begin < 3


def test_fast_functions_are_called_many_times_per_sample(machine):
    result = times({"fast": machine.candidate(1e-6)}, clock=machine, budget=0.2)
    assert result.seconds["fast"] == pytest.approx(1e-6)
    assert len(machine.log) > 10_000


def test_candidates_change_places_from_round_to_round(machine):
    candidates = {name: machine.candidate(0.1, name) for name in "abc"}
    times(candidates, clock=machine, rounds=3)
    order = machine.log[2 * 3 :]  # after warm-up and calibration of each
    firsts = [order[k] for k in range(0, len(order), 6)]
    assert firsts == ["a", "b", "c"]


def test_several_candidates_at_once(machine):
    result = times({name: machine.candidate(cost) for name, cost in [("x", 0.004), ("y", 0.002)]}, clock=machine)
    assert result.ratio("x", "y").ratio == pytest.approx(2)
    assert result.to_dict()["y"]["ratio"] == pytest.approx(2)
    assert [row[0] for row in result.table().rows] == ["x", "y"]
    assert "<table>" in result._repr_html_()
    with pytest.raises(ValueError, match="no candidate is called 'z'; there are x, y"):
        result.ratio("x", "z")


@pytest.mark.parametrize("candidates", [{}, [print], {"a": 3}, None])
def test_wrong_candidates_are_said(candidates):
    with pytest.raises(TypeError, match="dict of name -> function"):
        times(candidates)


def test_wrong_budget_is_said():
    with pytest.raises(ValueError, match="budget must be positive"):
        times({"a": print}, budget=0)


def test_garbage_collection_is_restored_after_an_error(machine):
    calls = itertools.count()

    def fails_later():
        machine.advance(0.1, working=True)
        if next(calls) == 3:
            raise RuntimeError("from the candidate")

    with pytest.raises(RuntimeError, match="from the candidate"):
        times({"a": fails_later}, clock=machine)
    assert gc.isenabled()


def test_threads_are_limited_and_restored():
    before = numba.get_num_threads()
    seen = []
    times({"a": lambda: seen.append(numba.get_num_threads())}, threads=1, budget=0.01)
    assert set(seen) == {1}
    assert numba.get_num_threads() == before
    with pytest.raises(ValueError, match="this machine offers numba 1 to"), limit_threads(10_000):
        pass


def test_the_real_clock():
    array = np.zeros(1000)
    result = times({"a": array.sum, "b": lambda: array.sum()}, budget=0.1)
    assert set(result.seconds) == {"a", "b"}
    r = result.ratio("a", "b")
    assert 0 < r.low <= r.ratio <= r.high  # exact: quartiles, whatever came
