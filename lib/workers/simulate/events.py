"""What happens at times that nobody knows before: noise, failures, asynchronous updates. Runs with a seed.

`Events` is a clock and a heap of what is to come: the whole of a discrete-event simulation. `checkpointed` loses
workers and begins again from the last checkpoint (Young 1974, Daly 2006); `updates` compares synchronous steps with
backup workers (Chen and others 2016, "Revisiting Distributed Synchronous SGD") and with asynchronous ones; `pipelined`
is a pipeline whose stages are not equally fast.
"""

import heapq
from dataclasses import dataclass
from math import ceil, exp, expm1, sqrt

import numpy as np


class Events:
    """now: the time; `at(time, what)` puts something on the heap; iterating takes it off, the earliest first.

    What is put for the same time comes in the order in which it was put.
    """

    def __init__(self):
        self.now, self._heap, self._count = 0.0, [], 0

    def at(self, time, what):
        if time < self.now:
            raise ValueError(f"an event at {time}, and it is {self.now}; expected a time that is to come.")
        heapq.heappush(self._heap, (time, self._count, what))
        self._count += 1

    def __iter__(self):
        while self._heap:
            self.now, _, what = heapq.heappop(self._heap)
            yield what


# ---- stragglers ------------------------------------------------------------------------------------------------------


def slowest(workers, spread, steps=200, seed=0):
    """The mean of the slowest of `workers` times, 1 each, with noise: normal, of a deviation of `spread`.

    About 1 + spread * sqrt(2 log workers): what a synchronous step waits for.
    """
    if workers == 1:
        return 1.0
    draw = np.random.default_rng(seed)
    return float(np.mean([1 + spread * draw.standard_normal(workers).max() for _ in range(steps)]))


@dataclass(frozen=True)
class Updates:
    """seconds: for one update of the weights, on average; staleness: how many other updates came between reading the
    weights and adding the gradient, on average; lost: the part of all gradients that was thrown away."""

    seconds: float
    staleness: float
    lost: float


def updates(workers, spread=0.1, slow=1.0, wait_for=None, asynchronous=False, number=2000, seed=0):
    """How many updates workers make whose gradients take 1 s each, with noise, and one of whom takes `slow` seconds.

    wait_for: a step ends when so many gradients are there, the others are lost (backup workers); None: all.
    asynchronous: a gradient is added when it comes, and the worker goes on from the weights of that moment. An
    asynchronous update has one gradient, a synchronous one `wait_for`.
    """
    draw, pace = np.random.default_rng(seed), np.ones(workers)
    pace[0] = slow

    def seconds():
        return pace * np.maximum(0.05, 1 + spread * draw.standard_normal(workers))

    if not asynchronous:
        k = wait_for or workers
        ends = [np.partition(seconds(), k - 1)[k - 1] for _ in range(number)]
        return Updates(float(np.mean(ends)), 0.0, 1 - k / workers)
    events, stale = Events(), 0
    for worker, end in enumerate(seconds()):
        events.at(end, (worker, 0))
    for version, (worker, read) in enumerate(events):
        stale += version - read
        if version + 1 == number:
            return Updates(float(events.now) / number, stale / number, 0.0)
        events.at(events.now + seconds()[worker], (worker, version + 1))


def pipelined(forward, backward, microbatches, latency=0.0):
    """Seconds of a 1F1B pipeline whose stage i takes forward[i] and backward[i] for a microbatch.

    With equal stages it is (microbatches + stages - 1) * (forward + backward), plus 2 latency for each stage but one.
    """
    p = len(forward)
    orders = []
    for s in range(p):
        warm = min(p - 1 - s, microbatches)
        order = [("F", i) for i in range(warm)]
        for i in range(microbatches - warm):
            order += [("F", warm + i), ("B", i)]
        orders.append(order + [("B", i) for i in range(microbatches - warm, microbatches)])
    ends, now, done = {}, [0.0] * p, [0] * p
    while any(done[s] < len(orders[s]) for s in range(p)):
        for s in range(p):
            while done[s] < len(orders[s]):
                kind, i = orders[s][done[s]]
                before = s - 1 if kind == "F" else s + 1
                if 0 <= before < p and (kind, before, i) not in ends:
                    break
                ready = ends[kind, before, i] + latency if 0 <= before < p else 0.0
                now[s] = ends[kind, s, i] = max(now[s], ready) + (forward if kind == "F" else backward)[s]
                done[s] += 1
    return max(now)


# ---- failures --------------------------------------------------------------------------------------------------------


def young(cost, between):
    """Seconds of work between checkpoints that take `cost` seconds, with `between` seconds between failures: Young."""
    return sqrt(2 * cost * between)


def daly(cost, between):
    """The same to a higher order (Daly 2006)."""
    if cost >= 2 * between:
        return between
    x = sqrt(cost / (2 * between))
    return sqrt(2 * cost * between) * (1 + x / 3 + x * x / 9) - cost


def expected(work, interval, cost, restart, between):
    """Seconds on average for `work` seconds of work, a checkpoint after each `interval` seconds (Daly 2006)."""
    return between * exp(restart / between) * expm1((interval + cost) / between) * work / interval


@dataclass(frozen=True)
class Ran:
    """seconds: from begin to end; useful: the part that was work; failures; saved: checkpoints that were written."""

    seconds: float
    useful: float
    failures: int
    saved: int


def checkpointed(work, interval, cost, restart, mean, workers=1, seed=0):
    """Runs `work` seconds of work on workers of whom each fails after `mean` seconds on average (exponential).

    A failure ends the step of all: what came after the last checkpoint is lost, and `restart` seconds pass before all
    go on. A worker may fail in a checkpoint, and in a restart, too.
    """
    if min(work, interval, mean) <= 0 or min(cost, restart) < 0:
        raise ValueError(
            f"work {work}, interval {interval}, mean {mean}: expected more than 0 of each; "
            f"cost {cost}, restart {restart}: expected 0 or more."
        )
    draw, events = np.random.default_rng(seed), Events()
    segments = ceil(work / interval)
    done = failures = attempt = 0

    def begin():
        """The next interval, and its checkpoint, from now on."""
        events.at(events.now + min(interval, work - done * interval) + cost, ("saved", attempt))

    begin()
    for worker in range(workers):
        events.at(draw.exponential(mean), ("failed", worker))
    for kind, which in events:
        if kind == "failed":
            failures, attempt = failures + 1, attempt + 1
            events.at(events.now + draw.exponential(mean), ("failed", which))  # the one that took its place
            events.at(events.now + restart, ("ready", attempt))
        elif which == attempt:  # else a failure came between
            if kind == "saved":
                done += 1
                if done == segments:
                    return Ran(events.now, work / events.now, failures, done)
            begin()
