"""The syllabus of a course, checked against the book: `python -m coursework.syllabus docs/syllabus.toml --start
2027-03-01`.

Reads weeks, pages and tasks from a file that an instructor edits, and writes beside each other into --out:

    syllabus.md      weeks with their pages, tasks, minutes, points, dates
    syllabus.ics     the due dates, for a calendar
    syllabus.csv     an assignment a line: name, points, due date
    policy.toml      the due dates of notebooks as `make grade` reads them

Minutes of reading come from the pages, minutes and points from the tasks: neither is typed. What does not exist, or
stands twice, is told, all of it, and nothing is written.
"""

import argparse
import csv
import io
import re
import sys
import tomllib
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path

from . import definition, progress

ROOT = Path(__file__).resolve().parents[2]
WEEK = timedelta(days=7)
KNOWN = {"title", "start", "due", "time", "class_hours", "breaks", "holidays", "week"}
OF_A_WEEK = {"title", "pages", "tasks", "in_class"}
TIME = re.compile(r"\*\*Time:\*\* (\d+)\s+minutes")


class SyllabusError(ValueError):
    """The file says what the book does not have."""


@dataclass(frozen=True)
class Page:
    name: str
    title: str
    minutes: int


@dataclass(frozen=True)
class Week:
    number: int
    monday: date
    due: datetime
    title: str
    in_class: str
    pages: tuple
    tasks: tuple

    @property
    def reading(self):
        return sum(page.minutes for page in self.pages)

    @property
    def work(self):
        return sum(task.minutes for task in self.tasks)

    @property
    def points(self):
        return sum(map(points, self.tasks))


def points(task):
    """Of all graded parts of a task."""
    return sum(worth for _, worth in progress.parts(task))


# ---- reading and checking --------------------------------------------------------------------------------------------


def weeks(text, start=None, root=ROOT):
    """The weeks of a syllabus; SyllabusError with all that is wrong with it."""
    try:
        plan = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SyllabusError(f"It is no TOML: {error}.") from None
    wrong = [f"{name!r} is not known here; known are {', '.join(sorted(KNOWN))}." for name in plan.keys() - KNOWN]
    wrong += dates_wrong(plan, start)
    rows, seen = plan.get("week", []), {}
    if not rows:
        wrong.append("It has no [[week]].")
    found = []
    for number, row in enumerate(rows, 1):
        where = f"Week {number}"
        wrong += [
            f"{where}: {name!r} is not known; known are {', '.join(sorted(OF_A_WEEK))}."
            for name in row.keys() - OF_A_WEEK
        ]
        wrong += [f"{where} has no {name}." for name in ("title", "pages", "tasks") if name not in row]
        pages = [entry for name in row.get("pages", ()) for entry in page(root, name, where, wrong)]
        tasks = [entry for name in row.get("tasks", ()) for entry in tasks_of(name, where, wrong)]
        for what in (*(entry.name for entry in pages), *(task.id for task in tasks)):
            if what in seen:
                wrong.append(f"{where}: {what} stands in week {seen[what]}, too.")
            seen.setdefault(what, number)
        found.append((number, row, tuple(pages), tuple(tasks)))
    if wrong:
        raise SyllabusError("\n".join(wrong))
    mondays = dated(start or plan["start"], len(rows), plan.get("breaks", ()))
    return [
        Week(number, monday, due(monday, plan), row["title"], row.get("in_class", ""), pages, tasks)
        for monday, (number, row, pages, tasks) in zip(mondays, found, strict=True)
    ]


def dates_wrong(plan, start):
    first_day = start or plan.get("start")
    if type(first_day) is not date:
        yield f"start is {first_day!r}; expected a date, as 2027-03-01."
    elif first_day.weekday():
        yield f"start is {first_day}, a {first_day:%A}; expected a Monday."
    for name in ("breaks", "holidays"):
        if any(type(day) is not date for day in plan.get(name, ())):
            yield f"{name} is {plan[name]!r}; expected dates, as [2027-03-29]."
    if type(plan.get("due", 0)) is not int or plan.get("due", 0) < 0:
        yield f"due is {plan['due']!r}; expected a number of days."
    if type(plan.get("time", time())) is not time:
        yield f"time is {plan['time']!r}; expected a time, as 23:59:00."


def page(root, name, where, wrong):
    """The page, in a list; none where the book's table of contents has none."""
    path = root / "chapters" / f"{name}.md"
    listed = f"chapters/{name}\n" in (root / "_toc.yml").read_text(encoding="utf-8")
    if not path.is_file() or not listed:
        wrong.append(f"{where}: the book has no page {name!r}.")
        return []
    text = path.read_text(encoding="utf-8")
    said, title = TIME.search(text), re.search(r"^# (.+)$", text, re.MULTILINE)
    return [Page(name, title[1], int(said[1]) if said else 0)]


def tasks_of(name, where, wrong):
    """The task, or all tasks of a chapter."""
    try:
        return definition.of_chapter(name) if name in definition.chapters() else [definition.find(name)]
    except ValueError:
        wrong.append(f"{where}: there is no task {name!r}.")
        return []


