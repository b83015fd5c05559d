"""09-verdicts: Which of four backward passes is right?"""

import numpy as np

from dlkernels import cuda

from ...definition import Case, Section, random_values
from ...kinds.detective import DetectiveTask, Fault
from ...kinds.kernel import KernelTask
from .shared import LINE_BLOCK


# The statement shows these kernels; a test compares.
@cuda.jit
def _kernel_a(grad, weight, dx):
    i = cuda.grid(1)
    if i < grad.size:
        for t in range(weight.size):
            dx[i + t] += weight[t] * grad[i]


@cuda.jit
def _kernel_b(grad, weight, dx):
    j = cuda.grid(1)
    if j < dx.size:
        begin = max(0, j - weight.size + 1)
        end = min(j + 1, grad.size)
        total = np.float32(0)
        for i in range(begin, end):
            total += weight[j - i] * grad[i]
        dx[j] = total


@cuda.jit
def _kernel_c(grad, weight, dx):
    j = cuda.grid(1)
    if j < dx.size:
        total = np.float32(0)
        for t in range(weight.size):
            i = j + t - (weight.size - 1)
            if i >= 0 and i < grad.size:
                total += weight[t] * grad[i]
        dx[j] = total


@cuda.jit
def _kernel_d(grad, weight, dx):
    i = cuda.grid(1)
    if i < dx.size:
        for t in range(weight.size):
            cuda.atomic.add(dx, i + t, weight[t] * grad[i])


def scatter_case(results, taps):
    """A case of the gradient by the input of a line: `results` elements arrive, each of `taps` weights spreads them."""
    n = results + taps - 1

    def make(rng):
        return random_values(rng, results), random_values(rng, taps), np.zeros(n, np.float32)

    return Case(f"{results} results, {taps} weights", make, grid=-(-n // LINE_BLOCK), block=LINE_BLOCK)


SCATTER = KernelTask(
    id="09-scatter",
    title="The gradient of the input",
    objective="Write it",
    points=1,
    minutes=1,
    spec=lambda grad, weight, dx: np.convolve(grad.astype(np.float64), weight.astype(np.float64)),
    atol=1e-5,
    cases=(scatter_case(30, 3), scatter_case(70, 4), scatter_case(12, 7)),
    hints=("", "", ""),
)

VERDICTS = DetectiveTask(
    id="09-verdicts",
    section=Section("9.2", "09_convolution_fast", "Backward"),
    title="Which of four backward passes is right?",
    objective="Judge kernels that scatter or gather a gradient by their text, as a reviewer must",
    points=3,
    minutes=12,
    judge=SCATTER,
    programs={"A": _kernel_a, "B": _kernel_b, "C": _kernel_c, "D": _kernel_d},
    faults=(
        Fault("right", "the gradient of each element of x, for every number of results and weights"),
        Fault(
            "race",
            "two threads change the same element, and nothing orders them",
            ("race", "two-writers", "atomic-against-plain"),
        ),
        Fault("outside", "a thread reads or writes outside of an array", ("out-of-bounds", "negative-index")),
        Fault(
            "gaps",
            "some elements of dx get nothing",
            ("some-unwritten", "tail", "head", "one-block", "first-round-only", "nothing-written"),
        ),
        Fault(
            "wrong numbers",
            "an element gets a wrong number",
            ("suspect", "wrong-value", "shifted", "constant", "precision", "scaled", "one-element"),
        ),
    ),
    hints=(
        "Take 3 results and 2 weights, and write down which products belong to dx[0], dx[1], dx[2] and dx[3].",
        "Two ways lead there: a thread for each result spreads what arrived, or a thread for each element of x "
        "gathers. Ask of the first: who else adds here? Of the second: which result and which weight meet here?",
        "out[i] used x[i + t] with weight[t]. So dx[j] gathers weight[t] * grad[j - t]: as t grows, the place in grad "
        "falls. Compare each kernel with that, and each guard with the array that is indexed under it.",
    ),
)
