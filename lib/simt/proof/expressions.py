"""The value of an expression of a kernel, for the proof: an integer exactly where it is linear, anything else only by
its level."""

import ast

import numpy as np

from ..limits import WARP_SIZE
from ..source.kinds import fold
from ..source.names import DeviceName
from .calls import Calls
from .state import State
from .values import (
    GRID,
    THREAD,
    YES,
    Flag,
    Known,
    Number,
    Several,
    Unknown,
    View,
    as_number,
    both,
    chosen,
    either,
    level_of,
    of_object,
    opposite,
)

AXES = {"x": 0, "y": 1, "z": 2}


class Expressions(Calls):
    """The part of the walk that evaluates."""

    def value(self, node, state):
        folded = fold(node)
        if folded is not None:
            return of_object(folded)
        method = getattr(self, "of_" + type(node).__name__, None)
        if method is None:
            self.cannot(node, f"`{ast.unparse(node)}` is not followed")
        return method(node, state)

    def truth(self, node, state):
        """The condition that an expression is."""
        return self.as_flag(self.value(node, state))

    def as_flag(self, value):
        if isinstance(value, Flag):
            return value
        if isinstance(value, Number):
            return Flag(bool(value.term), GRID) if value.constant is not None else Flag(value.term != 0, value.level)
        if isinstance(value, Known):
            return Flag(bool(value.value))
        return self.arithmetic.flag("condition", level_of(value))

    def part(self, node, state, test):
        """The value of an expression that is looked at only where a condition holds."""
        if self.meets([node]):
            self.cannot(node, "a barrier in a part of an expression is not followed")
        inner = State(state.variables, both(state.live, test), state.open, state.ahead)
        value = self.value(node, inner)
        state.open = inner.open
        return value

    # -- names ---------------------------------------------------------------------------------------------------------

    def of_Constant(self, node, state):
        return of_object(node.value)

    def of_Name(self, node, state):
        if self.frame.source.is_local(node):
            value = state.variables.get(node.id)
            return Unknown(THREAD) if value is None else value
        value = self.frame.source.static(node)[1]
        if isinstance(value, np.unsignedinteger):
            self.any_launch.unsigned = True
        return of_object(value)

    def of_Attribute(self, node, state):
        source = self.frame.source
        known, value = source.static(node)
        if known:
            if isinstance(value, DeviceName) and value.kind == "value":
                return self.any_launch.lane() if value.path == "laneid" else of_object(WARP_SIZE)
            return of_object(value)
        known, base = source.static(node.value)
        if known and isinstance(base, DeviceName) and base.kind == "place" and node.attr in AXES:
            return self.any_launch.number(base.path, AXES[node.attr])
        value = self.value(node.value, state)
        if isinstance(value, View):
            shape = value.array.shape[len(value.prefix) :]
            self.any_launch.sized.add(value.array.name)
            if node.attr == "shape":
                return Several(shape)
            if node.attr == "size":
                return self.product(shape)
            if node.attr == "ndim":
                return Number(len(shape), GRID, True)
            if node.attr == "dtype":
                return Known(value.array.dtype)
            self.cannot(node, f"`.{node.attr}` of an array is not followed")
        return Unknown(level_of(value))

    def product(self, sizes):
        total = Number(1, GRID, True)
        for size in sizes:
            total = self.arithmetic.binary("Mult", total, size)
        return total

    # -- arithmetic ----------------------------------------------------------------------------------------------------

    def of_BinOp(self, node, state):
        return self.operate(node, self.value(node.left, state), self.value(node.right, state), state)

    def operate(self, node, a, b, state):
        operation = type(node.op).__name__
        if isinstance(a, Flag) and isinstance(b, Flag) and operation in ("BitAnd", "BitOr"):
            return both(a, b) if operation == "BitAnd" else either(a, b)
        a, b = as_number(a), as_number(b)
        if isinstance(a, Number) and isinstance(b, Number):
            if operation in ("FloorDiv", "Mod") and b.constant is None and not self.trial:
                self.inside.append((state.live.term, b.term != 0, max(b.level, state.live.level)))
            return self.arithmetic.binary(operation, a, b, self.unsigned(node))
        if isinstance(a, Several) and isinstance(b, Several) and operation == "Add":
            return Several((*a.items, *b.items))
        if isinstance(a, View | Known) or isinstance(b, View | Known):
            self.cannot(node, f"`{ast.unparse(node)}` is not followed")
        return Unknown(max(level_of(a), level_of(b)))

    def unsigned(self, node):
        """Whether a subtraction may wrap round at zero: somebody in this function counts without signs."""
        return self.any_launch.unsigned and isinstance(node.op, ast.Sub)

    def of_UnaryOp(self, node, state):
        if isinstance(node.op, ast.Not):
            return opposite(self.truth(node.operand, state))
        value = as_number(self.value(node.operand, state))
        if isinstance(value, Number):
            if isinstance(node.op, ast.USub):
                return Number(-value.term, value.level, value.constant is not None and value.constant <= 0)
            if isinstance(node.op, ast.UAdd):
                return value
            return Number(-1 - value.term, value.level)
        return Unknown(level_of(value))

    def of_BoolOp(self, node, state):
        """What stands behind `and` is looked at where all before it holds."""
        stop = isinstance(node.op, ast.Or)
        result = self.truth(node.values[0], state)
        for part in node.values[1:]:
            test = opposite(result) if stop else result
            if test.term is False:
                break
            flag = self.as_flag(self.part(part, state, test))
            result = (either if stop else both)(result, flag)
        return result

    def of_IfExp(self, node, state):
        test = self.truth(node.test, state)
        if isinstance(test.term, bool):
            return self.value(node.body if test.term else node.orelse, state)
        a, b = self.part(node.body, state, test), self.part(node.orelse, state, opposite(test))
        return chosen(test, a, b, self.site(node, "branch"))

    def of_Compare(self, node, state):
        result, left = YES, self.value(node.left, state)
        for operation, right in zip(node.ops, node.comparators, strict=True):
            right = self.value(right, state)
            result = both(result, self.compared(type(operation).__name__, left, right))
            left = right
        return result

    def compared(self, operation, a, b):
        if isinstance(a, Known) and isinstance(b, Known):
            same = a.value is b.value or a.value == b.value
            return Flag(bool(same) == (operation in ("Eq", "Is")))
        a, b = as_number(a), as_number(b)
        if isinstance(a, Number) and isinstance(b, Number) and operation in ("Lt", "LtE", "Gt", "GtE", "Eq", "NotEq"):
            return self.arithmetic.compare(operation, a, b)
        return self.arithmetic.flag("comparison", max(level_of(a), level_of(b)))

    # -- parts ---------------------------------------------------------------------------------------------------------

    def of_Tuple(self, node, state):
        return Several(tuple(self.value(element, state) for element in node.elts))

    of_List = of_Tuple

    def of_NamedExpr(self, node, state):
        value = self.value(node.value, state)
        if state.live.term is not True:  # a part of a condition may be left out
            value = Unknown(THREAD) if not isinstance(value, Number) else self.arithmetic.number("perhaps", THREAD)
        state.variables[node.target.id] = value
        return value

    def of_Subscript(self, node, state):
        known, item = self.frame.source.static_item(node)
        if known:
            return of_object(item)
        value = self.value(node.value, state)
        if isinstance(value, Several):
            index = self.value(node.slice, state)
            if (
                isinstance(index, Number)
                and index.constant is not None
                and -len(value.items) <= index.constant < len(value.items)
            ):
                return value.items[index.constant]
            if all(isinstance(item, Number) for item in value.items):
                return self.arithmetic.number(
                    "item", max(level_of(value), level_of(index)), all(i.natural for i in value.items)
                )
            return Unknown(max(level_of(value), level_of(index)))
        if not isinstance(value, View):
            self.cannot(node, f"`{ast.unparse(node)}` is not followed: what is indexed is no array")
        return self.load(value, self.indices(node.slice, state), state, node)

    def indices(self, node, state):
        """The indices of a subscript, as numbers."""
        nodes = node.elts if isinstance(node, ast.Tuple) else [node]
        found = []
        for part in nodes:
            if isinstance(part, ast.Slice):
                self.cannot(part, "a slice of an array is not followed")
            value = self.value(part, state)
            found += value.items if isinstance(value, Several) else [value]
        return tuple(self.as_index(value) for value in found)

    def as_index(self, value):
        value = as_number(value)
        return value if isinstance(value, Number) else self.arithmetic.number("index", level_of(value))

    def load(self, view, index, state, node):
        array = view.array
        if len(view.prefix) + len(index) < len(array.shape):
            return View(array, (*view.prefix, *index))
        if len(view.prefix) + len(index) > len(array.shape):
            self.cannot(node, "more indices than the array has axes")
        self.touch(state, view, index, "load", node)
        full_index = (*view.prefix, *index)
        level = THREAD if array.written or array.space in ("shared", "local") else max(n.level for n in full_index)
        if array.contents is not None:
            return Number(array.contents(*(n.term for n in full_index)), level)
        return self.any(array, level)

    def any(self, array, level):
        """An element of an array that could be anything."""
        if array.integer:
            return self.arithmetic.number(f"{array.name}[]", level, array.unsigned)
        return self.arithmetic.flag(f"{array.name}[]", level) if array.boolean else Unknown(level)
