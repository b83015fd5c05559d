"""Numbers that the student predicts before anything runs."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from ..checking import short
from ..definition import Section, Task
from ..outcome import UNSOLVED, Failed, Failure
from ..plain import NotPlain, plain


@dataclass(frozen=True)
class Question:
    """One number to predict. `truth()` computes it; `slips` maps a wrong answer to what it rests on.

    `otherwise`: what to do about any other wrong answer. `tolerance`: relative, for what cannot be counted exactly.
    """

    name: str
    text: str
    truth: Callable
    slips: dict = field(default_factory=dict)
    otherwise: str = "Draw the 32 lanes of one warp and mark what each one touches."
    tolerance: float = 0.0
    picture: Callable | None = None  # () -> as in outcome.Failure: of a smaller question, for the answer is not told
    section: Section | None = None  # to read first, where it is not that of the task


@dataclass(frozen=True, kw_only=True)
class PredictionTask(Task):
    """The answer is a dict, name of a question -> number. Its words of advice are the slips of its questions.

    A wrong answer is told which other numbers are right: no list of numbers can be tried out. A choice between a few
    words can, so choices are looked at when all numbers are right, and one wrong choice says nothing of the others.
    """

    part: ClassVar[str] = "prediction"
    not_begun: ClassVar[str] = "Not answered yet"
    cases: ClassVar[tuple] = ()

    questions: tuple

    def failures(self):
        return ()

    def section_for(self, failure):
        asked = failure.headline.split(":")[0]
        return next((q.section for q in self.questions if q.name == asked and q.section), self.section)

    def accept(self, answer):
        names = {question.name for question in self.questions}
        if set(answer) != names:
            raise ValueError(
                f"{self.id} asks for {', '.join(sorted(names))}; got {', '.join(sorted(answer)) or 'nothing'}."
            )

    def _of_its_type(self, name, said, truth):
        """Raises Failed for what can be no answer: text for a number, a number for text, a list."""
        text = isinstance(truth, str)
        if isinstance(said, str) if text else type(said) is int or (type(said) is float and math.isfinite(said)):
            return
        said = f"{short(said)}, which is text" if isinstance(said, str) else short(said)
        cause = (
            "Answer with a letter in quotation marks."
            if text
            else "Write a number, without quotation marks or brackets."
        )
        raise Failed(
            Failure("not-a-number", f"{name} is {'no text' if text else 'not a number'}", (("got", said),), cause)
        )

    def examine(self, answer, cases, seed):
        truths = {question.name: _truth(question.truth) for question in self.questions}
        missing = [q.name for q in self.questions if answer[q.name] is None or answer[q.name] is ...]
        if missing:
            raise Failed(Failure("unsolved", self.not_begun, (("missing", ", ".join(missing)),)), UNSOLVED)
        for question in self.questions:
            said, truth = _plain(answer[question.name]), truths[question.name]
            self._of_its_type(question.name, said, truth)
        numbers = [q for q in self.questions if not isinstance(truths[q.name], str)]
        choices = [q for q in self.questions if q not in numbers]
        wrong = [q.name for q in self.questions if not _near(_plain(answer[q.name]), truths[q.name], q.tolerance)]
        for question in (*numbers, *choices):
            said, truth = _plain(answer[question.name]), truths[question.name]
            if question.name in wrong:
                cause = _slip(question, said, truth) or question.otherwise
                facts = (("question", question.text), ("you said", short(said)))
                if len(numbers) > (question in numbers):
                    others = [q.name for q in numbers if q.name in wrong and q is not question]
                    which = "the others" if len(numbers) == len(self.questions) else "the numbers"
                    facts += ((which, f"not right: {', '.join(others)}" if others else "right"),)
                headline = f"{question.name}: not what the machine counts"
                picture = question.picture() if question.picture else {}
                raise Failed(Failure("prediction", headline, facts, cause, picture))
        asked = "; ".join(f"{q.name} = {truths[q.name]}" for q in self.questions)
        return (f"Computed by the check: {asked}.",), ""


def _plain(said):
    """What is no plain data comes as it is, to be told what it is."""
    try:
        return plain(said)
    except NotPlain:
        return said


def _near(said, truth, tolerance):
    if isinstance(truth, str):
        return said.strip().lower() == truth.lower()
    if said == truth or not tolerance:
        return said == truth
    return abs(said) < 1e300 and abs(said - truth) <= tolerance * abs(truth)  # beyond, a whole number is no float


@functools.lru_cache(256)
def _truth(compute):
    """Counted once in a process: a class asks it hundreds of times."""
    return compute()


def _slip(question, said, truth):
    """What a wrong answer rests on, in words; "" where nobody knows."""
    if isinstance(truth, str):
        return next((text for name, text in question.slips.items() if str(name).lower() == said.strip().lower()), "")
    if said in question.slips or abs(said) > 1e15:
        return question.slips.get(said, "")
    if said != int(said):
        off = {key: abs(said - key) for key in question.slips}
        nearest = min(off, key=off.get, default=math.inf)
        known = off and off[nearest] <= 0.005 * abs(nearest)  # 133.33 for 133
        if isinstance(truth, int) and abs(said - truth) < 1 and not (known and off[nearest] < abs(said - truth)):
            return f"{_WHOLE} {question.otherwise}"
        if known:
            return question.slips[nearest]
    factor = next((factor for factor in _UNITS if truth and abs(said * factor / truth - 1) < 0.01), None)
    if factor is None:
        return ""
    share = (factor == 100 and abs(said) <= 1 and _SHARE) or (factor == 0.01 and abs(truth) <= 1 and _PER_CENT)
    return f"{share} {_ELSEWHERE}" if share else _ELSEWHERE


_WHOLE = "A whole number is asked for. What happens to the rest: does it count as a whole one, or not at all?"
_ELSEWHERE = "The digits are right, and the unit is another one. Read once more in which unit the answer is asked for."
_SHARE, _PER_CENT = "A share, where per cent are asked for?", "Per cent, where a share is asked for?"
_UNITS = (100, 0.01, 1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9, 2.0**10, 2.0**20, 2.0**-10, 2.0**-20)  # truth / what was said
