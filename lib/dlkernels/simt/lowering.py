"""Rewrite a kernel's source so that the executor can run it: once for each kernel, through the syntax tree.

What was                              becomes (``t`` is the thread, ``v`` the visit number, in a traced run only)
------------------------------------  ---------------------------------------------------------------------------
``a[i]``, ``a[i] = x``                ``_load1(a, i, site, v)``, ``_store1(a, i, x, site, v)``
``x + y`` (types not known)           ``_add(x, y)``: numba's number semantics (numbers.py)
``cuda.threadIdx.x``                  ``t.x``
``cuda.syncthreads()``                ``(yield (SYNC, site, ...))``: the thread gives way to the next one
a loop, in a traced run               the same, with ``v2 = _visit(v, site, iteration)`` at the head of the body
``device_function(x)``                ``_device_function(t, v, x)``, or ``yield from`` it if it synchronises

A kernel that synchronises so becomes a generator, and its threads take turns. Anything that could not be compiled for a
GPU is refused here, with its line. Positions are kept: a traceback through a lowered kernel shows the author's source.
"""

import ast
import inspect
import numbers as abstract_numbers
import types

import numpy as np
from numba.core import types as nb
from numba.core.dispatcher import Dispatcher as NumbaDispatcher

from . import numbers
from .errors import NotOnAGpu
from .kinds import Kinds, as_type, fold
from .names import DeviceName, Scope, member
from .operations import BUILTINS, INTRINSICS, SYNC, VALUES
from .source import Sites, tree_of

_LOW, _HIGH = -(1 << 63), (1 << 63) - 1
_REFUSED = {
    ast.ListComp: "a list comprehension: a GPU thread has no heap; write a loop, or use cuda.local.array",
    ast.SetComp: "a set comprehension",
    ast.DictComp: "a dict comprehension",
    ast.GeneratorExp: "a generator expression",
    ast.List: "a list: a GPU thread has no heap; use a tuple, or cuda.local.array",
    ast.Set: "a set",
    ast.Dict: "a dict",
    ast.JoinedStr: "an f-string: print() takes several values instead",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield from",
    ast.Starred: "a starred expression",
    ast.Try: "try / except: there are no exceptions to catch on a GPU",
    ast.With: "with",
    ast.Import: "import: import the module outside the kernel",
    ast.ImportFrom: "import: import the module outside the kernel",
    ast.Global: "global: a kernel cannot change global variables",
    ast.Nonlocal: "nonlocal",
    ast.Delete: "del",
    ast.ClassDef: "a class",
    ast.AsyncFunctionDef: "async",
    ast.AsyncFor: "async",
    ast.AsyncWith: "async",
}
_ARRAY_ATTRIBUTES = frozenset(
    ("shape", "size", "ndim", "dtype", "strides", "nbytes", "itemsize", "T", "real", "imag", "x", "y", "z")
)


class Program:
    """A kernel and all device functions it calls, lowered for one way of running (traced or not, with budget or not).

    ``sites`` are shared by all of them; ``synchronises`` and ``grid_sync`` tell the engine how threads must take turns.
    """

    def __init__(self, kernel, argument_kinds, traced, counted):
        self.traced, self.counted = traced, counted or traced
        self.sites = Sites()
        self.files = set()
        self._functions = {}
        self._in_progress = set()
        self.grid_sync = False
        self.kernel = self.function(kernel, argument_kinds, is_kernel=True)

    @property
    def synchronises(self):
        return self.kernel.synchronises

    def function(self, python_function, argument_kinds, is_kernel=False):
        """The lowered form of a kernel or device function for these kinds of arguments; lowered at its first use."""
        key = id(python_function), tuple(argument_kinds)
        if key not in self._functions:
            self.files.add(python_function.__code__.co_filename)
            lowered = self._functions[key] = LoweredFunction(self, python_function, argument_kinds, is_kernel)
            self._in_progress.add(lowered)
            lowered.lower()
            self._in_progress.discard(lowered)
        return self._functions[key]

    def is_recursive(self, lowered):
        return lowered in self._in_progress

    def link(self, ports):
        """The kernel as a Python function, its loads, stores and so on bound to ``ports`` (name -> function)."""
        linked = {}

        def link(lowered):
            if lowered not in linked:
                namespace = {"__builtins__": {}, **VALUES, **ports, **lowered.constants}
                function = types.FunctionType(lowered.code, namespace, lowered.name)
                function.__defaults__ = lowered.python_function.__defaults__
                function.__kwdefaults__ = lowered.python_function.__kwdefaults__
                linked[lowered] = function
                for name, callee in lowered.callees.items():
                    namespace[name] = link(callee)
            return linked[lowered]

        return link(self.kernel)


