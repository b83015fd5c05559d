"""The answers in wrong_answers/ and mistakes/: what a file holds, and answers that are edits of another one.

    no_guard = edit(MASTER, "wrong index: in the last block", replace("if i < n:", "if True:"))

An edit is its base with some changes, and a verdict. The base is an answer of the same file, the `id` of one in
mistakes/, or MASTER: the last function or class in the task's answer cell in solutions/ (where there is none, a
function that returns what is said there last). What a change names stands in the base once, or is the first one behind
`after`, which stands there once. Where a text has several lines they are whole lines, at any depth; what `cut` and
`insert` name always is.

Answers in mistakes/ (mistakes.py says what stands there) that have an `id` belong to those of wrong_answers/.
"""

import ast
import functools
import importlib.util
import itertools
import json
import linecache
import re
import tomllib
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
    """verdict: what else is the docstring. claims: what is said beside the answer. `load` adds the other attributes."""

    def __init__(self, base, verdict, *changes, claims=None):
        self.base, self.__doc__, self.changes, self.claims = base, verdict, changes, claims

    @functools.cached_property
    def source(self):
        """The code, without a docstring (of one in mistakes/: the whole cell)."""
        if self.base is MASTER:
            name, text = last_answer(answer_cell(self.task_id))
        elif isinstance(self.base, str):
            name, text = last_answer(self.scope[self.base].source)
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
        return self.told(self.executed(self.source, self.scope)[self.name])

    def executed(self, code, names):
        file = f"<{self.name} of {self.task_id}>"  # who reads the source of a function finds it there
        linecache.cache[file] = len(code), None, code.splitlines(keepends=True), file
        exec(compile(code, file, "exec"), names)
        return names

    def told(self, answer):
        """With verdict and claims."""
        function = getattr(answer, "py_func", answer)
        function.__doc__ = self.__doc__
        if self.claims:
            function.claims = self.claims
        return answer


class noted(edit):
    """An answer in mistakes/: its whole cell, run where those of the file beside it are defined."""

    def __init__(self, table, kind):
        part = "over budget" if table.get("part") == "budget" else "wrong"
        super().__init__(None, f"{part} {table['kind']}: {' ... '.join(table['says'])}" if kind == "mistake" else kind)
        self.source, self.says = table["cell"], table["says"]

    @functools.cached_property
    def made(self):
        names = self.executed(self.source, dict(self.scope))
        name, claims = asked_for(self.task_id)
        self.claims = {claim: names[said] for claim, said in claims.items()}
        is_function = name in definitions(self.source)
        return self.told(names[name] if is_function else data("", names[name]))


def data(verdict, value):
    """An answer that is no function, as one that returns it."""

    def answer():
        return value

    answer.__doc__ = verdict
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


def last_answer(cell):
    """(name, code) of the function or class that a cell defines last."""
    if found := definitions(cell):
        return list(found.items())[-1]
    *_, node = ast.parse(cell).body
    name = node.targets[0].id
    return name, f"def {name}():\n    return {ast.get_source_segment(cell, node.value)}\n"


def answer_cell(task_id):
    """The code of the cell in solutions/."""
    return "".join(line for line in cell_of(task_id, task_id) if not re.match(" *### (BEGIN|END) SOLUTION", line))


def cell_of(task_id, cell_id):
    (path,) = (ROOT / "solutions").glob(f"{task_id.split('-')[0]}_*.ipynb")
    (lines,) = (cell["source"] for cell in _cells(path) if cell.get("id") == cell_id)
    return lines


@functools.cache
def _cells(path):
    return json.loads(path.read_text("utf-8"))["cells"]


def asked_for(task_id):
    """The names that the cell of a check hands over: the answer's, and {claim: name} of what is said beside it."""
    (call, *_) = (
        n for n in ast.walk(ast.parse("".join(cell_of(task_id, f"{task_id}-check")))) if isinstance(n, ast.Call)
    )
    return call.args[1].id, {k.arg: k.value.id for k in call.keywords if k.arg != "hidden"}


def file_of(task_id):
    return ROOT / "tests" / "mistakes" / f"{task_id.replace('-', '_')}.toml"


def tables(task_id):
    """(right answers, mistakes) of a task: the tables of its file in mistakes/, with what they leave out."""
    found = tomllib.loads(file_of(task_id).read_text(encoding="utf-8"))
    right, wrong = found.get("right", []), found["mistake"]
    for table in (*right, *wrong):
        says = table.get("says", [])
        table["says"] = [says] if isinstance(says, str) else says
        if "id" in table:
            table.setdefault("name", table["id"].replace("_", " "))
    for table in wrong:
        table.setdefault("verdict", "right")
        if "numbers" in table and table["verdict"] != "green":
            table.setdefault("kind", "prediction")
    return right, wrong


def cell(task_id, table, right):
    """What an answer's cell holds, unless it is numbers of a prediction."""
    text = table.get("answer") or right[0].get("answer") or answer_cell(task_id)
    for old, new in table.get("change", ()):
        if old not in text:
            raise ValueError(f"{task_id}, {table['name']!r}: the right answer has no {old!r}")
        text = text.replace(old, new)
    return text


def load(task_id):
    """The module with the answers to a task; edits in it are not compiled yet."""
    path = ROOT / "tests" / "wrong_answers" / f"{task_id.replace('-', '_')}.py"
    assert path.exists(), f"task {task_id} ships no wrong answers: {path} is missing"
    spec = importlib.util.spec_from_file_location(f"answers_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    right, wrong = tables(task_id) if file_of(task_id).exists() else ([], [])
    for kind, table in (*(("right", table) for table in right), *(("mistake", table) for table in wrong)):
        if "id" in table:
            assert not hasattr(module, table["id"]), f"{path.name} and mistakes/ both have {table['id']}"
            setattr(module, table["id"], noted(table | {"cell": cell(task_id, table, right)}, kind))
    if hasattr(module, "WRONG"):
        module.WRONG += tuple(_predictions(wrong))
    for name, value in vars(module).items():
        if isinstance(value, edit):
            value.name, value.task_id, value.scope = name, task_id, vars(module)
    return module


def _predictions(wrong):
    """(numbers, what the message says) of those with one wrong number."""
    for table in wrong:
        if table.get("kind") == "prediction" and len(table["numbers"]) == 1:
            yield {name: eval(x) if isinstance(x, str) else x for name, x in table["numbers"].items()}, table["says"]


def answer(task_id, name):
    """One of them, to be called."""
    return made(getattr(load(task_id), name))


def made(value):
    return value.made if isinstance(value, edit) else value
