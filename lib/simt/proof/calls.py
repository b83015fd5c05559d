"""Calls in a kernel, for the proof: cuda's names, device functions, stand-ins of intrinsics, functions of plain
values."""

import ast
import inspect
from types import FunctionType

import numpy as np
from numba.core import types as nb

from ..intrinsics import stand_ins
from ..source.known import as_called, known_parameters
from ..source.names import DeviceName, python_of
from ..source.operators import written_out
from .values import (
    BLOCK,
    GRID,
    THREAD,
    Flag,
    Known,
    Number,
    Several,
    Unknown,
    View,
    as_number,
    chosen,
    level_of,
    of_object,
)


class Calls:
    """The part of the walk that evaluates calls."""

    def of_Call(self, node, state):
        source = self.frame.source
        if isinstance(node.func, ast.Attribute) and not source.static(node.func)[0]:
            return self.call_method(node, state)
        if source.is_local(node.func):
            self.cannot(node, f"`{ast.unparse(node.func)}` is not known before the kernel runs")
        function = source.static(node.func)[1]
        if isinstance(function, DeviceName):
            return getattr(self, "call_" + function.kind.replace(" ", "_"))(node, function, state)
        stand_in = self.stands_in(function)
        if stand_in is not function and not hasattr(stand_in, "py_func"):  # Python with a context
            arguments = [Known(Touching(self, node)), *(self.value(a, state) for a in node.args)]
            names = list(inspect.signature(stand_in).parameters)
            return self.call(node, stand_in, dict(zip(names, arguments, strict=True)), state)
        function = stand_in
        python = python_of(function)
        if (operation := written_out(node, function)) is not None:
            return self.value(operation, state)
        if python is None:
            return self.call_plain(node, function, [self.value(a, state) for a in node.args])
        python = as_called(source, node, python)
        return self.call(node, python, self.bound(node, python, state), state)

    def stands_in(self, function):
        try:
            return stand_ins.get(function, function)
        except TypeError:
            return function

    def bound(self, node, python, state):
        signature = inspect.signature(python)
        nodes = signature.bind(*node.args, **{k.arg: k.value for k in node.keywords}).arguments
        known = {n: self.value(a, state) for n, a in nodes.items() if n not in known_parameters(python)}
        defaults = {n: of_object(p.default) for n, p in signature.parameters.items() if p.default is not p.empty}
        names = dict(zip(signature.parameters, self.source_of(python).parameters, strict=False))
        return {names.get(n, n): v for n, v in {**defaults, **known}.items()}

    def call_method(self, node, state):
        method = node.func.attr
        value = self.value(node.func.value, state)
        if isinstance(value, Known) and isinstance(value.value, Touching):
            return getattr(value.value, method)(state, *(self.value(a, state) for a in node.args))
        if method == "sync":
            self.notes.setdefault("a barrier of the grid", self.site(node, "grid barrier"))
            if state.live.level != GRID:
                self.cannot(node, "whether all threads of the grid come to this barrier is not known")
            self.barrier(state, node)
            return Known(None)
        if isinstance(value, View):
            self.cannot(node, f"`.{method}()` of an array is not followed")
        return Unknown(level_of(value))

    # -- cuda's names --------------------------------------------------------------------------------------------------

    def call_index(self, node, name, state):
        axes = self.value(node.args[0], state).constant
        numbers = [self.any_launch.whole(name.path, axis) for axis in range(axes)]
        return numbers[0] if axes == 1 else Several(tuple(numbers))

    def call_barrier(self, node, name, state):
        for argument in node.args:
            self.value(argument, state)
        self.barrier(state, node)
        if name.path == "syncthreads":
            return Known(None)
        return self.arithmetic.number(name.path, BLOCK, True)

    def call_warp(self, node, name, state):
        """What lanes exchange is unknown; that they wait for one another is not made use of."""
        if name.path == "syncwarp":
            self.notes.setdefault("cuda.syncwarp()", self.site(node, "collective"))
        for argument in node.args:
            self.value(argument, state)
        operands = self.frame.source.bind(node, name)
        if name.path.startswith("shfl") and isinstance(self.value(operands[1], state), Number | Flag):
            return self.arithmetic.number("lane", THREAD)
        if name.path == "syncwarp":
            return Known(None)
        return Unknown(THREAD) if name.path.startswith("shfl") else self.arithmetic.number("lanes", THREAD)

    def call_fence(self, node, name, state):
        self.notes.setdefault(f"cuda.{name.path}(), and the order that atomics make with it", self.site(node, "fence"))
        return Known(None)

    def call_pause(self, node, name, state):
        return Known(None)

    def call_arithmetic(self, node, name, state):
        values = [self.value(a, state) for a in node.args]
        level = max((level_of(v) for v in values), default=THREAD)
        if name.path in ("popc", "clz", "ffs", "brev", "lanemask_lt"):
            return self.arithmetic.number(name.path, THREAD if name.path == "lanemask_lt" else level, True)
        if name.path == "selp":
            return chosen(self.as_flag(values[0]), values[1], values[2], self.site(node, "call"))
        return Unknown(level)

    def call_array(self, node, name, state):
        source, space = self.frame.source, name.path.partition(".")[0]
        shape, dtype, _ = source.bind(node, name)
        size = source.constant_shape(shape)
        if size is None:
            self.cannot(node, "the shape of this array is not known before the kernel runs")
        kind = source.static(dtype)[1] if source.static(dtype)[0] else self.value(dtype, state)
        kind = kind.value if isinstance(kind, Known) else kind
        if space == "shared":
            return View(self.shared(node, source, size, kind))
        return View(self.any_launch.array(source.assigned_name(node) or space, space, size, kind))

    def shared(self, node, source, size, kind):
        """One array for each place of the source; all of those without a size are one."""
        key = source.python_function, node.lineno, node.col_offset
        if size == (0,):
            if self.dynamic is None:
                self.dynamic = kind, self.any_launch.dynamic(source.assigned_name(node) or "shared", kind)
            if self.dynamic[1].dtype != self.any_launch.dtype(kind):
                self.cannot(node, "dynamic shared memory under two types is not followed")
            return self.dynamic[1]
        if key not in self.any_launch.shared:
            self.any_launch.shared[key] = self.any_launch.array(
                source.assigned_name(node) or "shared", "shared", size, kind
            )
        return self.any_launch.shared[key]

    def call_constant_array(self, node, name, state):
        values = self.frame.source.static(node.args[0])[1]
        return View(self.any_launch.array(ast.unparse(node.args[0]), "constant", values.shape, values.dtype))

    def call_group(self, node, name, state):
        return Known(name)

    def call_atomic(self, node, name, state):
        operands = self.frame.source.bind(node, name)
        view = self.value(operands[0], state)
        if not isinstance(view, View):
            self.cannot(node, "an atomic of something that is no array")
        if name.path.endswith("compare_and_swap"):
            index, values = (Number(0, GRID, True),), operands[1:]
        else:
            index, values = self.indices(operands[1], state), operands[2:]
        for value in values:
            self.value(value, state)
        self.touch(state, view, index, "atomic", node)
        return self.any(view.array, THREAD)

    # -- plain functions -----------------------------------------------------------------------------------------------

    def call_plain(self, node, function, values):
        level = max((level_of(v) for v in values), default=GRID)
        if function is len:
            size = values[0]
            if isinstance(size, View):
                self.any_launch.sized.add(size.array.name)
            return (
                Number(len(size.items), GRID, True) if isinstance(size, Several) else size.array.shape[len(size.prefix)]
            )
        if any(isinstance(v, View) for v in values):
            self.cannot(node, f"`{ast.unparse(node.func)}` takes an array, and is not followed")
        integers = [as_number(v) for v in values]
        if all(isinstance(v, Number) for v in integers) and integers:
            if function in (min, max):
                return self.extreme(integers, "Lt" if function is min else "Gt")
            if function is abs:
                below = self.arithmetic.compare("Lt", integers[0], Number(0))
                return (
                    self.extreme([integers[0], Number(-integers[0].term, level)], "Gt")
                    if below.term is not False
                    else integers[0]
                )
        if function in (min, max) and len(values) == 1 and isinstance(values[0], Several):
            return self.call_plain(node, function, list(values[0].items))
        kind = _kind_of(function)
        if kind == "bool":
            return self.as_flag(values[0])
        if kind in ("signed", "unsigned") and values:
            return self.cast(integers[0], kind == "unsigned")
        if isinstance(function, FunctionType) and getattr(function, "__module__", "") not in ("math", "numpy"):
            self.cannot(node, f"`{ast.unparse(node.func)}` is not followed")
        return Unknown(level)

    def cast(self, value, unsigned):
        """As an integer. What does not fit is not looked for; below zero an unsigned one wraps round."""
        if not isinstance(value, Number):
            return self.arithmetic.number("integer", level_of(value), unsigned)
        self.any_launch.unsigned |= unsigned
        if not unsigned or value.natural:
            return value
        wrapped = self.arithmetic.number("wrapped", value.level, True)
        return chosen(self.arithmetic.compare("GtE", value, Number(0)), Number(value.term, value.level, True), wrapped)

    def extreme(self, numbers, operation):
        best = numbers[0]
        for number in numbers[1:]:
            best = chosen(self.arithmetic.compare(operation, number, best), number, best)
        return best


