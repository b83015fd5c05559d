"""Be the scheduler: the student chooses, step by step, which thread goes on, so that something happens.

How to define one (the program stands in the statement of the notebook, word for word; a test compares them):

    LOSE = ScheduleTask(
        id="02-lose",
        title="Lose updates on purpose",
        objective="Choose the steps of two threads so that most updates are lost",
        points=2,
        minutes=8,
        program=Program("value = 0 ...", A=("add", 3), B=("add", 3)),
        score=lambda played: 6 - played.state["value"],
        shown="{} of 6 updates lost",
        slips={0: "What does B have to do between A's reading and A's writing?"},
        hints=(...),
    )

The answer is a string of thread names, "ABBA", or a list of them; spaces, commas and small letters do no harm. The goal is the largest score of all schedules, which
the course finds by playing them (cpulab.explore.Program.furthest); `goal=` asks for less. What a score looks at is how
the run ends: a starved thread or a broken invariant is counted by the program itself, in a global variable.
"""

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from cpulab.explore import Program

from ..answer import AnswerFailed
from ..checking import short
from ..definition import Task
from ..outcome import UNSOLVED, Failed, Failure

LONGEST = 1000  # steps of an answer that are looked at at all


@dataclass(frozen=True, kw_only=True)
class ScheduleTask(Task):
    """`score(played)` of the program under the answer's schedule must reach `goal` (None: the most there is).

    `shown`: a score in words. `slips` maps a score to what to think of next; `otherwise` is for any other.
    """

    not_begun: ClassVar[str] = "Not answered yet"
    cases: ClassVar[tuple] = ()

    program: Program
    score: Callable
    shown: str
    goal: int | None = None
    slips: dict = field(default_factory=dict)
    otherwise: str = "Look at the table: which thread would you stop, and where, so that it does more harm later?"

    def failures(self):
        return ("type", "unknown-thread", "impossible", "too-many-steps")

    def examine(self, answer, cases, seed):
        steps = self._steps(answer)
        try:
            played = self.program.play(steps)
        except ValueError as error:
            cause = self.advice.get("unknown-thread", "Name a thread for every step, as the statement writes it.")
            raise Failed(
                Failure("unknown-thread", "A step names no thread", (("it said", str(error)),), cause)
            ) from None
        picture = {"table": [list(row) for row in played.table.rows]} if len(played.table) else {}
        if played.ending == "impossible":
            cause = self.advice.get(
                "impossible", "Each step must belong to a thread that can go on: name another one there."
            )
            facts = (("impossible", played.refused), ("before it", self._word(played.steps) or "nothing"))
            raise Failed(Failure("impossible", "A step that cannot be made", facts, cause, picture))
        reached, (most, _, count, complete) = self.score(played), self.most
        goal = most if self.goal is None else self.goal
        left = len(played.steps) - played.given
        facts = [("steps", f"{self._word(played.steps[: played.given]) or 'none'} ({played.given})")]
        facts += (
            [("then", f"{self._word(played.steps[played.given :])}: what you left open ran by itself")] if left else []
        )
        if reached < goal:
            facts += [("asked for", self.shown.format(goal))] if goal != most else []
            facts += [("possible" if complete else "best known", self.shown.format(most))]
            headline = f"{self.shown.format(reached)}; more is possible"
            raise Failed(
                Failure("not-reached", headline, tuple(facts), self.slips.get(reached, self.otherwise), picture)
            )
        best = "More is not possible" if reached >= most else f"Possible: {self.shown.format(most)}"
        best = best if complete else f"The best known: {self.shown.format(most)}"
        said = [f"Played: {facts[0][1]}. {self.shown.format(reached)}.", *(f"Then {text}." for _, text in facts[1:2])]
        said.append(
            f"{best}: the check played {count} schedules, every step in every state that the threads can reach."
        )
        return said, "", picture

    @functools.cached_property
    def most(self):
        """What Program.furthest says of this task."""
        return self.program.furthest(self.score)

    def _word(self, steps):
        return ("" if all(len(name) == 1 for name in self.program.threads) else " ").join(steps)

    def _steps(self, answer):
        """The names of the threads, in order; raises Failed for what cannot be a schedule."""
        try:
            said = answer.value()
        except AnswerFailed as error:
            if error.name == "NameError" or "ellipsis" in error.text:
                said = ...
            else:
                raise self._no_schedule(error.text) from None
        if isinstance(said, np.ndarray):
            said = said.tolist()
        if isinstance(said, str):
            said = re.sub(r"[\s,]+", "", said)
        if said is None or said is ... or (isinstance(said, str | list | tuple) and len(said) == 0):
            raise Failed(Failure("unanswered", self.not_begun), UNSOLVED)
        if not isinstance(said, str | list | tuple):
            raise self._no_schedule(short(said) if not callable(said) else f"a {type(said).__name__}")
        if len(said) > LONGEST:
            needed = len(self.program.play("").steps)
            facts = (("got", f"{len(said)} steps"), ("the program", f"has {needed} when no thread is interrupted"))
            raise Failed(Failure("too-many-steps", "Too many steps", facts, self.advice.get("too-many-steps", "")))
        steps, capital = list(said), {name.lower(): name for name in self.program.threads}
        for number, name in enumerate(steps, 1):
            if not isinstance(name, str):
                raise self._no_schedule(f"step {number} is {short(name)}")
        return [capital.get(name.lower(), name) for name in steps]

    def _no_schedule(self, got):
        names = list(self.program.threads)
        facts = (("expected", f'the names of threads, as in "{"".join((names * 2)[:4])}"'), ("got", got[:120]))
        cause = self.advice.get("type", "Write a string with one letter for each step.")
        return Failed(Failure("type", "This is no schedule", facts, cause))
