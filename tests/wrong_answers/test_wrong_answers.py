"""Every task rejects its wrong answers with the intended message, and passes right ones written differently.

The files beside this one hold the answers to a task each, many of them as edits of another one or of the master
(tests/answers.py). Those of tests/mistakes that have an `id`, and all numbers there, belong to them. The docstring of
an answer, or what is said in its place, is its verdict:

    right                        written differently from the master; must pass, its budget too
    wrong KIND: words            must be rejected with that kind of failure, and the message must hold the words
    over budget KIND: words      right, but too dear

An answer to an OpenCLTask is what the function returns. What is said beside an answer (check(..., flops=...)) is CLAIMS
of its module, with what stands in the function's own `claims`. An answer that is data is `data(verdict, value)`; a
function returns what must be made anew.
"""

import builtins
import dis
import re
from types import CodeType

import answers
import numpy as np
import pytest

from coursework import checking, definition, feedback, limited
from coursework.answer import Local
from coursework.kinds.data import DataTask
from coursework.kinds.opencl import OpenCLTask
from coursework.kinds.prediction import PredictionTask
from coursework.kinds.schedule import ScheduleTask

LEAST = 8
TASKS = definition.everything()


def verdict(value):
    """("right" | "wrong" | "over budget", kind, words) of an answer, or None for anything else in the module."""
    text = getattr(getattr(value, "py_func", value), "__doc__", None) or ""
    if text == "right":
        return "right", "", ""
    match = re.fullmatch(r"(wrong|over budget) (\S+): (.+)", text)
    if not match and text.startswith(("right", "wrong", "over budget")):
        raise ValueError(f"the verdict {text!r} cannot be read: expected e.g. 'wrong KIND: words of the message'")
    return match.groups() if match else None


def functions():
    for task in TASKS:
        if not isinstance(task, PredictionTask):
            for name, value in vars(answers.load(task.id)).items():
                if verdict(value):
                    yield pytest.param(task, value, id=f"{task.id}-{name}")


def local(task, answer):
    if isinstance(task, ScheduleTask):
        return Local(answer())
    function = getattr(answer, "py_func", answer)
    answer = answer() if isinstance(task, OpenCLTask) else answer  # a text
    return Local(
        answer, claims=function.__globals__.get("CLAIMS", {}) | getattr(function, "claims", {}) if task.claims else None
    )


def run(task, answer, part="results", hidden=False):
    answer = answer() if isinstance(task, DataTask) else answer
    if part == "budget":
        return checking.check_budget(task, local(task, answer), examined=True)  # the result is checked by itself
    return checking.check(task, local(task, answer), hidden=hidden)


@pytest.mark.rotates(by=lambda params: params["task"].id)
@pytest.mark.parametrize(("task", "answer"), list(functions()))
def test_answer(task, answer, monkeypatch):
    sort, kind, says = verdict(answer)
    says = getattr(answer, "says", [says])
    if isinstance(answer, answers.edit):
        print(answer.source)  # pytest shows it where the test fails
    answer = answers.made(answer)
    if sort == "right":
        for name in ("KERNEL_ROUNDS", "KERNEL_ACCESSES", "COMPILED_ROUNDS", "PYTHON_LINES"):  # far above what it needs
            monkeypatch.setattr(limited, name, np.array(getattr(limited, name)) // 10)
        assert run(task, answer, hidden=True).status == checking.RIGHT
        if task.budget:
            assert run(task, answer, "budget").status == checking.RIGHT
        return
    outcome = run(task, answer, "budget" if sort == "over budget" else "results")
    assert outcome.status == checking.WRONG
    assert outcome.points <= sum(task.partial.values())  # 0, unless the task says more for some cases
    assert outcome.failure.kind == kind, feedback.as_text(outcome)
    failure = outcome.failure
    message = " ".join((failure.headline, failure.cause, *(text for _, text in failure.facts)))
    for words in says:
        assert words in message, feedback.as_text(outcome)
    if sort == "over budget":  # wasteful, but right
        assert run(task, answer, hidden=True).status == checking.RIGHT


def global_names(code):
    own = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return own.union(*(global_names(part) for part in code.co_consts if isinstance(part, CodeType)))


@pytest.mark.quick
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_edits_fit(task):
    """Lint does not see the names in them."""
    module = answers.load(task.id)
    for name, value in vars(module).items():
        if isinstance(value, answers.edit):
            code = compile(value.source, f"{name} of {task.id}", "exec")
            own = {step.argval for step in dis.get_instructions(code) if step.opname == "STORE_NAME"}
            missing = global_names(code) - own - vars(module).keys() - vars(builtins).keys()
            assert not missing, f"{name} uses {', '.join(missing)}, which the file does not define"


@pytest.mark.quick
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_enough_wrong_answers(task):
    module = answers.load(task.id)
    if isinstance(task, PredictionTask):
        assert len(module.WRONG) >= LEAST
        return
    kinds = [verdict(value)[0] for value in vars(module).values() if verdict(value)]
    assert len([k for k in kinds if k != "right"]) >= LEAST
    assert "right" in kinds, f"{task.id} needs a right answer that is written differently from the master"
    if task.budget:
        assert any(verdict(v)[0] == "over budget" for v in vars(module).values() if verdict(v))


@pytest.mark.quick
@pytest.mark.parametrize("task", [t for t in TASKS if isinstance(t, PredictionTask)])
def test_predictions(task):
    truth = {question.name: question.truth() for question in task.questions}
    assert checking.check(task, truth).status == checking.RIGHT
    for numbers, says in answers.load(task.id).WRONG:
        outcome = checking.check(task, truth | numbers)
        assert outcome.status == checking.WRONG
        assert says, f"{numbers}: which words of the message lead to the cause?"
        for words in [says] if isinstance(says, str) else says:
            assert words in outcome.failure.cause
        (name,) = numbers
        assert str(truth[name]) not in [text for _, text in outcome.failure.facts], "the message gives the answer away"
