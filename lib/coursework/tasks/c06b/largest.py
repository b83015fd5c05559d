"""06b-largest: The largest number of each sequence."""

import numpy as np

from dlkernels import cuda

from ...definition import Case, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.mend import MendTask
from ..c06.shared import THREADS
from .shared import FAULTS, SEEN, TOGETHER


@cuda.jit
def largest(x, lengths, out):
    best = cuda.shared.array(64, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    n = lengths[row]
    if n == 0:
        if t == 0:
            out[row] = 0
        return
    best[t] = x[row, min(t, n - 1)]
    for j in range(t + 64, n, 64):
        best[t] = max(best[t], x[row, j])
    d = 32
    while d > 0:
        cuda.syncthreads()
        if t < d:
            best[t] = max(best[t], best[t + d])
        d //= 2
    if t == 0:
        out[row] = best[0]


def rows_case(name, width, *lengths):
    """x (rows, width), all negative, with numbers of another sequence behind the length of each row; lengths; out
    (rows,)."""

    def make(rng):
        x = random_values(rng, len(lengths), width) - np.float32(2)
        for row, length in enumerate(lengths):
            x[row, length:] += 4
        return x, np.array(lengths, np.int32), unwritten(len(lengths))

    rows = len(lengths)
    said = f"{name}: lengths {', '.join(map(str, lengths))} in {rows} block{'s' * (rows > 1)} of {THREADS}"
    return Case(said, make, rows, THREADS)


def of_rows(formula, x, lengths, out):
    """formula of what belongs to each row; 0 for an empty one."""
    return np.array([formula(row[:n]) if n else 0 for row, n in zip(np.float64(x), lengths, strict=True)])


LARGEST = MendTask(
    id="06b-largest",
    section=TOGETHER,
    title="The largest number of each sequence",
    objective="Debug a reduction over rows of different lengths",
    points=2,
    minutes=8,
    spec=lambda x, lengths, out: of_rows(np.max, x, lengths, out),
    cases=(
        rows_case("one block, exact", 64, 64),
        rows_case("ragged, with an empty one", 70, 0, 70, 33),
        rows_case("long and short", 150, 150, 1, 64, 65, 0),
    ),
    writer=lambda index, case: (index[0], 0),
    handed_out=largest,
    tried=rows_case("a small batch", 64, 64, 40, 7),
    faults=FAULTS,
    suspects=(
        Suspect(
            lambda x, lengths, out: of_rows(lambda row: row.max(), x, np.full_like(lengths, x.shape[1]), out),
            "Numbers behind the length of a row took part. They belong to no sequence.",
        ),
        Suspect(
            lambda x, lengths, out: of_rows(lambda row: max(row.max(), 0), x, lengths, out),
            "All numbers are below 0, and a 0 took part. What may a thread without an element put in, so that it "
            "changes no largest number?",
        ),
        Suspect(
            lambda x, lengths, out: of_rows(lambda row: row[:64].max(), x, lengths, out),
            "Only the first 64 numbers of each row took part.",
        ),
    ),
    advice={
        **SEEN,
        **dict.fromkeys(
            ("head", "tail", "some-unwritten", "one-block", "nothing-written"),
            "Some rows have no number. An empty sequence gets one, too: which thread stores it?",
        ),
    },
    hints=(
        "What looks wrong to you? For each suspicion, write down a launch that would show it, and x-ray that one: rows "
        "of length 0 and 1, shorter and longer than a block.",
        "A barrier waits for all threads of the block. Which threads leave early here, and which other threads of "
        "their block stay? And who stored place 0 last, before thread 0 reads it?",
        "The threads of a block have one row, and one length: they leave together or not at all. Where a suspicion "
        "shows nothing in any launch, and you can say why, there is nothing to mend.",
    ),
)
