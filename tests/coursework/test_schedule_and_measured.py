"""Be the scheduler, loops on the roofline, second parts: what a student sees, and what the grader does with the
same."""

import re
from pathlib import Path

import masters
import nbformat
import numpy as np
import pytest
from numba import njit

from coursework import build, checking, counted, definition, feedback, notebook, progress
from coursework.answer import AnswerFailed, Local
from coursework.grading import grade, plugin, sandbox
from coursework.kinds.measured import MeasuredTask
from coursework.kinds.schedule import RoundTask, ScheduleTask
from coursework.outcome import Failed

pytestmark = pytest.mark.rotates

ROOT = Path(__file__).resolve().parents[2]
SCHEDULES = [task for task in definition.everything() if isinstance(task, ScheduleTask)]
LOSING = "ABBBBABAAAAB"


@pytest.fixture(autouse=True)
def own_progress(tmp_path, monkeypatch):
    monkeypatch.setenv("DLKERNELS_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setattr(notebook, "OUTCOMES", [])


def outcome(task_id, answer, **options):
    return checking.check(definition.find(task_id), Local(answer, **options))


# be the scheduler ----------------------------------------------------------------------------------------------------


@pytest.mark.quick
@pytest.mark.parametrize("task", SCHEDULES, ids=lambda task: task.id)
def test_the_statement_shows_the_program_that_is_played(task):
    statement = masters.cells(task.chapter)[f"{task.id}-task"]
    assert f"```python\n{task.program.text.rstrip()}\n```" in statement
    assert f"*{task.points} points, about {task.minutes} minutes." in statement


@pytest.mark.quick
@pytest.mark.parametrize("task", SCHEDULES, ids=lambda task: task.id)
def test_the_best_is_found_and_no_hint_gives_it_away(task):
    most, steps, _, complete = task.most
    assert complete
    assert worth(task, steps) == most
    for text in (masters.cells(task.chapter)[f"{task.id}-task"], *task.hints):
        for word in re.findall(r"\b[ABC]{4,}\b", text):
            assert worth(task, word) < most
    assert all(reached < most for reached in task.slips)


@pytest.mark.quick
@pytest.mark.parametrize("task", [t for t in SCHEDULES if t.id != "02-hang"], ids=lambda task: task.id)
def test_no_plain_order_is_the_best(task):
    """Neither thread by thread nor in turns: something must be thought of. (To hang, threads only have to take
    turns.)"""
    names = list(task.program.threads)
    plain = [turns * n for turns in (names, names[::-1]) for n in (1, 2, 3, 4, 6, 8, 12, 20)]
    plain += [] if isinstance(task, RoundTask) else [[name] for name in names]  # a round ends where its steps do
    assert all(worth(task, steps) < task.most[0] for steps in plain)


def worth(task, steps):
    """The score of a schedule; below all others if it cannot be played, or comes to nothing that has one."""
    played = task.play(steps)
    try:
        return -1 if played.ending == "impossible" else task.came_to(played, {})[0]
    except Failed:
        return -1


@pytest.mark.quick
def test_green_shows_what_was_played_and_says_that_more_is_not_possible():
    text = feedback.as_text(outcome("02-lose", LOSING))
    assert f"Played: {LOSING} (12). 4 of 6 updates lost." in text
    assert re.search(r"More is not possible: the check played \d+ schedules", text)
    assert re.search(r"12  B +8  value = seen \+ 1  writes value: 2; ends", text)
    assert "<table" in feedback.as_html(outcome("02-lose", LOSING))


@pytest.mark.quick
def test_a_round_is_shown_and_what_is_missing_to_one():
    text = feedback.as_text(outcome("02-starve", "BAAABBBBBAAA"))
    assert "Played: BAAABBBBBAAA (12). Starvation: B gets in again and again, and A tries for ever." in text
    assert "The round is steps 5 to 12, BBBBBAAA: they lead back to where they began, for ever." in text
    assert re.search(r"More is not possible: the check followed every step from each of the \d+ states", text)
    long = dict(outcome("02-starve", "AB" * 100).failure.facts)
    assert long["the round"] == "is steps 3 to 200: they lead back to where they began, for ever"
    missing = outcome("02-starve", "BAB").failure
    assert missing.kind == "no-round"
    assert dict(missing.facts)["most alike"] == "the state after step 2, but B was at line 22, and is at line 24"
    ended = outcome("02-starve", "AAAA").failure
    assert (ended.kind, ended.headline) == ("no-round", "No state comes again")


@pytest.mark.quick
def test_a_barrier_is_told_as_one():
    told = outcome("08-hasty", "AAA")
    assert dict(told.failure.facts)["impossible"] == "step 3 is A, but A waits at the barrier"
    rows = [row[-1] for row in outcome("08-hasty", "ABABB").failure.picture["table"]]
    assert rows[2] == "comes to the barrier (1 of 2); waits at the barrier"
    assert rows[3:5] == ["comes to the barrier (2 of 2)", "reads tile[p]: 1"]


@pytest.mark.quick
@pytest.mark.parametrize("empty", [..., None, "", "  ", []])
def test_an_empty_answer_is_not_answered_yet(empty):
    told = outcome("02-lose", empty)
    assert told.status == checking.UNSOLVED
    assert "in the place of ..." in feedback.as_text(told)


# a second part -------------------------------------------------------------------------------------------------------


@pytest.mark.quick
def test_a_second_part_comes_after_its_first_in_the_same_chapter():
    parts = [task for task in definition.everything() if task.after]
    assert parts
    for task in parts:
        ids = [other.id for other in definition.of_chapter(task.chapter)]
        assert ids.index(task.after) < ids.index(task.id)


def test_a_second_part_opens_when_the_first_is_right(capsys, monkeypatch):
    with pytest.raises(notebook.NotSolvedYet, match="first solve 02-lose"):
        notebook.check("02-lock", "ABAB")
    assert progress.read() == {}  # that was no try
    assert "opens after 02-lose" in progress.table(progress.read())
    notebook.hint("02-lock")
    notebook.check("02-lose", LOSING)
    assert "opens after 02-lose" not in progress.table(progress.read())
    with pytest.raises(notebook.CheckFailed, match="more is possible"):
        notebook.check("02-lock", "ABAB")
    monkeypatch.setattr(notebook, "OUTCOMES", [])  # another notebook, another day
    with pytest.raises(notebook.CheckFailed, match="more is possible"):
        notebook.check("02-lock", "ABAB")
    capsys.readouterr()


def test_where_no_progress_is_kept_a_second_part_is_open(monkeypatch, capsys):
    monkeypatch.setenv("DLKERNELS_PROGRESS", "off")
    with pytest.raises(notebook.CheckFailed, match="more is possible"):
        notebook.check("02-lock", "ABAB")
    capsys.readouterr()


# counting ------------------------------------------------------------------------------------------------------------


@njit
def axpy(alpha, x, y):
    for i in range(x.size):
        y[i] = alpha * x[i] + y[i]


@njit
def rows(a, out):
    for i in range(a.shape[0]):
        total = np.float32(0)
        for j in range(a.shape[1]):
            total += a[i, j] * 2.0 - 1
        out[i] = total / len(out) if total > 0 else -total


HALF = 0.5


@njit
def doubled(s):
    s *= 2.0
    return s


@njit
def needless(x, y):
    one = np.float32(1) * np.float32(1)  # no flop, but a variable that never meets an array
    for i in range(x.size - 1 + 1):  # no flops: whole numbers
        one = one * 1.0 + HALF - HALF  # 3
        one = doubled(one) / 2  # 2
        y[i] = x[i] + i / 2  # 2
        y[i] += 2.0 * 3.0 - HALF  # 1: what is added is a number


@njit
def whole(x, y):
    y[:] = x


def test_flops_and_bytes_are_those_of_the_source():
    x = np.ones(10, np.float32)
    assert counted.of(axpy, (2.0, x, x))[0] == {"flops": 20, "moved": 80, "loads": 20, "stores": 10}
    a, out = np.ones((3, 4), np.float32), np.zeros(3)
    assert counted.of(rows, (a, out))[0] == {"flops": 3 * 4 * 3 + 3, "moved": 4 * 12 + 8 * 3, "loads": 12, "stores": 3}
    assert counted.of(needless, (x, x))[0] == {"flops": 8 * 10, "moved": 80, "loads": 20, "stores": 20}
    with pytest.raises(counted.NotCounted, match="one by one"):
        counted.of(whole, (x, x))
    assert x.tolist() == [1] * 10


@njit
def writes_a_file(x, c, out):
    for i in range(x.size):
        out[i] = c[0]
    np.save("stolen", x)


@njit
def reaches_out(x, c, out):
    out[0] = x[0].tally.flops


@njit
def fetched(x, k):
    return [2 * value for value in x][k]


@njit
def by_a_helper(x, c, out):
    out[0] = fetched(x, 0)


@pytest.mark.parametrize("answer", [writes_a_file, reaches_out, by_a_helper])
def test_a_counted_loop_may_name_nothing_that_leads_out(answer):
    with pytest.raises(AnswerFailed, match="cannot contain"):
        Local(answer).counts((np.ones(2), np.ones(2), np.ones(2)))


# a loop on the roofline ----------------------------------------------------------------------------------------------


@njit
def poly(x, c, out):
    for i in range(x.size):
        total = c[c.size - 1]
        for k in range(c.size - 2, -1, -1):
            total = total * x[i] + c[k]
        out[i] = total


RIGHT = {"flops": 24 * 2048, "moved": 4 * 4109, "intensity": 24 * 2048 / (4 * 4109), "roof": "memory"}


def test_the_measurement_is_shown_with_a_picture():
    told = outcome("04-roofline", poly, claims=RIGHT)
    text = feedback.as_text(told)
    assert re.search(
        r"your loop reaches \d+% of the roof over it.*(memory|arithmetic)('s roof is the lower one| binds)", text
    )
    assert "no points hang on it" in text
    assert told.picture["svg"].count("<circle") == 1
    assert "FLOP per byte" in told.picture["alt"]


def test_a_measurement_that_fails_costs_no_points(monkeypatch):
    monkeypatch.setattr(Local, "timed", lambda self, arguments: 1 / 0)
    told = outcome("04-roofline", poly, claims=RIGHT)
    assert told.points == 4
    assert "could not be measured here (ZeroDivisionError" in feedback.as_text(told)


@pytest.mark.quick
def test_claims_are_asked_for_by_name():
    with pytest.raises(
        ValueError, match="04-roofline asks for flops, moved, intensity, roof beside the answer; got flops"
    ):
        notebook.check("04-roofline", poly, flops=1)
    with pytest.raises(ValueError, match="02-lose asks for nothing beside the answer; got flops"):
        notebook.check("02-lose", LOSING, flops=1)


@pytest.mark.quick
def test_the_statement_names_the_card_and_the_case():
    for task in (t for t in definition.everything() if isinstance(t, MeasuredTask)):
        statement = masters.cells(task.chapter)[f"{task.id}-task"]
        for number in (task.card.peak / 1e9, task.card.bandwidth / 1e9):
            assert f"{number:g} G" in statement
        assert all(f"`{claim}`" in statement for claim in task.claims)


# in grading ----------------------------------------------------------------------------------------------------------

HOSTILE = {
    "02-lose": [
        'losing = "AB" * 10_000_000',
        "losing = [[[]]]",
        "losing = {'__array__': '../../etc/passwd'}",
        "losing = float('nan')",
        "class losing(str): pass\nlosing = losing('ABAB')",
        "losing = ...\nprint('touched')",
        "del losing",
        "import os\nlosing = os",
    ],
    "04-roofline-claims": [
        "flops = moved = intensity = 10**5000\nroof = 'memory'",
        "flops = float('nan')\nmoved = intensity = 1\nroof = 'memory'",
        "flops, moved, intensity, roof = [], {}, print, b'memory'",
        "flops = moved = intensity = ...\nroof = 'x' * 10**7",
        "class Always(float):\n    def __eq__(s, o): return True\n    def __rsub__(s, o): return 0\n"
        "flops = moved = intensity = Always(1)\nroof = 'memory'",
    ],
}


def graded(request, tmp_path, exercise, answers):
    """{task: (points, kind, text)} of a submission whose answer cells hold `answers`, by id."""
    master, path = ROOT / "solutions" / f"{exercise}.ipynb", tmp_path / f"{exercise}.ipynb"
    handed_in = build.read(ROOT / "exercises" / f"{exercise}.ipynb")
    for cell in handed_in.cells:
        cell.source = answers.get(cell.id, cell.source)
    nbformat.write(handed_in, path)
    collector = plugin.Notebook.from_parent(request.session, path=path)
    row = grade.grade("anna", exercise, path, master, "rlimit", sandbox.Limits(120, 1200), 1 << 33, collector)
    assert row["status"] == "graded"
    return {task["task"]: (task["points"], task["kind"], task["text"]) for task in row["tasks"]}


def answers_of(exercise, *ids):
    cells = masters.cells(exercise.split("_")[0])
    return {name: build.remove_region(cells[name], build.SOLUTION, lambda lines, indent: lines) for name in ids}


def some(values):
    """The first of them in every run, the others at night: each is graded in a sandbox of its own."""
    return [values[0], *(pytest.param(value, marks=pytest.mark.slow) for value in values[1:])]


@pytest.mark.parametrize("answer", some(HOSTILE["02-lose"]))
def test_hostile_schedules_cost_their_own_points_only(request, tmp_path, answer):
    """And the second part, 02-lock, is graded without the first."""
    rows = graded(request, tmp_path, "02_threads", {"02-lose": answer, **answers_of("02_threads", "02-lock")})
    points, kind, text = rows["02-lose"]
    assert points == 0
    assert kind in ("type", "too-many-steps", "unanswered", "not-reached"), text
    assert rows["02-lock"][0] == 2


@pytest.mark.parametrize("claims", some(HOSTILE["04-roofline-claims"]))
def test_hostile_claims_cost_their_own_points_only(request, tmp_path, claims):
    answers = answers_of("04_memory", "04-roofline", "04-pad") | {"04-roofline-claims": claims}
    rows = graded(request, tmp_path, "04_memory", answers)
    points, kind, text = rows["04-roofline"]
    assert points == 0
    assert kind in ("not-a-number", "not-a-roof", "unanswered", "flops"), text
    assert rows["04-pad"][0] == 5


def test_no_time_is_taken_in_grading(request, tmp_path):
    rows = graded(request, tmp_path, "04_memory", answers_of("04_memory", "04-roofline", "04-roofline-claims"))
    points, _, text = rows["04-roofline"]
    assert points == 4
    assert "Measured on this machine" not in text
    assert "and 2 more that are not shown" in text
