"""Which loops may wait for what other threads store: those whose end depends on memory that they look at.

while step > 0:                       no: ``step`` is the thread's own
    s[t] += s[t + step]
    step //= 2
while cuda.atomic.add(flag, 0, 0) == 0:      yes
    pass
while low < high:                     yes, as far as can be told here: a search asks ``a[middle]`` where to go on
    ...
"""

import ast
import copy

import numpy as np

from .kinds import fold
from .names import DeviceName
from .syntax import names_in, stored_names

_FROM_OTHERS = ("atomic", "warp")  # kinds of cuda's names whose value other threads have a part in


def may_wait(loop, source):
    """Whether the end of a ``while``, or of a ``for`` that can be left early, depends on memory or on other threads."""
    return any(_asks_memory(expression, source) for expression in _deciding(loop))


def condition(loop):
    """(expression, whether it must become true) that lets a loop end: of a ``while``'s head, or of its first ``break``.
    (None, True) where there is none."""
    if isinstance(loop, ast.While) and not isinstance(loop.test, ast.Constant):
        return loop.test, False
    leaving = [n for n in ast.walk(loop) if isinstance(n, ast.If) and _leaves(n.body)]
    return (leaving[0].test, True) if leaving else (None, True)


def _leaves(block):
    return any(isinstance(n, ast.Break | ast.Return) for statement in block for n in ast.walk(statement))


def _deciding(loop):
    """The expressions that decide, directly or through variables, when a loop ends."""
    tests = [loop.test] if isinstance(loop, ast.While) else []
    if isinstance(loop, ast.For) and not _leaves(loop.body):
        return []  # it ends when its range does
    exits, assignments = [], []
    _collect(loop.body, [], True, exits, assignments)
    deciding = [*tests, *exits]
    names = {n for e in deciding for n in names_in(e)}
    taken = set()
    while True:
        more = [k for k, (target, _, _) in enumerate(assignments) if k not in taken and target in names]
        if not more:
            return deciding
        taken.update(more)
        for k in more:
            _, value, around = assignments[k]
            deciding += [value, *around]
            names |= {n for e in (value, *around) for n in names_in(e)}


def _collect(block, around, in_loop, exits, assignments):
    """Tests around every way out of the loop, and every assignment: (name, value, tests around it)."""
    for node in block:
        if isinstance(node, ast.Break):
            exits += around if in_loop else []
        elif isinstance(node, ast.Return | ast.Continue):  # what a `continue` skips, its test decides
            exits += around
        elif isinstance(node, ast.If):
            for body in (node.body, node.orelse):
                _collect(body, [*around, node.test], in_loop, exits, assignments)
        elif isinstance(node, ast.While | ast.For):
            head = node.test if isinstance(node, ast.While) else node.iter
            if isinstance(node, ast.For):
                assignments += [(n, node.iter, around) for n in stored_names(node.target)]
            _collect(node.body, [*around, head], False, exits, assignments)
            _collect(node.orelse, [*around, head], in_loop, exits, assignments)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                _collect(case.body, [*around, node.subject], in_loop, exits, assignments)
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            assignments += [(n, node.value, around) for t in targets for n in stored_names(t)]
        for part in ast.walk(node) if not isinstance(node, ast.FunctionDef) else ():
            if isinstance(part, ast.NamedExpr):
                assignments.append((part.target.id, part.value, around))


def awaited(loop, source, values):
    """What must become true for a loop to end, in words of its author: ``flag[1] == 1``; "" where that is not one test.

    values: variable -> what it holds, for the indices.
    """
    test, wanted = condition(loop)
    if test is None:
        return ""
    inside = {}
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            inside.setdefault(node.targets[0].id, []).append(node.value)
    test = _Place(source, values, inside).visit(copy.deepcopy(test))
    return ast.unparse(test if wanted else _negated(test))


class _Place(ast.NodeTransformer):
    """An atomic as the element that it asks, an index as a number, a variable as the one load that it comes from."""

    def __init__(self, source, values, inside):
        self.source, self.values, self.inside = source, values, inside

    def visit_Name(self, node):
        loads = self.inside.get(node.id, ())
        if len(loads) == 1 and _asks_memory(loads[0], self.source):
            self.inside = {}
            return self.visit(copy.deepcopy(loads[0]))
        return node

    def visit_Call(self, node):
        function = None if self.source.is_local(node.func) else self.source.static(node.func)[1]
        if isinstance(function, DeviceName) and function.kind == "atomic" and len(node.args) > 2:
            return ast.Subscript(node.args[0], self.index(node.args[1]), ast.Load())
        return node

    def visit_Subscript(self, node):
        node.slice = self.index(node.slice)
        return node

    def index(self, node):
        """With numbers for what is known."""
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self.index(e) for e in node.elts], ast.Load())
        for part in ast.walk(node):
            for field, value in ast.iter_fields(part):
                if isinstance(value, ast.Name) and isinstance(self.values.get(value.id), int | np.integer):
                    setattr(part, field, ast.Constant(int(self.values[value.id])))
        if isinstance(node, ast.Name) and isinstance(self.values.get(node.id), int | np.integer):
            return ast.Constant(int(self.values[node.id]))
        folded = fold(node)
        return node if folded is None else ast.Constant(folded)


_OPPOSITE = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt}


def _negated(test):
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITE:
        return ast.Compare(test.left, [_OPPOSITE[type(test.ops[0])]()], test.comparators)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(ast.Not(), test)


def _asks_memory(expression, source):
    for node in ast.walk(expression):
        if isinstance(node, ast.Subscript):
            shape = isinstance(node.value, ast.Attribute) and node.value.attr in ("shape", "strides")
            if not shape and not source.static_item(node)[0]:
                return True
        elif isinstance(node, ast.Call) and not source.is_local(node.func):
            known, function = source.static(node.func)
            if isinstance(function, DeviceName):
                if function.kind in _FROM_OTHERS:
                    return True
            elif not known or hasattr(function, "py_func"):  # a method, or a device function
                return True
    return False
