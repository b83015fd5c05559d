"""A result is judged alike in a student's notebook and in grading, of whatever kind it is.

The master's answer to each task of plain Python is taken, and what it returns made into something else that a student
might return: numbers of NumPy, a generator, a set. The notebook's check looks at it, and the grader's: there it crosses
the wall in files. Both say the same, and what cannot cross is refused in both, with what to write instead.
"""

import collections
import copy
import dataclasses
import decimal
import enum
import fractions
import subprocess
import sys

import masters
import numpy as np
import pytest

from coursework import checking, definition
from coursework.answer import AnswerFailed, Local
from coursework.grading import exchange, servant
from coursework.grading.remote import Remote
from coursework.kinds.function import FunctionTask
from coursework.plain import RESULT, NotPlain, plain

EVERYTHING = definition.everything()
FUNCTIONS = [task for task in EVERYTHING if isinstance(task, FunctionTask)]


class Wall:
    """A session without processes: what crosses the wall lies in files, as in grading."""

    def __init__(self, folder, **scope):
        self.folder, self.scope, self.flags = folder, scope, []

    def ask_notebook(self, operation, name, arguments=()):
        request = {"operation": operation, "name": name, "arguments": list(arguments)}
        exchange.write(request, self.folder, "req-1")
        servant.handle(self.folder, 1, self.scope)
        reply = exchange.read(self.folder, "res-1")
        if "failed" in reply:
            raise AnswerFailed(*reply["failed"])
        return reply["value"]


def both(task, answer, folder):
    """(the outcome in the notebook, the outcome when it is graded)."""
    graded = Remote(Wall(folder, answer=answer), "answer")
    return checking.check(task, Local(answer), seed=1), checking.check(task, graded, seed=1)


def numbers(make):
    """A change of each number in lists, tuples and dicts."""

    def changed(x):
        if isinstance(x, list | tuple):
            return type(x)(changed(y) for y in x)
        if isinstance(x, dict):
            return {k: changed(y) for k, y in x.items()}
        return make(x) if type(x) in (int, float) else x

    return changed


def sequences(make):
    """A change of each list and tuple, the inner ones first."""

    def changed(x):
        if isinstance(x, list | tuple):
            return make([changed(y) for y in x])
        return {k: changed(y) for k, y in x.items()} if isinstance(x, dict) else x

    return changed


def outer(make):
    """A change of the outermost list."""
    return lambda x: make(x) if isinstance(x, list | tuple) else x


def arrays(make):
    """A change of each array, also of those in a list."""

    def changed(x):
        if isinstance(x, list | tuple):
            return type(x)(changed(y) for y in x)
        return make(x) if isinstance(x, np.ndarray) else x

    return changed


def of_whole_numbers(make):
    return numbers(lambda x: make(x) if type(x) is int else x)


def objects(x):
    out = np.empty(len(x), object)
    out[:] = [tuple(y) if isinstance(y, list | tuple) else y for y in x]
    return out


class Ours(list):
    pass


ALIKE = {  # becomes the same plain data, so it stays right
    "np.int64": of_whole_numbers(np.int64),
    "np.int32": of_whole_numbers(np.int32),
    "np.float64": numbers(lambda x: np.float64(x) if type(x) is float else x),
    "np.longdouble": numbers(lambda x: np.longdouble(x) if type(x) is float else x),
    "an array of one number": numbers(lambda x: np.array(x)),
    "text of NumPy": lambda x: np.str_(x) if isinstance(x, str) else x,
    "tuples": sequences(tuple),
    "lists": sequences(list),
    "an array of columns": arrays(np.asfortranarray),
}
REFUSED = {  # with what the student reads
    "a generator": (outer(lambda x: (y for y in x)), "a generator; write `list(...)` around it"),
    "a zip": (outer(lambda x: zip(x, strict=True)), "a zip; write `list(...)` around it"),
    "a map": (outer(lambda x: map(str, x)), "a map; write `list(...)` around it"),
    "a range": (outer(lambda x: range(len(x))), "a range; write `list(...)` around it"),
    "a deque": (sequences(collections.deque), "a deque; write `list(...)` around it"),
    "keys": (outer(lambda x: dict.fromkeys(map(str, x)).keys()), "a dict_keys; write `list(...)` around it"),
    "a set": (outer(lambda x: set(map(str, x))), "a set, which has no order; write `sorted(...)` around it"),
    "a list of a class": (sequences(Ours), "an Ours; write `list(...)` around it"),
    "a named tuple": (outer(lambda x: collections.namedtuple("Pair", "a")(x)), "a Pair; write `list(...)` around it"),
    "a Fraction": (
        numbers(lambda x: fractions.Fraction(x) if np.isfinite(x) else x),
        "a Fraction; write `float(...)` around it",
    ),
    "a Decimal": (numbers(decimal.Decimal), "a Decimal; write `float(...)` around it"),
    "an enum": (of_whole_numbers(lambda x: enum.IntEnum("Some", {"X": x}).X), "a Some; write `int(...)` around it"),
    "a complex number": (numbers(complex), "a complex; put complex numbers into an array"),
    "objects": (outer(objects), "an array of object; write `.tolist()` behind it"),
    "an array of a class": (arrays(lambda x: x.view(np.recarray)), "a recarray; write `np.asarray(...)` around it"),
    "a masked array": (arrays(np.ma.array), "a MaskedArray; write `np.asarray(...)` around it"),
}
OTHERWISE = {  # right or wrong, as the task has it
    "floats": numbers(float),
    "truths": numbers(bool),
    "text": numbers(str),
    "an array": outer(lambda x: _array(x)),
    "arrays in a list": sequences(lambda x: _array(x) if all(type(y) in (int, float) for y in x) else x),
    "an array as lists": arrays(np.ndarray.tolist),
    "doubles": arrays(np.float64),
    "numbered": outer(lambda x: dict(enumerate(x))),
    "nothing": lambda x: None,
    "an ellipsis": lambda x: ...,
}