class LoweredFunction:
    """One kernel or device function, lowered."""

    def __init__(self, program, python_function, argument_kinds, is_kernel):
        self.program, self.python_function, self.is_kernel = program, python_function, is_kernel
        self.argument_kinds = argument_kinds
        self.name = python_function.__name__
        self.constants, self.callees = {}, {}
        self.synchronises = False
        self.code = None

    def lower(self):
        node = tree_of(self.python_function)
        body = Lowering(self, node).lower()
        module = ast.fix_missing_locations(ast.Module([body], []))
        compiled = compile(module, self.python_function.__code__.co_filename, "exec", dont_inherit=True)
        self.code = next(
            c for c in compiled.co_consts if isinstance(c, types.CodeType) and c.co_name == body.name
        )


def _name(identifier, store=False):
    return ast.Name(identifier, ast.Store() if store else ast.Load())


def _call(function, *args):
    """``function(*args)``: names as strings, everything else as constants or nodes."""
    nodes = [a if isinstance(a, ast.AST) else ast.Constant(a) for a in args]
    return ast.Call(_name(function) if isinstance(function, str) else function, nodes, [])


class Lowering:
    """The walk over one function's syntax tree. Methods named after a node return the node that replaces it."""

    def __init__(self, lowered, node):
        self.lowered, self.program, self.node = lowered, lowered.program, node
        self.python_function = lowered.python_function
        self.traced, self.counted = self.program.traced, self.program.counted
        self.scope = Scope(self.python_function)
        self.locals = _local_names(node)
        self.aliases = {}
        self._find_aliases()
        self.inner = set()  # names of functions defined inside this one
        self.visit = ast.Name("_v", ast.Load())
        self.depth = 0
        self.counter = 0
        self.in_inner = False
        self.kinds = Kinds(self, node, lowered.argument_kinds)

    # -- helpers ------------------------------------------------------------------------------------------------------

    def refuse(self, node, what):
        site = self.program.sites.sites[self.site(node, "refused")]
        raise NotOnAGpu(what, site=site, kernel=self.lowered.name)

    def site(self, node, kind):
        return self.program.sites.add(node, kind, self.python_function)

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

    def static(self, node):
        """(True, object) where an expression is known before the kernel runs: a global, a closure, a module's member."""
        if isinstance(node, ast.Constant):
            return True, node.value
        if isinstance(node, ast.Name) and node.id in self.aliases:
            return True, self.aliases[node.id]
        if isinstance(node, ast.Name) and node.id not in self.locals:
            try:
                return True, self.scope.lookup(node.id)
            except NameError as error:
                self.refuse(node, f"{error}")
        if isinstance(node, ast.Attribute):
            found, value = self.static(node.value)
            if found and not isinstance(value, (DeviceName, np.ndarray, abstract_numbers.Number)):
                try:
                    return True, member(value, node.attr)
                except AttributeError:
                    owner = ast.unparse(node.value)
                    self.refuse(node, f"{owner} has no {node.attr!r} that can be used in a kernel")
        return False, None

    def _find_aliases(self):
        """``sync = cuda.syncthreads``: a variable that is only ever another name for a function."""
        if isinstance(self.node, ast.Lambda):
            return
        stores = [
            n.id for n in ast.walk(self.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        ]
        arguments = {a.arg for a in ast.walk(self.node) if isinstance(a, ast.arg)}
        for statement in ast.walk(self.node):
            if not (
                isinstance(statement, ast.Assign) and isinstance(statement.value, (ast.Name, ast.Attribute))
            ):
                continue
            target = statement.targets[0]
            if len(statement.targets) > 1 or not isinstance(target, ast.Name) or target.id in arguments:
                continue
            if stores.count(target.id) != 1 or _root(statement.value) in self.locals:
                continue
            found, value = self.static(statement.value)
            is_value = isinstance(
                value, (abstract_numbers.Number, np.ndarray, np.dtype, tuple, str, type(None))
            )
            places = isinstance(value, DeviceName) and value.path in (
                "threadIdx",
                "blockIdx",
                "blockDim",
                "gridDim",
            )
            if (
                found
                and not is_value
                and (not isinstance(value, DeviceName) or places or value.path in INTRINSICS)
            ):
                self.aliases[target.id] = value
                self.locals.discard(target.id)

    # -- the function -------------------------------------------------------------------------------------------------

    def lower(self):
        node = self.node
        given = node.args
        if given.vararg or given.kwarg:
            self.refuse(node, "*args and **kwargs are not possible in a kernel: name every argument")
        hidden = [ast.arg("_t")] + ([ast.arg("_v")] if self.traced else [])
        arguments = ast.arguments(
            posonlyargs=[],
            args=hidden + [ast.arg(a.arg) for a in given.posonlyargs + given.args],
            kwonlyargs=[ast.arg(a.arg) for a in given.kwonlyargs],
            kw_defaults=[None] * len(given.kwonlyargs),
            defaults=[],
        )
        if isinstance(node, ast.Lambda):
            body = [self.at(ast.Return(self.expression(node.body)), node.body)]
        else:
            body = self.block(node.body)
        name = "lowered_" + ("lambda" if isinstance(node, ast.Lambda) else node.name)
        made = ast.FunctionDef(
            name=name,
            args=arguments,
            body=body or [ast.Pass()],
            decorator_list=[],
            returns=None,
            type_params=[],
        )
        return self.at(made, node)

    def block(self, statements):
        result = []
        for statement in statements:
            made = self.statement(statement)
            result.extend(made if isinstance(made, list) else [made])
        return result or [ast.Pass()]

    # -- statements ---------------------------------------------------------------------------------------------------

    def statement(self, node):
        if type(node) in _REFUSED:
            self.refuse(node, f"a kernel cannot use {_REFUSED[type(node)]}")
        method = getattr(self, "do_" + type(node).__name__, None)
        if method is None:
            self.refuse(node, f"a kernel cannot use a {type(node).__name__} statement")
        made = method(node)
        for new in made if isinstance(made, list) else [made]:
            if not hasattr(new, "lineno"):
                self.at(new, node)
        return made

    def do_Pass(self, node):
        return ast.Pass()

    def do_Break(self, node):
        return ast.Break()

    def do_Continue(self, node):
        return ast.Continue()

    def do_Expr(self, node):
        if isinstance(node.value, ast.Constant):  # a docstring
            return ast.Pass()
        return ast.Expr(self.expression(node.value))

    def do_Return(self, node):
        returns_nothing = node.value is None or (
            isinstance(node.value, ast.Constant) and node.value.value is None
        )
        if self.lowered.is_kernel and not self.in_inner and not returns_nothing:
            self.refuse(node, "CUDA kernel must have void return type: write results to an array argument")
        return ast.Return(None if node.value is None else self.expression(node.value))

    def do_Assign(self, node):
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id in self.aliases:
            return ast.Pass()
        value = self.expression(node.value)
        if len(node.targets) == 1:
            return self.assign(node.targets[0], value)
        name = self.temporary()
        made = [self.at(ast.Assign([_name(name, True)], value), node)]
        for target in node.targets:
            made.extend(self.assign(target, _name(name)))
        return made

    def do_AnnAssign(self, node):
        if node.value is None:
            return ast.Pass()
        return self.assign(node.target, self.expression(node.value))

    def assign(self, target, value):
        """Statements that store a lowered value in a target of the original source."""
        if isinstance(target, ast.Name):
            return [self.at(ast.Assign([_name(target.id, True)], value), target)]
        if isinstance(target, ast.Subscript):
            return [self.store(target, self.expression(target.value), self.indices(target), value)]
        if isinstance(target, (ast.Tuple, ast.List)):
            names = [self.temporary() for _ in target.elts]
            if any(isinstance(e, ast.Starred) for e in target.elts):
                self.refuse(target, "a kernel cannot unpack with a star")
            left = ast.Tuple([_name(n, True) for n in names], ast.Store())
            made = [self.at(ast.Assign([left], value), target)]
            for element, name in zip(target.elts, names, strict=True):
                made.extend(self.assign(element, _name(name)))
            return made
        return self.refuse(target, "a kernel cannot assign to this")

    def store(self, target, array, indices, value):
        site = self.site(target, "store")
        if indices is None:
            call = _call("_storen", array, self.index_tuple(target), value, site, *self.visited())
        else:
            call = _call(f"_store{len(indices)}", array, *indices, value, site, *self.visited())
        return self.at(ast.Expr(self.at(call, target)), target)

    def do_AugAssign(self, node):
        target, made = node.target, []
        if isinstance(target, ast.Name):
            left = ast.BinOp(_name(target.id), node.op, node.value)
            self.at(left.left, target)
            return self.assign(target, self.expression(self.at(left, node)))
        if not isinstance(target, ast.Subscript):
            self.refuse(target, "a kernel cannot assign to this")

        def once(lowered, original):
            """Evaluate once what is needed twice."""
            if isinstance(lowered, (ast.Constant, ast.Name)):
                return lowered
            name = self.temporary()
            made.append(self.at(ast.Assign([_name(name, True)], lowered), original))
            return _name(name)

        array = once(self.expression(target.value), target.value)
        indices = self.indices(target)
        if indices is None:
            key = [once(self.index_tuple(target), target.slice)]
            form = "n"
        else:
            key = [once(index, target.slice) for index in indices]
            form = len(key)
        load = _call(f"_load{form}", array, *key, self.site(target, "load"), *self.visited())
        value = self.operate(node, node.op, load, self.expression(node.value), *self.kinds.of_augmented(node))
        site = self.site(target, "store")
        made.append(
            ast.Expr(self.at(_call(f"_store{form}", array, *key, value, site, *self.visited()), node))
        )
        return [self.at(m, node) for m in made]

    def do_If(self, node):
        return ast.If(
            self.expression(node.test), self.block(node.body), self.block(node.orelse) if node.orelse else []
        )

    def loop(self, node):
        """Names and statements that number the iterations of a loop: (before, call that enters an iteration)."""
        site = self.site(node, "loop")
        if not self.traced:
            return [], _call("_step", _name("_t"), site)
        self.depth += 1
        count, visit = f"_n{self.depth}", f"_v{self.depth}"
        advance = ast.NamedExpr(_name(count, True), ast.BinOp(_name(count), ast.Add(), ast.Constant(1)))
        enter = ast.NamedExpr(_name(visit, True), _call("_visit", self.visit, site, advance))
        self.visit = _name(visit)
        return [ast.Assign([_name(count, True)], ast.Constant(-1))], enter

    def do_For(self, node):
        iterable = self.iterable(node.iter)
        outer = self.visit, self.depth
        before, enter = self.loop(node) if self.counted else ([], None)
        if isinstance(node.target, ast.Name):
            target, head = _name(node.target.id, True), []
        else:
            name = self.temporary()
            target, head = _name(name, True), self.assign(node.target, _name(name))
        if enter is not None:
            head = [self.at(ast.Expr(enter), node), *head]
        body = head + self.block(node.body)
        self.visit = outer[0]
        loop = ast.For(target, iterable, body, self.block(node.orelse) if node.orelse else [])
        return [self.at(s, node) for s in (*before, loop)]

    def iterable(self, node):
        if isinstance(node, ast.Call):
            found, function = self.static(node.func)
            if found and function in (range, enumerate, zip):
                args = [self.iterable(a) if function is not range else self.expression(a) for a in node.args]
                if node.keywords:
                    self.refuse(node, f"{function.__name__}() takes no keywords in a kernel")
                return self.at(
                    _call({range: "_range", enumerate: "_enumerate", zip: "_zip"}[function], *args), node
                )
        site = self.site(node, "load")
        return self.at(_call("_iterate", self.expression(node), site, *self.visited()), node)

    def do_While(self, node):
        outer = self.visit
        before, enter = self.loop(node) if self.counted else ([], None)
        test = self.expression(node.test)
        if enter is not None:
            test = ast.BoolOp(ast.And(), [enter, test])
        body = self.block(node.body)
        self.visit = outer
        loop = ast.While(test, body, self.block(node.orelse) if node.orelse else [])
        return [self.at(s, node) for s in (*before, loop)]

    def do_Raise(self, node):
        if node.exc is None or node.cause is not None:
            self.refuse(
                node, "a kernel can only raise a new exception, such as `raise ValueError('message')`"
            )
        call = node.exc if isinstance(node.exc, ast.Call) else ast.Call(node.exc, [], [])
        found, kind = self.static(call.func)
        if not (found and isinstance(kind, type) and issubclass(kind, BaseException)):
            self.refuse(node, "a kernel can only raise an exception class that it names")
        if call.keywords or not all(self.is_constant(a) for a in call.args):
            self.refuse(node, "an exception in a kernel can only carry constants")
        args = [ast.Constant(self.static(a)[1]) for a in call.args]
        return ast.Raise(_call(self.constant(kind), *args), None)

    def is_constant(self, node):
        found, value = self.static(node)
        return found and isinstance(value, (int, float, str, bool, type(None)))

    def do_Assert(self, node):
        if node.msg is not None and not self.is_constant(node.msg):
            self.refuse(node, "the message of an assert in a kernel must be a constant")
        message = [] if node.msg is None else [ast.Constant(self.static(node.msg)[1])]
        return ast.If(
            ast.UnaryOp(ast.Not(), self.expression(node.test)),
            [self.at(ast.Raise(_call(self.constant(AssertionError), *message), None), node)],
            [],
        )

    def do_FunctionDef(self, node):
        if node.decorator_list:
            self.refuse(node, "a function inside a kernel cannot be decorated")
        self.inner.add(node.name)
        made = ast.FunctionDef(
            name=node.name,
            args=self.inner_arguments(node.args),
            body=self.inner_body(node, lambda: self.block(node.body)),
            decorator_list=[],
            returns=None,
            type_params=[],
        )
        return made

    def inner_arguments(self, given):
        if given.vararg or given.kwarg or given.defaults or given.kwonlyargs:
            self.refuse(
                given.args[0] if given.args else self.node,
                "a function inside a kernel takes plain arguments only",
            )
        hidden = [ast.arg("_v")] if self.traced else []
        return ast.arguments([], hidden + [ast.arg(a.arg) for a in given.args], None, [], [], None, [])

    def inner_body(self, node, make):
        outer = self.visit, self.in_inner, self.locals, self.lowered.synchronises
        arguments = {a.arg for a in node.args.args}
        self.visit, self.in_inner = _name("_v"), True
        self.locals = (
            self.locals | arguments | (_local_names(node) if isinstance(node, ast.FunctionDef) else set())
        )
        self.lowered.synchronises = False
        body = make()
        if self.lowered.synchronises:
            self.refuse(node, "a function inside a kernel cannot synchronise: make it a device function")
        self.visit, self.in_inner, self.locals, self.lowered.synchronises = outer
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
        return [self.at(ast.Assign([_name(name, True)], self.expression(node.subject)), node), *chain]

    def pattern(self, pattern, name):
        if isinstance(pattern, ast.MatchValue):
            return _call("_eq", _name(name), self.expression(pattern.value))
        if isinstance(pattern, ast.MatchOr):
            return ast.BoolOp(ast.Or(), [self.pattern(p, name) for p in pattern.patterns])
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is None and pattern.name is None:
            return ast.Constant(True)
        return self.refuse(pattern, "a kernel can only match against constants")

    # -- expressions --------------------------------------------------------------------------------------------------

    def expression(self, node):
        if type(node) in _REFUSED:
            self.refuse(node, f"a kernel cannot use {_REFUSED[type(node)]}")
        method = getattr(self, "on_" + type(node).__name__, None)
        if method is None:
            self.refuse(node, f"a kernel cannot use a {type(node).__name__} expression")
        return self.at(method(node), node)

    def on_Constant(self, node):
        if isinstance(node.value, bytes):
            self.refuse(node, "a kernel cannot use bytes")
        if type(node.value) is int and node.value >= 1 << 63:  # too large for int64: uint64, as in numba
            if node.value >= 1 << 64:
                self.refuse(node, f"{node.value} does not fit into 64 bits")
            return _name(self.constant(np.uint64(node.value)))
        return ast.Constant(node.value)

    def on_Name(self, node):
        if node.id in self.locals:
            return _name(node.id)
        return self.static_value(node, self.static(node)[1])

    def static_value(self, node, value):
        """A global or closure variable, used as a value: frozen, as numba does."""
        if isinstance(value, DeviceName):
            return self.device_value(node, value)
        if isinstance(value, (bool, int, float, complex, str, type(None))) and not isinstance(
            value, np.generic
        ):
            plain = value.value if hasattr(value, "value") and not isinstance(value, (bool, float)) else value
            return ast.Constant(
                int(plain) if isinstance(plain, int) and not isinstance(plain, bool) else plain
            )
        if isinstance(value, np.generic):
            return _name(self.constant(numbers.normal(value)))
        if isinstance(value, np.ndarray):
            return _call("_constant_array", _name(self.constant(value)), ast.unparse(node))
        if isinstance(value, tuple) and all(
            isinstance(v, (abstract_numbers.Number, tuple, str)) for v in value
        ):
            return _name(self.constant(value))
        if isinstance(value, (nb.Type, np.dtype)) or (
            isinstance(value, type) and issubclass(value, np.generic)
        ):
            return _name(self.constant(value))
        if value in (int, float, bool, complex) or callable(value):
            self.refuse(node, f"{ast.unparse(node)} can only be called in a kernel, not used as a value")
        return self.refuse(
            node,
            f"{ast.unparse(node)} is a {type(value).__name__}, which a kernel cannot use from outside: "
            "numbers, tuples of numbers and NumPy arrays are fine; pass anything else as an argument",
        )

    def device_value(self, node, value):
        if value.path in ("threadIdx", "blockIdx"):
            return _call("_dim3", _name("_t"), value.path)
        if value.path in ("blockDim", "gridDim"):
            return _name("_" + value.path)
        if value.path == "laneid":
            return ast.Attribute(_name("_t"), "lane", ast.Load())
        if value.path == "warpsize":
            return ast.Constant(32)
        return self.refuse(node, f"cuda.{value.path} can only be called in a kernel, not used as a value")

    def on_Attribute(self, node):
        if isinstance(node.value, (ast.Name, ast.Attribute)):
            base_found, base = self.static(node.value)
            if base_found and isinstance(base, DeviceName) and node.attr in ("x", "y", "z"):
                if base.path == "threadIdx":
                    return ast.Attribute(_name("_t"), node.attr, ast.Load())
                if base.path == "blockIdx":
                    return ast.Attribute(
                        ast.Attribute(_name("_t"), "block", ast.Load()), node.attr, ast.Load()
                    )
                if base.path in ("blockDim", "gridDim"):
                    return _name(f"_{base.path}_{node.attr}")
            if base_found and isinstance(base, DeviceName):
                self.refuse(node, f"cuda.{base.path} has no {node.attr!r}")
            found, value = self.static(node)
            if found:
                return self.static_value(node, value)
        value = self.expression(node.value)
        if node.attr in _ARRAY_ATTRIBUTES:
            return ast.Attribute(value, node.attr, ast.Load())
        return _call("_field", value, node.attr, self.site(node, "load"), *self.visited())

    def on_Tuple(self, node):
        return ast.Tuple([self.expression(e) for e in node.elts], ast.Load())

    def on_NamedExpr(self, node):
        return ast.NamedExpr(_name(node.target.id, True), self.expression(node.value))

    def on_IfExp(self, node):
        body, orelse = self.expression(node.body), self.expression(node.orelse)
        kinds = self.kinds.of(node.body), self.kinds.of(node.orelse)
        common = as_type(self.kinds.of(node))
        if common is not None and kinds[0] != kinds[1]:  # both branches have one type, which holds both
            cast = self.constant(_caster(common))
            body, orelse = _call(cast, body), _call(cast, orelse)
        return ast.IfExp(self.expression(node.test), body, orelse)

    def on_BoolOp(self, node):
        return ast.BoolOp(node.op, [self.expression(v) for v in node.values])

    def on_Lambda(self, node):
        arguments = self.inner_arguments(node.args)
        return ast.Lambda(arguments, self.inner_body(node, lambda: self.expression(node.body)))

    def on_Slice(self, node):
        parts = [
            ast.Constant(None) if p is None else self.expression(p)
            for p in (node.lower, node.upper, node.step)
        ]
        return _call("_slice", *parts)

    def on_UnaryOp(self, node):
        operand = self.expression(node.operand)
        if isinstance(node.op, ast.Not):
            return ast.UnaryOp(ast.Not(), operand)
        if (
            isinstance(operand, ast.Constant)
            and isinstance(operand.value, (int, float))
            and isinstance(node.op, ast.USub)
        ):
            return ast.Constant(-operand.value)
        return _call("_" + type(node.op).__name__, operand)

    def on_BinOp(self, node):
        if isinstance(node.op, ast.MatMult):
            self.refuse(node, "a kernel cannot multiply matrices with @: write the loop")
        folded = fold(node)
        if folded is not None:
            return self.on_Constant(ast.Constant(folded))
        left, right = self.expression(node.left), self.expression(node.right)
        return self.operate(node, node.op, left, right, self.kinds.of(node.left), self.kinds.of(node.right))

    def operate(self, node, op, left, right, left_kind, right_kind):
        """``left op right``: Python's own operator where it computes the same as numba's for the types at hand."""
        operation = type(op).__name__
        if operation in ("Add", "Sub", "Mult") and left_kind in _NATIVE and right_kind in _NATIVE:
            if (
                "f" in (left_kind, right_kind) and left_kind != right_kind
            ):  # float32 with anything wider: in float64
                left = _call("_double", left) if left_kind == "f" else left
                right = _call("_double", right) if right_kind == "f" else right
            made = self.at(ast.BinOp(left, op, right), node)
            integers = left_kind in ("s", "i") and right_kind in ("s", "i")
            return self.wrapped(made, node) if integers and not left_kind == right_kind == "s" else made
        integers = left_kind in ("s", "i") and right_kind in ("s", "i")
        if integers and operation in ("BitAnd", "BitOr", "BitXor"):
            return self.at(ast.BinOp(left, op, right), node)
        if (
            integers
            and operation in ("FloorDiv", "Mod")
            and isinstance(right, ast.Constant)
            and right.value > 0
        ):
            return self.at(ast.BinOp(left, op, right), node)
        if integers and operation == "RShift" and isinstance(right, ast.Constant) and 0 <= right.value < 64:
            return self.at(ast.BinOp(left, op, right), node)
        if left_kind == right_kind == "f" and operation == "Div":
            return self.at(ast.BinOp(left, op, right), node)
        return self.at(_call("_" + operation, left, right), node)

    def wrapped(self, made, node):
        """An int64 result: checked against overflow, which wraps."""
        bind = ast.NamedExpr(_name("_w", True), made)
        fits = ast.Compare(ast.Constant(_LOW), [ast.LtE(), ast.LtE()], [bind, ast.Constant(_HIGH)])
        return self.at(ast.IfExp(fits, _name("_w"), _call("_wrap", _name("_w"))), node)

    def on_Compare(self, node):
        if len(node.ops) == 1:
            operands = [self.expression(node.left), self.expression(node.comparators[0])]
            return self.compare(node, node.ops[0], *operands, node.left, node.comparators[0])
        parts, left, left_node = [], self.expression(node.left), node.left
        for index, (op, right_node) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.expression(right_node)
            if index + 1 < len(node.ops) and not isinstance(right, (ast.Name, ast.Constant)):
                name = self.temporary()
                right = ast.NamedExpr(_name(name, True), right)
                following = _name(name)
            else:
                following = right
            parts.append(self.compare(node, op, left, right, left_node, right_node))
            left, left_node = following, right_node
        return ast.BoolOp(ast.And(), parts)

    def compare(self, node, op, left, right, left_node, right_node):
        left_kind, right_kind = self.kinds.of(left_node), self.kinds.of(right_node)
        same = left_kind == right_kind == "f"
        no_float32 = left_kind in ("s", "i", "d") and right_kind in ("s", "i", "d")
        identity = isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn))
        if same or no_float32 or identity:
            return self.at(ast.Compare(left, [op], [right]), node)
        return self.at(_call("_" + type(op).__name__, left, right), node)

    def on_Subscript(self, node):
        found, value = (
            self.static(node.value) if isinstance(node.value, (ast.Name, ast.Attribute)) else (False, None)
        )
        if found and isinstance(value, tuple):
            index_found, index = self.static(node.slice)
            if index_found and isinstance(index, int):
                return self.static_value(node, value[index])
        indices = self.indices(node)
        site = self.site(node, "load")
        array = self.expression(node.value)
        if indices is None:
            return _call("_loadn", array, self.index_tuple(node), site, *self.visited())
        return _call(f"_load{len(indices)}", array, *indices, site, *self.visited())

    def indices(self, node):
        """Lowered indices of a subscript, if there are one to three and none is a slice; else None."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        unusual = (ast.Slice, ast.Tuple)
        if 1 <= len(parts) <= 3 and not any(isinstance(p, unusual) for p in parts):
            for part in parts:
                if isinstance(part, (ast.Compare, ast.BoolOp)) or self.kinds.of(part) in ("f", "d"):
                    self.refuse(part, "an index must be a whole number, not a truth value or a float")
            return [self.expression(p) for p in parts]
        return None

    def index_tuple(self, node):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return ast.Tuple([self.expression(p) for p in parts], ast.Load())

    # -- calls --------------------------------------------------------------------------------------------------------

    def on_Call(self, node):
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            self.refuse(node, "a kernel cannot call with * or **: write out the arguments")
        if isinstance(node.func, ast.Name) and node.func.id in self.locals:
            return self.call_local(node)
        found, function = self.static(node.func)
        if not found:
            return self.call_method(node)
        function = VALUES.get(function, function) if isinstance(function, str) else function
        if isinstance(function, DeviceName):
            return self.call_device_name(node, function)
        stand_in = self.stand_in(function)
        if stand_in is not None:
            return self.call_stand_in(node, stand_in)
        python_function = getattr(function, "py_func", None)
        if getattr(function, "is_kernel", False):
            self.refuse(
                node, f"{node.func.id} is a kernel: a kernel can only call device functions (device=True)"
            )
        if python_function is not None:
            return self.call_function(node, python_function)
        name = self.value_function(node, function)
        args = [self.expression(a) for a in node.args]
        if node.keywords:
            self.refuse(node, f"{ast.unparse(node.func)}() takes no keywords in a kernel")
        return _call(name, *args)

    def stand_in(self, function):
        from .intrinsics import stand_ins

        try:
            return stand_ins.get(function)
        except TypeError:
            return None

    def value_function(self, node, function):
        """Name of the function that computes a call on plain values: built-ins, math, NumPy's scalar functions, casts."""
        try:
            if function in BUILTINS:
                return BUILTINS[function]
        except TypeError:
            pass
        if isinstance(function, nb.Type):
            return self.constant(_caster(function))
        if isinstance(function, type) and issubclass(function, np.generic):
            return self.constant(_caster(numbers.numba_type(function)))
        if getattr(function, "__module__", None) == "math":
            return self.constant(_dispatch(function))
        if isinstance(function, np.ufunc):
            return self.constant(_ufunc(function))
        described = ast.unparse(node.func)
        if isinstance(function, (NumbaDispatcher, types.FunctionType)):
            if getattr(function, "__module__", "").split(".")[0] == "numpy":
                self.refuse(
                    node,
                    f"{described}() makes or reads whole arrays, which a kernel cannot do: write the loop",
                )
            self.refuse(
                node,
                f"{described} is a plain Python function: decorate it with @cuda.jit(device=True) to call it here",
            )
        if getattr(function, "__module__", "").split(".")[0] == "numpy":
            self.refuse(
                node, f"{described}() makes or reads whole arrays, which a kernel cannot do: write the loop"
            )
        if type(function).__module__.startswith(("numba.", "numba_cuda.")):
            self.refuse(
                node,
                f"{described} is a compiler intrinsic that has no Python stand-in: give it one with "
                "dlkernels.simt.stand_in(intrinsic, python_function)",
            )
        return self.refuse(node, f"{described}() cannot be called in a kernel")

    def call_local(self, node):
        if node.keywords:
            self.refuse(node, "keywords are not possible here")
        args = [self.expression(a) for a in node.args]
        hidden = [_call("_visit", self.visit, self.site(node, "call"), 0)] if self.traced else []
        return _call(_name(node.func.id), *hidden, *args)

    def call_function(self, node, python_function):
        """A device function: lowered too, with this thread (and visit) passed on."""
        callee = self.program.function(python_function, [self.kinds.of(a) for a in node.args])
        recursive = self.program.is_recursive(callee)
        name = f"_device{len(self.lowered.callees)}"
        self.lowered.callees[name] = callee
        site = self.site(node, "call")
        hidden = [_name("_t")] + ([_call("_visit", self.visit, site, 0)] if self.traced else [])
        call = _call(name, *hidden, *(self.expression(a) for a in node.args))
        call.keywords = [ast.keyword(k.arg, self.expression(k.value)) for k in node.keywords]
        try:
            signature = inspect.signature(python_function)
            signature.bind(*node.args, **{k.arg: k for k in node.keywords})
        except TypeError as error:
            self.refuse(node, f"{python_function.__name__}{signature}: {error}")
        if recursive:
            if callee.synchronises:
                self.refuse(node, "a device function that calls itself cannot synchronise")
            return call
        if callee.synchronises:
            self.lowered.synchronises = True
            return ast.YieldFrom(self.at(call, node))
        return call

    def call_stand_in(self, node, function):
        context = _call(
            "_stand_in_context", self.site(node, "load"), self.site(node, "store"), *self.visited()
        )
        return _call(_name(self.constant(function)), context, *(self.expression(a) for a in node.args))

    def call_method(self, node):
        """``value.method(...)`` on something the kernel computed."""
        if not isinstance(node.func, ast.Attribute):
            self.refuse(node, "a kernel cannot call this")
        method, value = node.func.attr, node.func.value
        if method == "sync" and not node.args:
            self.lowered.synchronises = self.program.grid_sync = True
            made = [self.at(ast.Constant(SYNC["grid"]), node), ast.Constant(self.site(node, "grid barrier"))]
            return ast.Yield(ast.Tuple(made, ast.Load()))
        if method in ("sum", "prod", "min", "max", "mean") and not node.args and not node.keywords:
            return _call("_reduce", self.expression(value), method, self.site(node, "load"), *self.visited())
        if method in ("reshape", "ravel", "transpose", "view") and not node.keywords:
            args = [self.expression(a) for a in node.args]
            return _call("_view", self.expression(value), method, self.site(node, "load"), *args)
        if method == "conjugate" and not node.args:
            return _call("_conjugate", self.expression(value))
        return self.refuse(node, f"the method .{method}() cannot be used in a kernel")

    def call_device_name(self, node, function):
        operation = INTRINSICS.get(function.path)
        if operation is None:
            self.refuse(node, f"cuda.{function.path} cannot be called")
        return operation.lower(self, node)

    def bind(self, node, names, defaults=()):
        """Arguments of a call in order, by position or keyword: a list of nodes of the source (None: not given)."""
        given = dict(zip(names, node.args, strict=False))
        for keyword in node.keywords:
            if keyword.arg not in names or keyword.arg in given:
                self.refuse(node, f"{ast.unparse(node.func)}() got an unexpected argument {keyword.arg!r}")
            given[keyword.arg] = keyword.value
        if len(node.args) > len(names):
            self.refuse(
                node, f"{ast.unparse(node.func)}() takes {len(names)} arguments, {len(node.args)} came"
            )
        missing = [n for n in names if n not in given and n not in defaults]
        if missing:
            self.refuse(node, f"{ast.unparse(node.func)}() misses the argument {missing[0]!r}")
        return [given.get(n) for n in names]


