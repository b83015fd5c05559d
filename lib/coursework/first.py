"""What exercises/try.ipynb checks: no task of a chapter, so no points, no hints, and nothing is noted.

from coursework.first import check
"""

import numpy as np

from . import checking, feedback
from .answer import Local
from .definition import Case, random_values
from .kinds.kernel import KernelTask
from .notebook import CheckFailed, display
from .outcome import RIGHT


def _case(threads):
    return Case(f"{threads} threads", lambda rng: (random_values(rng, threads + 1),), 1, threads)


STEPS = KernelTask(
    id="steps",
    title="Steps, in place",
    objective="Debug a race with the x-ray",
    points=0,
    minutes=1,
    spec=lambda a: np.append(np.diff(np.float64(a)), a[-1]),
    cases=tuple(map(_case, (64, 32, 100))),
    advice={
        "race": (
            "One thread stores an element that its neighbour still has to load. Write cuda.syncthreads() between the "
            "line that loads and the line that stores."
        )
    },
    hints=("", "", ""),
)


def check(kernel):
    """Whether the kernel is right in every order of its threads."""
    outcome = checking.check(STEPS, Local(kernel))
    display(feedback.as_text(outcome, advise=False), feedback.as_html(outcome, advise=False))
    if outcome.status != RIGHT:
        raise CheckFailed(outcome)
