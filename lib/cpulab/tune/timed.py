"""Trials on the clock of a machine that is never quiet.

A configuration is built, its result is checked, and only then it is timed: in turns with the best one so far, so that
both meet the same disturbances. Its score is the ratio to that one times that one's score, in seconds.
"""

import time

from .. import measure
from .search import Failed


class Timed:
    """A trial for `search`.

    build: function of a configuration; it returns a function without arguments that does the work. check: function of
    the work's result; it returns None if that is right, else what is wrong, as a sentence. seconds: of measuring, for
    an effort of 1. ``compiled``: seconds that building and the first call took, in all.
    """

    def __init__(self, build, check, seconds=0.2, clock=None):
        self.build, self.check, self.budget, self.clock = build, check, seconds, clock
        self.best, self.score, self.compiled = None, None, 0.0

    def __call__(self, configuration, effort=1):
        run = self.ready(configuration)
        runs = {"this": run} if self.best is None else {"best": self.best, "this": run}
        measured = measure.times(runs, budget=self.budget * effort, clock=self.clock)
        score = measured.seconds["this"]
        if self.best is not None:
            score = self.score / measured.ratio("best", "this").ratio
        if self.best is None or score < self.score:
            self.best, self.score = run, score
        return score

    def ready(self, configuration):
        """The function that does the work, called once and found right; raises `Failed` otherwise."""
        begun = time.perf_counter()
        try:
            run = self.build(**configuration)
            result = run()
        except Exception as error:  # whatever it is: this configuration cannot be had
            raise Failed(f"{configuration}: {type(error).__name__}: {error}") from error
        self.compiled += time.perf_counter() - begun
        wrong = self.check(result)
        if wrong:
            raise Failed(f"{configuration}: {wrong}")
        return run

    def again(self, space, found, first=5, seconds=1.0):
        """`measure.Times` of the best few, all in turns: the best of many noisy trials was also a lucky one.

        Names are the numbers of the configurations.
        """
        scores = {trial.number: trial.score for trial in sorted(found.trials, key=lambda tried: tried.effort)}
        finalists = sorted(set(scores) - set(found.failed()), key=scores.get)[:first]
        runs = {number: self.ready(space[number]) for number in finalists}
        return measure.times(runs, budget=seconds, clock=self.clock)