_NATIVE = frozenset("sidf")
_casters, _dispatchers = {}, {}


def _caster(target):
    if target not in _casters:
        try:
            _casters[target] = numbers.caster(target)
        except (TypeError, AttributeError):
            raise NotOnAGpu(f"{target} cannot be used to convert a value in a kernel") from None
    return _casters[target]


def _dispatch(function):
    return _dispatchers.setdefault(function, numbers.dispatch(function))


def _ufunc(function):
    """A NumPy ufunc on scalars: the result has the type that NumPy gives."""
    if function not in _dispatchers:
        typed = {int: np.int64, float: np.float64}

        def apply(*values):
            return numbers.normal(function(*(typed.get(type(v), lambda x: x)(v) for v in values)))

        _dispatchers[function] = apply
    return _dispatchers[function]


def _root(node):
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _local_names(node):
    """Names that a function assigns (or takes), without those of functions inside it."""
    names = set()
    arguments = node.args
    for a in (
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ):
        if a is not None:
            names.add(a.arg)

    def walk(child):
        if isinstance(child, ast.FunctionDef):
            names.add(child.name)
            return
        if isinstance(child, ast.Lambda):
            return
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            names.add(child.id)
        for grandchild in ast.iter_child_nodes(child):
            walk(grandchild)

    for statement in node.body if isinstance(node.body, list) else [node.body]:
        walk(statement)
    return names
