"""05-verdicts: Which of four kernels is right?"""

from dataclasses import replace

import numpy as np

from dlkernels import cuda

from ...definition import Section
from ...kinds.detective import DetectiveTask, Fault
from .doubling import DOUBLE, a_launch


# The statement shows these kernels; a test compares.
@cuda.jit
def _kernel_a(x, out):
    i = cuda.grid(1)
    if cuda.blockIdx.x < out.size // cuda.blockDim.x:
        out[i] = x[i] / 2


@cuda.jit
def _kernel_b(x, out):
    i = cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x
    if i < out.size:
        out[i] = x[i] / 2


@cuda.jit
def _kernel_c(x, out):
    first = cuda.blockIdx.x * cuda.blockDim.x
    if first < out.size:
        i = first + cuda.threadIdx.x
        out[i] = x[i] / 2


@cuda.jit
def _kernel_d(x, out):
    i = min(cuda.grid(1), out.size - 1)
    out[i] = x[i] / 2


HALVE = replace(
    DOUBLE,
    id="05-halve",
    spec=lambda x, out: x.astype(np.float64) / 2,
    cases=tuple(a_launch(n, blocks, threads) for n, blocks, threads in ((256, 4, 64), (200, 4, 64), (70, 3, 32))),
)

VERDICTS = DetectiveTask(
    id="05-verdicts",
    section=Section("5", "05_threads", "Guards"),
    title="Which of four kernels is right?",
    objective="Judge kernels by their text, thread by thread",
    points=3,
    minutes=10,
    judge=HALVE,
    programs={"A": _kernel_a, "B": _kernel_b, "C": _kernel_c, "D": _kernel_d},
    faults=(
        Fault("right", "halves each element, for every n and every launch with a thread for each element"),
        Fault("outside", "a thread reads or writes outside of an array", ("out-of-bounds", "negative-index")),
        Fault("two writers", "two threads that nothing orders store the same element", ("race", "two-writers")),
        Fault(
            "gaps",
            "some elements of out are not stored",
            ("some-unwritten", "tail", "head", "one-block", "nothing-written"),
        ),
        Fault(
            "wrong numbers",
            "an element gets a wrong number",
            ("wrong-value", "shifted", "scaled", "constant", "precision"),
        ),
    ),
    hints=(
        "Choose a small launch: 3 blocks of 4 threads, n = 10. Write down for each kernel which element each thread "
        "takes.",
        "Ask of each kernel: do two threads take the same element? Is there an element that nobody takes? What do the "
        "two threads do that are too many?",
        "An unusual order of the elements is no fault, as long as each has one thread. What does a division leave out "
        "that rounds down? Is a block stopped or a thread? And is one that is too many stopped at all?",
    ),
)
