"""The answers in wrong_answers/: what a file holds, and answers that are edits of another one.

    no_guard = edit(MASTER, "wrong index: in the last block", replace("if i < n:", "if True:"))

An edit is its base with some changes, and a verdict. The base is an answer of the same file, or MASTER: the last function or class
in the task's answer cell in solutions/. What a change names stands in the base once, or is the first one behind `after`, which
stands there once. Where a text has several lines they are whole lines, at any depth; what `cut` and `insert` name always is.
"""

import ast
import functools
import importlib.util
import itertools
import json
import linecache
import re
from pathlib import Path
from textwrap import dedent, indent

ROOT = Path(__file__).resolve().parents[1]
MASTER = "the master"


def replace(old, new, after=""):
    def place(text):
        if "\n" not in old + new:
            return *_find(text, re.escape(old), old, after).span(), new
        found = _lines(text, old, after)
        return *found.span(), indent(dedent(new).strip("\n"), found[1])

    return place


def cut(lines, after=""):
    def place(text):
        start, end = _lines(text, lines, after).span()
        return start, end + 1, ""

    return place


def insert(lines, after="", before=""):
    def place(text):
        found = _lines(text, after or before)
        new, at = indent(dedent(lines).strip("\n"), found[1]), found.end() if after else found.start()
        return at, at, f"\n{new}" if after else f"{new}\n"

    return place


def changed_by(changes, text):
    places = sorted(change(text) for change in changes)
    if any(end > start for (_, end, _), (start, _, _) in itertools.pairwise(places)):
        raise LookupError("two changes overlap in")
    for start, end, new in reversed(places):
        text = text[:start] + new + text[end:]
    return text


def _lines(text, lines, after=""):
    """The match of whole lines; its group 1 is their depth."""
    pattern = "".join(rf"\n\1{re.escape(line)}" if line else r"\n" for line in dedent(lines).strip("\n").split("\n"))
    return _find(text, "^( *)" + pattern.removeprefix(r"\n\1") + "$", lines, after)


def _find(text, pattern, words, after):
    if after and text.count(after) != 1:
        raise LookupError(f"{after!r} stands {text.count(after)} times, expected once, in")
    begin = text.index(after) + len(after) if after else 0
    found = list(re.compile(pattern, re.MULTILINE).finditer(text, begin))
    if len(found) != 1 and not (found and after):
        raise LookupError(f"{words!r} stands {len(found)} times, expected once, in")
    return found[0]


class edit:
    """verdict: what else is the docstring. claims: what is said beside the answer. `load` adds name, task_id and scope."""

    def __init__(self, base, verdict, *changes, claims=None):
        self.base, self.__doc__, self.changes, self.claims = base, verdict, changes, claims

    @functools.cached_property
    def source(self):
        """The code, without a docstring."""
        if self.base is MASTER:
            name, text = list(definitions(answer_cell(self.task_id)).items())[-1]
        elif isinstance(self.base, edit):
            name, text = self.base.name, self.base.source
        else:
            name = getattr(self.base, "py_func", self.base).__name__
            text = definitions(Path(self.scope["__file__"]).read_text("utf-8"))[name]
        try:
            changed = changed_by(self.changes, text)
        except LookupError as error:
            raise LookupError(f"{self.name} of {self.task_id}: {error}\n\n{text}") from None
        return re.sub(rf"^(def|class) {name}\b", rf"\1 {self.name}", changed, count=1, flags=re.MULTILINE)

    @functools.cached_property
    def made(self):
        """The answer itself. Those that no test asks for are never compiled."""
        file = f"<{self.name} of {self.task_id}>"  # who reads the source of a function finds it there
        linecache.cache[file] = len(self.source), None, self.source.splitlines(keepends=True), file
        exec(compile(self.source, file, "exec"), self.scope)
        answer = self.scope[self.name]
        function = getattr(answer, "py_func", answer)
        function.__doc__ = self.__doc__
        if self.claims:
            function.claims = self.claims
        return answer


@functools.cache
def definitions(text):
    """{name: code without its docstring} of the functions and classes of a module."""
    lines, found = text.split("\n"), {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            begin = min(part.lineno for part in (node, *node.decorator_list)) - 1
            first, *rest = node.body
            code = range(begin, node.end_lineno)
            if ast.get_docstring(node) is not None and rest:
                of_rest = min(part.lineno for part in (rest[0], *getattr(rest[0], "decorator_list", ())))
                code = [k for k in code if not first.lineno - 1 <= k < of_rest - 1 or lines[k].lstrip().startswith("#")]
            found[node.name] = "\n".join(lines[k] for k in code) + "\n"
    return found


def answer_cell(task_id):
    """The code of the cell in solutions/."""
    (path,) = (ROOT / "solutions").glob(f"{task_id.split('-')[0]}_*.ipynb")
    (lines,) = (cell["source"] for cell in _cells(path) if cell.get("id") == task_id)
    return "".join(line for line in lines if not re.match(" *### (BEGIN|END) SOLUTION", line))


@functools.cache
def _cells(path):
    return json.loads(path.read_text("utf-8"))["cells"]


def load(task_id):
    """The module with the answers to a task; edits in it are not compiled yet."""
    path = ROOT / "tests" / "wrong_answers" / f"{task_id.replace('-', '_')}.py"
    assert path.exists(), f"task {task_id} ships no wrong answers: {path} is missing"
    spec = importlib.util.spec_from_file_location(f"answers_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, value in vars(module).items():
        if isinstance(value, edit):
            value.name, value.task_id, value.scope = name, task_id, vars(module)
    return module


def answer(task_id, name):
    """One of them, to be called."""
    return made(getattr(load(task_id), name))


def made(value):
    return value.made if isinstance(value, edit) else value
