"""Which engine runs a launch ``kernel[grid, block](...)``: the executor, thread by thread, or the compiled engine.

"traced"    the executor, always: every check, every order of threads, slow
"compiled"  the compiled engine, always; ``Unsupported`` where it cannot take the kernel
"auto"      (the default) the executor for small launches, the compiled engine for large ones, by an estimate of the work

Set with ``cuda.engine("compiled")``, for a while with ``with cuda.engine("traced"):``, or with the environment variable
DLKERNELS_ENGINE. x-rays, a chosen order of threads and a budget always run in the executor, as does ``simt.run``. In "auto", a
large launch that the compiled engine does not take runs in the executor too, and one line on stdout says so, once for each
kernel (DLKERNELS_QUIET=1 hides it). ``cuda.last_launch()`` says which engine ran, and why.
"""

import ast
import os
from dataclasses import dataclass

import numpy as np

from . import launch
from .errors import NotFollowed, Unsupported
from .hostarrays import DeviceNDArray, MappedArray
from .names import Scope
from .progress import quiet
from .source import tree_of

VARIABLE = "DLKERNELS_ENGINE"
NAMES = ("traced", "compiled", "auto")
LARGE = 2_000_000  # steps; the executor makes about a million in a second
UNKNOWN = 16  # iterations of a loop whose length cannot be read from the arguments
DEEPEST = 8  # calls of device functions inside each other that are followed

_chosen = None
_last = None
_told = set()


@dataclass(frozen=True)
class LastLaunch:
    """What ``cuda.last_launch()`` returns. engine: "executor" or "compiled". why: the reason, in words."""

    kernel: str
    engine: str
    why: str

    def __str__(self):
        where = "compiled for the CPU" if self.engine == "compiled" else "thread by thread in the executor"
        return f"{self.kernel} ran {where}: {self.why}."


def check_name(name):
    """``name`` if there is such an engine."""
    if name not in NAMES:
        raise ValueError(f"engine is {name!r}; expected one of {', '.join(map(repr, NAMES))}")
    return name


class _Choice:
    """What ``engine()`` returns: leaving it as a context manager undoes the choice."""

    def __init__(self, before):
        self._before = before

    def __enter__(self):
        return self

    def __exit__(self, *_):
        global _chosen
        _chosen = self._before


def engine(name=None):
    """Choose the engine of all launches that follow: "traced", "compiled" or "auto"; None: what it was at the start.

    As a context manager (``with cuda.engine("traced"):``) for the launches inside. The module's docstring says what each does.
    """
    global _chosen
    before, _chosen = _chosen, None if name is None else check_name(name)
    return _Choice(before)


def current():
    """The engine that is chosen now: "traced", "compiled" or "auto"."""
    return _chosen or check_name(os.environ.get(VARIABLE, "").strip() or "auto")


def last_launch():
    """Which engine ran the last launch, and why: a ``LastLaunch``, or None before the first."""
    return _last


def start(kernel, grid, block, arguments, shared_bytes):
    """Run a launch on the engine that is chosen."""
    global _last
    name, chosen, order = kernel.py_func.__name__, current(), launch.chosen_order()
    why = None
    if chosen == "traced":
        why = "chosen"
    elif launch.chosen_budget() is not None:
        why = "the iterations of its loops are counted"
    elif order is not None and (chosen == "auto" or order.startswith("shuffled")):
        why = f"the order of threads is chosen: {order}"
    elif chosen == "auto":
        steps = estimate(kernel.py_func, grid, block, arguments)
        size = f"about {steps:,} steps"
        if steps < LARGE:
            why = f"small, {size}"
    if why is None:
        from . import compiled

        why = "chosen" if chosen == "compiled" else f"large, {size}"
        try:
            compiled.run(kernel, grid, block, arguments, shared_bytes, order=order or "forward")
        except (Unsupported, NotFollowed) as error:
            started = isinstance(error, NotFollowed) and not _untouched(arguments)
            if chosen == "compiled" or started:
                raise
            why = error.reason
            _say(kernel, error)
        else:
            _last = LastLaunch(name, "compiled", why)
            return
    _last = LastLaunch(name, "executor", why)
    launch.run(kernel, grid, block, arguments, shared_bytes)


