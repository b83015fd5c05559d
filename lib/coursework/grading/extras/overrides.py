"""Points and comments given by hand: a CSV that grading reads and never writes, so that it survives grading again.

    student,exercise,task,part,points,comment
    anna,07,07-add,results,2,an index out by one
    ben,07,,,15,agreed in the office hour

Without a task, the points are those of the whole exercise, and the last word: no penalty for lateness is taken from
them. Without points, the line is a comment only. Without a part, a task's first part is meant.
"""

import csv
import difflib
import math
from dataclasses import dataclass
from pathlib import Path

from ... import definition
from ..intake.roster import BadSubmissions
from ..results import whole

FILE = "overrides.csv"
COLUMNS = ("student", "exercise", "task", "part", "points", "comment")
HEADER = ",".join(COLUMNS) + "\n"


@dataclass(frozen=True)
class Override:
    student: str
    exercise: str
    task: str
    part: str
    points: float | None
    comment: str
    line: int  # in the file, for messages

    def is_about(self, row):
        same_exercise = row["exercise"] == self.exercise or definition.chapter_of(row["exercise"]) == self.exercise
        return same_exercise and row["student"] == self.student


def read(path):
    """The overrides in a file, () if there is none; BadSubmissions for a line that cannot be meant."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSubmissions(f"{path} cannot be read: {error}") from None
    header = text.partition("\n")[0]
    delimiter = max(",;\t", key=header.count)
    reader = csv.DictReader(text.splitlines(), delimiter=delimiter)
    names = [name.strip() for name in reader.fieldnames or ()]
    if missing := [name for name in COLUMNS[:2] if name not in names]:
        raise BadSubmissions(
            f"{path} lacks the columns {', '.join(missing)}. Its first line should be {HEADER.strip()}"
        )
    if strange := [name for name in names if name and name not in COLUMNS]:
        raise BadSubmissions(f"{path} has a column {strange[0]!r}; known are {', '.join(COLUMNS)}.")
    found = []
    for raw in reader:
        cells = {(k or "").strip(): v.strip() for k, v in raw.items() if isinstance(v, str)}
        if any(cells.values()):
            found.append(_override(cells, f"{path}, line {reader.line_num}", reader.line_num))
    seen = {}
    for override in found:
        about = (override.student, definition.chapter_of(override.exercise), override.task, override.part)
        if about in seen:
            raise BadSubmissions(
                f"{path}: the lines {seen[about]} and {override.line} are about the same. Keep one of them."
            )
        seen[about] = override.line
    return tuple(found)


def _override(cells, where, line):
    cell = {name: cells.get(name, "") for name in COLUMNS}
    cell["student"] = cell["student"][1:] if cell["student"][:2] in ("'=", "'+", "'-", "'@") else cell["student"]
    if not cell["student"] or not (cell["exercise"] or cell["task"]):
        raise BadSubmissions(f"{where}: a student and an exercise are needed.")
    if not cell["points"] and not cell["comment"]:
        raise BadSubmissions(f"{where}: neither points nor a comment.")
    try:
        points = float(cell["points"].replace(",", ".")) if cell["points"] else None
    except ValueError:
        points = math.nan
    if points is not None and not 0 <= points < math.inf:
        raise BadSubmissions(f"{where}: the points are {cell['points']!r}; expected a number from 0 on.")
    task = definition.padded(cell["task"])
    exercise = definition.padded(cell["exercise"] or definition.chapter_of(task))
    return Override(cell["student"], exercise, task, cell["part"], points, cell["comment"], line)


def apply(rows, overrides):
    """Rows with the points and comments of `overrides`; (rows, sentences about what does not fit any row).

    A task keeps what the grader gave as "graded". A row gets "by_hand", points or None, and "comments".
    """
    rows, lost = [row | {"by_hand": None, "comments": [], "tasks": [dict(t) for t in row["tasks"]]} for row in rows], []
    for override in overrides:
        row = next((r for r in rows if override.is_about(r)), None)
        if row is None:
            lost.append(_nobody(override, rows))
            continue
        if not override.task:
            lost += _whole(override, row)
            continue
        task = next((t for t in row["tasks"] if t["task"] == override.task and override.part in ("", t["part"])), None)
        if task is None:
            names = ", ".join(f"{t['task']} {t['part']}" for t in row["tasks"])
            said = f"{override.task} {override.part}".strip()
            lost.append(f"line {override.line}: {row['exercise']} has no {said}. There are: {names}")
        elif override.points is not None and override.points > task["max_points"]:
            lost.append(
                f"line {override.line}: {override.points:g} points for {override.task}, "
                f"which has {task['max_points']}: not taken"
            )
        else:
            if override.points is not None:
                twice = (
                    f"line {override.line}: an earlier line has points for {override.task}, too; "
                    "those of this line count"
                )
                lost += [twice] if "graded" in task else []
                task |= {"graded": task.get("graded", task["points"]), "points": whole(override.points)}
            task["comment"] = "; ".join(filter(None, (task.get("comment"), override.comment)))
    for row in rows:
        row["points"] = whole(sum(t["points"] for t in row["tasks"]))
        less = [t["task"] for t in row["tasks"] if t.get("graded", 0) > t["points"]]
        row["flags"] = [*row["flags"], *(f"by hand {task} got less than it would now" for task in less)]
    return rows, lost


def _whole(override, row):
    """Points or a comment for a whole exercise; sentences about what cannot be."""
    if override.points is not None and override.points > row["max_points"]:
        return [
            f"line {override.line}: {override.points:g} points for {row['exercise']}, "
            f"which has {row['max_points']}: not taken"
        ]
    row["by_hand"] = None if override.points is None else whole(override.points)
    row["comments"] += [override.comment] if override.comment else []
    return []


def _nobody(override, rows):
    students = sorted({row["student"] for row in rows})
    near = difflib.get_close_matches(override.student, students, 1)
    said = "" if override.student in students or not near else f" Did you mean {near[0]}?"
    return f"line {override.line}: there is no row for {override.student} and {override.exercise} in this run.{said}"
