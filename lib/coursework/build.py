"""Masters -> exercises: `python -m coursework.build [--check]`.

A master in `solutions/` is an ordinary notebook with recorded outputs. In an answer cell the answer stands between
`### BEGIN SOLUTION` and `### END SOLUTION`; in a check cell what is kept for grading stands between
`### BEGIN HIDDEN TESTS` and `### END HIDDEN TESTS`. The exercise is the master without both and without outputs.

A kernel to mend (kinds/mend.py) is handed out as its task has it, in the place of the answer.

The build also writes nbgrader's metadata (schema version 3, `grade_id` equal to the cell's id) into both, the first
code cell, which finds the library or installs it (install_cell.py), and under each task's heading what to read first.
In an exercise the checks, and other cells that use an answer, carry the tag `raises-exception`: who runs all of a
notebook sees all that is red, not the first. `--check` writes nothing and fails if a file is not what the build would
write. `--run` executes the masters first.
"""

import argparse
import ast
import copy
import functools
import inspect
import re
import sys
import tomllib
from pathlib import Path

from . import definition, progress
from .lighter import nbformat

SOLUTION = ("### BEGIN SOLUTION", "### END SOLUTION")
HIDDEN = ("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS")
PATTERN = "[0-9][0-9]*_*.ipynb"  # 06_memory, and 06b_debugging: a chapter's second notebook
STUB = "raise NotImplementedError"
GOES_ON = "raises-exception"  # nbconvert and Jupyter go on after an error in a cell with this tag
INSTALL = Path(__file__).with_name("install_cell.py")
FIRST = "exercises/try.ipynb"  # for the first minutes: written by hand, no master, no tasks
FOLDED = {
    "jupyter": {"source_hidden": True},
    "tags": ["nbval-ignore-output"],
}  # nobody need read the cell that installs
NOWHERE = 'ADDRESS, VERSION = "", ""'
READ_FIRST = "**Read first:**"


class BuildError(ValueError):
    """A master is not as the build needs it. The message names the notebook, the cell and the cure."""


def masters(root):
    """The master notebooks of a checkout, in order."""
    return sorted((Path(root) / "solutions").glob(PATTERN))


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


def part_of(source):
    """The graded part that a check cell is about: "results", "budget" or "prediction"."""
    return definition.PARTS[definition.graded_call(source)[0]]


def is_answer(cell):
    return cell.metadata.get("nbgrader", {}).get("solution", False)


def is_check(cell):
    return cell.metadata.get("nbgrader", {}).get("grade", False)


def address(root):
    """Where pip finds the course if no wheel lies beside a notebook: the repository of pyproject.toml; "" if it names
    none."""
    repository = _project(root).get("urls", {}).get("Repository", "")
    return repository and f"git+{repository}"


def version(root):
    """The library's version, of pyproject.toml; "" where there is none."""
    return _project(root).get("version", "")


def _project(root):
    path = Path(root) / "pyproject.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")).get("project", {}) if path.is_file() else {}


def with_install(notebook, chapter, where, version):
    """Let the first code cell be the one that finds the library, of this `version` or a later one, or installs it from
    the address `where`, in place."""
    source = INSTALL.read_text(encoding="utf-8").rstrip().replace(NOWHERE, f'ADDRESS, VERSION = "{where}", "{version}"')
    cell = nbformat.v4.new_code_cell(source, id=f"{chapter}-install", metadata=copy.deepcopy(FOLDED))
    old = next((c for c in notebook.cells if c.id == cell.id), None)
    if old is not None:
        cell.outputs, cell.execution_count = old.outputs, old.execution_count
        notebook.cells.remove(old)
    first_code = next((i for i, c in enumerate(notebook.cells) if c.cell_type == "code"), 0)
    notebook.cells.insert(first_code, cell)


def _with_sections(notebook, chapter):
    """Under the heading of each task: which section of the book it needs, as a link."""
    statements = {c.id: c for c in notebook.cells if c.cell_type == "markdown"}
    for task in definition.of_chapter(chapter):
        cell = statements.get(f"{task.id}-task")
        if cell is None or task.section is None:
            continue
        heading, _, rest = cell.source.partition("\n\n")
        if rest.startswith(READ_FIRST):
            rest = rest.partition("\n\n")[2]
        section = task.section
        link = f'{READ_FIRST} section {section.number} of the book, "[{section.heading}](../{section.link})".'
        cell.source = f"{heading}\n\n{link}\n\n{rest}"


