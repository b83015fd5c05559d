"""Spaces and searches: constraints hold, nothing is tried twice, a budget is kept, the best is found."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpulab.tune import STRATEGIES, Failed, Space, by_model, exhaustive, search, successive_halving
from cpulab.tune.strategies import FIRST, expected_improvement

ALL = {**STRATEGIES, "exhaustive": exhaustive}


@st.composite
def spaces(draw):
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    parameters = {f"p{axis}": tuple(range(2, 2 + size)) for axis, size in enumerate(sizes)}
    most = draw(st.integers(2 * len(sizes), 6 * len(sizes)))
    return Space(parameters, lambda c: sum(c.values()) <= most), most


@given(spaces())
@settings(max_examples=50, deadline=None)
def test_all_that_meets_the_constraints_and_nothing_else(made):
    space, most = made
    there = [space[number] for number in range(len(space))]
    assert all(sum(one.values()) <= most for one in there)
    assert [space.number(one) for one in there] == list(range(len(space)))
    count = sum(
        sum(space.parameters[name][i] for name, i in zip(space.parameters, point, strict=True)) <= most
        for point in np.ndindex(*(len(values) for values in space.parameters.values()))
    )
    assert count == len(space) == len(space.features())
    assert space.features().min() >= 0
    assert space.features().max() <= 1


@given(spaces())
@settings(max_examples=50, deadline=None)
def test_neighbours_are_one_step_away_and_each_is_the_neighbours_neighbour(made):
    space, _ = made
    for number in range(len(space)):
        for near in space.neighbours(number):
            assert number in space.neighbours(near)
            apart = [abs(space[number][name] - space[near][name]) for name in space.parameters]
            assert sorted(apart)[-1] == 1
            assert sum(apart) == 1


@pytest.mark.parametrize("name", ALL)
@given(made=spaces(), budget=st.integers(1, 12), seed=st.integers(0, 5))
@settings(max_examples=12, deadline=None)
def test_a_search_keeps_its_budget_and_tries_nothing_twice(name, made, budget, seed):
    space, most = made
    tried = []

    def trial(configuration, effort):
        assert sum(configuration.values()) <= most
        tried.append((tuple(configuration.values()), effort))
        return 1 + sum(configuration.values())

    found = search(space, trial, ALL[name], budget, seed)
    assert len(tried) == len(set(tried)) == len(found.trials)
    assert found.spent == pytest.approx(sum(effort for _, effort in tried))
    assert found.spent <= budget + 1e-9
    full = [sum(values) + 1 for values, effort in tried if effort == max(e for _, e in tried)]
    assert found.score == min(full) == 1 + sum(found.best.values())
    again = search(space, lambda c, effort: 1 + sum(c.values()), ALL[name], budget, seed)
    assert again.trials == found.trials


@pytest.mark.parametrize("name", ALL)
def test_without_a_budget_all_is_tried_and_the_best_found(name):
    space = Space({"a": range(7), "b": range(5)}, lambda c: (c["a"] + c["b"]) % 3)
    found = search(space, lambda c, effort: 1 + (c["a"] - 4) ** 2 + (c["b"] - 3) ** 2, ALL[name], seed=3)
    assert found.best == {"a": 4, "b": 3}
    assert found.score == 1
    if ALL[name] is not successive_halving:
        assert sorted(trial.number for trial in found.trials) == list(range(len(space)))


def test_what_looks_for_a_smooth_minimum_finds_it_sooner_than_chance():
    space = Space({"a": range(30), "b": range(30)})

    def trial(c, effort):
        return 1 + ((c["a"] - 21) / 30) ** 2 + ((c["b"] - 8) / 30) ** 2

    losses = {
        name: np.mean([search(space, trial, ALL[name], 40, seed).score for seed in range(6)])
        for name in ("random", "hill climb", "Bayesian")
    }
    assert losses["Bayesian"] < 1.001 < losses["random"]
    assert losses["hill climb"] < losses["random"] + 0.02


def test_successive_halving_gives_the_most_effort_to_few():
    space = Space({"a": range(64)})
    found = search(space, lambda c, effort: 1 + c["a"], successive_halving, 12)
    efforts = [trial.effort for trial in found.trials]
    assert efforts[:16] == [0.25] * 16
    assert efforts[16:24] == [0.5] * 8
    assert efforts[24:] == [1] * 4
    assert found.best["a"] == min(space[trial.number]["a"] for trial in found.trials)


def test_a_model_says_the_order():
    space = Space({"a": range(6)})
    found = search(space, lambda c, effort: 10 + c["a"], by_model([5, 0, 4, 1, 3, 2]), 3)
    assert [trial.number for trial in found.trials] == [1, 3, 5]
    assert found.best == {"a": 1}


def test_what_fails_is_told_and_never_chosen():
    space = Space({"a": range(5)})

    def trial(configuration, effort):
        if configuration["a"] < 2:
            raise Failed("a wrong result" if configuration["a"] else "")
        return configuration["a"]

    found = search(space, trial, exhaustive)
    assert found.best == {"a": 2}
    assert found.failed() == {0: "it failed", 1: "a wrong result"}
    with pytest.raises(ValueError, match=r"none of 2 trials succeeded; the first: it failed"):
        search(space, trial, exhaustive, budget=2)


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("name", ALL)
def test_failures_stop_no_strategy(name, few):
    """few: one alone does not fail, so that a model has long nothing to learn from."""
    space = Space({"a": range(20)})

    def trial(configuration, effort):
        if configuration["a"] % 2 or (few and configuration["a"]):
            raise Failed("odd")
        return 1 + configuration["a"]

    assert search(space, trial, ALL[name], seed=1).best == {"a": 0}


@pytest.mark.parametrize("score", [0, -1.0, math.nan, math.inf])
def test_a_score_that_is_no_time_is_refused(score):
    with pytest.raises(ValueError, match="expected a number above 0"):
        search(Space({"a": (1,)}), lambda c, effort: score, exhaustive)


def test_wrong_spaces_and_budgets_are_refused_with_what_to_do():
    with pytest.raises(ValueError, match="none of them empty"):
        Space({"a": ()})
    with pytest.raises(ValueError, match="a has a value twice"):
        Space({"a": (1, 2, 1)})
    with pytest.raises(ValueError, match="loosen them"):
        Space({"a": (1, 2)}, lambda c: c["a"] > 2)
    with pytest.raises(KeyError, match="not in the space"):
        Space({"a": (1, 2)}, lambda c: c["a"] > 1).number({"a": 1})
    with pytest.raises(ValueError, match="at least 1"):
        search(Space({"a": (1,)}), lambda c, effort: 1, exhaustive, budget=0.5)


def test_expected_improvement_is_the_mean_of_what_a_normal_variable_is_below_the_best():
    drawn = np.random.default_rng(0).normal(1.0, 0.3, 200_000)
    for best in (0.5, 1.0, 1.7):
        assert expected_improvement(1.0, 0.3, best) == pytest.approx(np.maximum(best - drawn, 0).mean(), abs=2e-3)
    assert expected_improvement(2.0, 0.0, 1.0) == pytest.approx(0, abs=1e-9)
    assert FIRST >= 2
