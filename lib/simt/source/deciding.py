"""Which variables and arrays of a kernel may decide where its threads go: what its tests read, directly or through others."""

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
    names, before = set(), None
    for part in ast.walk(node):
        if isinstance(part, ast.If | ast.While | ast.IfExp | ast.Assert):
            names |= _read(part.test)
        elif isinstance(part, ast.For):
            names |= _read(part.iter)
        elif isinstance(part, ast.BoolOp):
            names |= _read(part)
        elif isinstance(part, ast.Match):
            names |= _read(part.subject)
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id not in _PLAIN:
            names |= {name for argument in part.args for name in _read(argument)}
    while before != (before := len(names)):
        for part in ast.walk(node):
            if isinstance(part, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr) and part.value is not None:
                targets = part.targets if isinstance(part, ast.Assign) else [part.target]
                for target in targets:
                    if names & _stored(target):
                        names |= _read(part.value) | _read(target)  # where it is stored decides, too
            elif isinstance(part, ast.For) and names & _stored(part.target):
                names |= _read(part.iter)
            elif isinstance(part, ast.Call) and part.args and names & _stored(part.args[0]):  # an atomic
                names |= {name for argument in part.args for name in _read(argument)}
    return frozenset(names)


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
