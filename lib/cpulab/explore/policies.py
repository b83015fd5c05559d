"""Who goes on at a point: ways to choose a schedule. Each returns the number of a task out of `options` and `late`.

`options` are the tasks that can go on; `late` ones sleep or wait with a timeout, and choosing one lets its time pass.
"""

import random


class Policy:
    """Base of all: what to do when a thread had its share and must let others go on.

    every_step: asked also where only one task can go on; then nobody has to let others go on.
    """

    every_step = False

    def tired(self, task):
        """`task` made many points in a row; it is not among the options now."""


class Follow(Policy):
    """The default everywhere but at the points named in `choices` {index: task}. Replays any run."""

    def __init__(self, choices=None):
        self.choices = choices or {}

    def choose(self, index, default, options, late):
        return self.choices.get(index, default)


class Lockstep(Policy):
    """Every thread makes `steps` points, then the next one: finds what happens when threads move together."""

    def __init__(self, steps):
        self.steps, self.run, self.last = steps, 0, None

    def choose(self, index, default, options, late):
        if self.last in options and self.run < self.steps:
            self.run += 1
            return self.last
        later = [t for t in options if self.last is not None and t > self.last]
        self.last, self.run = min(later or options), 1
        return self.last


class Priorities(Policy):
    """Random priorities with `changes` random drops: probabilistic concurrency testing (Burckhardt et al. 2010)."""

    def __init__(self, seed, length, changes):
        self.random = random.Random(seed)
        self.drops = {self.random.randrange(max(1, length)) for _ in range(changes)}
        self.priority, self.low = {}, 0

    def choose(self, index, default, options, late):
        for task in options:
            if task not in self.priority:
                self.priority[task] = self.random.random()
        best = max(options, key=self.priority.get)
        if index in self.drops:
            self.low -= 1
            self.priority[best] = self.low
            best = max(options, key=self.priority.get)
        if late and self.random.random() < 0.05:
            return self.random.choice(late)
        return best

    def tired(self, task):
        self.low -= 1
        self.priority[task] = self.low


class Coin(Policy):
    """At every point another thread with probability `p`."""

    def __init__(self, seed, p):
        self.random, self.p = random.Random(seed), p

    def choose(self, index, default, options, late):
        if self.random.random() >= self.p:
            return default
        return self.random.choice(options + late)
