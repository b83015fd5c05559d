"""06b-rises: ReLU, and the step to the right neighbour."""

import numpy as np

from dlkernels import cuda

from ...kinds.arrays import Suspect
from ...kinds.mend import MendTask
from ..c06.shared import THREADS
from .shared import FAULTS, SEEN, TOGETHER, smooth_case


@cuda.jit
def rises(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = max(x[i], np.float32(0))
    cuda.syncthreads()
    right = np.float32(0)
    if i + 1 < x.size:
        right = out[i + 1]
    cuda.syncthreads()
    if i < x.size:
        out[i] = right - out[i]


def relu(x):
    return np.maximum(np.float64(x), 0)


def steps(x):
    """From each element to its right neighbour, both after a ReLU; the last one steps down to 0."""
    return np.append(relu(x)[1:], 0) - relu(x)


RISES = MendTask(
    id="06b-rises",
    section=TOGETHER,
    title="ReLU, and the step to the right neighbour",
    objective="Debug a kernel whose threads read what others store",
    points=2,
    minutes=9,
    spec=lambda x, out: steps(x),
    cases=(smooth_case("one block", 64), smooth_case("exact", 192), smooth_case("ragged", 100), smooth_case("few", 2)),
    handed_out=rises,
    tried=smooth_case("one block", 60),
    faults=FAULTS,
    suspects=(
        Suspect(
            lambda x, out: np.concatenate([steps(x[k : k + THREADS]) for k in range(0, len(x), THREADS)]),
            "The last thread of each block sees no right neighbour. Which element of x is it, and who may load it?",
        ),
        Suspect(lambda x, out: relu(x), "This is the ReLU of x: the step to the right neighbour is missing."),
        Suspect(
            lambda x, out: np.append(np.float64(x[1:]), 0) - x,
            "These are steps of x itself. The ReLU comes first, for both neighbours.",
        ),
        Suspect(lambda x, out: -steps(x), "The sign is turned round: the right neighbour minus the element itself."),
        Suspect(lambda x, out: np.append(np.float64(x[1:]), 0) - relu(x), "The right neighbour went in without ReLU."),
    ),
    advice={
        **SEEN,
        "race": "One thread reads a place that another one stores. Are the two in one block? And for whom does the "
        "barrier between the two lines wait?",
        "wrong-value": "Work out the first wrong element by hand. Which two elements of x does it need?",
    },
    hints=(
        "The author had one block. Which thread stores what the last thread of block 0 reads?",
        "cuda.syncthreads() waits for the threads of a block. Nothing in a kernel makes block 0 wait until block 1 has "
        "stored its numbers, and nothing makes block 1 wait until block 0 has read them. What a thread wants from its "
        "neighbour: can it get that without asking the neighbour?",
        "The ReLU of the right neighbour depends on x alone. A thread may load x[i + 1], too.",
    ),
)
