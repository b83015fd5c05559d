"""C's operators on `Value`, `Parts` and `Address`."""

import ast
import copy
from dataclasses import replace

from .types import (
    DOUBLE,
    HIGH,
    INT,
    LONG,
    LOW,
    Address,
    Parts,
    Value,
    Vector,
    as_number,
    call,
    common,
    convert,
    exact,
    name,
    of_type,
    truth,
    whole,
)

_PYTHON = {"+": ast.Add, "-": ast.Sub, "*": ast.Mult, "&": ast.BitAnd, "|": ast.BitOr, "^": ast.BitXor}
_COMPARE = {"<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE, "==": ast.Eq, "!=": ast.NotEq}


class Operations:
    """The part of `Reader` that knows operators."""

    def call(self, function, *arguments):
        return call(function, *arguments)

    def operate(self, op, a, b, node):
        """``a op b`` for whatever the two are."""
        if isinstance(a, Address) or isinstance(b, Address):
            return self.with_pointer(op, a, b, node)
        if isinstance(a, Parts) or isinstance(b, Parts):
            if op in _COMPARE:
                raise self.error(node, "vectors are not compared here", "Compare their components")
            kind = a.type if isinstance(a, Parts) else b.type
            pairs = zip(self.vector([a], kind, node).values, self.vector([b], kind, node).values, strict=True)
            return Parts([convert(self.binary(op, x, y, node), kind.of) for x, y in pairs], kind)
        return self.binary(op, self.need_scalar(a, node), self.need_scalar(b, node), node)

    def with_pointer(self, op, a, b, node):
        if isinstance(b, Address) and isinstance(a, Value) and op == "+":
            a, b = b, a
        if isinstance(a, Address) and isinstance(b, Value) and op in ("+", "-") and b.type.whole:
            return replace(self.flat(a, node), offset=self.moved(a.offset, b, op))
        if isinstance(a, Address) and isinstance(b, Address) and op == "-" and a.array == b.array:
            return self.binary("-", a.offset, b.offset, node)
        raise self.error(node, f"`{op}` is not read here for a pointer", "A pointer can be moved: a + k, a - k")

    def moved(self, offset, by, op):
        """An offset that a whole number is added to, or taken from; it does not wrap."""
        if op == "+" and offset.constant == 0:
            return replace(as_number(by), type=LONG)
        sign = by.type.bits == 64 or not by.type.signed
        by = exact(by) if sign else by
        return self.binary(op, offset, replace(as_number(by), type=LONG), None)

    def unary(self, op, value, node):
        if op == "!":
            return Value(ast.UnaryOp(ast.Not(), truth(value)), INT, 0, 1, True)
        value = as_number(value)
        if op == "-":
            if value.constant is not None:
                return whole(-value.constant, common(value.type, INT))
            if not value.type.whole:
                return Value(ast.UnaryOp(ast.USub(), value.node), value.type)
            return self.binary("-", whole(0), value, node)
        if op == "~":
            if not value.type.whole:
                raise self.error(node, f"~ takes a whole number, and this is a {value.type}")
            return self.binary("^", value, whole(-1), node)
        if op == "+":
            return value
        raise self.error(node, f"the operator {op} is not read here")

    def binary(self, op, a, b, node):
        """``a op b`` of two numbers, by C's conversions."""
        a, b = as_number(a), as_number(b)
        kind = common(a.type, b.type)
        if op in ("<<", ">>"):
            return self.shift(op, a, b, node)
        if not kind.whole:
            return self.real_operation(op, convert(a, kind), convert(b, kind), kind, node)
        if op in _COMPARE:
            return self.comparison(op, convert(a, kind), convert(b, kind), kind)
        if op in ("/", "%"):
            return self.division(op, convert(a, kind), convert(b, kind), kind, node)
        if op not in _PYTHON:
            raise self.error(node, f"the operator {op} is not read here")
        a, b = (x if x.type.bits == kind.bits else convert(x, kind) for x in (a, b))
        low, high = _bounds(op, a, b)
        if low == high and LOW <= low and high <= HIGH:
            return exact(whole(low, kind))
        if low < LOW or high > HIGH:
            low, high = LOW, HIGH
        return Value(ast.BinOp(a.node, _PYTHON[op](), b.node), kind, low, high)

    def real_operation(self, op, a, b, kind, node):
        if op in _COMPARE:
            return Value(ast.Compare(a.node, [_COMPARE[op]()], [b.node]), INT, 0, 1, True)
        operation = {**_PYTHON, "/": ast.Div}.get(op)
        if operation is None or op in "&|^":
            raise self.error(
                node, f"{op} takes whole numbers, and these are {kind}", "fmod() is the remainder of floats"
            )
        return Value(ast.BinOp(a.node, operation(), b.node), kind)

    def comparison(self, op, a, b, kind):
        if kind.bits == 64 and not kind.signed and (a.low < 0 or b.low < 0) and op not in ("==", "!="):
            a, b = (replace(x, node=ast.BinOp(x.node, ast.BitXor(), ast.Constant(LOW))) for x in (a, b))
        return Value(ast.Compare(a.node, [_COMPARE[op]()], [b.node]), INT, 0, 1, True)

    def division(self, op, a, b, kind, node):
        """Towards zero; the remainder has the sign of the dividend. By zero C leaves open what comes."""
        if b.constant == 0:
            raise self.error(node, "division by zero")
        if a.constant is not None and b.constant is not None and (kind.signed or min(a.low, b.low) >= 0):
            quotient = abs(a.constant) // abs(b.constant) * (1 if (a.constant < 0) == (b.constant < 0) else -1)
            return whole(quotient if op == "/" else a.constant - quotient * b.constant, kind)
        if a.low >= 0 and b.low > 0:
            operation = ast.FloorDiv() if op == "/" else ast.Mod()
            high = a.high // b.low if op == "/" else min(a.high, b.high - 1)
            return Value(ast.BinOp(a.node, operation, b.node), kind, 0, high)
        sort = "signed" if kind.signed or min(a.low, b.low) >= 0 else "unsigned"
        function = f"ocl_{sort}_{'quotient' if op == '/' else 'remainder'}"
        return exact(Value(self.call(function, a.node, b.node), kind, kind.low, kind.high + (op == "/")))

    def shift(self, op, a, b, node):
        """The count is taken modulo the bits of the type, as OpenCL C has it."""
        if not (a.type.whole and b.type.whole):
            raise self.error(node, f"{op} takes whole numbers")
        kind = common(a.type, INT)
        a, count = convert(a, kind), exact(b)
        if not (0 <= count.low and count.high < kind.bits):
            count = self.binary("&", count, whole(kind.bits - 1, count.type), node)
        if op == "<<":
            if a.constant is not None and count.constant is not None:
                return exact(whole(a.constant << count.constant, kind))
            return Value(ast.BinOp(a.node, ast.LShift(), count.node), kind, LOW, HIGH)
        if a.low < 0 and not kind.signed:
            return of_type(self.call("ocl_unsigned_shift", a.node, count.node), kind)
        low, high = (a.low >> count.low, a.high >> count.low) if a.low >= 0 else (a.low, max(a.high, 0))
        low = min(low, a.low >> count.high)
        return Value(ast.BinOp(a.node, ast.RShift(), count.node), kind, low, high)

    def choose(self, test, x, y, node):
        """``test ? x : y``."""
        if isinstance(x, Address) or isinstance(y, Address):
            same = isinstance(x, Address) and isinstance(y, Address) and x.array == y.array and x.type.of == y.type.of
            if not same:
                raise self.error(node, "a pointer cannot point to one of two arrays here", "Choose between two values")
            return replace(x, offset=self.choose(test, x.offset, y.offset, node))
        if isinstance(x, Parts) or isinstance(y, Parts):
            kind = x.type if isinstance(x, Parts) else y.type
            pairs = zip(self.vector([x], kind, node).values, self.vector([y], kind, node).values, strict=True)
            return Parts([self.choose(copy.deepcopy(test), p, q, node) for p, q in pairs], kind)
        x, y = as_number(self.need_scalar(x, node)), as_number(self.need_scalar(y, node))
        kind = common(x.type, y.type)
        x, y = convert(x, kind), convert(y, kind)
        return Value(ast.IfExp(test, x.node, y.node), kind, min(x.low, y.low), max(x.high, y.high))

    def vector(self, operands, kind, node):
        """``(float4)(...)`` of numbers and shorter vectors; one number fills all components."""
        values = []
        for value in operands:
            values += value.values if isinstance(value, Parts) else [self.need_scalar(value, node)]
        if len(values) == 1 and kind.length > 1:
            values = self.repeated(convert(values[0], kind.of), kind.length)
        if len(values) != kind.length:
            raise self.error(node, f"a {kind} has {kind.length} components, and {len(values)} came")
        return Parts([convert(v, kind.of) for v in values], Vector(kind.of, kind.length))

    def repeated(self, value, times):
        """A value that is worked out once and used several times."""
        if isinstance(value.node, ast.Name | ast.Constant):
            return [replace(value, node=copy.deepcopy(value.node)) for _ in range(times)]
        variable = self.fresh("once")
        binding = replace(value, node=ast.NamedExpr(name(variable, True), value.node))
        return [binding, *(replace(value, node=name(variable)) for _ in range(times - 1))]

    def math(self, function, *values):
        """A function of ``math``, in float where no argument is a double."""
        kind = DOUBLE if any(v.type is DOUBLE for v in values) else self.float_type
        return Value(
            self.call(f"ocl_{kind.numpy}", self.call(function, *(convert(v, kind).node for v in values))), kind
        )


def _bounds(op, a, b):
    """Between what the result of a whole-number operation lies, without wrapping."""
    if op == "+":
        return a.low + b.low, a.high + b.high
    if op == "-":
        return a.low - b.high, a.high - b.low
    if op == "*":
        corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        return min(corners), max(corners)
    if a.constant is not None and b.constant is not None:
        number = {"&": a.low & b.low, "|": a.low | b.low, "^": a.low ^ b.low}[op]
        return number, number
    if op == "&" and (a.low >= 0 or b.low >= 0):
        return 0, min(x.high for x in (a, b) if x.low >= 0)
    if a.low >= 0 and b.low >= 0:
        return 0, (1 << max(a.high, b.high).bit_length()) - 1
    bits = max(a.high, b.high, -a.low - 1, -b.low - 1).bit_length()
    return -(1 << bits), (1 << bits) - 1
