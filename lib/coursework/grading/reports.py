"""What an instructor and a student get: grades.csv, grades.json, feedback for each student, an overview of the
class."""

import csv
import json
from collections import Counter, defaultdict
from html import escape

from . import results
from .flags import look_alikes
from .grade import empty_result

_STYLE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }}
pre {{ overflow-x: auto; padding: .7em; border: 1px solid #8886; border-radius: 4px; white-space: pre-wrap }}
table {{ border-collapse: collapse }} td, th {{ text-align: left; padding: .2em .8em; border-bottom: 1px solid #8886 }}
.n {{ text-align: right; white-space: nowrap }} .scroll {{ overflow-x: auto }}
</style><h1>{title}</h1>
"""


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
    parts = [_STYLE.format(title=f"Feedback for {escape(student)}")]
    for result in mine:
        parts.append(f"<h2>{escape(result['exercise'])}: {result['points']} of {result['max_points']} points</h2>")
        parts.append(f"<p>{escape(_state(result))}</p>" if _state(result) else "")
        for task in result["tasks"] if result["status"] == "graded" else ():
            said = f"{task['task']}, {task['part']}: {task['points']} of {task['max_points']}"
            parts.append(f"<h3>{escape(said)}</h3><pre>{escape(task['text'])}</pre>")
        parts += [f"<p>{escape(note)}</p>" for note in result["notes"]]
    return "\n".join(parts)


def overview_html(rows):
    """The class at a glance: how many were right in each task, the commonest failures, flags, the table."""
    parts = [_STYLE.format(title="Overview of the class")]
    for exercise in sorted({r["exercise"] for r in rows}):
        mine = [r for r in rows if r["exercise"] == exercise]
        graded = [r for r in mine if r["status"] == "graded"]
        parts.append(f"<h2>{escape(exercise)}</h2><p>{len(graded)} of {len(mine)} graded.</p>")
        parts.append(
            "<div class=scroll><table><tr><th>task<th>part<th class=n>right<th>share<th>commonest failures</tr>"
        )
        for key in dict.fromkeys((t["task"], t["part"]) for r in graded for t in r["tasks"]):
            parts.append(_task_row(key, graded))
        parts.append("</table></div>" + _distribution(graded))
    parts.append(
        "<h2>Students</h2><div class=scroll><table><tr><th>student<th>exercise<th class=n>points<th>status<th>flags</tr>"
    )
    for r in rows:
        points = f"{r['points']} / {r['max_points']}"
        cells = [escape(str(c)) for c in (r["student"], r["exercise"], r["status"], "; ".join(r["flags"]))]
        parts.append(f"<tr><td>{cells[0]}<td>{cells[1]}<td class=n>{points}<td>{cells[2]}<td>{cells[3]}</tr>")
    return "\n".join([*parts, "</table></div>"])


def _task_row(key, graded):
    tasks = [t for r in graded for t in r["tasks"] if (t["task"], t["part"]) == key]
    right = sum(t["status"] == "right" for t in tasks)
    share = round(100 * right / len(tasks))
    failures = Counter(t["kind"] for t in tasks if t["status"] != "right").most_common(3)
    told = ", ".join(f"{kind} ({n})" for kind, n in failures) or "none"
    bar = (
        f"<svg role='img' aria-label='{share} per cent right' width='104' height='14'><rect x='.5' y='.5' width='100' height='12' "
        f"fill='none' stroke='currentColor'/><rect x='.5' y='.5' width='{share}' height='12' fill='currentColor'/></svg>"
    )
    return f"<tr><td>{escape(key[0])}<td>{escape(key[1])}<td class=n>{right} / {len(tasks)}<td>{bar}<td>{escape(told)}</tr>"


def _distribution(graded):
    """How many students have how many points, as a small bar chart with its numbers in words."""
    if not graded:
        return ""
    most = max(r["max_points"] for r in graded)
    counts = Counter(r["points"] for r in graded)
    highest = max(counts.values())
    bars = "".join(
        f"<rect x='{20 + p * 24}' y='{80 - 60 * counts[p] / highest:.0f}' width='18' height='{60 * counts[p] / highest:.0f}' "
        f"fill='currentColor'/><text x='{29 + p * 24}' y='96' text-anchor='middle'>{p}</text>"
        f"<text x='{29 + p * 24}' y='{76 - 60 * counts[p] / highest:.0f}' text-anchor='middle'>{counts[p] or ''}</text>"
        for p in range(most + 1)
    )
    words = ", ".join(f"{n} with {p}" for p, n in sorted(counts.items()))
    return (
        f"<p>Points: {words}.</p><div class=scroll><svg role='img' aria-label='Students by points: {words}' "
        f"width='{60 + most * 24}' height='104' font-size='12' fill='currentColor'>{bars}</svg></div>"
    )
