"""Verdicts: what is true is found by running; guessing earns nothing, and a message gives no verdict away."""

import inspect
import itertools
from dataclasses import replace

import masters
import numpy as np
import pytest

from coursework import checking, definition, feedback
from coursework.answer import Local
from coursework.kinds.data import outcome_of
from coursework.kinds.detective import DetectiveTask, Fault
from coursework.kinds.parallel import ParallelTask

pytestmark = pytest.mark.rotates

TASKS = [task for task in definition.everything() if isinstance(task, DetectiveTask)]
VERDICTS = definition.find("08-verdicts")


def truth(task, seed=None):
    seed = task.seed if seed is None else seed
    return {name: task.fault_of(run).name for name, run in task.seen(seed).items()}


def statement_of(task):
    return masters.cells(task.chapter)[f"{task.id}-task"]


def more_cases(task):
    """Cases that a program has not been seen on: hidden ones of a task with the same arguments, or other launches."""
    others = {"02-buffers": "02-buffer", "08-verdicts": "08-bug"}
    if task.id in others:
        return (*task.judge.cases, *definition.hidden_cases(definition.find(others[task.id])))
    ragged = next(case for case in task.judge.cases if "200" in case.name)
    return (*task.judge.cases, *(replace(ragged, grid=grid, block=block) for grid, block in ((2, 32), (7, 96), (3, 1))))


def outcome(verdicts, task=VERDICTS):
    return checking.check(task, Local(verdicts))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_each_program_shows_one_fault_on_whatever_launch(task):
    for name, program in task.programs.items():
        faults = {task.fault_of(run).name for seed in (task.seed, 1 << 40) for run in task.runs(program, seed)}
        assert faults <= {truth(task)[name]}, name
    assert list(truth(task).values()).count(next(f.name for f in task.faults if not f.kinds)) == 1


@pytest.mark.parametrize("task_id", ["02-buffers", "07-verdicts", "08-verdicts"])
def test_the_right_one_passes_the_hidden_cases_too(task_id):
    task = definition.find(task_id)
    judge = replace(task.judge, cases=more_cases(task))
    for name, program in task.programs.items():
        right = checking.check(judge, Local(program, admitted=True))
        assert (right.status == checking.RIGHT) == (truth(task)[name] == "right")


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_statement_says_what_each_verdict_means(task):
    """In a list or a table."""
    for fault in task.faults:
        listed, row = f'- `"{fault.name}"`: {fault.text}', f'| `"{fault.name}"` | {fault.text} |'
        assert listed in statement_of(task) or row in statement_of(task)


@pytest.mark.parametrize(
    "name", ["03-loops", "04-ahead", "04-lanes", "06-races", "07-verdicts", "09-verdicts", "10-linear"]
)
def test_whole_programs_stand_in_the_statement(name):
    task = definition.find(name)
    statement = statement_of(task)
    for letter, program in task.programs.items():
        source = inspect.getsource(getattr(program, "py_func", program)).rstrip()
        assert f"**{letter}**\n\n```python\n{source}\n```" in statement


def test_what_is_watched_is_what_compiled_loops_do():
    """03-loops is judged without a compiler; compiled, the same loops are right or wrong alike."""
    task = definition.find("03-loops")
    judge = ParallelTask(
        id="99-loops", title="t", objective="o", points=1, minutes=1, hints=("a", "b", "c"),
        spec=task.judge.spec, cases=task.judge.cases,
    )  # fmt: skip
    for name, program in task.programs.items():
        found = outcome_of(judge, program, judge.cases[0], 3)
        assert task.fault_of((judge.cases[0], found) if found else None).name == truth(task)[name]


def test_the_statement_shows_what_is_run():
    frame, loops = statement_of(VERDICTS).split("Here are the loops.")
    given, _, end = frame.partition("    ...\n")
    for name, program in VERDICTS.programs.items():
        lines = inspect.getsource(program.py_func).rstrip().splitlines()
        begin = next(i for i, line in enumerate(lines) if line.startswith("    for start"))
        stop = next(i for i, line in enumerate(lines) if line.startswith("    if i < m and j < n:"))
        before, loop, after = ("\n".join(part) for part in (lines[2:begin], lines[begin:stop], lines[stop:]))
        assert before in given
        assert f"**{name}**\n\n```python\n{loop}\n```\n\n" in loops
        assert after in end


