"""Points for some cases, where a task says so: never for nothing, never as many as for all."""

from dataclasses import replace

import pytest

from coursework import checking, definition, feedback
from coursework.answer import Local
from dlkernels import cuda

pytestmark = pytest.mark.quick

TASK = definition.find("05-shift")


@cuda.jit
def one_block(x, k, out):
    i = cuda.threadIdx.x
    if i < out.size:
        out[i] = x[i - k] if i >= k else 0


@cuda.jit
def right(x, k, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i - k] if i >= k else 0


@cuda.jit
def nothing(x, k, out):
    pass


def test_one_case_is_worth_what_the_task_says():
    outcome = checking.check(TASK, Local(one_block))
    assert (outcome.status, outcome.points, outcome.max_points) == ("wrong", 1, 2)
    assert "1 of 2: 'one block: n = 32, k = 5 in 1 block of 32' is right" in feedback.as_text(outcome)


def test_all_cases_are_worth_all_and_nothing_is_worth_nothing():
    assert checking.check(TASK, Local(right)).points == 2
    assert checking.check(TASK, Local(nothing)).points == 0
    assert checking.check(replace(TASK, partial={}), Local(one_block)).points == 0


def test_what_a_task_may_not_say():
    with pytest.raises(ValueError, match="partial has no 'two blocks'"):
        replace(TASK, partial={"two blocks": 1})
    with pytest.raises(ValueError, match="cases alone are worth 2 of 2 points; expected fewer"):
        replace(TASK, partial={TASK.cases[0].name: 2})
