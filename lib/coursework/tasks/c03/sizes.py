"""03-sizes: Find sizes on which three parallel loops fail."""

import numpy as np
from numba import njit, prange

from ...definition import Case, Section, random_values
from ...kinds.counterexample import CounterexampleTask, Flaw
from ...kinds.data import Whole
from ...kinds.parallel import WatchedTask


@njit(parallel=True)
def first(x, parts, out):
    counts = np.zeros(parts, np.int64)
    part = (x.size + parts // 2) // parts
    for t in prange(parts):
        for i in range(t * part, min((t + 1) * part, x.size)):
            if x[i] > 0:
                counts[t] += 1
    out[0] = 0
    for count in counts:
        out[0] += count


@njit(parallel=True)
def second(x, parts, out):
    counts = np.zeros(parts, np.int8)
    part = (x.size + parts - 1) // parts
    for t in prange(parts):
        for i in range(t * part, min((t + 1) * part, x.size)):
            if x[i] > 0:
                counts[t] += 1
    out[0] = 0
    for count in counts:
        out[0] += count


@njit(parallel=True)
def third(x, parts, out):
    counts = np.zeros(16, np.int64)
    part = (x.size + parts - 1) // parts
    for t in prange(parts):
        for i in range(t * part, min((t + 1) * part, x.size)):
            if x[i] > 0:
                counts[t % 16] += 1
    out[0] = 0
    for count in counts:
        out[0] += count


@njit(parallel=True)
def positives(x, parts, out):
    counts = np.zeros(parts, np.int64)
    part = (x.size + parts - 1) // parts
    for t in prange(parts):
        for i in range(t * part, min((t + 1) * part, x.size)):
            if x[i] > 0:
                counts[t] += 1
    out[0] = 0
    for count in counts:
        out[0] += count


def positive_arguments(n, parts):
    """make(rng) -> x of shape (n,) with a zero at every fourth place, parts, out of shape (1,)."""

    def make(rng):
        x = np.abs(random_values(rng, n, dtype=np.float64))
        x[1::4] = 0
        return x, parts, np.full(1, -1)

    return make


COUNTING = WatchedTask(
    id="03-sizes-judge",
    title="Count the positive numbers",
    objective="Judge a loop",
    points=0,
    minutes=0,
    spec=lambda x, parts, out: np.full(1, (x > 0).sum()),
    cases=(Case("n = 8 in 2 parts", positive_arguments(8, 2)),),
    hints=("", "", ""),
)

_FIELDS = {"n": Whole(1, 2000), "parts": Whole(1, 64)}


def _counted(name, wrong, lead):
    def case(n, parts):
        return Case(f"n = {n} in {parts} parts", positive_arguments(n, parts))

    return Flaw(name=name, judge=COUNTING, wrong=wrong, right=positives, fields=_FIELDS, case=case, lead=lead)


SIZES = CounterexampleTask(
    id="03-sizes",
    section=Section("3", "03_numba_parallel", "The race that no test sees"),
    title="Find sizes on which three parallel loops fail",
    objective="Find a size and a number of parts at which a parallel loop is wrong that is right for most",
    points=3,
    minutes=12,
    flaws=(
        _counted("first", first, "Where does the last part end, and where does x? Rounded to the nearest: up or down?"),
        _counted("second", second, "How many does one part find at most here, and how many can an int8 hold?"),
        _counted(
            "third", third, "Which two parts use the same element of counts? Does each of these two have an element?"
        ),
    ),
    hints=(
        "Each loop differs in one line from a right one. Which numbers does that line make for your n and your parts?",
        "first: write down the ends of all parts. second: what is the largest number that one element of counts can "
        "hold? third: from how many parts on do two threads meet, and are both parts non-empty?",
        "first wants a remainder that is rounded down, and a positive number behind the last part. second wants few "
        "parts and many numbers, third many parts, and enough numbers that part 16 has some.",
    ),
)
