"""What can be known of the types in a kernel before it runs, so that plain index arithmetic stays plain Python.

A kind is "s" (an integer surely below 2**31, such as a thread index), "i" (int64), "f" (float32), "d" (float64),
numba's type for any other number, a tuple ``("array", dtype, ndim)``, "shape" (a tuple of integers), or None: anything,
decided at run time. A variable has one kind in the whole function: if it is assigned different ones, None.
"""

import ast
import operator

import numpy as np
from numba.core import types as nb
from numba.core.errors import NumbaError

from .. import numbers
from .names import DeviceName
from .operators import written_out

_NOT_YET = "?"
_TYPES = {"s": nb.int64, "i": nb.int64, "f": nb.float32, "d": nb.float64}
_LETTERS = {nb.int64: "i", nb.float32: "f", nb.float64: "d"}
_TRUNCATE = frozenset(("BitAnd", "BitOr", "BitXor", "LShift", "RShift"))


def of_argument(value):
    """Kind of a kernel argument."""
    kind = type(value)
    if kind is int:
        return "i"
    if kind is float:
        return "d"
    if kind is bool or (isinstance(value, np.generic) and value.dtype.kind in "biufc"):
        return as_kind(numbers.numba_type(kind))
    data = getattr(value, "data", None)
    if isinstance(data, np.ndarray):
        return ("array", str(data.dtype), data.ndim)
    return None


def as_type(kind):
    """numba's type of a number of this kind; None for anything else."""
    if isinstance(kind, nb.Type):
        return kind
    return _TYPES.get(kind) if isinstance(kind, str) else None


def as_kind(numba_type):
    if numba_type in _LETTERS:
        return _LETTERS[numba_type]
    return numba_type if isinstance(numba_type, (nb.Number, nb.Boolean)) else None


def resolved(function, *kinds):
    """Kind of ``function(...)`` by numba's typing rules; None where they are not known or do not allow it."""
    if _NOT_YET in kinds:
        return _NOT_YET
    operand_types = tuple(as_type(k) for k in kinds)
    if not operand_types or None in operand_types:
        return None
    try:
        return as_kind(numbers.resolve(function, operand_types)[1])
    except TypeError:
        return None


def unified(a, b):
    """The kind of ``x if c else y``: one type that holds both, as numba chooses it."""
    if a == b or _NOT_YET in (a, b) or (a in ("s", "i") and b in ("s", "i")):
        return join(a, b)
    types = as_type(a), as_type(b)
    if None in types:
        return None
    common = numbers.unify(*types)
    return None if common is None else as_kind(common)


def join(a, b):
    if a == b or b == _NOT_YET:
        return a
    if a == _NOT_YET:
        return b
    return "i" if a in ("s", "i") and b in ("s", "i") else None


def of_operation(operation, a, b):
    """Kind of ``a operation b``."""
    if _NOT_YET in (a, b):
        return _NOT_YET
    if a not in ("s", "i", "f", "d") or b not in ("s", "i", "f", "d"):
        return resolved(numbers.BINARY[operation], a, b) if operation in numbers.BINARY else None
    integers = a in "si" and b in "si"
    if operation == "Div":
        return "f" if a == b == "f" else "d"
    if integers:
        return "i"
    if operation in _TRUNCATE:
        return None
    if operation == "Pow" and b in "si":
        return a
    return "f" if a == b == "f" else "d"


_FOLDED = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip


