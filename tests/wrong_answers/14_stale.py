"""Answers to 14-stale."""

from answers import data

RIGHT = {"stale": {"rate": 0.64, "staleness": 2}, "divided": {"rate": 1.95, "staleness": 3}}

at_the_edge = data(
    "right", RIGHT | {"stale": {"rate": 0.63, "staleness": 2}, "divided": {"rate": 1.99, "staleness": 2}}
)
far_too_late = data("right", RIGHT | {"divided": {"rate": 1.8, "staleness": 50}})
a_small_rate = data("wrong agrees: Halve what is between", RIGHT | {"stale": {"rate": 0.5, "staleness": 2}})
nearly = data("wrong agrees: Halve what is between", RIGHT | {"stale": {"rate": 0.61, "staleness": 2}})
more_staleness = data("wrong not-allowed: a staleness of at most 2", RIGHT | {"stale": {"rate": 0.6, "staleness": 5}})
nobody_converges = data(
    "wrong right-fails-too: however fresh the gradient is", RIGHT | {"divided": {"rate": 2.5, "staleness": 4}}
)
staleness_1 = data("wrong agrees: only just converge", RIGHT | {"divided": {"rate": 1.99, "staleness": 1}})
half_a_step = data("wrong not-allowed: with a point", RIGHT | {"divided": {"rate": 1.9, "staleness": 2.5}})
a_negative_rate = data(
    "wrong not-allowed: a number from 0.001 to 10", RIGHT | {"divided": {"rate": -1, "staleness": 2}}
)
