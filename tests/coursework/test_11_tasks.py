"""Chapter 11: the specifications in the statements, the tasks and the library say the same; budgets hold what they claim."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from coursework import build, definition
from coursework.tasks import chapter_11 as tasks
from dlkernels.attention import reference

ROOT = Path(__file__).resolve().parents[2]
MASTER = {cell.id: cell.source for cell in build.read(ROOT / "solutions" / "11_attention.ipynb").cells}
SPECIFIED = ("11-softmax", "11-norm")


def specification(task_id):
    """The code of a statement that says what is computed: the listing that stores into the output."""
    blocks = re.findall(r"^```python\n(.*?)^```$", MASTER[f"{task_id}-task"], re.MULTILINE | re.DOTALL)
    (found,) = [block for block in blocks if re.search(r"out\w*\[", block)]
    return found


def cases_of(task):
    """(arguments, name) of the cases that are told, and of those that are kept back."""
    for number, case in enumerate((*task.cases, *definition.hidden_cases(task))):
        yield case.make(np.random.default_rng(number)), case.name


@pytest.mark.quick
@pytest.mark.parametrize("task_id", SPECIFIED)
def test_the_specification_of_the_statement_is_that_of_the_task(task_id):
    """It runs as it stands, and fills the output with what the check expects, in every case."""
    task, code = definition.find(task_id), compile(specification(task_id), task_id, "exec")
    names = list(inspect.signature(task.spec).parameters)
    for arguments, case in cases_of(task):
        double = [x.astype(np.float64) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x for x in arguments]
        scope = dict(zip(names, double, strict=True)) | {"np": np}
        exec(code, scope)
        np.testing.assert_allclose(scope["out"], task.spec(*arguments), rtol=1e-12, atol=1e-12, err_msg=case)


@pytest.mark.quick
def test_the_tasks_compute_what_the_library_computes():
    for arguments, case in cases_of(tasks.NORM):
        found = reference.layer_norm(*arguments[:-1])
        np.testing.assert_allclose(found, tasks.NORM.spec(*arguments), rtol=1e-9, atol=1e-12, err_msg=case)
    for (x, out), case in cases_of(tasks.SOFTMAX):
        some = (x > -np.inf).any(axis=1)
        right = tasks.SOFTMAX.spec(x, out)
        np.testing.assert_allclose(reference.softmax(x[some]), right[some], rtol=1e-12, err_msg=case)
        assert not right[~some].any(), case


@pytest.mark.quick
def test_two_parts_are_as_good_as_the_whole():
    rng = np.random.default_rng(3)
    for first, second in ((5, 3), (1, 9), (4, 0), (0, 2), (0, 0)):
        scores, v = rng.uniform(-50, 50, first + second), rng.uniform(-1, 1, (first + second, tasks.VALUES))
        parts = (*tasks.part_of(scores[:first], v[:first]), *tasks.part_of(scores[first:], v[first:]))
        for found, right in zip(tasks.merged(*parts), tasks.part_of(scores, v), strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-12)
        assert tasks.judge_merge(parts, tasks.part_of(scores, v)) is None


@pytest.mark.quick
@pytest.mark.parametrize("task_id", [t.id for t in tasks.TASKS if getattr(t, "suspects", ())])
def test_no_suspect_is_the_right_answer(task_id):
    """A mistake that no case can tell from the right result would accuse nobody, or somebody who is innocent."""
    task, told = definition.find(task_id), set()
    for number, case in enumerate(task.cases):
        arguments = case.make(np.random.default_rng([number, 5]))
        right = np.asarray(task.spec(*arguments), np.float64)
        for place, suspect in enumerate(task.suspects):
            with np.errstate(all="ignore"):
                guess = np.asarray(suspect.formula(*arguments), np.float64)
            if guess.shape == right.shape and not np.allclose(guess, right, rtol=1e-4, atol=1e-4):
                told.add(place)
    assert told == set(range(len(task.suspects)))


@pytest.mark.quick
def test_every_mistake_of_a_merge_is_seen_in_some_case():
    seen = set()
    for number, case in enumerate(tasks.MERGE.cases):
        m1, l1, acc1, m2, l2, acc2 = case.make(np.random.default_rng(number))
        _, total, acc = tasks.merged(m1, l1, acc1, m2, l2, acc2)
        for place, (formula, _) in enumerate(tasks.MERGES):
            for x1, x2, right in ((l1, l2, total), (acc1, acc2, acc)):
                if not np.allclose(formula(m1, m2, x1, x2), right):
                    seen.add(place)
    assert seen == set(range(len(tasks.MERGES)))