class Touching:
    """The context that a stand-in of an intrinsic reads and writes arrays with (`executor/standins.py`)."""

    def __init__(self, walk, node):
        self.walk, self.site = walk, walk.site(node, "access")

    def _each(self, state, view, index, count, kind):
        indices = index.items if isinstance(index, Several) else (index,)
        indices = tuple(self.walk.as_index(n) for n in indices)
        for k in range(count):
            last = self.walk.arithmetic.binary("Add", indices[-1], Number(k, GRID, True))
            self.walk.touch(state, view, (*indices[:-1], last), kind, self.site)

    def load(self, state, view, index, count):
        self._each(state, view, index, count.constant, "load")
        return Several(tuple(self.walk.any(view.array, THREAD) for _ in range(count.constant)))

    def store(self, state, view, index, values):
        self._each(state, view, index, len(values.items), "store")
        return Known(None)

    send = store

    def arrive(self, state):
        return Known(None)


def _kind_of(function):
    """ "signed", "unsigned" or "bool" where a function makes such a number."""
    if function in (int, bool):
        return "bool" if function is bool else "signed"
    if isinstance(function, nb.Integer):
        return "signed" if function.signed else "unsigned"
    if isinstance(function, nb.Boolean):
        return "bool"
    if isinstance(function, type) and issubclass(function, np.integer):
        return "unsigned" if issubclass(function, np.unsignedinteger) else "signed"
    if isinstance(function, type) and issubclass(function, np.bool_):
        return "bool"
    return "other"
