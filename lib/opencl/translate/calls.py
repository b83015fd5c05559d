"""Calls in a kernel: the names of cuda, mathematics, conversions, device functions, stand-ins."""

import ast
from dataclasses import replace

import numpy as np
from numba.core import types
from numba.np.numpy_support import from_dtype

from simt.intrinsics import stand_ins
from simt.source.known import as_called, known_parameters, parameters_of
from simt.source.names import DeviceName
from simt.source.operators import written_out
from simt.source.tree import tree_of

from .values import LARGEST, NAMES, UNARY, ArrayValue, Several, Value, converted, exactly, literal, number

_PLACES = {
    "threadIdx": ("get_local_id", 1023, False),
    "blockIdx": ("get_group_id", LARGEST, True),
    "blockDim": ("get_local_size", 1024, True),
    "gridDim": ("get_num_groups", LARGEST, True),
}
_MATH = {
    "fabs": "fabs", "gamma": "tgamma", "arccos": "acos", "arcsin": "asin", "arctan": "atan", "arctan2": "atan2",
    "arccosh": "acosh", "arcsinh": "asinh", "arctanh": "atanh", "rint": "rint",
}  # fmt: skip
_SAME = """
acos acosh asin asinh atan atanh cos cosh degrees erf erfc exp exp2 expm1 lgamma log log10 log1p log2 radians sin
sinh sqrt tan tanh ceil floor trunc atan2 hypot copysign fmod nextafter remainder isnan isinf isfinite pow ldexp
cbrt fma
"""
_MATH |= {name: name for name in _SAME.split()}  # those that C calls alike


