"""Golf: `best` is what a kept answer takes; a score gives no points, is never red, and is remembered."""

from dataclasses import replace
from pathlib import Path

import answers
import masters
import numpy as np
import pytest

from coursework import build, checking, definition, feedback, golf, notebook, progress
from coursework.answer import Local
from coursework.golf import Golf
from dlkernels import cuda

pytestmark = pytest.mark.rotates

ROOT = Path(__file__).resolve().parents[2]
PLAYED = [task for task in definition.everything() if task.budget and task.budget.golf]
AXPY, TILED = definition.find("07-axpy"), definition.find("08-tiled")


@pytest.fixture(autouse=True)
def own_progress(tmp_path, monkeypatch):
    monkeypatch.setenv("DLKERNELS_PROGRESS", str(tmp_path / "progress.json"))


def kept(task):
    """{name: answer} of all right answers that we have: the master's, and those beside the wrong ones."""
    values = vars(answers.load(task.id)).items()
    right = {n: v for n, v in values if getattr(getattr(v, "py_func", v), "__doc__", "") == "right"}
    return {name: answers.made(value) for name, value in right.items()} | {"master": master(task)}


def master(task):
    return masters.answer(task).value()


def budget(task, answer):
    return checking.check_budget(task, Local(answer), examined=True)


@pytest.mark.parametrize("task", PLAYED, ids=lambda task: task.id)
def test_best_is_what_the_best_kept_answer_takes(task):
    counts = {name: budget(task, answer).golf for name, answer in kept(task).items()}
    counted = {name: score["count"] for name, score in counts.items() if golf.counts_as_record(score)}
    least = min(counted.values())
    assert least == task.budget.golf.best, f"the least is {least}, of {min(counted, key=counted.get)}: make it `best`"
    assert counted["master"] > least, "the master leaves nothing to play for"
    assert counts["master"]["tier"], "the answer of the course has a medal"


def test_the_statements_say_that_there_is_golf():
    for task in PLAYED:
        path = next(p for p in build.masters(ROOT) if p.name.startswith(f"{task.chapter}_"))
        (statement,) = (cell.source for cell in build.read(path).cells if cell.id == f"{task.id}-task")
        assert "**Golf** (no points)" in statement


