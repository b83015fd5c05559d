"""Learning rates that change: a schedule sets `optimizer.lr` each time that its `step` is called.

A rate follows from the number of steps alone, not from the rate before: nothing adds up, and a schedule that was loaded
goes on where it stood.
"""

import math


class Schedule:
    """What all share: `factor(steps)` times the rate that the optimizer had when the schedule was made."""

    def __init__(self, optimizer):
        self.optimizer, self.base, self.steps = optimizer, optimizer.lr, 0
        self._set()

    def factor(self, steps):
        raise NotImplementedError

    def step(self):
        self.steps += 1
        self._set()

    def _set(self):
        self.optimizer.lr = self.base * self.factor(self.steps)

    def state_dict(self):
        return {"base": self.base, "steps": self.steps}

    def load_state_dict(self, state):
        self.base, self.steps = state["base"], state["steps"]
        self._set()


class StepLR(Schedule):
    """Times gamma after every step_size steps."""

    def __init__(self, optimizer, step_size, gamma=0.1):
        if step_size < 1:
            raise ValueError(f"step_size is {step_size}; expected at least 1.")
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer)

    def factor(self, steps):
        return self.gamma ** (steps // self.step_size)


class CosineAnnealing(Schedule):
    """Up from 0 in a straight line in `warmup` steps, then down along half a cosine to `lowest` times the rate at step
    `total`, where it stays (Loshchilov, Hutter 2017, without restarts). The first rate is above 0 already."""

    def __init__(self, optimizer, total, warmup=0, lowest=0.0):
        if not 0 <= warmup < total:
            raise ValueError(f"warmup is {warmup} and total is {total}; expected 0 <= warmup < total.")
        self.total, self.warmup, self.lowest = total, warmup, lowest
        super().__init__(optimizer)

    def factor(self, steps):
        if steps < self.warmup:
            return (steps + 1) / (self.warmup + 1)
        done = min(1.0, (steps - self.warmup) / (self.total - self.warmup))
        return self.lowest + (1 - self.lowest) * (1 + math.cos(math.pi * done)) / 2