def dated(start, number, breaks):
    """The Mondays of so many weeks, without the weeks in which a day of `breaks` lies."""
    off = {day - timedelta(days=day.weekday()) for day in breaks}
    found, monday = [], start
    while len(found) < number:
        if monday not in off:
            found.append(monday)
        monday += WEEK
    return found


def due(monday, plan):
    """When a week's tasks are due: on no holiday."""
    day = monday + timedelta(days=plan.get("due", 7))
    while day in plan.get("holidays", ()):
        day += timedelta(days=1)
    return datetime.combine(day, plan.get("time", time(23, 59)))


# ---- writing ---------------------------------------------------------------------------------------------------------


def hours(minutes):
    return f"{minutes / 60:.1f}"


def markdown(found, plan, prefix="../chapters/"):
    """The syllabus to hand out."""
    total = sum(week.work for week in found), sum(week.reading for week in found), sum(week.points for week in found)
    lines = [
        f"# {plan['title']}",
        "",
        f"{len(found)} weeks from {found[0].monday} on, {plan['class_hours']} hours a week in class. Reading takes "
        f"{hours(total[1])} hours in all, tasks {hours(total[0])} hours; they are worth {total[2]} points.",
        "",
        "| week | from | topic | reading, h | tasks, h | points | due |",
        "|---|---|---|---|---|---|---|",
    ]
    for week in found:
        cells = (
            week.number,
            week.monday,
            week.title,
            hours(week.reading),
            hours(week.work),
            week.points,
            f"{week.due:%a %Y-%m-%d %H:%M}",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    for week in found:
        read = ", ".join(f"[{entry.title}]({prefix}{entry.name}.md)" for entry in week.pages)
        tasks = ", ".join(f"{task.id} ({points(task)})" for task in week.tasks)
        lines += ["", f"## Week {week.number}: {week.title}", "", f"Read: {read}.", "", f"Tasks (points): {tasks}."]
        lines += ["", f"In class: {week.in_class}"] if week.in_class else []
    return "\n".join(lines) + "\n"


def calendar(found, plan):
    """iCalendar (RFC 5545): the due dates, in local time."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//coursework//syllabus//EN"]
    for week in found:
        names = ", ".join(task.id for task in week.tasks)
        lines += [
            "BEGIN:VEVENT",
            f"UID:week-{week.number}-{week.monday:%Y%m%d}@coursework",
            f"DTSTAMP:{found[0].monday:%Y%m%d}T000000Z",
            f"DTSTART:{week.due:%Y%m%dT%H%M%S}",
            f"SUMMARY:{escaped(f'Due: week {week.number}, {week.title}')}",
            f"DESCRIPTION:{escaped(f'{week.points} points: {names}')}",
            "END:VEVENT",
        ]
    lines.append("END:VCALENDAR")
    return "".join(f"{part}\r\n" for line in lines for part in cut(line))


def escaped(text):
    return re.sub(r"([\\;,])", r"\\\1", text)


def cut(line, width=74):
    """A line in pieces of 75 octets, which a blank continues; our texts are ASCII, and others are cut earlier."""
    pieces, piece = [], ""
    for letter in line:
        if len((piece + letter).encode()) > width:
            pieces.append(piece)
            piece = " "
        piece += letter
    return [*pieces, piece]


def table(found, plan):
    """An assignment a line. Canvas and Moodle import grades, not assignments: this is for typing, or their API."""
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n").writerow
    write(["week", "assignment", "points", "available from", "due", "minutes of tasks", "minutes of reading", "tasks"])
    for week in found:
        names = " ".join(task.id for task in week.tasks)
        row = (
            week.number,
            week.title,
            week.points,
            week.monday,
            week.due.isoformat(timespec="minutes"),
            week.work,
            week.reading,
        )
        write([*row, names])
    return text.getvalue()


def policy(found, plan):
    """The last due date of each notebook, for grades/policy.toml."""
    last = {}
    for week in found:
        for task in week.tasks:
            last[task.chapter] = max(week.due, last.get(task.chapter, week.due))
    rows = (f"{chapter} = {when.isoformat()}" for chapter, when in sorted(last.items()))
    return "\n".join(["[due]", *rows]) + "\n"


WRITTEN = {"syllabus.md": markdown, "syllabus.ics": calendar, "syllabus.csv": table, "policy.toml": policy}


def main(arguments=None):
    options = argparse.ArgumentParser(description="Check a syllabus against the book, and write it out.")
    options.add_argument("file", type=Path, nargs="?", default=ROOT / "docs" / "syllabus.toml")
    options.add_argument("--start", type=date.fromisoformat, help="the Monday of the first week")
    options.add_argument("--out", type=Path, default=ROOT / "build" / "syllabus")
    options = options.parse_args(arguments)
    text = options.file.read_text(encoding="utf-8")
    try:
        found = weeks(text, options.start)
    except SyllabusError as error:
        print(error, file=sys.stderr)
        return 1
    plan = {"title": "Syllabus", "class_hours": 0} | tomllib.loads(text)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, write in WRITTEN.items():
        (options.out / name).write_text(write(found, plan), encoding="utf-8", newline="")
    minutes = sum(week.work + week.reading for week in found)
    print(
        f"{len(found)} weeks, {sum(week.points for week in found)} points, {hours(minutes)} hours of reading and tasks."
    )
    print(f"Written: {', '.join(WRITTEN)} in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
