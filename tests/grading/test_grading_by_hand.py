"""What the instructor adds: points and comments by hand, late days, totals; who is who."""

import csv
import json
import random
from datetime import datetime, timedelta

import hostile
import pytest

from coursework.grading import gather, reports, results
from coursework.grading.extras import late, overrides
from coursework.grading.grade import empty_result
from coursework.grading.intake import people
from coursework.grading.intake.roster import BadSubmissions
from coursework.grading.intake.submissions import Submission

pytestmark = pytest.mark.quick

EXERCISE, OTHER = "07_vector_add", "08_matmul"
DUE = datetime.fromisoformat("2026-11-20T23:59:00+01:00")


def result_of(student, exercise=EXERCISE, right=True, status="graded"):
    """As a run of the grader leaves it: all points, or none."""
    result = empty_result(student, exercise, status)
    for task in result["tasks"] if right else ():
        task |= {"points": task["max_points"], "status": "right", "text": "all right"}
    return result | {"points": sum(t["points"] for t in result["tasks"]), "key": student}


@pytest.fixture
def graded(tmp_path):
    """A folder with results, and what writes the reports of it again."""

    def write(students=("anna", "ben"), **files):
        folder = tmp_path / "grades"
        submissions = []
        for number, student in enumerate(students):
            path = tmp_path / "in" / student / f"{EXERCISE}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}")
            submissions.append(Submission(student, EXERCISE, path))
            results.save(results.path_of(folder, submissions[-1]), result_of(student, right=number == 0))
        for name, text in files.items():
            (folder / f"{name}.{'toml' if name == 'policy' else 'csv'}").write_text(text)
        times = folder / "times.csv"
        added = gather.Added.read(folder, times_path=times if times.exists() else None)
        said = reports.write_all(folder, submissions, {EXERCISE: hostile.MASTER}, added)
        with open(folder / "grades.csv", encoding="utf-8") as file:
            rows = {row["student"]: row for row in csv.DictReader(file)}
        return folder, rows, said

    return write


# overrides ------------------------------------------------------------------------------------------------------------


def test_points_and_comments_by_hand_survive_another_run(graded):
    text = (
        overrides.HEADER
        + "ben,07,07-add,results,2,an index out by one\nanna,07_vector_add,,,9.5,agreed\nben,07,,,,well done\n"
    )
    for _ in range(2):
        folder, rows, said = graded(overrides=text)
        assert (folder / "overrides.csv").read_text() == text
        assert (rows["ben"]["points"], rows["ben"]["final"], rows["ben"]["comment"]) == (
            "2",
            "2",
            "well done; 07-add: an index out by one",
        )
        assert (rows["anna"]["points"], rows["anna"]["final"]) == (str(hostile.MOST), "9.5")
        assert "2 with points given by hand (overrides.csv)." in said
    page = (folder / "feedback" / "ben.html").read_text()
    assert "By hand: 2 in the place of 0." in page
    assert "an index out by one" in page
    assert "well done" in page
    assert "The points were set by hand: 9.5." in (folder / "feedback" / "anna.md").read_text().replace("\\.", ".")
    with open(folder / "totals.csv") as file:
        assert [(r["student"], r[EXERCISE], r["total"], r["of"]) for r in csv.DictReader(file)] == [
            ("anna", "9.5", "9.5", str(hostile.MOST)),
            ("ben", "2", "2", str(hostile.MOST)),
        ]


def test_a_first_run_leaves_a_file_to_write_into(graded):
    folder, _, _ = graded()
    assert overrides.read(folder / "overrides.csv") == ()
    assert (folder / "overrides.csv").read_text() == "student,exercise,task,part,points,comment\n"


def test_a_line_that_fits_nobody_is_told_and_the_others_count(graded):
    text = (
        overrides.HEADER
        + "bem,07,07-add,,1,\nben,07,07-ad,,1,\nben,07,07-add,,99,\nben,07,,,999,\nben,07,07-launch,,1,\n"
    )
    _, rows, said = graded(overrides=text)
    told = [line for line in said if line.startswith("overrides.csv")]
    assert told[0] == "overrides.csv: line 2: there is no row for bem and 07 in this run. Did you mean ben?"
    assert "line 3: 07_vector_add has no 07-ad. There are: 07-zip results, 07-launch results" in told[1]
    assert "line 4: 99 points for 07-add, which has 3: not taken" in told[2]
    assert f"line 5: 999 points for 07_vector_add, which has {hostile.MOST}: not taken" in told[3]
    assert rows["ben"]["points"] == "1"


