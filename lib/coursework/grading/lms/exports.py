"""Grades for other systems, from a folder of results:

    python -m coursework.grading.lms.exports grades/ --canvas exported.csv
    python -m coursework.grading.lms.exports grades/ --moodle worksheet.csv --exercise 07
    python -m coursework.grading.lms.exports grades/ --gradescope --exercise 07
    python -m coursework.grading.lms.exports grades/ --classroom50 scores.json --exercise 07 --assignment SLUG
    python -m coursework.grading.lms.exports grades/ --table

Canvas, Moodle and Classroom 50 want the file back that was exported from them; a grade that somebody entered there
stays. The file goes to grades/export/ (or where --to says), who was left out to the terminal. Grades are written at any
time; what was checked, and comments, only from the date in policy.toml on ([feedback]), or with --now. Exit status: 0,
all are in it; 1, it was written, and somebody with a grade is not in it; 2, nothing was written.
"""

import argparse
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from ... import definition
from ..extras import late
from ..intake import people
from ..intake.roster import BadSubmissions
from ..reports import open_grade, safe_cell
from . import classroom50, gradescope
from .tables import ExportError, Merge, Table, ledger_of, load, number, remember

_CALLED = {"canvas": "Canvas", "moodle": "Moodle", "classroom50": "Classroom 50"}


def by_student(rows):
    """student -> {exercise: row}"""
    index = {}
    for row in rows:
        index.setdefault(row["student"], {})[row["exercise"]] = row
    return index


def persons_of(rows):
    return [
        people.person(s, next(iter(by_exercise.values())).get("who", {})) for s, by_exercise in by_student(rows).items()
    ]


def missed(rows, found):
    """Who has a grade, and no line in the file."""
    there = set(found.values())
    return sorted({row["student"] for row in rows if row["student"] not in there and not open_grade(row)})


def canvas(rows, path, merge, columns=None):
    """(text, who is missing, doubts): Canvas's exported gradebook with the columns of our exercises filled.

    `columns`: exercise -> header; by default the header that contains the exercise's name, or its number as a word.
    """
    table, index = Table.read(path), by_student(rows)
    header = table.rows[0]
    if "Student" not in header:
        raise ExportError(f"{path} has no column Student. Export the gradebook from Canvas and give that file.")
    column_of = _columns_of(rows, header, columns or {})
    possible = next((r for r in table.rows[1:] if r and r[0].strip().startswith("Points Possible")), [])
    most = {e: _points(possible[p]) if p < len(possible) else None for e, p in column_of.items()}
    lines = {i: r for i, r in enumerate(table.rows) if i and r and _is_student(table.cells(r))}
    found, doubts = people.match(persons_of(rows), [_canvas_person(table.cells(row)) for row in lines.values()])
    for position, student in found.items():
        line = list(lines.values())[position]
        for exercise in column_of.keys() & index[student].keys():
            line[column_of[exercise]] = merge.put(index[student][exercise], line[column_of[exercise]], most[exercise])
    return table.text(), missed([r for r in rows if r["exercise"] in column_of], found), doubts


def _is_student(cells):
    return bool(cells["Student"].strip()) and not cells["Student"].strip().startswith("Points Possible")


def _canvas_person(cells):
    """Canvas's ID is its own number; the SIS columns are those of the university."""
    login, sis = cells.get("SIS Login ID", ""), cells.get("SIS User ID", "")
    pairs = people.known(canvas=cells.get("ID", ""), id=sis, login=login)
    return people.Person(cells["Student"].strip(), frozenset(pairs), frozenset(people.names(cells["Student"])))


def _points(text):
    value = number(text)
    return None if value != value else value


