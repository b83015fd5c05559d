"""A plain Python function, checked by a property of its result."""

from collections.abc import Callable
from dataclasses import dataclass

from ..checking import arguments_of, attempt, headline, names_of, short
from ..definition import Slip, Task
from ..outcome import Failed, Failure


@dataclass(frozen=True, kw_only=True)
class FunctionTask(Task):
    """`judge(arguments, result)` returns None for a right result, else a Slip."""

    judge: Callable
    cases: tuple

    def examine(self, answer, cases, seed):
        for index, case in enumerate(cases):
            arguments = arguments_of(case, seed, index)
            result, after = attempt(self, case, lambda a=arguments: answer.call(a))
            slip = _changed(arguments, after) or self.judge(arguments, result)
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


def _changed(arguments, after):
    """A Slip if a list that was handed in is not what it was."""
    for before, now in zip(arguments, after, strict=True):
        if isinstance(before, list) and before != now:
            cause = "The caller still needs its list. Work on a copy, as `list(...)` or `sorted(...)` makes one."
            return Slip("input-changed", f"the list {short(before)} as it was", cause, short(now))
    return None
