"""06b-bins: How many of each class?"""

import numpy as np

from dlkernels import cuda

from ...definition import Case
from ...kinds.arrays import Suspect
from ...kinds.mend import MendTask
from .shared import FAULTS, SEEN, TOGETHER

CLASSES = 10


@cuda.jit
def bins(labels, counts):
    block_counts = cuda.shared.array(10, np.int32)
    t = cuda.threadIdx.x
    if t < 10:
        block_counts[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), labels.size, cuda.gridsize(1)):
        block_counts[labels[i]] += 1
    cuda.syncthreads()
    if t < 10:
        cuda.atomic.add(counts, t, block_counts[t])


def labels_case(name, n, blocks, labels=None):
    """labels (n,) int32, from 0 to 9; counts (10,) int32, zeros."""
    return Case(
        f"{name}: n = {n} in {blocks} block{'s' * (blocks > 1)} of 32",
        lambda rng: (
            (rng.integers(0, CLASSES, n) if labels is None else np.array(labels)).astype(np.int32),
            np.zeros(CLASSES, np.int32),
        ),
        blocks,
        32,
    )


BINS = MendTask(
    id="06b-bins",
    section=TOGETHER,
    title="How many of each class?",
    objective="Debug a histogram in shared memory",
    points=2,
    minutes=6,
    spec=lambda labels, counts: np.bincount(labels, minlength=CLASSES),
    cases=(
        labels_case("one block", 32, 1),
        labels_case("exact", 128, 2),
        labels_case("ragged", 75, 3),
        labels_case("few", 5, 1),
    ),
    handed_out=bins,
    tried=labels_case("each class once", CLASSES, 1, range(CLASSES)),
    faults=FAULTS,
    suspects=(
        Suspect(
            lambda labels, counts: np.minimum(np.bincount(labels, minlength=CLASSES), 1),
            "No count is above 1: what stood there was replaced, not added to.",
        ),
    ),
    advice={
        **SEEN,
        "race": "Two threads count in one place. Each of them loads the count, adds 1 and stores it again: what "
        "happens if both load before either stores?",
        "wrong-value": "Is each element of labels counted, by one thread of the grid and no other?",
    },
    hints=(
        "The author's labels were all different. Which two threads meet if two of them are equal?",
        "Give the x-ray labels of which some are equal. It names one line, with a load and a store by two threads: "
        "what may come between the load and the store of one of them?",
        "`block_counts[k] += 1` is three steps, and others may come between them. The last line of the kernel adds to "
        "a count without letting anybody in between: how?",
    ),
)