def test_of_two_lines_for_one_task_the_later_counts_and_the_grader_s_points_stay_known(graded):
    lines = f"anna,07,07-add,,2,once\nanna,7,07-add,{hostile.TASKS['07-add'].part},1,again\n"
    folder, rows, said = graded(overrides=overrides.HEADER + lines)
    assert "overrides.csv: line 3: an earlier line has points for 07-add, too; those of this line count" in said
    assert rows["anna"]["comment"] == "07-add: once; again"
    (anna, _) = json.loads((folder / "grades.json").read_text(encoding="utf-8"))
    (task,) = (t for t in anna["tasks"] if t["task"] == "07-add" and "graded" in t)
    assert (task["graded"], task["points"]) == (hostile.ADD, 1)
    assert "by hand 07-add got less than it would now" in rows["anna"]["flags"]


@pytest.mark.parametrize("said", ["6b", "06b", "06b_debugging"])
def test_an_exercise_with_a_letter_is_known_by_its_number(tmp_path, said):
    row = {"student": "anna", "exercise": "06b_debugging", "flags": (), "max_points": 9, "tasks": []}
    (tmp_path / "overrides.csv").write_text(overrides.HEADER + f"anna,{said},,,4,\n")
    (tmp_path / "policy.toml").write_text(f"[due]\n{said} = 2026-11-20T23:59:00")
    (row,), lost = overrides.apply([row], overrides.read(tmp_path / "overrides.csv"))
    assert (row["by_hand"], lost) == (4, [])
    assert list(late.read(tmp_path / "policy.toml").due) == ["06b"]


@pytest.mark.parametrize(("first", "second"), [("7", "07"), ("07", "07_vector_add")])
def test_two_lines_about_one_exercise_are_refused_however_it_is_written(tmp_path, first, second):
    path = tmp_path / "overrides.csv"
    path.write_text(overrides.HEADER + f"anna,{first},,,4,\nanna,{second},,,5,\n")
    with pytest.raises(BadSubmissions, match="the lines 2 and 3 are about the same"):
        overrides.read(path)


def test_points_by_hand_that_now_take_points_away_are_a_flag(graded):
    _, rows, _ = graded(overrides=overrides.HEADER + "anna,07,07-add,,1,\nben,07,07-add,,1,\n")
    assert "by hand 07-add got less than it would now" in rows["anna"]["flags"]
    assert rows["ben"]["flags"] == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name,points\nanna,1\n", "lacks the columns student, exercise"),
        ("student,exercise,grade\nanna,07,1\n", "has a column 'grade'"),
        (overrides.HEADER + "anna,07,,,much,\n", "line 2: the points are 'much'"),
        (overrides.HEADER + "anna,07,,,-1,\n", "line 2: the points are '-1'"),
        (overrides.HEADER + "anna,07,,,nan,\n", "line 2: the points are 'nan'"),
        (overrides.HEADER + "anna,07,,,,\n", "line 2: neither points nor a comment"),
        (overrides.HEADER + ",07,,,1,\n", "line 2: a student and an exercise are needed"),
        (overrides.HEADER + "anna,07,,,1,\nben,07,,,2,\nanna,07,,,3,\n", "the lines 2 and 4 are about the same"),
    ],
)
def test_a_line_that_cannot_be_meant_stops_the_run(tmp_path, text, says):
    (tmp_path / "overrides.csv").write_text(text)
    with pytest.raises(BadSubmissions, match=says):
        overrides.read(tmp_path / "overrides.csv")


def test_what_a_spreadsheet_makes_of_it_is_read(tmp_path):
    (tmp_path / "o.csv").write_text(
        "\ufeffstudent;exercise;task;part;points;comment\n'=anna;07;;;2,5;ja\n;;;;;\n", encoding="utf-8"
    )
    (one,) = overrides.read(tmp_path / "o.csv")
    assert (one.student, one.points, one.comment) == ("=anna", 2.5, "ja")


# late work ------------------------------------------------------------------------------------------------------------


def policy(tmp_path, text):
    (tmp_path / "policy.toml").write_text(text)
    return late.read(tmp_path / "policy.toml")


