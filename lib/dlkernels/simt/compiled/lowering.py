"""Lower a kernel's source to the small language of core.py: no ``cuda``, no globals, every barrier a statement of its own.

    i = cuda.grid(1)                              i = _bx * 64 + _tx
    if i < x.size:                          ->    if i < x.size:
        y[i] += cuda.shfl_down_sync(m, v, 1)          _k1 = _load(_flag, 0, y, i)
                                                      _k2 = v
                                                      <shfl_down_sync -> _k3>
                                                      _store(_flag, 1, y, i, _k1 + _k3)

What was computed before a barrier in the same statement is kept in a variable (``_k1``). Names are looked up by the
executor's lowering, which has refused before what no GPU could run; what only this engine cannot take is ``Unsupported``.
"""

import ast

import numpy as np

from ..errors import Unsupported
from ..names import DeviceName
from .calls import Calls
from .core import assign, call, name
from .structure import without

_ATTRIBUTES = ("shape", "size", "ndim", "strides", "nbytes", "itemsize", "T", "real", "imag")
_WORDS = {ast.FunctionDef: "a function defined inside the kernel", ast.Lambda: "a lambda", ast.Match: "match"}
_PLACES = {
    "threadIdx": ("_tx", "_ty", "_tz"),
    "blockIdx": ("_bx", "_by", "_bz"),
    "gridDim": ("_gx", "_gy", "_gz"),
}


