"""07-map: ReLU of a matrix."""

import numpy as np

from ...definition import Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask
from .shared import BEYOND_2D, GAPS_2D, TURNED, case_2d, thread_2d


def matrix_arguments(rows, columns):
    """make(rng) -> x and out of shape (rows, columns)."""
    return lambda rng: (random_values(rng, rows, columns), unwritten(rows, columns))


MAP = KernelTask(
    id="07-map",
    section=Section("7.2", "07_fusion", "Fusion"),
    title="ReLU of a matrix",
    objective="Write a kernel on a grid of two dimensions",
    points=1,
    minutes=8,
    spec=lambda x, out: np.maximum(x.astype(np.float64), 0),
    cases=(
        case_2d("one block, full", matrix_arguments, 8, 16),
        case_2d("exact", matrix_arguments, 16, 64),
        case_2d("ragged and tall", matrix_arguments, 37, 20),
        case_2d("one row", matrix_arguments, 1, 50),
    ),
    writer=thread_2d,
    suspects=(
        Suspect(lambda x, out: x, "This is x itself: nothing became 0."),
        Suspect(lambda x, out: np.abs(x), "This is |x|. Where x is negative, 0 is asked for."),
        Suspect(lambda x, out: np.minimum(x, 0), "This keeps what is negative. ReLU keeps what is positive."),
    ),
    advice={
        "out-of-bounds": BEYOND_2D,
        "none-beyond": "Here each thread has an element, so no guard is missing. " + TURNED,
        "some-unwritten": GAPS_2D,
        "gaps-in-one-block": TURNED + " Or does an `if` leave out a store?",
        "wrong-value": TURNED,
        "race": TURNED,
    },
    hints=(
        "Thread (x, y) of block (bx, by), with 16 threads along x and 8 along y: which column is its own, and which "
        "row?",
        "The column is 16 bx + x, the row 8 by + y. cuda.grid(2) returns both sums, that along x first. A row or a "
        "column can be too large.",
        "cuda.grid(2) gives the column first, then the row. One `if` that asks two things, and under it one line with "
        "Python's max.",
    ),
)
