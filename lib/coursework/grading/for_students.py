"""What a student gets: the points that count, each check, and what the instructor wrote."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "pages"),
    autoescape=True,
    trim_blocks=True,
    undefined=StrictUndefined,
)


def _state(result):
    words = {
        "missing": "Nothing was handed in.",
        "no answers": "No answer cell was filled in.",
        "not graded": "Not graded yet.",
    }
    if result["status"] == "graded":
        return ""
    if result["status"].startswith("unreadable"):
        return (
            f"The notebook could not be read: {result['status'].partition(': ')[2]}. Save it again and hand it in "
            "again."
        )
    return words.get(result["status"], result["status"])


def about_points(row):
    """What a student is told of the points that count, beside those of the tasks."""
    late, said = row.get("late") or {}, []
    if late:
        days = "1 day" if late["days"] == 1 else f"{late['days']} days"
        free = f", {late['free']} of them free" if late["free"] else ""
        lost = f": {late['lost']:g} points less" if row.get("by_hand") is None else ""
        said.append(f"Handed in {days} late{free}{lost}.")
    if row.get("by_hand") is not None:
        said.append(f"The points were set by hand: {row['by_hand']:g}.")
    noted = [f"Noted: {'; '.join(row['told'])}."] if row.get("told") else []
    return [*said, *noted, *_asked(row), *row.get("comments", ())]


def about_task(task):
    """What was changed by hand in a task, the regrade asked for, and the comment on it."""
    changed = [f"By hand: {task['points']:g} in the place of {task['graded']:g}."] if "graded" in task else []
    return [*changed, *_asked(task), *([task["comment"]] if task.get("comment") else [])]


def _asked(what):
    """The regrade that the student asked for, of a row or a task."""
    return [what["asked"]] if what.get("asked") else []


def feedback_markdown(student, rows):
    """One page for one student. What came from the answers stands in fenced blocks."""
    lines = [f"# Feedback for {_plain(student)}", ""]
    for result in rows:
        final = result.get("final", result["points"])
        lines += [f"## {result['exercise']}: {final:g} of {result['max_points']} points", ""]
        lines += [_state(result), ""] if _state(result) else []
        lines += [line for said in about_points(result) for line in (_plain(said), "")]
        for task in result["tasks"] if shows_tasks(result) else ():
            fence = "`" * max(3, _longest_fence(task["text"]) + 1)
            lines += [f"**{task['task']}, {task['part']}: {task['points']:g} of {task['max_points']}**", ""]
            lines += [line for said in about_task(task) for line in (_plain(said), "")]
            lines += [fence + "text", task["text"], fence, ""]
        lines += [f"- {_plain(note)}" for note in result["notes"]] + [""]
    return "\n".join(lines)


def shows_tasks(row):
    """Whether a page has something to say of each task."""
    return row["status"] == "graded" or any("graded" in t or t.get("comment") or t.get("asked") for t in row["tasks"])


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


def feedback_html(student, rows):
    """The same as a page for a browser. All that came from the student is escaped."""
    shown = [
        row
        | {
            "state": _state(row),
            "said": about_points(row),
            "final": row.get("final", row["points"]),
            "shown": [t | {"said": about_task(t)} for t in row["tasks"] if shows_tasks(row)],
        }
        for row in rows
    ]
    return PAGES.get_template("feedback.html").render(student=student, results=shown)
