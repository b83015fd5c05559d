"""Cells that JupyterLab split, copied or emptied: whatever is green for the student is green in the grade."""

import json
import sys

import hostile
import pytest

from coursework import build
from coursework.grading import grade, plugin, sandbox
from coursework.grading.intake import merge, reading

NO_BWRAP = sandbox.why_no_bwrap()
HEAD = "# my answer"


def copied(notebook, name, source, after=None):
    """A cell as JupyterLab copies it: the metadata with its `grade_id`, and an id of its own."""
    twin = hostile.cell(notebook, name).copy()
    twin.id, twin.source = f"copy-{len(notebook.cells)}", source
    place = next(i for i, c in enumerate(notebook.cells) if c.id == (after or name))
    notebook.cells.insert(place + 1, twin)


def split(notebook, name):
    """The answer behind a first line, in a cell of its own."""
    answer = hostile.cell(notebook, name)
    copied(notebook, name, answer.source)
    answer.source = HEAD


def pasted(notebook, name):
    """The answer in a copy of the cell, which itself stays as it was handed out."""
    answer = hostile.cell(notebook, name)
    copied(notebook, name, answer.source)
    answer.source = hostile.cell(build.read(hostile.EXERCISE), name).source


def moved(notebook, name, into, kept=""):
    """The answer in another answer cell, its own emptied, or gone."""
    hostile.cell(notebook, into).source += "\n\n" + hostile.cell(notebook, name).source
    hostile.cell(notebook, name).source = kept
    if kept is None:
        notebook.cells.remove(hostile.cell(notebook, name))


def merged(notebook):
    master, shipped = merge.canonical(hostile.MASTER)
    cells = [reading._cell(json.loads(json.dumps(c))) for c in notebook.cells if c.cell_type == "code"]
    return merge.merge(master, shipped, cells)


@pytest.mark.quick
@pytest.mark.parametrize("change", [split, pasted])
def test_a_copy_of_an_answer_cell_runs_right_behind_it(change):
    notebook = hostile.solved()
    answer = hostile.cell(notebook, "07-add").source
    change(notebook, "07-add")
    result = merged(notebook)
    place = [step.id for step in result.steps].index("07-add")
    assert (result.steps[place + 1].kind, result.steps[place + 1].source) == ("extra", answer)
    assert result.answers["07-add"].endswith(answer)
    assert "07-add" not in result.untouched
    assert result.flags == ["duplicate cell 07-add"]


@pytest.mark.quick
def test_a_copy_that_says_what_was_handed_out_does_nothing():
    notebook = hostile.solved()
    copied(notebook, "07-add", hostile.cell(build.read(hostile.EXERCISE), "07-add").source)
    check = next(c for c in notebook.cells if c.id == "07-add-check")
    copied(notebook, "07-add-check", check.source)
    result = merged(notebook)
    assert result.flags == ["duplicate cell 07-add", "duplicate cell 07-add-check"]
    assert result.steps == merged(hostile.solved()).steps
    assert result.answers == merged(hostile.solved()).answers


@pytest.mark.quick
def test_an_emptied_cell_says_nothing_only_where_nothing_was_answered():
    notebook = hostile.solved()
    moved(notebook, "07-axpy", "07-add")
    assert "07-axpy" not in merged(notebook).untouched
    nothing = build.read(hostile.EXERCISE)
    hostile.cell(nothing, "07-axpy").source = " \n"
    nothing.cells.remove(hostile.cell(nothing, "07-bug"))
    assert merged(nothing).untouched == merged(nothing).answers.keys()


@pytest.mark.skipif(sys.platform == "win32", reason="the grader runs on Linux and macOS")
def test_work_in_other_cells_has_its_points(request, tmp_path):
    notebook = hostile.solved()
    split(notebook, "07-launch")
    pasted(notebook, "07-bug")
    moved(notebook, "07-axpy", "07-add")
    moved(notebook, "07-sectors", "07-add", None)
    path = tmp_path / "x.ipynb"
    path.write_text(build.text_of(notebook), encoding="utf-8")
    collector = plugin.Notebook.from_parent(request.session, path=path)
    mode, limits = "rlimit" if NO_BWRAP else "bwrap", sandbox.Limits(**hostile.PATIENT)
    result = grade.grade("anna", "07_vector_add", path, hostile.MASTER, mode, limits, 7, collector)
    assert result["points"] == hostile.ALL, [(t["task"], t["status"], t["headline"]) for t in result["tasks"]]


def test_carriage_returns_change_no_cell(tmp_path):
    path = tmp_path / "x.ipynb"
    path.write_text('{"cells": [{"cell_type": "code", "source": "a = 1\\r\\nb = 2\\r"}]}', encoding="utf-8")
    ((_, _, source),), flags = reading.load(path)
    assert (source, flags) == ("a = 1\nb = 2\n", [])