def fold(node):
    """The value of arithmetic on literals, which Python does when it compiles (``2**64 - 1``), or None."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = fold(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.BinOp) and type(node.op) in _FOLDED:
        left, right = fold(node.left), fold(node.right)
        small = isinstance(node.op, (ast.Pow, ast.LShift)) and right is not None and right > 128
        if left is None or right is None or small:
            return None
        try:
            return _FOLDED[type(node.op)](left, right)
        except (ArithmeticError, ValueError, TypeError):
            return None
    return None


class Kinds:
    """The kinds of one function's variables and expressions. ``arguments``: kinds of its arguments, None if unknown."""

    def __init__(self, source, arguments):
        self.source, node = source, source.node
        self.variables = {}
        for name in source.locals:
            self.variables[name] = _NOT_YET
        for index, name in enumerate(source.parameters):
            if name in source.aliases:
                continue
            self.variables[name] = arguments[index] if index < len(arguments) else None
        for a in node.args.kwonlyargs:
            self.variables[a.arg] = None
        assignments = []
        if isinstance(node.body, list):
            for statement in node.body:
                self._collect(statement, assignments)
        before = None
        while before != self.variables:
            before = dict(self.variables)
            for target, value in assignments:
                self._assign(target, value() if callable(value) else value)
        self.variables = {name: None if kind == _NOT_YET else kind for name, kind in self.variables.items()}

    def _collect(self, node, assignments):
        """All assignments, as (target node, function that gives the kind of its value)."""
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            if isinstance(node, ast.FunctionDef):
                self.variables[node.name] = None
            return
        if isinstance(node, ast.Assign):
            for target in node.targets:
                assignments.append((target, lambda: self._value(node.value)))
        elif (isinstance(node, ast.AnnAssign) and node.value is not None) or isinstance(node, ast.NamedExpr):
            assignments.append((node.target, lambda: self._value(node.value)))
        elif isinstance(node, ast.AugAssign):
            operation = type(node.op).__name__
            assignments.append(
                (node.target, lambda: of_operation(operation, self._value(node.target), self._value(node.value)))
            )
        elif isinstance(node, ast.For):
            assignments.append((node.target, self._loop_kind(node.iter)))
        for child in ast.iter_child_nodes(node):
            self._collect(child, assignments)

    def _loop_kind(self, iterable):
        if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.func.id == "range":
            return "i" if "range" not in self.source.locals else None
        return None

    def _assign(self, target, kind):
        if isinstance(target, ast.Name):
            known = self.variables.get(target.id)
            self.variables[target.id] = join(known, kind) if target.id in self.variables else None
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = kind if isinstance(kind, list) and len(kind) == len(target.elts) else None
            for index, element in enumerate(target.elts):
                part = parts[index] if parts else ("i" if kind == "shape" else _NOT_YET if kind == _NOT_YET else None)
                self._assign(element, part)

    def of(self, node):
        """Kind of an expression of the source, once all variables are known."""
        kind = self._value(node)
        return None if kind == _NOT_YET or isinstance(kind, list) else kind

    def of_augmented(self, node):
        return self.of(node.target), self.of(node.value)

    def _value(self, node):
        method = getattr(self, "_of_" + type(node).__name__, None)
        return method(node) if method else None

    def _of_static(self, value):
        if isinstance(value, (bool, np.bool_)):
            return nb.boolean
        if type(value) is int:
            return "s" if abs(value) < 1 << 31 else "i" if -(1 << 63) <= value < 1 << 63 else None
        if isinstance(value, float):
            return "d"
        if isinstance(value, np.generic) and value.dtype.kind in "iufc":
            return as_kind(numbers.numba_type(type(value)))
        if isinstance(value, tuple):
            return [self._of_static(v) for v in value]
        if isinstance(value, np.ndarray):
            return ("array", str(value.dtype), value.ndim)
        return None

    def _of_Constant(self, node):
        return self._of_static(node.value)

    def _of_Name(self, node):
        if self.source.in_inner:
            return None
        if node.id in self.variables:
            return self.variables[node.id]
        return self._of_static(self.source.static(node)[1])

    def _of_Attribute(self, node):
        if isinstance(node.value, ast.Name):
            known, base = self.source.static(node.value)
            if known and isinstance(base, DeviceName):
                return "s"
        known, value = self.source.static(node)
        if known:
            return "s" if isinstance(value, DeviceName) and value.kind == "value" else self._of_static(value)
        if isinstance(node.value, ast.Attribute):
            known, base = self.source.static(node.value)
            if known and isinstance(base, DeviceName):
                return "s"
        kind = self._value(node.value)
        if isinstance(kind, tuple):
            if node.attr in ("shape", "strides"):
                return "shape"
            if node.attr in ("size", "ndim", "nbytes", "itemsize"):
                return "i"
            if node.attr == "T":
                return kind
        return _NOT_YET if kind == _NOT_YET else None

    def _of_Tuple(self, node):
        return [self._value(e) for e in node.elts]

    def _of_UnaryOp(self, node):
        kind = self._value(node.operand)
        if isinstance(node.op, ast.Not):
            return nb.boolean
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return kind
        return None if isinstance(kind, list) else resolved(numbers.UNARY[type(node.op).__name__], kind)

    def _of_Compare(self, node):
        return nb.boolean

    def _of_BinOp(self, node):
        folded = fold(node)
        if folded is not None:
            return self._of_static(folded)
        left, right = self._value(node.left), self._value(node.right)
        if isinstance(left, list) or isinstance(right, list):
            return None
        return of_operation(type(node.op).__name__, left, right)

    def _of_IfExp(self, node):
        a, b = self._value(node.body), self._value(node.orelse)
        return None if isinstance(a, list) or isinstance(b, list) else unified(a, b)

    def _of_NamedExpr(self, node):
        return self._value(node.value)

    def _of_Subscript(self, node):
        kind = self._value(node.value)
        if kind == _NOT_YET:
            return _NOT_YET
        if kind == "shape":
            return None if isinstance(node.slice, ast.Slice) else "i"
        if isinstance(kind, list):
            known, index = self.source.static(node.slice)
            return kind[index] if known and isinstance(index, int) and -len(kind) <= index < len(kind) else None
        if not isinstance(kind, tuple):
            return None
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(parts) != kind[2]:
            return None
        # A tuple held in a variable may index several axes at once, a slice gives a view.
        indices = [self._value(p) for p in parts]
        if _NOT_YET in indices:
            return _NOT_YET
        if not all(isinstance(as_type(k), nb.Integer) for k in indices if not isinstance(k, list)) or list in map(
            type, indices
        ):
            return None
        return _of_dtype(kind[1])

    def _of_Call(self, node):
        if self.source.is_local(node.func):
            return None
        known, function = self.source.static(node.func)
        if not known:
            return None
        if isinstance(function, DeviceName):
            return self._of_device_call(node, function.kind)
        if (operation := written_out(node, function)) is not None:
            return self._value(operation)
        kinds = [self._value(a) for a in node.args]
        if any(kind == _NOT_YET for kind in kinds):
            return _NOT_YET
        name = getattr(function, "__name__", "")
        if isinstance(function, nb.Type):
            return as_kind(function)
        if isinstance(function, type) and issubclass(function, np.generic):
            return _of_dtype(name)
        if function is len:
            return "i"
        if any(isinstance(k, list) for k in kinds):
            return None
        if function in _TYPED_BUILTINS or getattr(function, "__module__", None) == "math":
            return resolved(function, *kinds)
        return None

    def _of_device_call(self, node, kind):
        if kind == "index":
            arguments = [*node.args, *(k.value for k in node.keywords)]
            return "i" if arguments and self.source.static(arguments[0])[1] == 1 else "shape"
        if kind == "array":
            return self._of_array_maker(node)
        return None

    def _of_array_maker(self, node):
        passed = dict(zip(("shape", "dtype"), node.args, strict=False))
        passed.update({k.arg: k.value for k in node.keywords})
        shape, dtype = passed.get("shape"), passed.get("dtype")
        if shape is None or not isinstance(dtype, (ast.Name, ast.Attribute)):
            return None
        known, dtype = self.source.static(dtype)
        if not known:
            return None
        name = dtype.__name__ if isinstance(dtype, type) else str(dtype)
        kind = self._value(shape)
        return ("array", name, len(kind) if isinstance(kind, list) else 1)


_TYPED_BUILTINS = (min, max, abs, int, float)


def _of_dtype(name):
    try:
        return as_kind(numbers.numba_type(np.dtype(name).type))
    except (TypeError, ValueError, SyntaxError, NotImplementedError, NumbaError):  # a record, too
        return None
