"""Inputs on which a program fails: the specification decides, for every kind of program; what is not allowed is
refused."""

import inspect
import re
import threading
from fractions import Fraction
from pathlib import Path

import masters
import numpy as np
import pytest
from numba import njit, prange

from coursework import build, checking, definition, feedback
from coursework.answer import Local
from coursework.definition import Case, Slip, random_values, unwritten
from coursework.kinds.compiled import CompiledTask
from coursework.kinds.counterexample import CounterexampleTask, Flaw
from coursework.kinds.data import Choice, Numbers, Refused, Whole, in_words, outcome_of
from coursework.kinds.detective import DetectiveTask
from coursework.kinds.function import FunctionTask
from coursework.kinds.parallel import ParallelTask
from coursework.kinds.thread import ThreadTask

pytestmark = pytest.mark.rotates

ROOT = Path(__file__).resolve().parents[2]
TASKS = [task for task in definition.everything() if isinstance(task, CounterexampleTask)]
COMMON = {"title": "t", "objective": "Find it", "points": 3, "minutes": 5, "hints": ("a", "b", "c")}


FIRST_TRIED = {  # task -> flaw, or any other -> an input that comes to mind first
    "01-claims": {
        "ratio": {"peer": np.array([2.0, 3, 4]), "ours": np.array([1.0, 2, 3])},
        "workers": {"percent": 10, "wanted": 5},
        "clock": {"tick": 1, "cost": 30},
    },
    "02-fails": {
        "places": {"places": 6, "A": 2, "B": 2, "C": 2},
        "payments": {"source_1": 0, "target_1": 1, "source_2": 1, "target_2": 0},
    },
    "05-fails": {"linear": {"rows": 32, "columns": 32}, "": {"n": 512, "blocks": 8, "threads": 64}},
    "06-fails": {
        "halved": {"threads": 128, "blocks": 4},
        "crossed": {"rows": 48, "columns": 32},
        "copies": {"x": np.arange(8)},
    },
    "07-fails": {
        "third": {"n": 100, "blocks": 1, "threads": 128},
        "fourth": {"x": np.array([-3, -0.5, 0, 1, 4], np.float32)},
        "": {"n": 1000, "blocks": 8, "threads": 128},
    },
    "08-fails": {"": {"m": 64, "k": 64, "n": 64}},
    "09-fails": {
        "fourth": {"n": 33, "taps": 3, "padding": 1, "dilation": 1},
        "": {"n": 33, "taps": 3, "padding": 1, "dilation": 1, "stride": 1},
    },
    "10-fails": {
        "first": {"a": np.array([0.5, 0.9, 1, 0.25], np.float32)},
        "second": {"b": np.array([1, -2, 3, 4], np.float32)},
        "third": {"n": 64},
    },
    "11-fails": {
        "third": {"x": np.array([-1, 0, 2, 5], np.float32)},
        "fourth": {"queries": 16, "keys": 16},
        "": {"x": np.array([1, 2, 3, 0.5], np.float32)},
    },
}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_statement_shows_what_is_run(task):
    statement = masters.cells(task.chapter)[f"{task.id}-task"]
    for flaw in task.flaws:
        source = inspect.getsource(getattr(flaw.wrong, "py_func", flaw.wrong)).rstrip()
        assert f"\n{source}\n" in statement
        for field in flaw.fields.values():
            low, high = str(f"{field.low:g}"), str(f"{field.high:g}")
            assert f"{low} to {high}" in statement, "the limits of an input are told"


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_cell_asks_for_all_fields(task):
    scope = {}
    source = masters.cells(task.chapter)[task.id].split(build.SOLUTION[0])[0]
    exec(source, scope)
    (shipped,) = (value for name, value in scope.items() if not name.startswith("__"))
    assert shipped == {flaw.name: dict.fromkeys(flaw.fields, ...) for flaw in task.flaws}
    outcome = checking.check(task, Local(shipped))
    assert (outcome.status, outcome.failure.headline) == (checking.UNSOLVED, "Not answered yet")


