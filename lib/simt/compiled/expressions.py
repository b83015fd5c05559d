"""How expressions in a kernel are lowered (calls apart, see calls.py)."""

import ast

import numpy as np

from ..source.names import DeviceName
from ..source.refused import not_compiled
from .calls import Calls
from .core import BLOCK, GRID, THREAD, assign, call, name

_ATTRIBUTES = ("shape", "size", "ndim", "strides", "nbytes", "itemsize", "T", "real", "imag")
_PLACES = {"threadIdx": THREAD, "blockIdx": BLOCK, "gridDim": GRID}


class Expressions(Calls):
    """The part of `Lowering` that lowers expressions. Methods named after a node return what replaces it."""

    def expression(self, node):
        method = getattr(self, "on_" + type(node).__name__, None)
        if method is None:
            self.refuse(node, not_compiled(node))
        return ast.copy_location(method(node), node)

    def on_Constant(self, node):
        if type(node.value) is int and node.value >= 1 << 63:
            return name(self.unit.namespace.bind(np.uint64(node.value)))
        if isinstance(node.value, (str, bytes, type(...))):
            self.refuse(node, "text")
        return ast.Constant(node.value)

    def on_Name(self, node):
        if self.source.is_local(node):
            return name(self.local(node.id))
        return self.static_value(node, self.source.static(node)[1])

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
            return name(self.unit.namespace.bind(plain if isinstance(plain, complex) else int(plain)))
        if value is None:
            return ast.Constant(None)
        if isinstance(value, np.ndarray):
            if self.unit.counted is not None:
                return self.unit.counted.frozen(value, ast.unparse(node))
            return name(self.unit.namespace.bind(value))
        if isinstance(value, np.generic):
            return name(self.unit.namespace.bind(value))
        if isinstance(value, tuple) and all(isinstance(v, (bool, int, float, np.generic)) for v in value):
            if all(type(v) in (bool, int, float) for v in value):
                return ast.Tuple([ast.Constant(v) for v in value], ast.Load())
            return name(self.unit.namespace.bind(value))
        return self.refuse(node, f"a {type(value).__name__} from outside")

    def on_Attribute(self, node):
        if isinstance(node.value, (ast.Name, ast.Attribute)):
            known, base = self.source.static(node.value)
            if known and isinstance(base, DeviceName) and node.attr in ("x", "y", "z"):
                axis = "xyz".index(node.attr)
                if base.path == "blockDim":
                    return ast.Constant(self.unit.block[axis])
                if base.path == "threadIdx":
                    self.effects.add("thread")
                return name(_PLACES[base.path][axis])
            known, value = self.source.static(node)
            if known:
                return self.static_value(node, value)
        if node.attr not in _ATTRIBUTES:
            self.refuse(node, f"the attribute .{node.attr}")
        value = self.expression(node.value)
        if node.attr == "strides" and isinstance(value, ast.Name) and value.id in self.unit.memory.private:
            self.refuse(node, "the strides of a local array")
        return ast.Attribute(value, node.attr, ast.Load())

    def on_Subscript(self, node):
        known, item = self.source.static_item(node)
        if known:
            return self.static_value(node, item)
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
            if not any(isinstance(n, ast.Call) for n in ast.walk(array)):
                return array.elts[index.value]
        self.effects.add("load")
        return call("_load", *self.flagged(node), array, index)

    def view(self, node, parts):
        """``a[2:n]`` or ``a[i, 2:n]``: another view of the same memory. Slices end where the array ends, as in
        Python."""
        items = [p for p in parts if not isinstance(p, ast.Slice)]
        if any(isinstance(p, ast.Constant) and p.value in (None, ...) for p in items) or items != parts[: len(items)]:
            self.refuse(node, "a slice before an index")
        limits = [limit for p in parts[len(items) :] for limit in (p.lower, p.upper, p.step)]
        bounds = [limit for limit in limits if limit is not None]
        array, *lowered = self.several([node.value, *items, *bounds])
        left = iter(lowered[len(items) :])
        if items:
            self.effects.add("load")
            array = call("_load", *self.flagged(node), array, ast.Tuple(lowered[: len(items)], ast.Load()))
        ends = [None if limit is None else call("_int64", next(left)) for limit in limits]
        slices = [ast.Slice(*ends[k : k + 3]) for k in range(0, len(ends), 3)]
        return ast.Subscript(array, slices[0] if len(slices) == 1 else ast.Tuple(slices, ast.Load()), ast.Load())

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

    def apart(self, node, once=False):
        """(what must run before, the lowered value, whether both may only happen where Python would evaluate
        ``node``)."""
        outer, effects = self.pending, self.effects
        self.pending, self.effects = [], set()
        lowered = self.expression(node)
        lowered = self.once(lowered, node) if once else lowered
        before, self.pending = self.pending, outer
        conditional = self.contains_sync(node) or bool(self.effects & {"load", "store"})
        effects |= self.effects
        self.effects = effects
        return before, lowered, bool(before) and conditional

    def chain(self, node, first, others, goes_on):
        """Statements for a value that is decided step by step: ``others`` only where ``goes_on(result)`` still
        holds."""
        result = self.unit.namespace.temporary()
        self.pending.append(assign(result, first, node))
        block = self.pending
        for before, lowered in others:
            inside = [*before, assign(result, lowered, node)]
            block.append(ast.copy_location(ast.If(goes_on(name(result)), inside, []), node))
            block = inside
        return name(result)

    def on_Compare(self, node):
        if any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops):
            return self.membership(node)
        if len(node.ops) == 1:
            left, right = self.several([node.left, *node.comparators])
            return ast.Compare(left, node.ops, [right])
        left, right = (self.once(e, node) for e in self.several([node.left, node.comparators[0]]))
        last = len(node.comparators) - 1
        others = [self.apart(e, once=k < last) for k, e in enumerate(node.comparators[1:], 1)]
        if not any(conditional for *_, conditional in others):
            for before, _, _ in others:
                self.pending += before
            return ast.Compare(left, node.ops, [right, *(lowered for _, lowered, _ in others)])
        compared = ast.Compare(left, node.ops[:1], [right])
        steps = []
        for op, (before, lowered, _) in zip(node.ops[1:], others, strict=True):
            steps.append((before, ast.Compare(right, [op], [lowered])))
            right = lowered
        return self.chain(node, compared, steps, lambda result: result)

    def membership(self, node):
        """``x in (1, 2)``: a chain of comparisons."""
        if len(node.ops) > 1 or not isinstance(node.comparators[0], ast.Tuple) or not node.comparators[0].elts:
            self.refuse(node, "`in` other than with a tuple written out")
        outer, self.effects = self.effects, set()
        value, *items = self.several([node.left, *node.comparators[0].elts])
        value = self.once(value, node)
        if self.effects & {"load", "store"}:  # the tuple is made before anything is compared
            items = [self.once(item, node) for item in items]
        outer |= self.effects
        self.effects = outer
        tests = [ast.Compare(value, [ast.Eq()], [item]) for item in items]
        test = ast.BoolOp(ast.Or(), tests) if len(tests) > 1 else tests[0]
        return test if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), test)

    def on_BoolOp(self, node):
        first, *others = [self.apart(v) for v in node.values]
        self.pending += first[0]
        if any(conditional for *_, conditional in others):
            both = isinstance(node.op, ast.And)
            steps = [(before, lowered) for before, lowered, _ in others]
            return self.chain(node, first[1], steps, lambda r: r if both else ast.UnaryOp(ast.Not(), r))
        for before, _, _ in others:
            self.pending += before
        return ast.BoolOp(node.op, [first[1], *(lowered for _, lowered, _ in others)])

    def on_IfExp(self, node):
        test = self.expression(node.test)
        body, orelse = self.apart(node.body), self.apart(node.orelse)
        if not (body[2] or orelse[2]):
            self.pending += body[0] + orelse[0]
            return ast.IfExp(test, body[1], orelse[1])
        result = self.unit.namespace.temporary()
        branches = [[*before, assign(result, lowered, node)] for before, lowered, _ in (body, orelse)]
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


def _constant_int(node):
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) is int else None
