"""Updates: ``y[r] += t`` is a load and a store, and an atomic in its place would end every conflict between such lines,
in whatever order threads come to them."""

import ast

from ..source.tree import parsed

_OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor"}
_ATOMIC = "cuda.atomic."
_WHOLE = ("int32", "int64", "uint32", "uint64")
_TYPES = {"inc": _WHOLE[2:], "dec": _WHOLE[2:], **dict.fromkeys(("and_", "or_", "xor", "cas"), _WHOLE)}


def takes(name):
    """The types of elements that an atomic has."""
    return _TYPES.get(name, (*_WHOLE, "float32", "float64"))


def atomics(sites):
    """Of each site the name of the atomic that does what it is a part of: "" where there is none, None where it is no
    update of which one could say."""
    places = {file: _places(file) for file in {s.file for s in sites}}
    return [_of_text(s.text) if s.kind == "atomic" else places[s.file].get((s.line, s.column)) for s in sites]


def alike(names, name):
    """Numbers of the updates that may come in any order with those of an atomic: additions with subtractions."""
    family = ("add", "sub") if name in ("add", "sub") else (name,)
    return {number for number, operation in enumerate(names) if operation in family}


def _of_text(text):
    return text.removeprefix(_ATOMIC).partition("(")[0] if text.startswith(_ATOMIC) else None


def _places(file):
    """(line, column) of the elements that a file's updates load and store -> name of the atomic."""
    found = {}
    for node in ast.walk(parsed(file) or ast.Module([], [])):
        name, parts = _update(node)
        if name is not None:
            found |= {(part.lineno, part.col_offset): name for part in parts}
    return found


def _update(node):
    """(name of the atomic, the places of its element) of a statement; (None, ...) of any other."""
    if isinstance(node, ast.AugAssign):
        return _OPERATORS.get(type(node.op), ""), [node.target]
    if isinstance(node, ast.If) and len(node.body) == 1 and isinstance(node.body[0], ast.Assign):
        target, value = node.body[0].targets[0], node.body[0].value
        return _chosen(node.test, value, target, target)
    if not isinstance(node, ast.Assign):
        return None, []
    target, value = node.targets[0], node.value
    same = [n for n in ast.walk(value) if _same(n, target)]
    name = None
    if isinstance(value, ast.BinOp) and any(_same(side, target) for side in (value.left, value.right)):
        name = _OPERATORS.get(type(value.op), "")
        name = "" if name == "sub" and not _same(value.left, target) else name
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("max", "min") and same:
        name = value.func.id
    elif isinstance(value, ast.IfExp):
        name, _ = _chosen(value.test, value.body, value.orelse, target)
    return name, [target, *same]


def _chosen(test, value, orelse, target):
    """Of ``y[r] = value if test else orelse``."""
    sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else []
    places = [target, *(side for side in sides if _same(side, target))]
    if len(places) < 2 or len(sides) > 2:
        return None, []
    asked = sides[1] if _same(sides[0], target) else sides[0]
    grows = isinstance(test.ops[0], (ast.Lt, ast.LtE) if _same(sides[0], target) else (ast.Gt, ast.GtE))
    if isinstance(test.ops[0], ast.Eq):
        return ("cas" if _same(orelse, target) else None), places
    if _same(value, asked) and _same(orelse, target):
        return ("max" if grows else "min"), places
    if _same(value, target) and _same(orelse, asked):
        return ("min" if grows else "max"), places
    up = f"{ast.unparse(target)} + 1"
    return ("inc" if not grows and ast.unparse(value) == "0" and ast.unparse(orelse) == up else None), places


def _same(a, b):
    return ast.unparse(a) == ast.unparse(b)
