"""04-sums: A weighted sum of rows."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.compiled import CompiledTask
from .shared import as_float64


def sum_arguments(rows, columns):
    """make(rng) -> x of shape (rows, columns), w of shape (rows,), out of shape (columns,)."""
    return lambda rng: (random_values(rng, rows, columns), random_values(rng, rows), unwritten(columns))


SUMS = CompiledTask(
    id="04-sums",
    section=Section("4.2", "04_vectors", "Why was my loop not vectorised?"),
    title="A weighted sum of rows",
    objective="Arrange many sums side by side, so that each lane of a vector has one of its own",
    points=2,
    minutes=15,
    spec=lambda x, w, out: w.astype(np.float64) @ x,
    atol=1e-5,
    cases=(
        Case("square: 16 x 16", sum_arguments(16, 16)),
        Case("one row: 1 x 7", sum_arguments(1, 7)),
        Case("ragged: 9 x 133", sum_arguments(9, 133)),
        Case("one column: 12 x 1", sum_arguments(12, 1)),
    ),
    suspects=(
        Suspect(
            lambda x, w, out: as_float64(x) @ w if x.shape[0] == x.shape[1] else np.zeros(0),
            "This is x @ w: the terms were added along each row. out[j] adds up column j.",
        ),
        Suspect(lambda x, w, out: as_float64(x).sum(axis=0), "This is the sum of the rows: the weights are missing."),
        Suspect(
            lambda x, w, out: as_float64(x)[-1] * w[-1],
            "This is the last row alone: the terms must be added up, not replaced.",
        ),
        Suspect(lambda x, w, out: w[1:].astype(np.float64) @ x[1:], "The first row is missing."),
        Suspect(lambda x, w, out: w[:-1].astype(np.float64) @ x[:-1], "The last row is missing."),
        Suspect(
            lambda x, w, out: (w.astype(np.float64) @ x) * (np.arange(out.size) < out.size - 1),
            "The last column is missing: the loop over the columns ends one too early.",
        ),
        Suspect(
            lambda x, w, out: w.astype(np.float64) @ x / len(x), "This is the mean of the rows. The sum is asked for."
        ),
        Suspect(
            lambda x, w, out: w.astype(np.float64) @ x + as_float64(x)[0] * w[0],
            "The first row is added twice: before the loop, and in it.",
        ),
        Suspect(
            lambda x, w, out: np.cumsum(w.astype(np.float64) @ x),
            "Each sum contains the columns before: begin every column with 0.",
        ),
    ),
    advice={
        "not-finite": "out holds NaN at first, and NaN plus anything is NaN. Set out to 0 before you add.",
        "nothing-written": "Either nothing is stored, or something is added to NaN. Set out to 0 before you add.",
        "raised-IndexError": "An index left its array. out has an element for each column, w one for each row.",
        "raised-ImportError": "Write the two loops yourself: `w @ x` inside a numba function calls a library.",
    },
    budget=Budget(
        points=2,
        text="nearly all of the arithmetic on whole vectors, at most 3 accesses to memory for each vector multiply, no "
        "array allocated",
        require={"multiplies": 8 * 512, "scalar_share": 0.1, "accesses_per_multiply": 3, "arrays": 0},
        over=(
            "The result is right, but one sum after the other is added up, number by number, or an array is made on "
            "the way. A vector holds many sums, if they are neighbours: let the inner loop go from one element of out "
            "to the next."
        ),
        case=Case("8 x 512", sum_arguments(8, 512)),
    ),
    hints=(
        "A vector register holds many numbers. If each of them is the sum of another column, in which order must x be "
        "read, and does the order of any sum change?",
        "The rows belong into the outer loop, the columns into the inner one. Every element of out collects its sum "
        "over many rounds of the outer loop, so it must start at 0.",
        "In a round of the outer loop one weight serves a whole row: what does it add to each element of out? Keep the "
        "weight in a name before the inner loop begins, and see to it that out begins at 0.",
    ),
)