def charged(policy, hours, points=20, most=20):
    """(days late, free, lost, final) of one row handed in so many hours after DUE."""
    when = (DUE + timedelta(hours=hours)).isoformat()
    row = {
        "student": "anna",
        "exercise": EXERCISE,
        "points": points,
        "max_points": most,
        "by_hand": None,
        "submitted": when,
    }
    (row,) = late.charge(policy, [row], {"anna": {EXERCISE: datetime.fromisoformat(when)}})
    said = row["late"]
    return said.get("days", 0), said.get("free", 0), said.get("lost", 0), row["final"]


@pytest.mark.parametrize(
    ("more", "hours", "expected"),
    [
        ("", -1, (0, 0, 0, 20)),
        ("", 1, (1, 0, 2, 18)),
        ("", 24, (1, 0, 2, 18)),
        ("", 24.1, (2, 0, 4, 16)),
        ("grace_minutes = 30\n", 0.5, (0, 0, 0, 20)),
        ("grace_minutes = 30\n", 0.6, (1, 0, 2, 18)),
        ("free_days = 1\n", 30, (2, 1, 2, 18)),
        ("free_days = 5\n", 30, (2, 2, 0, 20)),
        ("last_day = 2\n", 60, (3, 0, 20, 0)),
        ("last_day = 2\nfree_days = 9\n", 60, (3, 0, 20, 0)),
        ("", 24 * 20, (20, 0, 20, 0)),
    ],
)
def test_a_policy_counts_days_begun(tmp_path, more, hours, expected):
    said = policy(tmp_path, f"penalty = 10\n{more}[due]\n07 = 2026-11-20T23:59:00+01:00\n")
    assert charged(said, hours) == expected


def test_the_penalty_is_of_what_was_earned_or_of_all_there_is(tmp_path):
    text = "penalty = 10\n{}[due]\n07 = 2026-11-20T23:59:00+01:00\n"
    assert charged(policy(tmp_path, text.format("")), 1, points=7, most=20)[2:] == (0.7, 6.3)
    assert charged(policy(tmp_path, text.format('of = "most"\n')), 1, points=7, most=20)[2:] == (2, 5)
    assert charged(policy(tmp_path, text.format('of = "most"\n')), 1, points=1, most=20)[2:] == (1, 0)


def test_an_extension_moves_the_due_time_and_a_zone_gives_it_a_meaning(tmp_path):
    said = policy(
        tmp_path, 'penalty = 10\nzone = "Europe/Berlin"\n[due]\n07 = 2026-11-20T23:59:00\n[extensions."anna"]\n07 = 2\n'
    )
    assert said.due["07"] == DUE
    assert charged(said, 47)[0] == 0
    assert charged(said, 49)[0] == 1


def test_free_days_are_taken_in_the_order_of_the_due_dates_whatever_is_graded_now(tmp_path):
    said = policy(
        tmp_path, "penalty = 10\nfree_days = 2\n[due]\n08 = 2026-11-27T12:00:00Z\n07 = 2026-11-20T12:00:00Z\n"
    )
    rows = [
        {"student": "anna", "exercise": e, "points": 10, "max_points": 10, "by_hand": None, "submitted": when}
        for e, when in ((OTHER, "2026-11-29T11:00:00+00:00"), (EXERCISE, "2026-11-21T11:00:00+00:00"))
    ]
    for graded in (rows, rows[::-1]):
        times = {}
        for row in graded:  # one exercise after the other, as the weeks go
            times = late.remember(tmp_path, [row])
        costs = {
            r["exercise"]: (r["late"]["days"], r["late"]["free"], r["final"]) for r in late.charge(said, rows, times)
        }
        assert costs == {EXERCISE: (1, 1, 10), OTHER: (2, 1, 9)}
        (tmp_path / late.TIMES).unlink()


def test_points_by_hand_are_the_last_word(tmp_path):
    said = policy(tmp_path, "penalty = 50\n[due]\n07 = 2026-11-20T23:59:00+01:00\n")
    when = (DUE + timedelta(days=5)).isoformat()
    row = {"student": "anna", "exercise": EXERCISE, "points": 20, "max_points": 20, "by_hand": 15, "submitted": when}
    (row,) = late.charge(said, [row], {"anna": {EXERCISE: datetime.fromisoformat(when)}})
    assert row["final"] == 15


