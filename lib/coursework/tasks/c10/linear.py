"""10-linear: Which of these recurrences need not wait?"""

import numpy as np

from ...checking import arguments_of, attempt, headline, names_of
from ...definition import Case, Section, Slip
from ...kinds.detective import DetectiveTask, Fault
from ...kinds.function import FunctionTask
from ...outcome import Failed, Failure


# The statement shows the five steps; a test compares.
def A(h, x):
    return np.tanh(0.9 * h + x)


def B(h, x):
    z = 1 / (1 + np.exp(-x))
    return h + z * (np.tanh(x) - h)


def C(h, x):
    return np.maximum(h + x, 0)


def D(h, x):
    return 1 / (x + h)


def E(h, x):
    z = 1 / (1 + np.exp(-x - h))
    return h + z * (np.tanh(x) - h)


def step_case(name, low, high):
    """make(rng) -> h (11 states, rising), x: a number from low to high."""

    def make(rng):
        return np.sort(rng.uniform(0.1, 4, 11)), float(rng.uniform(low, high))

    return Case(name, make)


def judge_step(arguments, result):
    """A Slip that names what form the step has, None for h' = a h + b."""
    h, _ = arguments
    scale = np.abs(result).max()
    line = np.polyval(np.polyfit(h, result, 1), h)
    if np.allclose(line, result, rtol=0, atol=1e-9 * scale):
        return None
    least, shift = result.min(), result[-1] - h[-1]
    if np.allclose(result, np.maximum(h + shift, least), rtol=0, atol=1e-9 * scale):
        return Slip("max", "some states move by the same amount, and the others end in the same place", "")
    rows = np.stack((h, np.ones_like(h), -h * result, -result), axis=1)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    if np.linalg.svd(rows, compute_uv=False)[-1] < 1e-10:
        return Slip("fraction", "the results lie on a hyperbola, a fraction of two lines", "")
    return Slip("waits", "the results lie on no line and on no hyperbola, and do not end in a common place", "")


class StepTask(FunctionTask):
    """Steps h' = f(h, x) of recurrences, told apart by what they make of many states."""

    def shows(self):
        return (*self.failures(), "max", "fraction", "waits")

    def examine(self, answer, cases, seed):
        for index, case in enumerate(cases):
            h, x = arguments_of(case, seed, index)
            result, _ = attempt(self, case, lambda h=h, x=x: answer.call((h, x)))
            slip = self.judge((h, x), result)
            if slip:
                pairs = ", ".join(f"{h[k]:.2f} becomes {result[k]:.3f}" for k in (0, 3, 7, 10))
                facts = ("it said", f"{slip.expected}: {pairs}"), ("at", f"h = {pairs}, with x = {x:.2f}")
                raise Failed(Failure(slip.kind, f"{headline(case)} not a line", facts))
        return (names_of(self, cases),), ""


LINEAR = DetectiveTask(
    id="10-linear",
    section=Section("10.3", "10_scan", "Is this recurrence linear?"),
    title="Which of these recurrences need not wait?",
    objective="Judge which steps can be joined before the state is known, and what must be kept of a stretch of steps",
    points=3,
    minutes=12,
    judge=StepTask(
        id="10-step",
        title="A step",
        objective="Write it",
        points=1,
        minutes=1,
        judge=judge_step,
        cases=(step_case("x above 0", 0.5, 1.5), step_case("x below 0", -2.5, -1)),
        hints=("", "", ""),
    ),
    programs={"A": A, "B": B, "C": C, "D": D, "E": E},
    run="trial",
    nothing="From eleven states come results that lie on a line, whatever x is.",
    faults=(
        Fault(
            "pair",
            "one step is `a * h + b`, where `a` and `b` come from `x` alone: so is a stretch of steps, and two numbers "
            "are kept of it",
        ),
        Fault(
            "max",
            "one step is `max(h + a, b)`, where `a` and `b` come from `x` alone: so is a stretch, and two numbers are "
            "kept of it",
            ("max",),
        ),
        Fault(
            "fraction",
            "one step is `(a * h + b) / (c * h + d)`, where all four come from `x` alone: so is a stretch, and four "
            "numbers are kept of it",
            ("fraction",),
        ),
        Fault("waits", "none of these: a step of it needs the number `h` itself", ("waits",)),
    ),
    advice={
        "verdict": (
            "Are the results at equal distances where the states are? Do they stop somewhere? Write two steps one "
            "after the other as one formula: has it the form of one step, with other numbers?"
        )
    },
    hints=(
        "Hold x fixed and draw the new h over the old one. Which of the five drawings is a straight line?",
        "h may be hidden: multiply the brackets out, and collect what stands with h. A gate made of x alone is a "
        "number like any other; a gate that looks at h is not. For the others ask what two steps come to.",
        "max(max(h + a, b) + c, d) is max(h + a + c, b + c, d): what does it look like? And put one fraction into "
        "another: above and below the line there is again a number of h's and a rest.",
    ),
)