class Calls:
    """The part of a function's translation that knows calls."""

    def on_Attribute(self, node):
        if isinstance(node.value, ast.Name | ast.Attribute):
            known, base = self.source.static(node.value)
            if known and isinstance(base, DeviceName) and base.kind == "place":
                return self._place(base.path, "xyz".index(node.attr))
            known, value = self.source.static(node)
            if known:
                return self.frozen(node, value)
        of = self.expression(node.value)
        if isinstance(of, types.Type | np.dtype):
            return of
        if not isinstance(of, ArrayValue):
            self.refuse(node, f"the attribute .{node.attr}")
        if node.attr == "shape":
            return Several(of.shape)
        if node.attr == "ndim":
            return literal(len(of.shape))
        if node.attr == "dtype":
            return of.dtype
        if node.attr == "size":
            total = literal(1)
            for extent in of.shape:
                total = self.product(total, extent)
            return total
        if node.attr == "strides":
            size = literal(max(of.dtype.bitwidth // 8, 1))
            return Several(tuple(self.product(s, size) for s in self.strides_of(of)))
        if node.attr == "T" and len(of.shape) > 1:
            strides = tuple(reversed(self.strides_of(of)))
            return replace(self.flat(of), shape=tuple(reversed(of.shape)), strides=strides)
        return self.refuse(node, f"the attribute .{node.attr} of an array")

    def _place(self, path, axis):
        function, high, uniform = _PLACES[path]
        if path == "blockDim" and self.program.block:
            high = self.program.block[axis]
        elif path == "threadIdx" and self.program.block:
            high = self.program.block[axis] - 1
            if high == 0:
                return literal(0, types.int32)
        low = 0 if path in ("threadIdx", "blockIdx") else 1
        return number(f"(int){function}({axis})", types.int32, low, high, uniform=uniform, binds=UNARY)

    def on_Call(self, node):
        if self.source.is_local(node.func):
            self.refuse(node, "a call of a variable")
        if isinstance(node.func, ast.Attribute) and isinstance(self._peeked(node.func.value), ArrayValue):
            return self._method(node)
        known, function = self.source.static(node.func)
        if not known:
            return self._method(node)
        if isinstance(function, DeviceName):
            return self._cuda(node, function)
        stand_in = stand_ins.get(function) if _hashable(function) else None
        function = function if stand_in is None else stand_in
        if stand_in is not None and not hasattr(stand_in, "py_func"):
            return self._stand_in(node, stand_in)
        python_function = getattr(function, "py_func", None)
        if python_function is not None:
            return self.device_function(node, python_function)
        if (operation := written_out(node, function)) is not None:
            return self.expression(operation)
        if node.keywords:
            self.refuse(node, "keywords in a call of a built-in function")
        return self._built_in(node, function)

    def _peeked(self, node):
        """The array that a name holds, without reading it."""
        return self.env.get(node.id) if self.env and self.source.is_local(node) else None

    def _method(self, node):
        if not isinstance(node.func, ast.Attribute):
            self.refuse(node, "such a call")
        if node.func.attr == "sync":
            self.refuse(
                node,
                "a barrier of the whole grid: OpenCL promises none, work-groups may run one after the other. Cut "
                "the kernel there into two launches",
            )
        of = self.expression(node.func.value)
        if isinstance(of, Value) and node.func.attr == "bit_count":
            return number(f"popcount({exactly(of, of.type).text})", of.type, 0, 64, uniform=of.uniform)
        if isinstance(of, ArrayValue) and node.func.attr == "reshape" and of.strides is None:
            sizes = [self.expression(a) for a in node.args]
            shape = [v for g in sizes for v in (g.items if isinstance(g, Several) else (g,))]
            if all(v.low >= 0 for v in shape):
                return replace(self.flat(of), shape=tuple(shape))
        return self.refuse(node, f"the method .{node.func.attr}()")

    # -- built-in functions, mathematics, conversions -----------------------------------------------------------------

    def _built_in(self, node, function):
        if function in (min, max) or function in (np.minimum, np.maximum, np.fmin, np.fmax):
            return self._extreme(node, function)
        if function is range:
            self.refuse(node, "a range other than in a loop")
        values = [self.expression(a) for a in node.args]
        kind = _converts_to(function)
        if function is len:
            of = values[0]
            return of.shape[0] if isinstance(of, ArrayValue) else literal(len(of.items))
        if not all(isinstance(v, Value) for v in values):
            self.refuse(node, f"{ast.unparse(node.func)}() of what is no number")
        if function is bool:
            return converted(values[0], types.boolean)
        if kind is not None and len(values) == 1:
            return self._cast(values[0], kind)
        if function in (int, float):
            _, kind = self.typed(node, function, values[0].type)
            return self._cast(values[0], kind)
        name = getattr(function, "__name__", "")
        (*kinds,), result = self.typed(node, function, *(v.type for v in values))
        uniform = all(v.uniform for v in values)
        if function is abs:
            return self._absolute(values[0], result)
        if function is round:
            if len(values) == 1:
                return number(f"convert_long_sat_rte({values[0].text})", types.int64, uniform=uniform)
            self.refuse(node, "round() to digits")
        if function is divmod and isinstance(result, types.BaseTuple):
            values = [self.once(v) for v in values]
            return Several(tuple(self._divided(s, *values, result[0]) for s in ("//", "%")))
        if name in ("frexp", "modf"):
            return self._two_results(name, values[0], result)
        if name not in _MATH:
            self.refuse(node, f"{ast.unparse(node.func)}()")
        if name in ("isnan", "isinf", "isfinite") and isinstance(kinds[0], types.Integer):
            return literal(name == "isfinite")
        kinds = [k if isinstance(k, types.Float) else types.float64 for k in kinds]
        if name in ("ldexp", "pow") and len(values) == 2 and values[1].is_whole:
            kinds[1] = types.int32
            name = "pown" if name == "pow" else name
        arguments = ", ".join(converted(v, k).text for v, k in zip(values, kinds, strict=True))
        made = None
        if isinstance(result, types.Integer):
            made = kinds[0]
            return self._cast(Value(f"{_MATH[name]}({arguments})", made, uniform=uniform), result)
        if isinstance(result, types.Boolean):
            return number(f"{_MATH[name]}({arguments})", result, 0, 1, uniform=uniform, made=types.int32)
        return number(f"{_MATH.get(name, name)}({arguments})", result, uniform=uniform)

    @staticmethod
    def _cast(value, kind):
        if value.type == kind and value.made is None:
            return value
        if value.constant is not None and (value.is_whole or isinstance(kind, types.Float)):
            known = value.constant
            if isinstance(kind, types.Float):
                return literal(known, kind)
            low, high = (0, 1) if isinstance(kind, types.Boolean) else (kind.minval, kind.maxval)
            if low <= known <= high:
                return literal(known, kind)
        if (
            value.is_whole
            and isinstance(kind, types.Integer)
            and value.in_c.bitwidth == kind.bitwidth
            and (value.in_c == kind)
        ):
            return replace(value, type=kind, made=None, constant=None)
        return converted(replace(value, constant=None), kind)

    def _absolute(self, value, kind):
        if isinstance(kind, types.Float):
            return number(f"fabs({converted(value, kind).text})", kind, uniform=value.uniform)
        if not kind.signed:
            return value
        value = converted(value, kind)
        high = max(abs(value.low), abs(value.high))
        return number(f"({NAMES[kind]})abs({value.text})", kind, 0, high, uniform=value.uniform, binds=UNARY)

    def _extreme(self, node, function):
        name = "min" if "min" in function.__name__ else "max"
        values = [self.expression(a) for a in node.args]
        if len(values) == 1 and isinstance(values[0], Several):
            values = list(values[0].items)
        if len(values) < 2 or not all(isinstance(v, Value) for v in values):
            self.refuse(node, f"{name}() of what are no numbers")
        found, choose = values[0], min if name == "min" else max
        for value in values[1:]:
            _, kind = self.typed(node, function, found.type, value.type)
            low, high = choose(found.low, value.low), choose(found.high, value.high)
            uniform = found.uniform and value.uniform
            if isinstance(kind, types.Float):
                a, b = converted(found, kind), converted(value, kind)
                found = number(f"f{name}({a.text}, {b.text})", kind, uniform=uniform)
                continue
            same = found.in_c == value.in_c and not isinstance(found.in_c, types.Boolean)
            a, b = (found, value) if same else (exactly(v, kind) for v in (found, value))
            made = a.in_c if same and a.in_c != kind else None
            found = number(f"{name}({a.text}, {b.text})", kind, low, high, uniform=uniform, made=made)
        return found

    def _two_results(self, name, value, result):
        kind, second = result
        x, part, rest = converted(value, kind), self.fresh("part"), self.fresh("rest")
        self.top[rest] = f"{NAMES[second]} {rest};"
        self.define(NAMES[kind], part, f"{name}({x.text}, &{rest})")
        return Several((number(part, kind, uniform=value.uniform), number(rest, second, uniform=value.uniform)))

    # -- functions ----------------------------------------------------------------------------------------------------

    def device_function(self, node, python_function):
        """A call of a device function: translated for the types of this call."""
        python_function = as_called(self.source, node, python_function)
        known = known_parameters(python_function)
        passed = [
            *zip(parameters_of(python_function), node.args, strict=False),
            *((k.arg, k.value) for k in node.keywords),
        ]
        values = {name: self.expression(value) for name, value in passed if name not in known}
        for name, default in _defaults(python_function).items():
            if name not in values and name not in known:
                values[name] = self.frozen(node, default)
        order = [name for name in parameters_of(python_function) if name in values]
        return self.call_translated(node, python_function, {name: values[name] for name in order})

    def _stand_in(self, node, function):
        """A function of Python that stands for an instruction of the GPU: its loads and stores, written out here."""
        from .standins import StandIn

        names = parameters_of(function)
        context = names[0]
        if not any(isinstance(n, ast.Name) and n.id == context for n in ast.walk(tree_of(function))):
            values = {name: self.expression(value) for name, value in zip(names[1:], node.args, strict=True)}
            return self.call_translated(node, function, values)

        return StandIn(self, node, function).call([self.expression(a) for a in node.args])


def _defaults(function):
    import inspect

    return {p.name: p.default for p in inspect.signature(function).parameters.values() if p.default is not p.empty}


def _converts_to(function):
    if isinstance(function, types.Type):
        return function if function in NAMES else None
    if isinstance(function, type) and issubclass(function, np.generic):
        try:
            kind = from_dtype(np.dtype(function))
        except (NotImplementedError, TypeError):
            return None
        return kind if kind in NAMES else None
    return None


def _hashable(value):
    try:
        hash(value)
    except TypeError:
        return False
    return True
