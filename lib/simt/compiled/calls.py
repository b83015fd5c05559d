"""How calls in a kernel are lowered: cuda names, device functions, casts and functions of plain values."""

import ast
import math

import numpy as np
from numba.core import types as nb
from numba.np.numpy_support import from_dtype

from ..executor import operations
from ..intrinsics import stand_ins
from ..numbers import numpy_dtype
from ..source.names import DeviceName
from .arithmetic import MATH
from .atomics import ATOMICS
from .casts import caster, is_known
from .core import HIDDEN, Sync, assign, call, name
from .warp import SOURCES, VOTES

FULL = 0xFFFFFFFF
_VALUES = {
    "fma": ("_fma", ("a", "b", "c")), "popc": ("_popc", ("x",)), "clz": ("_clz", ("x",)), "ffs": ("_ffs", ("x",)),
    "brev": ("_brev", ("x",)), "cbrt": ("_cbrt", ("x",)), "selp": ("_selp", ("test", "if_true", "if_false")),
}  # fmt: skip
_SYNC = {
    "syncthreads": "block", "syncthreads_count": "count", "syncthreads_and": "and", "syncthreads_or": "or",
    "syncwarp": "syncwarp", **{n: n for n in (*SOURCES, *VOTES)},
}  # fmt: skip
_OPERANDS = {"shfl_sync": "src_lane", "shfl_xor_sync": "lane_mask", "shfl_up_sync": "delta", "shfl_down_sync": "delta"}
_BUILTINS = {len: "len", bool: "bool", float: "float", complex: "complex", abs: "abs", round: "round", pow: "pow",
             divmod: "divmod"}  # fmt: skip


