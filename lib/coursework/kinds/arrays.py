"""Common to the kinds whose answer fills an array: the comparison with a specification, element by element."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .. import diagnosis, unset
from ..answer import AnswerFailed
from ..checking import SECRET, first_change, headline, names_of, number
from ..definition import Task, unwritten
from ..outcome import Failed, Failure

_ADDS_TO_OLD = (
    "The result is added to what stood in the output before. In this check that is NaN, not a number, and NaN plus "
    "anything is NaN. Begin each sum with 0."
)


@dataclass(frozen=True)
class Suspect:
    """A well-known mistake: if the result equals `formula(*arguments)`, `cause` is what happened."""

    formula: Callable
    cause: str


@dataclass(frozen=True, kw_only=True)
class ArrayTask(Task):
    """`spec(*arguments)` returns what `arguments[out]` must hold afterwards (NumPy, float64)."""

    spec: Callable
    cases: tuple
    out: int | str = -1
    suspects: tuple = ()
    rtol: float = 1e-5
    atol: float = 1e-6

    def failures(self):
        return (*super().failures(), *diagnosis.KINDS, "adds-to-old")

    def owner(self, case, index, shape):
        """Who should have written an element, in words; "" where nobody in particular should."""
        return ""

    def threads_shown(self, case, state):
        """How many elements stand in a row of the picture; 0: as the array has them."""
        return 0

    def said(self, cases, seed):
        """What was looked at, in words."""
        seed = f"seed {seed}" if seed < SECRET else "the grader's own"
        return (
            names_of(self, cases),
            f"Each element of the output against NumPy in float64, on random numbers ({seed}); inputs left unchanged.",
        )

    def compare(self, case, arguments, after, result=None, again=None):
        """Raises Failed unless inputs are unchanged and the output holds what the specification says.

        `again(arguments)` gives what other arguments are afterwards: to find out whether old contents were added to.
        """
        out = self.inputs_unchanged(case, arguments, after)
        expected = np.asarray(self.spec(*arguments))
        got, before = (after[out], arguments[out]) if out is not None else _returned(case, result, expected)
        comparison = diagnosis.compare(got, np.atleast_1d(expected), before, self.rtol, self.atol)
        if comparison.bad:
            failure = self._mismatch(case, arguments, comparison)
            unknown = np.isnan(comparison.got[comparison.first]) and out is not None and np.isnan(before).all()
            written = self._written(arguments, out, again) if again and unknown else None
            if written is not None and written[comparison.first]:
                kind = "adds-to-old"
                facts = [(label, "NaN" if label == "got" else text) for label, text in failure.facts if label != "and"]
                cause = self.advice.get(kind, _ADDS_TO_OLD)
                state = np.where(written & (comparison.state != diagnosis.RIGHT), diagnosis.WRONG, comparison.state)
                picture = failure.picture | {"state": _rows(state)}
                failure = replace(failure, kind=kind, facts=tuple(facts), cause=cause, picture=picture)
            raise Failed(failure)

    def inputs_unchanged(self, case, arguments, after):
        """The place of the output among the arguments, None where it is the result; raises Failed if an input
        changed."""
        out = None if self.out == "result" else self.out % len(arguments)
        for i, (x, y) in enumerate(zip(arguments, after, strict=True)):
            if i != out and isinstance(x, np.ndarray) and (index := first_change(x, y)) is not None:
                facts = (("first change", f"element {_index(index)} of argument {i + 1}"),)
                cause = "Inputs may only be read. Which of your stores writes to the wrong array?"
                raise Failed(Failure("input-changed", f"{headline(case)} an input was changed", facts, cause))
        return out

    def _written(self, arguments, out, again):
        """Elements into which goes what stood in the output before: 1 and 3 there, not NaN, make numbers that are
        neither what stood there nor equal. None where the answer fails on those."""
        found = []
        for before in (1, 3):
            filled = (*arguments[:out], np.full_like(arguments[out], before), *arguments[out + 1 :])
            try:
                found.append(np.asarray(again(filled)[out], np.float64))
            except AnswerFailed:
                return None
        from_one, from_three = found
        return (
            np.isfinite(from_one)
            & np.isfinite(from_three)
            & ((from_one != 1) | (from_three != 3))
            & (from_one != from_three)
        )

    def _mismatch(self, case, arguments, comparison):
        kind, cause = diagnosis.diagnose(self, case, comparison, arguments)
        first_wrong, state = comparison.first, comparison.state
        where = f"element {_index(first_wrong)}; {comparison.bad} of {state.size} are wrong"
        facts = [("first wrong", where if state.size > 1 or self.out != "result" else "the number returned")]
        owner = self.owner(case, first_wrong, state.shape)
        facts += [("belongs to", owner)] if owner else []
        facts.append(("expected", number(comparison.expected[first_wrong])))
        untouched = state[first_wrong] == diagnosis.UNWRITTEN
        got = "what was there before: nobody wrote it" if untouched else number(comparison.got[first_wrong])
        if unset.is_junk(comparison.got[first_wrong]):
            got = "no number: np.empty made it, and nothing was stored there"
        facts.append(("got", got))
        picture = {
            "state": _rows(state),
            "threads": self.threads_shown(case, state),
            "blocks": diagnosis.total(case.grid),
        }
        return Failure(kind, f"{headline(case)} wrong result", tuple(facts), cause, picture)


def _returned(case, result, expected):
    """(what was returned, an array that equals none of it)."""
    if not isinstance(result, int | float | np.ndarray | np.generic) or np.shape(result) != expected.shape:
        kind = f"an array of shape {np.shape(result)}" if isinstance(result, np.ndarray) else repr(result)
        wanted = f"an array of shape {expected.shape}" if expected.shape else "a number"
        facts = (("expected", wanted), ("got", kind[:120]))
        raise Failed(Failure("type", f"{headline(case)} the result is of another kind", facts, "What does it return?"))
    return np.atleast_1d(result), unwritten(*np.atleast_1d(expected).shape, dtype=np.float64)


def _rows(state):
    return state.ravel().tolist() if state.ndim != 2 else state.tolist()


def _index(index):
    return "[" + ", ".join(str(int(i)) for i in index) + "]"
