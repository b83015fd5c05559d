"""Common to the kinds whose answer is data: a dict of numbers, lists and words that stands in the answer cell.

The cell is shipped with `...` where something is to be filled in:

    fails = {"first": {"n": ..., "blocks": ...}}
    ### BEGIN SOLUTION
    fails["first"] = {"n": 100, "blocks": 4}
    ### END SOLUTION

What an answer may be is said by fields. Nothing of it is run or called, and nothing longer than its field allows is
looked at.
"""

import difflib
import math
import numbers
import re
import reprlib
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..answer import AnswerFailed, Local
from ..definition import Task
from ..outcome import UNSOLVED, WRONG, Failed, Failure


class Refused(ValueError):
    """A value that its field does not take. The message says what came, in words."""


def number(value):
    """A whole or real number as Python has it; Refused for anything else, True and False too."""
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) not in (int, float):
        more = "; float() makes a number of it" if isinstance(value, numbers.Real) and type(value) is not bool else ""
        raise Refused(f"{brief(value)}, which is {_kind(value)}{more}")
    if type(value) is float and not math.isfinite(value):
        raise Refused(f"{value}, which is no number to compute with")
    return value


def brief(value):
    """Any value in a few words, without a look at all of it."""
    try:
        return reprlib.repr(value)
    except ValueError:  # a number of thousands of digits
        return "something very long"


def _written(value):
    return f"{value}" if abs(value) < 1 << 64 else "a number of more than 64 bits"


def _kind(value):
    names = {
        bool: "a truth value, True or False",
        int: "a number",
        float: "a number",
        str: "text",
        list: "a list",
        tuple: "a tuple",
        dict: "a dict",
    }
    name = type(value).__name__
    return names.get(type(value), f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}")


@dataclass(frozen=True)
class Whole:
    """A whole number from `low` to `high`."""

    low: int
    high: int

    @property
    def words(self):
        return f"a whole number from {self.low} to {self.high}"

    def read(self, value):
        value = number(value)
        if type(value) is not int:  # 4.0 is no number of blocks
            raise Refused(f"{value}, with a point; `//` gives a whole number")
        if not self.low <= value <= self.high:
            raise Refused(_written(value))
        return value


@dataclass(frozen=True)
class Real:
    """A number from `low` to `high`, read as a float."""

    low: float
    high: float

    @property
    def words(self):
        return f"a number from {self.low:g} to {self.high:g}"

    def read(self, value):
        value = number(value)
        if not self.low <= value <= self.high:
            raise Refused(_written(value))
        return float(value)


@dataclass(frozen=True)
class Numbers:
    """A list or array of `least` to `most` numbers from `low` to `high`; read as a NumPy array of `dtype`."""

    least: int
    most: int
    low: float
    high: float
    dtype: type = np.float32

    @property
    def words(self):
        return f"a list of {self.least} to {self.most} numbers from {self.low:g} to {self.high:g}"

    def read(self, value):
        if type(value) is np.ndarray:
            if value.ndim != 1 or value.dtype.kind not in "iuf":
                raise Refused(f"an array of {value.dtype} of shape {value.shape}")
        elif type(value) not in (list, tuple):
            raise Refused(f"{brief(value)}, which is {_kind(value)}")
        if not self.least <= len(value) <= self.most:
            raise Refused(f"{len(value)} of them")
        for index, element in enumerate(value):
            try:
                inside = self.low <= number(element) <= self.high
            except Refused as error:
                raise Refused(f"at place {index}: {error}") from None
            if not inside:
                raise Refused(f"at place {index}: {_written(number(element))}")
        return np.array([float(x) for x in value]).astype(self.dtype)


@dataclass(frozen=True)
class Choice:
    """One of some words."""

    names: tuple

    @property
    def words(self):
        return "one of " + ", ".join(f'"{name}"' for name in self.names)

    def read(self, value):
        if type(value) is not str:
            raise Refused(f"{brief(value)}, which is {_kind(value)}")
        if value not in self.names:
            raise Refused(brief(value) + _meant(value, self.names))
        return value


