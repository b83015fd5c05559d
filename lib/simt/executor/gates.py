"""Which accesses happen only because of what an atomic returned: the order that it stands for holds for those alone.

    while cuda.atomic.add(flag, 0, 0) == 0:     all that follows is gated by this atomic
        pass
    if cuda.atomic.add(count, 0, 1) == last:    what stands inside is
        ...
    cuda.atomic.add(flag, 0, 0)                 nothing is: nobody looks at the value

An atomic is known by the ``id`` of its node in the syntax tree, which lives as long as its function's source.
"""

import ast

from ..source.function import Source
from ..source.names import DeviceName
from ..source.syntax import names_in, stored_names

_NONE = frozenset()


class Gates:
    """Of one function. ``guards``: id of a node -> the atomics that gate it. ``after``: those that gate what follows a
    call of the function. ``returned``: those whose value reaches its result.
    ``compared``: id of a comparison -> (the atomics of its left side, those of its right side, whether the left side
    is what one atomic returned, plus or minus what none did, and the right side). ``taint``: variable (or array) ->
    atomics it comes from.
    """

    def __init__(self, source, known):
        self.source, self.known = source, known  # known: Python function -> its Gates, or None while it is being made
        self.guards, self.taint, self.now = {}, {}, _NONE
        self.compared = {}
        self.left = _NONE  # the atomics behind a `break` of the loop at hand
        self.returned = _NONE
        body = source.node.body if isinstance(source.node.body, list) else []
        self.values = _values(ast.Module(body, []))
        before = None
        while before != (before := {name: len(atoms) for name, atoms in self.taint.items()}):
            for node in ast.walk(ast.Module(body, [])):
                self._flow(node)
        self._block(body)
        self.after = self.now

    def _flow(self, node):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            atoms = self.atoms(node.value)
            for target in targets if atoms else ():
                names = stored_names(target) or {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
                root = target
                while isinstance(root, ast.Subscript | ast.Attribute):
                    root = root.value
                for name in {root.id} if isinstance(root, ast.Name) else names:
                    self.taint[name] = self.taint.get(name, _NONE) | atoms
        elif isinstance(node, ast.If) and (atoms := self.atoms(node.test)):
            for name in stored_names(ast.Module([*node.body, *node.orelse], [])) | _stored_arrays(node):
                self.taint[name] = self.taint.get(name, _NONE) | atoms  # what is stored says what was asked
        elif isinstance(node, ast.Return) and node.value is not None:
            self.returned |= self.atoms(node.value)
        elif isinstance(node, ast.Call) and (callee := self._callee(node)):
            for argument, name in zip(node.args, callee.source.parameters, strict=False):
                if isinstance(argument, ast.Name) and (atoms := callee.taint.get(name)):
                    self.taint[argument.id] = self.taint.get(argument.id, _NONE) | atoms

    def atoms(self, expression):
        """The atomics that a value comes from."""
        found = {atom for name in names_in(expression) for atom in self.taint.get(name, ())}
        for node in ast.walk(expression):
            if isinstance(node, ast.Call):
                if self._is_atomic(node):
                    found.add(id(node))
                elif callee := self._callee(node):
                    found |= callee.returned
        return frozenset(found)

    def _is_sum(self, expression):
        """Whether a value is what one atomic returned, plus or minus something that comes from none."""
        if isinstance(expression, ast.Name):
            return len(self.values.get(expression.id, ())) == 1 and self._is_sum(self.values[expression.id][0])
        if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Add | ast.Sub):
            if not self.atoms(expression.right):
                return self._is_sum(expression.left)
            adds = isinstance(expression.op, ast.Add) and not self.atoms(expression.left)
            return adds and self._is_sum(expression.right)
        return isinstance(expression, ast.Call) and self._is_atomic(expression)

    def _static(self, node):
        if self.source.is_local(node.func) or not isinstance(node.func, ast.Name | ast.Attribute):
            return None
        return self.source.static(node.func)[1]

    def _is_atomic(self, node):
        function = self._static(node)
        return isinstance(function, DeviceName) and function.kind == "atomic"

    def _callee(self, node):
        function = self.source.callee(node)
        return None if function is None else gates_of(function, self.known)

    # -- in the order of the source -----------------------------------------------------------------------------------

    def _block(self, statements):
        for node in statements:
            self._statement(node)

    def _statement(self, node):
        outer = self.now
        if isinstance(node, ast.If | ast.While):
            self._expression(node.test)
            atoms = self.atoms(node.test)
            self.now |= atoms
            if isinstance(node, ast.While):
                self._rounds(node.body, isinstance(node.test, ast.Constant))
            else:
                self._block(node.body)
            passed = self.now - outer - atoms  # gates in the branch: whoever took it came through them
            self.now = outer | atoms
            self._block(node.orelse)
            passed |= self.now - outer - atoms
            self.left |= atoms if any(isinstance(n, ast.Break) for n in ast.walk(node)) else _NONE
            # Where one branch waits, the other was taken because of what was asked.
            leaves = bool(passed) or any(isinstance(n, ast.Break | ast.Continue | ast.Return) for n in ast.walk(node))
            self.now = outer | passed | (atoms if leaves or isinstance(node, ast.While) else _NONE)
        elif isinstance(node, ast.For):
            self._expression(node.iter)
            self.now |= self.atoms(node.iter)
            self._expression(node.target)
            self._rounds(node.body, False)
            self._block(node.orelse)
        elif isinstance(node, ast.Match):
            self._expression(node.subject)
            for case in node.cases:
                self.now = outer | self.atoms(node.subject)
                self._block(case.body)
            self.now = outer
        elif not isinstance(node, ast.FunctionDef):
            self._expression(node)

    def _rounds(self, body, endless):
        """The body of a loop. One that may also end by itself says nothing of the `break` that it has."""
        before, outer, self.left = self.now, self.left, _NONE
        for _ in range(2):  # a round comes after the one before
            self._block(body)
        if not endless:
            self.now -= self.left - before
        self.left = outer

    def _expression(self, node):
        if isinstance(node, ast.BoolOp | ast.IfExp):
            outer = self.now
            first, *rest = node.values if isinstance(node, ast.BoolOp) else (node.test, node.body, node.orelse)
            self._expression(first)
            for part in rest:
                self.now |= self.atoms(first if isinstance(node, ast.IfExp) else ast.BoolOp(node.op, node.values))
                self._expression(part)
            self.now = outer
            return
        for child in ast.iter_child_nodes(node):
            self._expression(child)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            sides = self.atoms(node.left), self.atoms(node.comparators[0])
            if any(sides):
                self.compared[id(node)] = *sides, *(map(self._is_sum, (node.left, node.comparators[0])))
        if isinstance(node, ast.Subscript | ast.Call | ast.Attribute):
            self.guards[id(node)] = self.now
            if isinstance(node, ast.Call) and (callee := self._callee(node)):
                self.now |= callee.after


def _values(node):
    """Variable -> what is assigned to it at each place; None where that is no expression."""
    values = {}
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
            values.setdefault(n.id, []).append(None)
    for n in ast.walk(node):
        for target in n.targets if isinstance(n, ast.Assign) else [n.target] if isinstance(n, ast.NamedExpr) else ():
            if isinstance(target, ast.Name):
                values[target.id][0] = n.value  # of several nobody asks
    return values


def _stored_arrays(node):
    """Arrays of which a piece of code sets elements."""
    targets = (n.value for n in ast.walk(node) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store))
    return {t.id for t in targets if isinstance(t, ast.Name)}


def gates_of(function, known):
    """The `Gates` of a device function; None inside itself."""
    if function not in known:
        known[function] = None
        known[function] = Gates(Source(function), known)
    return known[function]