@pytest.mark.parametrize("name", ["01-protocols", "02-buffers", "02-races"])
def test_the_statement_shows_whole_programs(name):
    task = definition.find(name)
    statement = statement_of(task)
    shown = {base for program in task.programs.values() if isinstance(program, type) for base in program.__mro__[:-1]}
    for program in shown or task.programs.values():
        assert inspect.getsource(program).rstrip() in statement


@pytest.mark.parametrize("name", ["01-protocols", "02-buffers", "02-races"])
def test_a_message_of_plain_python_names_the_case_and_no_fault(name):
    task = definition.find(name)
    right = truth(task)
    for program, verdict in right.items():
        for other in {fault.name for fault in task.faults} - {verdict}:
            said = dict(outcome(right | {program: other}, task).failure.facts)
            assert said["not right"] == f'{program}: "{other}"'
            if task.seen(task.seed)[program]:
                case = task.seen(task.seed)[program][0]
                assert said["a run of it"] == (task.told or f"{case.name}: it goes wrong here.")
                assert verdict not in said["a lead"]


def test_only_all_verdicts_together_earn_points():
    right = truth(VERDICTS)
    assert outcome(right).points == VERDICTS.points
    rng = np.random.default_rng(1)
    names = [fault.name for fault in VERDICTS.faults]
    for _ in range(6):
        guess = {name: str(rng.choice(names)) for name in right}
        count = sum(guess[name] == right[name] for name in right)
        said = outcome(guess)
        assert (said.status, said.points) == (checking.WRONG, 0)
        assert said.failure.headline == f"{count} of 4 verdicts are right"


def test_a_message_shows_a_run_and_not_its_name():
    right = truth(VERDICTS)
    for name, verdict in itertools.product("ACD", ("right", "gaps")):
        said = feedback.as_text(outcome(right | {name: verdict}))
        fault = next(fault for fault in VERDICTS.faults if fault.name == right[name])
        for word in (fault.name, fault.text, *fault.kinds):
            assert f" {word} " not in f" {said} ".replace("\n", " "), said
        assert "thread (" in said
        assert f'{name}: "{verdict}"' in said


def test_who_tries_all_words_for_one_program_is_not_told_when_to_stop():
    """Beside others that are wrong, the one that is told changes, whether or not A is right."""
    told = []
    for fault in VERDICTS.faults:
        said = dict(outcome({"A": fault.name, "B": "gaps", "C": "gaps", "D": "gaps"}).failure.facts)
        told.append(said["not right"][0])
    wrong = [name for name, fault in zip(told, VERDICTS.faults, strict=True) if fault.name != truth(VERDICTS)["A"]]
    assert len(set(wrong)) > 1
    assert told[[f.name for f in VERDICTS.faults].index(truth(VERDICTS)["A"])] in wrong


def test_that_the_right_one_was_accused_is_told_last():
    right = truth(VERDICTS)
    assert dict(outcome(right | {"B": "race", "C": "right"}).failure.facts)["not right"].startswith("C")
    said = dict(outcome(right | {"B": "race"}).failure.facts)
    assert said["a run of it"] == "No launch of this task shows that."


def test_gaps_are_told_before_anything_runs():
    for verdicts in (..., None, {}, {"A": "right", "B": ..., "C": "race"}):
        said = outcome(verdicts)
        assert (said.status, said.failure.kind) == (checking.UNSOLVED, "unanswered")
    assert dict(said.failure.facts)["missing"] == "B, D"


def test_a_task_is_defined_with_faults_that_its_judge_can_show():
    faults = (*VERDICTS.faults, Fault("x", "y", ("rase",)))
    with pytest.raises(ValueError, match="task 08-verdicts: faults has no 'rase'; did you mean 'race'"):
        replace(VERDICTS, faults=faults)
    with pytest.raises(ValueError, match="one of its faults must have no kinds"):
        replace(VERDICTS, faults=VERDICTS.faults[1:])
    unknown = replace(VERDICTS, faults=tuple(fault for fault in VERDICTS.faults if fault.name != "race"))
    said = outcome(truth(VERDICTS) | {"C": "right"}, unknown)
    assert said.failure.kind == "checker-error"
    assert "no fault lists 'race'" in dict(said.failure.facts)["it said"]
