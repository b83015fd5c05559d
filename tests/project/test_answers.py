"""Edits of answers (tests/answers.py): what is changed must be found, once."""

import inspect

import answers
import pytest
from answers import changed_by, cut, insert, replace

pytestmark = pytest.mark.quick

BASE = """def f(x):
    for i in range(3):
        x += i
        g(x)
    if x:
        g(x)
    return x
"""


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        (replace("range(3)", "range(2)"), "range(3)", "range(2)"),
        (replace("g(x)", "h(x)", after="x += i"), "i\n        g(x)", "i\n        h(x)"),
        (replace("if x:\n    g(x)", "g(x)"), "    if x:\n        g(x)\n", "    g(x)\n"),
        (replace("return x", "if x:\n    return x"), "    return x\n", "    if x:\n        return x\n"),
        (cut("x += i"), "        x += i\n", ""),
        (cut("g(x)", after="if x:"), "    if x:\n        g(x)\n", "    if x:\n"),
        (insert("y = x\nh(y)", after="x += i"), "x += i\n", "x += i\n        y = x\n        h(y)\n"),
        (insert("return 0", before="return x"), "    return x", "    return 0\n    return x"),
    ],
)
def test_changes(change, old, new):
    assert BASE.count(old) == 1
    assert changed_by([change], BASE) == BASE.replace(old, new)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (replace("range(4)", "range(2)"), r"'range\(4\)' stands 0 times"),
        (replace("g(x)", "h(x)"), r"'g\(x\)' stands 2 times"),
        (cut("g(x)"), r"'g\(x\)' stands 2 times"),
        (cut("g(x)", after="g(x)"), r"'g\(x\)' stands 2 times"),
        (cut("x +="), "'x [+]=' stands 0 times"),  # no whole line
        (insert("h(x)", after="g(x)"), "stands 2 times"),
    ],
)
def test_what_does_not_stand_there_once(change, says):
    with pytest.raises(LookupError, match=says):
        change(BASE)


def test_the_message_names_file_answer_and_change():
    found = answers.edit(answers.MASTER, "right", replace("no such text", ""))
    found.task_id, found.name = "11-causal", "mine"
    with pytest.raises(LookupError, match=r"(?s)mine of 11-causal: 'no such text' stands 0 times.*def causal\("):
        _ = found.source
    found.changes = cut("result[c] = 0"), replace("result[c] = 0", "result[c] = 1")
    with pytest.raises(LookupError, match="two changes overlap"):
        _ = found.source


def test_an_edit_is_a_function_with_a_source_of_its_own():
    made = answers.answer("11-causal", "no_scale")
    assert made.py_func.__name__ == "no_scale"
    assert made.py_func.__doc__ == "wrong suspect: not multiplied by `scale`"
    source = inspect.getsource(made.py_func)
    assert "def no_scale(" in source
    assert "score *= scale" not in source


def test_an_answer_of_mistakes_is_one_of_these_and_may_be_edited():
    found = answers.load("16-rows")
    right, edited, wrong = found.as_taught, found.one_round, found.no_guard
    assert isinstance(right, answers.noted)
    assert edited.base == "as_taught"
    assert right.made() != edited.made()
    assert wrong.__doc__.startswith("wrong out-of-bounds: ")
    assert wrong.says
