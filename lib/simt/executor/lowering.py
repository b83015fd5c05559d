"""Rewrite a kernel's source so that the executor can run it: once for each kernel, through the syntax tree.

What was                              becomes (``t`` is the thread, ``v`` the visit number, in a traced run only)
------------------------------------  ---------------------------------------------------------------------------
``a[i]``, ``a[i] = x``                ``_load1(a, i, site, v)``, ``_store1(a, i, x, site, v)``
``x + y`` (types not known)           ``_add(x, y)``: numba's number semantics (numbers.py)
``cuda.threadIdx.x``                  ``t.x``
``cuda.syncthreads()``                ``(yield (SYNC, site, ...))``: the thread gives way to the next one
a loop, in a traced run               the same, with ``v2 = _visit(v, site, iteration)`` at the head of the body
a loop that may wait for others       the same, with ``n & 31 or (yield (WAIT, site, n))`` at the head of each round
``device_function(x)``                ``_device_function(t, v, x)``, or ``yield from`` it if it synchronises

A kernel that synchronises or waits so becomes a generator, and its threads take turns. Anything that could not be
compiled for a GPU is refused here, with its line. Positions are kept: a traceback through a lowered kernel shows the
author's source.
"""

import ast

from ..source.kinds import Kinds
from ..source.names import DeviceName
from ..source.refused import on_no_gpu
from ..source.syntax import make_call, make_name
from ..source.waiting import may_wait
from .expressions import Expressions
from .operations import SYNC

PATIENCE = 32, 4  # rounds of a loop that may wait for others until its thread gives way; in a traced run
ROUNDS = 1 << 20  # of any other ``while``, between two looks at the budget


