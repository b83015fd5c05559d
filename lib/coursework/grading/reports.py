"""What an instructor and a student get: grades.csv, totals.csv, grades.json, feedback for each student, an overview of
the class, answers that look alike side by side, and regrade requests."""

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path

from . import offered, results
from .for_students import PAGES, feedback_html, feedback_markdown
from .gather import Added, rows_of


def write_all(out, submissions, masters, added=None):
    """Write every report from the result files; returns lines for the terminal. `added`: gather.Added."""
    rows, pairs, said = rows_of(out, submissions, masters, added or Added())
    out.mkdir(parents=True, exist_ok=True)
    _write_csv(out / "grades.csv", [_line(row) for row in rows])
    shown = [{k: v for k, v in row.items() if k != "answers"} for row in rows]
    _write(out / "grades.json", json.dumps(shown, indent=1, ensure_ascii=False))
    by_student = defaultdict(list)
    for row in rows:
        by_student[row["student"]].append(row)
    _write_csv(out / "totals.csv", _totals(by_student))
    for student, student_rows in by_student.items():
        name = results.safe_name(student)
        _write(out / "feedback" / f"{name}.md", feedback_markdown(student, student_rows))
        _write(out / "feedback" / f"{name}.html", feedback_html(student, student_rows))
    _write(out / "overview.html", overview_html(rows, len(pairs)))
    if pairs:
        _write(out / "similarity.html", offered.similarity_page(pairs, rows))
    else:
        (out / "similarity.html").unlink(missing_ok=True)
    if offered.requests_told(rows):
        _write(out / "requests.html", offered.requests_page(rows))
    else:
        (out / "requests.html").unlink(missing_ok=True)
    offered.begin_overrides(out)
    return _summary(out, rows, pairs, said)


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="replace")


def safe_cell(value):
    """A value for a CSV that a spreadsheet will not take for a formula."""
    text = str(value)
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _write_csv(path, lines):
    """A table from dicts with the same names."""
    with open(path, "w", newline="", encoding="utf-8", errors="replace") as file:
        writer = csv.DictWriter(file, list(lines[0]) if lines else ["student"])
        writer.writeheader()
        writer.writerows({name: safe_cell(value) for name, value in line.items()} for line in lines)


def _line(row):
    """A row of grades.csv."""
    comments = [*row["comments"], *(f"{t['task']}: {t['comment']}" for t in row["tasks"] if t.get("comment"))]
    return {name: row[name] for name in ("student", "exercise", "points", "max_points")} | {
        "late_days": row["late"].get("days", 0),
        "final": row["final"],
        "status": row["status"],
        "flags": "; ".join(row["flags"]),
        "comment": "; ".join(comments),
        "seconds": row["seconds"],
        "key": row["key"],
    }


def _totals(by_student):
    """A line for each student: the points that count in each exercise, and their sum."""
    by_student = {student: [row for row in rows if row["max_points"]] for student, rows in by_student.items()}
    exercises = sorted({row["exercise"] for rows in by_student.values() for row in rows})
    lines = []
    for student, rows in by_student.items():
        if not rows:
            continue  # an entry of the folder that is nobody's
        final = {row["exercise"]: row["final"] for row in rows if not open_grade(row)}
        most = sum(row["max_points"] for row in rows)
        points = {e: final.get(e, "") for e in exercises}
        lines.append({"student": student, **points, "total": results.whole(sum(final.values())), "of": most})
    return lines


def open_grade(row):
    """Whether there is nothing yet that could be handed out as a grade: nothing handed in, not readable, not graded."""
    return row["by_hand"] is None and row["status"] not in ("graded", "no answers")


def _summary(out, rows, pairs, said):
    out = out.relative_to(Path.cwd()) if out.is_relative_to(Path.cwd()) else out
    done = [r for r in rows if r["status"] == "graded"]
    not_graded = Counter(r["status"].split(":")[0] for r in rows if r["status"] != "graded")
    points, most = sum(r["points"] for r in done), sum(r["max_points"] for r in done)
    flagged, late = sum(bool(r["flags"]) for r in rows), sum(bool(r["late"]) for r in rows)
    by_hand = sum(r["by_hand"] is not None or any("graded" in t for t in r["tasks"]) for r in rows)
    lines = [f"{len(done)} of {len(rows)} notebooks graded, {points:g} of {most} points in them."]
    lines += (
        [f"Not graded: {', '.join(f'{n} {status}' for status, n in sorted(not_graded.items()))}."] if not_graded else []
    )
    lines += [f"{late} late: see the column `late_days`."] if late else []
    lines += [f"{by_hand} with points given by hand ({offered.BY_HAND})."] if by_hand else []
    lines += [f"{flagged} with flags: look at them in grades.csv before you hand out grades."] if flagged else []
    alike = "1 pair of answers looks" if len(pairs) == 1 else f"{len(pairs)} pairs of answers look"
    lines += [f"{alike} alike: {out / 'similarity.html'}"] if pairs else []
    requests = offered.requests_told(rows)
    lines += [f"Regrade requests: {requests}: {out / 'requests.html'}"] if requests else []
    return [*lines, *said, f"Open {out / 'overview.html'}; feedback for each student is in {out / 'feedback'}."]


def overview_html(rows, alike=0):
    """The class at a glance: how many were right in each task, the commonest failures, flags, the table."""
    names = sorted({r["exercise"] for r in rows})
    exercises = [_exercise(name, [r for r in rows if r["exercise"] == name]) for name in names]
    return PAGES.get_template("overview.html").render(exercises=exercises, rows=rows, alike=alike)


def _exercise(name, rows):
    """What the overview says of one exercise."""
    graded = [r for r in rows if r["status"] == "graded"]
    by_part = defaultdict(list)
    for task in (t for r in graded for t in r["tasks"]):
        by_part[task["task"], task["part"]].append(task)
    tasks = [
        {
            "task": task,
            "part": part,
            "right": sum(t["status"] == "right" for t in tries),
            "all": len(tries),
            "failures": Counter(t["kind"] for t in tries if t["status"] != "right").most_common(3),
        }
        for (task, part), tries in by_part.items()
    ]
    return {
        "name": name,
        "notebooks": len(rows),
        "graded": len(graded),
        "tasks": tasks,
        "students": Counter(int(r["points"]) for r in graded),
        "most": max((r["max_points"] for r in graded), default=0),
    }
