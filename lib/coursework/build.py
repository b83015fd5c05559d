"""Masters -> exercises: `python -m coursework.build [--check]`.

A master in `solutions/` is an ordinary notebook with recorded outputs. In an answer cell the answer stands between
`### BEGIN SOLUTION` and `### END SOLUTION`; in a check cell what is kept for grading stands between
`### BEGIN HIDDEN TESTS` and `### END HIDDEN TESTS`. The exercise is the master without both and without outputs.

The build also writes nbgrader's metadata (schema version 3, `grade_id` equal to the cell's id) into both. `--check`
writes nothing and fails if a file is not what the build would write. `--run` executes the masters first.
"""

import argparse
import copy
import re
import sys
from pathlib import Path

import nbformat

from . import definition, progress

SOLUTION = ("### BEGIN SOLUTION", "### END SOLUTION")
HIDDEN = ("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS")
STUB = "raise NotImplementedError"
_CHECK = re.compile(rf"^({'|'.join(definition.PARTS)})\(\s*[\"']([\w-]+)[\"']", re.MULTILINE)


class BuildError(ValueError):
    """A master is not as the build needs it. The message names the notebook, the cell and the cure."""


def masters(root):
    """The master notebooks of a checkout, in order."""
    return sorted((Path(root) / "solutions").glob("[0-9][0-9]_*.ipynb"))


def read(path):
    """A notebook in the current format."""
    return nbformat.read(path, as_version=4)


def text_of(notebook):
    """A notebook as the text that is stored: the same for the same content."""
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def remove_region(source, markers, replacement=lambda lines, indent: []):
    """`source` with every region between the two `markers` replaced by `replacement(its lines, its indentation)`."""
    begin, end = markers
    kept, region, indent = [], None, ""
    for line in source.splitlines():
        if line.strip() == begin:
            if region is not None:
                raise BuildError(f"{begin} stands twice without {end}")
            region, indent = [], line[: len(line) - len(line.lstrip())]
        elif line.strip() == end:
            if region is None:
                raise BuildError(f"{end} stands without {begin}")
            kept += replacement(region, indent)
            region = None
        elif region is None:
            kept.append(line)
        else:
            region.append(line)
    if region is not None:
        raise BuildError(f"{begin} stands without {end}")
    return "\n".join(kept).rstrip()


def _stub(lines, indent):
    size = len([line for line in lines if line.strip() and not line.strip().startswith("#")])
    lines = "1 line" if size == 1 else f"{size} lines"
    return [f"{indent}# YOUR CODE HERE (about {lines}), in the place of the next line", f"{indent}{STUB}"]


def graded_call(source):
    """(function, task id) of the check in a cell, or None."""
    call = _CHECK.search(source)
    return call.groups() if call else None


def part_of(source):
    """The graded part that a check cell is about: "results", "budget" or "prediction"."""
    return definition.PARTS[graded_call(source)[0]]


def is_answer(cell):
    return cell.metadata.get("nbgrader", {}).get("solution", False)


def is_check(cell):
    return cell.metadata.get("nbgrader", {}).get("grade", False)


def annotate(notebook, name):
    """Write the metadata of every code cell of a master, in place."""
    seen, graded = set(), []
    for cell in notebook.cells:
        if cell.id in seen or not re.fullmatch(r"[\w-]{1,64}", cell.id):
            raise BuildError(f"{name}: the cell id {cell.id!r} is used twice or has characters nbgrader does not take")
        seen.add(cell.id)
        cell.metadata.pop("nbgrader", None)
        cell.metadata.pop("dlkernels", None)
        if cell.cell_type != "code":
            continue
        mark = {
            "schema_version": 3,
            "grade_id": cell.id,
            "grade": False,
            "solution": False,
            "locked": True,
            "task": False,
        }
        call = graded_call(cell.source)
        if SOLUTION[0] in cell.source:
            mark.update(solution=True, locked=False)
        elif call:
            part = _part(*call, f"{name}, cell {cell.id}")
            graded.append((call[1], part[0]))
            mark.update(grade=True, points=part[1])
            cell.metadata["dlkernels"] = {"task": call[1], "part": part[0]}
        cell.metadata["nbgrader"] = mark
    wanted = [(t.id, p) for t in definition.of_chapter(name[:2]) for p, _ in progress.parts(t)]
    if graded != wanted:
        raise BuildError(f"{name}: graded cells are {graded}; the tasks of the chapter ask for {wanted}")
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def _part(function, task_id, where):
    try:
        parts = dict(progress.parts(definition.find(task_id)))
    except ValueError as error:
        raise BuildError(f"{where}: {error}") from None
    part = definition.PARTS[function]
    if part not in parts:
        raise BuildError(f"{where}: {function}() does not fit the task {task_id}, which has {', '.join(parts)}")
    return part, parts[part]


def exercise_of(master):
    """The notebook a student gets: the master without answers, hidden checks and outputs."""
    notebook = copy.deepcopy(master)
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.outputs, cell.execution_count = [], None
        is_open = re.search(r"[=:] \.\.\.", cell.source)  # something to fill in: a number, or a value of a dict
        cell.source = remove_region(cell.source, SOLUTION, (lambda lines, indent: []) if is_open else _stub)
        cell.source = remove_region(cell.source, HIDDEN)
    return notebook


def _run(path):
    from nbclient import NotebookClient

    notebook = read(path)
    NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(path.parent)}}, record_timing=False
    ).execute()
    path.write_text(text_of(notebook), encoding="utf-8")


def build(root, write=True):
    """Build every exercise under `root`; returns the paths that were, or would be, changed."""
    changed = []
    for path in masters(root):
        try:
            master = annotate(read(path), path.name)
            exercise = exercise_of(master)
        except BuildError as error:
            raise BuildError(f"{path.name}: {error}") from None
        for target, notebook in ((path, master), (Path(root) / "exercises" / path.name, exercise)):
            text = text_of(notebook)
            if not target.exists() or target.read_text(encoding="utf-8") != text:
                changed.append(target)
                if write:
                    target.parent.mkdir(exist_ok=True)
                    target.write_text(text, encoding="utf-8")
    return changed


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m coursework.build", description="Build exercises/ from solutions/.")
    parser.add_argument("--root", default=".", help="the checkout (default: here)")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if something is out of date")
    parser.add_argument("--run", action="store_true", help="execute the masters first and record their outputs")
    options = parser.parse_args(argv)
    if not masters(options.root):
        sys.exit(
            f"No masters in {Path(options.root).resolve() / 'solutions'}. Run this in the checkout, or use --root."
        )
    try:
        if options.run:
            for path in masters(options.root):
                _run(path)
        changed = build(options.root, write=not options.check)
    except BuildError as error:
        sys.exit(f"Not built. {error}")
    for path in changed:
        print(("out of date: " if options.check else "wrote ") + str(path))
    if options.check and changed:
        sys.exit("Run `python -m coursework.build` and commit what it writes.")
    if not changed:
        print("Everything is up to date.")


if __name__ == "__main__":
    main()