def _columns_of(rows, header, columns):
    """exercise -> place of its column. What nobody handed in may have none."""
    column_of, open_ = {}, []
    for exercise in sorted({r["exercise"] for r in rows}):
        wish = columns.get(exercise) or columns.get(definition.chapter_of(exercise))
        fits = [h for h in header if h == wish] if wish else [h for h in header if _names(h, exercise)]
        numbered = [h for h in fits if re.search(r"\(\d+\)$", h.strip())]  # an assignment's; not "07 Current Score"
        fits = numbered or fits
        if len(fits) == 1:
            column_of[exercise] = header.index(fits[0])
        elif fits or wish or any(r["exercise"] == exercise and not open_grade(r) for r in rows):
            open_.append(f"{len(fits)} columns fit {exercise}: {', '.join(fits) or 'none'}.")
    if open_:
        raise ExportError(
            f"{' '.join(open_)} Say which with --column 'EXERCISE=HEADER', or choose with --exercise. "
            f"There are: {', '.join(header)}."
        )
    return column_of


def _names(header, exercise):
    number = definition.chapter_of(exercise).lstrip("0")
    return (
        exercise in header
        or exercise.replace("_", " ") in header.lower()
        or bool(re.search(rf"\b0?{number}\b(?![^(]*\))", header))
    )


def moodle(rows, path, merge, column="Grade", released=True):
    """(text, who is missing, doubts): Moodle's grading worksheet with the grades of one exercise; comments where there
    are none, if feedback is `released`."""
    exercises = sorted({r["exercise"] for r in rows})
    if len(exercises) != 1:
        raise ExportError(f"A worksheet belongs to one exercise; say which with --exercise: {', '.join(exercises)}.")
    table, index = Table.read(path), by_student(rows)
    header = table.rows[0]
    if lacks := [h for h in ("Identifier", column) if h not in header]:
        raise ExportError(
            f"{path} lacks the columns {', '.join(lacks)}. It should be Moodle's grading worksheet; where Moodle "
            "speaks another language, set it to English for the download and the upload, or name the column: --column "
            "'HEADER'."
        )
    lines = [r for r in table.rows[1:] if r]
    found, doubts = people.match(persons_of(rows), [people.line_of(table.cells(r)) for r in lines])
    grade, comments = header.index(column), header.index("Feedback comments") if "Feedback comments" in header else None
    for position, student in found.items():
        line, row = lines[position], index[student][exercises[0]]
        most = _points(table.cells(line).get("Maximum Grade", table.cells(line).get("Maximum grade", "")))
        line[grade] = merge.put(row, line[grade], most)
        if released and comments is not None and not line[comments].strip() and merge.is_ours(row, line[grade]):
            line[comments] = "; ".join(_said(row))
    return table.text(), missed(rows, found), doubts


def _said(row):
    from ..for_students import about_points, about_task

    return [*about_points(row), *(f"{t['task']}: {said}" for t in row["tasks"] for said in about_task(t))]


def table(rows):
    """A CSV to map at an import: who, and the points that count; an empty cell where there is no grade."""
    exercises = sorted({r["exercise"] for r in rows})
    lines = [["student", "email", "id", "login", *exercises]]
    for student, own_rows in by_student(rows).items():
        who = next(iter(own_rows.values())).get("who", {})
        known = [(who.get(kind) or [""])[0] for kind in ("email", "id", "login")]
        points = ["" if e not in own_rows or open_grade(own_rows[e]) else own_rows[e]["final"] for e in exercises]
        lines.append([safe_cell(cell) for cell in (student, *known, *points)])
    return Table(lines).text()


