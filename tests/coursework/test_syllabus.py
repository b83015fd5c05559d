"""The syllabus: sums of what the book says, dates that leave out breaks, and all that is wrong told at once."""

import csv
import io
import tomllib
from datetime import date, datetime

import pytest

from coursework import definition, progress, syllabus

pytestmark = pytest.mark.quick
OURS = (syllabus.ROOT / "docs" / "syllabus.toml").read_text(encoding="utf-8")
SMALL = """
title = "Two weeks"
start = 2027-03-01
due = 7
time = 12:00:00
class_hours = 2
breaks = [2027-03-10]
holidays = [2027-03-22, 2027-03-23]
[[week]]
title = "One; a, b"
pages = ["01_why_parallel"]
tasks = ["01-bus", "07"]
[[week]]
title = "Two"
pages = []
tasks = ["08-tiled"]
"""


def test_our_syllabus_holds():
    found = syllabus.weeks(OURS)
    assert len(found) == 12
    assert all(week.pages and week.tasks and week.in_class for week in found)


def test_points_and_minutes_are_those_of_the_tasks():
    one, two = syllabus.weeks(SMALL)
    tasks = [definition.find("01-bus"), *definition.of_chapter("07")]
    assert list(one.tasks) == tasks
    assert one.work == sum(task.minutes for task in tasks)
    assert one.points == sum(worth for task in tasks for _, worth in progress.parts(task))
    page = (syllabus.ROOT / "chapters" / "01_why_parallel.md").read_text(encoding="utf-8")
    assert one.reading == int(page.partition("**Time:** ")[2].split()[0]) > 0
    assert two.reading == 0


def test_weeks_with_a_break_are_left_out_and_nothing_is_due_on_holidays():
    one, two = syllabus.weeks(SMALL)
    assert (one.monday, two.monday) == (date(2027, 3, 1), date(2027, 3, 15))
    assert (one.due, two.due) == (datetime(2027, 3, 8, 12), datetime(2027, 3, 24, 12))
    moved = syllabus.weeks(SMALL, start=date(2027, 3, 8))
    assert moved[0].monday == date(2027, 3, 15)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"08-tiled"', '"08-tield"', "Week 2: there is no task '08-tield'"),
        ('"08-tiled"', '"07-add"', "Week 2: 07-add stands in week 1, too"),
        ('"01_why_parallel"', '"01_why"', "Week 1: the book has no page '01_why'"),
        ("2027-03-01", "2027-03-02", "a Tuesday; expected a Monday"),
        ('title = "Two"\n', "", "Week 2 has no title"),
        ("due = 7", "dew = 7", "'dew' is not known here"),
        ("due = 7", "due = [", "It is no TOML"),
        ("[2027-03-10]", '["2027-03-10"]', "breaks is ['2027-03-10']; expected dates"),
    ],
)
def test_what_is_wrong_is_told(old, new, says):
    with pytest.raises(syllabus.SyllabusError) as told:
        syllabus.weeks(SMALL.replace(old, new))
    assert says in str(told.value)


def test_all_that_is_wrong_is_told_at_once():
    with pytest.raises(syllabus.SyllabusError) as told:
        syllabus.weeks(SMALL.replace("08-tiled", "08-no").replace("01_why_parallel", "01_no"))
    assert len(str(told.value).splitlines()) == 2


def test_what_is_written(tmp_path, capsys):
    file = tmp_path / "small.toml"
    file.write_text(SMALL, encoding="utf-8")
    assert syllabus.main([str(file), "--out", str(tmp_path / "out"), "--start", "2027-03-15"]) == 0
    found = syllabus.weeks(SMALL, date(2027, 3, 15))
    out = {path.name: path.read_bytes().decode() for path in (tmp_path / "out").iterdir()}
    assert set(out) == set(syllabus.WRITTEN)
    rows = list(csv.DictReader(io.StringIO(out["syllabus.csv"])))
    assert [int(row["points"]) for row in rows] == [week.points for week in found]
    due = tomllib.loads(out["policy.toml"])["due"]
    assert due == {"01": found[0].due, "07": found[0].due, "08": found[1].due}
    assert f"{sum(week.points for week in found)} points" in out["syllabus.md"]
    assert "| 2 | 2027-03-22 | Two |" in out["syllabus.md"]
    calendar = out["syllabus.ics"]
    lines = calendar.split("\r\n")
    assert all(len(line.encode()) <= 75 for line in lines)
    assert lines[0] == "BEGIN:VCALENDAR"
    assert lines[-2] == "END:VCALENDAR"
    assert calendar.count("BEGIN:VEVENT") == 2
    assert f"DTSTART:{found[1].due:%Y%m%dT%H%M%S}" in calendar
    assert "SUMMARY:Due: week 1\\, One\\; a\\, b" in calendar


def test_nothing_is_written_where_something_is_wrong(tmp_path, capsys):
    file = tmp_path / "small.toml"
    file.write_text(SMALL.replace("08-tiled", "08-no"), encoding="utf-8")
    assert syllabus.main([str(file), "--out", str(tmp_path / "out")]) == 1
    assert "08-no" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
