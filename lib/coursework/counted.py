"""Count what the source of a numba function does to its arguments: floating point operations, and elements touched.

The function runs as Python with numbers and arrays that count, and with each + - * / between other numbers looked at:
one that makes a number of floating point of a variable is a flop, too. So a flop is what the student reads in the loop,
not what the compiler makes of it, and the counts are the same on every machine.
"""

import ast
import math
import operator
from functools import partial

import numpy as np

from cpulab.watch import whole

from . import limited

CURE = (
    "work with the elements of arrays as they are, one by one: + - * / and comparisons can be counted; **, //, %, "
    "float(), np.float32() and math functions of an element cannot"
)


FLOP = "flop_"
WHOLE = (int, np.integer)
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_OPERATIONS = {
    "+": partial(whole.of, "Add"),
    "-": partial(whole.of, "Sub"),
    "*": partial(whole.of, "Mult"),
    "/": operator.truediv,
}


class NotCounted(Exception):
    """The function does something whose flops nobody counts here."""


class Tally:
    """flops: additions, subtractions, multiplications, divisions. moved: bytes of all elements that were touched, each
    counted once. loads, stores: accesses."""

    def __init__(self):
        self.flops = self.loads = self.stores = 0
        self.touched = []

    def flop(self, sign, a, b):
        """a + b, or another sign: a flop if a number of floating point comes out. A Number counts its own."""
        result = _OPERATIONS[sign](a, b)
        self.flops += isinstance(result, float | np.floating)
        return result

    def to_dict(self):
        moved = sum(len(places) * itemsize for places, itemsize in self.touched)
        return {"flops": self.flops, "moved": moved, "loads": self.loads, "stores": self.stores}


class Number:
    """A number that came from an argument; what is computed from it is one, too."""

    __array_ufunc__ = None  # NumPy's numbers leave the operation to this one
    __slots__ = ("tally", "value")

    def __init__(self, tally, value):
        self.tally, self.value = tally, float(value)

    def _refused(self, *_):
        raise NotCounted(CURE)

    __float__ = __int__ = __index__ = __pow__ = __rpow__ = __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = _refused
    __divmod__ = __rdivmod__ = __round__ = __array__ = _refused

    def _made(self, value):
        return Number(self.tally, value)

    def _flop(self, operation, a, b):
        self.tally.flops += 1
        try:
            return self._made(operation(_plain(a), _plain(b)))
        except (ZeroDivisionError, OverflowError):
            return self._made(math.nan)

    def __add__(self, other):
        return self._flop(float.__add__, self, other)

    def __radd__(self, other):
        return self._flop(float.__add__, other, self)

    def __sub__(self, other):
        return self._flop(float.__sub__, self, other)

    def __rsub__(self, other):
        return self._flop(float.__sub__, other, self)

    def __mul__(self, other):
        return self._flop(float.__mul__, self, other)

    def __rmul__(self, other):
        return self._flop(float.__mul__, other, self)

    def __truediv__(self, other):
        return self._flop(float.__truediv__, self, other)

    def __rtruediv__(self, other):
        return self._flop(float.__truediv__, other, self)

    def __neg__(self):
        return self._made(-self.value)

    def __pos__(self):
        return self

    def __abs__(self):
        return self._made(abs(self.value))

    def __bool__(self):
        return bool(self.value)

    def __eq__(self, other):
        return self.value == _plain(other)

    def __lt__(self, other):
        return self.value < _plain(other)

    def __le__(self, other):
        return self.value <= _plain(other)

    def __gt__(self, other):
        return self.value > _plain(other)

    def __ge__(self, other):
        return self.value >= _plain(other)

    __hash__ = None


class Array:
    """An array that gives Numbers, element by element, and notes which were touched."""

    def __init__(self, tally, array):
        self.tally, self.array, self.places = tally, array.copy(), set()
        self.shape, self.size, self.ndim, self.dtype = array.shape, array.size, array.ndim, array.dtype
        tally.touched.append((self.places, array.itemsize))

    def __len__(self):
        return self.shape[0]

    def _place(self, index):
        index = index if isinstance(index, tuple) else (index,)
        if len(index) != self.ndim:
            raise NotCounted(CURE)
        position = ()
        for i, n in zip(index, self.shape, strict=True):  # a plain loop: it runs a hundred thousand times
            if not isinstance(i, WHOLE):
                raise NotCounted(CURE)
            if not -n <= i < n:
                raise IndexError(f"index {', '.join(map(str, index))} is outside an array of shape {self.shape}")
            position += (int(i) % n,)
        self.places.add(position)
        return position

    def __getitem__(self, index):
        position = self._place(index)
        self.tally.loads += 1
        value = self.array[position]
        return Number(self.tally, value) if self.array.dtype.kind == "f" else int(value)

    def __setitem__(self, index, value):
        position = self._place(index)
        self.tally.stores += 1
        with np.errstate(all="ignore"):
            self.array[position] = _plain(value)


class _Flops(ast.NodeTransformer):
    """a + b becomes flop_("+", a, b), and x += b x = flop_("+", x, b). An element of an array is a Number, and counts
    itself; what has no variable in it, as 1 / 6, is a number that is known before the loop."""

    def visit_FunctionDef(self, node):
        stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.variables = stored | {argument.arg for argument in node.args.args}
        return self.generic_visit(node)

    def visit_BinOp(self, node):
        if not any(isinstance(n, ast.Name) and n.id in self.variables for n in ast.walk(node)):
            return node
        self.generic_visit(node)
        return self._flop(node, node.left, node.right) if type(node.op) in _SIGNS else node

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        if type(node.op) not in _SIGNS or not isinstance(node.target, ast.Name):
            return node
        old = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        return ast.copy_location(ast.Assign([node.target], self._flop(node, old, node.value)), node)

    def _flop(self, node, left, right):
        call = ast.Call(ast.Name(FLOP, ast.Load()), [ast.Constant(_SIGNS[type(node.op)]), left, right], [])
        return ast.copy_location(call, node)


def _plain(value):
    return value.value if isinstance(value, Number) else float(value)


def of(function, arguments):
    """({"flops", "moved", "loads", "stores"}, result, arguments afterwards) of one call of a numba function."""
    tally = Tally()
    counting = [
        Array(tally, x) if isinstance(x, np.ndarray) else Number(tally, x) if isinstance(x, float | np.floating) else x
        for x in arguments
    ]
    result = limited.interpreted(function, _Flops(), {FLOP: tally.flop})(*counting)
    after = tuple(
        x.array if isinstance(x, Array) else argument for x, argument in zip(counting, arguments, strict=True)
    )
    plain = result.array if isinstance(result, Array) else result.value if isinstance(result, Number) else result
    return tally.to_dict(), plain, after
