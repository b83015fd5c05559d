"""A result of which one number is no number is wrong, and told so: it is never right, and no fault of the check."""

import copy
import math
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import masters

from coursework import checking, definition
from coursework.kinds.function import FunctionTask
from coursework.plain import NotPlain, plain, reals

TASKS = [task for task in definition.everything() if isinstance(task, FunctionTask)]
NONSENSE = (math.nan, math.inf, -math.inf, "1", None, 1e300, np.array([1 + 1j]), [[1], [2, 3]])


def spoiled(result):
    """Copies of plain data, each with nonsense in the place of one number, or in one or all of an array."""
    if isinstance(result, np.ndarray):
        numbers = result.astype(np.complex128 if result.dtype.kind == "c" else np.float64)
        for number in (math.nan, math.inf):
            yield np.full_like(numbers, number)
            last = numbers.copy()
            last.reshape(-1)[-1:] = number
            yield last
        yield numbers + 1j
    elif isinstance(result, list):
        places = range(len(result))
        for i in places if len(result) < 5 else (places[0], places[len(result) // 2], places[-1]):
            yield from ([*result[:i], other, *result[i + 1 :]] for other in spoiled(result[i]))
    elif isinstance(result, dict):
        for name in result:
            yield from (result | {name: other} for other in spoiled(result[name]))
    elif isinstance(result, int | float):
        yield from (copy.deepcopy(other) for other in NONSENSE)


@pytest.mark.rotates
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_nonsense_is_wrong(task):
    arguments = checking.arguments_of(task.cases[0], task.seed, 0)
    result, _ = masters.answer(task).call(copy.deepcopy(arguments))
    assert task.judge(arguments, plain(result)) is None
    for other in spoiled(plain(result)):
        if isinstance(other, np.ndarray) and not other.size:
            continue
        assert task.judge(arguments, plain(other)) is not None, other


@pytest.mark.quick
def test_reals():
    assert reals([1, 2.5]).tolist() == [1, 2.5]
    assert reals(np.array([True])).tolist() == [1]
    for other in ("1", ["1"], None, [1, None], [[1], [2, 3]], 1j, np.array([1j]), {"a": 1}, 1 << 70):
        assert reals(other) is None


@pytest.mark.quick
def test_a_whole_number_that_no_float_holds_is_not_plain():
    assert plain(1 << 900) == 1 << 900
    with pytest.raises(NotPlain, match="1,025 bits"):
        plain(1 << 1024)


@pytest.mark.quick
@pytest.mark.parametrize("question", ["channel", "group", "csr", "two_four"])
def test_nearly_a_whole_number(question):
    """A rest that was not cut off is told as such, not as the nearest of the known mistakes."""
    task = definition.find("13-bytes")
    truths = {each.name: each.truth() for each in task.questions}
    said = checking.check(task, truths | {question: truths[question] + 0.4})
    assert "whole number is asked for" in said.failure.cause
