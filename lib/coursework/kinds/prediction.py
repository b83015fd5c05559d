"""Numbers that the student predicts before anything runs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from ..checking import short
from ..definition import Task
from ..outcome import UNSOLVED, Failed, Failure


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


@dataclass(frozen=True, kw_only=True)
class PredictionTask(Task):
    """The answer is a dict, name of a question -> number. Its words of advice are the slips of its questions."""

    part: ClassVar[str] = "prediction"
    not_begun: ClassVar[str] = "Not answered yet"
    cases: ClassVar[tuple] = ()

    questions: tuple

    def failures(self):
        return ()

    def accept(self, answer):
        names = {question.name for question in self.questions}
        if set(answer) != names:
            raise ValueError(
                f"{self.id} asks for {', '.join(sorted(names))}; got {', '.join(sorted(answer)) or 'nothing'}."
            )

    def examine(self, answer, cases, seed):
        for question in self.questions:
            said, truth = answer[question.name], question.truth()
            if said is None or said is ...:
                raise Failed(Failure("unsolved", self.not_begun, (("missing", question.name),)), UNSOLVED)
            if isinstance(said, bool) or not isinstance(said, int | float | str):
                raise Failed(Failure("not-a-number", f"{question.name} is not a number", (("got", short(said)),)))
            if not _near(said, truth, question.tolerance):
                cause = question.slips.get(said, question.otherwise)
                facts = (("question", question.text), ("you said", short(said)))
                headline = f"{question.name}: not what the machine counts"
                picture = question.picture() if question.picture else {}
                raise Failed(Failure("prediction", headline, facts, cause, picture))
        asked = "; ".join(f"{q.name} = {q.truth()}" for q in self.questions)
        return (f"Counted by running it: {asked}.",), ""


def _near(said, truth, tolerance):
    if tolerance and isinstance(said, int | float) and isinstance(truth, int | float):
        return abs(said - truth) <= tolerance * abs(truth)
    return said == truth