def test_the_places_have_one_answer_and_the_payments_a_few():
    """Of all settings that are allowed, those that can hang are those that a count says."""
    places, payments = definition.find("02-fails").flaws
    for needs in ((3, 3, 3), (3, 3, 2), (3, 2, 3), (2, 3, 3)):
        for count in (6, 7):
            case = places.case(count, *needs)
            assert bool(outcome_of(places.judge, places.wrong, case, 1)) == (sum(needs) - 3 >= count)
            assert outcome_of(places.judge, places.right, case, 1) is None
    for a, b, c, d in ((0, 1, 1, 3), (0, 1, 3, 4), (2, 3, 0, 2), (5, 6, 3, 5), (1, 2, 2, 4)):
        first, second = ([x % 3 for x in sorted(pair)] for pair in ((a, b), (c, d)))
        wrong = outcome_of(payments.judge, payments.wrong, payments.case(a, b, c, d), 1)
        assert bool(wrong) == (first == second[::-1]), (a, b, c, d)
        assert wrong is None or wrong.kind == "deadlock"


@pytest.mark.parametrize("name", FIRST_TRIED)
def test_inputs_that_come_to_mind_first_do_not_refute(name):
    for flaw in definition.find(name).flaws:
        case = flaw.case(**FIRST_TRIED[name].get(flaw.name, FIRST_TRIED[name].get("")))
        assert outcome_of(flaw.judge, flaw.wrong, case, 1) is None
        assert outcome_of(flaw.judge, flaw.right, case, 1) is None


def test_sizes_with_equal_parts_do_not_refute():
    for flaw in definition.find("03-sizes").flaws:
        for n, parts in ((8, 2), (100, 4), (1000, 8), (1024, 16)):
            assert outcome_of(flaw.judge, flaw.wrong, flaw.case(n, parts), 1) is None, (flaw.name, n, parts)


def test_sizes_refute_compiled_loops_too():
    """03-sizes is judged without a compiler; the compiled loop of int8 counts as wrongly."""
    flaw = definition.find("03-sizes").flaws[1]
    x, parts, out = flaw.case(2000, 2).make(np.random.default_rng(0))
    flaw.wrong(x, parts, out)
    assert out[0] == np.int8(750 % 256 - 256) * 2
    flaw.right(x, parts, out)
    assert out[0] == 1500


def test_progress_is_told_and_the_first_that_agrees_is_shown():
    task = definition.find("07-fails")
    one = {"n": 1, "blocks": 2, "threads": 64}
    outcome = checking.check(task, Local({"first": one, "third": {"n": 1, "blocks": ..., "threads": 2}}))
    assert outcome.status == checking.UNSOLVED
    assert outcome.failure.headline == "Not finished yet"
    facts = dict(outcome.failure.facts)
    assert facts["missing"] == "second, third (blocks), fourth"
    assert facts["first"].startswith(
        "refuted. n = 1 in 2 blocks of 64: `a[i]`: thread 1 of block 0 uses index [1]"
    ) or ("block 0 uses index [1]" in facts["first"])
    assert "in the place of ..." in feedback.as_text(outcome)
    outcome = checking.check(task, Local({"first": one, "second": one}))
    assert (outcome.status, outcome.failure.kind) == (checking.WRONG, "agrees")
    assert dict(outcome.failure.facts)["refuted"] == "first"


def test_green_says_where_each_fails():
    task = definition.find("07-fails")
    scope = {}
    exec(masters.cells(task.chapter)["07-fails"], scope)
    outcome = checking.check(task, Local(scope["fails"]))
    text = feedback.as_text(outcome)
    assert "first fails. n = 64 in 3 blocks of 64: `a[i]`: thread 0 of block 1 uses index [64]" in text
    assert "second fails. n = 256 in 4 blocks of 64: element [128], which belongs to thread 0 of block 2" in text
    assert "thread 0 of block 1 stores out[0], thread 0 of block 0 stores it" in text
    assert "is nan; expected 100." in text
    assert "<svg" in feedback.as_html(outcome)
    assert ".." not in text.replace("...", "")


# every kind of program -----------------------------------------------------------------------------------------------


