"""06b-loss: The sum of squared errors."""

import numpy as np

from dlkernels import cuda

from ...definition import Case, Section, random_values
from ...kinds.arrays import Suspect
from ...kinds.mend import MendTask
from ..c06.shared import NOTHING
from .shared import FAULTS, SEEN

STRIDE = Section("6.3", "06_together", "Rung 5: a grid-stride loop")


@cuda.jit
def loss(y, target, out):
    total = np.float32(0)
    for i in range(cuda.grid(1), y.size, cuda.blockDim.x):
        error = y[i] - target[i]
        total += error * error
    cuda.atomic.add(out, 0, total)


def loss_case(name, n, blocks):
    """y and target (n,); out (1,), zero."""
    return Case(
        f"{name}: n = {n} in {blocks} block{'s' * (blocks > 1)} of 32",
        lambda rng: (random_values(rng, n), random_values(rng, n), np.zeros(1, np.float32)),
        blocks,
        32,
    )


def squares(y, target, out):
    return (np.float64(y) - target) ** 2


LOSS = MendTask(
    id="06b-loss",
    section=STRIDE,
    title="The sum of squared errors",
    objective="Debug a loop over more elements than there are threads",
    points=2,
    minutes=7,
    spec=lambda y, target, out: squares(y, target, out).sum(keepdims=True),
    rtol=1e-4,
    atol=1e-4,
    cases=(
        loss_case("one block", 100, 1),
        loss_case("exact", 256, 4),
        loss_case("ragged", 300, 3),
        loss_case("fewer elements than threads", 20, 2),
    ),
    writer=lambda index, case: (0, 0),
    handed_out=loss,
    tried=loss_case("one block", 1000, 1),
    faults=FAULTS,
    suspects=(
        *(
            Suspect(
                lambda y, target, out, n=n: squares(y, target, out)[:n].sum(keepdims=True) if len(y) > n else NOTHING,
                f"This is the sum of the first {n} elements: each thread took one. There are more elements than "
                "threads in the grid.",
            )
            for n in (32, 64, 96, 128)
        ),
        Suspect(
            lambda y, target, out: (np.float64(y) - target).sum(keepdims=True),
            "This is the sum of the errors. Their squares are asked for.",
        ),
    ),
    advice={
        **SEEN,
        "race": "Several threads change out, and nothing keeps them apart. How did the kernel that was handed out do "
        "that?",
        "wrong-value": "No two threads meet, and the sum is wrong. Write down which elements thread 0 of block 0 "
        "takes, and which thread 0 of block 1. Is any of them taken twice, or by nobody?",
    },
    hints=(
        "Nothing is found, and with one block the sum is right. What does the x-ray count: how often is y loaded with "
        "one block, and how often with two?",
        "Block 0 begins at element 0, block 1 at element 32. By how much does each of them go on, and where does that "
        "lead the first one?",
        "The step of the loop has to be the number of all threads that take part, those of the other blocks too.",
    ),
)
