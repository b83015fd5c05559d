"""A plain Python function, checked by a property of its result."""

import copy
from collections.abc import Callable
from dataclasses import dataclass

from ..checking import arguments_of, attempt, headline, names_of, short
from ..definition import Task
from ..outcome import Failed, Failure


@dataclass(frozen=True, kw_only=True)
class FunctionTask(Task):
    """`judge(arguments, result)` returns None for a right result, else a Slip."""

    judge: Callable
    cases: tuple

    def examine(self, answer, cases, seed):
        for index, case in enumerate(cases):
            arguments = arguments_of(case, seed, index)
            mine = copy.deepcopy(arguments)  # what the answer does to its lists is its own affair
            result, _ = attempt(self, case, lambda a=mine: answer.call(a))
            slip = self.judge(arguments, result)
            if slip:
                facts = [
                    ("called with", short(arguments)),
                    ("expected", slip.expected),
                    ("got", slip.got or short(result)),
                ]
                raise Failed(
                    Failure(slip.kind, f"{headline(case)} wrong result", tuple(facts), slip.cause, slip.picture)
                )
        return (names_of(self, cases),), ""
