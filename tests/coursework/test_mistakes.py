"""The mistakes and the unusual right answers of tests/mistakes: see tests/mistakes.py, which prints the table."""

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import answers
import mistakes

from coursework import definition
from coursework.kinds.data import DataTask
from coursework.kinds.function import FunctionTask
from coursework.kinds.opencl import OpenCLTask
from coursework.kinds.prediction import PredictionTask
from coursework.kinds.schedule import ScheduleTask

pytestmark = pytest.mark.rotates
LEAST, LEAST_OF_WORDS, LEAST_RIGHT = 8, 4, 7  # mistakes of a task; of one without code; right answers of a chapter
WITHOUT_CODE = (DataTask, PredictionTask, ScheduleTask)
TASKS = [task for task in definition.everything() if answers.file_of(task.id).exists()]
# By day: what is plain Python and fast, in this process; all others by night, each in a process of its own.
SLOW = ("02-buffers", "02-fails", "03-cut", "04-lanes", "07-fails", "08-fails", "08-network", "08-verdicts")
CHEAP = [
    task.id for task in TASKS if isinstance(task, (*WITHOUT_CODE, FunctionTask, OpenCLTask)) and task.id not in SLOW
]
CHEAP += ["01-bug", "01-ratio", "07-zip", "07-map", "07-broadcast"]


@pytest.mark.quick
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_mistakes_are_judged(task):
    _, wrong = mistakes.read(task.id)
    assert len(wrong) >= (LEAST_OF_WORDS if isinstance(task, WITHOUT_CODE) else LEAST)
    assert len({table["name"] for table in wrong}) == len(wrong)
    for table in wrong:
        assert table["teacher"], table["name"]
        assert table["verdict"] in ("right", "vague", "wrong", "green"), table["name"]
        if table["verdict"] == "green":
            assert table["why"], f"{table['name']}: why may it pass?"
        else:
            assert table["kind"], table["name"]
        if table["verdict"] == "right":
            assert table["says"], f"{table['name']}: which words of the message lead to the cause?"


@pytest.mark.quick
def test_there_are_many():
    tables = {task.id: mistakes.tables(task.id) for task in TASKS}
    verdicts = Counter(table["verdict"] for _, wrong in tables.values() for table in wrong)
    assert sum(verdicts.values()) >= 900
    assert not verdicts["crash"] + verdicts["hang"]
    assert verdicts["right"] >= 0.9 * sum(verdicts.values())
    right = Counter(task.chapter for task in TASKS for _ in tables[task.id][0])
    assert all(right[chapter] >= LEAST_RIGHT for chapter in definition.chapters())


def _judged(task_id, play):
    right, wrong = mistakes.read(task_id)
    for table, said in zip(wrong, play(task_id), strict=True):
        assert mistakes.seen(table, said) == table["verdict"], (table["name"], said)
    for table, said in zip(right, play(task_id, "right"), strict=True):
        assert mistakes.last(said)[1] == "right", (table["name"], said)


@pytest.mark.parametrize("task_id", CHEAP)
def test_feedback_is_what_was_judged_by_day(task_id, monkeypatch):
    monkeypatch.setenv("DLKERNELS_PROGRESS", "off")
    _judged(task_id, mistakes.outcomes_here)


@pytest.mark.slow
@pytest.mark.parametrize("task_id", [task.id for task in TASKS])
def test_feedback_is_what_was_judged(task_id):
    _judged(task_id, mistakes.outcomes)
