"""What was solved on this machine: a small file beside the notebooks. Nothing leaves the machine.

    python -m coursework.progress

`DLKERNELS_PROGRESS` names another file, or is `off`: then, as in a folder that cannot be written, all is kept only
until the notebook is closed.
"""

import argparse
import contextlib
import copy
import json
import math
import os
from dataclasses import replace
from pathlib import Path

from cpulab.files import locked, read_text, write_text

from . import definition, golf
from .outcome import UNSOLVED

FILE = ".progress.json"
_memory = {}  # what could not be written; ends with the process


def file(folder="."):
    """The file that the progress is kept in; None where it is not."""
    wish = os.environ.get("DLKERNELS_PROGRESS", "")
    if wish.lower() == "off":
        return None
    return Path(wish) if wish else Path(folder) / FILE


def read(folder="."):
    """What is known, {"07-add results": {"status", "points", "tries"}, "07-add hints": 2, ...}."""
    path = file(folder)
    try:
        known = json.loads(read_text(path)) if path else {}
    except (OSError, ValueError, RecursionError):
        known = {}
    known = {name: value for name, value in known.items() if _fits(name, value)} if isinstance(known, dict) else {}
    return known | copy.deepcopy(_memory)


def _fits(name, value):
    """Whether a value of the file is what `note` and `next_hint` write; what somebody else wrote is forgotten."""
    if name.endswith(" hints"):
        return type(value) is int and value > 0
    if name.endswith(" golf"):
        return type(value) in (int, float) and math.isfinite(value) and value > 0
    if not isinstance(value, dict):
        return False
    counts = [value.get(name) for name in ("points", "tries")] + [value.get("wrong", 0)]
    return isinstance(value.get("status"), str) and all(type(n) is int and n >= 0 for n in counts)


@contextlib.contextmanager
def _known():
    """What is known, to be changed in the block and written after it; other notebooks wait meanwhile."""
    path = file()
    with locked(path) if path else contextlib.nullcontext():
        known = read()
        yield known
        _write(known)


def _write(known):
    path = file()
    if path is None:
        _memory.update(known)
        return
    try:
        write_text(path, json.dumps(known, indent=1, sort_keys=True))
        _memory.clear()
    except OSError as error:
        if not _memory:
            why = error.strerror or error
            print(
                "Your progress, and which hints you have seen, are kept only until this notebook is closed: "
                f"{path} cannot be written ({why})."
            )
        _memory.update(known)


def note(outcome):
    """Remember an outcome, and return it with the record of golf. A task once right stays right; one that is still as
    it was handed out was not tried."""
    if outcome.status == UNSOLVED:
        return outcome
    with _known() as known:
        entry = known.setdefault(f"{outcome.task} {outcome.part}", {"status": "", "points": 0, "tries": 0})
        entry["tries"] += 1
        if outcome.status == "wrong":
            entry["wrong"] = entry.get("wrong", 0) + 1
        if entry["status"] != "right":
            entry.update(status=outcome.status, points=outcome.points)
        if golf.counts_as_record(outcome.golf):
            best = min(outcome.golf["count"], _record(known, outcome.task) or outcome.golf["count"])
            known[f"{outcome.task} golf"] = best
            outcome = replace(outcome, golf=outcome.golf | {"record": best})
    return outcome


def _record(known, task_id):
    """The least count of a task's golf that is known, or None."""
    record = known.get(f"{task_id} golf")
    return record if type(record) in (int, float) and record > 0 else None


def to_read(outcome):
    """The Section to send someone to who went wrong twice and more; None for all others."""
    entry = read().get(f"{outcome.task} {outcome.part}", {})
    again = outcome.status == "wrong" and entry.get("status") == "wrong" and entry.get("wrong", 0) > 1
    return definition.find(outcome.task).section_for(outcome.failure) if again else None


def waits_for(task, solved=(), known=None):
    """The id of the task that must be right before `task` opens, or "". `solved`: ids of more that are."""
    if not task.after or task.after in solved or (known is None and file() is None):
        return ""
    prerequisite, known = definition.find(task.after), read() if known is None else known
    return "" if known.get(f"{prerequisite.id} {prerequisite.part}", {}).get("status") == "right" else prerequisite.id


def next_hint(task_id):
    """The level of the next hint, 1 to 3; remembers that it was asked for."""
    with _known() as known:
        level = known[f"{task_id} hints"] = min(known.get(f"{task_id} hints", 0) + 1, definition.HINT_LEVELS)
    return level


def table(known):
    """The progress as lines of text, chapter by chapter."""
    lines, got, most = [], 0, 0
    for chapter in definition.chapters():
        lines.append(f"Chapter {chapter}")
        for task in definition.of_chapter(chapter):
            for part, points in parts(task):
                entry = known.get(f"{task.id} {part}", {})
                status, tries = entry.get("status", ""), entry.get("tries", 0)
                mark = {"right": "x", "": " "}.get(status, "-")
                said = f"{entry.get('points', 0)}/{points}"
                tried = f"{tries} {'try' if tries == 1 else 'tries'}" if tries else f"about {task.minutes} min"
                closed = waits_for(task, known=known)
                tried = f"opens after {closed}" if closed and not tries else tried
                label = task.title + ("" if part != "budget" else ", budget")
                lines.append(f"  [{mark}] {task.id:<14} {label:<44} {said:>5}   {tried}")
                got, most = got + entry.get("points", 0), most + points
            record = _record(known, task.id)
            lines += [golf.row(task, record)] if record and task.budget and task.budget.golf else []
    lines.append(f"{got} of {most} points.  [x] right, [-] tried, [ ] not tried yet")
    return "\n".join(lines)


def parts(task):
    """The graded parts of a task: ((part, points), ...)."""
    return ((task.part, task.points), *((("budget", task.budget.points),) if task.budget else ()))


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m coursework.progress", description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", help="where the notebooks are (default: exercises/, or here)")
    wish = parser.parse_args(argv).folder
    folder = wish or ("exercises" if Path("exercises").is_dir() else ".")
    known = read(folder)
    print(table(known))
    if not known:
        print(_why_nothing(folder))


def _why_nothing(folder):
    """Why nothing is known of a folder, in a sentence."""
    path = file(folder)
    try:
        if path is not None:
            read_text(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        return f"{path} cannot be read ({error.strerror})."
    return f"Nothing has been tried yet in {folder}."


if __name__ == "__main__":
    main()
