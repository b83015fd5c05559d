"""Who uses what in this checkout, read from the source: modules of the library, tests and their helpers, the code of
pages and of master notebooks, programs of benchmarks/, files that strings name, and the operations and rungs of the
library.

A name that a package passes on leads to where it is defined. An operation uses the files of all its rungs, so that
whoever calls `conv2d`, or names it in a string, uses them too.
"""

import ast
import contextlib
import inspect
import json
import os
import re
import subprocess
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE, MASTER, TEST = r"(?:chapters/\w+|intro)\.md", r"solutions/(\w+?)_\w+\.ipynb", r"tests/(?:.+/)?test_\w+\.py"
CODE = re.compile(rf"(?:lib|_ext|benchmarks)/.+\.py|tests/(?!wrong_answers/\d).+\.py|{PAGE}|{MASTER}")
NAMES_ONLY = ("tests/mutations.py", "tests/project/test_affected.py")  # files, without using them
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n((?s:.*?))^```$", re.MULTILINE)
SHOWN = re.compile(r"(?:\{literalinclude\}|:file:|\{(?:image|figure)\}) *(\S+)")  # by a page, outside its code
# In strings: modules, code that imports, files.
MODULE = re.compile(r"\b(?:simt|dlkernels|training|workers|cpulab|coursework)(?:\.[a-z_]\w*)+")
IMPORT = re.compile(r"^\s*(?:from ([\w.]+) import ([\w, ]+)|import ([\w.]+))", re.MULTILINE)
FILE = re.compile(r"[\w./-]*\w\.[a-z]{1,6}\b|\bMakefile\b")


def git(*arguments):
    """What git prints, as a list; nothing where it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return [name for name in re.split("[\0\n]", done.stdout) if name] if done.returncode == 0 else []


class Uses:
    """`users` of each file, operation and rung. Files are named from the checkout's folder."""

    def __init__(self):
        import dlkernels
        import simt
        from dlkernels import implementations

        listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        self.files = {name for name in listed if (ROOT / name).is_file()}
        self.modules = {_dotted(name): name for name in self.files if re.fullmatch(r"lib/.+\.py", name)}
        self.by_name = defaultdict(set)  # but for modules of the library: those are imported
        for name in self.files - set(self.modules.values()):
            self.by_name[Path(name).name].add(name)
        asked_for = {"simt": simt._HOMES, "dlkernels": dlkernels._HOMES}
        self.passed_on = {
            module: _passed_on(module, home, asked_for.get(module, {}))
            for module, home in self.modules.items()
            if home.endswith("__init__.py")
        }
        self.users, self.operations, self.rungs = defaultdict(set), set(implementations.OPERATIONS), set()
        for rung in implementations.everything():
            self.rungs.add(rung.name)
            of = implementations.OPERATIONS[rung.operation]
            own = (rung.function, of.reference, *(kernel for kernel, _ in rung.kernels))
            for home in {*map(self._home, own), *self._homes(of.prepare)}:
                self.users[home] |= {rung.name, of.name}
            for home in self._homes(getattr(dlkernels, of.name, of.prepare)):
                self.users[home].add(of.name)
        for name in filter(CODE.fullmatch, self.files):
            for used in self.used_by(name) - {name}:
                self.users[used].add(name)

    def reached_from(self, changed):
        """{file, operation or rung: (how many steps away, what it uses of these)}."""
        reached, todo = {changed: (0, changed)}, [changed]
        for used in todo:
            steps = reached[used][0]
            new = self.users.get(used, set()) - reached.keys()
            if used.endswith("__init__.py") and steps:
                new -= self.operations | self.rungs  # those whose functions here use the file are reached by that
            reached |= dict.fromkeys(new, (steps + 1, used))
            todo += sorted(new)
        return reached

    def used_by(self, name):
        """The files, operations and rungs that a file uses."""
        text, folder = (ROOT / name).read_text(encoding="utf-8"), Path(name).parent.as_posix()
        recorded, library = (bool(re.search(words, text)) for words in ("recorded|Beside|benchmarks", "dlkernels"))
        found = {f"{folder}/conftest.py"} & self.files if re.fullmatch(TEST, name) else set()
        if name.endswith(".md"):
            found |= {os.path.normpath(f"{folder}/{shown}") for shown in SHOWN.findall(text)}
        bound = {}  # the modules that names stand for
        for tree in _trees(name, text):
            nodes = list(ast.walk(tree))
            loaded = {node.id for node in nodes if isinstance(node, ast.Name)}
            docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
            for node in nodes:
                if isinstance(node, ast.Import):
                    for alias in node.names:
                        found |= self._imported(alias.name, folder)
                        bound[alias.asname or alias.name] = alias.name
                elif isinstance(node, ast.ImportFrom):
                    base = _absolute(node, name)
                    for alias in node.names:
                        if name.endswith("__init__.py") and (alias.asname or alias.name) not in loaded:
                            continue  # passed on, or imported for its decorators: by name, or by operation
                        bound[alias.asname or alias.name] = f"{base}.{alias.name}"
                        found |= self._defined(base, alias.name) or self._imported(base or alias.name, folder)
            for node in nodes:
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    found |= self._defined(bound.get(node.value.id), node.attr)
                elif name in NAMES_ONLY or id(node) in docstrings:
                    continue
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found |= self._named(node.value, name, recorded, library, folder)
        return found

    def _home(self, function):
        """The file of the library in which a function stands."""
        return self.modules.get(getattr(inspect.unwrap(getattr(function, "py_func", function)), "__module__", None), "")

    def _homes(self, function):
        """The file of a function, and those of the functions and modules that it uses, by itself or by others of its
        file."""
        home, found, todo = self._home(function), set(), [function]
        for one in todo:
            for value in map(one.__globals__.get, _names(one.__code__)):
                there = self.modules.get(value.__name__, "") if inspect.ismodule(value) else self._home(value)
                found.add(there)
                if there == home and inspect.isfunction(value) and value not in todo:
                    todo.append(value)
        return {home, *found} - {""}

    def _imported(self, module, folder):
        """The file that `import module` runs: of the library, or beside the importing file, or of that name
        anywhere."""
        if module in self.modules:
            return {self.modules[module]}
        return {f"{folder}/{module}.py"} & self.files or self.by_name.get(f"{module}.py", set())

    def _defined(self, module, name):
        """Where a name of a module of the library is defined; an operation, for the function that runs it."""
        if f"{module}.{name}" in self.modules:
            return {self.modules[f"{module}.{name}"]}
        if module in self.passed_on and name in self.operations:
            return {name}
        there = self.passed_on.get(module, {}).get(name)
        found = self._defined(*there) if there else set()
        return found or {self.modules[one] for one in (module,) if one in self.modules}

    def _named(self, string, name, recorded, library, folder):
        """What a string names."""
        found = set()
        for dots in MODULE.findall(string):
            found |= {self.modules.get(dots.rsplit(".", cut)[0], "") for cut in range(dots.count("."))}
        for path in FILE.findall(string):
            found |= {one for one in self.by_name.get(path.split("/")[-1], ()) if one.endswith(path.lstrip("./"))}
        if not name.startswith("lib/"):
            for base, names, module in IMPORT.findall(string):
                for one in re.findall(r"(\w+)(?: as \w+)?", names):
                    found |= self._defined(base, one) or self._imported(base, folder)
                found |= self._imported(module, folder)
            found |= {string} & (self.operations | self.rungs) if library else set()
        if recorded:
            found |= {f"benchmarks/results/{string}.json"} & self.files
            found |= {f"benchmarks/{string}.py"} & self.files if name.startswith("tests/") else set()
        return found


def _names(code):
    """The names that a function's code looks up, also in functions and comprehensions within it."""
    yield from code.co_names
    for inner in filter(inspect.iscode, code.co_consts):
        yield from _names(inner)


def _dotted(name):
    """simt.compiled for lib/simt/compiled/__init__.py"""
    return name.removeprefix("lib/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _absolute(node, name):
    """The module that a `from` names; outside the library, of a relative one what stands behind the dots."""
    if not node.level or not name.startswith("lib/"):
        return node.module or ""
    parts = Path(name).parts[1:-1]
    return ".".join([*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])])


def _passed_on(module, home, asked_for):
    """{name: (module, name there)} of what a package's __init__.py imports, at once or when it is asked for."""
    found = {name: (f"{module}.{place}".removesuffix(f".{name}"), name) for name, place in asked_for.items()}
    for node in ast.parse((ROOT / home).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: (_absolute(node, home), alias.name) for alias in node.names}
    return found


def _trees(name, text):
    """The syntax trees of a module, or of the cells of a page or a notebook."""
    if name.endswith(".py"):
        yield ast.parse(text)
        return
    if name.endswith(".md"):
        cells = CELL.findall(text)
    else:
        cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        with contextlib.suppress(SyntaxError):  # what is shown to fail
            yield ast.parse(re.sub(r"(?m)^(?:\s*[%!]|:|---).*$", "", cell))
