"""Each day a part of the long tests: all days together have all of them, quick ones are never left out, and a run says
which part it was."""

import contextlib
import datetime
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import budgets
import pytest
import rotation

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
PARTS = rotation.PARTS
DAYS = [(k, PARTS) for k in range(PARTS)]

FILE = """
import os
import budgets
import pytest

long = pytest.mark.rotates


@pytest.mark.parametrize("n", range(60))
@long
def test_many(n):
    assert n < 60


@pytest.mark.quick
@long
def test_quick_as_well():
    pass


def test_short():
    assert "FAIL" not in os.environ


@pytest.mark.rotates(by=lambda params: params["task"])
@pytest.mark.parametrize("answer", ["right", "wrong", "dear"])
@pytest.mark.parametrize("task", ["add", "sum"])
def test_answers(task, answer):
    pass


@pytest.mark.rotates(by=lambda params: "rungs", together=lambda params: params["rung"])
@pytest.mark.parametrize("rung", range(28))
@pytest.mark.parametrize("kind", ["shapes", "layouts"])
def test_rungs(rung, kind):
    pass


@pytest.mark.rotates(by=lambda params: "whole", whole=True)
@pytest.mark.parametrize("n", range(3))
def test_costly(n):
    pass


@pytest.mark.slow
@long
def test_by_night():
    pass
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rotating")
    (folder / "test_it.py").write_text(FILE)
    marks = "\n".join(f"    {name}: as in the course" for name in ("quick", "rotates", "slow"))
    (folder / "pytest.ini").write_text(f"[pytest]\naddopts = --strict-markers\nmarkers =\n{marks}\n")
    return folder


@pytest.fixture(scope="module")
def items(folder):
    """What pytest collects from FILE, without this folder's conftest."""
    found = []

    class Catch:
        def pytest_collection_finish(self, session):
            found.extend(session.items)

    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", f"--rootdir={folder}", str(folder)], [Catch()])
    return found


@pytest.fixture(scope="module")
def days(items):
    return [{item.name for item in rotation.split(items, part)[0]} for part in DAYS]


def run(folder, *arguments, **environment):
    """What pytest says of FILE with this folder's conftest."""
    kept = {name: value for name, value in os.environ.items() if name not in ("ROTATION", "PYTEST_ADDOPTS")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "conftest",
        "-p",
        "no:cacheprovider",
        "-m",
        "not slow",
        *arguments,
    ]
    environment = kept | {"PYTHONPATH": str(ROOT / "tests")} | environment
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_parts_have_no_test_in_common_and_all_together():
    for count in (PARTS, 20, 365):
        names = [f"test_a[{i}]" for i in range(count)]
        parts = [rotation.chosen(names, part) for part in DAYS]
        assert sum(map(len, parts)) == count
        assert set().union(*parts) == set(names)
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_a_small_group_has_one_each_day_if_it_shall_and_all_in_the_end():
    for count in range(1, PARTS):
        names = {str(i) for i in range(count)}
        parts = [rotation.chosen(names, part, daily=True) for part in DAYS]
        assert {len(part) for part in parts} == {1}
        assert set().union(*parts) == names
        parts = [rotation.chosen(names, part, first=3) for part in DAYS]
        assert sorted(name for part in parts for name in part) == sorted(names)
    assert rotation.chosen([], (3, PARTS)) == rotation.chosen([], (3, PARTS), daily=True) == set()


def test_the_part_of_a_name_is_the_same_on_every_machine():
    names = [f"test_a[{i}]" for i in range(20)]
    assert rotation.chosen(names, (2, 7)) == rotation.chosen(names[::-1], (2, 7))
    assert rotation.chosen(names, (2, 7)) == {"test_a[3]", "test_a[5]", "test_a[17]"}


def test_each_day_is_one_of_the_parts_and_a_wish_comes_first():
    days = [datetime.date(2026, 11, 29) + datetime.timedelta(n) for n in range(PARTS + 1)]
    parts = [rotation.part_of(None, day) for day in days]
    assert sorted(parts[:PARTS]) == DAYS
    assert parts[PARTS] == parts[0]
    assert rotation.words(rotation.part_of("3/7", days[0])) == "3/7"
    assert rotation.part_of("all", days[0]) is None
    assert rotation.part_of(None, days[0], named=True) is None
    assert rotation.part_of("3/7", days[0], named=True) == (2, 7)


@pytest.mark.parametrize("wish", ["0/7", "8/7", "3", "some", "1/0"])
def test_a_wish_that_cannot_be_read_is_a_sentence(wish):
    with pytest.raises(ValueError, match=rf'^ROTATION={wish}: expected "all", or one of n parts, such as 3/{PARTS}$'):
        rotation.part_of(wish, datetime.date(2026, 11, 29))


def test_all_days_have_every_test(items, days):
    assert len(items) == 60 + 2 + 6 + 56 + 3 + 1
    assert set().union(*days) == {item.name for item in items}
    for part in (*DAYS, None):
        chosen, left = rotation.split(items, part)
        assert sorted([*chosen, *left], key=items.index) == items
    assert not left


def test_each_day_has_its_share(days):
    for today in days:
        assert {"test_quick_as_well", "test_short", "test_by_night"} <= today
        assert {f"test_costly[{n}]" for n in range(3)} <= today
        assert sum(name.startswith("test_many") for name in today) in (4, 5)
        for task in ("add", "sum"):
            assert sum(name.startswith(f"test_answers[{task}") for name in today) == 1
        rungs = [name for name in today if name.startswith("test_rungs")]
        assert len(rungs) == 4, "two rungs, each with both of its tests"
        assert len({re.search(r"\[\w+-(\d+)\]", name)[1] for name in rungs}) == 2


def test_a_run_says_its_part_and_a_failure_how_to_repeat_it(folder):
    says = run(folder, "-n", "1", ROTATION="2/14", FAIL="1")
    assert "Of what rotates, this is part 2/14 (ROTATION=all: all" in says
    assert "Repeat with ROTATION=2/14" in says
    assert 4 < int(re.search(r"(\d+) passed", says)[1]) < 20


def test_what_is_named_is_run_whatever_day_it_is(folder):
    says = run(folder, "test_it.py::test_many")
    assert "60 passed" in says
    assert "of what rotates" not in says.lower()
    assert "Repeat" not in says


def test_a_part_that_there_is_not_is_a_sentence(folder):
    assert 'ROTATION=one: expected "all", or one of n parts, such as 3/14' in run(folder, ROTATION="one")


def test_a_days_part_may_take_less_than_all():
    whole, day = budgets.allowed("tests")[1], budgets.of_day()
    assert {"kernels/test_operations.py", "wrong_answers/test_wrong_answers.py"} <= day.keys() <= whole.keys()
    assert all("mark.rotates" in (ROOT / "tests" / name).read_text(encoding="utf-8") for name in day)
    name = "kernels/test_operations.py"
    assert not list(budgets.over("tests", {name: 2 * day[name]}))
    assert list(budgets.over("tests", {name: 2 * day[name]}, day=True))
