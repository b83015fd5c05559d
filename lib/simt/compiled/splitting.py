"""Cut a kernel into pieces that one loop over the threads can run, at every barrier (MCUDA: "deep fission").

    s[t] = x[i]                               Region [s[t] = x[i]]
    for k in range(n):                        ScalarFor k in range(n):
        cuda.syncthreads()            ->          Region [total += s[k]]
        total += s[k]                         Region [y[i] = total]
    y[i] = total

A loop or branch with a cut inside is run once for the block. How its condition is decided:

* it is uniform: evaluated once;
* it varies, and there is a block barrier inside: evaluated by every thread, and all must agree (``Agree``) - on a GPU
the
  kernel would hang or worse otherwise;
* it varies, and there are only warp operations inside: a variable of every thread says whether it is in (a guard), and
  every region inside asks it.
"""

import ast
from dataclasses import dataclass, field

from .core import Sync, assign, call, contains, name, negation, parse
from .core import statements as all_statements
from .structure import without


@dataclass(eq=False)
class Region:
    """Statements that every thread runs to their end before another thread begins. ``guards``: who takes part."""

    statements: list
    guards: tuple = ()


@dataclass(eq=False)
class Collective:
    """A warp operation, or a barrier that counts."""

    sync: Sync
    guards: tuple = ()
    statements: list = field(default_factory=list)


@dataclass(eq=False)
class Any:
    """``result``: whether any thread has all its guards; ``full``, where it is a name: whether all threads have."""

    guards: tuple
    result: str
    full: str = ""


@dataclass(eq=False)
class Agree:
    """``result``: the value of ``variable``, which must be the same for all threads."""

    variable: str
    result: str
    line: int
    guards: tuple = ()


@dataclass(eq=False)
class ScalarIf:
    """A branch taken once for the block. ``guard``: the variable that says which threads are meant, if not all.

    full: a scalar that is true where all threads have the guard: then nobody needs to ask for it.
    """

    test: ast.expr
    body: list
    orelse: list = field(default_factory=list)
    guard: str = ""
    full: str = ""


@dataclass(eq=False)
class ScalarFor:
    target: str
    iter: ast.expr
    body: list
    line: int


@dataclass(eq=False)
class ScalarWhile:
    """An endless loop, left by a ``ScalarBreak`` in its body."""

    body: list
    line: int


@dataclass(eq=False)
class ScalarBreak:
    test: ast.expr


def structured(block, temporary, chosen, refuse):
    """Loops with a barrier inside: no ``continue``; at most one ``break``, as their last statement."""
    result = []
    for node in block:
        for field_name in ("body", "orelse"):
            inner = getattr(node, field_name, None)
            if isinstance(inner, list):
                setattr(node, field_name, structured(inner, temporary, chosen, refuse))
        result.append(node)
        if not (isinstance(node, (ast.For, ast.While)) and contains(node, Sync)):
            continue
        node.body = without(ast.Continue, node.body, lambda jump: [], temporary)
        left = temporary()
        body = without(
            ast.Break, node.body, lambda jump, left=left: [assign(left, ast.Constant(True), jump)], temporary
        )
        breaks = any(isinstance(s, ast.Assign) and s.targets[0].id == left for s in all_statements(body))
        if breaks:
            if node.orelse:
                refuse(node, "a loop with a barrier, a break and an else")
            leave = ast.copy_location(ast.If(name(left), [ast.Break()], []), node)
            node.body = [assign(left, ast.Constant(False), node), *body, leave]
        else:
            node.body = body
            result += node.orelse
            node.orelse = []
    return result


