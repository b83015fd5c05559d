"""03-first: A first loop on all cores."""

import numpy as np

from ...definition import Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.parallel import ParallelTask


def point_arguments(n):
    """make(rng) -> x and y of shape (n,), out of shape (n,), all float64."""
    return lambda rng: (
        random_values(rng, n, dtype=np.float64),
        random_values(rng, n, dtype=np.float64),
        unwritten(n, dtype=np.float64),
    )


FIRST = ParallelTask(
    id="03-first",
    section=Section("3", "03_numba_parallel", "`prange`: divide it among the cores"),
    title="A first loop on all cores",
    objective="Compile a loop and divide it among the cores with prange",
    points=1,
    minutes=4,
    spec=lambda x, y, out: np.hypot(x, y),
    rtol=1e-12,
    cases=(
        Case("8 points", point_arguments(8)),
        Case("one point", point_arguments(1)),
        Case("1001 points", point_arguments(1001)),
    ),
    suspects=(
        Suspect(lambda x, y, out: x * x + y * y, "This is the square of the distance: the root is missing."),
        Suspect(lambda x, y, out: np.abs(x) + np.abs(y), "This is |x| + |y|. Add the squares, and take the root."),
        Suspect(lambda x, y, out: np.sqrt(np.abs(x * x - y * y)), "The squares are added, not subtracted."),
        Suspect(lambda x, y, out: np.sqrt(x * x - y * y), "The squares are added, not subtracted."),
        Suspect(lambda x, y, out: np.sqrt(2) * np.abs(x), "y was not used: this is the root of x * x + x * x."),
    ),
    advice={
        "some-unwritten": "Some points were left out. From where to where does your loop run?",
        "race": "Two rounds write to the same element of out. Which element belongs to round i?",
        "not-parallel": "One thread did all of it. Which word in `for i in range(...)` makes the loop parallel?",
        "raised-IndexError": "An index left its array. How many points are there?",
        "raised-ValueError": "The root of a number below 0? A sum of two squares never is.",
    },
    hints=(
        "What would the loop look like in plain Python? Does any round need what another one made?",
        "One round for each point: it reads x[i] and y[i], and writes out[i]. Then say that threads may share the "
        "rounds.",
        "The loop runs over `x.size`, with `prange` where you would write `range`; `math.sqrt` takes the root.",
    ),
)
