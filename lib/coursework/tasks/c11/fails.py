"""11-fails: Find numbers for which four kernels fail."""

import math

import numpy as np

from dlkernels import cuda

from ...definition import Case, Section, random_values, unwritten
from ...kinds.counterexample import CounterexampleTask, Flaw
from ...kinds.data import Numbers, Whole
from ...kinds.kernel import KernelTask
from .shared import norm_rows, softmax_rows


# The statement shows the kernels `first` to `fourth`; a test compares.
@cuda.jit
def first(x, out):
    i = cuda.grid(1)
    if i < x.size:
        total = np.float32(0)
        for j in range(x.size):
            total += math.exp(x[j])
        out[i] = math.exp(x[i]) / total


@cuda.jit
def second(x, out):
    i = cuda.grid(1)
    if i < x.size:
        largest, total = np.float32(0), np.float32(0)
        for j in range(x.size):
            largest = max(largest, x[j])
        for j in range(x.size):
            total += math.exp(x[j] - largest)
        out[i] = math.exp(x[i] - largest) / total


@cuda.jit
def third(x, out):
    i = cuda.grid(1)
    if i < x.size:
        total, squares = np.float32(0), np.float32(0)
        for j in range(x.size):
            total += x[j]
            squares += x[j] * x[j]
        mean = total / x.size
        variance = squares / x.size - mean * mean
        below = math.sqrt(max(variance, 0.0) + 1e-5)
        out[i] = (x[i] - mean) / below


@cuda.jit
def fourth(v, out):
    i = cuda.grid(1)
    if i < out.size:
        end = min(i + 1 + v.size - out.size, v.size)
        total = np.float32(0)
        for j in range(max(end, 1)):
            total += v[j]
        out[i] = total / max(end, 1)


@cuda.jit
def _right_softmax(x, out):
    i = cuda.grid(1)
    if i < x.size:
        largest, total = x[0], np.float32(0)
        for j in range(x.size):
            largest = max(largest, x[j])
        for j in range(x.size):
            total += math.exp(x[j] - largest)
        out[i] = math.exp(x[i] - largest) / total


@cuda.jit
def _right_norm(x, out):
    i = cuda.grid(1)
    if i < x.size:
        mean, squares = 0.0, 0.0
        for j in range(x.size):
            mean += x[j]
        mean /= x.size
        for j in range(x.size):
            squares += (x[j] - mean) ** 2
        out[i] = (x[i] - mean) / math.sqrt(squares / x.size + 1e-5)


@cuda.jit
def _right_causal(v, out):
    i = cuda.grid(1)
    if i < out.size:
        end = min(i + 1, v.size)
        total = np.float32(0)
        for j in range(end):
            total += v[j]
        out[i] = total / end


def _judge(name, spec):
    return KernelTask(
        id=f"11-{name}",
        title="A row",
        objective="Write it",
        points=1,
        minutes=1,
        spec=spec,
        rtol=1e-3,
        atol=1e-4,
        cases=(),
        hints=("", "", ""),
    )


def causal_means(v, out):
    """Attention whose scores are all equal: query i gets the mean of the values 0 to i, as far as there are any."""
    ends = np.minimum(np.arange(out.size) + 1, v.size)
    return np.cumsum(v.astype(np.float64))[ends - 1] / ends


def _numbers_case(x):
    said = "x = " + str([round(float(v), 3) for v in x])
    return Case(said, lambda rng: (x.copy(), unwritten(x.size)), grid=1, block=32)


def _causal_case(queries, keys):
    said = f"queries = {queries}, keys = {keys}"
    return Case(said, lambda rng: (random_values(rng, keys), unwritten(queries)), grid=-(-queries // 32), block=32)


_SOFTMAX_OF_X = _judge("row", lambda x, out: softmax_rows(x[None])[0])
_NORM_OF_X = _judge("normal", lambda x, out: norm_rows(x[None], np.ones(1), np.zeros(1), 1e-5)[0])
_MEANS = _judge("means", causal_means)

FAILS = CounterexampleTask(
    id="11-fails",
    section=Section("11", "11_softmax", "The largest number first"),
    title="Find numbers for which four kernels fail",
    objective="Find inputs that show an overflow, an underflow, a cancellation, and a causal mask at the wrong corner",
    points=3,
    minutes=12,
    flaws=(
        Flaw(
            name="first",
            judge=_SOFTMAX_OF_X,
            wrong=first,
            right=_right_softmax,
            fields={"x": Numbers(1, 8, 0, 200)},
            case=_numbers_case,
            lead="Which is the largest number whose exponential a float32 can hold?",
        ),
        Flaw(
            name="second",
            judge=_SOFTMAX_OF_X,
            wrong=second,
            right=_right_softmax,
            fields={"x": Numbers(1, 8, -200, 200)},
            case=_numbers_case,
            lead="`largest` begins with 0. For which x is it still 0 at the end, and what is then the largest of the "
            "exponentials?",
        ),
        Flaw(
            name="third",
            judge=_NORM_OF_X,
            wrong=third,
            right=_right_norm,
            fields={"x": Numbers(2, 8, -10000, 10000)},
            case=_numbers_case,
            lead=(
                "A float32 has about seven digits. How large must `squares` be, so that the distances of the numbers "
                "from each other stand in digits that it does not have?"
            ),
        ),
        Flaw(
            name="fourth",
            judge=_MEANS,
            wrong=fourth,
            right=_right_causal,
            fields={"queries": Whole(1, 64), "keys": Whole(1, 64)},
            case=_causal_case,
            lead="Which keys does query 0 see, as `end` has it, and which as the formula has it? For which sizes are "
            "they the same?",
        ),
    ),
    hints=(
        "Each kernel is right for numbers around 0, and for as many queries as keys: the author tried nothing else. "
        "Where does each of them compute something that is not in the formula?",
        "first: exp grows fast. second: it also falls fast, and 0 / 0 is no number. third: two large numbers are "
        "subtracted. fourth: draw the triangle for 2 queries and 4 keys.",
        "first: one number near 100 is enough. second: all of them on the same side of 0, and far from it. third: far "
        "from 0, and close to each other, but not equal. fourth: two sizes that differ, with more than one key.",
    ),
)
