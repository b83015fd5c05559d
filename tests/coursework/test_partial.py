"""Points for some cases, where a task says so: never for nothing, never as many as for all."""

from dataclasses import replace
from pathlib import Path

import answers
import nbformat
import pytest

from coursework import checking, definition, feedback
from coursework.answer import Local
from coursework.kinds.kernel import KernelTask
from coursework.kinds.schedule import ScheduleTask
from dlkernels import cuda

pytestmark = pytest.mark.rotates

ROOT = Path(__file__).resolve().parents[2]
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
def nothing(*arguments):
    pass


def lazy(*arguments):
    yield from ()


# Answers of tests/wrong_answers, and what they are worth.
WORTH = {
    "02-prefetch": {"the_error_as_it_is": 4, "as_in_the_chapter": 1, "none_is_the_end": 1, "in_the_consumer": 0},
    "02-starve": {"a_livelock": 1, "only_b_came_back": 0, "not_closed": 0, "a_gets_in": 0},
    "02-shards": {
        "the_error_as_it_is": 4, "leaves_them": 2, "shard_after_shard": 2, "one_pool_for_all": 2,
        "whoever_is_first": 0, "without_threads": 0,
    },
    "05-shift": {"in_its_own_block": 1, "the_other_way": 0},
    "08-tiled": {"no_guard": 2, "early_return": 2, "no_second_barrier": 0, "as_in_the_chapter": 0},
    "08-four": {"guard_of_the_first_for_all": 2, "no_first_barrier": 0},
    "09-plane": {"first_channel": 1, "padding_added": 1, "turned": 0},
    "11-attention": {"no_guard": 2, "first_tile_only": 1, "last_barrier_missing": 1, "no_scale": 0},
}  # fmt: skip
ANSWERS = [(task, name, points) for task, worth in WORTH.items() for name, points in worth.items()]


def check(task, answer):
    task = definition.find(task)
    return checking.check(task, Local(answer() if isinstance(task, ScheduleTask) else answer))


@pytest.mark.parametrize(("task", "name", "points"), ANSWERS)
def test_a_wrong_answer_gets_what_the_task_says(task, name, points):
    outcome = check(task, answers.answer(task, name))
    most = definition.find(task).points
    assert (outcome.status, outcome.points, outcome.max_points) == ("wrong", points, most), feedback.as_text(outcome)
    assert (f"{points} of {most}: " in feedback.as_text(outcome)) == (points > 0)


@pytest.mark.parametrize("task", WORTH)
def test_doing_nothing_is_worth_nothing(task):
    kernel = isinstance(definition.find(task), KernelTask)
    assert check(task, nothing if kernel else lazy).points == 0


@pytest.mark.quick
def test_each_task_that_gives_points_for_cases_says_so_and_is_tried_above():
    found, tasks = set(), {f"{task.id}-task": task for task in definition.everything() if task.partial}
    for path in sorted((ROOT / "exercises").glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if task := tasks.get(cell.id):
                found.add(task.id)
                said = f"of the {task.points} points"
                assert said in cell.source, task.id
                sentence = next(line for line in cell.source.splitlines() if said in line)
                for points in task.partial.values():
                    assert str(points) in sentence, (task.id, sentence)
    assert found == {task.id for task in tasks.values()} == set(WORTH)


@pytest.mark.quick
def test_all_cases_are_worth_all():
    assert checking.check(TASK, Local(right)).points == 2
    assert checking.check(replace(TASK, partial={}), Local(one_block)).points == 0


@pytest.mark.quick
def test_what_a_task_may_not_say():
    with pytest.raises(ValueError, match="partial has no 'two blocks'"):
        replace(TASK, partial={"two blocks": 1})
    with pytest.raises(ValueError, match="cases alone are worth 2 of 2 points; expected fewer"):
        replace(TASK, partial={TASK.cases[0].name: 2})
