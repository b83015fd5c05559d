"""Numbers of one's own: the same formulas as in the book, equally hard, reproducible here and in the grader."""

import json
import math
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from coursework import checking, definition, notebook, own, release, variants
from coursework.grading import gather
from coursework.grading.intake.submissions import Submission
from coursework.tasks import c01, c02, c09
from simt.xray.occupancy import occupancy

pytestmark = pytest.mark.quick

ALL = {task: found for chapter in definition.chapters() for task, found in variants.of_chapter(chapter).items()}
ROOT = Path(__file__).parents[2]
KEY = own.Numbers.from_secret("a secret")


def right(task):
    return {question.name: question.truth() for question in task.questions}


@pytest.mark.parametrize("task_id", ALL)
def test_with_the_numbers_of_the_book_the_answers_are_the_books(task_id):
    """Same formula, so equally hard: what the variants compute is what the task's own check counts or runs."""
    task, mine = definition.find(task_id), ALL[task_id]
    questions = mine.questions(mine.book, task.questions)
    assert [q.name for q in questions] == [q.name for q in task.questions]
    assert right(task) == {q.name: q.truth() for q in questions}
    assert set(mine.book) == set(mine.choices)
    assert all(mine.book[name] in values for name, values in mine.choices.items())


@pytest.mark.parametrize("task_id", ALL)
def test_every_set_of_numbers_is_as_hard_as_the_books(task_id):
    task, mine = definition.find(task_id), ALL[task_id]
    sets, published = mine.all(), right(task)
    assert len(sets) >= (4 if task_id == "06-work" else 15)
    assert mine.book not in sets
    for place, numbers in enumerate(sets):
        questions = mine.questions(numbers, task.questions)
        for question in questions:
            truth = question.truth()
            assert type(truth) is type(published[question.name]) or float(published[question.name]).is_integer()
            assert truth > 0
            assert math.isfinite(truth)
            # about as large as in the book: nobody multiplies longer numbers than others
            assert 1 / 20 <= truth / published[question.name] <= 20, (numbers, question.name)
            assert truth not in question.slips
        said = mine.text(numbers)
        assert "{" not in said
        shown = said.replace(",", "")
        assert all(str(value) in shown for value in numbers.values()), said
        if place % 10 == 0:
            said = {q.name: q.truth() for q in questions}
            assert checking.check(replace(task, questions=questions), said).status == "right"


def _bus(car, bus, jobs):
    slow, fast = {"latency": bus, "every": 1}, {"latency": car, "every": car}
    cycles = c01.bus._cycles
    return {
        "many": cycles(jobs, **slow),
        "from_here": next(n for n in range(1, jobs) if cycles(n, **slow) < cycles(n, **fast)),
        "chain": cycles(jobs, **slow, dependent=True),
    }


def _gil(python, before, inside, after, handing_over):
    return {
        "python": c02.gil.finished(["P" * python] * 2),
        "mixed": c02.gil.finished(["P" * before + "N" * inside + "P" * after] * 2),
        "pays": c02.gil._least_that_pays(handing_over),
    }


def _waves(m, n, registers, shared, multiprocessors):
    return {"resident": occupancy("sm_80", 256, registers, shared * 1024).blocks_per_sm}


def _sizes(picture, kernel, large, side, dilation):
    size = c09.sizes._size
    return {
        "plain": size(picture, kernel),
        "halved": size(picture, 3, 2, 1),
        "first_layer": size(large, 7, 2, 3),
        "spread": size(side, 3, dilation=dilation),
    }


@pytest.mark.parametrize(
    ("task_id", "runs"), [("01-bus", _bus), ("02-gil", _gil), ("08-waves", _waves), ("09-sizes", _sizes)]
)
def test_with_other_numbers_too_a_formula_gives_what_the_check_runs(task_id, runs):
    for numbers in ALL[task_id].all()[::7]:
        asked = ALL[task_id].asked(**numbers)
        assert {name: asked[name].truth for name in runs(**numbers)} == runs(**numbers), numbers


def test_other_numbers_ask_no_question_whose_slip_would_pass():
    """A share is asked to 1 %: what a usual mistake gives lies further away."""
    for numbers in ALL["08-waves"].all():
        share = ALL["08-waves"].asked(**numbers)["share"]
        assert all(abs(slip - share.truth) > 0.02 * share.truth for slip in share.slips), numbers


# The predictions that are the same for all, and why.
_LISTING = "it asks about listings of compiled code, which stand on the page"
_SEARCH = "its answers are found by trying all that a program of the page can do, and are no formula"
SAME_FOR_ALL = {"01-asm": _LISTING, "02-predict": _SEARCH, "08-order": _SEARCH, "08-listing": _LISTING}


def test_every_prediction_has_other_numbers_or_a_reason_to_be_the_same_for_all():
    tasks = {
        t.id for chapter in definition.chapters() for t in definition.of_chapter(chapter) if hasattr(t, "questions")
    }
    assert tasks - ALL.keys() == SAME_FOR_ALL.keys()
    assert ALL.keys() <= tasks


def test_the_page_names_the_predictions_that_are_the_same_for_all():
    page = (ROOT / "chapters" / "instructors_class.md").read_text(encoding="utf-8")
    (said,) = re.findall(r"tasks of prediction\s+but four\..*?stay as they are", page, re.DOTALL)
    assert sorted(re.findall(r"`([\w-]+)`", said)) == sorted(SAME_FOR_ALL)
    assert len(SAME_FOR_ALL) == 4


