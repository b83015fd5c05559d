"""04-lanes: Who lost the vectors?"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from ...answer import Local
from ...checking import arguments_of, attempt, headline
from ...definition import Case, Section, random_values
from ...kinds.compiled import CompiledTask
from ...kinds.detective import DetectiveTask, Fault
from ...outcome import Failed, Failure


@njit
def lanes_a(x, w, out):
    for i in range(1, x.size):
        out[i] = w[i] * out[i - 1] + x[i]


@njit
def lanes_b(x, w, out):
    for k in range(x.size // 64):
        total = np.float32(0)
        for i in range(64):
            total += x[64 * k + i] * w[i]
        out[k] = total


@njit
def lanes_c(x, w, out):
    for i in range(x.size):
        if x[i] > 0:
            out[i] = x[i] * w[i]
        else:
            out[i] = x[i] * x[i]


@njit
def lanes_d(x, w, out):
    for i in range(x.size):
        out[i] = x[i] / w[i]


@njit
def lanes_e(x, w, out):
    total = np.float32(0)
    for i in range(x.size):
        total += x[i] * w[i]
        out[i] = total


ORDER_FREE, NO_ERROR = {"fastmath": {"reassoc", "nsz"}}, {"error_model": "numpy"}


@dataclass(frozen=True, kw_only=True)
class LanesTask(CompiledTask):
    """Not whether a loop is right, but which option of the compiler makes it compute on vectors. The share of single
    numbers is counted in LLVM's code, and is the same for vectors of any width."""

    def failures(self):
        return (*super().failures(), "order", "error", "never")

    def examine(self, answer, cases, seed):
        (case,) = cases
        arguments = arguments_of(case, seed, 0)
        if self._share(answer, case, arguments) < 0.5:
            return (), ""
        facts = (("it said", "one number is computed at a time"),)
        for kind, options in (("order", ORDER_FREE), ("error", NO_ERROR)):
            again = Local(njit(**options)(answer.function.py_func), admitted=True)
            if self._share(again, case, arguments) < 0.5:
                raise Failed(Failure(kind, f"{headline(case)} no vectors", facts))
        raise Failed(Failure("never", f"{headline(case)} no vectors", facts))

    def _share(self, answer, case, arguments):
        return attempt(self, case, lambda: answer.cost(arguments, ["scalar_share"]))[0]["scalar_share"]


def lanes_arguments(n):
    """make(rng) -> x, w and out of shape (n,); no number of w is near zero."""
    return lambda rng: (random_values(rng, n), random_values(rng, n) + np.float32(2), np.zeros(n, np.float32))


LANES = DetectiveTask(
    id="04-lanes",
    section=Section("4.2", "04_vectors", "Why was my loop not vectorised?"),
    title="Who lost the vectors?",
    objective="Say of a loop whether it computes on vectors, and name what stops it",
    points=3,
    minutes=12,
    judge=LanesTask(
        id="04-lanes-judge",
        title="Vectors or not",
        objective="Judge a loop",
        points=0,
        minutes=0,
        spec=lambda x, w, out: out,
        cases=(Case("n = 1024", lanes_arguments(1024)),),
        hints=("", "", ""),
    ),
    nothing="n = 1024: whole vectors are computed.",
    programs={"A": lanes_a, "B": lanes_b, "C": lanes_c, "D": lanes_d, "E": lanes_e},
    faults=(
        Fault("vectors", "computes on vectors as it stands"),
        Fault("order", 'would, if sums may change their order: `fastmath={"reassoc", "nsz"}`', ("order",)),
        Fault("error", 'would, if a division by zero raised no error: `error_model="numpy"`', ("error",)),
        Fault("never", "with neither of the two: each round needs what the round before made", ("never",)),
    ),
    advice={
        "verdict": "Write down what rounds i and i + 1 need. Could both be computed at once, with the very same result?"
    },
    hints=(
        "For each loop: what must be known before round i can begin? What may happen in round i that ends the loop?",
        "A sum in one order is one long chain; if any order will do, it may become many chains. Is every part of the "
        "chain's way stored, too, then no other order helps. And Python's division asks a question before it divides.",
        "Two loops carry something whose every step is stored. One carries something of which only the end is needed. "
        "One could raise an error in the middle. One only looks as if an `if` were in the way.",
    ),
)
