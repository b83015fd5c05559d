"""What an instructor and a student get: grades.csv, grades.json, feedback for each student, an overview of the
class."""

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from . import results
from .flags import look_alikes
from .grade import empty_result

_PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "pages"),
    autoescape=True,
    trim_blocks=True,
    undefined=StrictUndefined,
)


def write_all(out, submissions, masters):
    """Write every report from the result files; returns lines for the terminal."""
    rows = []
    for submission in submissions:
        result = results.load(results.path_of(out, submission))
        if result is None:
            result = empty_result(submission.student, submission.exercise, "not graded") | {"key": ""}
        rows.append(result | {"flags": [*submission.flags, *result["flags"]]})
    for (student, exercise), flags in look_alikes(rows, masters).items():
        row = next(r for r in rows if (r["student"], r["exercise"]) == (student, exercise))
        row["flags"] = [*row["flags"], *flags]
    out.mkdir(parents=True, exist_ok=True)
    _write_csv(out / "grades.csv", rows)
    shown = [{k: v for k, v in row.items() if k != "answers"} for row in rows]
    _write(out / "grades.json", json.dumps(shown, indent=1, ensure_ascii=False))
    by_student = defaultdict(list)
    for row in rows:
        by_student[row["student"]].append(row)
    for student, mine in by_student.items():
        name = results.safe_name(student)
        _write(out / "feedback" / f"{name}.md", feedback_markdown(student, mine))
        _write(out / "feedback" / f"{name}.html", feedback_html(student, mine))
    _write(out / "overview.html", overview_html(rows))
    return _summary(out, rows)


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="replace")


def safe_cell(value):
    """A value for a CSV that a spreadsheet will not take for a formula."""
    text = str(value)
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8", errors="replace") as file:
        writer = csv.writer(file)
        writer.writerow(("student", "exercise", "points", "max_points", "status", "flags", "seconds", "key"))
        for r in rows:
            flags = "; ".join(r["flags"])
            line = (
                r["student"],
                r["exercise"],
                r["points"],
                r["max_points"],
                r["status"],
                flags,
                r["seconds"],
                r["key"],
            )
            writer.writerow([safe_cell(value) for value in line])


def _summary(out, rows):
    done = [r for r in rows if r["status"] == "graded"]
    other = Counter(r["status"].split(":")[0] for r in rows if r["status"] != "graded")
    points, most = sum(r["points"] for r in done), sum(r["max_points"] for r in done)
    flagged = sum(bool(r["flags"]) for r in rows)
    lines = [f"{len(done)} of {len(rows)} notebooks graded, {points} of {most} points in them."]
    lines += [f"Not graded: {', '.join(f'{n} {status}' for status, n in sorted(other.items()))}."] if other else []
    lines += [f"{flagged} with flags: look at them in grades.csv before you hand out grades."] if flagged else []
    return [*lines, f"Open {out / 'overview.html'}; feedback for each student is in {out / 'feedback'}."]


def _state(result):
    words = {
        "missing": "Nothing was handed in.",
        "no answers": "No answer cell was filled in.",
        "not graded": "Not graded yet.",
    }
    if result["status"] == "graded":
        return ""
    if result["status"].startswith("unreadable"):
        return f"The notebook could not be read: {result['status'].partition(': ')[2]}. Save it again and hand it in again."
    return words.get(result["status"], result["status"])


def feedback_markdown(student, mine):
    """One page for one student. What came from the answers stands in fenced blocks."""
    lines = [f"# Feedback for {_plain(student)}", ""]
    for result in mine:
        lines += [f"## {result['exercise']}: {result['points']} of {result['max_points']} points", ""]
        lines += [_state(result), ""] if _state(result) else []
        for task in result["tasks"] if result["status"] == "graded" else ():
            fence = "`" * max(3, _longest_fence(task["text"]) + 1)
            lines += [f"**{task['task']}, {task['part']}: {task['points']} of {task['max_points']}**", ""]
            lines += [fence + "text", task["text"], fence, ""]
        lines += [f"- {_plain(note)}" for note in result["notes"]] + [""]
    return "\n".join(lines)


def _longest_fence(text):
    longest = run = 0
    for c in text:
        run = run + 1 if c == "`" else 0
        longest = max(longest, run)
    return longest


def _plain(text):
    """Text that Markdown shows as it is."""
    text = "".join(c if c.isprintable() else " " for c in text)
    return "".join("\\" + c if c in "\\`*_{}[]<>()#!|" else c for c in text)


def feedback_html(student, mine):
    """The same as a page for a browser. All that came from the student is escaped."""
    shown = [result | {"state": _state(result)} for result in mine]
    return _PAGES.get_template("feedback.html").render(student=student, results=shown)


def overview_html(rows):
    """The class at a glance: how many were right in each task, the commonest failures, flags, the table."""
    names = sorted({r["exercise"] for r in rows})
    exercises = [_exercise(name, [r for r in rows if r["exercise"] == name]) for name in names]
    return _PAGES.get_template("overview.html").render(exercises=exercises, rows=rows)


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
        "students": Counter(r["points"] for r in graded),
        "most": max((r["max_points"] for r in graded), default=0),
    }
