"""A plain Python function, checked by a property of its result.

A budget names what the task itself counts: `costs={"fetches": ("lines fetched", count)}`, where count(arguments,
result) is called with results that are right.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..checking import arguments_of, attempt, first_change, headline, names_of, number, short
from ..definition import Over, Slip, Task
from ..outcome import Failed, Failure
from .scenario import texts_of


@dataclass(frozen=True, kw_only=True)
class FunctionTask(Task):
    """`judge(arguments, result)` returns None for a right result, else a Slip. `costs`: what a budget may name, with
    its words and its count(arguments, result)."""

    judge: Callable
    cases: tuple
    costs: dict = field(default_factory=dict)

    def shows(self):
        """A slip's kind is one of the texts in its judge."""
        return (*self.failures(), *texts_of(self.judge))

    def counts(self):
        return {name: words for name, (words, _) in self.costs.items()}

    def examine(self, answer, cases, seed):
        for index, case in enumerate(cases):
            self._right(answer, case, arguments_of(case, seed, index))
        return (names_of(self, cases),), ""

    def overspent(self, answer, case, arguments):
        result = self._right(answer, case, arguments)
        counted = {name: self.costs[name][1](arguments, result) for name in self.budget.require}
        return [
            Over(name, counted[name], most) for name, most in self.budget.require.items() if counted[name] > most
        ], {}

    def _right(self, answer, case, arguments):
        """The result for a case; raises Failed if it is not right, or if the caller's lists or arrays are not what they
        were."""
        result, after = attempt(self, case, lambda: answer.call(copy.deepcopy(arguments)))
        slip = _changed(arguments, after) or self.judge(arguments, result)
        if slip:
            facts = (
                ("called with", ", ".join(number(x) if type(x) is float else short(x) for x in arguments)),
                ("expected", slip.expected),
                ("got", slip.got or short(result)),
            )
            raise Failed(Failure(slip.kind, f"{headline(case)} wrong result", facts, slip.cause, slip.picture))
        return result


def _changed(arguments, after):
    """A Slip if a list or an array that was handed in is not what it was."""
    for place_in_call, (before, now) in enumerate(zip(arguments, after, strict=True), start=1):
        if isinstance(before, np.ndarray) and (index := first_change(before, now)) is not None:
            cause = (
                "The caller still needs its array. Write into one of your own, as `np.empty_like(...)` or `.copy()` "
                "makes it."
            )
            got = f"element {list(index)} is {now[index]}, and was {before[index]}" if index else f"shape {now.shape}"
            return Slip("input-changed", f"argument {place_in_call}, of shape {before.shape}, as it was", cause, got)
        if isinstance(before, list) and before != now:
            cause = "The caller still needs its list. Work on a copy, as `list(...)` or `sorted(...)` makes one."
            return Slip("input-changed", f"the list {short(before)} as it was", cause, short(now))
    return None
