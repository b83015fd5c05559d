"""03-loops: Judge five loops."""

import numpy as np
from numba import njit, prange

from ...definition import Case, Section, random_values, unwritten
from ...kinds.detective import DetectiveTask, Fault
from ...kinds.parallel import WatchedTask


@njit(parallel=True)
def loop_a(x, out):
    top = np.empty(1)
    for i in prange(x.shape[0]):
        top[0] = x[i, 0]
        for j in range(1, x.shape[1]):
            top[0] = max(top[0], x[i, j])
        out[i] = top[0]


@njit(parallel=True)
def loop_b(x, out):
    for i in range(x.shape[0]):
        top = -np.inf
        for j in prange(x.shape[1]):
            top = max(top, x[i, j])
        out[i] = top


@njit(parallel=True)
def loop_c(x, out):
    part = x.shape[0] // 4
    for t in prange(4):
        for i in range(t * part, (t + 1) * part):
            out[i] = x[i, 0]
            for j in range(1, x.shape[1]):
                out[i] = max(out[i], x[i, j])


@njit(parallel=True)
def loop_d(x, out):
    for i in prange(x.shape[0]):
        top = 0.0
        for j in range(x.shape[1]):
            top = max(top, x[i, j])
        out[i] = top


@njit(parallel=True)
def loop_e(x, out):
    top = x[0, 0]
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > top:
                top = x[i, j]
        out[i] = top


def rows_arguments(rows, columns):
    """make(rng) -> x of shape (rows, columns) with one row below -1, out of shape (rows,), float64."""

    def make(rng):
        x = random_values(rng, rows, columns, dtype=np.float64)
        x[rows // 2] -= 2
        return x, unwritten(rows, dtype=np.float64)

    return make


LARGEST_OF_ROWS = WatchedTask(
    id="03-loops-judge",
    title="The largest number of each row",
    objective="Judge a loop",
    points=0,
    minutes=0,
    spec=lambda x, out: x.max(axis=1),
    cases=(Case("10 x 6", rows_arguments(10, 6)),),
    hints=("", "", ""),
)

LOOPS = DetectiveTask(
    id="03-loops",
    section=Section("3", "03_numba_parallel", "A race"),
    title="Judge five loops",
    objective="Tell a right prange loop from one that races, carries a value, begins wrong or forgets rows",
    points=3,
    minutes=12,
    judge=LARGEST_OF_ROWS,
    nothing="Every element is as it should be, and no two iterations meet.",
    programs={"A": loop_a, "B": loop_b, "C": loop_c, "D": loop_d, "E": loop_e},
    faults=(
        Fault("right", "gives the largest number of each row, with any number of threads"),
        Fault("race", "two iterations use one element, and one of them writes it", ("race",)),
        Fault("carried", "an iteration uses what another one left in a name", ("carried-scalar",)),
        Fault(
            "wrong start",
            "the comparison begins with a number that need not be in the row",
            ("wrong-value", "suspect", "constant", "shifted", "precision"),
        ),
        Fault("rows left out", "some rows belong to no iteration", ("some-unwritten",)),
    ),
    advice={
        "verdict": "Follow one row: with which number does it begin, and what may another iteration do to its names "
        "meanwhile?"
    },
    hints=(
        "For each loop: which names are made inside the prange loop, which before it? Who else uses these?",
        "What is made before the loop is shared, or carried from round to round. What numba makes a reduction (max, "
        "with its own name on both sides) is neither. Then try numbers: all below zero, a number of rows that 4 does "
        "not divide.",
        "One of them looks wrong because its prange stands in an unusual place: ask what it reduces. One has an array "
        "of a single element. One is right for all rows that have a positive number.",
    ),
)
