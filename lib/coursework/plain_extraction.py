"""What an answer in plain Python is made of: see extraction.py, for functions and classes without numba.

Such an answer may also use what stands beside it: a table, a text, a lock. Plain data is written out with the value
that it has; anything else is taken from the last line at the top of a cell that gave the name its meaning.
"""

import ast
import dis
import linecache
import sys
from types import CodeType, FunctionType, ModuleType

import numpy as np

from . import extraction, plain_python, trees
from .admission import NotAdmitted

MOST_PARTS = 2_000  # of a table that is written out


def of(answer, without=()):
    """The statements of an admitted function or class of this process, and of all that it uses; raises NotAdmitted.

    `without`: see plain_python.refuse_what_spoils.
    """
    statements = list(_Found(answer).statements.values())
    _check(statements, without)
    return statements


def admitted(texts, name, without=()):
    """Texts that may come from anybody, as they may run: written anew from the trees that were checked."""
    statements = extraction.parsed(texts)
    if name not in {defined for statement in statements for defined in plain_python.defined(statement)}:
        raise NotAdmitted(f"nothing called {name}", 0, "was to be found")
    _check(statements, without)
    return extraction.anew(statements)


def _check(statements, without):
    plain_python.check(statements, {name for statement in statements for name in plain_python.defined(statement)})
    plain_python.refuse_what_spoils(statements, without)


class _Found:
    """What an answer uses, found from the values that its names have: {name: its statement}, those first that others
    use."""

    def __init__(self, answer):
        function = some_function(answer)
        if function is None:
            raise NotAdmitted("no function", 0, plain_python.WHERE)
        self.own, self.statements, self.values = function.__globals__, {}, {}
        self.fixed = plain_python.prelude()
        self.modules = {id(self.fixed[name]): name for name in plain_python.MODULES}
        self.known = {id(value): name for name, value in self.fixed.items() if name != "__name__"}
        for module, names in plain_python.MODULES.items():
            for name in names:
                thing = getattr(self.fixed[module], name, None)
                if not isinstance(thing, int | float | ModuleType | type(None)):
                    self.known.setdefault(id(thing), f"{module}.{name}")
        self.cells = None
        self.note(answer.__name__, answer, function.__code__.co_firstlineno)

    def note(self, name, value, line):
        """Note a function, a class or a value under the name by which it is used, and what it uses itself."""
        self.values[name] = value
        statement = self.statement(name, value, line)
        for used in _loads(statement):
            if used.id in self.own:
                used.id = self.use(used, self.own[used.id])
        self.statements[name] = statement  # behind what it uses: a class needs those that it inherits from

    def statement(self, name, value, line):
        function = some_function(value) if isinstance(value, type | FunctionType) else None
        if function is not None and function.__globals__ is self.own and function.__name__ != "<lambda>":
            kind = ast.ClassDef if isinstance(value, type) else ast.FunctionDef
            tree = trees.of(function, value.__name__, kind)
            if tree is None:
                raise NotAdmitted(f"no source of {value.__name__}", line, plain_python.WHERE)
            tree = trees.cleaned(tree)
            tree.name = name
            return tree
        if id(value) in self.known:
            return _assignment(name, self.known[id(value)])
        try:
            return _assignment(name, literal(value))
        except TypeError:
            written = self.written(name, ast.ClassDef if isinstance(value, type) else (ast.Assign, ast.AnnAssign))
        if written is None:
            why = ": it may use functions, classes, numbers, texts, lists, dicts, and what is made at the top of a cell"
            raise NotAdmitted(f"{name}, {extraction.kind(value)}", line, plain_python.WHERE + why)
        return written

    def use(self, node, value):
        """The name by which what `node.id` means is known to the answer; notes it."""
        name = node.id
        if id(value) in self.modules:
            return self.modules[id(value)]
        if self.fixed.get(name, self) is value:
            return name
        if name in self.values:
            if self.values[name] is not value:
                raise NotAdmitted(f"{name} with two meanings", node.lineno, plain_python.WHERE)
            return name
        self.note(name, value, node.lineno)
        return name

    def written(self, name, kind):
        """The last line at the top of a cell that gave a name its meaning; None where there is none."""
        if self.cells is None:
            self.cells = [tree for tree in map(_parsed, _cells(self.own)) if tree is not None]
        for tree in reversed(self.cells):
            for statement in reversed(tree.body):
                if isinstance(statement, kind) and name in plain_python.defined(statement):
                    return trees.cleaned(statement)
        return None


def _parsed(text):
    try:
        return trees.parse(text, 100 * trees.MOST_TEXT)
    except (SyntaxError, trees.TooLarge):
        return None


def _cells(scope):
    """The source texts that were run in a namespace, in order: the cells of a notebook, or a file."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None and shell.user_ns is scope:
        return list(shell.history_manager.input_hist_parsed)
    return ["".join(linecache.getlines(scope.get("__file__") or "", scope))]


def some_function(answer):
    """A function as it is; a method of a class, which leads to its source."""
    if not isinstance(answer, type):
        return answer if isinstance(answer, FunctionType) else None
    for member in vars(answer).values():
        member = getattr(member, "__func__", None) or getattr(member, "fget", None) or member
        if isinstance(member, FunctionType):
            return member
    return None


def literal(value, left=None):
    """Plain data as source; raises TypeError for anything else, and for very much of it."""
    left = left if left is not None else [MOST_PARTS]
    left[0] -= 1
    if left[0] < 0:
        raise TypeError
    if value is None or type(value) in (str, bytes, complex) or value is Ellipsis:
        return "..." if value is Ellipsis else repr(value)
    if type(value) in (list, set, frozenset) and value:
        inner = ", ".join(literal(part, left) for part in value)
        return {list: f"[{inner}]", set: f"{{{inner}}}", frozenset: f"frozenset({{{inner}}})"}[type(value)]
    if type(value) in (list, set, frozenset):
        return {list: "[]", set: "set()", frozenset: "frozenset()"}[type(value)]
    if type(value) is tuple:
        return f"({''.join(literal(part, left) + ', ' for part in value)})"
    if type(value) is dict:
        return f"{{{', '.join(f'{literal(k, left)}: {literal(v, left)}' for k, v in value.items())}}}"
    if type(value) is np.ndarray and value.dtype.kind in "biuf" and value.size <= left[0]:
        return (
            f"np.array({literal(value.tolist(), left)}, np.{value.dtype.name if value.dtype.kind != 'b' else 'bool_'})"
        )
    return extraction.literal(value)


def _assignment(name, text):
    return ast.fix_missing_locations(
        ast.Assign([ast.Name(name, ast.Store())], ast.parse(text, mode="eval").body, lineno=1)
    )


def _loads(statement):
    """The uses of names that are looked up outside of the statement's functions, as the compiler sees it."""
    with trees.deep():
        waiting, outer = [compile(ast.Module([statement], []), "<answer>", "exec")], set()
    while waiting:
        code = waiting.pop()
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        outer |= {step.argval for step in dis.get_instructions(code) if step.opname in _OUTER}
    return [n for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in outer]


_OUTER = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_GLOBALS", "LOAD_FROM_DICT_OR_DEREF")