@dataclass(frozen=True, kw_only=True)
class DataTask(Task):
    """A task whose answer is a dict. There are no cases: what a grader adds is a secret seed."""

    not_begun: ClassVar[str] = "Not answered yet"
    cases: ClassVar[tuple] = ()

    def failures(self):
        return ("not-allowed",)

    def given(self, answer):
        """What the answer is; raises Failed where it cannot be had."""
        try:
            return answer.value()
        except AnswerFailed as error:
            facts = (("it said", error.text or error.name),)
            raise Failed(Failure("not-allowed", "The answer cannot be looked at", facts, _PLAIN)) from None

    def read(self, value, fields, path=""):
        """{name: value} of a dict with exactly the names of `fields`, each as its field reads it; None for one that is
        still `...`. `fields` maps names to fields, or to such maps. Raises Failed."""
        where = f"{path}: " if path else ""
        if _missing(value):
            return None
        asked = ", ".join(f'"{name}"' for name in fields)
        if type(value) is not dict:
            self.refuse(f"{where}not a dict", f"a dict with {asked}", f"{brief(value)}, which is {_kind(value)}")
        for name in value:
            if name not in fields:
                self.refuse(f"{where}an unknown name", f"a dict with {asked}", brief(name) + _meant(name, fields))
        return {name: self._field(value.get(name), field, f"{path} {name}".strip()) for name, field in fields.items()}

    def _field(self, value, field, path):
        if isinstance(field, dict):
            return self.read(value, field, path)
        if _missing(value):
            return None
        try:
            return field.read(value)
        except Refused as error:
            self.refuse(f"{path} is not what is allowed", field.words, str(error))

    def refuse(self, headline, rule, got):
        """Raises Failed for an answer outside of what the statement allows. `rule`: the rule, in words."""
        cause = self.advice.get("not-allowed", "")
        raise Failed(Failure("not-allowed", headline, (("the rule", rule), ("got", got)), cause), WRONG)

    def unanswered(self, missing, facts=()):
        """Raises Failed for an answer with gaps."""
        said = (*facts, ("missing", ", ".join(missing)))
        raise Failed(Failure("unanswered", self.not_begun if not facts else "Not finished yet", said), UNSOLVED)


def claimed(answer, name):
    """What is said of an answer beside it, by the name of the claim; `...` where nothing is."""
    try:
        return answer.claims[name].value()
    except AnswerFailed as error:
        return ... if error.name == "NameError" else error.text


def outcome_of(judge, program, case, seed):
    """None where `program` is right on `case`, else the Failure. `judge`: a task of a kind that examines programs."""
    try:
        judge.examine(Local(program, admitted=True, printed=True), (case,), seed)
    except Failed as failed:
        return failed.failure
    return None


def in_words(run, tell=True):
    """A run, (case, Failure) or None, in a sentence: launch, element, threads. `tell`: what was found, too."""
    if run is None:
        return "Every element is as it should be, and no two threads meet."
    case, failure = run
    facts = dict(failure.facts)
    if "first wrong" in facts:
        owner = f", which belongs to {facts['belongs to']}," if "belongs to" in facts else ""
        element = facts["first wrong"].split(";")[0]
        if not tell and "nobody wrote it" in facts["got"]:
            return f"{case.name}: look at {element}{owner.rstrip(',')}."
        got = "was written by nobody" if "nobody wrote it" in facts["got"] else f"is {facts['got']}"
        return f"{case.name}: {element}{owner} {got}; expected {facts['expected']}."
    location, who = facts.get("at", ""), f" in {facts['happened in']}" if "happened in" in facts else ""
    if location and not tell:
        return f"{case.name}: look at `{location}`{who}."
    if not tell and ("got" in facts or "table" in failure.picture):
        return f"{case.name}: it goes wrong here."
    said = facts.get("it said") or "; ".join(f"{label} {text}" for label, text in failure.facts)
    # a line would be one of the course's file, not of the notebook
    said = re.sub(r"(?: on| since|,) lines? \d+(?: and \d+)?| \(line \d+\)", "", said or failure.headline).rstrip(".")
    return f"{case.name}: {said}."


_PLAIN = "An answer here is a dict of numbers, lists of numbers, or words. Is the cell above run, and does it end?"


def _missing(value):
    if type(value) in (list, tuple) and len(value) == 1:  # x = [...]
        value = value[0]
    return value is None or value is ...


def _meant(name, names):
    """What a misspelt name was probably meant to be, in words; capital letters do not count."""
    small = {known.lower(): known for known in names}
    near = difflib.get_close_matches(str(name)[:40].lower(), list(small), 1, 0.5)
    return f'; did you mean "{small[near[0]]}"?' if near else ""
