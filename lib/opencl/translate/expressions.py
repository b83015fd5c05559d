"""Expressions of a kernel in OpenCL C. Which types an operation has is asked of numba; a method returns a Value, a
tuple or an array."""

import ast
import operator
from dataclasses import replace

import numpy as np
from numba.core import types

from simt import numbers
from simt.numbers import numba_type
from simt.source.kinds import fold
from simt.source.names import DeviceName

from .values import (
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    LARGEST,
    NAMES,
    PRODUCT,
    SHIFT,
    SUM,
    UNARY,
    Several,
    Value,
    bounds,
    converted,
    exactly,
    in_parentheses,
    joins,
    keeps,
    literal,
    number,
)

_SIGNS = {
    ast.Add: ("+", operator.add, SUM),
    ast.Sub: ("-", operator.sub, SUM),
    ast.Mult: ("*", operator.mul, PRODUCT),
    ast.Div: ("/", operator.truediv, PRODUCT),
    ast.FloorDiv: ("//", operator.floordiv, PRODUCT),
    ast.Mod: ("%", operator.mod, PRODUCT),
    ast.Pow: ("**", operator.pow, UNARY),
    ast.LShift: ("<<", operator.lshift, SHIFT),
    ast.RShift: (">>", operator.rshift, SHIFT),
    ast.BitAnd: ("&", operator.and_, BIT_AND),
    ast.BitOr: ("|", operator.or_, BIT_OR),
    ast.BitXor: ("^", operator.xor, BIT_XOR),
}


