"""What the checks say about mistakes that a student, or a cheat, may make.

    python tests/mistakes.py [07-add ...]          the table
    python tests/mistakes.py --show [07-add ...]   and each message, beside what a teacher would say
    python tests/mistakes.py --here [07-add ...]   in this process, without IPython: faster, and a hang hangs it

`mistakes/<task>.toml` holds them. Each [[mistake]] has a name (or an `id`, or both: one with an `id` is one of the
answers of wrong_answers/ as well), what a `teacher` would say, and the cell: `answer`, or `change` = [[old, new], ...]
of the file's first right answer, or `numbers` of a prediction (a text is an expression). A first right answer without
an `answer` is the one in solutions/. Somebody read the message and noted the `verdict`:

    right   names the cause, or leads straight to it (where none is noted)
    vague   true, but does not lead
    wrong   blames something else
    green   the check passes it; `why` says whether that is wanted

with the `kind` of failure ("prediction" where `numbers` are, unless noted; of `part`, "results" unless "budget") and
what the message `says`: words of it, or a list of such. [[right]] are right answers, usual and unusual. Each runs as in
a notebook: its cell, then the check's own cell, in IPython.
"""

import argparse
import contextlib
import functools
import io
import json
import linecache
import os
import queue
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import answers
from answers import tables
from unhurried import unhurried

HERE = Path(__file__).parent
FOLDER, EXERCISES = HERE / "mistakes", HERE.parent / "exercises"
VERDICTS = ("right", "vague", "wrong", "green", "crash", "hang")
SECONDS = 600.0  # for one mistake, compilation included; then it counts as a hang
MEMORY = 12 << 30


def read(task_id):
    """(right answers, mistakes) of a task, each with its whole `cell`."""
    right, wrong = tables(task_id)
    for table in (*right, *wrong):
        table["cell"] = _cell(task_id, table, right)
    return right, wrong


def _cell(task_id, table, right):
    if "numbers" in table:
        return "\n".join(f"{name} = {value}" for name, value in (_truths(task_id) | table["numbers"]).items())
    return answers.cell(task_id, table, right)


@functools.cache  # some are worked out by simulation, in seconds
def _truths(task_id):
    from coursework import definition

    return {question.name: repr(question.truth()) for question in definition.find(task_id).questions}


class Notebook:
    """The exercises of a chapter, as a student has them open; `shell`: in IPython, or by plain exec."""

    def __init__(self, task_id, shell=True):
        import nbformat
        from IPython.core.interactiveshell import InteractiveShell

        chapter = task_id.split("-")[0]
        (path,) = EXERCISES.glob(f"{chapter}_*.ipynb")
        self.task_id = task_id
        self.cells = {c.id: c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"}
        self.shell = InteractiveShell(colors="nocolor") if shell else None
        self.names = self.shell.user_ns if shell else {"__name__": f"mistakes of {task_id}"}
        self.run(self.cells[f"{chapter}-setup"])

    def run(self, cell):
        """The exception with which a cell ended, or None."""
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            if self.shell is None:
                return self._run_plainly(cell)
            result = self.shell.run_cell(cell, store_history=False)
        return result.error_before_exec or result.error_in_exec

    def _run_plainly(self, cell):
        name = f"<{self.task_id}, {len(linecache.cache)}>"
        linecache.cache[name] = (len(cell), None, cell.splitlines(True), name)
        try:
            exec(compile(cell, name, "exec"), self.names)
        except Exception as error:
            return error
        return None

    def ask(self, cell):
        """Run an answer's cell and what checks it: {part: (status, kind, message)}, hidden cases under "hidden"."""
        from coursework import checking, definition, feedback, notebook
        from coursework.answer import Local

        error = self.run(cell)
        if error:
            return {"results": ("crash", type(error).__name__, f"the cell itself: {error}")}
        said, task = {}, definition.find(self.task_id)
        for part in ("check", "budget"):
            if f"{self.task_id}-{part}" not in self.cells:
                continue
            notebook.OUTCOMES.clear()
            error = self.run(self.cells[f"{self.task_id}-{part}"])
            name = "results" if part == "check" else part
            if not notebook.OUTCOMES:
                said[name] = ("crash", type(error).__name__, str(error))
                break
            outcome = notebook.OUTCOMES[-1]
            kind = outcome.failure.kind if outcome.failure else ""
            said[name] = (outcome.status, kind, feedback.as_text(outcome, advise=False))
            if outcome.status != checking.RIGHT:
                break
        if said["results"][0] == checking.RIGHT and task.part == "results":
            named, claims = answers.asked_for(self.task_id)
            claims = {claim: self.names[name] for claim, name in claims.items()}
            outcome = checking.check(task, Local(self.names[named], claims=claims), hidden=True)
            kind = outcome.failure.kind if outcome.failure else ""
            said["hidden"] = (outcome.status, kind, feedback.as_text(outcome, advise=False))
        return said


def _play(task_id, which, start):
    """In a process of its own: answers to a task from number `start` on, a line of JSON for each."""
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    unhurried(setattr)
    right, wrong = read(task_id)
    tables, out = (right if which == "right" else wrong), os.fdopen(os.dup(1), "w")
    notebook = Notebook(task_id)
    for table in tables[start:]:
        out.write(json.dumps(notebook.ask(table["cell"])) + "\n")
        out.flush()
    os._exit(0)  # an answer may have left threads


def outcomes(task_id, which="mistake", seconds=SECONDS):
    """What the checks said, in the order of the file: dicts {part: (status, kind, message)}."""
    count, found = len(read(task_id)[which == "mistake"]), []
    while len(found) < count:
        environment = os.environ | {"DLKERNELS_PROGRESS": "off", "DLKERNELS_QUIET": "1", "MPLBACKEND": "agg"}
        command = [sys.executable, __file__, "--play", which, "--start", str(len(found)), task_id]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=environment, cwd=HERE.parent
        ) as process:
            lines = queue.Queue()
            threading.Thread(target=_pass_on, args=(process.stdout, lines), daemon=True).start()
            while len(found) < count:
                try:
                    line = lines.get(timeout=seconds)
                except queue.Empty:
                    found.append({"results": ("hang", "", f"no answer after {seconds:g} seconds")})
                    break
                if line is None:
                    found.append({"results": ("crash", "", f"the process ended with {process.wait()}")})
                    break
                found.append({part: tuple(said) for part, said in json.loads(line).items()})
            process.kill()
    return found