class Calls:
    """The part of `Lowering` that lowers calls."""

    def on_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in self.names.locals:
            self.refuse(node, "a function defined inside the kernel")
        found, function = self.names.static(node.func)
        if not found:
            return self.call_method(node)
        if isinstance(function, DeviceName):
            return self.call_cuda(node, function.path)
        try:
            if function in stand_ins:
                return self.call_device(node, stand_ins[function], stands_in=True)
        except TypeError:
            pass
        python_function = getattr(function, "py_func", None)
        if python_function is not None:
            return self.call_device(node, python_function)
        if node.keywords:
            self.refuse(node, "keywords in this call")
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
            return call(self.unit.bind_pure(MATH[function]), *args)
        if getattr(function, "__module__", None) == "math" and getattr(math, function.__name__, None) is function:
            return call(self.unit.bind_pure(function), *args)
        if isinstance(function, np.ufunc):
            return call(self.unit.bind_pure(function), *args)
        return self.refuse(node, f"{ast.unparse(node.func)}()")

    def cast(self, node, kind):
        if not isinstance(kind, (nb.Number, nb.Boolean)) or not is_known(kind):
            self.refuse(node, f"a conversion to {kind}")
        return self.unit.bind_pure(caster(kind), f"_{kind}")

    def call_method(self, node):
        if isinstance(node.func, ast.Attribute):
            method = node.func.attr
            if method == "sync":
                self.refuse(node, "a grid barrier, cg.this_grid().sync()")
            if self.stand_in_context(node.func.value):
                return self.call_wide(node, method)
            if method == "conjugate":
                return ast.Call(ast.Attribute(self.expression(node.func.value), method, ast.Load()), [], [])
            self.refuse(node, f"the method .{method}()")
        return self.refuse(node, "this call")

    # -- stand-ins for intrinsics: 16 bytes at a time -----------------------------------------------------------------

    def stand_in_context(self, node):
        return isinstance(node, ast.Name) and node.id == getattr(self, "context", None)

    def call_wide(self, node, method):
        array, index, last = self.several(node.args)
        self.unit.wide = True
        if method == "load":
            self.effects.add("load")
            return call("_load_wide", *self.flagged(node), array, index, last)
        if method == "store":
            self.effects.add("store")
            return call("_store_wide", *self.flagged(node), array, index, last)
        return self.refuse(node, f"context.{method}()")

    # -- device functions ---------------------------------------------------------------------------------------------

    def synchronises(self, node):
        """Whether a call of the source is, or leads to, a barrier or warp operation."""
        found, function = self.names.static(node.func) if not self._is_local(node.func) else (False, None)
        if not found:
            return isinstance(node.func, ast.Attribute) and node.func.attr == "sync"
        if isinstance(function, DeviceName):
            return function.path in _SYNC
        python_function = getattr(function, "py_func", None)
        return python_function is not None and self.unit.must_inline(python_function)

    def _is_local(self, node):
        return isinstance(node, ast.Name) and node.id in self.names.locals

    def call_device(self, node, function, stands_in=False):
        kinds = [self.names.kinds.of(a) for a in node.args]
        nodes = self.unit.bound_arguments(self, node, function, stands_in)
        given = [n for n in nodes if not hasattr(n, "bound")]
        in_order = sorted(given, key=lambda n: (n.lineno, n.col_offset))  # keywords may come in another one
        args = self.several(in_order)
        if in_order != given:
            args = [self.once(a, node) for a in args]
        lowered = {id(n): a for n, a in zip(in_order, args, strict=True)}
        args = [name(n.bound) if hasattr(n, "bound") else lowered[id(n)] for n in nodes]
        if not stands_in and self.unit.must_inline(function):
            return self.inline(node, function, kinds, args)
        device = self.unit.device(self, node, function, kinds, stands_in)
        self.effects |= device.effects
        return call(device.name, *map(name, HIDDEN), *args)

    def inline(self, node, function, kinds, args):
        """A device function with a barrier or shared memory inside becomes part of the kernel, under names of its
        own."""
        inner = self.unit.inlined(self, node, function, kinds)
        parameters = [a.arg for a in inner.names.node.args.posonlyargs + inner.names.node.args.args]
        for parameter, value in zip(parameters, args, strict=True):
            self.pending.append(assign(inner.local(parameter), value, node))
        result = self.unit.temporary()

        def land(jump):
            return [assign(result, ast.Constant(None) if jump.value is None else jump.value, jump)]

        body = inner.body(land)
        self.effects |= inner.effects
        self.pending += body
        returns = any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(inner.names.node))
        return name(result) if returns else ast.Constant(None)

    # -- cuda's names -------------------------------------------------------------------------------------------------

    def call_cuda(self, node, path):
        if path in _VALUES:
            function, parameters = _VALUES[path]
            return call(function, *self.several(self.names.bind(node, parameters)))
        if path in _SYNC:
            return self.sync(node, path)
        if path in ("grid", "gridsize"):
            return self.place(node, path)
        if path.startswith("atomic."):
            return self.atomic(node, path.partition(".")[2])
        if path in ("shared.array", "local.array"):
            return name(self.declare(node, path.partition(".")[0], None))
        if path == "const.array_like":
            return name(self.unit.constant_array(self.names.static(node.args[0])[1]))
        if path.startswith("threadfence"):
            self.effects.add("store")
            self.pending.append(ast.copy_location(ast.Expr(call("_fence")), node))
            return ast.Constant(None)
        if path == "nanosleep":
            return ast.Constant(None)
        if path == "lanemask_lt":
            self.effects.add("thread")
            return call("_lanemask_lt", name("_t"))
        if path == "cg.this_grid":
            self.refuse(node, "a grid barrier, cg.this_grid().sync()")
        return self.refuse(node, f"cuda.{path}()")

    def place(self, node, path):
        """``grid(n)`` and ``gridsize(n)``, from the numbers of the thread and the block."""
        (dimensions,) = self.names.bind(node, ("ndim",))
        count = self.names.static(dimensions)[1]
        if path == "grid":
            self.effects.add("thread")
        made = []
        for axis in range(count):
            extent = ast.Constant(self.unit.block[axis])
            if path == "grid":
                first = ast.BinOp(name(("_bx", "_by", "_bz")[axis]), ast.Mult(), extent)
                made.append(ast.BinOp(first, ast.Add(), name(("_tx", "_ty", "_tz")[axis])))
            else:
                made.append(ast.BinOp(name(("_gx", "_gy", "_gz")[axis]), ast.Mult(), extent))
        return made[0] if count == 1 else ast.Tuple(made, ast.Load())

    def sync(self, node, path):
        kind = _SYNC[path]
        operation = operations.INTRINSICS[path]
        if isinstance(operation, operations.Barrier):
            parameters = ("predicate",) if operation.variant else ()
        else:
            parameters = operation.names
        nodes = self.names.bind(node, parameters, getattr(operation, "defaults", ()))
        lowered = iter(self.several([n for n in nodes if n is not None]))
        given = {p: next(lowered) for p, n in zip(parameters, nodes, strict=True) if n is not None}
        operands = {}
        if "mask" in parameters:
            mask = given.get("mask", ast.Constant(FULL))
            full = isinstance(mask, ast.Constant) and int(mask.value) & FULL == FULL
            to_mask = ast.BinOp(call("_int64", mask), ast.BitAnd(), ast.Constant(FULL))
            operands["mask"] = ast.Constant(FULL) if full else self.fresh(to_mask, node)
        if kind in _OPERANDS:
            operands["operand"] = self.fresh(call("_int64", given[_OPERANDS[kind]]), node)
        if "predicate" in parameters:
            operands["value"] = self.fresh(call("bool", given["predicate"]), node)
        elif "value" in parameters:
            operands["value"] = self.fresh(given["value"], node)
        target = None if kind in ("block", "syncwarp") else self.unit.temporary()
        self.unit.collective(kind)
        self.pending.append(Sync(kind, target, operands, node))
        if kind == "match_all_sync":
            return ast.Tuple([name(target), ast.Compare(name(target), [ast.NotEq()], [ast.Constant(0)])], ast.Load())
        return ast.Constant(None) if target is None else name(target)

    def fresh(self, value, node):
        if isinstance(value, ast.Constant):
            value = ast.copy_location(value, node)
        target = self.unit.temporary()
        self.pending.append(assign(target, value, node))
        return name(target)

    def atomic(self, node, operation):
        parameters = operations.INTRINSICS[f"atomic.{operation}"].names
        nodes = self.names.bind(node, parameters)
        lowered = self.several(nodes)
        array, operands = lowered[0], lowered[2:]
        index = lowered[1]
        if operation == "compare_and_swap":
            operation, index, operands = "cas", ast.Constant(0), lowered[1:]
        self.effects |= {"load", "store"}
        if isinstance(array, ast.Name) and array.id in self.unit.private:
            self.refuse(node, "an atomic operation on a local array")
        # A device function that is compiled by itself may have a parameter of a shared array's name.
        own = isinstance(array, ast.Name) and (self.is_kernel or self.prefix) and self.unit.is_shared(array.id)
        function = self.unit.bind(ATOMICS[operation, bool(own)], f"_atomic_{operation}_{'own' if own else 'all'}")
        return call(function, *self.flagged(node), array, index, ast.Tuple(operands, ast.Load()))

    # -- arrays of the block and of the thread ------------------------------------------------------------------------

    def is_declared(self, target, value):
        """Whether ``target = value`` makes a shared or local array that keeps this one name."""
        if not (isinstance(target, ast.Name) and isinstance(value, ast.Call)) or self._is_local(value.func):
            return None
        found, function = self.names.static(value.func)
        if not (found and isinstance(function, DeviceName)) or function.path not in ("shared.array", "local.array"):
            return None
        stores = [
            n
            for n in ast.walk(self.names.node)
            if isinstance(n, ast.Name) and n.id == target.id and isinstance(n.ctx, ast.Store)
        ]
        return function.path.partition(".")[0] if len(stores) == 1 else None

    def declaration(self, target, value):
        space = self.is_declared(target, value)
        return self.declare(value, space, self.local(target.id)) if space else None

    def declare(self, node, space, wanted):
        """Make room for an array; returns its name."""
        shape, dtype, _ = self.names.bind(node, ("shape", "dtype", "alignment"), ("alignment",))
        size = operations.constant_shape(self.names, shape)
        found, value = self.names.static(dtype)
        if found:
            kind = from_dtype(numpy_dtype(value))
        else:
            kind = self.unit.dtype_of_argument(dtype) if self.is_kernel else None
        if not isinstance(kind, (nb.Number, nb.Boolean)) or not is_known(kind) or size is None:
            self.refuse(node, "an array of this type")
        return self.unit.declare(space, size, kind, wanted, node)