def _array(x):
    try:
        return np.array(x)
    except ValueError:  # lists of different lengths
        return x


def compared(task, result, folder):
    """What both checks say of an answer that returns `result()`, if they say the same."""
    made = [result(), result()]
    answer = lambda *arguments: made.pop()  # noqa: E731
    own, graded = both(task, answer, folder)
    assert (own.status, own.failure) == (graded.status, graded.failure)
    return own


@pytest.mark.rotates
@pytest.mark.parametrize("task", FUNCTIONS, ids=lambda task: task.id)
def test_every_kind_of_result_is_judged_alike(task, tmp_path):
    task = dataclasses.replace(task, cases=task.cases[:1], partial={})
    right = masters.answer(task).function(*checking.arguments_of(task.cases[0], 1, 0))
    for name, change in ALIKE.items():
        outcome = compared(task, lambda change=change: change(copy.deepcopy(right)), tmp_path)
        assert outcome.status == checking.RIGHT, (name, outcome.failure)
    for name, (change, words) in REFUSED.items():
        if changes(change, right):
            failure = compared(task, lambda change=change: change(copy.deepcopy(right)), tmp_path).failure
            assert failure.kind == "raised-NotPlain", (name, failure)
            assert words in dict(failure.facts)["it said"], (name, failure)
    for change in OTHERWISE.values():
        compared(task, lambda change=change: change(copy.deepcopy(right)), tmp_path)


def changes(change, result):
    """Whether there is anything in a result that a change is about."""
    changed = change(copy.deepcopy(result))
    return type(changed) is not type(result) or repr(changed) != repr(result)


@pytest.mark.parametrize("task", FUNCTIONS, ids=lambda task: task.id)
def test_a_list_that_is_changed_is_seen_in_grading_too(task, tmp_path):
    task = dataclasses.replace(task, cases=task.cases[:1], partial={})
    right = masters.answer(task).function

    def answer(*arguments):
        result = right(*copy.deepcopy(arguments))
        for argument in arguments:
            if isinstance(argument, list):
                argument.append(argument[0])
        return result

    own, graded = both(task, answer, tmp_path)
    assert (own.status, own.failure) == (graded.status, graded.failure)
    lists = any(isinstance(x, list) for x in checking.arguments_of(task.cases[0], 1, 0))
    assert own.status == (checking.WRONG if lists else checking.RIGHT)


@pytest.mark.parametrize(
    ("say", "status"),
    [
        (lambda steps: steps, checking.RIGHT),
        (list, checking.RIGHT),
        (tuple, checking.RIGHT),
        (lambda steps: np.array(list(steps)), checking.RIGHT),
        (np.str_, checking.RIGHT),
        (lambda steps: np.array(list(steps), object), checking.WRONG),
        (collections.deque, checking.WRONG),
        (lambda steps: Ours(steps), checking.WRONG),
        (iter, checking.WRONG),
        (lambda steps: ..., checking.UNSOLVED),
        (lambda steps: [], checking.UNSOLVED),
    ],
    ids=["text", "list", "tuple", "array", "text of NumPy", "objects", "deque", "a class", "iterator", "ellipsis", "empty"],
)  # fmt: skip
def test_plans_are_judged_alike(say, status, tmp_path):
    task = definition.find("02-lose")
    own, graded = both(task, say(masters.answer(task).value()), tmp_path)
    assert (own.status, graded.status) == (status, status)


