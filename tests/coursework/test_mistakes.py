"""The mistakes and the unusual right answers of tests/mistakes: see tests/mistakes.py, which prints the table."""

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import mistakes

from coursework import definition
from coursework.kinds.prediction import PredictionTask

LEAST, LEAST_RIGHT = 8, 7  # mistakes of a task; right answers of a chapter
CHEAP = ("01-ratio", "07-launch", "08-count")
TASKS = [task for task in definition.everything() if mistakes.file_of(task.id).exists()]


@pytest.mark.quick
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_mistakes_are_judged(task):
    _, wrong = mistakes.read(task.id)
    assert len(wrong) >= LEAST
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
    tables = {task.id: mistakes.read(task.id) for task in TASKS}
    verdicts = Counter(table["verdict"] for _, wrong in tables.values() for table in wrong)
    assert sum(verdicts.values()) >= 500
    assert verdicts["right"] >= 0.9 * sum(verdicts.values())
    right = Counter(task.chapter for task in TASKS for _ in tables[task.id][0])
    assert all(right[chapter] >= LEAST_RIGHT for chapter in definition.chapters())


@pytest.mark.parametrize(
    "task_id", [pytest.param(task.id, marks=() if task.id in CHEAP else pytest.mark.slow) for task in TASKS]
)
def test_feedback_is_what_was_judged(task_id):
    _, wrong = mistakes.read(task_id)
    for table, said in zip(wrong, mistakes.outcomes(task_id), strict=True):
        assert mistakes.seen(table, said) == table["verdict"], (table["name"], said)


@pytest.mark.slow
@pytest.mark.parametrize("task_id", [task.id for task in TASKS if not isinstance(task, PredictionTask)])
def test_unusual_right_answers_pass(task_id):
    right, _ = mistakes.read(task_id)
    for table, said in zip(right, mistakes.outcomes(task_id, "right"), strict=True):
        assert mistakes.last(said)[1] == "right", (table["name"], said)
