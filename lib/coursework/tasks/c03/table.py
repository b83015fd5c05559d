"""03-table: A weighted table of errors."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.parallel import ParallelTask, Watch


def table_arguments(n, classes):
    """make(rng) -> truth and guess (int64) and weight (float64) of shape (n,), out of shape (classes, classes). The
    first samples are in the last place of the table, the last ones in the first: there two tables meet."""

    def make(rng):
        truth, guess = rng.integers(0, classes, (2, n))
        truth[: n // 16] = guess[: n // 16] = classes - 1
        truth[n - n // 16 :] = guess[n - n // 16 :] = 0
        return truth, guess, random_values(rng, n, dtype=np.float64), unwritten(classes, classes, dtype=np.float64)

    return make


def _table(truth, guess, weight, out):
    table = np.zeros(out.shape)
    np.add.at(table, (truth, guess), weight)
    return table


TABLE = ParallelTask(
    id="03-table",
    section=Section("3", "03_numba_parallel", "Three repairs"),
    title="A weighted table of errors",
    objective="Repair a race by private tables that neither share cache lines nor waste memory",
    points=3,
    minutes=20,
    spec=_table,
    watch=Watch(outside=0.5),  # of few samples: the tables of the threads are added up
    rtol=1e-9,
    atol=1e-12,
    cases=(
        Case("40 samples of 3 classes", table_arguments(40, 3)),
        Case("one sample of 2 classes", table_arguments(1, 2)),
        Case("1001 samples of 7 classes", table_arguments(1001, 7)),
        Case("20,000 samples of 10 classes", table_arguments(20_000, 10)),
    ),
    suspects=(
        Suspect(
            lambda truth, guess, weight, out: _table(guess, truth, weight, out),
            "Rows and columns are exchanged: the row is the true class, the column the guess.",
        ),
        Suspect(
            lambda truth, guess, weight, out: _table(truth, guess, np.ones_like(weight), out),
            "These are counts. Each sample adds its weight, not 1.",
        ),
        *(
            Suspect(
                lambda truth, guess, weight, out, axis=axis: np.cumsum(_table(truth, guess, weight, out), axis=axis),
                "Sums go on from one place of out to the next. For each place the sum over the threads begins with 0.",
            )
            for axis in (0, 1)
        ),
    ),
    advice={
        "race": (
            "Two iterations add to the same place: load, add, store. When both load the old value, one weight is lost. "
            "Give each thread a table of its own, and add up the tables after the loop."
        ),
        "raised-IndexError": "An index left its array. A table has classes * classes places: is yours as large?",
        "some-unwritten": "Places of out were never set. A pair of classes that does not occur has the weight 0.",
        "wrong-value": "Is it right with one thread, and wrong with several? Then samples belong to no thread, because "
        "a division was rounded down, or the tables of some threads are not in the sum.",
        "constant": "Every element is 0. Is a fraction cut off, by whole numbers in a table or by a `//` that leaves a "
        "thread no samples, or is nothing added to out?",
        "not-finite": "out holds NaN at first, and NaN plus anything is NaN. Set it before you add to it.",
        "not-parallel": "Threads share the rounds of a loop `for ... in prange(...)`, in a function with "
        "`@njit(parallel=True)`. What stands outside is done by one thread: how many tables does it add up? One for "
        "each thread is enough.",
    },
    budget=Budget(
        points=2,
        text="no cache line shared by two threads inside the loop, and at most 52 cache lines touched (48 samples of 9 "
        "classes)",
        require={"false_sharing": 0, "cache_lines": 52},
        over=(
            "The result is right, but two threads write into one cache line, or there are more private tables than "
            "threads, or larger ones than need be. A line holds 8 float64. Which is padded in yours: the row of a "
            "table, or the table? Which needs to be?"
        ),
        case=Case("48 samples of 9 classes", table_arguments(48, 9)),
    ),
    hints=(
        "Two samples of the same pair of classes meet at one place. Who could have a table of its own, so that nobody "
        "meets?",
        "Only the beginning of a thread's table must lie on a new line; rows inside it are used by one thread. So "
        "think of a table as one row of numbers: which place has the pair (truth, guess) in it?",
        "A private array with a row of places for each thread, and as many places as fill whole lines. Number the "
        "pairs as one numbers the elements of a matrix, row by row. Then out[r, c] is the sum over the threads.",
    ),
)
