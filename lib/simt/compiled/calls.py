"""How calls in a kernel are lowered: cuda names, device functions, casts and functions of plain values."""

import ast
import math

import numpy as np
from numba.core import types as nb
from numba.np.numpy_support import from_dtype

from ..intrinsics import stand_ins
from ..numbers import numpy_dtype
from ..source.known import as_called, known_parameters
from ..source.names import DeviceName
from ..source.operators import written_out
from ..source.refused import UNSUPPORTED
from .arithmetic import MATH
from .casts import caster, is_known
from .core import Sync, assign, call, name
from .device_names import CALLS, sync

_BUILTINS = {len: "len", bool: "bool", float: "float", complex: "complex", abs: "abs", round: "round", pow: "pow",
             divmod: "divmod"}  # fmt: skip


class Calls:
    """The part of `Lowering` that lowers calls."""

    def on_Call(self, node):
        if self.source.is_local(node.func):
            self.refuse(node, UNSUPPORTED[ast.FunctionDef])
        known, function = self.source.static(node.func)
        if not known:
            return self.call_method(node)
        if isinstance(function, DeviceName):
            return self.call_cuda(node, function)
        stand_in = self.stand_in(function)
        if stand_in is not function and not hasattr(stand_in, "py_func"):
            return self.call_device(node, stand_in, stands_in=True)
        python_function = getattr(stand_in, "py_func", None)
        if python_function is not None:
            return self.call_device(node, as_called(self.source, node, python_function))
        if node.keywords:
            self.refuse(node, "keywords in this call")
        if (operation := written_out(node, function)) is not None:
            return self.expression(operation)
        return self.call_value(node, function)

    def call_value(self, node, function):
        """A function of plain values."""
        if function is print:
            self.refuse(node, "print()")
        args = self.several(node.args)
        if function in (min, max):
            if len(args) == 1 and isinstance(args[0], ast.Tuple):
                args = args[0].elts
            if len(args) < 2:
                self.refuse(node, f"{function.__name__}() of one argument")
            result = args[0]
            for following in args[1:]:
                result = call("_min" if function is min else "_max", result, following)
            return result
        if function is int:
            return call("_int", *args) if args else ast.Constant(0)
        if (isinstance(function, type) and function in _BUILTINS) or function in (len, abs, round, pow, divmod):
            return call(_BUILTINS[function], *args)
        if isinstance(function, nb.Type):
            return call(self.cast(node, function), *args)
        if isinstance(function, type) and issubclass(function, np.generic):
            return call(self.cast(node, from_dtype(np.dtype(function))), *args)
        if function in MATH:
            return call(self.unit.namespace.bind_pure(MATH[function]), *args)
        if getattr(function, "__module__", None) == "math" and getattr(math, function.__name__, None) is function:
            return call(self.unit.namespace.bind_pure(function), *args)
        if isinstance(function, np.ufunc):
            return call(self.unit.namespace.bind_pure(function), *args)
        return self.refuse(node, f"{ast.unparse(node.func)}()")

    def cast(self, node, kind):
        if not isinstance(kind, (nb.Number, nb.Boolean)) or not is_known(kind):
            self.refuse(node, f"a conversion to {kind}")
        return self.unit.namespace.bind_pure(caster(kind), f"_{kind}")

    def call_method(self, node):
        if isinstance(node.func, ast.Attribute):
            method = node.func.attr
            if method == "sync" and not node.args:
                self.pending.append(Sync("grid", None, {}, node))
                return ast.Constant(None)
            if self.stand_in_context(node.func.value):
                return self.call_wide(node, method)
            if method == "bit_count" and not node.args:
                return call("_popc", self.expression(node.func.value))
            if method == "conjugate":
                return ast.Call(ast.Attribute(self.expression(node.func.value), method, ast.Load()), [], [])
            self.refuse(node, f"the method .{method}()")
        return self.refuse(node, "this call")

    # -- stand-ins for intrinsics: 16 bytes at a time -----------------------------------------------------------------

    def stand_in(self, function):
        """What runs in place of an intrinsic; anything else is itself."""
        try:
            return stand_ins.get(function, function)
        except TypeError:
            return function

    def stand_in_context(self, node):
        return isinstance(node, ast.Name) and node.id == self.context

    def call_wide(self, node, method):
        if method == "arrive":
            return ast.Constant(None)
        array, index, last = self.several(node.args)
        self.unit.wide = True
        if method == "load":
            self.effects.add("load")
            return call("_load_wide", *self.flagged(node), array, index, last)
        if method in ("store", "send"):  # here a copy arrives at once
            self.effects.add("store")
            return call("_store_wide", *self.flagged(node, "store"), array, index, last)
        return self.refuse(node, f"context.{method}()")

    # -- device functions ---------------------------------------------------------------------------------------------

    def synchronises(self, node):
        """Whether a call of the source is, or leads to, a barrier or warp operation."""
        known, function = self.source.static(node.func) if not self.source.is_local(node.func) else (False, None)
        if not known:
            return isinstance(node.func, ast.Attribute) and node.func.attr == "sync"
        if isinstance(function, DeviceName):
            return CALLS.get(function.path) is sync
        python_function = getattr(self.stand_in(function), "py_func", None)
        if python_function is None:
            return False
        return self.unit.devices.must_inline(as_called(self.source, node, python_function))

    def call_device(self, node, function, stands_in=False):
        nodes = self.unit.devices.arguments(node, function, stands_in)
        passed = [n for n in nodes if not hasattr(n, "bound")]
        in_order = sorted(passed, key=lambda n: (n.lineno, n.col_offset))  # keywords may come in another one
        args = self.several(in_order)
        if in_order != passed:
            args = [self.once(a, node) for a in args]
        lowered = {id(n): a for n, a in zip(in_order, args, strict=True)}
        args = [name(n.bound) if hasattr(n, "bound") else lowered[id(n)] for n in nodes]
        if not stands_in and self.unit.devices.must_inline(function):
            return self.inline(node, function, args)
        device = self.unit.devices.device(self, node, function, stands_in)
        self.effects |= device.effects
        return call(device.name, *self.hidden(stands_in), *args)

    def inline(self, node, function, args):
        """A device function with a barrier or shared memory inside becomes part of the kernel, under names of its
        own."""
        inner = self.unit.devices.inlined(self, node, function)
        for parameter, value in zip(inner.source.parameters, args, strict=True):
            if parameter not in known_parameters(function):
                self.pending.append(assign(inner.local(parameter), value, node))
        if self.unit.counted is not None:
            inner.visit = self.visit
            self.pending.append(inner.deeper(ast.Constant(0), node))
        result = self.unit.namespace.temporary()

        def land(jump):
            return [assign(result, ast.Constant(None) if jump.value is None else jump.value, jump)]

        body = inner.body(land)
        self.effects |= inner.effects
        self.pending += body
        returns = any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(inner.source.node))
        return name(result) if returns else ast.Constant(None)

    # -- cuda's names -------------------------------------------------------------------------------------------------

    def call_cuda(self, node, called):
        if called.path not in CALLS:
            self.refuse(node, UNSUPPORTED[called.path])
        return CALLS[called.path](self, node, called)

    def fresh(self, value, node):
        if isinstance(value, ast.Constant):
            value = ast.copy_location(value, node)
        target = self.unit.namespace.temporary()
        self.pending.append(assign(target, value, node))
        return name(target)

    # -- arrays of the block and of the thread ------------------------------------------------------------------------

    def is_declared(self, target, value):
        """The name, ``shared.array`` or ``local.array``, where ``target = value`` makes an array that keeps this one
        name; else None."""
        if not (isinstance(target, ast.Name) and isinstance(value, ast.Call)) or self.source.is_local(value.func):
            return None
        known, function = self.source.static(value.func)
        if not (known and isinstance(function, DeviceName) and function.kind == "array"):
            return None
        stores = [
            n
            for n in ast.walk(self.source.node)
            if isinstance(n, ast.Name) and n.id == target.id and isinstance(n.ctx, ast.Store)
        ]
        return function if len(stores) == 1 else None

    def declaration(self, target, value):
        called = self.is_declared(target, value)
        return self.declare(value, called, self.local(target.id)) if called else None

    def declare(self, node, called, wanted):
        """Make room for an array; returns its name."""
        shape, dtype, _ = self.source.bind(node, called)
        size = self.source.constant_shape(shape)
        known, value = self.source.static(dtype)
        if known:
            kind = from_dtype(numpy_dtype(value))
        else:
            kind = self.unit.dtype_of_argument(dtype) if self.is_kernel else None
        if not isinstance(kind, (nb.Number, nb.Boolean)) or not is_known(kind) or size is None:
            self.refuse(node, "an array of this type")
        space = called.path.partition(".")[0]
        identifier = self.unit.memory.declare(space, size, kind, wanted, node)
        if self.unit.counted is not None:
            shown, site = self.source.assigned_name(node) or space, self.source.site(node, "allocation")
            alone = space == "shared" or not (self.is_kernel or self.prefix)
            threads = 1 if alone else self.unit.threads
            number = self.unit.counted.array(site, space, shown, kind, size, site, threads)
            self.unit.memory.numbers[identifier] = number
        return identifier
