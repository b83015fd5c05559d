"""03-roof: Distances to a centre, under the roof of all cores."""

import numpy as np

from ...definition import Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.measured import Card, MeasuredParallelTask
from ...kinds.parallel import Watch

WIDTH, MANY = 32, 1024


def centre_arguments(rows, width=WIDTH):
    """make(rng) -> x of shape (rows, width), c of shape (width,), out of shape (rows,), float32."""
    return lambda rng: (random_values(rng, rows, width), random_values(rng, width), unwritten(rows))


def _distances(x, c):
    return ((x.astype(np.float64) - c) ** 2).sum(axis=1)


ROOF = MeasuredParallelTask(
    id="03-roof",
    section=Section("3", "03_numba_parallel", "What numba makes parallel"),
    title="Distances to a centre, under the roof of all cores",
    objective="Write a parallel loop over rows, count its flops and bytes, and say which roof is over it",
    points=3,
    minutes=12,
    spec=lambda x, c, out: _distances(x, c),
    rtol=1e-4,
    cases=(
        Case("10 x 6", centre_arguments(10, 6)),
        Case("one row: 1 x 32", centre_arguments(1)),
        Case("one column: 30 x 1", centre_arguments(30, 1)),
    ),
    suspects=(
        Suspect(lambda x, c, out: np.sqrt(_distances(x, c)), "This is the distance. Its square is asked for."),
        Suspect(
            lambda x, c, out: np.cumsum(_distances(x, c)),
            "Each row goes on with the sum of the rows before it. A row's sum begins with 0, inside the prange loop.",
        ),
        Suspect(lambda x, c, out: (x.astype(np.float64) ** 2).sum(axis=1), "The centre was not subtracted."),
        Suspect(
            lambda x, c, out: np.abs(x.astype(np.float64) - c).sum(axis=1), "Square the differences before you add."
        ),
    ),
    watch=Watch(starts=3),
    advice={
        "race": "Two rows use one element. What belongs to a row must be a name that is made inside the prange loop.",
        "not-parallel": "Threads share the rows: `prange` in the outer loop, in a function with "
        "`@njit(parallel=True)`, and a plain `range` inside.",
        "flops": "Count one term: a subtraction, a multiplication, an addition. A sum that begins with 0 adds every "
        "term.",
        "moved": "Which elements of x, c and out does the loop touch? Each counts once, with 4 bytes: c, too, once for "
        "all rows.",
        "roof": "Below the ridge the bytes take longer than the flops, above it the flops do. Which side is your "
        "intensity on?",
    },
    claimed=Case(f"{MANY} x {WIDTH}", centre_arguments(MANY)),
    measured=Case(f"{1 << 18} x {WIDTH}", centre_arguments(1 << 18)),
    card=Card(peak=12e9, bandwidth=24e9),
    hints=(
        "What does one row need of its own? What does one term of its sum cost?",
        "prange over the rows, a sum that is made inside. A term takes three flops. Bytes: all of x, all of c, all of "
        "out.",
        "How many terms are there in all, of three flops each? Which of the three arrays has an element for each row "
        "and column, and which has one for each row or each column only? The ridge of the machine is peak divided by "
        "bandwidth.",
    ),
)
