"""Results for Classroom 50: https://github.com/foundation50/classroom50/wiki/Advanced-Autograding

Its scores.json holds, for each owner of a repository, the history of their submissions, each a result.json (result/v1).
What is put there by hand is marked `override`, and its own collection of scores leaves that alone: so are our grades
marked, and so do we leave alone what somebody else marked.
"""

import json
from pathlib import Path

from ..intake import people
from ..reports import open_grade
from .tables import ExportError

SCORES, RESULT = "classroom50/scores/v1", "classroom50/result/v1"


def result(row, points, before):
    """A result.json of a row: identity and links are those of the submission `before`, its last one. All points are
    whole."""
    tests = [
        {
            "test-name": f"{task['task']} {task['part']}",
            "passed": task["points"] == task["max_points"],
            "score": round(task["points"]),
            "max-score": task["max_points"],
        }
        for task in row["tasks"]
    ]
    return before | {"schema": RESULT, "score": points, "max-score": row["max_points"], "tests": tests}


def merged(rows, path, assignment, merge):
    """(text, who is missing, doubts): scores.json with the grades of one exercise, whole numbers as it wants them."""
    merge.whole_numbers = True
    exercises = sorted({r["exercise"] for r in rows})
    if len(exercises) != 1:
        raise ExportError(f"An assignment belongs to one exercise; say which with --exercise: {', '.join(exercises)}.")
    try:
        scores = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ExportError(f"{path} cannot be read: {error}") from None
    if not isinstance(scores, dict) or scores.get("schema") != SCORES:
        raise ExportError(f"{path} is no scores.json of Classroom 50 ({SCORES}).")
    buckets = scores.get("assignments", {})
    slug = assignment or (next(iter(buckets)) if len(buckets) == 1 else None)
    if slug not in buckets:
        raise ExportError(f"Which assignment? Say it with --assignment. There are: {', '.join(buckets) or 'none'}.")
    entries = [
        e for e in buckets[slug].get("entries") or [] if isinstance(e, dict) and e.get("owner") and e.get("submissions")
    ]
    persons = [people.person(r["student"], r.get("who", {})) for r in rows]
    found, doubts = people.match(persons, [_person(entry) for entry in entries])
    index = {r["student"]: r for r in rows}
    for position, student in found.items():
        _put(entries[position], index[student], merge)
    lost = [s for s, r in index.items() if s not in found.values() and not open_grade(r)]
    return json.dumps(scores, indent=2, ensure_ascii=False) + "\n", lost, doubts


def _person(entry):
    name = f"{entry.get('first_name', '')} {entry.get('last_name', '')}".strip()
    known = people.known(login=entry["owner"], id=entry["owner"], email=entry.get("email", ""))
    return people.Person(entry["owner"], frozenset(known), frozenset(people.names(name) | people.names(entry["owner"])))


def _put(entry, row, merge):
    """Our grade in front of the history, unless somebody else put one there by hand."""
    last = entry["submissions"][0]
    held = str(last.get("score", "")) if entry.get("override") else ""
    new = merge.put(row, held)
    if new != held:
        entry["override"] = True
        history = entry["submissions"] if not held else entry["submissions"][1:]
        entry["submissions"] = [result(row, int(new), last), *history]