def is_install(cell):
    return cell.id.endswith("-install")


def annotate(notebook, name, where="", version=""):
    """Write what the build adds to a master, in place: the metadata of every code cell, the cell that installs,
    links."""
    seen, graded, chapter = set(), [], definition.chapter_of(name)
    if notebook.cells:
        with_install(notebook, chapter, where, version)
        _with_sections(notebook, chapter)
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
        call = definition.graded_call(cell.source)
        if SOLUTION[0] in cell.source:
            mark.update(solution=True, locked=False)
        elif call:
            part = _part(*call, f"{name}, cell {cell.id}")
            graded.append((call[1], part[0]))
            mark.update(grade=True, points=part[1])
            cell.metadata["dlkernels"] = {"task": call[1], "part": part[0]}
        cell.metadata["nbgrader"] = mark
    wanted = [(t.id, p) for t in definition.of_chapter(chapter) for p, _ in progress.parts(t)]
    if graded != wanted:
        raise BuildError(f"{name}: graded cells are {graded}; the tasks of the chapter ask for {wanted}")
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def is_trial(cell):
    """A cell of the course's that is there to be changed: no answer, and nothing to flag."""
    return cell.id.endswith("-try")


def _part(function, task_id, where):
    try:
        parts = dict(progress.parts(definition.find(task_id)))
    except ValueError as error:
        raise BuildError(f"{where}: {error}") from None
    part = definition.PARTS[function]
    if part not in parts:
        raise BuildError(f"{where}: {function}() does not fit the task {task_id}, which has {', '.join(parts)}")
    return part, parts[part]


def _used(source):
    """The names that code uses and does not define itself."""
    names = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)]
    return {n.id for n in names if isinstance(n.ctx, ast.Load)} - {n.id for n in names if isinstance(n.ctx, ast.Store)}


def exercise_of(master):
    """The notebook a student gets: the master without answers, hidden checks and outputs."""
    notebook = copy.deepcopy(master)
    answers = [cell.source for cell in notebook.cells if SOLUTION[0] in cell.source]
    bodies = {task.id: _body(task.handed_out) for task in _tasks_of(notebook) if hasattr(task, "handed_out")}
    written = {name for source in answers for name in re.findall(r"^def (\w+)", source, re.MULTILINE)}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.outputs, cell.execution_count = [], None
        if is_check(cell) or (SOLUTION[0] not in cell.source and _used(cell.source) & written):
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), GOES_ON]
        is_open = re.search(
            r"[=:] \.\.\.|YOUR CODE HERE", cell.source
        )  # to fill in: a number, a value of a dict, a text
        begun = (lambda lines, indent: []) if is_open else _stub
        if cell.id in bodies:
            begun = functools.partial(_handed_out, bodies[cell.id])
        cell.source = remove_region(cell.source, SOLUTION, begun)
        cell.source = remove_region(cell.source, HIDDEN)
    return notebook


def _tasks_of(notebook):
    calls = [definition.graded_call(cell.source) for cell in notebook.cells if is_check(cell)]
    return [definition.find(call[1]) for call in calls if call]


def _body(kernel):
    """The lines of a kernel, without its head."""
    lines = inspect.getsource(kernel.py_func).rstrip().splitlines()
    return lines[next(k for k, line in enumerate(lines) if line.startswith("def ")) + 1 :]


def _handed_out(body, lines, indent):
    """In the place of an answer: the kernel as it is handed out; nothing for what is said of it."""
    return body if indent else []


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
            master = annotate(read(path), path.name, address(root), version(root))
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
    first_notebook = Path(root) / FIRST
    if first_notebook.exists():
        notebook = read(first_notebook)
        with_install(notebook, "try", address(root), version(root))
        if first_notebook.read_text(encoding="utf-8") != text_of(notebook):
            changed.append(first_notebook)
            if write:
                first_notebook.write_text(text_of(notebook), encoding="utf-8")
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
