"""The twenty claims of chapter 17, a file each: the claim as it is made, what is measured, and when it holds.

A file cNN.py has CLAIM, the sentence; PARTS, what it says one by one; and ``measure(quick)``, which returns a figure
for each part, by its name. Whether a part holds is decided by its bounds alone. `exact` ones are counted, or follow
from what is recorded in this repository: they are the same on every machine, and a test measures them again. Of the
others the verdict TRUE or FALSE says that the outcome is the same on every machine that is recorded, and that we know
of none where it would be another; a condition is what another outcome depends on.
"""

import importlib
import math
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

NUMBERS = range(1, 21)
TRUE, FALSE = "true", "false"


@dataclass(frozen=True)
class Part:
    """name: of the figure that `measure` returns. says: what is claimed. figure: what it is, with its unit.
    It holds where low <= figure <= high. verdict: TRUE, FALSE, or "true if ...". page: where it is taught."""

    name: str
    says: str
    figure: str
    verdict: str
    page: str
    low: float = -math.inf
    high: float = math.inf
    exact: bool = False

    def holds(self, value):
        return bool(self.low <= value <= self.high)

    @property
    def rule(self):
        if self.low == self.high:
            return f"{self.low:g}"
        if math.isinf(self.high):
            return f"at least {self.low:g}"
        return f"at most {self.high:g}" if math.isinf(self.low) else f"{self.low:g} to {self.high:g}"

    def fits(self, outcomes):
        """Does the verdict agree with whether it held, of all machines?"""
        return all(outcomes) if self.verdict == TRUE else not any(outcomes) if self.verdict == FALSE else True


def all_parts():
    """{(number, name): Part} of all claims."""
    return {(number, part.name): part for number in NUMBERS for part in one(number).PARTS}


def of_machines(records):
    """{(number, name): its figure on each machine}; None where that was not asked of a machine."""
    found = [{(row["number"], row["name"]): row["value"] for row in record.data} for record in records]
    return {key: [figures.get(key) for figures in found] for key in all_parts()}


def one(number):
    """The module of one claim."""
    return importlib.import_module(f"{__name__}.c{number:02d}")


def measured(number, quick=False):
    """{part: figure} of one claim, each finite."""
    module = one(number)
    found = {name: float(value) for name, value in module.measure(quick).items()}
    if set(found) != {part.name for part in module.PARTS} or not all(map(math.isfinite, found.values())):
        raise ValueError(f"claim {number} measured {found}; expected a number for each of its parts.")
    return found


# ---- what several of them need ---------------------------------------------------------------------------------------


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


@contextmanager
def threads(count):
    from cpulab import measure

    with measure.limit_threads(count):
        yield


def by_threads(run, quick):
    """How many times as fast `run` is with all threads as with one: the median of calls in turns."""
    import numba

    from cpulab import measure

    def alone():
        with measure.limit_threads(1):
            run()

    if numba.get_num_threads() == 1:
        return 1.0
    return measure.ratio(alone, run, budget=0.3 if quick else 2).ratio


def gain(peer, ours, quick, count=None):
    """Seconds of `peer` over those of `ours`, in turns. count: of threads; None: all."""
    from cpulab import measure

    def ratio():
        return measure.ratio(peer, ours, budget=0.3 if quick else 2).ratio

    if count is None:
        return ratio()
    with measure.limit_threads(count):
        return ratio()
