"""The notebook that is graded: the canonical one, with the student's answers and extra cells where they stood.

Everything else of the submission is thrown away. An answer is found by its `grade_id`, else by its cell id, else by a
first line `# grade_id: NAME`. Changed, deleted and duplicated cells do no harm; they are flagged. A copy of a cell
(JupyterLab's split and paste copy its metadata) is the student's own cell, unless it says what was handed out.
"""

import functools
from dataclasses import dataclass, field

import nbformat

from ... import build
from .reading import named


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
    answers: dict = field(default_factory=dict)  # id -> source, as handed in, with what was split off
    untouched: set = field(default_factory=set)  # ids of answer cells in which nothing was answered


def canonical(path):
    """The master as it is graded: answers taken out, hidden checks left in. Its cells are shared: nobody changes
    them."""
    return _canonical(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=32)
def _canonical(path, changed):
    master = build.annotate(nbformat.read(path, as_version=4), path.name)
    shipped = build.exercise_of(master)
    return [cell for cell in master.cells if cell.cell_type == "code"], {cell.id: cell for cell in shipped.cells}


def ids(path):
    """The ids of a master's cells, by which a notebook of this exercise is known."""
    return {cell.id for cell in canonical(path)[0]}


def merge(master, shipped, cells):
    """Merged notebook from the canonical cells, the exercise as shipped (by id) and a submission's `cells`."""
    known = [cell.id for cell in master]
    handed_in_cells, copies, extra, flags, last = {}, {}, {}, [], ""
    for grade_id, cell_id, source in cells:
        name = next((n for n in (grade_id, cell_id, named(source)) if n in known), None)
        if name is None:
            extra.setdefault(last, []).append(source)
        elif name in handed_in_cells:
            flags.append(f"duplicate cell {name}")
            if source.strip() != shipped[name].source.strip():
                extra.setdefault(last, []).append(source)
                copies.setdefault(name, []).append(source)
        else:
            if not grade_id:
                flags.append("cells without metadata")
            handed_in_cells[name], last = source, name
    steps, answers = [], {}
    steps += _extra_steps("", extra)
    for cell in master:
        handed_in = handed_in_cells.get(cell.id)
        # The grader has the library, and a class may have an address of its own; what is there to be tried is not
        # graded.
        if build.is_install(cell) or build.is_trial(cell):
            steps += _extra_steps(cell.id, extra)
            continue
        if build.is_answer(cell):
            steps.append(Step("answer", cell.id, handed_in or ""))
            answers[cell.id] = "\n".join([handed_in or "", *copies.get(cell.id, ())])
        else:
            steps.append(Step("check" if build.is_check(cell) else "given", cell.id, cell.source))
            if handed_in is not None and handed_in.strip() != shipped[cell.id].source.strip():
                flags.append(f"changed cell {cell.id}")
        if handed_in is None:
            flags.append(f"deleted cell {cell.id}")
        steps += _extra_steps(cell.id, extra)
    untouched = {i for i, source in answers.items() if source.strip() == shipped[i].source.strip()}
    empty = {i for i, source in answers.items() if not source.strip()}
    if untouched | empty == answers.keys():  # else what an emptied cell had to say may stand in another one
        untouched |= empty
    return Merged(steps, sorted(set(flags)), answers, untouched)


def _extra_steps(after, extra):
    return [Step("extra", f"after-{after or 'start'}-{i}", source) for i, source in enumerate(extra.get(after, ()))]
