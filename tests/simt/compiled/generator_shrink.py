"""Make a failing kernel small: take away statements, then parts of expressions, as long as it fails and stays valid.

A smaller kernel may no longer be valid: a race where a barrier was taken away, a variable read before it is assigned.
So each candidate is first run in the executor, traced and in other orders (`is_valid`), and counts only if that finds
nothing.
"""

import ast
import copy
import warnings

from generator_case import HEADER, differences

import simt
from simt.xray import xray

ORDERS = ("reverse", "shuffled:1")


def in_executor(case, order="forward"):
    """The arrays after a run in the executor."""
    return case.run(
        lambda kernel, grid, block, args, shared: simt.run(kernel, grid, block, args, shared, order, budget=10_000)
    )


def is_valid(case):
    """No error, no finding of the x-ray, one result in every order."""
    try:
        forward = in_executor(case)
        if any(differences(forward, in_executor(case, order), case.rough) for order in ORDERS):
            return False
        return not xray(case.function(), case.grid, case.block, case.shared_bytes)(*case.fresh()).findings
    except Exception:
        return False


def shrink(case, fails, most=400):
    """The smallest valid case found for which ``fails(case)`` is true; ``fails`` may raise for what it does not
    know."""

    def still_fails(tree):
        candidate = case.with_source(source_of(tree))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            try:
                return candidate if fails(candidate) and is_valid(candidate) else None
            except Exception:
                return None

    best, tree, tries, shorter = case, ast.parse(case.source[len(HEADER) :]), 0, True
    while shorter:  # again, as long as a round helps
        shorter, place = False, 0
        changes = list(candidates(tree))
        while place < len(changes) and tries < most:
            smaller = copy.deepcopy(tree)
            changes[place](smaller)
            if len(source_of(smaller)) >= len(source_of(tree)):
                place += 1
                continue
            tries += 1
            found = still_fails(smaller)
            if found is None:
                place += 1
            else:  # go on at this place in what is left
                best, tree, shorter = found, smaller, True
                changes = list(candidates(tree))
    return best


def source_of(tree):
    return HEADER + "\n" + ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def candidates(tree):
    """Functions that change a copy of the tree, the boldest first."""
    suites = [
        (n, name)
        for n, node in enumerate(ast.walk(tree))
        for name in ("body", "orelse")
        if isinstance(getattr(node, name, None), list)
    ]
    for size in (8, 4, 2, 1):
        for number, name in suites:
            length = len(getattr(_node(tree, number), name))
            if (size >= 2 * max(length, 1) and size > 1) or not length:
                continue  # a smaller size takes as much away
            for start in range(max(0, length - size), -1, -size):
                yield lambda t, number=number, name=name, start=start, size=size: _delete(t, number, name, start, size)
    for number, node in enumerate(ast.walk(tree)):
        if isinstance(node, (ast.If, ast.For, ast.While)):
            yield lambda t, number=number: _unwrap(t, number)
    for number, node in enumerate(ast.walk(tree)):
        for part in _parts(node):
            yield lambda t, number=number, part=part: _replace(t, number, part)


def _node(tree, number):
    for k, node in enumerate(ast.walk(tree)):
        if k == number:
            return node
    raise IndexError(number)


def _delete(tree, number, name, start, size):
    node = _node(tree, number)
    statements = getattr(node, name)
    del statements[start : start + size]
    if not statements and name == "body":
        statements.append(ast.Pass())


def _parent(tree, node):
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if value is node:
                return parent, field, None
            if isinstance(value, list) and any(v is node for v in value):
                return parent, field, next(k for k, v in enumerate(value) if v is node)
    raise LookupError(node)


def _unwrap(tree, number):
    """``if c: x`` becomes ``x``."""
    node = _node(tree, number)
    parent, field, index = _parent(tree, node)
    getattr(parent, field)[index : index + 1] = node.body


def _parts(node):
    """Smaller expressions that may stand in the place of this one, by the path to them."""
    if isinstance(node, ast.BinOp):
        return ["left", "right"]
    if isinstance(node, ast.BoolOp):
        return [("values", 0), ("values", 1)]
    if isinstance(node, ast.IfExp):
        return ["body", "orelse"]
    if isinstance(node, ast.UnaryOp):
        return ["operand"]
    if isinstance(node, ast.Call) and node.args:
        return [("args", k) for k in range(len(node.args))]
    return []


def _replace(tree, number, part):
    node = _node(tree, number)
    smaller = getattr(node, part) if isinstance(part, str) else getattr(node, part[0])[part[1]]
    parent, field, index = _parent(tree, node)
    if index is None:
        setattr(parent, field, smaller)
    else:
        getattr(parent, field)[index] = smaller