def middle(values):
    return sorted(values)[len(values) // 2]


def median(values):
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


def judge_median(arguments, result):
    expected = float(np.median(arguments[0]))
    return None if result == expected else Slip("wrong", str(expected), "?")


@njit
def scale_right(x, out):
    for i in range(x.size):
        out[i] = 2 * x[i]


@njit
def scale_by_fours(x, out):
    for i in range(0, x.size // 4 * 4):
        out[i] = 2 * x[i]


@njit(parallel=True)
def sum_right(x, out):
    for r in prange(x.shape[0]):
        out[r] = 0
        for j in range(x.shape[1]):
            out[r] += x[r, j]


@njit(parallel=True)
def sum_in_a_shared_place(x, out):
    for r in prange(x.shape[0]):
        out[r] = 0
        for j in range(x.shape[1]):
            out[r * r % x.shape[0]] += x[r, j]


def counter_without_lock():
    box = [0]

    def add():
        now = box[0]
        box[0] = now + 1

    return add, box


def counter_with_lock():

    box, lock = [0], threading.Lock()

    def add():
        with lock:
            box[0] += 1

    return add, box


def count(make, threads):

    add, box = make()
    workers = [threading.Thread(target=add) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return box[0]


def rows(n, m):
    return Case(f"{n} x {m}", lambda rng: (random_values(rng, n, m), unwritten(n)))


ARRAYS = {"spec": lambda x, out: 2.0 * x, "cases": (Case("c", lambda rng: (random_values(rng, 8), unwritten(8))),)}
FLAWS = {
    "function": (
        Flaw(
            name="f",
            judge=FunctionTask(id="99-j", **COMMON, judge=judge_median, cases=()),
            wrong=middle,
            right=median,
            fields={"values": Numbers(1, 9, -9, 9, np.float64)},
            case=lambda values: Case(f"{len(values)} values", lambda rng: (values.tolist(),)),
            lead="Which length?",
        ),
        {"values": [1, 2, 3]},
        {"values": [1, 2]},
    ),
    "compiled": (
        Flaw(
            name="f",
            judge=CompiledTask(id="99-j", **COMMON, **ARRAYS),
            wrong=scale_by_fours,
            right=scale_right,
            fields={"n": Whole(1, 64)},
            case=lambda n: Case(f"n = {n}", lambda rng: (random_values(rng, n), unwritten(n))),
            lead="Which size?",
        ),
        {"n": 64},
        {"n": 6},
    ),
    "parallel": (
        Flaw(
            name="f",
            judge=ParallelTask(
                id="99-j", **COMMON, spec=lambda x, out: x.astype(np.float64).sum(1), cases=(rows(2, 3),)
            ),
            wrong=sum_in_a_shared_place,
            right=sum_right,
            fields={"n": Whole(1, 8), "m": Whole(1, 8)},
            case=rows,
            lead="Which rows meet?",
        ),
        {"n": 2, "m": 5},
        {"n": 3, "m": 5},
    ),
    "thread": (
        Flaw(
            name="f",
            judge=ThreadTask(id="99-j", **COMMON, scenario=count, spec=lambda n: n, cases=(), schedules=20, stress=0),
            wrong=counter_without_lock,
            right=counter_with_lock,
            fields={"threads": Whole(1, 3)},
            case=lambda threads: Case(f"{threads} threads", lambda rng: (threads,)),
            lead="When can two meet?",
        ),
        {"threads": 1},
        {"threads": 2},
    ),
}


@pytest.mark.parametrize("name", FLAWS)
def test_a_flaw_of_every_kind_of_program(name):
    flaw, agrees, differs = FLAWS[name]
    task = CounterexampleTask(id="99-x", **COMMON, flaws=(flaw,))
    failure = checking.check(task, Local({"f": agrees})).failure
    assert (failure.kind, dict(failure.facts)["a lead"]) == ("agrees", flaw.lead), failure
    outcome = checking.check(task, Local({"f": differs}))
    assert outcome.status == checking.RIGHT, outcome.failure
    assert outcome.checked[0].startswith("f fails. ")
    assert outcome.points == 3


def test_an_input_on_which_the_right_program_fails_refutes_nothing():
    flaw, _, differs = FLAWS["function"]
    from dataclasses import replace

    task = CounterexampleTask(id="99-x", **COMMON, flaws=(replace(flaw, right=middle),))
    failure = checking.check(task, Local({"f": differs})).failure
    assert (failure.kind, failure.headline) == ("right-fails-too", "f: a right program fails here, too")
    assert "no program can be right" in failure.cause
    assert "expected 1.5" in dict(failure.facts)["the right one"]


# fields -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        (Whole(1, 9), 10, "^10$"),
        (Whole(1, 9), 1 << 70, "more than 64 bits"),
        (Whole(1, 9), 4.0, "with a point"),
        (Whole(1, 9), np.float32(4), "with a point"),
        (Whole(1, 9), np.bool_(True), "True or False"),
        (Whole(1, 9), float("inf"), "no number to compute with"),
        (Whole(1, 9), 4j, "a complex"),
        (Whole(1, 9), [4], "a list"),
        (Whole(1, 9), Fraction(4), "a Fraction; float"),
        (Whole(1, 9), {...: 1}.keys(), "a dict_keys"),
        (Numbers(1, 3, 0, 1), [0.5, ...], "an ellipsis"),
        (Numbers(1, 3, 0, 1), "abc", "which is text"),
        (Numbers(1, 3, 0, 1), {0: 1}, "which is a dict"),
        (Numbers(1, 3, 0, 1), [True], "at place 0: True"),
        (Numbers(1, 3, 0, 1), [0.5, 10**5000], "at place 1: a number of more than 64 bits"),
        (Numbers(1, 3, 0, 1), np.array(["1"]), "an array of <U1"),
        (Numbers(1, 3, 0, 1), np.array(0.5), r"of shape \(\)"),
        (Numbers(1, 3, 0, 1), np.array([None]), "an array of object"),
        (Numbers(1, 3, 0, 1), range(2), "which is a range"),
        (Choice(("race", "right")), "RACE", "^'RACE'; did you mean \"race\""),
        (Choice(("race", "right")), b"race", "a bytes"),
        (Choice(("race", "right")), "x" * 10**7, "^.{1,60}$"),
    ],
)
def test_what_a_field_does_not_take(field, value, says):
    with pytest.raises(Refused, match=says):
        field.read(value)


def test_what_a_field_takes():
    assert type(Whole(1, 9).read(np.int16(9))) is int
    read = Numbers(1, 3, -5, 1).read((np.float64(0.5), -5, 1))
    assert read.dtype == np.float32
    assert read.tolist() == [0.5, -5, 1]
    given = np.array([0.25])
    assert Numbers(1, 3, 0, 1).read(given) is not given, "a copy: the check must not write into the answer"
    assert Choice(("race",)).read("race") == "race"


def test_a_message_of_a_program_names_no_line_of_the_course():
    flaw, _, differs = FLAWS["compiled"]
    case = flaw.case(**differs)
    said = in_words((case, outcome_of(flaw.judge, flaw.wrong, case, 1)))
    assert (
        said == "n = 6: element [4], which belongs to thread 4 of block 0, was written by nobody; expected 1.23."
        or (said.startswith("n = 6: element [4] was written by nobody; expected "))
    )


@pytest.mark.quick
def test_what_is_found_in_the_courses_programs_names_no_line():
    """It would be a line of the course's own file, and another one with each change there."""
    seen = 0
    for path in build.masters(ROOT):
        for cell in build.read(path).cells:
            task = re.match(r"(\d\d-[a-z]+)-check$", cell.id)
            if task and type(definition.find(task[1])) in (CounterexampleTask, DetectiveTask):
                said = "".join(output.data["text/plain"] for output in cell.outputs)
                assert not re.search(r"\blines? \d", said), cell.id
                seen += "right" in said
    assert seen >= 20


def test_open_fields_are_gaps_and_misspelt_names_are_told():
    task = definition.find("07-fails")
    told = checking.check(task, Local({"fourth": {"x": [...]}}))
    assert told.status == checking.UNSOLVED
    told = checking.check(task, Local({"first": {"N": 100, "blocks": 4, "threads": 64}}))
    assert dict(told.failure.facts)["got"] == "'N'; did you mean \"n\"?"
