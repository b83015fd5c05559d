"""Whole numbers that run as Python, and have 64 bits as in compiled code.

Beyond them Python goes on and compiled code wraps around: a program would take one way when it is watched or counted,
and another when it runs. So there it ends, and says where.
"""

import ast
import operator

import numpy as np

BITS = 64
OPERATORS = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Pow": operator.pow,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
}
_IN_PLACE = {
    "Add": operator.iadd,
    "Sub": operator.isub,
    "Mult": operator.imul,
    "Pow": operator.ipow,
    "LShift": operator.ilshift,
    "RShift": operator.irshift,
}
_SIGNS = {"Add": "+", "Sub": "-", "Mult": "*", "Pow": "**", "LShift": "<<", "RShift": ">>"}
_WHOLE = (int, np.integer)


class Beyond64Bits(ArithmeticError):
    """A whole number for which compiled code has no room."""


def of(name, a, b, in_place=False):
    """a + b, or another operation of `OPERATORS`. Raises Beyond64Bits where whole numbers leave their 64 bits.
    in_place: as in a += b, of arrays."""
    if not isinstance(a, _WHOLE) or not isinstance(b, _WHOLE):
        return (_IN_PLACE if in_place else OPERATORS)[name](a, b)
    unsigned = [isinstance(x, np.unsignedinteger) for x in (a, b)]
    if any(unsigned) and not all(unsigned) and any(isinstance(x, np.uint64) for x in (a, b)):
        return OPERATORS[name](a, b)  # no whole number comes of these
    if name.endswith("Shift") and not 0 <= b < BITS:
        raise Beyond64Bits(f"{a} {_SIGNS[name]} {b} moves a whole number out of its {BITS} bits")
    x, y = int(a), int(b)
    if name == "Pow" and abs(x) > 1 and x.bit_length() * y > 4 * BITS:  # before it fills the memory
        raise Beyond64Bits(f"{a} {_SIGNS[name]} {b} is a whole number of more than {BITS} bits")
    result = OPERATORS[name](x, y)
    if not isinstance(result, int):  # a negative power
        return result
    least, most = (0, 1 << BITS) if all(unsigned) else (-1 << BITS - 1, 1 << BITS - 1)
    if not least <= result < most:
        raise Beyond64Bits(f"{a} {_SIGNS[name]} {b} is a whole number of more than {BITS} bits")
    if type(a) is int and type(b) is int:
        return result
    return np.uint64(result) if all(unsigned) else np.int64(result)


def negative(a):
    """-a, as `of`."""
    return of("Sub", 0, a) if isinstance(a, _WHOLE) else -a


NAMES = {"whole_": of, "negative_": negative}


class WholeIn64Bits(ast.NodeTransformer):
    """a + b becomes whole_("Add", a, b), and a += b the same in place. The program must then know `NAMES`."""

    def visit_BinOp(self, node):
        self.generic_visit(node)
        return _call(node, node.left, node.right) if type(node.op).__name__ in OPERATORS else node

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.USub) or isinstance(node.operand, ast.Constant):
            return node
        return ast.copy_location(ast.Call(ast.Name("negative_", ast.Load()), [node.operand], []), node)

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        if type(node.op).__name__ not in OPERATORS or not isinstance(node.target, ast.Name):
            return node
        old = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        return ast.copy_location(ast.Assign([node.target], _call(node, old, node.value, ast.Constant(True))), node)


def _call(node, *operands):
    call = ast.Call(ast.Name("whole_", ast.Load()), [ast.Constant(type(node.op).__name__), *operands], [])
    return ast.copy_location(call, node)
