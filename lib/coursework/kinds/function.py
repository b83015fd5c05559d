"""A plain Python function, checked by a property of its result.

A budget names what the task itself counts: `costs={"fetches": ("lines fetched", count)}`, where count(arguments, result)
is called with results that are right.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from ..checking import arguments_of, attempt, headline, names_of, short
from ..definition import Task
from ..outcome import Failed, Failure


@dataclass(frozen=True, kw_only=True)
class FunctionTask(Task):
    """`judge(arguments, result)` returns None for a right result, else a Slip. `costs`: what a budget may name, with its
    words and its count(arguments, result)."""

    judge: Callable
    cases: tuple
    costs: dict = field(default_factory=dict)

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
            (name, counted[name], most, "") for name, most in self.budget.require.items() if counted[name] > most
        ], {}

    def _right(self, answer, case, arguments):
        """The result for a case; raises Failed if it is not right."""
        result, _ = attempt(self, case, lambda: answer.call(arguments))
        slip = self.judge(arguments, result)
        if slip:
            facts = (("called with", short(arguments)), ("expected", slip.expected), ("got", slip.got or short(result)))
            raise Failed(Failure(slip.kind, f"{headline(case)} wrong result", facts, slip.cause, slip.picture))
        return result
