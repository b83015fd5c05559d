"""14-loops: Six data-parallel loops, one of them right."""

import functools

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.detective import DetectiveTask, Fault
from ...kinds.scenario import ScenarioTask
from .shared import STEPS, all_reduces, at_once

STEP, RATE = 5, 0.25


# The statement shows these; a test compares.
def first(rank, n, w, rows, gradient, all_reduce):
    w = all_reduce(w if rank == 0 else 0 * w)
    for step in range(5):
        part = rows(step)[rank::n]
        w = w - 0.25 * all_reduce(gradient(w, part))
    return w


def second(rank, n, w, rows, gradient, all_reduce):
    w = all_reduce(w if rank == 0 else 0 * w)
    for step in range(5):
        part = rows(step)[rank::n]
        w = w - 0.25 * all_reduce(gradient(w, part)) / n
    return w


def third(rank, n, w, rows, gradient, all_reduce):
    w = all_reduce(w if rank == 0 else 0 * w)
    for step in range(5):
        count = len(rows(step)) // n
        part = rows(step)[:count]
        w = w - 0.25 * all_reduce(count * gradient(w, part)) / (n * count)
    return w


def fourth(rank, n, w, rows, gradient, all_reduce):
    w = all_reduce(w if rank == 0 else 0 * w)
    for step in range(5):
        part = rows(step)[rank::n]
        w = w - 0.25 * gradient(w, part)
        w = all_reduce(len(part) * w) / len(rows(step))
    return w


def fifth(rank, n, w, rows, gradient, all_reduce):
    for step in range(5):
        part = rows(step)[rank::n]
        w = w - 0.25 * all_reduce(len(part) * gradient(w, part)) / len(rows(step))
    return w


def sixth(rank, n, w, rows, gradient, all_reduce):
    w = all_reduce(w if rank == 0 else 0 * w)
    for step in range(5):
        part = rows(step)[rank::n]
        w = w - 0.25 * gradient(w, part)
    return all_reduce(w) / n


PROGRAMS = {"first": first, "second": second, "third": third, "fourth": fourth, "fifth": fifth, "sixth": sixth}


def play_loop(program, starts, x, t, batches):
    """The weights of each worker in the end. Each has weights of its own to begin with; rows(step) are the batch's rows
    of x and t."""
    n = len(starts)
    ends = all_reduces(n)

    def gradient(w, rows):
        rows = np.asarray(rows)
        return ((x[rows] @ w - t[rows])[:, None] * x[rows]).mean(axis=0)

    def rows(step):
        return np.array(batches[step])

    return at_once(n, lambda rank: program(rank, n, starts[rank].copy(), rows, gradient, ends[rank]))


def alone(starts, x, t, batches):
    """One worker on the whole batch, from the weights of worker 0."""
    w = starts[0]
    for rows in batches:
        w = w - RATE * ((x[rows] @ w - t[rows])[:, None] * x[rows]).mean(axis=0)
    return w


def judge_loop(arguments, result):
    right = alone(*arguments)
    expected = f"weights {_shown(right)} in each worker"
    found = np.array(result)
    if np.allclose(found, right, rtol=1e-9, atol=1e-9):
        return None
    if not np.allclose(found, found[0]):
        return Slip(
            "start", expected, "", f"worker 0 has {_shown(found[0])}, worker {len(found) - 1} {_shown(found[-1])}"
        )
    got = f"{_shown(found[0])} in each worker"
    for kind, mistaken in (("divide", first), ("ragged", second), ("batch", third), ("late", sixth)):
        if np.allclose(found, _without_threads(mistaken, *arguments)):
            return Slip(kind, expected, "", got)
    return Slip("other", expected, "", got)


def _without_threads(program, starts, x, t, batches):
    """What a faulty program comes to, by a formula of its own."""
    n, w = len(starts), starts[0]

    def gradient(w, rows):
        return ((x[rows] @ w - t[rows])[:, None] * x[rows]).mean(axis=0)

    if program is sixth:
        ends = [functools.reduce(lambda w, rows, r=r: w - RATE * gradient(w, rows[r::n]), batches, w) for r in range(n)]
        return np.mean(ends, axis=0)
    for rows in batches:
        if program in (first, second):
            means = [gradient(w, rows[r::n]) for r in range(n)]
            g = sum(means) / (n if program is second else 1)
        else:
            g = gradient(w, rows[: len(rows) // n])
        w = w - RATE * g
    return w


def _shown(w):
    return np.array2string(np.asarray(w), precision=3)


def trained(n, batch, width=3, total=40):
    """make(rng) -> weights of n workers, data, and the rows of each step's batch."""

    def make(rng):
        x = rng.uniform(-1, 1, (total, width))
        batches = [rng.permutation(total)[:batch] for _ in range(STEP)]
        return list(rng.uniform(-2, 2, (n, width))), x, x @ np.arange(1.0, width + 1) + 0.1, batches

    return make


LOOP = ScenarioTask(
    id="14-loop",
    title="",
    objective="",
    points=3,
    minutes=15,
    hints=("", "", ""),
    scenario=play_loop,
    judge=judge_loop,
    cases=(Case("4 workers, batches of 8 rows", trained(4, 8)), Case("4 workers, batches of 10 rows", trained(4, 10))),
)

LOOPS = DetectiveTask(
    id="14-loops",
    section=Section("14", STEPS, "One step on two workers"),
    title="Six data-parallel loops, one of them right",
    objective="Find what keeps a data-parallel loop from training as one worker would on the whole batch",
    points=3,
    minutes=15,
    judge=LOOP,
    programs=PROGRAMS,
    run="run",
    faults=(
        Fault("right", "ends with the weights of one worker that has the whole batch"),
        Fault("divide", "the step is as many times too large as there are workers", ("divide",)),
        Fault("batch", "all workers compute with the same rows", ("batch",)),
        Fault("start", "workers do not begin with the same weights", ("start",)),
        Fault("ragged", "rows count differently where the parts have different lengths", ("ragged",)),
        Fault("late", "workers go apart, and meet only in the end", ("late",)),
    ),
    advice={
        "verdict": "Take two workers, three rows and one step, and write down what each of them brings to each "
        "`all_reduce`."
    },
    hints=(
        "What must all workers have before the first step? What is the gradient of the whole batch, written with those "
        "of its parts?",
        "The mean over a batch is the sum over its parts of rows of the part times the part's mean, divided by all "
        "rows. Who adds up steps in place of gradients may be right: the weights before the step are the same in all.",
        "Ten rows for four workers: which parts have three rows, which two? And look at what each program divides by.",
    ),
)
