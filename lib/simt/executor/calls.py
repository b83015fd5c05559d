"""How calls in a kernel are lowered: cuda names, device functions, stand-ins, functions of plain values, methods."""

import ast
import inspect
import types

import numpy as np
from numba.core import types as nb
from numba.core.dispatcher import Dispatcher as NumbaDispatcher

from .. import numbers
from ..errors import NotOnAGpu
from ..intrinsics import stand_ins, warp_names
from ..source.known import as_called, known_parameters, parameters_of
from ..source.names import DeviceName
from ..source.operators import written_out
from ..source.syntax import make_call, make_name
from ..vectors import VectorType
from .device_names import CALLS, FULL
from .operations import BUILTINS, SYNC


class Calls:
    """The part of `Lowering` that lowers calls."""

    def on_Call(self, node):
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            self.source.refuse(node, "a kernel cannot call with * or **: write out the arguments")
        if self.source.is_local(node.func):
            return self.call_local(node)
        known, function = self.source.static(node.func)
        if not known:
            return self.call_method(node)
        if isinstance(function, DeviceName):
            return self.call_device_name(node, function)
        stand_in = self.stand_in(function)
        if stand_in is not None and not hasattr(stand_in, "py_func"):
            return self.call_stand_in(node, stand_in)
        function = function if stand_in is None else stand_in
        python_function = getattr(function, "py_func", None)
        if python_function is not None:
            return self.call_function(node, python_function)
        if (operation := written_out(node, function)) is not None:
            return self.expression(operation)
        name = self.value_function(node, function)
        args = [self.expression(a) for a in node.args]
        if node.keywords:
            self.source.refuse(node, f"{ast.unparse(node.func)}() takes no keywords in a kernel")
        return make_call(name, *args)

    def stand_in(self, function):
        try:
            return stand_ins.get(function)
        except TypeError:
            return None

    def value_function(self, node, function):
        """Name of the function that computes a call on plain values: built-ins, math, NumPy's scalar functions,
        casts."""
        try:
            if function in BUILTINS:
                return BUILTINS[function]
        except TypeError:
            pass
        if isinstance(function, nb.Type):
            return self.constant(cast_to(function))
        if isinstance(function, VectorType):
            return self.constant(function)
        if isinstance(function, type) and issubclass(function, np.generic):
            return self.constant(cast_to(numbers.numba_type(function)))
        if getattr(function, "__module__", None) == "math":
            return self.constant(_dispatch(function))
        if isinstance(function, np.ufunc):
            return self.constant(_ufunc(function))
        described = ast.unparse(node.func)
        if isinstance(function, (NumbaDispatcher, types.FunctionType)):
            if getattr(function, "__module__", "").split(".")[0] == "numpy":
                self.source.refuse(
                    node, f"{described}() makes or reads whole arrays, which a kernel cannot do: write the loop"
                )
            self.source.refuse(
                node, f"{described} is a plain Python function: decorate it with @cuda.jit(device=True) to call it here"
            )
        if getattr(function, "__module__", "").split(".")[0] == "numpy":
            self.source.refuse(
                node, f"{described}() makes or reads whole arrays, which a kernel cannot do: write the loop"
            )
        if type(function).__module__.startswith(("numba.", "numba_cuda.")):
            self.source.refuse(
                node,
                f"{described} is a compiler intrinsic that has no Python stand-in: give it one with "
                "simt.stand_in(intrinsic, python_function)",
            )
        return self.source.refuse(node, f"{described}() cannot be called in a kernel")

    def call_local(self, node):
        if node.keywords:
            self.source.refuse(node, "keywords are not possible here")
        args = [self.expression(a) for a in node.args]
        hidden = [make_call("_visit", self.visit, self.site(node, "call"), 0)] if self.traced else []
        return make_call(make_name(node.func.id), *hidden, *args)

    def call_function(self, node, python_function):
        """A device function: lowered too, with this thread (and visit) passed on."""
        if python_function in warp_names:
            return self.call_warp(node, warp_names[python_function])
        python_function = as_called(self.source, node, python_function)
        known = known_parameters(python_function)
        callee = self.program.function(python_function, [self.kinds.of(a) for a in node.args])
        recursive = self.program.is_recursive(callee)
        name = f"_device{len(self.lowered.callees)}"
        self.lowered.callees[name] = callee
        site = self.site(node, "call")
        hidden = [make_name("_t")] + ([make_call("_visit", self.visit, site, 0)] if self.traced else [])
        named = [
            *zip(parameters_of(python_function), node.args, strict=False),
            *((k.arg, k.value) for k in node.keywords),
        ]
        passed = [ast.Constant(None) if parameter in known else self.expression(a) for parameter, a in named]
        call = make_call(name, *hidden, *passed[: len(node.args)])
        call.keywords = [ast.keyword(k.arg, v) for k, v in zip(node.keywords, passed[len(node.args) :], strict=False)]
        try:
            signature = inspect.signature(python_function)
            signature.bind(*node.args, **{k.arg: k for k in node.keywords})
        except TypeError as error:
            self.source.refuse(node, f"{python_function.__name__}{signature}: {error}")
        if recursive:
            if callee.synchronises:
                self.source.refuse(node, "a device function that calls itself cannot synchronise")
            return call
        if callee.synchronises:
            self.lowered.synchronises = True
            return ast.YieldFrom(self.at(call, node))
        return call

    def call_warp(self, node, name):
        """A device function that a warp runs together, at once (intrinsics.warp_stand_in)."""
        self.lowered.synchronises = True
        head = [SYNC["warp"], self.site(node, "collective"), name, FULL]
        values = [*map(ast.Constant, head), *(self.expression(a) for a in node.args)]
        return ast.Yield(ast.Tuple(values, ast.Load()))

    def call_stand_in(self, node, function):
        context = make_call("_stand_in_context", self.site(node, "load"), self.site(node, "store"), *self.visited())
        return make_call(make_name(self.constant(function)), context, *(self.expression(a) for a in node.args))

    def call_method(self, node):
        """``value.method(...)`` on something the kernel computed."""
        if not isinstance(node.func, ast.Attribute):
            self.source.refuse(node, "a kernel cannot call this")
        method, value = node.func.attr, node.func.value
        if method == "sync" and not node.args:
            self.lowered.synchronises = self.program.grid_sync = True
            meeting = [self.at(ast.Constant(SYNC["grid"]), node), ast.Constant(self.site(node, "grid barrier"))]
            meeting += self.visited()
            return ast.Yield(ast.Tuple(meeting, ast.Load()))
        if method in ("sum", "prod", "min", "max", "mean") and not node.args and not node.keywords:
            return make_call("_reduce", self.expression(value), method, self.site(node, "load"), *self.visited())
        if method in ("reshape", "transpose", "view") and not node.keywords:
            args = [self.expression(a) for a in node.args]
            return make_call("_view", self.expression(value), method, self.site(node, "load"), *args)
        if method == "fill" and len(node.args) == 1 and not node.keywords:
            key, filled = ast.Tuple([ast.Constant(Ellipsis)], ast.Load()), self.expression(node.args[0])
            return make_call("_storen", self.expression(value), key, filled, self.site(node, "store"), *self.visited())
        if method == "bit_count" and not node.args:
            return make_call("_popc", self.expression(value))
        if method == "conjugate" and not node.args:
            return make_call("_conjugate", self.expression(value))
        return self.source.refuse(node, f"the method .{method}() cannot be used in a kernel")

    def call_device_name(self, node, function):
        if function.path not in CALLS:
            self.source.refuse(node, f"cuda.{function.path} cannot be called")
        return CALLS[function.path](self, node, function)


_casters, _dispatchers = {}, {}


def cast_to(target):
    if target not in _casters:
        try:
            _casters[target] = numbers.caster(target)
        except (TypeError, AttributeError):
            raise NotOnAGpu(f"{target} cannot be used to convert a value in a kernel") from None
    return _casters[target]


def _dispatch(function):
    return _dispatchers.setdefault(function, numbers.dispatch(function))


def _ufunc(function):
    """A NumPy ufunc on scalars: the result has the type that NumPy gives."""
    if function not in _dispatchers:
        typed = {int: np.int64, float: np.float64}

        def apply(*values):
            return numbers.normal(function(*(typed.get(type(v), lambda x: x)(v) for v in values)))

        _dispatchers[function] = apply
    return _dispatchers[function]