class Lowering(Expressions):
    """The walk over one function's syntax tree. Methods named after a node return the node that replaces it."""

    def __init__(self, lowered, source, gates=None):
        self.gates = gates
        self.unused = None  # the call whose result nobody takes
        self.lowered, self.program, self.source = lowered, lowered.program, source
        self.traced, self.counted = self.program.traced, self.program.counted
        self.visit = ast.Name("_v", ast.Load())
        # in a run without a trace: what counts the rounds of the loops around, where they hold barriers
        self.turns = ()
        self.depth = 0
        self.counter = 0
        self.kinds = Kinds(source, lowered.argument_kinds)

    # -- helpers ------------------------------------------------------------------------------------------------------

    def site(self, node, kind):
        """The number of a place in the source."""
        number = self.program.sites.add(self.source.site(node, kind))
        if self.gates is not None:
            self.program.guards[number] = self.gates.guards.get(id(node), ())
            if kind == "atomic":
                self.program.atomic_nodes[number] = id(node)
        return number

    def at(self, new, old):
        return ast.copy_location(new, old)

    def temporary(self):
        self.counter += 1
        return f"_x{self.counter}"

    def constant(self, value):
        """The name under which the lowered function finds a Python object."""
        for name, known in self.lowered.constants.items():
            if known is value:
                return name
        name = f"_c{len(self.lowered.constants)}"
        self.lowered.constants[name] = value
        return name

    def visited(self):
        return [self.visit] if self.traced else []

    def way(self):
        """How a thread came to a barrier: its visit, or without a trace the rounds of the loops around."""
        return [self.visit if self.traced else ast.Tuple([make_name(n) for n in self.turns], ast.Load())]

    # -- the function -------------------------------------------------------------------------------------------------

    def lower(self):
        node = self.source.node
        parameters = node.args
        if parameters.vararg or parameters.kwarg:
            self.source.refuse(node, "*args and **kwargs are not possible in a kernel: name every argument")
        hidden = [ast.arg("_t")] + ([ast.arg("_v")] if self.traced else [])
        arguments = ast.arguments(
            posonlyargs=[],
            args=hidden + [ast.arg(a.arg) for a in parameters.posonlyargs + parameters.args],
            kwonlyargs=[ast.arg(a.arg) for a in parameters.kwonlyargs],
            kw_defaults=[None] * len(parameters.kwonlyargs),
            defaults=[],
        )
        if isinstance(node, ast.Lambda):
            body = [self.at(ast.Return(self.expression(node.body)), node.body)]
        else:
            body = self.block(node.body)
        name = "lowered_" + ("lambda" if isinstance(node, ast.Lambda) else node.name)
        function = ast.FunctionDef(
            name=name, args=arguments, body=body or [ast.Pass()], decorator_list=[], returns=None, type_params=[]
        )
        return self.at(function, node)

    def block(self, statements):
        result = []
        for statement in statements:
            lowered = self.statement(statement)
            result.extend(lowered if isinstance(lowered, list) else [lowered])
        return result or [ast.Pass()]

    # -- statements ---------------------------------------------------------------------------------------------------

    def statement(self, node):
        method = getattr(self, "do_" + type(node).__name__, None)
        if method is None:
            self.source.refuse(node, on_no_gpu(node))
        lowered = method(node)
        for new in lowered if isinstance(lowered, list) else [lowered]:
            if not hasattr(new, "lineno"):
                self.at(new, node)
        return lowered

    def do_Pass(self, node):
        return ast.Pass()

    def do_Break(self, node):
        return ast.Break()

    def do_Continue(self, node):
        return ast.Continue()

    def do_Expr(self, node):
        if isinstance(node.value, ast.Constant):  # a docstring
            return ast.Pass()
        self._refuse_without_parentheses(node.value)
        self.unused = node.value
        return ast.Expr(self.expression(node.value))

    def _refuse_without_parentheses(self, node):
        if not isinstance(node, ast.Name | ast.Attribute) or self.source.is_local(node):
            return
        value = self.source.static(node)[1]
        if isinstance(value, DeviceName) and value.kind != "value":
            text = ast.unparse(node)
            self.source.refuse(node, f"{text} without parentheses does nothing: write {text}() to call it")

    def do_Return(self, node):
        returns_nothing = node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
        if self.lowered.is_kernel and not self.source.in_inner and not returns_nothing:
            self.source.refuse(node, "CUDA kernel must have void return type: write results to an array argument")
        if self.lowered.is_kernel and not self.source.in_inner:
            return ast.Return(ast.Constant(node.lineno))  # for who asks why a thread did not come to a barrier
        return ast.Return(None if node.value is None else self.expression(node.value))

    def do_Assign(self, node):
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id in self.source.aliases:
            return ast.Pass()
        value = self.expression(node.value)
        if len(node.targets) == 1:
            return self.assign(node.targets[0], value)
        name = self.temporary()
        assignments = [self.at(ast.Assign([make_name(name, True)], value), node)]
        for target in node.targets:
            assignments.extend(self.assign(target, make_name(name)))
        return assignments

    def do_AnnAssign(self, node):
        if node.value is None:
            return ast.Pass()
        return self.assign(node.target, self.expression(node.value))

    def assign(self, target, value):
        """Statements that store a lowered value in a target of the original source."""
        if isinstance(target, ast.Name):
            return [self.at(ast.Assign([make_name(target.id, True)], value), target)]
        if isinstance(target, ast.Subscript):
            return [self.store(target, self.expression(target.value), self.indices(target), value)]
        if isinstance(target, ast.Attribute):  # a field of a record
            key = ast.Tuple([ast.Constant(target.attr)], ast.Load())
            call = make_call(
                "_storen", self.expression(target.value), key, value, self.site(target, "store"), *self.visited()
            )
            return [self.at(ast.Expr(self.at(call, target)), target)]
        if isinstance(target, (ast.Tuple, ast.List)):
            names = [self.temporary() for _ in target.elts]
            if any(isinstance(e, ast.Starred) for e in target.elts):
                self.source.refuse(target, "a kernel cannot unpack with a star")
            left = ast.Tuple([make_name(n, True) for n in names], ast.Store())
            assignments = [self.at(ast.Assign([left], value), target)]
            for element, name in zip(target.elts, names, strict=True):
                assignments.extend(self.assign(element, make_name(name)))
            return assignments
        return self.source.refuse(target, "a kernel cannot assign to this")

    def store(self, target, array, indices, value):
        site = self.site(target, "store")
        if indices is None:
            call = make_call("_storen", array, self.index_tuple(target), value, site, *self.visited())
        else:
            call = make_call(f"_store{len(indices)}", array, *indices, value, site, *self.visited())
        return self.at(ast.Expr(self.at(call, target)), target)

    def do_AugAssign(self, node):
        target, statements = node.target, []
        if isinstance(target, ast.Name):
            left = ast.BinOp(make_name(target.id), node.op, node.value)
            self.at(left.left, target)
            return self.assign(target, self.expression(self.at(left, node)))
        if isinstance(target, ast.Attribute):  # a field of a record, as a subscript
            target = self.at(
                ast.Subscript(target.value, self.at(ast.Constant(target.attr), target), ast.Store()), target
            )
        if not isinstance(target, ast.Subscript):
            self.source.refuse(target, "a kernel cannot assign to this")

        def once(lowered, original):
            """Evaluate once what is needed twice."""
            if isinstance(lowered, (ast.Constant, ast.Name)):
                return lowered
            name = self.temporary()
            statements.append(self.at(ast.Assign([make_name(name, True)], lowered), original))
            return make_name(name)

        array = once(self.expression(target.value), target.value)
        indices = self.indices(target)
        if indices is None:
            key = [once(self.index_tuple(target), target.slice)]
            form = "n"
        else:
            key = [once(index, target.slice) for index in indices]
            form = len(key)
        load = make_call(f"_load{form}", array, *key, self.site(target, "load"), *self.visited())
        value = self.operate(node, node.op, load, self.expression(node.value), *self.kinds.of_augmented(node))
        site = self.site(target, "store")
        store = make_call(f"_store{form}", array, *key, value, site, *self.visited())
        statements.append(ast.Expr(self.at(store, node)))
        return [self.at(s, node) for s in statements]

    def do_If(self, node):
        return ast.If(self.expression(node.test), self.block(node.body), self.block(node.orelse) if node.orelse else [])

    def loop(self, node):
        """What counts the rounds of a loop: (statements before it, expressions at the head of each round, all true).

        A loop that may wait for other threads gives way to them now and then; another ``while`` asks whether it goes on
        for ever.
        """
        waits = not self.source.in_inner and may_wait(node, self.source) and not self.program.recursive(self.source)
        asked = isinstance(node, ast.While) and not self.meets(node)
        turns = not self.traced and self.program.holds_barrier(node, self.source)
        if not (waits or self.counted or asked or turns):
            return [], []
        site = self.site(node, "loop")
        self.depth += 1
        count = f"_n{self.depth}"
        head = ast.NamedExpr(make_name(count, True), ast.BinOp(make_name(count), ast.Add(), ast.Constant(1)))
        enter = []
        if self.traced:
            visit = f"_v{self.depth}"
            enter = [ast.NamedExpr(make_name(visit, True), make_call("_visit", self.visit, site, head))]
            self.visit, head = make_name(visit), make_name(count)
        elif self.counted:
            enter = [make_call("_step", make_name("_t"), site)]
        if turns:
            enter.append(ast.BoolOp(ast.Or(), [head, ast.Constant(True)]))
            self.turns, head = (*self.turns, count), make_name(count)
        if waits:
            self.lowered.synchronises = self.program.waits = True
            self.program.loops[site] = node, self.source
            values = ast.Constant(SYNC["wait"]), ast.Constant(site), make_name(count)
            enter.append(self.every(PATIENCE[self.traced], head, ast.Yield(ast.Tuple(list(values), ast.Load()))))
        elif asked and not self.counted:
            enter.append(self.every(ROUNDS, head, make_call("_goes_on", make_name("_t"), site, make_name(count))))
        return [ast.Assign([make_name(count, True)], ast.Constant(0 if not self.traced else -1))], enter

    def meets(self, loop):
        """Whether every round passes a barrier of the block, which are counted."""
        for statement in loop.body:
            call = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
            if isinstance(call, ast.Call) and not self.source.is_local(call.func):
                if getattr(self.source.static(call.func)[1], "kind", None) == "barrier":
                    return True
        return False

    def every(self, rounds, count, call):
        """True, and in each so many rounds what ``call`` says."""
        rest = ast.BinOp(count, ast.BitAnd(), ast.Constant(rounds - 1))
        if self.traced:  # where the first round has the number 0
            rest = ast.BinOp(ast.UnaryOp(ast.Invert(), count), ast.BitAnd(), ast.Constant(rounds - 1))
        return ast.BoolOp(ast.Or(), [rest, call])

    def do_For(self, node):
        iterable = self.iterable(node.iter)
        outer = self.visit, self.depth, self.turns
        before, enter = self.loop(node)
        if isinstance(node.target, ast.Name):
            target, head = make_name(node.target.id, True), []
        else:
            name = self.temporary()
            target, head = make_name(name, True), self.assign(node.target, make_name(name))
        head = [*(self.at(ast.Expr(e), node) for e in enter), *head]
        body = head + self.block(node.body)
        self.visit, self.depth, self.turns = outer
        loop = ast.For(target, iterable, body, self.block(node.orelse) if node.orelse else [])
        return [self.at(s, node) for s in (*before, loop)]

    def iterable(self, node):
        if isinstance(node, ast.Call):
            known, function = self.source.static(node.func)
            if known and function in (range, enumerate, zip):
                args = [self.iterable(a) if function is not range else self.expression(a) for a in node.args]
                if node.keywords:
                    self.source.refuse(node, f"{function.__name__}() takes no keywords in a kernel")
                return self.at(
                    make_call({range: "_range", enumerate: "_enumerate", zip: "_zip"}[function], *args), node
                )
        site = self.site(node, "load")
        return self.at(make_call("_iterate", self.expression(node), site, *self.visited()), node)

    def do_While(self, node):
        outer = self.visit, self.depth, self.turns
        before, enter = self.loop(node)
        test = self.expression(node.test)
        if enter:
            test = ast.BoolOp(ast.And(), [*enter, test])
        body = self.block(node.body)
        self.visit, self.depth, self.turns = outer
        loop = ast.While(test, body, self.block(node.orelse) if node.orelse else [])
        return [self.at(s, node) for s in (*before, loop)]

    def do_Raise(self, node):
        if node.exc is None or node.cause is not None:
            self.source.refuse(node, "a kernel can only raise a new exception, such as `raise ValueError('message')`")
        call = node.exc if isinstance(node.exc, ast.Call) else ast.Call(node.exc, [], [])
        known, kind = self.source.static(call.func)
        if not (known and isinstance(kind, type) and issubclass(kind, BaseException)):
            self.source.refuse(node, "a kernel can only raise an exception class that it names")
        if call.keywords or not all(self.is_constant(a) for a in call.args):
            self.source.refuse(node, "an exception in a kernel can only carry constants")
        args = [ast.Constant(self.source.static(a)[1]) for a in call.args]
        return ast.Raise(make_call(self.constant(kind), *args), None)

    def is_constant(self, node):
        known, value = self.source.static(node)
        return known and isinstance(value, (int, float, str, bool, type(None)))

    def do_Assert(self, node):
        if node.msg is not None and not self.is_constant(node.msg):
            self.source.refuse(node, "the message of an assert in a kernel must be a constant")
        message = [] if node.msg is None else [ast.Constant(self.source.static(node.msg)[1])]
        return ast.If(
            ast.UnaryOp(ast.Not(), self.expression(node.test)),
            [self.at(ast.Raise(make_call(self.constant(AssertionError), *message), None), node)],
            [],
        )

    def do_FunctionDef(self, node):
        if node.decorator_list:
            self.source.refuse(node, "a function inside a kernel cannot be decorated")
        return ast.FunctionDef(
            name=node.name,
            args=self.inner_arguments(node.args),
            body=self.inner_body(node, lambda: self.block(node.body)),
            decorator_list=[],
            returns=None,
            type_params=[],
        )

    def inner_arguments(self, parameters):
        if parameters.vararg or parameters.kwarg or parameters.defaults or parameters.kwonlyargs:
            self.source.refuse(
                parameters.args[0] if parameters.args else self.source.node,
                "a function inside a kernel takes plain arguments only",
            )
        hidden = [ast.arg("_v")] if self.traced else []
        return ast.arguments([], hidden + [ast.arg(a.arg) for a in parameters.args], None, [], [], None, [])

    def inner_body(self, node, make):
        outer = self.visit, self.lowered.synchronises
        self.visit, self.lowered.synchronises = make_name("_v"), False
        with self.source.inside(node):
            body = make()
            if self.lowered.synchronises:
                self.source.refuse(node, "a function inside a kernel cannot synchronise: make it a device function")
        self.visit, self.lowered.synchronises = outer
        return body

    def do_Match(self, node):
        """``match`` on constants: as numba compiles it, a chain of comparisons."""
        name = self.temporary()
        chain = tail = []
        for case in node.cases:
            test = self.pattern(case.pattern, name)
            if case.guard is not None:
                test = ast.BoolOp(ast.And(), [test, self.expression(case.guard)])
            branch = self.at(ast.If(test, self.block(case.body), []), case.pattern)
            tail.append(branch)
            tail = branch.orelse
        return [self.at(ast.Assign([make_name(name, True)], self.expression(node.subject)), node), *chain]

    def pattern(self, pattern, name):
        if isinstance(pattern, ast.MatchValue):
            return make_call("_eq", make_name(name), self.expression(pattern.value))
        if isinstance(pattern, ast.MatchOr):
            return ast.BoolOp(ast.Or(), [self.pattern(p, name) for p in pattern.patterns])
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is None and pattern.name is None:
            return ast.Constant(True)
        return self.source.refuse(pattern, "a kernel can only match against constants")
