"""Each planted fault (mutations.py) has its place in the library and tests that exist: `make faults`, which runs for
hours, would otherwise be the first to see that a line was rewritten or a test renamed."""

import ast
import functools
import itertools
import re
from dataclasses import replace
from pathlib import Path

import mutations
import pytest

from dlkernels import implementations

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
WORD = re.compile(r"[^\s()]+")
TEXTS = mutations.texts_of(ROOT / "lib")
RUNGS = [f"{rung.device}-{rung.name}" for rung in implementations.everything()]
TASKS = [path.stem.replace("_", "-") for path in (ROOT / "tests" / "wrong_answers").glob("[0-9]*.py")]


@functools.cache
def source_of_ids():
    """What ids are made of: names of rungs and tasks, and what stands in tests and their helpers."""
    paths = [
        path for path in (ROOT / "tests").rglob("*.py") if "mutations" not in path.name and path.stem.isidentifier()
    ]
    return "\n".join([*RUNGS, *TASKS, *(path.read_text("utf-8") for path in paths)]).lower()


@functools.cache
def defined_in(file):
    """[(name, whether its ids may hold more)] of the tests in a file."""
    nodes = ast.walk(ast.parse((ROOT / file).read_text("utf-8")))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    return [(node.name, bool(node.args.args)) for node in functions]


def may_be_chosen(test, expression):
    """Whether `-k expression` may choose a test, by its name or by an id."""
    name, has_ids = test

    def is_possible(word):
        return (
            has_ids
            and not word.startswith("test_")
            and all(part in source_of_ids() for part in word.lower().split("-"))
        )

    words = set(WORD.findall(expression)) - {"and", "or", "not"}
    certain = {word for word in words if word.lower() in name.lower()}
    possible = [word for word in words - certain if is_possible(word)]
    for held in itertools.product((True, False), repeat=len(possible)):
        truth = {word: str(word in certain) for word in words} | dict(zip(possible, map(str, held), strict=True))
        if eval(" ".join(truth.get(part, part) for part in re.findall(r"[()]|[^\s()]+", expression))):
            return True
    return False


def code(text):
    """Its words, without a comment."""
    return text.split("#")[0].split()


def mistakes(fault):
    """What is wrong with a fault, as sentences."""
    try:
        path = mutations.find(fault, TEXTS)
        if path.suffix == ".py":
            ast.parse(TEXTS[path].replace(fault.old, fault.new))
        if code(fault.old) == code(fault.new):
            yield f"{fault.name}: the code of {path.name} is as before"
    except LookupError as error:
        yield f"{fault.name}: {error} in lib/"
    except SyntaxError as error:
        yield f"{fault.name}: {path.name} cannot be parsed with it: {error}"
    if not (ROOT / fault.file).is_file():
        yield f"{fault.name}: there is no {fault.file}"
    elif not any(may_be_chosen(one, fault.tests) for one in defined_in(fault.file)):
        yield f"{fault.name}: -k '{fault.tests}' chooses no test of {fault.file}"


def test_every_fault_can_be_planted_and_its_tests_exist():
    assert not [sentence for fault in mutations.FAULTS for sentence in mistakes(fault)]


def test_names_say_which_fault_it_is():
    names = [fault.name for fault in mutations.FAULTS]
    assert len(set(names)) == len(names) > 200


FAULT = mutations.FAULTS[0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"old": "import numpy as np"}, "the text occurs"),
        ({"old": "no such line"}, "the text occurs 0 times"),
        ({"new": FAULT.old + "  # the same"}, "is as before"),
        ({"new": FAULT.old.replace(":", "")}, "cannot be parsed"),
        ({"file": "tests/kernels/test_nothing.py"}, "there is no"),
        ({"tests": "test_nothing"}, "chooses no test"),
        ({"tests": f"{FAULT.tests} and no_such_id"}, "chooses no test"),
    ],
)
def test_what_no_longer_fits_is_told(change, said):
    assert not list(mistakes(FAULT))
    (sentence,) = mistakes(replace(FAULT, **change))
    assert said in sentence