def test_no_penalty_is_ever_more_than_the_points(tmp_path):
    rng = random.Random(3)
    for _ in range(300):
        of = rng.choice(["earned", "most"])
        said = late.Policy(
            {"07": DUE}, {}, rng.uniform(0, 60), rng.randrange(4), rng.uniform(0, 100), rng.choice([3, 30]), of
        )
        points = rng.randrange(21)
        days, free, lost, final = charged(said, rng.uniform(-50, 300), points)
        assert 0 <= final <= points
        assert free <= days
        assert final == pytest.approx(points - lost, abs=0.011)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[due", "cannot be read"),
        ("penalti = 10", "'penalti' is not known"),
        ("penalty = 110", "penalty is 110; expected a number from 0 on, at most 100"),
        ("free_days = -1", "free_days is -1"),
        ('of = "all"', "of is 'all'"),
        ('zone = "Mars/Base"', "no time zone 'Mars/Base'"),
        ("[due]\n07 = 2026-11-20", r"\[due\]: 07 is datetime.date"),
        ("[feedback]\n07 = 2026-11-20", r"\[feedback\]: 07 is datetime.date"),
        ("regrade_days = 7", r"regrade_days count from a date in \[feedback\]"),
        ("[due]\nseven = 2026-11-20T12:00:00", "'seven' is no exercise"),
        ("[extensions]\nanna = 3", "the extension of anna should be like 07 = 3"),
    ],
)
def test_a_policy_that_is_not_understood_stops_the_run(tmp_path, text, says):
    (tmp_path / "policy.toml").write_text(text)
    with pytest.raises(BadSubmissions, match=says):
        late.read(tmp_path / "policy.toml")


def test_times_come_from_a_table_and_show_in_all_reports(graded):
    due = "penalty = 10\n[due]\n07 = 2026-11-20T23:59:00+00:00\n"
    when = (
        "student,exercise,submitted\nAnna,07,2026-11-22T10:00:00+00:00\nben,08,2026-11-29T10:00:00+00:00\n"
        "zoe,07,2026-11-22T10:00\n"
    )
    folder, rows, said = graded(policy=due, times=when)
    lost = 0.2 * hostile.MOST
    assert (rows["anna"]["late_days"], float(rows["anna"]["final"])) == ("2", round(hostile.MOST - lost, 2))
    assert "times: zoe is nobody of this class" in said
    assert f"Handed in 2 days late: {lost:g} points less." in (folder / "feedback" / "anna.html").read_text()
    row = next(r for r in json.loads((folder / "grades.json").read_text()) if r["student"] == "anna")
    assert row["late"]["due"] == "2026-11-20T23:59:00+00:00"


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026/11/28 3:45:12 PM GMT+2", "13:45:12"),
        ("2026/11/28 3:45:12 PM GMT", "15:45:12"),
        ("2026/11/28 3:45:12 AM GMT-10", "13:45:12"),
        ("2026/11/28 3:45:12 PM GMT+5:30", "10:15:12"),
        ("2026-11-28T15:45:12+02:00", "13:45:12"),
    ],
)
def test_a_time_is_read_as_a_form_writes_it(text, utc):
    assert late.moment("form.csv", text) == datetime.fromisoformat(f"2026-11-28T{utc}+00:00")


def test_moodles_worksheet_says_when_work_was_handed_in(tmp_path):
    (tmp_path / "w.csv").write_text(
        'Identifier,Full name,Email address,Last modified (submission)\nParticipant 12,Anna Ant,a@x,"Friday, 20 '
        'November 2026, 10:15 PM"\n'
        "Participant 13,Ben Bee,b@x,-\n"
    )
    ((cells, exercise, when),) = late.read_times(tmp_path / "w.csv")
    assert (cells["Full name"], exercise, when.replace(tzinfo=None)) == ("Anna Ant", "", datetime(2026, 11, 20, 22, 15))
    assert ("moodle", "12") in people.line_of(cells).known
    (tmp_path / "w.csv").write_text("student,submitted\nanna,yesterday\n")
    with pytest.raises(BadSubmissions, match="'yesterday' is no time"):
        late.read_times(tmp_path / "w.csv")


# regrade requests -----------------------------------------------------------------------------------------------------

ASKED = "submitted,student,exercise,task,reason\n"
WINDOW = "regrade_days = 7\n[feedback]\n07 = 2026-11-27T08:00:00+00:00\n"


def asked(folder):
    """student -> [(task, state), ...] of a class that asked."""
    rows = json.loads((folder / "grades.json").read_text())
    return {row["student"]: [(r["task"], r["state"]) for r in row["requests"]] for row in rows if row["requests"]}