class Splitting:
    """Builds the tree of pieces. ``chosen``: ids of loops that interchange moves outside."""

    def __init__(self, uniformity, chosen, temporary, refuse):
        self.uniformity, self.chosen, self.temporary, self.refuse = uniformity, chosen, temporary, refuse

    def split(self, block, guards=()):
        """The pieces of a list of statements, for the threads that have all ``guards``."""
        result, run = [], []
        for node in block:
            if not self.is_cut(node):
                run.append(node)
                continue
            if run:
                result.append(Region(run, guards))
                run = []
            result += getattr(self, "split_" + type(node).__name__)(node, guards)
        if run:
            result.append(Region(run, guards))
        return result

    def is_cut(self, node):
        return any(isinstance(n, Sync) or id(n) in self.chosen for n in all_statements([node]))

    def varying(self):
        fresh = self.temporary()
        self.uniformity.varying.add(fresh)
        return fresh

    def split_Sync(self, node, guards):
        return [Collective(node, guards)]

    def split_If(self, node, guards):
        if self.uniformity.is_uniform(node.test):
            return [ScalarIf(node.test, self.split(node.body, guards), self.split(node.orelse, guards))]
        test = self.varying()
        pieces = [Region([assign(test, call("bool", node.test), node)], guards)]
        if _has_barrier(node):
            result = self.temporary()
            branch = ScalarIf(name(result), self.split(node.body, guards), self.split(node.orelse, guards))
            return [*pieces, Agree(test, result, node.lineno), branch]
        pieces += self.guarded(test, node.body, guards)
        if node.orelse:
            negated = self.varying()
            pieces.append(Region([assign(negated, negation(name(test)), node)], guards))
            pieces += self.guarded(negated, node.orelse, guards)
        return pieces

    def guarded(self, guard, body, guards):
        inner, some = (*guards, guard), self.temporary()
        # Worth two versions of the code: one for blocks at the edge, one for all others.
        full = self.temporary() if not guards and not any(isinstance(n, Sync) for n in all_statements(body)) else ""
        return [Any(inner, some, full), ScalarIf(name(some), self.split(body, inner), guard=guard, full=full)]

    # -- loops --------------------------------------------------------------------------------------------------------

    def split_For(self, node, guards):
        body, leave = _without_last_break(node.body)
        target = node.target.id
        if not _is_range(node.iter):
            return self._over_tuple(node, guards)
        if any(isinstance(n, Sync) and n.kind == "grid" for n in all_statements(node.body)):
            return self._with_its_place(node, guards)
        masked = leave is not None and not self.uniformity.is_uniform(leave) and not _has_barrier(node)
        if self.uniformity.is_uniform(node.iter):
            before, inside, guard = [], [], None
            if masked:
                guard = self.varying()
                before = [Region([assign(guard, ast.Constant(True), node)], guards)]
                some = self.temporary()
                inside = [Any((*guards, guard), some), ScalarBreak(negation(name(some)))]
            scalar = target
            if target in self.uniformity.varying or masked:
                scalar = self.temporary()
                body = [assign(target, name(scalar), node), *body]
            inner = guards if guard is None else (*guards, guard)
            pieces = [*inside, *self.split(body, inner), *self._leave(leave, node, inner, guard)]
            return [*before, ScalarFor(scalar, node.iter, pieces, node.lineno)]
        return self._own_length(node, body, leave, guards)

    def _with_its_place(self, node, guards):
        """A loop that the block leaves at a grid barrier, and enters again: its place is a variable like others."""
        uniform, number, count = self.uniformity.is_uniform(node.iter), self.temporary(), self.temporary()
        head, length, item = self._spread(node, number, self.temporary if uniform else self.varying)
        pieces = [Region(head, guards)]
        if not uniform:
            common = self.temporary()
            pieces.append(Agree(length, common, node.lineno))
            length = common
        step = ast.BinOp(name(number), ast.Add(), ast.Constant(1))
        body = [assign(node.target.id, item, node), assign(number, step, node), *node.body]
        loop = ast.copy_location(ast.While(ast.Compare(name(number), [ast.Lt()], [name(count)]), body, []), node)
        before = [assign(count, name(length), node), assign(number, ast.Constant(0), node)]
        return [*pieces, *self.split([*before, loop], guards)]

    def _spread(self, node, number, fresh):
        """(assignments, name of the number of iterations, value of the target in iteration `number`) of a range."""
        start, stop, step, count = (fresh() for _ in range(4))
        args = node.iter.args
        limits = [ast.Constant(0), *args, ast.Constant(1)] if len(args) == 1 else [*args, ast.Constant(1)][:3]
        head = [assign(v, a, node) for v, a in zip((start, stop, step), limits, strict=True)]
        head.append(assign(count, call("_range_length", name(start), name(stop), name(step)), node))
        return head, count, call("_range_item", name(start), name(stop), name(step), name(number))

    def _own_length(self, node, body, leave, guards):
        """A range that is every thread's own: the number of iterations must agree, or guards say who is still in."""
        number = self.temporary()
        head, count, item = self._spread(node, number, self.varying)
        body = [assign(node.target.id, item, node), *body]
        if _has_barrier(node):
            common = self.temporary()
            pieces = [*self.split(body, guards), *self._leave(leave, node, guards, None)]
            loop = ScalarFor(number, call("range", name(common)), pieces, node.lineno)
            return [Region(head, guards), Agree(count, common, node.lineno), loop]
        guard, some = self.varying(), self.temporary()
        inner = (*guards, guard)
        head += [assign(guard, ast.Constant(True), node), assign(number, ast.Constant(0), node)]
        test = ast.Compare(name(number), [ast.Lt()], [name(count)])
        pieces = [
            Region([assign(guard, test, node)], inner),
            Any(inner, some),
            ScalarBreak(negation(name(some))),
            *self.split(body, inner),
            *self._leave(leave, node, inner, guard),
            Region([assign(number, ast.BinOp(name(number), ast.Add(), ast.Constant(1)), node)], inner),
        ]
        return [Region(head, guards), ScalarWhile(pieces, node.lineno)]

    def _over_tuple(self, node, guards):
        if not (isinstance(node.iter, ast.Tuple) and self.uniformity.is_uniform(node.iter)):
            self.refuse(node, "a loop with a barrier over something else than a range or a tuple written out")
        values, number = self.temporary(), self.temporary()
        item = assign(node.target.id, call("_item", None, 0, name(values), name(number)), node)
        loop = ast.For(name(number, True), call("range", len(node.iter.elts)), [item, *node.body], [])
        return self.split([assign(values, node.iter, node), ast.copy_location(loop, node)], guards)

    def split_While(self, node, guards):
        body, leave = _without_last_break(node.body)
        barrier, endless = _has_barrier(node), isinstance(node.test, ast.Constant) and node.test.value
        varying_leave = leave is not None and not self.uniformity.is_uniform(leave)
        if barrier or (self.uniformity.is_uniform(node.test) and not varying_leave):
            if endless:
                ask = []
            elif self.uniformity.is_uniform(node.test):
                ask = [ScalarBreak(negation(node.test))]
            else:
                test, result = self.varying(), self.temporary()
                ask = [
                    Region([assign(test, call("bool", node.test), node)], guards),
                    Agree(test, result, node.lineno),
                    ScalarBreak(negation(name(result))),
                ]
            pieces = [*ask, *self.split(body, guards), *self._leave(leave, node, guards, None)]
            return [ScalarWhile(pieces, node.lineno)]
        guard, some = self.varying(), self.temporary()
        inner = (*guards, guard)
        ask = [] if endless else [Region([assign(guard, call("bool", node.test), node)], inner)]
        pieces = [*ask, Any(inner, some), ScalarBreak(negation(name(some)))]
        pieces += [*self.split(body, inner), *self._leave(leave, node, inner, guard)]
        return [Region([assign(guard, ast.Constant(True), node)], guards), ScalarWhile(pieces, node.lineno)]

    def _leave(self, test, node, guards, guard):
        """The pieces for ``if test: break`` at the end of a loop's body."""
        if test is None:
            return []
        if guard is not None:
            return [Region(parse("if TEST:\n    GUARD = False", node, TEST=test, GUARD=name(guard, True)), guards)]
        if self.uniformity.is_uniform(test):
            return [ScalarBreak(test)]
        result = self.temporary()
        return [Agree(test.id, result, node.lineno), ScalarBreak(name(result))]


def _without_last_break(block):
    """(body, condition of the ``break`` at its end, or None)."""
    last = block[-1] if block else None
    if isinstance(last, ast.If) and len(last.body) == 1 and isinstance(last.body[0], ast.Break):
        return block[:-1], last.test
    return block, None


def _has_barrier(node):
    return any(isinstance(n, Sync) and n.is_barrier for n in all_statements([node]))


def _is_range(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
