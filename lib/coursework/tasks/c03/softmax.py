"""03-softmax: Softmax of every row, without temporaries."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.parallel import ParallelTask


def softmax_arguments(rows, columns, scale=1.0):
    """With a `scale`, every other row has negative numbers only."""

    def make(rng):
        x = np.float32(scale) * random_values(rng, rows, columns)
        if scale != 1:
            x[1::2] -= np.float32(1.2 * scale)
        return x, unwritten(rows, columns)

    return make


def _softmax(x, axis=1):
    x = x.astype(np.float64)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


SOFTMAX = ParallelTask(
    id="03-softmax",
    section=Section("3", "03_numba_parallel", "What numba makes parallel"),
    title="Softmax of every row, without temporaries",
    objective="Parallelise over independent rows and keep everything else private",
    points=2,
    minutes=15,
    spec=lambda x, out: _softmax(x),
    rtol=2e-5,
    cases=(
        Case("6 x 5", softmax_arguments(6, 5)),
        Case("one row: 1 x 40", softmax_arguments(1, 40)),
        Case("one column: 30 x 1", softmax_arguments(30, 1)),
        Case("large numbers, up to 1000 and down to -2200: 20 x 33", softmax_arguments(20, 33, scale=1000)),
        Case("300 x 17", softmax_arguments(300, 17)),
    ),
    suspects=(
        Suspect(lambda x, out: _softmax(x, axis=0), "This is the softmax of every column. Rows were asked for."),
        Suspect(
            lambda x, out: np.exp(x - x.max(axis=1, keepdims=True)), "The exponentials were not divided by their sum."
        ),
        Suspect(
            lambda x, out: np.exp(x - x.max()) / np.exp(x - x.max()).sum(),
            "All elements together sum up to 1. Each row must: the sum belongs to a row.",
        ),
        Suspect(
            lambda x, out: _softmax(x) * x.shape[1],
            "Each row sums up to its number of columns. Divide by the sum of the exponentials, not by their mean.",
        ),
    ),
    advice={
        "not-finite": (
            "exp of a large number is infinite, exp of a very negative one is 0, and neither inf / inf nor 0 / 0 is a "
            "number. Subtract the largest element of the row first (it may be below 0): the result is the same, and "
            "the largest exponent is 0."
        ),
        "wrong-value": (
            "Each row needs three things of its own, over all its columns: the largest element; the sum of "
            "exp(x[i, j] - largest), begun at 0 in each row; and each exp(x[i, j] - largest) divided by that sum."
        ),
        "race": (
            "Two rows use the same scratch element at the same time. What belongs to a row must be a scalar inside the "
            "loop, or a part of out that belongs to this row."
        ),
    },
    budget=Budget(
        points=2,
        text="no array allocated inside the function",
        require={"arrays": 0, "temporaries": 0},
        over=(
            "The result is right, but an array is made for each row: that costs time, and all threads ask one "
            "allocator. Write the exponentials into out, and divide there."
        ),
        case=Case("64 x 32", softmax_arguments(64, 32)),
    ),
    hints=(
        "Which iterations are independent: rows or columns? What does a row need besides its own elements?",
        "prange over the rows. For each row three short loops: find the largest, write exp(x - largest) into out while "
        "summing up, divide.",
        "All three names, for the largest, the exponential and the sum, are made inside the prange loop, so they are "
        "private. With which two values does a row begin? And which of the three short loops may read what it has just "
        "stored?",
    ),
)