class Expressions:
    """The part of a function's translation that knows expressions."""

    def expression(self, node):
        method = getattr(self, "on_" + type(node).__name__, None)
        if method is None:
            self.refuse(node, f"a {type(node).__name__}")
        return method(node)

    def number_of(self, node):
        """An expression that is a number."""
        value = self.expression(node)
        if not isinstance(value, Value):
            self.refuse(node, f"`{ast.unparse(node)}` where a number is expected")
        return value

    def typed(self, node, function, *kinds):
        """(types of the operands, type of the result) as numba has them."""
        try:
            return numbers.resolve(function, kinds)
        except TypeError as error:
            return self.refuse(node, str(error))

    # -- names and constants ------------------------------------------------------------------------------------------

    def on_Constant(self, node):
        return self.frozen(node, node.value)

    def on_Name(self, node):
        if self.source.is_local(node):
            return self.read(node, node.id)
        return self.frozen(node, self.source.static(node)[1])

    def frozen(self, node, value):
        """What is known before the kernel runs."""
        if isinstance(value, DeviceName):
            if value.path == "warpsize":
                return literal(32)
            if value.path == "laneid":
                return number("lane_id()", types.int32, 0, 31, uniform=False)
            self.refuse(node, f"cuda.{value.path} as a value")
        if isinstance(value, np.ndarray):
            return self.frozen_array(node, value)
        if isinstance(value, tuple):
            return Several(tuple(self.frozen(node, item) for item in value))
        if isinstance(value, bool | np.bool_):
            return literal(bool(value))
        kind = None
        if isinstance(value, np.generic) and value.dtype.kind in "iufb":
            kind, value = numba_type(type(value)), value.item()
        elif isinstance(value, int | float):
            value = int(value) if isinstance(value, int) else float(value)
            kind = types.uint64 if isinstance(value, int) and value >= 1 << 63 else None
        if isinstance(value, int | float):
            known = literal(value, kind)
            if isinstance(node, ast.Name) and node.id not in self.source.aliases and known.text not in ("NAN",):
                return self.program.named(node.id, known)
            return known
        if isinstance(value, types.Type):
            return value
        return self.refuse(node, f"a {type(value).__name__} from outside the kernel")

    def on_Tuple(self, node):
        return Several(tuple(self.expression(e) for e in node.elts))

    def on_NamedExpr(self, node):
        value = self.number_of(node.value)
        self.assign_name(node.target.id, value)
        return self.read(node.target, node.target.id)

    # -- arithmetic ---------------------------------------------------------------------------------------------------

    def on_BinOp(self, node):
        folded = fold(node)
        if folded is not None and not (isinstance(folded, int) and abs(folded) >= 1 << 64):
            return literal(folded) if abs(folded) < 1 << 63 else literal(folded, types.uint64)
        left, right = self.expression(node.left), self.expression(node.right)
        if isinstance(left, Several) and isinstance(right, Several) and isinstance(node.op, ast.Add):
            return Several(left.items + right.items)
        return self.operation(node, node.op, left, right)

    def operation(self, node, op, left, right):
        if not isinstance(left, Value) or not isinstance(right, Value):
            self.refuse(node, "arithmetic of what is no number")
        sign, function, _ = _SIGNS[type(op)]
        _, result = self.typed(node, function, left.type, right.type)
        if sign in ("+", "-", "*", "&", "|", "^"):
            return self.arithmetic(sign, left, right, result)
        if sign == "/":
            both = [converted(v, result) for v in (left, right)]
            return self._infix(node, "/", PRODUCT, both, result)
        if sign in ("//", "%"):
            return self._divided(sign, left, right, result)
        if sign == "**":
            return self._power(left, right, result)
        return self._shifted(sign, left, right, result)

    def _infix(self, node, sign, binds, both, result, low=None, high=None):
        a, b = both
        text = f"{in_parentheses(a, binds)} {sign} {in_parentheses(b, binds + 1)}"
        return number(text, result, low, high, uniform=a.uniform and b.uniform, binds=binds)

    def arithmetic(self, sign, left, right, result):
        """``left sign right`` of type ``result``: C does it in that type if one operand has it."""
        binds = next(b for s, _, b in _SIGNS.values() if s == sign)
        if isinstance(result, types.Boolean):
            return self._infix(None, sign, binds, [left, right], result, 0, 1)
        low, high = self._interval(sign, left, right)
        if left.constant is not None and right.constant is not None and isinstance(result, types.Integer):
            exact = _SIGNS[next(k for k, v in _SIGNS.items() if v[0] == sign)][1](left.low, right.low)
            if bounds(result)[0] <= exact <= bounds(result)[1] and left.text.isdigit() and right.text.isdigit():
                return literal(exact, result)
        made = _small(left, right, low, high) if isinstance(result, types.Integer) else None
        if right.constant is not None and right.text.startswith("-") and sign in ("+", "-") and right.low != -(1 << 63):
            if isinstance(result, types.Integer) and right.type == types.int64:
                sign, right = "-" if sign == "+" else "+", literal(-right.constant)
        if made is None:
            left, right = self._usual(left, right, result)
        found = self._infix(None, sign, binds, [left, right], result, low, high)
        return found if made in (None, result) else replace(found, made=made)

    def _usual(self, left, right, result):
        """The operands, converted as far as C does not do it by itself."""
        if isinstance(result, types.Float):
            fits = [v for v in (left, right) if v.in_c == result]
            unlike = [v for v in (left, right) if v.in_c != result]
            if len(fits) == 1 and (unlike[0].constant is None or not isinstance(unlike[0].type, types.Float)):
                wider = result == types.float64 or isinstance(unlike[0].in_c, types.Integer | types.Boolean)
                if wider and unlike[0].constant is None:
                    return left, right
            return tuple(converted(v, result) for v in (left, right))
        if left.constant is not None and right.constant is not None:
            left = Value(f"({NAMES[result]}){in_parentheses(left, UNARY)}", result, left.low, left.high, binds=UNARY)
        same = [v.in_c == result for v in (left, right)]
        if all(same):
            return left, right
        if any(same):
            return tuple(v if joins(v, result) else exactly(v, result) for v in (left, right))
        return exactly(left, result), right if joins(right, result) else exactly(right, result)

    @staticmethod
    def _interval(sign, a, b):
        if not (a.is_whole and b.is_whole):
            return None, None
        if sign == "+":
            return a.low + b.low, a.high + b.high
        if sign == "-":
            return a.low - b.high, a.high - b.low
        if sign == "*":
            ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
            return min(ends), max(ends)
        if a.low >= 0 and b.low >= 0:
            most = min(a.high, b.high) if sign == "&" else (1 << max(a.high, b.high).bit_length()) - 1
            return 0, most
        if sign == "&" and (a.low >= 0 or b.low >= 0):
            return 0, a.high if a.low >= 0 else b.high
        return None, None

    def _divided(self, sign, left, right, result):
        """``//`` and ``%``: C's own where both are known not to be negative and the divisor is a constant."""
        uniform = left.uniform and right.uniform
        c = "/" if sign == "//" else "%"
        name = "floor_div" if sign == "//" else "floor_mod"
        if isinstance(result, types.Float):
            a, b = converted(left, result), converted(right, result)
            return number(f"{name}_{NAMES[result]}({a.text}, {b.text})", result, uniform=uniform)
        left, right = (v if keeps(v, result) else converted(v, result) for v in (left, right))
        low = high = None
        if right.low > 0:
            ends = [left.low // d for d in (right.low, right.high)] + [left.high // d for d in (right.low, right.high)]
            low, high = (min(ends), max(ends)) if c == "/" else (0, right.high - 1)
            if c == "%" and 0 <= left.low and left.high < right.high:
                high = left.high
        elif left.low >= 0 and right.low >= 0:  # by zero gives zero
            low, high = 0, left.high
        if left.low >= 0 and right.low >= 0:
            if right.low > 0:
                made = _small(left, right, low, high)
                left, right = (left, right) if made else self._usual(left, right, result)
                found = self._infix(None, c, PRODUCT, [left, right], result, low, high)
                return found if made in (None, result) else replace(found, made=made)
            kind = "uint" if max(left.high, right.high) < 1 << 32 and _narrow(left, right) else "ulong"
            text = f"unsigned_{'div' if c == '/' else 'mod'}_{kind}({left.text}, {right.text})"
            return number(
                text, result, low, high, uniform=uniform, made=types.uint64 if kind == "ulong" else types.uint32
            )
        small = all(-(1 << 31) < v.low and v.high < 1 << 31 for v in (left, right))
        kind = "int" if small and _narrow(left, right) else "long"
        made = types.int32 if kind == "int" and result != types.int32 else None
        return number(f"{name}_{kind}({left.text}, {right.text})", result, low, high, uniform=uniform, made=made)

    def _power(self, left, right, result):
        uniform = left.uniform and right.uniform
        if isinstance(result, types.Integer):
            kind = "ulong" if not result.signed else "long"
            return number(f"power_{kind}({left.text}, {right.text})", result, uniform=uniform)
        a = converted(left, result)
        if right.is_whole and right.constant == 2 and a.text.replace("_", "").isalnum():
            return self._infix(None, "*", PRODUCT, [a, a], result)
        if right.is_whole:
            exponent = converted(right, types.int32, implicit=right.in_c == types.int32).text
            return number(f"pown({a.text}, {exponent})", result, uniform=uniform)
        return number(f"pow({a.text}, {converted(right, result).text})", result, uniform=uniform)

    def _shifted(self, sign, left, right, result):
        low = high = None
        if sign == ">>" and left.low >= 0:
            low, high = 0, left.high >> max(0, min(right.low, 64))
        elif sign == "<<" and left.low >= 0 and 0 <= right.low and right.high < 64:
            low, high = 0, left.high << right.high
        if 0 <= right.low and right.high < 64:
            a = converted(left, result)
            if a.made is None or right.high >= 32 or high is None or high > LARGEST:
                return self._infix(None, sign, SHIFT, [exactly(left, result), right], result, low, high)
            return replace(self._infix(None, sign, SHIFT, [a, right], result, low, high), made=a.made)
        name = "shift_left" if sign == "<<" else "shift_right"
        text = f"{name}_{NAMES[result]}({left.text}, {right.text})"
        return number(text, result, low, high, uniform=left.uniform and right.uniform)

    def on_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            value = self.truth(node.operand)
            return self.negated(value)
        folded = fold(node)
        if folded is not None:
            return literal(folded)
        value = self.number_of(node.operand)
        function = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}[type(node.op)]
        (operand_type,), result = self.typed(node, function, value.type)
        if isinstance(node.op, ast.Invert) and isinstance(value.type, types.Boolean):
            return self.negated(value)
        if value.constant is not None and isinstance(node.op, ast.USub) and result == value.type:
            return literal(-value.constant, result)
        sign = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(node.op)]
        narrow = isinstance(operand_type, types.Integer) and operand_type.bitwidth < 32
        value = converted(value, operand_type if not isinstance(operand_type, types.Boolean) else result)
        text = f"{sign}{in_parentheses(value, UNARY + (sign == '-' and value.text.startswith('-')))}"
        low, high = (-value.high, -value.low) if sign == "-" else (None, None)
        if narrow:
            text = f"({NAMES[operand_type]})({text})"
        made = None if isinstance(result, types.Float) or operand_type == result else operand_type
        return number(text, result, low, high, uniform=value.uniform, binds=UNARY, made=made)


def _small(a, b, low, high):
    """int or uint, where C computes a result in it that it surely holds; else None."""
    if low is None or not _narrow(a, b):
        return None
    signed = all(v.in_c.signed or v.in_c.bitwidth < 32 for v in (a, b))
    if signed:
        return types.int32 if -(1 << 31) <= low and high < 1 << 31 else None
    return types.uint32 if low >= 0 and a.low >= 0 and b.low >= 0 and high < 1 << 32 else None


def _narrow(*values):
    """Whether C holds all of them in an int or uint."""
    return all(isinstance(v.in_c, types.Integer) and v.in_c.bitwidth <= 32 for v in values)
