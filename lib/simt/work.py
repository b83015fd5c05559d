"""How much work a launch is, read from the kernel's source before it runs: what policy.py chooses an engine by."""

import ast

import numpy as np

from .kernel import Kernel
from .source.names import Scope
from .source.tree import tree_of

UNKNOWN = 16  # iterations of a loop whose length cannot be read from the arguments
DEEPEST = 8  # calls of device functions inside each other that are followed

_BINARY = {
    ast.Add: int.__add__,
    ast.Sub: int.__sub__,
    ast.Mult: int.__mul__,
    ast.FloorDiv: int.__floordiv__,
    ast.Mod: int.__mod__,
}
_AXES = {"x": 0, "y": 1, "z": 2}


def estimate(function, grid, block, arguments):
    """About how many statements the threads of a launch run: counted in the source, loops by their lengths.

    The length of a ``range`` is read where it follows from the arguments, from constants and from the place of a
    thread: the one in the middle of the grid counts for all, as does the middle iteration of a loop. Any other loop
    counts as ``UNKNOWN`` iterations. A call of a device function counts what that function runs.
    """
    launch = _Extents(grid, block)
    return launch.threads * max(1, _steps_of(function, arguments, launch, DEEPEST))


class _Extents:
    """The extents of a launch, and the place of the thread in its middle."""

    def __init__(self, grid, block):
        self.threads = int(np.prod(grid, dtype=np.int64)) * int(np.prod(block, dtype=np.int64))
        self.places = {
            "gridDim": grid,
            "blockDim": block,
            "blockIdx": [g // 2 for g in grid],
            "threadIdx": [b // 2 for b in block],
        }
        self.sizes = [g * b for g, b in zip(grid, block, strict=True)]
        self.middle = [
            b * n + t for b, n, t in zip(self.places["blockIdx"], block, self.places["threadIdx"], strict=True)
        ]


def _steps_of(function, arguments, launch, deeper):
    """Statements that one call of ``function`` runs; 0 where its source cannot be read."""
    try:
        node = tree_of(function)
    except Exception:
        return 0
    names = [a.arg for a in node.args.posonlyargs + node.args.args]
    known = {name: value for name, value in zip(names, arguments, strict=False) if value is not None}
    return _steps(node.body if isinstance(node.body, list) else [], _Values(function, known, launch), deeper)


def _last_name(node):
    """``grid`` of ``cuda.grid`` and of ``grid``."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None


def _whole(value):
    if not isinstance(value, (int, float, np.integer, np.floating)):
        raise ValueError(value)
    return int(value)


class _Values:
    """Evaluates the bounds of loops: numbers, shapes of arguments, globals, places. None for anything else."""

    def __init__(self, function, arguments, launch):
        self.scope, self.arguments, self.launch = Scope(function), arguments, launch
        self.variables = {}

    def of(self, node):
        try:
            return self._of(node)
        except Exception:  # whatever cannot be read is not known
            return None

    def _of(self, node):
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            for known in (self.variables, self.arguments):
                if node.id in known:
                    return known[node.id]
            return self.scope.lookup(node.id)
        if isinstance(node, ast.Attribute):
            if node.attr in _AXES:
                return self.launch.places[_last_name(node.value)][_AXES[node.attr]]
            if node.attr in ("shape", "size", "ndim"):
                return getattr(self._of(node.value), node.attr)
        if isinstance(node, ast.Subscript):
            return self._of(node.value)[self._of(node.slice)]
        if isinstance(node, ast.BinOp):
            return _BINARY[type(node.op)](_whole(self._of(node.left)), _whole(self._of(node.right)))
        if isinstance(node, ast.Call):
            return self._called(_last_name(node.func), [self._of(a) for a in node.args])
        raise ValueError(node)

    def _called(self, name, values):
        if name in ("grid", "gridsize"):
            axes = self.launch.middle if name == "grid" else self.launch.sizes
            return axes[0] if values == [1] else tuple(axes[: values[0]])
        if name in ("min", "max"):
            return {"min": min, "max": max}[name](*values)
        if name == "len":
            return len(*values)
        if name == "int" or isinstance(getattr(np, name), type):  # a cast, such as uint32(8)
            return _whole(*values)
        raise ValueError(name)

    def assign(self, target, value):
        """Remember what a variable holds; what is not a whole number is not known."""
        if isinstance(target, ast.Tuple):
            parts = value if isinstance(value, tuple) and len(value) == len(target.elts) else [None] * len(target.elts)
            for name, part in zip(target.elts, parts, strict=True):
                self.assign(name, part)
        elif isinstance(target, ast.Name):
            self.variables[target.id] = int(value) if isinstance(value, (int, np.integer)) else None

    def loop(self, node):
        """(iterations of a ``for`` over this, what its variable holds in the middle one)."""
        if isinstance(node, ast.Call) and _last_name(node.func) == "range":
            limits = [self.of(a) for a in node.args]
            if None not in limits:
                turns = range(*map(int, limits))
                return len(turns), turns[len(turns) // 2] if turns else None
        return len(node.elts) if isinstance(node, ast.Tuple) else UNKNOWN, None


def _called(node, values, deeper):
    """Statements that the device functions run which this statement calls, without those of its inner blocks."""
    if not deeper:
        return 0
    total = 0
    for expression in (e for e in ast.iter_child_nodes(node) if isinstance(e, ast.expr)):
        for call in ast.walk(expression):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                called = values.of(call.func)
                if isinstance(called, Kernel) and called.device:
                    arguments = [values.of(a) for a in call.args]
                    total += _steps_of(called.py_func, arguments, values.launch, deeper - 1)
    return total


def _steps(block, values, deeper):
    total = 0
    for node in block:
        total += 1 + _called(node, values, deeper)
        times = 1
        if isinstance(node, ast.Assign):
            value = values.of(node.value)
            for target in node.targets:
                values.assign(target, value)
        elif isinstance(node, ast.AugAssign):
            values.assign(node.target, None)
        elif isinstance(node, ast.For):
            times, middle = values.loop(node.iter)
            values.assign(node.target, middle)
        elif isinstance(node, ast.While):
            times = UNKNOWN
        for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(body, list):
                total += times * _steps(body, values, deeper)
    return total
