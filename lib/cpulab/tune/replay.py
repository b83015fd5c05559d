"""A recorded exhaustive search, and strategies that run on it: exactly, in milliseconds, as often as wanted.

Of each configuration the record has several samples. Trials draw from every other one; the least of the others is what
the configuration is worth (other programs only ever add time). So no configuration is judged by the luck for which it
was chosen.
"""

import numpy as np

from .search import search


class Replay:
    """space: all configurations. samples: (configurations, rounds) of seconds, an even number of rounds.

    compile: seconds before the first call, for each configuration; variant: which compiled code it needs.
    """

    def __init__(self, space, samples, compile=None, variant=None):
        samples = np.asarray(samples, np.float64)
        if samples.ndim != 2 or len(samples) != len(space) or samples.shape[1] < 2 or samples.shape[1] % 2:
            raise ValueError(
                f"samples has shape {samples.shape}; expected ({len(space)}, an even number of rounds): a line for "
                "each configuration of the space"
            )
        self.space, self.drawn, self.true = space, samples[:, ::2], samples[:, 1::2].min(axis=1)
        self.compile = np.zeros(len(space)) if compile is None else np.asarray(compile, np.float64)
        self.variant = list(range(len(space))) if variant is None else list(variant)

    @property
    def best(self):
        """Seconds of the best configuration."""
        return self.true.min()

    def trial(self, rng):
        """The trial of one run: the least of some samples, as many as the effort says, at least one."""
        rounds = self.drawn.shape[1]

        def score(configuration, effort):
            taken = rng.permutation(rounds)[: max(1, round(effort * rounds))]
            return self.drawn[self.space.number(configuration), taken].min()

        return score

    def run(self, strategy, budget, seed, space=None):
        """`Found` by one run of a strategy. space: a part of the space, if not all of it is searched."""
        return search(space or self.space, self.trial(np.random.default_rng([seed, 1])), strategy, budget, seed)

    def loss(self, configuration):
        """Its seconds over those of the best: 1 is the best."""
        return self.true[self.space.number(configuration)] / self.best

    def progress(self, found, budget, space=None):
        """Float64 (budget,): the loss of what would be chosen after 1, 2, ... whole trials; NaN before the first."""
        space, losses, chosen, rank = space or self.space, np.full(int(budget), np.nan), None, None
        for trial in found.trials:
            if not trial.why and (rank is None or (-trial.effort, trial.score) < rank):
                chosen, rank = trial.number, (-trial.effort, trial.score)
            if chosen is not None:
                losses[int(np.ceil(trial.spent - 1e-9)) - 1 :] = self.loss(space[chosen])
        return losses

    def trials_to(self, losses, within=1.05):
        """The trials after which the loss is at most `within` and stays so; None if it never is."""
        late = np.flatnonzero(~(losses <= within))
        needed = 1 if not late.size else int(late[-1]) + 2
        return needed if needed <= len(losses) else None

    def seconds(self, found, space=None):
        """What a run took: the code that it compiled, and the calls that it timed."""
        space, compiled, total = space or self.space, set(), 0.0
        for trial in found.trials:
            number = self.space.number(space[trial.number])
            if self.variant[number] not in compiled:
                compiled.add(self.variant[number])
                total += self.compile[number]
            total += max(1, round(trial.effort * self.drawn.shape[1])) * self.true[number]
        return total