def test_a_draw_is_reproducible_and_differs_between_students_classes_and_tries():
    draws = [KEY.drawn("07-sectors", person) for person in ("anna@x", " Anna@X ", "anna@x")]
    assert draws[0] == draws[1] == draws[2] == {"dtype": "float32", "stride": 6, "row": 2}  # the same on every machine
    crowd = Counter(json.dumps(KEY.drawn("03-pays", f"student{i}")) for i in range(400))
    assert len(crowd) > 0.7 * len(ALL["03-pays"].all())
    assert max(crowd.values()) < 12 * 400 / len(crowd)
    other = own.Numbers.from_secret("another secret")
    assert sum(KEY.drawn("03-pays", f"s{i}") == other.drawn("03-pays", f"s{i}") for i in range(100)) < 20
    tries = [KEY.drawn("07-sectors", "anna@x", attempt) for attempt in range(4)]
    assert len({json.dumps(t) for t in tries}) == 4


def test_the_key_does_not_tell_the_secret_and_is_read_back(tmp_path):
    numbers = own.Numbers.from_secret("a secret", 3)
    assert "a secret" not in numbers.text()
    (tmp_path / "n.json").write_text(numbers.text())
    assert own.Numbers.read(tmp_path / "n.json") == numbers
    for text in ("", "[]", '{"numbers": 1, "tries": "x"}'):
        (tmp_path / "n.json").write_text(text)
        assert own.Numbers.read(tmp_path / "n.json") is None


# The student's side ---------------------------------------------------------------------------------------------------


@pytest.fixture
def in_class(tmp_path, monkeypatch):
    """A folder of a student whose class has numbers for each, and two tries."""
    (tmp_path / "class.json").write_text(own.Numbers.from_secret("a secret", 2).text())
    monkeypatch.setattr(own, "CLASS_FILE", tmp_path / "class.json")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(notebook, "display", lambda *message: None)
    monkeypatch.setattr(own, "_memory", {})
    return tmp_path


def test_without_a_class_all_is_as_in_the_book(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert own.told("07") == []
    notebook.me("anna")
    assert "all have the same numbers" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
    assert own.of_student(definition.find("07-sectors")) is definition.find("07-sectors")


def test_a_student_says_who_they_are_and_is_asked_with_their_numbers(in_class, capsys):
    task = definition.find("07-sectors")
    assert "Say who you are" in own.told("07")[0]
    with pytest.raises(own.WhoAreYou):
        notebook.predict("07-sectors", **right(task))
    notebook.me("Anna@X")
    lines = own.told("07")
    assert lines[0] == "These tasks have numbers of your own, Anna@X, in the place of those in the text:"
    assert any(line.startswith("  07-sectors: `x` is an array of float32") for line in lines)
    with pytest.raises(notebook.CheckFailed):
        notebook.predict("07-sectors", **right(task))  # the book's answers are not hers
    mine = KEY.task(task, "anna@x")
    notebook.predict("07-sectors", **right(mine))
    capsys.readouterr()
    notebook.another("07-sectors")
    assert ALL["07-sectors"].text(KEY.drawn("07-sectors", "anna@x", 1)) in capsys.readouterr().out
    with pytest.raises(notebook.CheckFailed):
        notebook.predict("07-sectors", **right(mine))
    notebook.predict("07-sectors", **right(KEY.task(task, "anna@x", 1)))
    notebook.another("07-sectors")
    assert "these are the last numbers" in capsys.readouterr().out


def test_tasks_without_numbers_of_ones_own_stay(in_class):
    notebook.me("anna@x")
    task = definition.find("08-order")
    assert own.of_student(task) is task
    assert own.told("06b") == []


# The grader's side ----------------------------------------------------------------------------------------------------


def test_the_grader_knows_a_student_by_every_name_of_the_roster(tmp_path):
    (tmp_path / own.NUMBERS).write_text(own.Numbers.from_secret("a secret", 2).text())
    roster = ({"student": "ant", "email": "Anna@X", "id": "4711"}, {"student": "ben", "email": "ben@x"})
    added = gather.Added.read(tmp_path, roster)
    anna = Submission("ant", "07_vector_add", None)
    assert added.persons(anna) == ["ant", "anna@x", "4711"]
    task = definition.find("07-sectors")
    tasks = added.draws(anna)(task, "anna@x")
    assert [right(t) for t in tasks[:2]] == [right(KEY.task(task, "anna@x", attempt)) for attempt in (0, 1)]
    assert len(tasks) == 6
    # who says to be somebody else is not
    assert right(added.draws(anna)(task, "ben@x")[0]) == right(KEY.task(task, "ant"))
    assert added.draws(anna)(definition.find("08-order"), "") == [definition.find("08-order")]
    assert added.decides(anna) != added.decides(Submission("ben", "07_vector_add", None))
    assert gather.Added().draws(anna) is None


def test_a_release_carries_the_key_and_the_grader_the_same(tmp_path, monkeypatch):
    packed = {}
    monkeypatch.setattr(
        release, "release", lambda root, out, address, numbers: packed.update(numbers=numbers) or ["x.whl"]
    )
    monkeypatch.setattr(release.build, "build", lambda root, write: [])
    root = release.Path(__file__).parents[2]
    release.main(["--root", str(root), "--own-numbers", "--tries", "3", "--grades", str(tmp_path)])
    assert own.Numbers.read(tmp_path / own.NUMBERS) == packed["numbers"]
    assert packed["numbers"] == own.Numbers.from_secret((tmp_path / "seed.txt").read_text().strip(), 3)
