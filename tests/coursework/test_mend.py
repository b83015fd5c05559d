"""Kernels to mend: what is wrong is found by running them, their author's launch shows nothing, one is right."""

import inspect
from pathlib import Path

import pytest

from coursework import build, checking, definition, feedback
from coursework.answer import Local
from coursework.grading.extras import flags
from coursework.grading.intake import merge
from coursework.kinds.mend import MendTask
from dlkernels import cuda

ROOT = Path(__file__).resolve().parents[2]
TASKS = [task for task in definition.everything() if isinstance(task, MendTask)]
MASTER = ROOT / "solutions" / "06b_debugging.ipynb"
BINS, LARGEST = (definition.find(name) for name in ("06b-bins", "06b-largest"))


def truth(task):
    return task.fault_of(task.seen(task.seed)).name


def outcome(task, kernel, **said):
    return checking.check(task, Local(kernel, claims=said))


def cells(notebook):
    return {cell.id: cell.source for cell in notebook.cells}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_a_kernel_shows_one_fault_on_whatever_launch_and_none_on_its_authors(task):
    for seed in (task.seed, 1 << 40):
        runs = list(task.runs(seed, (*task.cases, *definition.hidden_cases(task))))
        assert {task.fault_of(run).name for run in runs} <= {truth(task)}
        assert bool(runs) == (truth(task) != "right")
        assert list(task.runs(seed, (task.tried,))) == []


def test_one_of_eight_is_right():
    assert len(TASKS) == 8
    assert [truth(task) for task in TASKS].count("right") == 1
    assert len({truth(task) for task in TASKS}) >= 6


@pytest.mark.quick
def test_the_answer_cell_has_the_kernel_and_the_words():
    shipped = cells(build.exercise_of(build.annotate(build.read(MASTER), MASTER.name)))
    for task in TASKS:
        name = task.id.partition("-")[2]
        first, _, kernel = shipped[task.id].partition("\n\n\n")
        assert kernel == inspect.getsource(task.handed_out.py_func).rstrip()
        *words, last = [f'"{fault.name}"' for fault in task.faults]
        assert first == f"{name}_fault = ...  # {', '.join(words)} or {last}"
        assert all(f'`"{fault.name}"`: {fault.text}' in shipped["06b-title"] for fault in task.faults)
        assert f'check("{task.id}", {name}, fault={name}_fault)' in shipped[f"{task.id}-check"]
        assert f"xray({name}, " in shipped[f"06b-{name}-look-try"]


@pytest.mark.quick
def test_a_kernel_that_is_right_is_handed_in_as_it_is():
    told = outcome(LARGEST, LARGEST.handed_out, fault="right")
    assert (told.status, told.points) == (checking.RIGHT, LARGEST.points)
    assert told.checked[0].startswith('As it was handed out: "right". Every element is as it should be')


@pytest.mark.quick
def test_the_word_comes_first_and_a_wrong_one_is_not_told_the_right_one():
    for said in (..., None):
        told = outcome(BINS, BINS.handed_out, fault=said)
        assert (told.status, told.failure.kind) == (checking.UNSOLVED, "unanswered")
    for fault in BINS.faults:
        told = outcome(BINS, BINS.handed_out, fault=fault.name)
        assert told.status == checking.WRONG
        assert told.failure.kind == ("race" if fault.name == "race" else "verdict")
        if fault.name != "race":
            assert "race" not in feedback.as_text(told)
            assert "look at `block_counts[labels[i]]` in thread" in feedback.as_text(told)
    told = outcome(LARGEST, LARGEST.handed_out, fault="stuck")
    assert dict(told.failure.facts)["as handed out"] == "No launch of this task shows that."


@pytest.mark.quick
def test_other_arguments_than_its_own_may_not_be_changed():
    total = definition.find("06b-total")
    assert [list(inspect.signature(total.spec).parameters)[i] for i in total.scratch] == ["parts", "count"]


@pytest.mark.quick
def test_a_cell_that_is_there_to_be_changed_is_not_flagged():
    """And a kernel that is right is no cell that nobody has touched: what is said of it stands in the same cell."""
    master, shipped = merge.canonical(MASTER)
    sources = {cell.id: cell.source for cell in shipped.values() if cell.cell_type == "code"}
    sources["06b-largest-look-try"] = "xray(largest, 9, 64)(x, lengths, out)"
    sources["06b-largest"] = sources["06b-largest"].replace("...", '"right"')
    merged = merge.merge(master, shipped, [(name, name, source) for name, source in sources.items()])
    assert merged.flags == []
    assert "06b-largest" not in merged.untouched
    assert "06b-bins" in merged.untouched


@pytest.mark.quick
def test_kernels_that_all_mend_alike_are_no_reason_to_look():
    answers, _ = flags.given(MASTER)
    results = [{"student": name, "exercise": MASTER.stem, "answers": answers} for name in ("anna", "ben")]
    assert flags.look_alikes(results, {MASTER.stem: MASTER}) == ({}, [])


@cuda.jit
def one_thread(labels, counts):
    if cuda.grid(1) == 0:
        for i in range(labels.size):
            counts[labels[i]] += 1


def test_a_kernel_that_was_replaced_is_not_mended():
    judged = outcome(BINS, one_thread, fault=truth(BINS))
    assert (judged.status, judged.failure.kind) == ("wrong", "replaced")
    assert "as it was handed out" in str(judged.failure.facts)
