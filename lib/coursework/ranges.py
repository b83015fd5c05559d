"""`range` takes whole numbers. Python says so; numba takes a float, and makes of an infinite one (1e309) a number that
is none: machine code may then do anything. While a compiled answer is checked, its `range` and `prange` refuse floats
as well."""

import ast
import builtins
import functools

WHOLE = "no_float_"
SAID = "range takes whole numbers, and this is a {}: n // 2 is whole, n / 2 is not"


@functools.cache
def compiled():
    """A function for compiled functions that gives back its argument, and takes no float."""
    from numba import njit, types
    from numba.core.errors import TypingError
    from numba.extending import overload

    def typed(number):
        raise NotImplementedError

    @overload(typed)
    def _(number):
        if isinstance(number, types.Float | types.Complex):
            raise TypingError(SAID.format(number))
        return lambda number: number

    @njit
    def whole(number):
        return typed(number)

    return whole


class Whole(ast.NodeTransformer):
    """Arguments of range and prange become WHOLE(...) of themselves, but for numbers that are written there, in a
    function that knows `names`."""

    def __init__(self, names):
        self.names = names

    def visit_Call(self, node):
        self.generic_visit(node)
        if self._is_range(node.func):
            node.args = [self._asked(part) for part in node.args]
        return node

    def _is_range(self, made):
        from numba import prange

        if isinstance(made, ast.Attribute):
            return made.attr == "prange"
        known = self.names.get(made.id, getattr(builtins, made.id, None)) if isinstance(made, ast.Name) else None
        return known is range or known is prange

    def _asked(self, part):
        if isinstance(part, ast.Starred) or isinstance(getattr(part, "value", None), int):
            return part
        return ast.copy_location(ast.Call(ast.Name(WHOLE, ast.Load()), [part], []), part)
