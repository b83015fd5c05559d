"""What can be known of the types in a kernel before it runs, so that plain index arithmetic stays plain Python.

A kind is "s" (an integer surely below 2**31, such as a thread index), "i" (int64), "f" (float32), "d" (float64), a tuple
``("array", dtype, ndim)``, "shape" (a tuple of integers), or None: anything, decided at run time. A variable has one kind
in the whole function: if it is assigned different ones, None.
"""

import ast

import numpy as np
from numba.core import types as nb

from .names import DeviceName

_NOT_YET = "?"
_ELEMENT = {"float32": "f", "float64": "d", "int64": "i"}
_CASTS = {"float32": "f", "float64": "d", "int64": "i"}
_TRUNCATE = frozenset(("BitAnd", "BitOr", "BitXor", "LShift", "RShift"))


def of_argument(value):
    """Kind of a kernel argument."""
    kind = type(value)
    if kind is int:
        return "i"
    if kind is float:
        return "d"
    if kind is np.float32:
        return "f"
    data = getattr(value, "data", None)
    if isinstance(data, np.ndarray):
        return ("array", str(data.dtype), data.ndim)
    return None


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
        return None
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


class Kinds:
    """The kinds of one function's variables and expressions. ``arguments``: kinds of its arguments, None if unknown."""

    def __init__(self, lowering, node, arguments):
        self.lowering = lowering
        self.variables = {}
        names = [a.arg for a in node.args.posonlyargs + node.args.args]
        for name in lowering.locals:
            self.variables[name] = _NOT_YET
        for index, name in enumerate(names):
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
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            assignments.append((node.target, lambda: self._value(node.value)))
        elif isinstance(node, ast.NamedExpr):
            assignments.append((node.target, lambda: self._value(node.value)))
        elif isinstance(node, ast.AugAssign):
            operation = type(node.op).__name__
            assignments.append(
                (
                    node.target,
                    lambda: of_operation(operation, self._value(node.target), self._value(node.value)),
                )
            )
        elif isinstance(node, ast.For):
            assignments.append((node.target, self._loop_kind(node.iter)))
        for child in ast.iter_child_nodes(node):
            self._collect(child, assignments)

    def _loop_kind(self, iterable):
        if (
            isinstance(iterable, ast.Call)
            and isinstance(iterable.func, ast.Name)
            and iterable.func.id == "range"
        ):
            return "i" if "range" not in self.lowering.locals else None
        return None

    def _assign(self, target, kind):
        if isinstance(target, ast.Name):
            known = self.variables.get(target.id)
            self.variables[target.id] = join(known, kind) if target.id in self.variables else None
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = kind if isinstance(kind, list) and len(kind) == len(target.elts) else None
            for index, element in enumerate(target.elts):
                each = (
                    parts[index]
                    if parts
                    else ("i" if kind == "shape" else _NOT_YET if kind == _NOT_YET else None)
                )
                self._assign(element, each)

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
            return None
        if type(value) is int:
            return "s" if abs(value) < 1 << 31 else "i" if -(1 << 63) <= value < 1 << 63 else None
        if isinstance(value, float):
            return "d"
        if type(value) is np.float32:
            return "f"
        if type(value) is np.int64:
            return "i"
        if isinstance(value, tuple):
            return [self._of_static(v) for v in value]
        if isinstance(value, np.ndarray):
            return ("array", str(value.dtype), value.ndim)
        return None

    def _of_Constant(self, node):
        return self._of_static(node.value)

    def _of_Name(self, node):
        if self.lowering.in_inner:
            return None
        if node.id in self.variables:
            return self.variables[node.id]
        return self._of_static(self.lowering.static(node)[1])

    def _of_Attribute(self, node):
        if isinstance(node.value, ast.Name):
            found, base = self.lowering.static(node.value)
            if found and isinstance(base, DeviceName):
                return "s"
        found, value = self.lowering.static(node)
        if found:
            return (
                "s"
                if isinstance(value, DeviceName) and value.path in ("laneid", "warpsize")
                else self._of_static(value)
            )
        if isinstance(node.value, ast.Attribute):
            found, base = self.lowering.static(node.value)
            if found and isinstance(base, DeviceName):
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
            return None
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return kind
        return {"s": "i", "i": "i", "f": "f", "d": "d", _NOT_YET: _NOT_YET}.get(str(kind))

    def _of_BinOp(self, node):
        left, right = self._value(node.left), self._value(node.right)
        if isinstance(left, list) or isinstance(right, list):
            return None
        return of_operation(type(node.op).__name__, left, right)

    def _of_IfExp(self, node):
        a, b = self._value(node.body), self._value(node.orelse)
        return None if isinstance(a, list) or isinstance(b, list) else join(a, b)

    def _of_NamedExpr(self, node):
        return self._value(node.value)

    def _of_Subscript(self, node):
        kind = self._value(node.value)
        if kind == _NOT_YET:
            return _NOT_YET
        if kind == "shape":
            return None if isinstance(node.slice, ast.Slice) else "i"
        if isinstance(kind, list):
            found, index = self.lowering.static(node.slice)
            return (
                kind[index] if found and isinstance(index, int) and -len(kind) <= index < len(kind) else None
            )
        if not isinstance(kind, tuple):
            return None
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(parts) != kind[2]:
            return None
        # A tuple held in a variable may index several axes at once, a slice gives a view.
        if any(self._value(p) not in ("s", "i") for p in parts):
            return None
        return _ELEMENT.get(kind[1])

    def _of_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in self.lowering.locals:
            return None
        found, function = self.lowering.static(node.func)
        if not found:
            return None
        if isinstance(function, DeviceName):
            return self._of_device_call(node, function.path)
        kinds = [self._value(a) for a in node.args]
        if any(kind == _NOT_YET for kind in kinds):
            return _NOT_YET
        name = getattr(function, "__name__", "")
        if isinstance(function, nb.Type):
            return _CASTS.get(str(function))
        if isinstance(function, type) and issubclass(function, np.generic):
            return _CASTS.get(name)
        plain = [k for k in kinds if k in ("s", "i", "f", "d")]
        if len(plain) != len(kinds) or not kinds:
            return "i" if function is len else None
        if function in (min, max):
            integers = all(k in "si" for k in kinds)
            return "i" if integers else "f" if set(kinds) == {"f"} else "d"
        if function is int:
            return "i"
        if function is float:
            return "f" if kinds == ["f"] else "d"
        if function is abs:
            return "i" if kinds[0] in "si" else kinds[0]
        if (
            getattr(function, "__module__", None) == "math"
            and not name.startswith("is")
            and name not in _NOT_FLOAT
        ):
            return "f" if set(kinds) == {"f"} else "d"
        return None

    def _of_device_call(self, node, path):
        if path in ("grid", "gridsize"):
            return "i" if isinstance(node.args[0], ast.Constant) and node.args[0].value == 1 else "shape"
        if path in ("shared.array", "local.array"):
            return self._of_array_maker(node)
        if path == "syncthreads_count":
            return None
        return None

    def _of_array_maker(self, node):
        given = dict(zip(("shape", "dtype"), node.args, strict=False))
        given.update({k.arg: k.value for k in node.keywords})
        shape, dtype = given.get("shape"), given.get("dtype")
        if shape is None or not isinstance(dtype, (ast.Name, ast.Attribute)):
            return None
        found, dtype = self.lowering.static(dtype)
        if not found:
            return None
        name = dtype.__name__ if isinstance(dtype, type) else str(dtype)
        kind = self._value(shape)
        return ("array", name, len(kind) if isinstance(kind, list) else 1)


_NOT_FLOAT = frozenset(("gcd", "lcm", "comb", "perm", "factorial", "frexp", "modf"))
