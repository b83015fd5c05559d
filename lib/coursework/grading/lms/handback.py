"""Feedback as a zip that goes back where the submissions came from:

    python -m coursework.grading.lms.handback grades/ --moodle worksheet.csv --exercise 07
    python -m coursework.grading.lms.handback grades/ --canvas --exercise 07
    python -m coursework.grading.lms.handback grades/

Moodle ("Upload multiple feedback files in a zip") goes by the participant's number, from its grading worksheet or from
the names of the folders that it gave. Canvas ("Upload Submissions") goes by the name of the file that it gave, so that
only those get theirs whose files were graded under that name. Without either: a zip with a page for each student.

Feedback of an exercise whose date in policy.toml ([feedback]) has not come is left out; --now hands it back all the
same.

Exit status: 0, all are in it; 1, it was written, and somebody is not in it; 2, nothing was written.
"""

import argparse
import re
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from ... import definition
from ..extras import late
from ..for_students import feedback_html
from ..intake import people
from ..intake.roster import BadSubmissions
from ..reports import open_grade
from ..results import safe_name
from .exports import by_student, persons_of
from .tables import ExportError, Table, load

_DATE = (2000, 1, 1, 0, 0, 0)


def moodle_names(rows, worksheet=None):
    """student -> name in Moodle's zip, and doubts: Full name_1234_assignfeedback_file/feedback.html"""
    numbers = {s: (next(iter(m.values())).get("who", {}).get("moodle") or [""])[0] for s, m in by_student(rows).items()}
    names, doubts = dict.fromkeys(numbers, ""), []
    if worksheet:
        table = Table.read(worksheet)
        lines = [table.cells(r) for r in table.rows[1:] if r]
        if "Identifier" not in table.rows[0]:
            raise ExportError(f"{worksheet} has no column Identifier. It should be Moodle's grading worksheet.")
        found, doubts = people.match(persons_of(rows), [people.line_of(cells) for cells in lines])
        for index, student in found.items():
            numbers[student] = re.sub(r"\D", "", lines[index]["Identifier"])
            names[student] = lines[index].get("Full name", "")
    folder = {
        s: re.sub(r"[_/\\]+", " ", names[s] or s).strip() for s in numbers
    }  # Moodle splits the name at its first `_`
    return {s: f"{folder[s]}_{n}_assignfeedback_file" for s, n in numbers.items() if n}, doubts


def canvas_names(rows):
    """student -> the name under which Canvas gave the file, without its ending."""
    files = {s: next(iter(m.values())).get("who", {}).get("canvas_file") for s, m in by_student(rows).items()}
    return {student: Path(named[0]).stem for student, named in files.items() if named}


def pages(rows):
    """student -> page of feedback, for those who have something to read."""
    return {
        student: feedback_html(student, list(by_exercise.values()))
        for student, by_exercise in by_student(rows).items()
        if not all(open_grade(row) and row["status"] in ("missing", "not graded") for row in by_exercise.values())
    }


def write(path, files):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, text in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            pack.writestr(entry, text.encode("utf-8", "replace"))


def main(argv=None, clock=None):
    parser = argparse.ArgumentParser(
        prog="python -m coursework.grading.lms.handback", description=__doc__.splitlines()[0]
    )
    parser.add_argument("out", help="the folder --grade-out of the grader")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--moodle", metavar="CSV", nargs="?", const="", help="a zip for Moodle; its grading worksheet")
    which.add_argument("--canvas", action="store_true", help="a zip for Canvas")
    parser.add_argument("--exercise", metavar="07", help="this exercise only")
    parser.add_argument("--now", action="store_true", help="also what policy.toml releases later")
    parser.add_argument("--to", metavar="FILE", help="where to write (default: export/ in the folder of results)")
    options = parser.parse_args(argv)
    wanted = options.exercise and definition.padded(options.exercise)
    try:
        rows = [
            r
            for r in load(options.out)
            if not wanted or wanted in (r["exercise"], definition.chapter_of(r["exercise"]))
        ]
        held = {} if options.now else late.held(options.out, rows, clock or datetime.now(UTC))
        for exercise, when in sorted(held.items()):
            print(
                f"{exercise} is left out: its feedback is released {late.shown(when)}. ARGS=--now hands it back before."
            )
        rows = [r for r in rows if r["exercise"] not in held]
        if held and not rows:
            raise ExportError("There is no feedback to hand back yet.")
        exercises = sorted({r["exercise"] for r in rows})
        system = "canvas" if options.canvas else "moodle" if options.moodle is not None else "plain"
        if system != "plain" and len(exercises) != 1:
            raise ExportError(f"A zip belongs to one assignment; say which with --exercise: {', '.join(exercises)}.")
        shown, doubts = pages(rows), []
        if system == "moodle":
            names, doubts = moodle_names(rows, options.moodle)
            names = {student: f"{name}/feedback_{exercises[0]}.html" for student, name in names.items()}
        elif system == "canvas":
            names = {student: f"{name}_feedback.html" for student, name in canvas_names(rows).items()}
        else:
            names = {student: f"{safe_name(student)}.html" for student in shown}
    except (ExportError, BadSubmissions) as error:
        print(f"Not written. {error}", file=sys.stderr)
        sys.exit(2)
    files = {names[student]: page for student, page in shown.items() if student in names}
    to = Path(options.to or Path(options.out) / "export" / f"feedback-{system}.zip")
    write(to, files)
    print(f"{len(files)} of {len(shown)} pages. Written: {to}")
    lost = sorted(shown.keys() - names.keys())
    for sentence in (*(f"not in the zip: {student}" for student in lost), *doubts):
        print(sentence, file=sys.stderr)
    sys.exit(1 if lost or doubts else 0)


if __name__ == "__main__":
    main()
