"""Lower a kernel's source to the small language of core.py: no ``cuda``, no globals, every barrier a statement of its
own.

    i = cuda.grid(1)                              i = _bx * 64 + _tx
    if i < x.size:                          ->    if i < x.size:
        y[i] += cuda.shfl_down_sync(m, v, 1)          _k1 = _load(_flag, 0, y, i)
                                                      _k2 = v
                                                      <shfl_down_sync -> _k3>
                                                      _store(_flag, 1, y, i, _k1 + _k3)

What was computed before a barrier in the same statement is kept in a variable (``_k1``). Names are looked up by the
`Source`; the executor has refused before what no GPU could run, and what only this engine cannot take is
``Unsupported``.
"""

import ast

from ..errors import Unsupported
from ..source.refused import not_compiled
from ..source.waiting import may_wait
from .core import assign, call, name
from .expressions import Expressions
from .structure import has, without
from .visits import Visits


class Lowering(Visits, Expressions):
    """The walk over one function. ``unit``: the kernel being compiled; ``source``: that of the function.

    prefix: what its variables' names begin with where it becomes part of the kernel.
    """

    def __init__(self, unit, source, prefix="", is_kernel=False):
        self.unit, self.source, self.prefix, self.is_kernel = unit, source, prefix, is_kernel
        self.context = None  # the parameter of a stand-in that reads and writes 16 bytes at a time
        self.pending = []  # statements that must run before the one at hand
        self.effects = set()  # "thread", "load", "store": what an expression of this function needs or does
        self.assigns_inside = any(isinstance(n, ast.NamedExpr) for n in ast.walk(source.node))

    # -- helpers ------------------------------------------------------------------------------------------------------

    def refuse(self, node, construct):
        self.source.refuse(node, construct, Unsupported, self.unit.name)

    def local(self, identifier):
        return self.prefix + identifier

    def keep(self, value, origin):
        """A fresh variable for a lowered value, assigned before the statement at hand."""
        if isinstance(value, ast.Constant):
            return value
        fresh = self.unit.namespace.temporary()
        self.pending.append(assign(fresh, value, origin))
        return name(fresh)

    def several(self, nodes):
        """Lower expressions that are evaluated one after the other; what comes before a barrier is kept."""
        values = []
        for node in nodes:
            before = len(self.pending)
            value = self.expression(node)
            if len(self.pending) > before:
                moved, self.pending = self.pending[before:], self.pending[:before]
                values = [self.keep(v, node) if not _is_fresh(v) else v for v in values]
                self.pending += moved
            values.append(value)
        return values

    # -- the function -------------------------------------------------------------------------------------------------

    def body(self, land):
        """The lowered statements, ``return`` replaced by what ``land(return node)`` gives."""
        statements = self.block(self.source.node.body)
        return without(ast.Return, statements, land, self.unit.namespace.temporary)

    def block(self, nodes):
        result = []
        for node in nodes:
            outer, self.pending = self.pending, []
            lowered = self.statement(node)
            result += [*self.pending, *lowered]
            self.pending = outer
        return result

    # -- statements ---------------------------------------------------------------------------------------------------

    def statement(self, node):
        method = getattr(self, "do_" + type(node).__name__, None)
        if method is None:
            self.refuse(node, not_compiled(node))
        lowered = method(node)
        for new in lowered:
            if not hasattr(new, "lineno"):
                ast.copy_location(new, node)
        return lowered

    def do_Pass(self, node):
        return []

    def do_Break(self, node):
        return [ast.Break()]

    def do_Continue(self, node):
        return [ast.Continue()]

    def do_Return(self, node):
        if self.is_kernel or node.value is None:
            return [ast.Return(None)]
        return [ast.Return(self.expression(node.value))]

    def do_Expr(self, node):
        if isinstance(node.value, ast.Constant):  # a docstring
            return []
        value = self.expression(node.value)
        return [] if isinstance(value, (ast.Constant, ast.Name)) else [ast.Expr(value)]

    def do_Assign(self, node):
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id in self.source.aliases:
            return []
        if len(node.targets) > 1:
            value = self.keep(self.expression(node.value), node)
            return [s for t in node.targets for s in self.assign(t, value, node)]
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(node.value, ast.Tuple):
            if len(target.elts) == len(node.value.elts):
                return self.assign_each(target.elts, node.value.elts, node)
        array = self.declaration(target, node.value)
        if array:
            return []
        return self.assign(target, self.expression(node.value), node)

    def assign_each(self, targets, values, node):
        """``a, b = x, y``: all values first, then all assignments."""
        left = [t for t, v in zip(targets, values, strict=True) if not self.declaration(t, v)]
        right = [v for t, v in zip(targets, values, strict=True) if not self.is_declared(t, v)]
        lowered = self.several(right)
        stored = {n.id for t in left for n in ast.walk(t) if isinstance(n, ast.Name)}
        used = {n.id for v in right for n in ast.walk(v) if isinstance(n, ast.Name)}
        simple = all(isinstance(t, (ast.Name, ast.Tuple)) for t in left)
        if not simple or stored & used:
            lowered = [self.keep(v, node) for v in lowered]
        return [s for t, v in zip(left, lowered, strict=True) for s in self.assign(t, v, node)]

    def do_AnnAssign(self, node):
        return [] if node.value is None else self.assign(node.target, self.expression(node.value), node)

    def assign(self, target, value, node):
        """Statements that store a lowered value in a target of the source."""
        if isinstance(target, ast.Name):
            return [assign(self.local(target.id), value, node)]
        if isinstance(target, ast.Subscript):
            value = self.keep(value, node) if self.contains_sync(target) else value
            array, index = self.several([target.value, self.index(target)])
            return [self.store(target, array, index, value)]
        if isinstance(target, (ast.Tuple, ast.List)):
            if not (isinstance(value, ast.Attribute) and value.attr in ("shape", "strides")):
                value = self.keep(value, node)
                items = [call("_item", None, 0, value, k) for k in range(len(target.elts))]
            else:
                items = [ast.Subscript(value, ast.Constant(k), ast.Load()) for k in range(len(target.elts))]
            return [
                s
                for t, item in zip(target.elts, items, strict=True)
                for s in self.assign(t, ast.copy_location(item, node), node)
            ]
        return self.refuse(node, "this assignment")

    def store(self, node, array, index, value):
        self.effects.add("store")
        return ast.Expr(ast.copy_location(call("_store", *self.flagged(node, "store"), array, index, value), node))

    def index(self, node):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(p, ast.Slice) or (isinstance(p, ast.Constant) and p.value in (None, ...)) for p in parts):
            self.refuse(node, "a slice")
        return node.slice

    def do_AugAssign(self, node):
        target = node.target
        if isinstance(target, ast.Name):
            read = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            value = self.expression(ast.copy_location(ast.BinOp(read, node.op, node.value), node))
            return [assign(self.local(target.id), value, node)]
        array, index = self.several([target.value, self.index(target)])
        array, index = self.once(array, node), self.once(index, node)
        self.effects.add("load")
        before = call("_load", *self.flagged(target), array, index)
        held = len(self.pending)
        value = self.expression(node.value)
        if len(self.pending) > held:  # a barrier in the value: the element is read before it
            moved, self.pending = self.pending[held:], self.pending[:held]
            before = self.keep(before, node)
            self.pending += moved
        result = self.operation(node, node.op, ast.copy_location(before, node), value)
        return [self.store(target, array, index, result)]

    def once(self, value, node):
        if isinstance(value, ast.Tuple):
            return ast.Tuple([self.once(e, node) for e in value.elts], ast.Load())
        if isinstance(value, ast.Name) and self.assigns_inside and not _is_fresh(value):
            return self.keep(value, node)  # a := further on would change it
        return value if isinstance(value, (ast.Name, ast.Constant)) else self.keep(value, node)

    def do_If(self, node):
        return [ast.If(self.expression(node.test), self.block(node.body) or [ast.Pass()], self.block(node.orelse))]

    def otherwise(self, node):
        """The ``else`` of a loop."""
        for jump in (ast.Break, ast.Continue, ast.Return):
            if any(has(n, jump) for n in node.orelse):
                self.refuse(node, f"{jump.__name__.lower()} in the else of a loop")
        return self.block(node.orelse)

    def do_For(self, node):
        if isinstance(node.target, ast.Name):
            target, head = self.local(node.target.id), []
        else:
            target = self.unit.namespace.temporary()
        iterable = self.iterable(node.iter)
        if not isinstance(node.target, ast.Name):
            outer, self.pending = self.pending, []
            head = self.assign(node.target, name(target), node)
            head, self.pending = [*self.pending, *head], outer
        outer = self.visit
        before, enter = self.rounds(node)
        body = enter + head + self.block(node.body)
        self.visit = outer
        return [*before, ast.For(name(target, True), iterable, body or [ast.Pass()], self.otherwise(node))]

    def iterable(self, node):
        if isinstance(node, ast.Call):
            known, function = self.source.static(node.func)
            if known and function is range:
                return call("range", *self.several(node.args))
            if known and function in (enumerate, zip):
                if self.contains_sync(node) or node.keywords:
                    self.refuse(node, f"{function.__name__}() with a barrier inside")
                return call(function.__name__, *(self.iterable(a) for a in node.args))
        return self.items_of(self.expression(node), node)

    def do_While(self, node):
        outer, self.pending = self.pending, []
        around, (setup, enter) = self.visit, self.rounds(node)
        effects, self.effects = self.effects, set()
        test = self.expression(node.test)
        reads = bool(enter) and bool(self.effects & {"load", "store"})
        effects |= self.effects
        self.effects = effects
        before, self.pending = self.pending, outer
        body = self.block(node.body)
        self.visit = around
        if before or reads:
            if node.orelse:
                self.refuse(node, "while ... else with a barrier in its condition")
            leave = ast.copy_location(ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], []), node)
            body = [*enter, *before, ast.fix_missing_locations(leave), *body]
            lowered = ast.While(ast.Constant(True), body, [])
        else:
            lowered = ast.While(test, [*enter, *body] or [ast.Pass()], self.otherwise(node))
        lowered.may_wait = may_wait(node, self.source)
        return [*setup, lowered]

    def do_Assert(self, node):
        failed = ast.Expr(call("_raise_flag", name("_flag"), self.unit.RAISED))
        return [ast.If(ast.UnaryOp(ast.Not(), self.expression(node.test)), [ast.copy_location(failed, node)], [])]

    def do_Raise(self, node):
        self.effects.add("store")
        return [
            ast.Expr(call("_raise_flag", name("_flag"), self.unit.RAISED)),
            *(
                [ast.copy_location(ast.Return(None), node)]
                if self.is_kernel
                else self.refuse(node, "`raise` in a device function")
            ),
        ]


def _is_fresh(node):
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.startswith("_k"))
