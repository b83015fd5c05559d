"""The notebook that is graded: the canonical one, with the student's answers and extra cells where they stood.

Everything else of the submission is thrown away. An answer is found by its `grade_id`, else by its cell id, else by a
first line `# grade_id: NAME`. Changed, deleted and duplicated cells do no harm; they are flagged.
"""

import json
import re
from dataclasses import dataclass, field

import nbformat

from .. import build
from . import exchange

MAX_NOTEBOOK = 10 << 20
_COMMENT = re.compile(r"^\s*#\s*grade_id:\s*([\w-]+)")


class Unreadable(ValueError):
    """The submission is no notebook. The message says in what way, in a few words."""


@dataclass(frozen=True)
class Step:
    """One code cell of the merged notebook. kind: "given", "answer", "extra" or "check"."""

    kind: str
    id: str
    source: str


@dataclass
class Merged:
    steps: list
    flags: list = field(default_factory=list)
    answers: dict = field(default_factory=dict)  # id -> source, as handed in
    untouched: set = field(default_factory=set)  # ids of answer cells that are as they were shipped


def load(path):
    """The code cells of a submission as (grade_id or "", cell id, source); Unreadable with a reason otherwise."""
    try:
        data = exchange.read_bytes(path, MAX_NOTEBOOK)
    except exchange.BadData as error:
        raise Unreadable(str(error)) from None
    if not data.strip():
        raise Unreadable("the file is empty")
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
        cells = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
        return [_cell(cell) for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    except UnicodeDecodeError:
        raise Unreadable("the text is not in UTF-8") from None
    except (ValueError, RecursionError):
        raise Unreadable("it is not JSON: damaged, or not a notebook") from None
    except (KeyError, TypeError, IndexError, AttributeError):
        raise Unreadable("it is JSON, but not a notebook") from None


def _cell(cell):
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    source = source.replace("\0", "") if isinstance(source, str) else ""
    metadata = cell.get("metadata")
    mark = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = mark.get("grade_id") if isinstance(mark, dict) else None
    comment = _COMMENT.match(source)
    cell_id = cell.get("id")
    return (
        grade_id if isinstance(grade_id, str) else "",
        cell_id if isinstance(cell_id, str) else comment.group(1) if comment else "",
        source.encode("utf-8", "replace").decode("utf-8"),
    )


def canonical(path):
    """The master as it is graded: answers taken out, hidden checks left in."""
    master = build.annotate(nbformat.read(path, as_version=4), path.name)
    shipped = build.exercise_of(master)
    return [cell for cell in master.cells if cell.cell_type == "code"], {cell.id: cell for cell in shipped.cells}


def merge(master, shipped, cells):
    """Merged notebook from the canonical cells, the exercise as shipped (by id) and a submission's `cells`."""
    known = [cell.id for cell in master]
    handed_in_cells, extra, flags, last = {}, {}, [], ""
    for grade_id, cell_id, source in cells:
        name = next((n for n in (grade_id, cell_id, _named(source)) if n in known), None)
        if name is None:
            extra.setdefault(last, []).append(source)
        elif name in handed_in_cells:
            flags.append(f"duplicate cell {name}")
        else:
            if not grade_id:
                flags.append("cells without metadata")
            handed_in_cells[name], last = source, name
    steps, answers = [], {}
    steps += _extra_steps("", extra)
    for cell in master:
        handed_in = handed_in_cells.get(cell.id)
        # The grader has the library, and a class may have an address of its own; what is there to be tried is not graded.
        if build.is_install(cell) or build.is_trial(cell):
            steps += _extra_steps(cell.id, extra)
            continue
        if build.is_answer(cell):
            answers[cell.id] = handed_in if handed_in is not None else ""
            steps.append(Step("answer", cell.id, answers[cell.id]))
        else:
            steps.append(Step("check" if build.is_check(cell) else "given", cell.id, cell.source))
            if handed_in is not None and handed_in.strip() != shipped[cell.id].source.strip():
                flags.append(f"changed cell {cell.id}")
        if handed_in is None:
            flags.append(f"deleted cell {cell.id}")
        steps += _extra_steps(cell.id, extra)
    untouched = {i for i, source in answers.items() if source.strip() in ("", shipped[i].source.strip())}
    return Merged(steps, sorted(set(flags)), answers, untouched)


def _named(source):
    comment = _COMMENT.match(source)
    return comment.group(1) if comment else None


def _extra_steps(after, extra):
    return [Step("extra", f"after-{after or 'start'}-{i}", source) for i, source in enumerate(extra.get(after, ()))]
