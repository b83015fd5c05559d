"""Comparisons, truth values and choices in OpenCL C."""

import ast
import operator
from dataclasses import replace

from numba.core import types

from simt import numbers

from .values import (
    AND,
    CHOICE,
    EQUAL,
    LESS,
    NAMES,
    OR,
    UNARY,
    ArrayValue,
    Several,
    Value,
    converted,
    exactly,
    in_parentheses,
    literal,
    number,
)

_COMPARE = {
    ast.Lt: ("<", operator.lt, LESS),
    ast.LtE: ("<=", operator.le, LESS),
    ast.Gt: (">", operator.gt, LESS),
    ast.GtE: (">=", operator.ge, LESS),
    ast.Eq: ("==", operator.eq, EQUAL),
    ast.NotEq: ("!=", operator.ne, EQUAL),
}


class Choices:
    """The part of a function's translation that knows them."""

    def truth(self, node):
        """An expression as a truth value."""
        value = self.expression(node)
        if isinstance(value, Value):
            return value if isinstance(value.type, types.Boolean) else converted(value, types.boolean)
        return self.refuse(node, f"`{ast.unparse(node)}` as a truth value")

    def negated(self, value):
        if value.constant is not None:
            return literal(not value.constant)
        return number(f"!{in_parentheses(value, UNARY)}", types.boolean, 0, 1, uniform=value.uniform, binds=UNARY)

    def on_Compare(self, node):
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            return self._membership(node)
        operands = [self.expression(n) for n in (node.left, *node.comparators)]
        if isinstance(node.ops[0], ast.Is | ast.IsNot) or not all(isinstance(v, Value) for v in operands):
            self.refuse(node, f"`{ast.unparse(node)}`")
        operands = [operands[0], *(self.once(v) for v in operands[1:-1]), operands[-1]]
        tests = [self._compared(node, op, a, b) for op, a, b in zip(node.ops, operands, operands[1:], strict=False)]
        return self._chained("&&", AND, tests)

    def _compared(self, node, op, a, b):
        sign, function, binds = _COMPARE[type(op)]
        (kind, _), _ = self.typed(node, function, a.type, b.type)
        if a.is_whole and b.is_whole:
            known = _decided(sign, a, b)
            if known is not None and a.constant is not None and b.constant is not None:
                return literal(known)
            a, b = self._same_sign(sign, a, b)
        else:
            a, b = (converted(v, kind, implicit=v.in_c == types.float32 and v.constant is None) for v in (a, b))
            if a.in_c != kind and b.in_c != kind:
                a = converted(a, kind)
        return self._infix(node, sign, binds, [a, b], types.boolean, 0, 1)

    def _same_sign(self, sign, a, b):
        """Two whole numbers that C shall compare as Python does: it takes a negative one for a large unsigned one."""
        wide = [v for v in (a, b) if isinstance(v.in_c, types.Integer) and not v.in_c.signed and v.in_c.bitwidth >= 32]
        if not wide or (a.low >= 0 and b.low >= 0):
            return a, b
        if all(v.in_c != types.uint64 for v in (a, b)):
            return converted(replace(a, constant=None), types.int64), converted(replace(b, constant=None), types.int64)
        return converted(a, types.float64), converted(b, types.float64)

    def _chained(self, sign, binds, tests):
        if len(tests) == 1:
            return tests[0]
        # compilers warn of && within || without parentheses
        inner = [in_parentheses(t, EQUAL if binds == OR and t.binds == AND else binds) for t in tests]
        return number(f" {sign} ".join(inner), types.boolean, 0, 1, uniform=all(t.uniform for t in tests), binds=binds)

    def _membership(self, node):
        of = self.expression(node.comparators[0])
        if not isinstance(of, Several) or not of.items:
            self.refuse(node, "`in` other than with a tuple")
        value = self.once(self.number_of(node.left))
        found = self._chained("||", OR, [self._compared(node, ast.Eq(), value, item) for item in of.items])
        return found if isinstance(node.ops[0], ast.In) else self.negated(found)

    def on_BoolOp(self, node):
        both = isinstance(node.op, ast.And)
        tests, values = [], node.values
        for k, part in enumerate(values):
            value, before = self.apart(lambda part=part: self.truth(part))
            if before and k:
                return self._step_by_step(node, both, tests, value, before, values[k + 1 :])
            self.out += before
            if value.constant is not None and bool(value.constant) == both and len(values) > 1:
                continue
            tests.append(value)
            if value.constant is not None:
                break
        if not tests:
            return literal(both)
        return self._chained("&&" if both else "||", AND if both else OR, tests)

    def _step_by_step(self, node, both, tests, value, before, rest):
        """Where an operand needs statements of its own, they run only if those before it leave the question open."""
        known = self._chained("&&" if both else "||", AND if both else OR, tests) if tests else literal(both)
        name = self.fresh("so_far")
        self.define("bool", name, known.text)
        uniform = known.uniform
        while True:
            self.out.append((f"if ({'' if both else '!'}{name}) {{", [*before, f"{name} = {value.text};"], "}"))
            uniform = uniform and value.uniform
            if not rest:
                return number(name, types.boolean, 0, 1, uniform=uniform)
            value, before = self.apart(lambda: self.truth(rest[0]))  # noqa: B023 - called at once
            rest = rest[1:]

    def on_IfExp(self, node):
        test = self.truth(node.test)
        if test.constant is not None:
            return self.expression(node.body if test.constant else node.orelse)
        (a, before_a), (b, before_b) = (self.apart(lambda n=n: self.expression(n)) for n in (node.body, node.orelse))
        if before_a or before_b:
            return self._by_statements(node, test, a, before_a, b, before_b)
        return self.choice(node, test, a, b)

    def choice(self, node, test, a, b):
        if isinstance(a, Several) and isinstance(b, Several) and len(a.items) == len(b.items):
            test = self.once(test)
            return Several(tuple(self.choice(node, test, x, y) for x, y in zip(a.items, b.items, strict=True)))
        if isinstance(a, ArrayValue) or isinstance(b, ArrayValue):
            return self.refuse(node, "one of two arrays, chosen as a value: choose an index instead")
        kind = self.unified(node, a, b)
        a, b = converted(a, kind), converted(b, kind)
        made = a.in_c if a.in_c == b.in_c else kind
        if made == kind and kind not in (a.in_c, b.in_c):
            a = exactly(a, kind)
        low, high = min(a.low, b.low), max(a.high, b.high)
        text = f"{in_parentheses(test, CHOICE + 1)} ? {in_parentheses(a, CHOICE + 1)} : {in_parentheses(b, CHOICE)}"
        uniform = test.uniform and a.uniform and b.uniform
        made = None if made == kind else made
        return number(text, kind, low, high, uniform=uniform, binds=CHOICE, made=made)

    def unified(self, node, a, b):
        kind = a.type if a.type == b.type else numbers.unify(a.type, b.type)
        if types.float16 in (a.type, b.type) and kind is None:
            kind = types.float32
        return (
            kind if kind in NAMES else self.refuse(node, f"one value that is {a.type} on one way, {b.type} on another")
        )

    def _by_statements(self, node, test, a, before_a, b, before_b):
        if not (isinstance(a, Value) and isinstance(b, Value)):
            self.refuse(node, "a choice between tuples that need statements")
        kind, name = self.unified(node, a, b), self.fresh("chosen")
        if self.guarded:
            self.top[name] = f"{NAMES[kind]} {name};"
        else:
            self.emit(f"{NAMES[kind]} {name};")
        bodies = [
            [*before, f"{name} = {converted(v, kind, True).text};"] for v, before in ((a, before_a), (b, before_b))
        ]
        self.out.append((f"if ({test.text}) {{", bodies[0], "} else {"))
        self.out.append(("", bodies[1], "}"))
        uniform = test.uniform and a.uniform and b.uniform
        return number(name, kind, min(a.low, b.low), max(a.high, b.high), uniform=uniform)


def _decided(sign, a, b):
    compare = next(f for s, f, _ in _COMPARE.values() if s == sign)
    return compare(a.low, b.low) if a.low == a.high and b.low == b.high else None
