"""Statements that a clock decides: they are told as they came out, and never stop anything.

    measure.claim("four chains take hardly longer than one", longer, high=1.5, why="a core without a pipeline")

On a page where it holds, the sentence beside it stands, and nothing is shown. Where it does not, the page says so at
this very place, and goes on: a reader's machine is one that nobody here had. What is exact (results, counts, bytes) is
asserted instead.

Each outcome is a mark in what the cell shows, so it is kept with the page's results; `_ext/claims.py` gathers the marks
of a built book. benchmarks/results/claims/ has those of several machines.
"""

import functools
import json
import math
from html import escape
from pathlib import Path

import numpy as np
from IPython.display import display

from .timing import Ratio, _times
from .turns import HURRY

HELD, DISTURBED, OTHERWISE = "held", "disturbed", "otherwise"
RECORDS = Path(__file__).resolve().parents[3] / "benchmarks" / "results" / "claims"


def claim(says, value, low=-math.inf, high=math.inf, *, why="", busy=False):
    """Compare a measured number with what the book expects of it, and show a note where it is otherwise.

    Returns nothing, as a cell would show what its last line returns.

    says: the statement, with no capital and no full stop, once a page: it is the name under which outcomes are kept.
    value: a number, a `Ratio`, or a condition on measured numbers for which no single number stands (then without
    bounds).
    low, high: the bounds within which it holds, both included. why: a known cause for another outcome, as a clause or
    sentence.
    busy: other programs ran, so that another outcome says little (a `Ratio` knows it by itself).
    """
    display(Claim(says, value, low, high, why, busy))


class Claim:
    """What a cell shows: nothing on a page where it held; else a note. `outcome` is held, disturbed or otherwise."""

    def __init__(self, says, value, low=-math.inf, high=math.inf, why="", busy=False):
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        if isinstance(value, Ratio):
            value, busy = value.ratio, busy or value.busy
        self.condition = type(value).__name__ in ("bool", "bool_")
        if self.condition != (low == -math.inf and high == math.inf) or not low <= high:
            raise ValueError(
                f"claim {says!r}: a number needs a bound, a condition none, not {value!r}, {low} to {high}"
            )
        self.says, self.value, self.low, self.high, self.why = says, float(value), float(low), float(high), why
        held = bool(value) if self.condition else self.low <= self.value <= self.high
        self.outcome = HELD if held else DISTURBED if busy or HURRY else OTHERWISE

    @property
    def expected(self):
        """The bounds in words."""
        if self.condition:
            return "it to hold"
        low, high = math.isfinite(self.low), math.isfinite(self.high)
        if low and high:
            return f"{_times(self.low)} to {_times(self.high)}"
        return f"at least {_times(self.low)}" if low else f"at most {_times(self.high)}"

    @property
    def came(self):
        """The value as the note tells it: never as the bound that it misses."""
        if self.condition:
            return ""
        told = _times(self.value) if math.isfinite(self.value) else str(self.value)
        return f"{self.value:.6g}" if told in (_times(self.low), _times(self.high)) else told

    def __str__(self):
        if self.outcome == HELD:
            return f"Held: {self.says}."
        disturbed = "in a build that measures in a hurry" if HURRY else "here, where other programs ran meanwhile"
        where = disturbed if self.outcome == DISTURBED else "on this machine"
        found = f"{self.came}; the book expects {self.expected}" if self.came else "it does not hold"
        why = f"A known cause: {self.why.rstrip('.')}." if self.why else ""
        told = f"The book says: {self.says}. It came out otherwise {where}: {found}."
        return " ".join(filter(None, [told, why, self.elsewhere()]))

    __repr__ = __str__

    def elsewhere(self):
        """On how many of the recorded machines the same statement held, as a sentence, or ""."""
        outcomes = [machine[self.says] for machine in recorded_claims() if self.says in machine]
        held = outcomes.count(HELD)
        return f"It held on {held} of {len(outcomes)} recorded machines." if outcomes else ""

    def _repr_html_(self):
        mark = escape(json.dumps(self.to_dict()))
        if self.outcome == HELD:
            return f'<span class="claim" data-claim="{mark}" hidden></span>'
        return (
            f'<aside class="admonition caution claim" data-claim="{mark}">'
            '<p class="admonition-title">Otherwise here</p>'
            f"<p>{escape(str(self))}</p></aside>"
        )

    def to_dict(self):
        """What is kept: says, outcome, value, low, high (None: no bound)."""
        value, low, high = (x if math.isfinite(x) else None for x in (self.value, self.low, self.high))
        return {"says": self.says, "outcome": self.outcome, "value": value, "low": low, "high": high}


@functools.cache
def recorded_claims(folder=RECORDS):
    """[{statement: outcome}, ...], one for each recorded machine or setting."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return [{entry["says"]: entry["outcome"] for entry in record["claims"]} for record in records]
