"""07-axpy: axpy with a grid-stride loop."""

import numpy as np

from ...definition import Budget, Case, Section, random_values
from ...golf import Golf
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask

AXPY_ALPHA = 2.5


def axpy_arguments(n):
    return lambda rng: (AXPY_ALPHA, random_values(rng, n), random_values(rng, n))


def _same_start(alpha, x, y):
    """Two blocks of 64 threads that begin at the same elements, and step by the whole grid."""
    return np.where(np.arange(x.size) % 128 < 64, 2 * alpha * x + y, y)


AXPY = KernelTask(
    id="07-axpy",
    section=Section("7", "07_vector_add", "Rung 2: the grid-stride loop"),
    title="axpy with a grid-stride loop",
    objective="Write a kernel that works for any grid, and whose warps read neighbouring elements",
    points=3,
    minutes=22,
    spec=lambda alpha, x, y: alpha * x.astype(np.float64) + y,
    cases=(
        Case("one block, one round: n = 64 in 1 block of 64", axpy_arguments(64), grid=1, block=64),
        Case("exact: n = 512 in 2 blocks of 64", axpy_arguments(512), grid=2, block=64),
        Case("ragged: n = 1000 in 2 blocks of 64", axpy_arguments(1000), grid=2, block=64),
        Case("more threads than elements: n = 40 in 2 blocks of 64", axpy_arguments(40), grid=2, block=64),
        Case("another grid: n = 300 in 3 blocks of 32", axpy_arguments(300), grid=3, block=32),
    ),
    suspects=(
        Suspect(lambda alpha, x, y: alpha * x, "This is alpha * x: the old y is missing."),
        Suspect(lambda alpha, x, y: x + y, "This is x + y: alpha is missing."),
        Suspect(lambda alpha, x, y: alpha * (x + y), "This is alpha * (x + y): only x is multiplied."),
        Suspect(
            _same_start,
            "These elements were updated twice, and others not at all. Where does thread 0 of block 0 begin, and where "
            "thread 0 of block 1? cuda.threadIdx.x is 0 in both.",
        ),
        Suspect(
            lambda alpha, x, y: 2 * alpha * x + y,
            "These elements were updated twice. By how much does the index grow in each round, and "
            "how many threads are there in the whole grid?",
        ),
    ),
    advice={
        "out-of-bounds": "The loop must end before the end of the array: range(start, y.size, step).",
        "wrong-value": (
            "Either the formula is another one (alpha belongs to x alone), or elements were updated more than once: "
            "begin at the number of this thread in the grid, and step by the number of threads in the whole grid, "
            "which is gridDim.x * blockDim.x and not always the same."
        ),
        "some-unwritten": (
            "Some elements have no thread: the step from round to round is the number of threads in the grid of this "
            "launch, cuda.gridsize(1)."
        ),
        "raised-TypeError": "Here the grid has one dimension: cuda.grid(1) and cuda.gridsize(1) are single numbers.",
        "one-block": "Only the first 64 elements changed. Which thread of the whole grid am I, and how many are we?",
    },
    budget=Budget(
        points=2,
        text="4 sectors for each load and each store of a warp",
        require={"sectors_per_request": 4, "active_lanes": 32},
        over=(
            "The result is right, but the lanes of a warp touch elements that lie far apart at the same moment. "
            "Neighbouring threads should handle neighbouring elements."
        ),
        case=Case("n = 512 in 2 blocks of 64", axpy_arguments(512), grid=2, block=64),
        golf=Golf(
            count="requests",
            best=96,
            case=Case("n = 1000 in 2 blocks of 48", axpy_arguments(1000), grid=2, block=48),
            require={"atomics": 0},
            lead="A block of 48 threads is a warp and a half. How many lanes of each request are idle?",
        ),
    ),
    hints=(
        "There are 128 threads and 1000 elements. Which elements should thread 0 of block 0 handle? And thread 1?",
        "Let thread number t of the grid handle t, t + T, t + 2T ... where T is the number of threads in the grid. "
        "Then the 32 lanes of a warp touch 32 neighbours in every round.",
        "cuda.grid(1) is t and cuda.gridsize(1) is T. Python's range takes a start, an end and a step: which of the "
        "three is which? One line in the loop.",
    ),
)