def test_a_request_is_listed_beside_the_feedback_and_answered_by_hand(graded):
    text = ASKED + ',ben,07,07-add,"the last <b>block</b>\nis right"\n,anna,07,,I was ill.\n'
    for _ in range(2):
        folder, _, said = graded(requests=text)
        assert f"Regrade requests: 2 open: {folder / 'requests.html'}" in said
        assert asked(folder) == {"anna": [("", "open")], "ben": [("07-add", "open")]}
    page = (folder / "requests.html").read_text()
    assert "<pre>the last &lt;b&gt;block&lt;/b&gt;\nis right</pre>" in page
    assert "<code>ben,07,07-add,,,regrade: </code>" in page
    assert page.count("<h3>07-add, results: 0 of 3") == 1  # ben's
    assert page.count("<h3>07-add, results: 3 of 3") == 1  # among all of anna's
    mine = (folder / "feedback" / "ben.html").read_text()
    assert "is right. It is not answered yet." in mine
    answers = overrides.HEADER + 'ben,07,07-add,,2,"regrade: so it is, but for n = 0"\nanna,07,,,,Regrade: stands\n'
    for _ in range(2):
        folder, rows, said = graded(requests=text, overrides=answers)
        assert f"Regrade requests: 2 answered: {folder / 'requests.html'}" in said
        assert (rows["ben"]["final"], rows["ben"]["comment"]) == ("2", "07-add: regrade: so it is, but for n = 0")
        assert (folder / "requests.csv").read_text() == text
    mine = (folder / "feedback" / "ben.html").read_text()
    assert "By hand: 2 in the place of 0." in mine
    assert "You asked for a regrade: the last &lt;b&gt;block&lt;/b&gt;\nis right.</p>" in mine
    assert "regrade: so it is, but for n = 0" in mine
    assert "You asked for a regrade: I was ill." in (folder / "feedback" / "anna.md").read_text().replace("\\", "")
    (folder / "requests.csv").unlink()
    graded()
    assert not (folder / "requests.html").exists()


def test_a_comment_is_an_answer_only_if_it_says_so_and_is_taken(graded):
    lines = "ben,07,07-add,,,see me about regrade: guards\nben,07,07-launch,,99,regrade: all of it\n"
    ask = ASKED + ",ben,07,07-add,why\n,ben,07,07-launch,why\n"
    folder, _, said = graded(requests=ask, overrides=overrides.HEADER + lines)
    assert asked(folder) == {"ben": [("07-add", "open"), ("07-launch", "open")]}
    assert any("99 points for 07-launch, which has" in line for line in said)


def test_what_is_no_request_of_this_class_is_told_and_the_others_count(graded):
    lines = ",zoe,07,07-add,why\n,ben,07,07-ad,why\n,ben,07,07-add,\n,ben,,,why\n,ben,8,08-naive,why\n"
    lines += ",Ben,7 Vector add,7-add,one\n,ben,,07-add,two\n"
    folder, _, said = graded(requests=ASKED + lines)
    told = [line.removeprefix("regrade requests: ") for line in said if line.startswith("regrade requests")]
    assert told[0] == "requests.csv, line 2: zoe is nobody of this class"
    assert told[1].startswith("requests.csv, line 3: 07_vector_add has no task 07-ad. There are: 07-zip, 07-launch")
    assert told[2:] == [
        "requests.csv, line 4: ben gives no reason for 07-add",
        "requests.csv, line 5: there is no row for ben and an exercise that is not named",
        "requests.csv, line 8: ben asks again about 07-add; it is shown with the first one",
        "1 about exercises that this run leaves out",
    ]
    assert asked(folder) == {"ben": [("07-add", "open")]}
    assert "<pre>one\n\ntwo</pre>" in (folder / "requests.html").read_text()


def test_a_request_after_the_window_is_told_as_late_and_may_be_answered_all_the_same(graded):
    ask = ASKED + "2026-12-04T08:01:00+00:00,ben,07,07-add,late\n2026-12-04T07:59:00+00:00,ben,07,07-launch,in time\n"
    folder, _, said = graded(requests=ask + "some day,anna,07,07-add,when\n", policy=WINDOW)
    assert asked(folder) == {"anna": [("07-add", "open")], "ben": [("07-add", "too late"), ("07-launch", "open")]}
    mine = (folder / "feedback" / "ben.html").read_text()
    assert "late. It came after 2026-12-04 08:00+00:00, the end of the time for requests." in mine
    assert any("line 4: 'some day' is no time that is understood" in line and "in time" in line for line in said)
    page = (folder / "requests.html").read_text()
    assert page.index("ben, 07-launch: open") < page.index("ben, 07-add: too late")
    graded(requests=ask, policy=WINDOW, overrides=overrides.HEADER + "ben,07,07-add,,1,regrade: yes\n")
    assert asked(folder)["ben"][0] == ("07-add", "answered")