def outcomes_here(task_id, which="mistake"):
    """As `outcomes`, in this process and without IPython."""
    notebook = Notebook(task_id, shell=False)
    return [notebook.ask(table["cell"]) for table in read(task_id)[which == "mistake"]]


def _pass_on(stream, lines):
    for line in stream:
        if line.startswith("{"):
            lines.put(line)
    lines.put(None)


def last(said):
    """(part, status, kind, message) of the first thing that was not right, or of the last."""
    for part, (status, kind, message) in said.items():
        if status != "right":
            return part, status, kind, message
    part = list(said)[-1]
    return part, *said[part]


def seen(table, said):
    """The verdict that holds now: the noted one, unless the check says something else than when it was noted."""
    part, status, kind, message = last(said)
    if status in ("crash", "hang"):
        return status
    if status == "right" or part == "hidden":
        return "green"
    noted = (table.get("part", "results"), table.get("kind"))
    return table["verdict"] if noted == (part, kind) and all(words in message for words in table["says"]) else "changed"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--here", action="store_true", help="in this process")
    parser.add_argument("--right", action="store_true", help="the right answers, not the mistakes")
    parser.add_argument("--play", help=argparse.SUPPRESS)
    parser.add_argument("--start", type=int, default=0, help=argparse.SUPPRESS)
    wish = parser.parse_args()
    if wish.play:
        _play(wish.tasks[0], wish.play, wish.start)
    names = wish.tasks or [path.stem.replace("_", "-") for path in sorted(FOLDER.glob("*.toml"))]
    which, total, columns = ("right" if wish.right else "mistake"), Counter(), (*VERDICTS, "changed")
    print("| task | " + " | ".join(columns) + " |\n" + "|---" * (len(columns) + 1) + "|", flush=True)
    for name in names:
        counts = Counter()
        played = outcomes_here(name, which) if wish.here else outcomes(name, which)
        for table, said in zip(read(name)[which == "mistake"], played, strict=True):
            verdict = seen(table, said) if which == "mistake" else last(said)[1]
            counts[verdict] += 1
            if wish.show or verdict == "changed":
                part, status, kind, message = last(said)
                print(
                    f"\n## {table['name']} [{verdict}] {part}: {status} {kind}\n{table.get('teacher', '')}\n{message}"
                )
        total += counts
        print(f"| {name} | " + " | ".join(str(counts[c] or "") for c in columns) + " |", flush=True)
    print("| **all** | " + " | ".join(f"**{total[c]}**" if total[c] else "" for c in columns) + " |")


if __name__ == "__main__":
    main()
