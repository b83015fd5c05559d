"""The list of all exercises: each task once, with the anchor of its heading."""

from pathlib import Path

import numpy as np
import pytest
from docutils.nodes import make_id

from coursework import catalogue, definition

EXERCISES = Path(__file__).parents[2] / "exercises"
SHEETS = catalogue.of(EXERCISES)
ROWS = [row for sheet in SHEETS for row in sheet.rows]


def test_each_task_stands_in_it_once():
    assert [row.task.id for row in ROWS] == [task.id for task in definition.everything()]
    assert len(SHEETS) == len(list(EXERCISES.glob("[0-9]*.ipynb")))


def test_addresses_are_of_notebooks_and_differ():
    assert len({row.address for row in ROWS}) == len(ROWS)
    for row in ROWS:
        page, _, anchor = row.address.partition("#")
        assert Path(page).with_suffix(".ipynb").exists(), page
        assert anchor


def test_an_anchor_is_made_as_sphinx_makes_it():
    for heading in (
        "## 1. The larger of two, element by element",
        "## 12. `prange`: 2 x 2 at once?",
        "### A second part: now",
    ):
        assert catalogue.anchor(heading) == make_id(heading.lstrip("# ").replace("`", ""))


def test_every_task_has_a_kind_that_is_explained():
    kinds = catalogue.kinds(SHEETS)
    assert sum(number for number, _ in kinds.values()) == len(ROWS)
    assert {"kernel", "prediction", "thread", "opencl"} <= set(kinds)
    assert all(said.endswith(".") for _, said in kinds.values())


def test_it_is_shown_as_text_and_folded():
    text, page = repr(SHEETS), SHEETS._repr_html_()
    for sheet in SHEETS:
        assert sheet.summary in text
        assert page.count(sheet.title) >= 1
    assert page.count("<tr>") == len(ROWS) + len(SHEETS)
    assert page.count("<details>") == len(SHEETS)


# 08-four has the suspects of all products of chapter 08, and no case that tells the last of them from what is right.
SUSPICIOUS = [task for task in definition.everything() if getattr(task, "suspects", ()) and task.id != "08-four"]


@pytest.mark.quick
@pytest.mark.parametrize("task", SUSPICIOUS, ids=lambda task: task.id)
def test_no_suspect_is_the_right_answer(task):
    """A mistake that no case can tell from the right result would accuse nobody, or somebody who is innocent."""
    told = set()
    for number, case in enumerate((*task.cases, *definition.hidden_cases(task))):
        arguments = case.make(np.random.default_rng([number, 5]))
        right = np.asarray(task.spec(*arguments), np.float64)
        for place, suspect in enumerate(task.suspects):
            with np.errstate(all="ignore"):
                guess = np.asarray(suspect.formula(*arguments), np.float64)
            if guess.shape == right.shape and not np.allclose(guess, right, rtol=1e-4, atol=1e-4):
                told.add(place)
    assert told == set(range(len(task.suspects)))