def test_requests_are_what_a_form_exports_and_a_folder_of_them(graded, tmp_path):
    (tmp_path / "grades" / "requests").mkdir(parents=True)
    form = "\ufeffTimestamp;Username;Exercise;Task;Reason;Anything else?\n2026-11-28T10:00;ben;07;07-add;why;no\n"
    (tmp_path / "grades" / "requests" / "form.csv").write_text(form, encoding="utf-8")
    (tmp_path / "grades" / "requests" / "anna.csv").write_text("student,exercise,task,reason\nanna,07,07-zip,why\n")
    folder, _, _ = graded(policy=WINDOW)
    assert asked(folder) == {"anna": [("07-zip", "open")], "ben": [("07-add", "open")]}


def test_a_table_that_holds_no_requests_stops_the_run(graded):
    with pytest.raises(BadSubmissions, match="lacks the columns task, reason"):
        graded(requests="student,exercise\nanna,07\n")


# who is who -----------------------------------------------------------------------------------------------------------


def persons(*described):
    return [people.person(student, who) for student, who in described]


def test_an_identifier_comes_before_a_name():
    ours = persons(("Anna Ant", {"email": ["anna1@x"]}), ("Ant, Anna", {"email": ["anna2@x"]}))
    lines = [
        people.line_of({"Full name": "Anna Ant", "Email address": "ANNA2@x"}),
        people.line_of({"Full name": "Anna Ant", "Email address": "anna1@x"}),
    ]
    assert people.match(ours, lines) == ({0: "Ant, Anna", 1: "Anna Ant"}, [])


def test_two_of_one_name_are_left_alone():
    ours = persons(("Anna Ant", {}), ("Ant, Anna", {}))
    found, doubts = people.match(ours, [people.line_of({"Full name": "Anna Ant"})])
    assert (found, doubts) == ({}, ["Anna Ant could be Anna Ant or Ant, Anna: left alone"])
    twins = [people.line_of({"Full name": "Ben Bee", "ID number": n}) for n in ("7", "8")]
    found, doubts = people.match(persons(("Ben Bee", {})), twins)
    assert (found, doubts) == ({}, ["Ben Bee fits 2 lines: left alone"])
    found, doubts = people.match(persons(("Ben Bee", {"id": ["8"]})), twins)
    assert (found, doubts) == ({1: "Ben Bee"}, [])


def test_what_is_known_comes_from_the_roster_and_from_the_names_of_files(tmp_path):
    row = {
        "student": "anna",
        "E-mail": "a@x",
        "Student ID": "4711",
        "First name": "Anna",
        "Last name": "Ant",
        "note": "x",
    }
    path = tmp_path / "antanna_LATE_123_456_07_vector_add-1.ipynb"
    who = people.described("anna", row, path)
    assert who == {
        "email": ["a@x"], "id": ["4711"], "name": ["Anna Ant"], "canvas": ["123"], "canvas_file": [path.name],
    }  # fmt: skip
    moodle = people.described(
        "Anna Ant", None, tmp_path / "Anna Ant_1234_assignsubmission_file_" / "07_vector_add.ipynb"
    )
    assert moodle == {"moodle": ["1234"]}
    assert people.person("a@x", {}).known >= {("email", "a@x")}
    assert people.names("Zed, Zoë") == {"zedzoe", "zoezed"}


def test_an_exercise_that_nobody_handed_in_is_no_row_of_missing(tmp_path):
    path = tmp_path / "x"
    masters = {EXERCISE: "a", OTHER: "b"}
    handed_in = [Submission("anna", EXERCISE, path), Submission("ben", EXERCISE, None)]
    other = [Submission(student, OTHER, None) for student in ("anna", "ben")]
    assert gather.what_somebody_handed_in(handed_in + other, masters) == (handed_in, {EXERCISE: "a"})
    assert gather.what_somebody_handed_in(other, masters) == (other, masters)  # nothing at all: everybody is missing
