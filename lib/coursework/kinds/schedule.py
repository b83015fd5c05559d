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

The answer is a string of thread names, "ABBA", or a list of them; spaces, commas and small letters do no harm. The goal
is the largest score of all schedules, which the course finds by playing them (cpulab.explore.Program.furthest); `goal=`
asks for less. What a score looks at is how the run ends: a broken invariant is counted by the program itself, in a
global variable. `syncthreads()` in a program is a barrier of all its threads, which then stand for warps.

What goes on for ever is a `RoundTask`: threads that step aside for each other, a thread that never gets its turn. There
the steps must come back to a state in which the program was before, and what has a score is that round
(cpulab.explore.rounds.Round): which threads make a step in it, which values the variables take.

    STARVE = RoundTask(
        id="02-starve", ...
        program=Program("...", A=("a",), B=("b",)),
        score=lambda round: len(round.threads),
        shown={1: "one thread goes round alone", 2: "both go round, and nobody gets in"},
    )
"""

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from cpulab.explore import Program

from ..answer import AnswerFailed
from ..checking import short
from ..definition import Task
from ..outcome import UNSOLVED, Failed, Failure


@dataclass(frozen=True, kw_only=True)
class ScheduleTask(Task):
    """`score(played)` of the program under the answer's schedule must reach `goal` (None: the most there is).

    `shown`: a score in words, as "{} lost" or {score: words}. `slips` maps a score to what to think of next;
    `otherwise` is for any other. `who`: what the threads stand for.
    """

    not_begun: ClassVar[str] = "Not answered yet"
    cases: ClassVar[tuple] = ()
    longest: ClassVar[int] = 1000  # steps of an answer that are looked at at all
    proof: ClassVar[str] = "the check played {} schedules, every step in every state that the threads can reach."

    program: Program
    score: Callable
    shown: str | dict
    goal: int | None = None
    who: str = "thread"
    slips: dict = field(default_factory=dict)
    steps_shown: bool = True  # as a table of what each step does
    more: str = "more is possible"  # said of a score below the goal
    at_the_end: Callable | None = None  # (played) -> what came out, in words
    otherwise: str = "Look at the table: which thread would you stop, and where, so that it does more harm later?"

    @property
    def many(self):
        return self.who + ("es" if self.who.endswith("ch") else "s")

    def failures(self):
        return ("type", "unknown-thread", "impossible", "too-many-steps")

    def examine(self, answer, cases, seed):
        steps = self._steps(answer)
        try:
            played = self.play(steps)
        except ValueError as error:
            cause = self.advice.get("unknown-thread", f"Name a {self.who} for every step, as the statement writes it.")
            facts = (("it said", str(error).replace("the threads are", f"the {self.many} are")),)
            raise Failed(Failure("unknown-thread", f"A step names no {self.who}", facts, cause)) from None
        picture = {}
        if self.steps_shown and len(played.table):
            picture = {"table": [list(row) for row in played.table.rows], "who": self.who}
        if played.ending == "impossible":
            cause = self.advice.get(
                "impossible", f"Each step must belong to a {self.who} that can go on: name another one there."
            )
            facts = (("impossible", played.refused), ("before it", self._word(played.steps) or "nothing"))
            raise Failed(Failure("impossible", "A step that cannot be made", facts, cause, picture))
        (reached, facts), (most, _, count, complete) = self.came_to(played, picture), self.most
        goal = most if self.goal is None else self.goal
        if reached < goal:
            told = list(facts)
            told += [("asked for", self._words(goal))] if goal != most else []
            told += [("possible" if complete else "best known", self._words(most))]
            headline = f"{self._words(reached)}; {self.more}"
            raise Failed(
                Failure("not-reached", headline, tuple(told), self.slips.get(reached, self.otherwise), picture)
            )
        best = "More is not possible" if reached >= most else f"Possible: {self._words(most)}"
        best = best if complete else f"The best known: {self._words(most)}"
        said = [
            f"Played: {facts[0][1]}. {self._words(reached)}.",
            *(f"{label.capitalize()} {text}." for label, text in facts[1:]),
        ]
        said.append(f"{best}: {self.proof.format(count)}")
        return said, "", picture

    def play(self, steps):
        """Played, of steps as an answer has them."""
        return self.program.play(steps)

    def came_to(self, played, picture):
        """(its score, facts in words: the steps, and what came of itself); raises Failed where there is nothing to
        score."""
        facts = [("steps", f"{self._word(played.steps[: played.given]) or 'none'} ({played.given})")]
        if len(played.steps) > played.given:
            rest = self._word(played.steps[played.given :])
            facts.append(("then", f"{rest}: what you left open ran by itself"))
        facts += [("at the end", self.at_the_end(played))] if self.at_the_end else []
        return self.score(played), facts

    @functools.cached_property
    def most(self):
        """What Program.furthest says of this task."""
        return self.program.furthest(self.score)

    def enough(self):
        """A fact for whoever wrote too many steps."""
        return "the program", f"has {len(self.program.play('').steps)} when no {self.who} is interrupted"

    def _words(self, score):
        return self.shown.format(score) if isinstance(self.shown, str) else self.shown[score]

    def _word(self, steps):
        return ("" if all(len(name) == 1 for name in self.program.threads) else " ").join(steps)

    def _steps(self, answer):
        """The names of the threads, in order; raises Failed for what cannot be a schedule."""
        try:
            said = answer.value()
        except AnswerFailed as error:
            if error.name == "NameError":
                said = ...
            else:
                raise self._no_schedule(error.text) from None
        if type(said) is str:
            said = re.sub(r"[\s,]+", "", said)
        if said is None or said is ... or (type(said) in (str, list) and len(said) == 0):
            raise Failed(Failure("unanswered", self.not_begun), UNSOLVED)
        if type(said) not in (str, list):
            raise self._no_schedule(short(said) if not callable(said) else f"a {type(said).__name__}")
        if len(said) > self.longest:
            facts = (("got", f"{len(said)} steps"), self.enough())
            raise Failed(Failure("too-many-steps", "Too many steps", facts, self.advice.get("too-many-steps", "")))
        steps, capital = list(said), {name.lower(): name for name in self.program.threads}
        for number, name in enumerate(steps, 1):
            if not isinstance(name, str):
                raise self._no_schedule(f"step {number} is {short(name)}")
        return [capital.get(name.lower(), name) for name in steps]

    def _no_schedule(self, got):
        names = list(self.program.threads)
        facts = (("expected", f'the names of {self.many}, as in "{"".join((names * 2)[:4])}"'), ("got", got[:120]))
        cause = self.advice.get("type", "Write a string with one letter for each step.")
        return Failed(Failure("type", "This is no schedule", facts, cause))


@dataclass(frozen=True, kw_only=True)
class RoundTask(ScheduleTask):
    """The answer must come back to a state: `score(round)` of the best of its rounds must reach the most of all rounds.

    A score may not fall when a round gets longer: then the round through all states that lead to each other has the
    most.
    """

    longest: ClassVar[int] = 300
    proof: ClassVar[str] = "the check followed every step from each of the {} states that the threads can reach."

    def failures(self):
        return (*super().failures(), "no-round")

    def play(self, steps):
        return self.program.play(steps, to_the_end=False)

    def came_to(self, played, picture):
        word = f"{self._word(played.steps)} ({len(played.steps)})"
        if not played.rounds:
            facts = [("steps", word)]
            if played.nearest:
                number, apart = played.nearest
                was = f"the state after step {number}" if number else "the start"
                facts.append(("most alike", f"{was}, but {apart}"))
            headline = "No state comes again" if played.ending == "stopped" else "The program has come to its end"
            cause = self.advice.get(
                "no-round",
                "After the last step all must be as it was once before: each variable, and the line of each thread.",
            )
            raise Failed(Failure("no-round", headline, tuple(facts), cause, picture))
        best = max(played.rounds, key=self.score)
        again = f"is steps {best.first} to {best.last}"
        if best.last - best.first < 40:
            again += f", {self._word(played.steps[best.first - 1 : best.last])}"
        return self.score(best), [
            ("steps", word),
            ("the round", f"{again}: they lead back to where they began, for ever"),
        ]

    @functools.cached_property
    def most(self):
        """What Program.furthest_round says of this task."""
        return self.program.furthest_round(self.score)

    def enough(self):
        return "a round", f"can be had with {len(self.most[1])} steps"
