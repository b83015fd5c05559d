"""09-fails: Find sizes for which four kernels fail."""

import numpy as np

from dlkernels import cuda

from ...definition import Case, Section, random_values, unwritten
from ...kinds.counterexample import CounterexampleTask, Flaw
from ...kinds.data import Whole
from ...kinds.kernel import KernelTask
from .shared import LINE_BLOCK, along


# The statement shows the kernels `first` to `fourth`; a test compares.
@cuda.jit
def first(x, weight, stride, padding, dilation, out):
    i = cuda.grid(1)
    if i < out.size:
        total = np.float32(0)
        for t in range(weight.size):
            j = i * stride + t * dilation - padding
            if j >= 0 and j < out.size:
                total += weight[t] * x[j]
        out[i] = total


@cuda.jit
def second(x, weight, stride, padding, dilation, out):
    i = cuda.grid(1)
    if i < out.size:
        total = np.float32(0)
        for t in range(weight.size):
            j = i * stride + (t - padding) * dilation
            if j >= 0 and j < x.size:
                total += weight[t] * x[j]
        out[i] = total


@cuda.jit
def third(x, weight, stride, padding, dilation, out):
    i = cuda.grid(1)
    if i < out.size:
        left = i * stride - padding
        begin = max(0, (-left + dilation - 1) // dilation)
        end = min(weight.size, (x.size - left) // dilation)
        total = np.float32(0)
        for t in range(begin, end):
            total += weight[t] * x[left + t * dilation]
        out[i] = total


@cuda.jit
def fourth(x, weight, stride, padding, dilation, out):
    line = cuda.shared.array(48, np.float32)
    lane, i = cuda.threadIdx.x, cuda.grid(1)
    left = 32 * cuda.blockIdx.x - padding
    for p in range(lane, 48, 32):
        j = left + p
        line[p] = x[j] if j >= 0 and j < x.size else 0
    cuda.syncthreads()
    if i < out.size:
        total = np.float32(0)
        for t in range(weight.size):
            total += weight[t] * line[lane + t * dilation]
        out[i] = total


@cuda.jit
def _right(x, weight, stride, padding, dilation, out):
    i = cuda.grid(1)
    if i < out.size:
        total = np.float32(0)
        for t in range(weight.size):
            j = i * stride + t * dilation - padding
            if j >= 0 and j < x.size:
                total += weight[t] * x[j]
        out[i] = total


def padded_line(x, weight, stride, padding, dilation, out):
    """The specification, float64."""
    return along(np.pad(x.astype(np.float64), padding), weight, stride, out, dilation)


def _results(n, taps, padding, dilation, stride=1):
    return (n + 2 * padding - (taps - 1) * dilation - 1) // stride + 1


def a_line(n, taps, padding, dilation, stride=1):
    """The case of a line that a student chose."""
    results = _results(n, taps, padding, dilation, stride)

    def make(rng):
        return random_values(rng, n), random_values(rng, taps), stride, padding, dilation, unwritten(results)

    said = f"n = {n}, taps = {taps}, padding = {padding}, dilation = {dilation}, stride = {stride}"
    return Case(said, make, grid=-(-results // LINE_BLOCK), block=LINE_BLOCK)


def _fits(n, taps, padding, dilation, stride=1):
    return n + 2 * padding >= (taps - 1) * dilation + 1


PADDED = KernelTask(
    id="09-padded",
    title="A line with everything",
    objective="Write it",
    points=1,
    minutes=1,
    spec=padded_line,
    cases=(),
    hints=("", "", ""),
)
_FIELDS = {"n": Whole(1, 64), "taps": Whole(1, 9), "padding": Whole(0, 8), "dilation": Whole(1, 4)}
LINES = {
    "judge": PADDED,
    "right": _right,
    "fields": _FIELDS | {"stride": Whole(1, 3)},
    "case": a_line,
    "rules": ((_fits, "a window fits into the line: (taps - 1) * dilation + 1 <= n + 2 * padding"),),
}

FAILS = CounterexampleTask(
    id="09-fails",
    section=Section("9", "09_convolution", "Stride, padding, dilation"),
    title="Find sizes for which four kernels fail",
    objective="Find a padding, stride or dilation that shows what is wrong with a convolution",
    points=3,
    minutes=12,
    flaws=(
        Flaw(
            name="first",
            wrong=first,
            lead=(
                "The guard of a pixel looks at the size of out. When is out as long as x, when is it shorter, and is "
                "there an element of x that counts and is left out then?"
            ),
            **LINES,
        ),
        Flaw(
            name="second",
            wrong=second,
            lead="The padding stands inside the brackets. What is it multiplied by there, and for which numbers makes "
            "that no difference?",
            **LINES,
        ),
        Flaw(
            name="third",
            wrong=third,
            lead=(
                "`begin` and `end` replace the guard: the first tap inside the line, and the first one beyond it. One "
                "of the two divisions rounds up, the other one down. Which taps t have left + t * dilation < x.size, "
                "and what does rounding leave out?"
            ),
            **LINES,
        ),
        Flaw(
            name="fourth",
            wrong=fourth,
            lead="32 outputs and a halo: how many elements of the line does a block need, and how many has it?",
            **LINES | {"fields": _FIELDS},
        ),
    ),
    hints=(
        "Each kernel is right for taps = 3, padding = 1, dilation = 1, stride = 1: the author tried nothing else. "
        "Which of these numbers does each line with a mistake use?",
        "first: make out shorter than x. second: a product with 1 shows nothing, and one with 0 neither. third: write "
        "down for the last windows which taps lie inside. fourth: a window can be wide without many taps.",
        "first: no padding. second: two numbers must not be what they usually are. third: dilation 2, and windows that "
        "reach beyond the end. fourth: from the first to the last tap it is (taps - 1) * dilation; the halo has 16.",
    ),
)
