"""Pipeline schedules: in which order each worker runs the forward and backward passes of the microbatches.

A network is cut into stages, a batch into microbatches. An `Action` is one pass of one microbatch through one stage:

    F  forward: the stage keeps what its backward pass needs
    B  backward: the gradient of the stage's input, and of its weights where no W follows
    W  backward of the weights alone, where a schedule has it apart (zero bubble)

A schedule is a list for each worker of Actions, in order. Who waits for whom follows from the network, not from the
schedule: `timeline` finds when each Action runs, and `peak_activations` what a worker has to keep.

gpipe           all forward, then all backward          Huang and others 2019, "GPipe"
one_f_one_b     a backward as soon as there is one      Narayanan and others 2019, "PipeDream" (here without its weight
                                                        versions: all microbatches use one set of weights)
interleaved     each worker has several stages          Narayanan and others 2021, "Efficient Large-Scale Language Model
                                                        Training on GPU Clusters", section 2.2
zero_bubble     the weights' gradients fill the gaps    Qi and others 2023, "Zero Bubble Pipeline Parallelism"
"""

import itertools
from dataclasses import dataclass
from typing import NamedTuple


class Action(NamedTuple):
    """One pass: kind "F", "B" or "W"; stage: from 0, of the whole network; microbatch: from 0."""

    kind: str
    stage: int
    microbatch: int

    def __str__(self):
        return f"{self.kind}{self.microbatch} of stage {self.stage}"


def gpipe(workers, microbatches):
    """All forward passes, then all backward passes. A worker keeps the activations of all microbatches."""
    _check(workers, microbatches)
    all_microbatches = range(microbatches)
    return [[Action(kind, s, i) for kind in "FB" for i in all_microbatches] for s in range(workers)]


def one_f_one_b(workers, microbatches):
    """After as many forward passes as there are stages behind it, a worker does one forward, one backward, in turns.

    Stage s keeps activations of workers - s microbatches at most, however many there are. The bubble is GPipe's.
    """
    _check(workers, microbatches)
    orders = []
    for s in range(workers):
        warmup = min(workers - 1 - s, microbatches)
        orders.append(
            _in_turns(
                [Action("F", s, i) for i in range(microbatches)],
                [Action("B", s, i) for i in range(microbatches)],
                warmup,
            )
        )
    return orders


def interleaved(workers, microbatches, chunks):
    """1F1B in which worker w has the stages w, w + workers, w + 2 workers, ...: `chunks` of them.

    The bubble is 1 / chunks of that of 1F1B, and the messages are `chunks` times as many. Microbatches go in groups of
    as many as there are workers, so their number has to be a multiple of it: ValueError.
    """
    _check(workers, microbatches, chunks)
    if microbatches % workers:
        raise ValueError(f"{microbatches} microbatches for {workers} workers; expected a multiple of the workers.")

    def action(kind, w, k):
        """The k-th pass of a worker: a group of microbatches through its first chunk, the same through the next."""
        group, k = divmod(k, workers * chunks)
        chunk, i = divmod(k, workers)
        chunk = chunk if kind == "F" else chunks - 1 - chunk
        return Action(kind, chunk * workers + w, group * workers + i)

    orders, passes = [], range(microbatches * chunks)
    for w in range(workers):
        warmup = min(2 * (workers - 1 - w) + (chunks - 1) * workers, len(passes))
        orders.append(_in_turns([action("F", w, k) for k in passes], [action("B", w, k) for k in passes], warmup))
    return orders


def zero_bubble(workers, microbatches, ahead=1):
    """A backward pass in two: B is needed by the stage before, W by nothing until the step, so that W fills gaps.

    ahead: 1 is the paper's ZB-H1, in which a worker keeps activations of `workers` microbatches at most, as the first
    one does in 1F1B; 2 is its ZB-H2, which keeps 2 * workers - 1, and has no gap between a worker's first and last pass
    where F, B and W take equally long and there are as many microbatches. Activations are kept until their W.
    """
    _check(workers, microbatches)
    if ahead not in (1, 2):
        raise ValueError(f"ahead is {ahead}; expected 1 (ZB-H1) or 2 (ZB-H2).")
    orders = []
    for s in range(workers):
        begin = "F" * (ahead * (workers - 1 - s) + 1) + "BF" * (ahead * s)
        order, done = [], {"F": 0, "B": 0, "W": 0}
        for kind in itertools.chain(begin, itertools.cycle("BWF")):
            before = {"F": microbatches, "B": done["F"], "W": done["B"]}[kind]  # as many may have gone this far
            if done[kind] < before:
                order.append(Action(kind, s, done[kind]))
                done[kind] += 1
            elif done["W"] == microbatches:
                break
        orders.append(order)
    return orders


