"""Variables that only some ways set: who reads one that its way has not set is told, as in the executor.

    if i < n:                      v_is_set = False
        v = x[i]                   if i < n:
    y[i] = v                           v = x[i]
                                       v_is_set = True
                                   assert v_is_set
                                   y[i] = v

Only where the source does not show that every way sets it.
"""

import ast
import copy

from ..source.syntax import local_names


def guarded(function):
    """A copy of a kernel's tree in which such reads are asserted; (itself, nothing) where there are none. With the
    names that were added."""
    reads = _Reads(function)
    reads.block(function.body, set(reads.parameters))
    if not reads.found:
        return function, set()
    function = copy.deepcopy(function)
    again = _Reads(function)
    again.block(function.body, set(again.parameters))
    names = {name for _, name in again.found}
    _insert(function.body, names, {(id(s), n) for s, n in again.found})
    start = [_assign(name, False, function.body[0]) for name in sorted(names)]
    function.body[:0] = start
    return ast.fix_missing_locations(function), {_flag(name) for name in names}


def _flag(name):
    return f"{name}_is_set"


def _assign(name, value, origin):
    return ast.copy_location(ast.Assign([ast.Name(_flag(name), ast.Store())], ast.Constant(value)), origin)


def _insert(block, names, found):
    """Set the flags behind what sets their variables, and ask them before the statements that read."""
    for statement in list(block):
        k = block.index(statement)
        asked = [n for n in names if (id(statement), n) in found]
        block[k:k] = [ast.copy_location(ast.Assert(ast.Name(_flag(n), ast.Load())), statement) for n in sorted(asked)]
        for body in _bodies(statement):
            _insert(body, names, found)
        if isinstance(statement, ast.For):
            statement.body[:0] = [_assign(n, True, statement) for n in sorted(names & _stored(statement.target))]
        elif not isinstance(statement, ast.If | ast.While | ast.FunctionDef):
            k = block.index(statement)
            block[k + 1 : k + 1] = [_assign(n, True, statement) for n in sorted(names & _stored(statement))]


def _bodies(statement):
    if isinstance(statement, ast.If | ast.For | ast.While):
        return statement.body, statement.orelse
    return ()


def _stored(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


class _Reads:
    """A walk in the order of the source, with the variables that every way has set."""

    def __init__(self, function):
        self.parameters = {a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
        self.locals = local_names(function)
        self.found = []  # (statement, name)
        self.leaving = []  # of the loops around: what is set where a `break` leaves them

    def block(self, statements, known):
        """What is set behind a block; None where no way leads behind it."""
        for statement in statements:
            known = self.statement(statement, known)
            if known is None:
                return None
        return known

    def read(self, statement, expression, known):
        for node in ast.walk(expression):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                missing = node.id in self.locals and node.id not in known
                if missing and (statement, node.id) not in self.found and node.id not in _stored(expression):
                    self.found.append((statement, node.id))

    def statement(self, node, known):
        if isinstance(node, ast.If):
            self.read(node, node.test, known)
            known = known | _stored(node.test)
            ways = [w for w in (self.block(node.body, known), self.block(node.orelse, known)) if w is not None]
            return set.intersection(*ways) if ways else None
        if isinstance(node, ast.For):
            self.read(node, node.iter, known)
            return self.loop(node, known | _stored(node.target), known, _surely(node.iter))
        if isinstance(node, ast.While):
            self.read(node, node.test, known)
            endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
            return self.loop(node, known | _stored(node.test), None if endless else known, False)
        if isinstance(node, ast.Break):
            self.leaving[-1].append(known)
        if isinstance(node, ast.Break | ast.Continue | ast.Return | ast.Raise):
            if isinstance(node, ast.Return) and node.value is not None:
                self.read(node, node.value, known)
            return None
        if isinstance(node, ast.AugAssign):
            self.read(node, node.value, known)
            if isinstance(node.target, ast.Name) and node.target.id not in known:
                self.found.append((node, node.target.id))
            elif not isinstance(node.target, ast.Name):
                self.read(node, node.target, known)
            return known | _stored(node)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for part in (*([node.value] if node.value is not None else []), *targets):
                self.read(node, part, known)
            return known | _stored(node)
        if isinstance(node, ast.Expr | ast.Assert):
            self.read(node, node, known)
            return known | _stored(node)
        return known | {node.name} if isinstance(node, ast.FunctionDef) else known | _stored(node)

    def loop(self, node, inside, without, surely):
        """without: what is set where it does not go round. surely: whether it goes round once at least."""
        self.leaving.append([])
        behind = self.block(node.body, inside)
        ways = self.leaving.pop()
        if surely and behind is not None and not _continues(node):
            without = behind
        if without is not None:
            without = self.block(node.orelse, without)
        ways += [] if without is None else [without]
        return set.intersection(*ways) if ways else None


def _continues(loop):
    return any(isinstance(n, ast.Continue) for n in ast.walk(loop))


def _surely(iterable):
    """Whether it is a range of constants that is not empty."""
    if not (isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.func.id == "range"):
        return isinstance(iterable, ast.Tuple) and bool(iterable.elts)
    limits = [a.value for a in iterable.args if isinstance(a, ast.Constant) and type(a.value) is int]
    return len(limits) == len(iterable.args) and len(limits) in (1, 2, 3) and bool(range(*limits))