class Lowering(Calls):
    """The walk over one function. ``unit``: the kernel being compiled; ``names``: the executor's lowering of the function."""

    def __init__(self, unit, names, prefix="", is_kernel=False):
        self.unit, self.names, self.prefix, self.is_kernel = unit, names, prefix, is_kernel
        self.pending = []  # statements that must run before the one at hand
        self.effects = set()  # "thread", "load", "store": what an expression of this function needs or does

    # -- helpers ------------------------------------------------------------------------------------------------------

    def refuse(self, node, construct):
        site = self.names.program.sites.sites[self.names.site(node, "unsupported")]
        raise Unsupported(construct, site=site, kernel=self.unit.name)

    def local(self, identifier):
        return self.prefix + identifier

    def keep(self, value, origin):
        """A fresh variable for a lowered value, assigned before the statement at hand."""
        if isinstance(value, ast.Constant):
            return value
        fresh = self.unit.temporary()
        self.pending.append(assign(fresh, value, origin))
        return name(fresh)

    def several(self, nodes):
        """Lower expressions that are evaluated one after the other; what comes before a barrier is kept."""
        made = []
        for node in nodes:
            before = len(self.pending)
            lowered = self.expression(node)
            if len(self.pending) > before:
                moved, self.pending = self.pending[before:], self.pending[:before]
                made = [self.keep(m, node) if not _is_fresh(m) else m for m in made]
                self.pending += moved
            made.append(lowered)
        return made

    # -- the function -------------------------------------------------------------------------------------------------

    def body(self, land):
        """The lowered statements, ``return`` replaced by what ``land(return node)`` gives."""
        made = self.block(self.names.node.body)
        return without(ast.Return, made, land, self.unit.temporary)

    def block(self, nodes):
        result = []
        for node in nodes:
            outer, self.pending = self.pending, []
            made = self.statement(node)
            result += [*self.pending, *made]
            self.pending = outer
        return result

    # -- statements ---------------------------------------------------------------------------------------------------

    def statement(self, node):
        method = getattr(self, "do_" + type(node).__name__, None)
        if method is None:
            self.refuse(node, _WORDS.get(type(node), f"a {type(node).__name__} statement"))
        made = method(node)
        for new in made:
            if not hasattr(new, "lineno"):
                ast.copy_location(new, node)
        return made

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
        if isinstance(target, ast.Name) and target.id in self.names.aliases:
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
        stored = {t.id for t in left if isinstance(t, ast.Name)}
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
                s for t, item in zip(target.elts, items, strict=True)
                for s in self.assign(t, ast.copy_location(item, node), node)
            ]  # fmt: skip
        return self.refuse(node, "this assignment")

    def flagged(self, node):
        """The first two operands of an access: the flag, or None where nothing is checked, and the number of its line."""
        flag = name("_flag") if self.unit.checked else ast.Constant(None)
        return [flag, ast.Constant(self.unit.site(node.lineno))]

    def store(self, node, array, index, value):
        self.effects.add("store")
        return ast.Expr(ast.copy_location(call("_store", *self.flagged(node), array, index, value), node))

    def index(self, node):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(
            isinstance(p, ast.Slice) or (isinstance(p, ast.Constant) and p.value in (None, ...))
            for p in parts
        ):
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
        return value if isinstance(value, (ast.Name, ast.Constant)) else self.keep(value, node)

    def do_If(self, node):
        return [
            ast.If(self.expression(node.test), self.block(node.body) or [ast.Pass()], self.block(node.orelse))
        ]

    def do_For(self, node):
        if isinstance(node.target, ast.Name):
            target, head = self.local(node.target.id), []
        else:
            target = self.unit.temporary()
        iterable = self.iterable(node.iter)
        if not isinstance(node.target, ast.Name):
            outer, self.pending = self.pending, []
            head = self.assign(node.target, name(target), node)
            head, self.pending = [*self.pending, *head], outer
        body = head + self.block(node.body)
        return [ast.For(name(target, True), iterable, body or [ast.Pass()], self.block(node.orelse))]

    def iterable(self, node):
        if isinstance(node, ast.Call):
            found, function = self.names.static(node.func)
            if found and function is range:
                return call("range", *self.several(node.args))
            if found and function in (enumerate, zip):
                if self.contains_sync(node) or node.keywords:
                    self.refuse(node, f"{function.__name__}() with a barrier inside")
                return call(function.__name__, *(self.iterable(a) for a in node.args))
        return self.expression(node)

    def do_While(self, node):
        outer, self.pending = self.pending, []
        test = self.expression(node.test)
        before, self.pending = self.pending, outer
        body = self.block(node.body)
        if before:
            if node.orelse:
                self.refuse(node, "while ... else with a barrier in its condition")
            leave = ast.copy_location(ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], []), node)
            return [ast.While(ast.Constant(True), [*before, ast.fix_missing_locations(leave), *body], [])]
        return [ast.While(test, body or [ast.Pass()], self.block(node.orelse))]

    def do_Assert(self, node):
        failed = ast.Expr(call("_raise_flag", name("_flag"), self.unit.RAISED))
        return [
            ast.If(ast.UnaryOp(ast.Not(), self.expression(node.test)), [ast.copy_location(failed, node)], [])
        ]

    def do_Raise(self, node):
        self.effects.add("store")
        return [
            ast.Expr(call("_raise_flag", name("_flag"), self.unit.RAISED)),
            *(
                [ast.copy_location(ast.Return(None), node)]
                if self.is_kernel
                else self.refuse(node, "raise here")
            ),
        ]

    # -- expressions --------------------------------------------------------------------------------------------------

    def expression(self, node):
        method = getattr(self, "on_" + type(node).__name__, None)
        if method is None:
            self.refuse(node, _WORDS.get(type(node), f"a {type(node).__name__} expression"))
        return ast.copy_location(method(node), node)

    def on_Constant(self, node):
        if type(node.value) is int and node.value >= 1 << 63:
            return name(self.unit.bind(np.uint64(node.value)))
        if isinstance(node.value, (str, bytes, type(...))):
            self.refuse(node, "text")
        return ast.Constant(node.value)

    def on_Name(self, node):
        if node.id in self.names.locals:
            return name(self.local(node.id))
        return self.static_value(node, self.names.static(node)[1])

    def static_value(self, node, value):
        """A global or closure variable, frozen at the first launch as numba does."""
        if isinstance(value, DeviceName):
            if value.path == "laneid":
                self.effects.add("thread")
                return call("_lane", name("_t"))
            if value.path == "warpsize":
                return ast.Constant(32)
            self.refuse(node, f"cuda.{value.path} as a value")
        if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
            plain = value.value if hasattr(value, "value") and not isinstance(value, (bool, float)) else value
            if type(plain) in (bool, int, float):
                return self.on_Constant(ast.copy_location(ast.Constant(plain), node))
            return name(self.unit.bind(plain if isinstance(plain, complex) else int(plain)))
        if value is None:
            return ast.Constant(None)
        if isinstance(value, np.ndarray):
            return name(self.unit.constant_array(value))
        if isinstance(value, np.generic):
            return name(self.unit.bind(value))
        if isinstance(value, tuple) and all(isinstance(v, (bool, int, float, np.generic)) for v in value):
            if all(type(v) in (bool, int, float) for v in value):
                return ast.Tuple([ast.Constant(v) for v in value], ast.Load())
            return name(self.unit.bind(value))
        return self.refuse(node, f"a {type(value).__name__} from outside")

    def on_Attribute(self, node):
        if isinstance(node.value, (ast.Name, ast.Attribute)):
            found, base = self.names.static(node.value)
            if found and isinstance(base, DeviceName) and node.attr in ("x", "y", "z"):
                axis = "xyz".index(node.attr)
                if base.path == "blockDim":
                    return ast.Constant(self.unit.block[axis])
                if base.path == "threadIdx":
                    self.effects.add("thread")
                return name(_PLACES[base.path][axis])
            found, value = self.names.static(node)
            if found:
                return self.static_value(node, value)
        if node.attr not in _ATTRIBUTES:
            self.refuse(node, f"the attribute .{node.attr}")
        return ast.Attribute(self.expression(node.value), node.attr, ast.Load())

    def on_Subscript(self, node):
        if isinstance(node.value, (ast.Name, ast.Attribute)):
            found, value = self.names.static(node.value)
            if found and isinstance(value, tuple):
                index_found, index = self.names.static(node.slice)
                if index_found and isinstance(index, int):
                    return self.static_value(node, value[index])
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(p, ast.Slice) for p in parts):
            return self.view(node, parts)
        index = self.index(node)
        if isinstance(node.value, ast.Attribute) and node.value.attr in ("shape", "strides"):
            position = _constant_int(node.slice)
            if position is not None:
                return ast.Subscript(self.expression(node.value), ast.Constant(position), ast.Load())
        array, index = self.several([node.value, index])
        if isinstance(array, ast.Tuple) and isinstance(index, ast.Constant):
            return array.elts[index.value]
        self.effects.add("load")
        return call("_load", *self.flagged(node), array, index)

    def view(self, node, parts):
        """``a[2:n]`` or ``a[i, 2:n]``: another view of the same memory. Slices end where the array ends, as in Python."""
        whole = [p for p in parts if not isinstance(p, ast.Slice)]
        if (
            any(isinstance(p, ast.Constant) and p.value in (None, ...) for p in whole)
            or whole != parts[: len(whole)]
        ):
            self.refuse(node, "a slice before an index")
        limits = [limit for p in parts[len(whole) :] for limit in (p.lower, p.upper, p.step)]
        given = [limit for limit in limits if limit is not None]
        array, *lowered = self.several([node.value, *whole, *given])
        left = iter(lowered[len(whole) :])
        if whole:
            self.effects.add("load")
            array = call("_load", *self.flagged(node), array, ast.Tuple(lowered[: len(whole)], ast.Load()))
        ends = [None if limit is None else call("_int64", next(left)) for limit in limits]
        slices = [ast.Slice(*ends[k : k + 3]) for k in range(0, len(ends), 3)]
        return ast.Subscript(
            array, slices[0] if len(slices) == 1 else ast.Tuple(slices, ast.Load()), ast.Load()
        )

    def on_Tuple(self, node):
        return ast.Tuple(self.several(node.elts), ast.Load())

    def on_NamedExpr(self, node):
        self.pending.append(assign(self.local(node.target.id), self.expression(node.value), node))
        return name(self.local(node.target.id))

    def on_UnaryOp(self, node):
        return ast.UnaryOp(node.op, self.expression(node.operand))

    def on_BinOp(self, node):
        left, right = self.several([node.left, node.right])
        return self.operation(node, node.op, left, right)

    def operation(self, node, op, left, right):
        if isinstance(op, (ast.LShift, ast.RShift)):
            fits = isinstance(right, ast.Constant) and type(right.value) is int and 0 <= right.value < 64
            if not fits:
                return call("_shift_left" if isinstance(op, ast.LShift) else "_shift_right", left, right)
        return ast.copy_location(ast.BinOp(left, op, right), node)

    def on_Compare(self, node):
        if any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops):
            return self.membership(node)
        left, *others = self.several([node.left, *node.comparators])
        if len(others) > 1:
            others = [self.once(o, node) if k + 1 < len(others) else o for k, o in enumerate(others)]
        return ast.Compare(left, node.ops, others)

    def membership(self, node):
        """``x in (1, 2)``: a chain of comparisons."""
        if (
            len(node.ops) > 1
            or not isinstance(node.comparators[0], ast.Tuple)
            or not node.comparators[0].elts
        ):
            self.refuse(node, "`in` other than with a tuple written out")
        value, *items = self.several([node.left, *node.comparators[0].elts])
        value = self.once(value, node)
        tests = [ast.Compare(value, [ast.Eq()], [item]) for item in items]
        test = ast.BoolOp(ast.Or(), tests) if len(tests) > 1 else tests[0]
        return test if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), test)

    def on_BoolOp(self, node):
        if not any(self.contains_sync(v) for v in node.values[1:]):
            return ast.BoolOp(node.op, [self.expression(v) for v in node.values])
        result = self.unit.temporary()
        self.pending.append(assign(result, self.expression(node.values[0]), node))
        block = self.pending
        for value in node.values[1:]:
            outer, self.pending = self.pending, []
            lowered = self.expression(value)
            inside = [*self.pending, assign(result, lowered, node)]
            self.pending = outer
            test = name(result) if isinstance(node.op, ast.And) else ast.UnaryOp(ast.Not(), name(result))
            block.append(ast.copy_location(ast.If(test, inside, []), node))
            block = inside
        return name(result)

    def on_IfExp(self, node):
        if not (self.contains_sync(node.body) or self.contains_sync(node.orelse)):
            return ast.IfExp(
                self.expression(node.test), self.expression(node.body), self.expression(node.orelse)
            )
        result, test = self.unit.temporary(), self.expression(node.test)
        branches = []
        for value in (node.body, node.orelse):
            outer, self.pending = self.pending, []
            lowered = self.expression(value)
            branches.append([*self.pending, assign(result, lowered, node)])
            self.pending = outer
        self.pending.append(ast.copy_location(ast.If(test, *branches), node))
        return name(result)

    def contains_sync(self, node):
        """Whether an expression of the source has a barrier (or assigns a name) inside: it then becomes statements."""
        for n in ast.walk(node):
            if isinstance(n, ast.NamedExpr):
                return True
            if isinstance(n, ast.Call) and self.synchronises(n):
                return True
        return False


def _is_fresh(node):
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.startswith("_k"))


def _constant_int(node):
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) is int else None
