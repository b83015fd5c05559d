"""The search: a strategy asks, a trial answers, a budget ends it."""

import math
from dataclasses import dataclass, field

import numpy as np

EPSILON = 1e-9  # efforts are sums of fractions


class Failed(Exception):
    """Raised by a trial of a configuration that does not run, or computes something else; it is never chosen."""


@dataclass(frozen=True)
class Trial:
    number: int  # of the configuration
    effort: float
    score: float  # infinite: it failed
    spent: float  # efforts of all trials up to this one
    why: str = ""  # it failed


@dataclass(frozen=True)
class Found:
    """best: a configuration, of the trials with the most effort the one with the least score; trials: all of them."""

    best: dict
    score: float
    trials: list = field(repr=False)

    @property
    def spent(self):
        return self.trials[-1].spent

    def failed(self):
        """{number of a configuration: why} of those that failed."""
        return {trial.number: trial.why for trial in self.trials if trial.why}


def search(space, trial, strategy, budget=math.inf, seed=0):
    """Try configurations until the budget is spent or the strategy ends. Returns `Found`.

    trial: function of (configuration, effort) that returns its score, less is better, or raises `Failed`. strategy:
    one of strategies.py. budget: the sum of efforts that is not exceeded. The same configuration with the same effort
    is tried once; asked again, the strategy gets the same answer, for nothing. Raises ValueError if no trial succeeded.
    """
    if not budget >= 1:
        raise ValueError(f"budget is {budget}; expected at least 1, one whole trial")
    asking, known, trials, spent = strategy(space, np.random.default_rng(seed), budget), {}, [], 0.0
    answer = None
    while True:
        try:
            number, effort = asking.send(answer)
        except StopIteration:
            break
        if (number, effort) not in known:
            if spent + effort > budget + EPSILON:
                break
            spent += effort
            score, why = _tried(trial, space[number], effort)
            known[number, effort] = score
            trials.append(Trial(number, effort, score, spent, why))
        answer = known[number, effort]
    asking.close()
    good = [tried for tried in trials if not tried.why]
    if not good:
        why = f"; the first: {trials[0].why}" if trials else ""
        raise ValueError(f"none of {len(trials)} trials succeeded{why}. Expected one at least: loosen the check")
    best = min(good, key=lambda tried: (-tried.effort, tried.score))
    return Found(space[best.number], best.score, trials)


def _tried(trial, configuration, effort):
    try:
        score = float(trial(configuration, effort))
    except Failed as failed:
        return math.inf, str(failed) or "it failed"
    if not 0 < score < math.inf:  # not a number, too
        raise ValueError(f"trial of {configuration} returned {score}; expected a number above 0, or `Failed` raised")
    return score, ""
