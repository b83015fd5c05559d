"""Regrade requests: what students want looked at again, in CSVs that grading reads and never writes: `requests.csv`,
and all CSVs of the folder `requests/`. Written by hand, or the export of a form whose questions are `exercise`, `task`
and `reason`:

    submitted,student,exercise,task,reason
    2026-11-24T10:00,anna,07,07-add,the last block is right

The answer is a line of overrides.csv about the same task (or the whole exercise) whose comment begins with `regrade:`.
It has points, or none where the grade stands.
"""

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ... import definition
from ..for_students import PAGES
from ..intake import people
from ..intake.roster import BadSubmissions
from . import late

FILE = "requests.csv"
COLUMNS = ("exercise", "task", "reason")
TIMES = ("submitted", "timestamp")
OPEN, TOO_LATE, ANSWERED = "open", "too late", "answered"
_ANSWER = re.compile(r"(?:^|; )\s*regrade:\s*\S", re.IGNORECASE)


@dataclass(frozen=True)
class Request:
    cells: dict  # of its line, by header: they say who asks
    exercise: str
    task: str  # "": the whole exercise
    reason: str
    when: str
    where: str  # file and line, for messages


def read(out):
    """The requests in a folder of results; BadSubmissions for a file that is no table of them."""
    out = Path(out)
    paths = [path for path in (out / FILE, *sorted((out / "requests").glob("*.csv"))) if path.exists()]
    return tuple(request for path in paths for request in _read(path))


def _read(path):
    try:
        text = path.read_text(encoding="utf-8-sig")
        header = text.partition("\n")[0]
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=header.count))
        lines = [(reader.line_num, line) for line in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadSubmissions(f"{path} cannot be read: {error}") from None
    names = {(name or "").strip().lower(): name for name in reader.fieldnames or ()}
    if missing := [name for name in COLUMNS if name not in names]:
        raise BadSubmissions(
            f"{path} lacks the columns {', '.join(missing)}. Its first line should be "
            f"submitted,student,{','.join(COLUMNS)}"
        )
    time = next((names[name] for name in TIMES if name in names), None)
    for number, line in lines:
        cells = {k.strip(): (v or "").strip() for k, v in line.items() if k and not isinstance(v, list)}
        exercise, task, reason = (cells[names[name].strip()] for name in COLUMNS)
        if any(cells.values()):
            task = definition.padded(task)
            exercise = definition.padded(definition.chapter_of(exercise or task).partition(" ")[0])  # "7 Vector add"
            yield Request(
                cells, exercise, task, reason, cells[time.strip()] if time else "", f"{path.name}, line {number}"
            )


def settle(rows, requests, policy):
    """(rows, sentences about requests that are not taken): rows get "requests", and "asked" where the student reads of
    them.

    `rows`: with the points and comments of overrides.csv. `policy`: late.Policy, or None.
    """
    rows = [row | {"requests": [], "tasks": [dict(task) for task in row["tasks"]]} for row in rows]
    persons = list({row["student"]: people.person(row["student"], row["who"]) for row in rows}.values())
    known, lost, elsewhere = {row["exercise"] for row in rows}, [], 0
    for request in requests:
        if request.exercise in definition.chapters() and request.exercise not in map(definition.chapter_of, known):
            elsewhere += 1
            continue
        found, doubts = people.match(persons, [people.line_of(request.cells)])
        who = people.line_of(request.cells).label
        row = next(
            (
                r
                for r in rows
                if found and r["student"] == found[0] and definition.chapter_of(r["exercise"]) == request.exercise
            ),
            None,
        )
        if not found:
            lost.append(f"{request.where}: {doubts[0] if doubts else f'{who} is nobody of this class'}")
        elif row is None:
            lost.append(
                f"{request.where}: there is no row for {who} and {request.exercise or 'an exercise that is not named'}"
            )
        elif request.task and request.task not in (names := list(dict.fromkeys(t["task"] for t in row["tasks"]))):
            lost.append(f"{request.where}: {row['exercise']} has no task {request.task}. There are: {', '.join(names)}")
        elif not request.reason:
            lost.append(f"{request.where}: {who} gives no reason for {request.task or row['exercise']}")
        elif before := next((r for r in row["requests"] if r["task"] == request.task), None):
            before["reason"] += f"\n\n{request.reason}"
            lost.append(
                f"{request.where}: {who} asks again about {request.task or row['exercise']}; "
                "it is shown with the first one"
            )
        else:
            lost += _take(request, row, policy)
    for row in rows:
        _tell(row)
    lost += [f"{elsewhere} about exercises that this run leaves out"] if elsewhere else []
    return rows, [f"regrade requests: {sentence}" for sentence in lost]


def _take(request, row, policy):
    """Put a request into its row; a sentence where its time cannot be read."""
    last, when, said = policy and policy.last_request(row["exercise"]), None, []
    try:
        when = late.moment(request.where, request.when) if request.when and last else None
    except BadSubmissions as error:
        said = [f"{error} It counts as in time."]
    said_by = [*row["comments"], *(t.get("comment", "") for t in row["tasks"] if t["task"] == request.task)]
    answered = any(_ANSWER.search(comment) for comment in said_by)
    state = ANSWERED if answered else TOO_LATE if when and when > last else OPEN
    end = late.shown(last) if last else ""
    row["requests"].append(
        {"task": request.task, "reason": request.reason, "when": request.when, "state": state, "end": end}
    )
    return said


def _tell(row):
    """What the student reads in the feedback; the answer itself is a comment, and stands there, too."""
    for request in row["requests"]:
        said = {
            OPEN: " It is not answered yet.",
            TOO_LATE: f" It came after {request['end']}, the end of the time for requests.",
            ANSWERED: "",
        }[request["state"]]
        about = next((t for t in row["tasks"] if t["task"] == request["task"]), row)
        stop = "" if request["reason"].endswith((".", "!", "?")) else "."
        about["asked"] = f"You asked for a regrade: {request['reason']}{stop}{said}"


def of(rows):
    """[(row, request), ...], those that are open first."""
    found = [(row, request) for row in rows for request in row["requests"]]
    return sorted(found, key=lambda entry: (OPEN, TOO_LATE, ANSWERED).index(entry[1]["state"]))


def summary(rows):
    """How many there are, in words; "" where there are none."""
    states = Counter(request["state"] for _, request in of(rows))
    return ", ".join(f"{states[state]} {state}" for state in (OPEN, TOO_LATE, ANSWERED) if states[state])


def page(rows):
    """The list for the instructor: each reason beside the feedback on its task, and the line that answers it."""
    shown = [
        request
        | {
            "student": row["student"],
            "exercise": row["exercise"],
            "line": _line(row, request),
            "tasks": [t for t in row["tasks"] if request["task"] in ("", t["task"])],
            "comments": row["comments"],
            "answer": row["answers"].get(request["task"], ""),
        }
        for row, request in of(rows)
    ]
    return PAGES.get_template("requests.html").render(requests=shown)


def _line(row, request):
    """The line of overrides.csv that waits for points and a reason."""
    out = io.StringIO()
    number = definition.chapter_of(row["exercise"])
    csv.writer(out, lineterminator="").writerow([row["student"], number, request["task"], "", "", "regrade: "])
    return out.getvalue()