def test_no_element_can_be_loaded_less_than_once():
    """The two `best` are also the least possible: each element moves once, 32 in a request."""
    _, k, n = 32, 48, 48
    assert TILED.budget.golf.best == (32 * k + k * n) // 32
    assert AXPY.budget.golf.best == 3 * -(-1000 // 32)


def test_what_is_said_and_remembered(capsys):
    answers = kept(TILED)
    notebook.budget("08-tiled", answers["master"])
    said = capsys.readouterr().out
    assert (
        "Golf: 288 load requests to global memory; the budget is 288; best known 120: bronze (silver from 168 on).\n"
        "  Which elements of a and b do several blocks load?" in said
    )
    assert "Your record" not in said
    table = progress.table(progress.read())
    assert "      golf: 288 load requests to global memory; best known 120: bronze\n" in table
    notebook.budget("08-tiled", answers["one_block_for_32_x_48"])
    said = capsys.readouterr().out
    assert "Golf: 120 load requests to global memory; the budget is 288; best known 120: gold." in said
    assert TILED.budget.golf.lead not in said
    notebook.budget("08-tiled", answers["master"])
    assert "Your record is 120." in capsys.readouterr().out
    assert progress.read()["08-tiled golf"] == 120
    assert "golf: 120 load requests to global memory; best known 120: gold" in progress.table(progress.read())
    html = feedback.as_html(progress.note(budget(TILED, answers["master"])))
    assert ">golf</td>" in html
    assert "Your record is 120." in html


def test_another_launch_is_named():
    said = golf.said(budget(AXPY, master(AXPY)).golf)
    assert said[:2] == (
        "Golf: 126 requests; best known 96: silver (gold from 96 on).",
        "Counted on: n = 1000 in 2 blocks of 48.",
    )


def test_who_beats_us_is_asked_to_send_it_in():
    worse = replace(AXPY, budget=replace(AXPY.budget, golf=replace(AXPY.budget.golf, best=130)))
    first, then = golf.said(budget(worse, master(AXPY)).golf)
    assert "126 requests; best known 130: gold" in first
    assert "send your answer to your instructor" in then


def test_points_and_colour_do_not_depend_on_it():
    without = replace(AXPY, budget=replace(AXPY.budget, golf=None))
    for task in (AXPY, without):
        outcome = budget(task, master(AXPY))
        assert (outcome.status, outcome.points, outcome.max_points) == (checking.RIGHT, 2, 2)
    assert budget(without, master(AXPY)).golf == {}


@cuda.jit
def fails_on_the_golf_launch(alpha, x, y):
    if cuda.blockDim.x == 48:
        y[-1] = 0
    for i in range(cuda.grid(1), y.size, cuda.gridsize(1)):
        y[i] = alpha * x[i] + y[i]


@cuda.jit
def adds_with_atomics(alpha, x, y):
    for i in range(cuda.grid(1), y.size, cuda.gridsize(1)):
        if cuda.blockDim.x == 48:
            cuda.atomic.add(y, i, alpha * x[i])
        else:
            y[i] = alpha * x[i] + y[i]


def test_an_answer_that_cannot_be_counted_keeps_its_points():
    outcome = budget(AXPY, fails_on_the_golf_launch)
    assert (outcome.status, outcome.points, outcome.golf) == (checking.RIGHT, 2, {})
    assert "Golf" not in feedback.as_text(outcome)
    assert "07-axpy golf" not in progress.read()


def test_what_is_dearer_than_it_counts_is_no_record():
    outcome = progress.note(budget(AXPY, adds_with_atomics))
    assert outcome.status == checking.RIGHT
    assert outcome.golf["count"] < AXPY.budget.golf.best
    assert "Golf: not counted here, 1,000 atomic operations, allowed: 0." in feedback.as_text(outcome)
    assert "07-axpy golf" not in progress.read()


def test_over_the_budget_there_is_no_golf():
    @cuda.jit
    def chunks(alpha, x, y):
        size = (y.size + cuda.gridsize(1) - 1) // cuda.gridsize(1)
        for i in range(cuda.grid(1) * size, min((cuda.grid(1) + 1) * size, y.size)):
            y[i] = alpha * x[i] + y[i]

    outcome = budget(AXPY, chunks)
    assert (outcome.status, outcome.golf) == (checking.WRONG, {})


@pytest.mark.parametrize("record", ["96", True, -1, 0, None, [96], {"count": 96}])
def test_a_record_that_is_damaged_is_forgotten(record):
    progress._write({"07-axpy golf": record})
    assert "golf" not in progress.table(progress.read())
    assert progress.note(budget(AXPY, master(AXPY))).golf["record"] == 126


def test_other_kinds_have_golf_too():
    task = definition.find("08-register")
    played = replace(task, budget=replace(task.budget, golf=Golf("accesses_per_multiply", 1.0, "How?")))
    score = budget(played, master(task)).golf
    assert 1.0 < score["count"] <= 1.75
    assert golf.said(score)[0].startswith(
        f"Golf: {score['count']:.4g} memory accesses per vector multiply; the budget is 1.75;"
    )


def test_an_unknown_count_is_refused_where_the_task_is_defined():
    for wrong in (Golf("request", 1, "?"), Golf("requests", 1, "?", require={"atomic": 0})):
        with pytest.raises(
            ValueError, match=r"task 07-axpy: golf has no '(request|atomic)'; did you mean '(requests|atomics)'"
        ):
            replace(AXPY, budget=replace(AXPY.budget, golf=wrong))


def test_scores_are_plain_data():
    import json

    score = budget(AXPY, master(AXPY)).golf
    assert json.loads(json.dumps(score)) == score
    assert not any(isinstance(value, np.generic) for value in score.values())
