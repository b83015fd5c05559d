"""How expressions in a kernel are lowered (calls apart, see calls.py)."""

import ast
import numbers as abstract_numbers

import numpy as np
from numba.core import types as nb

from .. import numbers
from ..source.kinds import as_type, fold
from ..source.names import DeviceName
from ..source.refused import on_no_gpu
from ..source.syntax import make_call, make_name
from .calls import Calls, cast_to
from .memory import ARRAY_ATTRIBUTES

_LOW, _HIGH = -(1 << 63), (1 << 63) - 1
_NATIVE = frozenset("sidf")
_OF_NUMBERS = frozenset(("real", "imag"))


class Expressions(Calls):
    """The part of `Lowering` that lowers expressions. Methods named after a node return what replaces it."""

    def expression(self, node):
        method = getattr(self, "on_" + type(node).__name__, None)
        if method is None:
            self.source.refuse(node, on_no_gpu(node))
        return self.at(method(node), node)

    def on_Constant(self, node):
        if isinstance(node.value, bytes):
            self.source.refuse(node, "a kernel cannot use bytes")
        if type(node.value) is int and node.value >= 1 << 63:  # too large for int64: uint64, as in numba
            if node.value >= 1 << 64:
                self.source.refuse(node, f"{node.value} does not fit into 64 bits")
            return make_name(self.constant(np.uint64(node.value)))
        return ast.Constant(node.value)

    def on_Name(self, node):
        if self.source.is_local(node):
            return make_name(node.id)
        return self.static_value(node, self.source.static(node)[1])

    def static_value(self, node, value):
        """A global or closure variable, used as a value: frozen, as numba does."""
        if isinstance(value, DeviceName):
            return self.device_value(node, value)
        if isinstance(value, (bool, int, float, complex, str, type(None))) and not isinstance(value, np.generic):
            plain = value.value if hasattr(value, "value") and not isinstance(value, (bool, float)) else value
            return ast.Constant(int(plain) if isinstance(plain, int) and not isinstance(plain, bool) else plain)
        if isinstance(value, np.generic):
            return make_name(self.constant(numbers.normal(value)))
        if isinstance(value, np.ndarray):
            return make_call("_constant_array", make_name(self.constant(value)), ast.unparse(node))
        if isinstance(value, tuple) and all(isinstance(v, (abstract_numbers.Number, tuple, str)) for v in value):
            return make_name(self.constant(value))
        if isinstance(value, (nb.Type, np.dtype)) or (isinstance(value, type) and issubclass(value, np.generic)):
            return make_name(self.constant(value))
        if value in (int, float, bool, complex) or callable(value):
            self.source.refuse(node, f"{ast.unparse(node)} can only be called in a kernel, not used as a value")
        return self.source.refuse(
            node,
            f"{ast.unparse(node)} is a {type(value).__name__}, which a kernel cannot use from outside: "
            "numbers, tuples of numbers and NumPy arrays are fine; pass anything else as an argument",
        )

    def device_value(self, node, value):
        if value.path in ("threadIdx", "blockIdx"):
            return make_call("_dim3", make_name("_t"), value.path)
        if value.path in ("blockDim", "gridDim"):
            return make_name("_" + value.path)
        if value.path == "laneid":
            return ast.Attribute(make_name("_t"), "lane", ast.Load())
        if value.path == "warpsize":
            return ast.Constant(32)
        return self.source.refuse(node, f"cuda.{value.path} can only be called in a kernel, not used as a value")

    def on_Attribute(self, node):
        if isinstance(node.value, (ast.Name, ast.Attribute)):
            known, base = self.source.static(node.value)
            if known and isinstance(base, DeviceName) and node.attr in ("x", "y", "z"):
                if base.path == "threadIdx":
                    return ast.Attribute(make_name("_t"), node.attr, ast.Load())
                if base.path == "blockIdx":
                    return ast.Attribute(ast.Attribute(make_name("_t"), "block", ast.Load()), node.attr, ast.Load())
                if base.path in ("blockDim", "gridDim"):
                    return make_name(f"_{base.path}_{node.attr}")
            if known and isinstance(base, DeviceName):
                self.source.refuse(node, f"cuda.{base.path} has no {node.attr!r}")
            known, value = self.source.static(node)
            if known:
                return self.static_value(node, value)
        value = self.expression(node.value)
        kind = self.kinds.of(node.value)
        plain = kind is not None and not (isinstance(kind, tuple) and kind[1].startswith(("[", "{")))  # no records
        if node.attr in (ARRAY_ATTRIBUTES | _OF_NUMBERS if plain else ()):
            return ast.Attribute(value, node.attr, ast.Load())
        return make_call("_field", value, node.attr, self.site(node, "load"), *self.visited())

    def on_Tuple(self, node):
        return ast.Tuple([self.expression(e) for e in node.elts], ast.Load())

    def on_NamedExpr(self, node):
        return ast.NamedExpr(make_name(node.target.id, True), self.expression(node.value))

    def on_IfExp(self, node):
        body, orelse = self.expression(node.body), self.expression(node.orelse)
        kinds = self.kinds.of(node.body), self.kinds.of(node.orelse)
        common = as_type(self.kinds.of(node))
        if common is not None and kinds[0] != kinds[1]:  # both branches have one type, which holds both
            cast = self.constant(cast_to(common))
            body, orelse = make_call(cast, body), make_call(cast, orelse)
        return ast.IfExp(self.expression(node.test), body, orelse)

    def on_BoolOp(self, node):
        return ast.BoolOp(node.op, [self.expression(v) for v in node.values])

    def on_Lambda(self, node):
        arguments = self.inner_arguments(node.args)
        return ast.Lambda(arguments, self.inner_body(node, lambda: self.expression(node.body)))

    def on_Slice(self, node):
        parts = [ast.Constant(None) if p is None else self.expression(p) for p in (node.lower, node.upper, node.step)]
        return make_call("_slice", *parts)

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
        return make_call("_" + type(node.op).__name__, operand)

    def on_BinOp(self, node):
        if isinstance(node.op, ast.MatMult):
            self.source.refuse(node, "a kernel cannot multiply matrices with @: write the loop")
        folded = fold(node)
        if folded is not None:
            return self.on_Constant(ast.Constant(folded))
        left, right = self.expression(node.left), self.expression(node.right)
        return self.operate(node, node.op, left, right, self.kinds.of(node.left), self.kinds.of(node.right))

    def operate(self, node, op, left, right, left_kind, right_kind):
        """``left op right``: Python's own operator where it computes the same as numba's for the types at hand."""
        operation = type(op).__name__
        if operation in ("Add", "Sub", "Mult") and left_kind in _NATIVE and right_kind in _NATIVE:
            if "f" in (left_kind, right_kind) and left_kind != right_kind:  # float32 with anything wider: in float64
                left = make_call("_double", left) if left_kind == "f" else left
                right = make_call("_double", right) if right_kind == "f" else right
            native = self.at(ast.BinOp(left, op, right), node)
            integers = left_kind in ("s", "i") and right_kind in ("s", "i")
            return self.wrapped(native, node) if integers and not left_kind == right_kind == "s" else native
        integers = left_kind in ("s", "i") and right_kind in ("s", "i")
        if integers and operation in ("BitAnd", "BitOr", "BitXor"):
            return self.at(ast.BinOp(left, op, right), node)
        if integers and operation in ("FloorDiv", "Mod") and isinstance(right, ast.Constant) and right.value > 0:
            return self.at(ast.BinOp(left, op, right), node)
        if integers and operation == "RShift" and isinstance(right, ast.Constant) and 0 <= right.value < 64:
            return self.at(ast.BinOp(left, op, right), node)
        if left_kind == right_kind == "f" and operation == "Div":
            return self.at(ast.BinOp(left, op, right), node)
        return self.at(make_call("_" + operation, left, right), node)

    def wrapped(self, result, node):
        """An int64 result: checked against overflow, which wraps."""
        bind = ast.NamedExpr(make_name("_w", True), result)
        fits = ast.Compare(ast.Constant(_LOW), [ast.LtE(), ast.LtE()], [bind, ast.Constant(_HIGH)])
        return self.at(ast.IfExp(fits, make_name("_w"), make_call("_wrap", make_name("_w"))), node)

    def on_Compare(self, node):
        if len(node.ops) == 1:
            operands = [self.expression(node.left), self.expression(node.comparators[0])]
            if self.gates is not None and id(node) in self.gates.compared:
                return self.asked(node, *operands)
            return self.compare(node, node.ops[0], *operands, node.left, node.comparators[0])
        parts, left, left_node = [], self.expression(node.left), node.left
        for index, (op, right_node) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.expression(right_node)
            if index + 1 < len(node.ops) and not isinstance(right, (ast.Name, ast.Constant)):
                name = self.temporary()
                right = ast.NamedExpr(make_name(name, True), right)
                following = make_name(name)
            else:
                following = right
            parts.append(self.compare(node, op, left, right, left_node, right_node))
            left, left_node = following, right_node
        return ast.BoolOp(ast.And(), parts)

    def asked(self, node, left, right):
        """A comparison with what an atomic returned: noted, as it says which values would have done as well."""
        names = [self.temporary(), self.temporary()]
        noted = [ast.NamedExpr(make_name(n, True), value) for n, value in zip(names, (left, right), strict=True)]
        result = self.compare(node, node.ops[0], *map(make_name, names), node.left, node.comparators[0])
        self.program.asked.append((type(node.ops[0]).__name__, *self.gates.compared[id(node)]))
        return make_call("_asked", make_name("_t"), len(self.program.asked) - 1, *noted, result)

    def compare(self, node, op, left, right, left_node, right_node):
        left_kind, right_kind = self.kinds.of(left_node), self.kinds.of(right_node)
        same = left_kind == right_kind == "f"
        no_float32 = left_kind in ("s", "i", "d") and right_kind in ("s", "i", "d")
        identity = isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn))
        if same or no_float32 or identity:
            return self.at(ast.Compare(left, [op], [right]), node)
        return self.at(make_call("_" + type(op).__name__, left, right), node)

    def on_Subscript(self, node):
        known, item = self.source.static_item(node)
        if known:
            return self.static_value(node, item)
        indices = self.indices(node)
        site = self.site(node, "load")
        array = self.expression(node.value)
        if indices is None:
            return make_call("_loadn", array, self.index_tuple(node), site, *self.visited())
        return make_call(f"_load{len(indices)}", array, *indices, site, *self.visited())

    def indices(self, node):
        """Lowered indices of a subscript, if there are one to three and none is a slice; else None."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        unusual = (ast.Slice, ast.Tuple)
        if 1 <= len(parts) <= 3 and not any(isinstance(p, unusual) for p in parts):
            for part in parts:
                if isinstance(part, (ast.Compare, ast.BoolOp)) or self.kinds.of(part) in ("f", "d"):
                    self.source.refuse(
                        node,
                        "an index must be a whole number, not a truth value or a float: `/` and functions of math give "
                        f"floats, `//` gives whole numbers. Here it is `{ast.unparse(part)}`{self.made_in(part)}",
                    )
            return [self.expression(p) for p in parts]
        return None

    def made_in(self, part):
        """Which line gave a variable its value, in words; "" for any other expression."""
        if not isinstance(part, ast.Name):
            return ""
        for step in ast.walk(self.source.node):
            named = ast.walk(step.targets[0]) if isinstance(step, ast.Assign) else ()
            if any(isinstance(n, ast.Name) and n.id == part.id for n in named):
                return f", from `{ast.unparse(step)}`"
        return ""

    def index_tuple(self, node):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return ast.Tuple([self.expression(p) for p in parts], ast.Load())