def main(argv=None, clock=None):
    options = _options(argv)
    try:
        rows = [
            r
            for r in load(options.out)
            if not options.exercise
            or definition.chapter_of(r["exercise"]) in options.exercise
            or r["exercise"] in options.exercise
        ]
        if not rows:
            raise ExportError(
                f"{options.out} has no rows of the exercise {' or '.join(options.exercise or ['wanted'])}."
            )
        system = next(
            name for name in ("canvas", "moodle", "gradescope", "classroom50", "table") if getattr(options, name)
        )
        merge = Merge(_CALLED.get(system, system), ledger_of(options.out, system), options.zero, options.scale)
        columns = dict(c.split("=", 1) if "=" in c else ("", c) for c in options.column)
        held = {} if options.now else late.held(options.out, rows, clock or datetime.now(UTC))
        lost, doubts = [], []
        if system == "canvas":
            data, lost, doubts = canvas(rows, options.canvas, merge, columns)
        elif system == "moodle":
            data, lost, doubts = moodle(rows, options.moodle, merge, columns.get("", "Grade"), not held)
        elif system == "classroom50":
            data, lost, doubts = classroom50.merged(rows, options.classroom50, options.assignment, merge)
        else:
            if held and system == "gradescope":
                raise ExportError(_held(held))
            data = table(rows) if system == "table" else gradescope.autograder(rows)
    except (ExportError, BadSubmissions) as error:
        print(f"Not exported. {error}", file=sys.stderr)
        sys.exit(2)
    ending = {"gradescope": "zip", "classroom50": "json"}.get(system, "csv")
    to = Path(options.to or Path(options.out) / "export" / f"{system}.{ending}")
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
    if system in ("canvas", "moodle", "classroom50"):
        remember(options.out, system, merge.ledger)
        print("\n".join(merge.told()))
    print(f"Written: {to}")
    if held and system == "moodle":
        print(f"Without comments. {_held(held)}")
    others = {r["student"] for r in rows if _of_another_system(r.get("who", {}), system)} & set(lost)
    lost = [student for student in lost if student not in others]
    if others:
        print(f"{len(others)} handed in by another system, and are not in that file.")
    for sentence in (*(f"not in that file: {student}" for student in lost), *doubts):
        print(sentence, file=sys.stderr)
    sys.exit(1 if lost or doubts else 0)


def _held(held):
    said = "; ".join(
        f"feedback of {exercise} is released {late.shown(when)}" for exercise, when in sorted(held.items())
    )
    return f"{said[0].upper()}{said[1:]}. ARGS=--now hands it back before."


def _of_another_system(who, system):
    """Whether somebody belongs to another system: the roster's column `system` says so, or the name of the file handed
    in."""
    if said := who.get("system"):
        return people.key(said[0]) != people.key(system)
    return not who.get(system) and any(who.get(other_system) for other_system in people.NUMBERED)


def _options(argv):
    parser = argparse.ArgumentParser(
        prog="python -m coursework.grading.lms.exports", description=__doc__.splitlines()[0]
    )
    parser.add_argument("out", help="the folder --grade-out of the grader")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--canvas", metavar="CSV", help="gradebook exported from Canvas, to be filled")
    which.add_argument("--moodle", metavar="CSV", help="Moodle's grading worksheet, to be filled")
    which.add_argument(
        "--gradescope", action="store_true", help="an autograder for Gradescope that hands out these results"
    )
    which.add_argument("--classroom50", metavar="JSON", help="scores.json of the classroom, to be filled")
    which.add_argument("--table", action="store_true", help="a CSV whose columns you map at the import")
    parser.add_argument("--exercise", action="append", metavar="07", help="this exercise only (may be repeated)")
    parser.add_argument(
        "--column", action="append", default=[], metavar="EXERCISE=HEADER", help="the column of an exercise"
    )
    parser.add_argument("--assignment", help="Classroom 50: the assignment's short name")
    parser.add_argument("--zero", action="store_true", help="0 points for who handed in nothing that can be read")
    parser.add_argument("--scale", action="store_true", help="convert to the points that the other system gives")
    parser.add_argument("--now", action="store_true", help="also comments and checks that policy.toml releases later")
    parser.add_argument("--to", metavar="FILE", help="where to write (default: export/ in the folder of results)")
    options = parser.parse_args(argv)
    options.exercise = [definition.padded(e) for e in options.exercise or []]
    return options


if __name__ == "__main__":
    main()