def _in_turns(forward, backward, warmup):
    """`warmup` forward passes, then one of each in turns, then the rest."""
    order = forward[:warmup]
    for f, b in zip(forward[warmup:], backward, strict=False):
        order += [f, b]
    return order + backward[len(forward) - warmup :]


def _check(workers, microbatches, chunks=1):
    for name, n in (("workers", workers), ("microbatches", microbatches), ("chunks", chunks)):
        if n < 1:
            raise ValueError(f"{name} is {n}; expected 1 or more.")


# ---- who waits for whom ----------------------------------------------------------------------------------------------


def needs(action, stages):
    """The Actions whose results `action` uses, in a network of so many stages."""
    kind, s, i = action
    if kind == "F":
        return [Action("F", s - 1, i)] if s else []
    if kind == "W":
        return [Action("B", s, i)]
    return [Action("F", s, i)] + ([Action("B", s + 1, i)] if s + 1 < stages else [])


def stages_of(orders):
    """[the worker that has it] for each stage. ValueError where a stage is nowhere, or with two workers."""
    owners = {}
    for worker, order in enumerate(orders):
        for action in order:
            if owners.setdefault(action.stage, worker) != worker:
                raise ValueError(
                    f"stage {action.stage} is run by workers {owners[action.stage]} and {worker}; expected one."
                )
    if sorted(owners) != list(range(len(owners))):
        raise ValueError(f"the stages are {sorted(owners)}; expected 0, 1, 2, ... without a gap.")
    return [owners[s] for s in range(len(owners))]


@dataclass(frozen=True)
class Timeline:
    """begins, ends: {Action: time}, worker by worker in `rows`; length: when the last ends; bubble: the part of all
    workers' time in which they wait."""

    rows: list
    length: float
    bubble: float


def timeline(orders, seconds=None, latency=0):
    """When each Action of a schedule runs: as soon as its worker is free and what it needs has arrived.

    orders: a list of Actions for each worker. seconds: {"F", "B", "W": how long one takes}; None: 1 each, and 2 for a B
    that does the weights, too. latency: of a message between two workers. Returns a Timeline, whose rows are lists of
    (Action, begin, end). ValueError for orders in which all wait for each other, which names who waits for what.
    """
    owners = stages_of(orders)
    split = any(action.kind == "W" for order in orders for action in order)
    seconds = seconds or {"F": 1, "B": 1 if split else 2, "W": 1}
    ends, rows, moved = {}, [[] for _ in orders], True
    while moved:
        moved = False
        for worker, order in enumerate(orders):
            row = rows[worker]
            while len(row) < len(order) and all(needed in ends for needed in needs(order[len(row)], len(owners))):
                action = order[len(row)]
                arrived = [ends[o] + latency * (owners[o.stage] != worker) for o in needs(action, len(owners))]
                begin = max([row[-1][2] if row else 0, *arrived])
                ends[action] = begin + seconds[action.kind]
                row.append((action, begin, ends[action]))
                moved = True
    stuck = [
        (w, order[len(row)]) for w, (order, row) in enumerate(zip(orders, rows, strict=True)) if len(row) < len(order)
    ]
    if stuck:
        lacking = [(w, action, next(o for o in needs(action, len(owners)) if o not in ends)) for w, action in stuck]
        words = "; ".join(f"worker {w} waits with {action} for {needed}" for w, action, needed in lacking)
        raise ValueError(f"this schedule never ends: {words}.")
    length = max((row[-1][2] for row in rows if row), default=0)
    busy = sum(end - begin for row in rows for _, begin, end in row)
    return Timeline(rows, length, 1 - busy / (len(rows) * length) if length else 0)


def peak_activations(orders):
    """For each worker: the largest number of passes whose activations it keeps at a time, from F to B (or to W)."""
    peaks = []
    for order in orders:
        last = "W" if any(action.kind == "W" for action in order) else "B"
        now, most = 0, 0
        for action in order:
            now += (action.kind == "F") - (action.kind == last)
            most = max(most, now)
        peaks.append(most)
    return peaks
