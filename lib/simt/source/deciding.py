"""Which variables and arrays of a kernel may decide where its threads go: what its tests read, directly or through
others."""

import ast

from .syntax import names_in
from .tree import tree_of

_SHAPES = ("shape", "size", "ndim", "strides")
_PLAIN = ("range", "min", "max", "abs", "float", "int", "bool", "len")


def idle(python_function):
    """Names in a kernel that decide nothing: no test reads their values, directly or through other variables."""
    return frozenset(names_in(tree_of(python_function)) - deciding(python_function))


def deciding(python_function):
    """Their names. What is handed to another function counts: it may test it. Sizes of arrays are not their values."""
    node = tree_of(python_function)
    names = set()
    for part in ast.walk(node):
        names |= _tested(part)
        if isinstance(part, ast.BoolOp):
            names |= _read(part)
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id not in _PLAIN:
            names |= {name for argument in part.args for name in _read(argument)}
    return _with_sources(node, names)[0]


def reaching(python_function, line):
    """(names, lines) that decide whether, and how often, a thread comes to a line: what the tests around it read and
    those before which threads leave, and the lines of the assignments that they come from."""
    node = tree_of(python_function)
    names = set()
    for part in ast.walk(node):
        leaves = isinstance(part, ast.If) and any(
            isinstance(n, ast.Return | ast.Break | ast.Continue) for n in ast.walk(part)
        )
        if leaves or _holds(part, line):
            names |= _tested(part)
    return _with_sources(node, names)


def feeding(python_function, line):
    """(names, lines) that the indices on a line come from."""
    node = tree_of(python_function)
    names = set()
    for part in ast.walk(node):
        if getattr(part, "lineno", 0) == line and isinstance(part, ast.Subscript):
            names |= _read(part.slice)
        elif getattr(part, "lineno", 0) == line and isinstance(part, ast.Call):
            names |= {name for argument in part.args[1:] for name in _read(argument)}
    return _with_sources(node, names)


def _holds(part, line):
    return hasattr(part, "lineno") and part.lineno <= line <= part.end_lineno


def _tested(part):
    if isinstance(part, ast.If | ast.While | ast.IfExp | ast.Assert):
        return _read(part.test)
    if isinstance(part, ast.For):
        return _read(part.iter)
    return _read(part.subject) if isinstance(part, ast.Match) else set()


def _with_sources(node, names):
    """(the names, and those whose values reach them; the lines where they do)."""
    names, lines, before = set(names), set(), None
    while before != (before := len(names)):
        for part in ast.walk(node):
            if isinstance(part, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr) and part.value is not None:
                targets = part.targets if isinstance(part, ast.Assign) else [part.target]
                for target in targets:
                    if names & _stored(target):
                        names |= _read(part.value) | _read(target)  # where it is stored decides, too
                        lines.add(part.lineno)
            elif isinstance(part, ast.For) and names & _stored(part.target):
                names |= _read(part.iter)
            elif isinstance(part, ast.Call) and part.args and names & _stored(part.args[0]):  # an atomic
                names |= {name for argument in part.args for name in _read(argument)}
    return frozenset(names), frozenset(lines)


def _read(expression):
    """Names whose values are read; not those of arrays that are only asked for their sizes."""
    sizes = {
        id(part.value)
        for part in ast.walk(expression)
        if isinstance(part, ast.Attribute) and part.attr in _SHAPES and isinstance(part.value, ast.Name)
    }
    return {part.id for part in ast.walk(expression) if isinstance(part, ast.Name) and id(part) not in sizes}


def _stored(target):
    """Names of the variables and arrays that an assignment changes; not those that only say where."""
    if isinstance(target, ast.Tuple | ast.List):
        return set().union(*map(_stored, target.elts))
    while isinstance(target, ast.Subscript | ast.Attribute | ast.Starred):
        target = target.value
    return {target.id} if isinstance(target, ast.Name) else set()