@pytest.mark.parametrize(
    "change",
    [
        lambda fails: fails | {"fourth": {"x": np.ma.array([1.0, 99.0])}},
        lambda fails: fails | {"fourth": {"x": [np.array(1.0), np.float16(99)]}},
        lambda fails: fails | {"fourth": {"x": {1, 2}}},
        lambda fails: fails | {"fourth": {"x": (1, fractions.Fraction(1, 2))}},
        lambda fails: {np.str_(name): value for name, value in fails.items()},
        lambda fails: collections.OrderedDict(fails),
        lambda fails: {1: fails},
    ],
)
def test_data_is_judged_alike(change, tmp_path):
    task = definition.find("07-fails")
    own, graded = both(task, change(masters.answer(task).value()), tmp_path)
    assert own.status == graded.status


@pytest.mark.parametrize(
    ("say", "status"),
    [
        (np.int64, checking.RIGHT),
        (np.float64, checking.RIGHT),
        (np.longdouble, checking.RIGHT),
        (np.array, checking.RIGHT),
        (fractions.Fraction, checking.WRONG),
        (str, checking.WRONG),
        (lambda number: [number], checking.WRONG),
    ],
)
def test_predictions_are_judged_alike(say, status, tmp_path):
    task = definition.find("07-sectors")
    numbers = {question.name: say(question.truth()) for question in task.questions}
    assert checking.check(task, numbers).status == status
    wall = Wall(tmp_path, **numbers)
    if say is fractions.Fraction:
        with pytest.raises(AnswerFailed, match="NotPlain: a Fraction"):
            Remote(wall, "neighbours").value()
    else:
        crossed = {name: Remote(wall, name).value() for name in numbers}
        assert checking.check(task, crossed).status == status


@pytest.mark.parametrize("task", EVERYTHING, ids=lambda task: task.id)
def test_what_an_answer_is_called_with_crosses_as_it_is(task):
    """A tuple would be a list in grading, a number of NumPy one of Python's."""
    cases = (*getattr(task, "cases", ()), *definition.hidden_cases(task))
    for index, case in enumerate(cases):
        for argument in checking.arguments_of(case, 1, index):
            if not isinstance(argument, np.ndarray) or not argument.shape:
                assert repr(plain(argument)) == repr(argument)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (
            [1, [2, {"x": fractions.Fraction(1, 2)}]],
            r"at \[1\]\[1\]\['x'\]: a Fraction; write `float\(...\)` around it",
        ),
        (len, "a builtin_function_or_method; write brackets behind it"),
        ({(1, 2): 3}, "a dict with a tuple for a key"),
        (collections.Counter("ab"), r"a Counter; write `dict\(...\)` around it, and it is a dict"),
        (10**5000, "a whole number of 16,610 bits"),
        ([0] * 10**6, "longer than 900,000 characters"),
        (["x" * 10**6], "longer than 900,000 characters"),
        ([np.zeros(1)] * 10_000, "more than 9000 arrays"),
        (np.zeros(10**7), "more than 48 MiB"),
    ],
    ids=lambda value: "" if not isinstance(value, str) else value[:20],
)
def test_what_is_refused_is_told_with_its_place(value, words):
    with pytest.raises(NotPlain, match=words):
        plain(value)


def test_nothing_is_walked_through_for_ever():
    inside = []
    inside += [inside, inside, inside]
    with pytest.raises(NotPlain):
        plain(inside)


def test_what_a_result_may_be_crosses(tmp_path):
    """The largest of all: with the arguments beside it, and what says what it is."""
    deep = 0
    for _ in range(RESULT.depth):
        deep = [deep]
    for result in (deep, ["ä"] * 80_000, "ä" * 140_000, [-1.1e-100] * 70_000, np.zeros(RESULT.array_bytes // 8)):
        exchange.write({"value": [plain(result), [1, [2, 3]]]}, tmp_path, "x")
        assert repr(exchange.read(tmp_path, "x")["value"][0]) == repr(plain(result))
    assert RESULT.arrays < exchange.MESSAGE.arrays


REDUCES = """
import sys
import numpy as np
from coursework.grading import servant
for method in (*servant.REDUCTIONS, "clip"):
    given = "0, 1" if method == "clip" else "axis=0"
    servant.define([f"def reduced(x):\\n    return x.{method}({given})"], True)["reduced"](np.ones((2, 2)))
"""


def test_an_answer_may_be_the_first_to_reduce_an_array():
    """In a clean process nobody has before: what NumPy then imports, it imports for the answer, which cannot."""
    done = subprocess.run([sys.executable, "-c", REDUCES], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
