"""Place a loop on the roofline: the student writes it, says what it does and which roof is over it, then sees the
point.

How to define one (the call in the notebook is check("04-roofline", poly, flops=..., moved=..., intensity=...,
roof=...)):

    ROOFLINE = MeasuredTask(
        id="04-roofline",
        title="A loop of yours under the roofline",
        objective="Count the flops and bytes of a loop, and say which roof binds",
        points=4,
        minutes=15,
        spec=lambda x, c, out: np.polyval(c, x),  # as of every CompiledTask
        cases=(Case("n = 7", arguments(7)), ...),
        claimed=Case("n = 2048", arguments(2048)),  # what the numbers are about
        measured=Case("n = 4 million", arguments(1 << 22)),
        card=Card(peak=100e9, bandwidth=20e9),
        hints=(...),
    )

Graded is what can be counted: the result, the flops and bytes of the student's own source (counted.py), the intensity,
and the roof on the machine of the `card`. The time is measured for the student only, under this machine's measured
peaks.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..checking import arguments_of, attempt, headline, short
from ..definition import Case
from ..outcome import UNSOLVED, Failed, Failure
from .compiled import CompiledTask
from .data import Refused, claimed, number
from .parallel import ParallelTask

TOLERANCE = 0.02  # two digits are enough
FAR = 0.3  # a loop that reaches a smaller share is bound by neither roof
ROUNDED = 0.06  # further off than that is no rounding
ROOFS = ("memory", "arithmetic")
_SOURCE = (
    "Flops are counted in your source, as it stands: loops over single elements, without slices, whole arrays or "
    "functions of NumPy and math. Python's own min, max and abs take numbers."
)
_BRANCHES = (
    "What your loop does depends on the numbers: with others it takes another branch, and other flops are counted. "
    "Write it so that each element takes the same steps (min and max count as none), and count those."
)
_WORDS = {"flops": "flops", "moved": "bytes moved", "intensity": "flops per byte", "roof": "the roof"}
_RATIOS = {  # claimed / counted -> what was probably thought
    "flops": {
        0.5: "That is half of them. A multiply and an add are one flop each. Or is half of the work left out?",
        2: "That is twice as many. A multiply and an add together are two flops, not four.",
    },
    "moved": {
        0.25: "That is the number of elements. A float32 has 4 bytes.",
        0.5: "That is half of them. What is read moves, and what is written moves.",
        1.5: "Does that count the line that is read before it is written? Here each element counts once.",
        2: "That is twice as many. A float32 has 4 bytes, and each element counts once.",
    },
}


@dataclass(frozen=True)
class Card:
    """The machine that a task speaks of: FLOP/s and byte/s at most."""

    peak: float
    bandwidth: float

    @property
    def ridge(self):
        return self.peak / self.bandwidth

    def bound(self, intensity):
        """Which roof is over a loop of so many flops per byte."""
        return "memory" if intensity < self.ridge else "arithmetic"


@dataclass(frozen=True, kw_only=True)
class MeasuredTask(CompiledTask):
    """A CompiledTask with claims. Its work grows with the size of its output: `measured` is scaled from `claimed`."""

    causes: ClassVar[dict] = CompiledTask.causes | {"NotCounted": _SOURCE, "NotAdmitted": _SOURCE}
    claims: ClassVar[tuple] = ("flops", "moved", "intensity", "roof")

    claimed: Case
    measured: Case
    card: Card

    def failures(self):
        return (*super().failures(), "not-a-number", "not-a-roof", *self.claims)

    def counts(self):
        return {}

    def examine(self, answer, cases, seed):
        checked, _ = super().examine(answer, cases, seed)
        self._right_where_counted(answer, seed)
        flops, moved = self._counted(answer, arguments_of(self.claimed, seed, 3000))  # may be refused: before any claim
        said = self._claimed(answer)
        if not flops or not moved:
            raise Failed(
                Failure(
                    "flops", f"{headline(self.claimed)} no flops were seen in your loop", (), self.causes["NotCounted"]
                )
            )
        truth = {"flops": flops, "moved": moved, "intensity": flops / moved, "roof": self.card.bound(flops / moved)}
        for name in self.claims:
            if not _near(said[name], truth[name]):
                other_flops, _ = self._counted(answer, arguments_of(self.claimed, seed, 3002))
                self._not_what_is_counted(name, said, truth, branches=name != "roof" and other_flops != flops)
        said = (
            *checked,
            f"Counted in your source, {self.claimed.name}: {flops} flops, {moved} bytes, {flops / moved:.3g} flops per "
            f"byte. On the machine of this exercise {truth['roof']} binds.",
        )
        sentence, picture = self._measured(answer, seed, truth)
        return (*said, *([sentence] if sentence else [])), "Speed: it is shown, and no points hang on it.", picture

    def _right_where_counted(self, answer, seed):
        """A loop that leaves this one case out would have little to count."""
        arguments = arguments_of(self.claimed, seed, 3000)
        result, after = attempt(self, self.claimed, lambda: answer.compiled_call(arguments))
        self.compare(self.claimed, arguments, after, result)

    def _counted(self, answer, arguments):
        """(flops, bytes moved) of a call."""
        counts, result, after = attempt(self, self.claimed, lambda: answer.counts(arguments))
        self.compare(self.claimed, arguments, after, result)
        return counts["flops"], counts["moved"]

    def _claimed(self, answer):
        """{name: what the student said}; raises Failed where something is missing, or cannot be meant."""
        values = {name: claimed(answer, name) for name in self.claims}
        missing = [name for name, value in values.items() if value is None or value is ...]
        if missing:
            facts = (("missing", ", ".join(missing)),)
            raise Failed(Failure("unanswered", "Not answered yet", facts), UNSOLVED)
        return {name: self._claim(name, value) for name, value in values.items()}

    def _claim(self, name, value):
        """What the student said; raises Failed for what cannot be meant."""
        if name == "roof":
            if type(value) is not str or value not in ROOFS:
                facts = (("expected", " or ".join(f'"{roof}"' for roof in ROOFS)), ("got", short(value)))
                raise Failed(Failure("not-a-roof", "roof names no roof", facts, self.advice.get("not-a-roof", "")))
            return value
        try:
            value = number(value)
            got = "" if 0 < value < 1e30 else short(value)
        except Refused as error:
            got = str(error)
        if got:
            facts = (("expected", f"the {_WORDS[name]}: a number above 0"), ("got", got))
            raise Failed(
                Failure("not-a-number", f"{name} is no such number", facts, self.advice.get("not-a-number", ""))
            )
        return value

    def _not_what_is_counted(self, name, said, truth, branches=False):
        """`branches`: other random numbers give another number of flops."""
        facts = [("you said", f"{name} = {short(said[name])}"), ("counted for", self.claimed.name)]
        cause = self.advice.get(name, "")
        if branches and name in ("flops", "intensity"):
            cause = _BRANCHES
        elif name in _RATIOS:
            ratio = said[name] / truth[name]
            cause = next((text for r, text in _RATIOS[name].items() if abs(ratio - r) <= 0.01 * r), cause)
        elif name == "intensity" and _near(said[name], truth["moved"] / truth["flops"]):
            cause = "These are bytes for each flop. Flops per byte are asked for."
        elif name == "intensity" and abs(said[name] - truth[name]) <= ROUNDED * truth[name]:
            cause = "Near, but rounded too far: write more digits, or let Python divide, flops / moved."
        elif name == "intensity":
            cause = cause or "Divide the flops by the bytes, as you counted both."
        elif name == "roof":
            facts.append(("the ridge", f"{self.card.ridge:.3g} flops per byte on the machine of this exercise"))
        raise Failed(Failure(name, f"{name}: not what your loop does", tuple(facts), cause))

    def _measured(self, answer, seed, truth):
        """(a sentence, a picture) of the loop on this machine; ("", {}) in grading, where no time is taken."""
        try:
            seconds, threads = answer.timed(lambda: arguments_of(self.measured, seed, 3001))
            if seconds is None:
                return "", {}
            from cpulab import measure

            arguments = arguments_of(self.measured, seed, 3001)
            grown = _elements(self, arguments) / _elements(self, arguments_of(self.claimed, seed, 3000))
            point = measure.Point("your loop", truth["flops"] * grown, truth["moved"] * grown, seconds)
            roof = measure.roofs(threads=[threads], points=[point])[0]
        except Exception as error:  # a measurement that fails must not cost points
            return f"Its speed could not be measured here ({type(error).__name__}: {str(error)[:120]}).", {}
        share = point.rate / roof.at(point.intensity)
        more = "; more than all: the arrays were still in a cache" if share > 1 else ""
        lower = roof.bound(point.intensity)
        binds = (
            f"{lower} binds"
            if share > FAR
            else f"{lower}'s roof is the lower one, and your loop is far below both roofs"
        )
        sentence = (
            f"Measured on this machine, {self.measured.name}: your loop reaches {share:.0%} of the roof over it{more}. "
            f"Here {binds}; the ridge lies at {roof.ridge:.3g} flops per byte. Other programs that run "
            "meanwhile make the share smaller."
        )
        return sentence, measure.roof_picture(point, roof)


@dataclass(frozen=True, kw_only=True)
class MeasuredParallelTask(MeasuredTask, ParallelTask):
    """A MeasuredTask whose loop runs on all cores: races are looked for, too, and the roofs are those of all
    threads."""


def _elements(task, arguments):
    return math.prod(np.shape(arguments[task.out % len(arguments)]))


def _near(said, truth):
    if isinstance(truth, str):
        return said == truth
    return abs(said - truth) <= TOLERANCE * truth
