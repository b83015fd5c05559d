"""``operator.add(a, b)``, which kernels get where an operation is chosen outside them: the same as ``a + b``."""

import ast
import operator

_BINARY = {
    operator.add: ast.Add, operator.sub: ast.Sub, operator.mul: ast.Mult, operator.truediv: ast.Div,
    operator.floordiv: ast.FloorDiv, operator.mod: ast.Mod, operator.pow: ast.Pow, operator.lshift: ast.LShift,
    operator.rshift: ast.RShift, operator.and_: ast.BitAnd, operator.or_: ast.BitOr, operator.xor: ast.BitXor,
}  # fmt: skip
_COMPARE = {
    operator.eq: ast.Eq,
    operator.ne: ast.NotEq,
    operator.lt: ast.Lt,
    operator.le: ast.LtE,
    operator.gt: ast.Gt,
    operator.ge: ast.GtE,
}
_UNARY = {operator.neg: ast.USub, operator.pos: ast.UAdd, operator.invert: ast.Invert, operator.not_: ast.Not}


def written_out(call, function):
    """The expression that a call of a function of the module `operator` stands for; None for any other function."""
    if getattr(function, "__module__", None) != "_operator" or call.keywords:
        return None
    kind = _BINARY.get(function) or _COMPARE.get(function) or _UNARY.get(function)
    if kind is None or len(call.args) != (1 if function in _UNARY else 2):
        return None
    if function in _UNARY:
        new = ast.UnaryOp(kind(), call.args[0])
    elif function in _COMPARE:
        new = ast.Compare(call.args[0], [kind()], [call.args[1]])
    else:
        new = ast.BinOp(call.args[0], kind(), call.args[1])
    return ast.copy_location(new, call)