def _untouched(arguments):
    """Whether all arrays lie on the host: then a launch that failed has changed nothing."""
    flat = [v for a in arguments for v in (a if isinstance(a, tuple) else (a,))]
    return not any(isinstance(v, (DeviceNDArray, MappedArray)) for v in flat)


def _say(kernel, error):
    if kernel in _told or quiet():
        return
    _told.add(kernel)
    place = f", line {error.line}" if error.line else ""
    print(f"{kernel.py_func.__name__}{place}: {error.reason}. It runs in the executor, which takes longer.")


# -- how much work a launch is ----------------------------------------------------------------------------------------


def estimate(function, grid, block, arguments):
    """About how many statements the threads of a launch run: counted in the source, loops by their lengths.

    The length of a ``range`` is read from the arguments where it follows from them and from constants alone; any other loop
    counts as ``UNKNOWN`` iterations. A call of a device function counts what that function runs.
    """
    threads = int(np.prod(grid, dtype=np.int64)) * int(np.prod(block, dtype=np.int64))
    return threads * max(1, _steps_of(function, arguments, DEEPEST))


def _steps_of(function, arguments, deeper):
    """Statements that one call of ``function`` runs; 0 where its source cannot be read."""
    try:
        node = tree_of(function)
    except Exception:
        return 0
    names = [a.arg for a in node.args.posonlyargs + node.args.args]
    known = {name: value for name, value in zip(names, arguments, strict=False) if value is not None}
    return _steps(node.body if isinstance(node.body, list) else [], _Values(function, known), deeper)


class _Values:
    """Evaluates the bounds of loops: numbers, shapes of arguments, globals. None for anything else."""

    def __init__(self, function, arguments):
        self.scope, self.arguments = Scope(function), arguments
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
            if node.id in self.arguments:
                return self.arguments[node.id]
            return self.variables[node.id] if node.id in self.variables else self.scope.lookup(node.id)
        if isinstance(node, ast.Attribute) and node.attr in ("shape", "size", "ndim"):
            return getattr(self._of(node.value), node.attr)
        if isinstance(node, ast.Subscript):
            return self._of(node.value)[self._of(node.slice)]
        if isinstance(node, ast.BinOp):
            left, right = int(self._of(node.left)), int(self._of(node.right))
            operations = {
                ast.Add: int.__add__,
                ast.Sub: int.__sub__,
                ast.Mult: int.__mul__,
                ast.FloorDiv: int.__floordiv__,
            }
            return operations[type(node.op)](left, right)
        if isinstance(node, ast.Call) and len(node.args) == 1:  # a cast, such as uint32(8)
            return int(self._of(node.args[0]))
        raise ValueError(node)

    def length(self, node):
        """Iterations of a ``for`` over this."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            limits = [self.of(a) for a in node.args]
            if None not in limits:
                return len(range(*map(int, limits)))
        if isinstance(node, ast.Tuple):
            return len(node.elts)
        return UNKNOWN


def _called(node, values, deeper):
    """Statements that the device functions run which this statement calls, without those of its inner blocks."""
    if not deeper:
        return 0
    total = 0
    for expression in (e for e in ast.iter_child_nodes(node) if isinstance(e, ast.expr)):
        for call in ast.walk(expression):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                called = values.of(call.func)
                if isinstance(called, launch.Kernel) and called.device:
                    total += _steps_of(called.py_func, [values.of(a) for a in call.args], deeper - 1)
    return total


def _steps(block, values, deeper):
    total = 0
    for node in block:
        total += 1 + _called(node, values, deeper)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found = values.of(node.value)
            if isinstance(found, (int, np.integer)):
                values.variables[node.targets[0].id] = int(found)
            else:
                values.variables.pop(node.targets[0].id, None)
        times = (
            values.length(node.iter)
            if isinstance(node, ast.For)
            else UNKNOWN
            if isinstance(node, ast.While)
            else 1
        )
        for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(body, list):
                total += times * _steps(body, values, deeper)
    return total
