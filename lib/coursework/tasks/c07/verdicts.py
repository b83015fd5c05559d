"""07-verdicts: Which of four loops is right?"""

from dataclasses import replace

import numpy as np

from dlkernels import cuda

from ...definition import Case, Section, random_values, unwritten
from ...kinds.detective import DetectiveTask, Fault
from .add import ADD


# The statement shows these kernels; a test compares.
@cuda.jit
def _kernel_a(x, out):
    for i in range(cuda.grid(1), out.size, cuda.blockDim.x):
        out[i] = max(x[i], 0.1 * x[i])


@cuda.jit
def _kernel_b(x, out):
    step = cuda.gridsize(1)
    for k in range(out.size // step + 1):
        i = k * step + cuda.grid(1)
        v = x[i]
        if i < out.size:
            out[i] = v if v > 0 else 0.1 * v


@cuda.jit
def _kernel_c(x, out):
    step = cuda.gridsize(1)
    for i in range(out.size - 1 - cuda.grid(1), -1, -step):
        out[i] = max(x[i], 0.1 * x[i])


@cuda.jit
def _kernel_d(x, out):
    step = cuda.gridsize(1)
    for k in range(out.size // step):
        i = k * step + cuda.grid(1)
        out[i] = x[i] if x[i] > 0 else 0.1 * x[i]


LEAKY = replace(
    ADD,
    id="07-leaky",
    spec=lambda x, out: np.where(x > 0, x, 0.1 * x.astype(np.float64)),
    suspects=(),
    advice={},
    cases=tuple(
        Case(
            f"n = {n} in {blocks} blocks of {threads}",
            lambda rng, n=n: (random_values(rng, n), unwritten(n)),
            blocks,
            threads,
        )
        for n, blocks, threads in ((256, 2, 64), (200, 2, 64), (300, 3, 32))
    ),
)

VERDICTS = DetectiveTask(
    id="07-verdicts",
    section=Section("7", "07_vector_add", "Rung 2: the grid-stride loop"),
    title="Which of four loops is right?",
    objective="Judge grid-stride loops by their text, as a reviewer must",
    points=3,
    minutes=12,
    judge=LEAKY,
    programs={"A": _kernel_a, "B": _kernel_b, "C": _kernel_c, "D": _kernel_d},
    faults=(
        Fault("right", "leaky ReLU of each element, for every n and every launch"),
        Fault("outside", "a thread reads or writes outside of an array", ("out-of-bounds", "negative-index")),
        Fault("two writers", "two threads that nothing orders store the same element", ("race", "two-writers")),
        Fault(
            "gaps",
            "some elements of out are not stored",
            ("some-unwritten", "tail", "head", "one-block", "first-round-only", "nothing-written"),
        ),
        Fault(
            "wrong numbers",
            "an element gets a wrong number",
            ("suspect", "wrong-value", "shifted", "constant", "precision"),
        ),
    ),
    hints=(
        "Choose a small launch: 2 blocks of 4 threads, n = 10. Write down which elements thread 0 of block 1 touches "
        "in each loop.",
        "Ask of each loop: where does a thread begin, by how much does it go on, and where does it stop? Is there an "
        "element that nobody gets, or that two get? Is something read before the guard is asked?",
        "max(v, 0.1 * v) and the conditional expression are the same function: the numbers are not what differs. "
        "Neither is the direction of a loop. Look at the step of one loop, at the number of rounds of another, and at "
        "what stands before an if.",
    ),
)
