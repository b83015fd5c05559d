"""Check an exercise from a shell: `python -m coursework.check 07`.

Runs the notebook's cells in order, as Jupyter would, and prints what its checks say. Exit status: 0 if every check of
the chapter is right, 1 if not, 2 if there is nothing to check. Sees the visible cases only, as the notebook does.
"""

import argparse
import os
import sys
from pathlib import Path

from . import definition, feedback, progress


def find_notebook(wish):
    """The notebook for "07", "exercises/07_vector_add.ipynb" or a folder; raises ValueError with what was found."""
    path = Path(wish)
    if path.suffix == ".ipynb":
        if path.is_file():
            return path
        raise ValueError(f"There is no notebook {wish}.")
    folders = [path] if path.is_dir() else [Path("exercises"), Path()]
    pattern = "*.ipynb" if path.is_dir() else f"{wish:0>2}_*.ipynb"
    for folder in folders:
        notebooks = sorted(folder.glob(pattern))
        if len(notebooks) > 1:
            raise ValueError(
                f"{len(notebooks)} notebooks fit {wish!r}: {', '.join(map(str, notebooks))}. Name one of them."
            )
        if notebooks:
            return notebooks[0]
    raise ValueError(
        f"No notebook {pattern} in exercises/ or here. Chapters with exercises: {', '.join(definition.chapters())}."
    )


def run(path):
    """Run the notebook; returns its outcomes by (task, part), and the errors of other cells as text."""
    import nbformat
    from IPython.core.interactiveshell import InteractiveShell

    from . import notebook as front

    os.environ.setdefault("MPLBACKEND", "agg")  # draw without a window
    front.OUTCOMES.clear()
    notebook = nbformat.read(path, as_version=4)
    shell = InteractiveShell.instance(colors="nocolor")
    errors = []
    home = Path.cwd()
    os.chdir(path.parent)
    try:
        for cell in (c for c in notebook.cells if c.cell_type == "code"):
            quiet = _Quiet()
            with quiet:
                result = shell.run_cell(cell.source, store_history=False)
            error = result.error_before_exec or result.error_in_exec
            if error and not isinstance(error, front.CheckFailed | NotImplementedError):
                errors.append(f"Cell {cell.get('id', '?')} stopped: {type(error).__name__}: {error}")
    finally:
        os.chdir(home)
    return {(o.task, o.part): o for o in front.OUTCOMES}, errors


class _Quiet:
    """Keeps what cells print away from the terminal: the outcomes are printed afterwards, in order."""

    def __enter__(self):
        import contextlib
        import io

        self.stack = contextlib.ExitStack()
        self.stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        self.stack.enter_context(contextlib.redirect_stderr(io.StringIO()))

    def __exit__(self, *error):
        self.stack.close()


def report(path, outcomes, errors):
    """Lines to print, and whether everything is right."""
    chapter = path.name[:2]
    lines, points, most, right = [str(path), ""], 0, 0, True
    for task in definition.of_chapter(chapter):
        for part, worth in progress.parts(task):
            outcome = outcomes.get((task.id, part))
            most += worth
            if outcome is None:
                lines += [f"{task.id}: its {part} check did not run. Is the check cell still there, and does the cell "
                          "above it end without an error?", ""]  # fmt: skip
                right = False
                continue
            lines += [feedback.as_text(outcome), ""]
            points += outcome.points
            right &= outcome.status == "right"
    lines += [*errors, *([""] if errors else [])]
    lines.append(f"{points} of {most} points on the visible cases.")
    return lines, right


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m coursework.check", description=__doc__.splitlines()[0])
    parser.add_argument("exercise", help="a chapter (07), or a notebook")
    options = parser.parse_args(argv)
    try:
        path = find_notebook(options.exercise)
        outcomes, errors = run(path)
        lines, right = report(path, outcomes, errors)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{options.exercise} cannot be read: {error}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
