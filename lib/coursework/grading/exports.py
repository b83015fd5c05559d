"""Grades for other systems, from a folder of results:

    python -m coursework.grading.exports grades/ --canvas export.csv > canvas.csv
    python -m coursework.grading.exports grades/ --moodle worksheet.csv > moodle.csv
    python -m coursework.grading.exports grades/ --moodle > moodle.csv
    python -m coursework.grading.exports grades/ --classroom classroom/

Canvas wants its own exported file back, with a column filled; a new column would make a new assignment. Moodle takes
its grading worksheet back, or any CSV whose columns you map at the import. GitHub Classroom takes one JSON for each
student.
"""

import argparse
import base64
import csv
import io
import json
import re
import sys
import unicodedata
from pathlib import Path

from .. import definition
from .reports import safe_cell
from .results import safe_name


class ExportError(ValueError):
    """An export cannot be made. The message says what was missing."""


def load(out):
    """The rows of grades.json in the folder `out`."""
    try:
        return json.loads((Path(out) / "grades.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ExportError(f"{out} has no grades.json that can be read ({error}). Grade first.") from None


def _key(name):
    """A name without spaces, accents, commas and case, as Canvas writes it into file names."""
    plain = unicodedata.normalize("NFKD", str(name))
    return "".join(c for c in plain.casefold() if c.isalnum())


def _index(rows):
    """Normalised student -> {exercise: row}; two students that become equal are left out and reported."""
    index, originals = {}, {}
    for row in rows:
        key = _key(row["student"])
        if originals.setdefault(key, row["student"]) != row["student"]:
            raise ExportError(
                f"{row['student']!r} and {originals[key]!r} cannot be told apart without accents and spaces."
            )
        index.setdefault(key, {})[row["exercise"]] = row
    return index


def _find(index, *names):
    for name in names:
        if name and _key(name) in index:
            return index.pop(_key(name))
    return None


def _read_csv(path):
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ExportError(f"{path} cannot be read: {error}") from None
    rows = list(csv.reader(io.StringIO(text)))
    if not rows:
        raise ExportError(f"{path} is empty.")
    return rows


def _to_csv(rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def canvas(rows, exported, columns=None):
    """(text, students not found) of Canvas's exported gradebook with the columns of our exercises filled.

    `columns`: exercise -> header; by default the header that contains the exercise's name, or its number as a word.
    """
    table, index = _read_csv(exported), _index(rows)
    header = table[0]
    if "Student" not in header:
        raise ExportError(f"{exported} has no column Student. Export the gradebook from Canvas and give that file.")
    place = {}
    for exercise in sorted({r["exercise"] for r in rows}):
        wish = (columns or {}).get(exercise)
        fits = [h for h in header if h == wish] if wish else [h for h in header if _names(h, exercise)]
        if len(fits) != 1:
            raise ExportError(
                f"{len(fits)} columns fit {exercise}: {', '.join(fits) or 'none'}. Say which with --column "
                f"'{exercise}=HEADER'. There are: {', '.join(header)}."
            )
        place[exercise] = header.index(fits[0])
    who = [header.index(h) for h in ("SIS Login ID", "SIS User ID", "ID", "Student") if h in header]
    for line in table[1:]:
        if not line or line[header.index("Student")].strip().startswith("Points Possible"):
            continue
        results = _find(index, *[line[i] for i in who if i < len(line)])
        for exercise, row in (results or {}).items():
            line[place[exercise]] = str(row["points"])
    return _to_csv(table), sorted(next(iter(m.values()))["student"] for m in index.values())


def _names(header, exercise):
    number = definition.chapter_of(exercise).lstrip("0")
    return (
        exercise in header
        or exercise.replace("_", " ") in header.lower()
        or bool(re.search(rf"\b0?{number}\b(?![^(]*\))", header))
    )


def moodle(rows, worksheet=None, exercise=None):
    """(text, students not found): Moodle's grading worksheet filled, or a CSV to map at the import."""
    if worksheet is None:
        exercises = sorted({r["exercise"] for r in rows})
        table = [["student", *exercises]]
        table += [
            [safe_cell(mine[next(iter(mine))]["student"]), *[mine[e]["points"] if e in mine else "" for e in exercises]]
            for mine in _index(rows).values()
        ]
        return _to_csv(table), []
    exercises = sorted({r["exercise"] for r in rows})
    exercise = exercise or (exercises[0] if len(exercises) == 1 else None)
    if exercise not in exercises:
        raise ExportError(f"A worksheet belongs to one exercise; say which with --exercise: {', '.join(exercises)}.")
    table = _read_csv(worksheet)
    header, index = table[0], _index([r for r in rows if r["exercise"] == exercise])
    missing = [h for h in ("Full name", "Grade") if h not in header]
    if missing:
        raise ExportError(
            f"{worksheet} lacks the columns {', '.join(missing)}. It should be Moodle's grading worksheet."
        )
    who = [header.index(h) for h in ("Email address", "ID number", "Full name", "Username") if h in header]
    for line in table[1:]:
        results = _find(index, *[line[i] for i in who if i < len(line)])
        if results:
            line[header.index("Grade")] = str(results[exercise]["points"])
            if "Feedback comments" in header:
                line[header.index("Feedback comments")] = "; ".join(t["headline"] for t in results[exercise]["tasks"])
    return _to_csv(table), sorted(m[exercise]["student"] for m in index.values())


def classroom(rows):
    """Student -> the text that GitHub Classroom's grading reporter reads: base64 of JSON, one test for each part."""
    texts = {}
    for student in sorted({r["student"] for r in rows}):
        mine = [r for r in rows if r["student"] == student]
        tests = [
            {
                "name": f"{task['task']} {task['part']}",
                "status": "pass" if task["points"] == task["max_points"] else "fail",
                "score": task["points"],
                "message": task["text"],
                "test_code": "",
                "filename": f"{row['exercise']}.ipynb",
                "line_no": 0,
            }
            for row in mine
            for task in row["tasks"]
        ]
        right = all(test["status"] == "pass" for test in tests)
        report = {
            "version": 1,
            "status": "pass" if right else "fail",
            "max_score": sum(r["max_points"] for r in mine),
            "tests": tests,
        }
        texts[student] = base64.b64encode(json.dumps(report).encode()).decode()
    return texts


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m coursework.grading.exports", description=__doc__.splitlines()[0])
    parser.add_argument("out", help="the folder --grade-out of the grader")
    parser.add_argument("--canvas", metavar="CSV", help="gradebook exported from Canvas, to be filled")
    parser.add_argument("--moodle", metavar="CSV", nargs="?", const="", help="Moodle's grading worksheet, or nothing")
    parser.add_argument("--classroom", metavar="DIR", help="folder for one file for each student")
    parser.add_argument("--column", action="append", default=[], metavar="EXERCISE=HEADER", help="Canvas's column")
    parser.add_argument("--exercise", help="the exercise of a Moodle worksheet")
    options = parser.parse_args(argv)
    if sum(x is not None for x in (options.canvas, options.moodle, options.classroom)) != 1:
        parser.error("give exactly one of --canvas, --moodle and --classroom")
    try:
        rows = load(options.out)
        if options.classroom:
            folder = Path(options.classroom)
            folder.mkdir(parents=True, exist_ok=True)
            for student, text in classroom(rows).items():
                (folder / f"{safe_name(student)}.txt").write_text(text, encoding="ascii")
            return
        if options.canvas is not None:
            text, lost = canvas(rows, options.canvas, dict(c.split("=", 1) for c in options.column))
        else:
            text, lost = moodle(rows, options.moodle or None, options.exercise)
    except ExportError as error:
        sys.exit(f"Not exported. {error}")
    sys.stdout.write(text)
    for student in lost:
        print(f"not in that file: {student}", file=sys.stderr)


if __name__ == "__main__":
    main()
