"""A program that is wrong, and right for many inputs: the answer is an input on which it fails.

How to define one. An existing kind of task says what right is; its spec decides, so there is no list of accepted
answers. With the kernel `capped` (wrong) and `add` (right) and the task ADD in the module of tasks:

    FAILS = CounterexampleTask(
        id="07-fails", title="...", objective="Find an input ...", points=2, minutes=8, hints=(...),
        flaws=(
            Flaw(
                name="capped",
                judge=ADD,                      # any task whose kind checks programs: KernelTask, ParallelTask,
                                                ThreadTask ...
                wrong=capped,
                right=add,
                fields={"n": Whole(1, 4096), "blocks": Whole(1, 16)},
                case=lambda n, blocks: Case(f"n = {n} in {blocks} blocks of 64", add_arguments(n), blocks, 64),
                rules=((lambda n, blocks: n <= 64 * blocks, "a thread for each element: n <= 64 * blocks"),),
                lead="The guard compares with a number. When is that number not the size?",
            ),
        ),
    )

In the notebook: the source of `wrong` in the statement (a test compares), a cell `fails = {"capped": {"n": ...,
"blocks": ...}}`, and `check("07-fails", fails)`. Several flaws ask for several causes; `rules` narrow an input to the
one that is meant. Keep the fields' limits small: both programs run on whatever fits in them. For a program with threads
the judge is a ThreadTask and the case holds what its scenario is called with.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..definition import Task
from ..outcome import Failed, Failure
from .data import DataTask, in_words, outcome_of


@dataclass(frozen=True)
class Flaw:
    """A program to refute. `case(**values)` makes the Case of an input; `judge` is a task that can examine a program.

    `right` must be right on the input too: an input on which nothing can be right refutes nothing. `rules`:
    ((holds(**values), the rule in words), ...), beside those of the `fields`. `lead`: said where the wrong one is
    right.
    """

    name: str
    judge: Task
    wrong: Callable
    right: Callable
    fields: dict
    case: Callable
    lead: str
    rules: tuple = ()
    agrees: str = ""  # what is seen where the wrong one is right


@dataclass(frozen=True, kw_only=True)
class CounterexampleTask(DataTask):
    """The answer: {name of a flaw: {name of a field: value}}. All flaws must be refuted."""

    flaws: tuple

    def failures(self):
        return (*super().failures(), "agrees", "right-fails-too")

    def examine(self, answer, cases, seed):
        submitted = self.read(self.given(answer), {flaw.name: flaw.fields for flaw in self.flaws}) or {}
        found, missing, picture = [], [], {}
        for flaw in self.flaws:
            values = submitted.get(flaw.name) or {}
            gaps = [name for name in flaw.fields if values.get(name) is None]
            if gaps:
                missing.append(flaw.name + (f" ({', '.join(gaps)})" if values and len(gaps) < len(flaw.fields) else ""))
                continue
            try:
                run = self._refutes(flaw, values, seed)
            except Failed as failed:
                raise Failed(self._with_count(failed.failure, found)) from None
            found.append((flaw.name, run))
            drawn = run[1].picture if "svg" in run[1].picture else {}
            if not picture or "ring" in drawn.get("alt", ""):  # of two, the one that shows who waits for whom
                picture = drawn
        if missing:
            self.unanswered(missing, [(name, f"refuted. {in_words(run)}") for name, run in found])
        checked = [f"{name} fails. {in_words(run)}" for name, run in found]
        return (*checked, "On each input a right program is right."), "", picture

    def _with_count(self, failure, found):
        if not found:
            return failure
        done = ", ".join(name for name, _ in found)
        return replace(failure, facts=(*failure.facts, ("refuted", done)))

    def _refutes(self, flaw, values, seed):
        """(case, Failure) of the wrong program; raises Failed where it is right, or the right one is not."""
        for holds, rule in flaw.rules:
            if not holds(**values):
                said = ", ".join(f"{name} = {_value(value)}" for name, value in values.items())
                self.refuse(f"{flaw.name}: not an input that is allowed", rule, said)
        case = flaw.case(**values)
        right = outcome_of(flaw.judge, flaw.right, case, seed)
        if right:
            facts, cause = (("the right one", in_words((case, right))),), self.advice.get("right-fails-too", _NOTHING)
            raise Failed(Failure("right-fails-too", f"{flaw.name}: a right program fails here, too", facts, cause))
        wrong = outcome_of(flaw.judge, flaw.wrong, case, seed)
        if wrong is None:
            if flaw.agrees:
                said = f"{flaw.name}: with {case.name}, {flaw.agrees}"
                raise Failed(Failure("agrees", said, (("a lead", flaw.lead),)))
            facts = (("on", case.name), ("both give", _BOTH), ("a lead", flaw.lead))
            raise Failed(Failure("agrees", f"{flaw.name}: here both agree", facts))
        return case, wrong


_BOTH = "what the specification says, and nothing was found on the way"
_NOTHING = "On this input no program can be right, so it says nothing of this one."


def _value(value):
    return value if isinstance(value, int | float) else f"{len(value)} numbers"
