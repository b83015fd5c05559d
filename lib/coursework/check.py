"""Check an exercise from a shell: `python -m coursework.check 07`.

Runs the notebook's cells in order, as Jupyter would, and prints what its checks say as they say it. A cell that does
not end is stopped. Exit status: 0 if every check of
the chapter is right, 1 if not, 2 if there is nothing to check. Sees the visible cases only, as the notebook does.
"""

import argparse
import contextlib
import functools
import io
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from . import definition, feedback, limited, progress

CELL_SECONDS = 60.0  # for one cell; a check takes a second or two
PATIENCE = 10.0  # more, for one that has been interrupted
MEMORY = 8 << 30
_ENDLESS = "Does each of its loops come to an end?"


def find_notebook(wish):
    """The notebook for "07", "exercises/07_vector_add.ipynb" or a folder; raises ValueError with what was found."""
    path = Path(wish)
    if path.suffix == ".ipynb":
        if path.is_file():
            return path
        raise ValueError(f"There is no notebook {wish}.")
    folders = [path] if path.is_dir() else [Path("exercises"), Path()]
    pattern = "*.ipynb" if path.is_dir() else f"{definition.padded(wish)}_*.ipynb"
    for folder in folders:
        notebooks = sorted(path for path in folder.glob(pattern) if path.is_file())
        if len(notebooks) > 1:
            raise ValueError(
                f"{len(notebooks)} notebooks fit {wish!r}: {', '.join(map(str, notebooks))}. Name one of them."
            )
        if notebooks:
            return notebooks[0]
    raise ValueError(
        f"No notebook {pattern} in exercises/ or here. Chapters with exercises: {', '.join(definition.chapters())}."
    )


def run(path, tell=print, seconds=CELL_SECONDS):
    """Run the notebook; returns its outcomes by (task, part), and the errors of other cells as text.

    tell: called with the text of each outcome as soon as it is known. A cell that runs longer than `seconds` is
    stopped.
    """
    from . import notebook as front
    from .lighter import nbformat

    os.environ.setdefault("MPLBACKEND", "agg")  # draw without a window
    front.OUTCOMES.clear()
    notebook = nbformat.read(path, as_version=4)
    shell = notebook_shell()
    errors = []
    home = Path.cwd()
    sys.path.insert(0, str(path.parent.resolve()))  # as in Jupyter: my_kernels.py lies beside the notebook
    cells = [c for c in notebook.cells if c.cell_type == "code"]
    os.chdir(path.parent)
    try:
        with Watchman(seconds) as watchman:
            for cell in cells:
                known, name = len(front.OUTCOMES), f"Cell {cell.get('id', '?')}"
                with watchman.cell(name), _quiet() as printed:
                    result = shell.run_cell(cell.source, store_history=True)
                if cell.get("id", "").endswith("-install") and printed.getvalue():  # of a library that is too old
                    tell(printed.getvalue())
                for outcome in front.OUTCOMES[known:]:
                    tell(feedback.as_text(outcome, read=progress.to_read(outcome)) + "\n")
                error = result.error_before_exec or result.error_in_exec
                if isinstance(error, KeyboardInterrupt):
                    errors.append(f"{name} was stopped after {seconds:g} seconds. {_ENDLESS}")
                elif error and not isinstance(error, front.CheckFailed | NotImplementedError):
                    errors.append(f"{name} stopped: {type(error).__name__}: {error}")
    finally:
        os.chdir(home)
        sys.path.pop(0)
    return {(o.task, o.part): o for o in front.OUTCOMES}, errors


def notebook_shell():
    """IPython's shell, as far as cells of a notebook ask for it. What it runs is not kept among the student's own
    history."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance(colors="nocolor")
    shell.enable_gui = lambda gui=None: None  # %matplotlib inline, where nothing is drawn
    shell.history_manager.enabled = False
    return shell


@contextlib.contextmanager
def _quiet():
    """Keeps what cells print away from the terminal, which is for what the checks say; yields it."""
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(io.StringIO()):
        yield printed


class Watchman:
    """Interrupts a cell that runs longer than `seconds`, and ends the program where that does not help.

    Compiled code lets no other thread of its process run, so the second step is another process's. Use as a context
    manager around all cells, and `cell(name)` around each.
    """

    def __init__(self, seconds):
        self.seconds = seconds

    def __enter__(self):
        command = [sys.executable, "-I", str(Path(__file__).with_name("watchman.py"))]
        wish = [str(os.getpid()), str(self.seconds), str(PATIENCE)]
        self.process = subprocess.Popen([*command, *wish], stdin=subprocess.PIPE, text=True)
        if (
            threading.current_thread() is threading.main_thread()
        ):  # a job in the background of a shell ignores interrupts
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return self

    def __exit__(self, *error):
        self.process.stdin.close()
        self.process.wait()

    @contextlib.contextmanager
    def cell(self, name):
        self._tell(name)
        try:
            with limited.interrupted(self.seconds):
                yield
        finally:
            self._tell("")

    def _tell(self, name):
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()


def _less_than_all_memory():
    """Let a cell that asks for too much end with a MemoryError, before the system ends something else (Linux)."""
    if sys.platform == "linux":
        import resource

        import psutil

        most = max(MEMORY, psutil.virtual_memory().total * 3 // 4)
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most if hard < 0 else min(most, hard), hard))


def report(path, outcomes, errors):
    """Lines to print after the outcomes, and whether everything is right."""
    chapter = definition.chapter_of(path.name)
    lines, points, most, right = [], 0, 0, True
    for task in definition.of_chapter(chapter):
        for part, worth in progress.parts(task):
            outcome = outcomes.get((task.id, part))
            most += worth
            if outcome is None:
                lines += [
                    f"{task.id}: its {part} check did not run. Is the check cell still there, and does the cell "
                    "above it end without an error?",
                    "",
                ]
                right = False
                continue
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
        print(path, end="\n\n", flush=True)
        _less_than_all_memory()
        outcomes, errors = run(path, functools.partial(print, flush=True))
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
