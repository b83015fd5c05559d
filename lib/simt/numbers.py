"""numba's number semantics for one scalar at a time.

A compiled kernel widens integers to 64 bits, keeps float32 arithmetic in float32, promotes float32 with int64 to
float64, wraps on overflow and never raises on division by zero. Python and NumPy each do something else. So every
operation asks numba's own typing rules, once per combination of types, what it casts its operands to and what it
returns, and then computes that here.

A kernel's values are: Python ``int`` (int64), ``float`` (float64), ``bool`` and ``complex`` (complex128), and NumPy
scalars for every other type. Where hardware and C leave the result open, we do as NVIDIA GPUs do: integer division by
zero gives 0, a shift by 64 or more gives 0 (or the sign), a float outside an integer's range saturates, nan becomes 0.
"""

import math
import operator
from functools import cache

import numpy as np
from numba import types
from numba.np.numpy_support import as_dtype, from_dtype

_PYTHON = {int: types.int64, float: types.float64, bool: types.boolean, complex: types.complex128}


def numpy_dtype(dtype):
    """The NumPy dtype of what a kernel gives as dtype: a numba type, a NumPy type or its name, or an array's dtype."""
    if isinstance(dtype, np.dtype):
        return dtype
    if isinstance(dtype, str) or (isinstance(dtype, type) and issubclass(dtype, np.generic)):
        return np.dtype(dtype)
    return as_dtype(dtype)


def _context():
    from .typed.context import context_of_kernels

    return context_of_kernels()


@cache
def numba_type(kind):
    """numba's type of the values of a Python class, e.g. ``int`` or ``np.float32``."""
    if kind in _PYTHON:
        return _PYTHON[kind]
    if isinstance(kind, type) and issubclass(kind, np.generic):
        return from_dtype(np.dtype(kind))
    if kind.__name__ == "Array":
        raise TypeError("a whole array cannot be used in arithmetic in a kernel: work on its elements")
    raise TypeError(f"a {kind.__name__} cannot be used in arithmetic in a kernel")


@cache
def resolve(function, argument_types):
    """(types the arguments are cast to, type of the result), by numba's rules. TypeError where numba has no rule."""
    from numba.core.errors import NumbaError

    try:
        signature = _context().resolve_function_type(function, argument_types, {})
    except (NumbaError, NotImplementedError):
        signature = None
    if signature is None:
        name = getattr(function, "__name__", str(function))
        raise TypeError(f"{name}({', '.join(map(str, argument_types))}) is not defined in a kernel")
    arguments = signature.args
    if len(arguments) == 1 and isinstance(arguments[0], types.BaseTuple):  # min and max
        arguments = (signature.return_type,) * len(argument_types)
    return arguments, signature.return_type


@cache
def unify(a, b):
    """One type that holds values of both, as numba chooses it where two branches meet. None if there is none."""
    return _context().unify_types(a, b)


def wrap_int64(x):
    """A Python int of any size, wrapped to 64 bits as two's complement."""
    return ((x + 0x8000000000000000) & 0xFFFFFFFFFFFFFFFF) - 0x8000000000000000


def _saturate(x, low, high):
    if x != x:
        return 0
    return high if x >= high else low if x <= low else int(x)


@cache
def caster(target):
    """A function that converts any scalar to a numba type, as a C cast (and a store to an array) does."""
    if target == types.boolean:
        return bool
    if target == types.float64:
        return float
    if target == types.complex128:
        return complex
    if isinstance(target, types.Integer):
        low, high = target.minval, target.maxval
        kind = int if target == types.int64 else getattr(np, str(target))
        modulus, bias = 1 << target.bitwidth, -low

        def to_integer(x):
            if isinstance(x, (float, np.floating)):
                x = _saturate(x, low, high)
            else:
                x = int(x)
                if not low <= x <= high:
                    x = (x + bias) % modulus - bias
            return kind(x)

        return to_integer
    if target == types.float32:
        return _to_float32
    if isinstance(target, (types.Float, types.Complex)):
        return getattr(np, str(target))
    raise TypeError(f"cannot convert a value to {target}")


def _to_float32(x):
    if isinstance(x, (int, np.integer)) and not -_EXACT <= x <= _EXACT:
        return np.array(x).astype(np.float32)[()]  # np.float32(x) would round twice, to double first
    return np.float32(x)


_EXACT = 1 << 53  # up to here a double holds every integer


# -- what each operation computes, once its operands have been cast ------------------------------------------------


def _shift_left(a, b):
    return a << b if 0 <= b < 64 else 0


def _shift_right(a, b):
    return a >> min(b, 64) if b >= 0 else (-1 if a < 0 else 0)


def _integer_power(a, b):
    if b < 0:  # exponentiation by squaring of the reciprocal, in integers
        return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)
    return pow(a, b, 1 << 64)


INTEGER = {
    operator.floordiv: lambda a, b: a // b if b else 0,
    operator.mod: lambda a, b: a % b if b else 0,
    operator.truediv: lambda a, b: np.float64(a) / np.float64(b),
    operator.lshift: _shift_left,
    operator.rshift: _shift_right,
    operator.pow: _integer_power,
}
FLOAT = {
    operator.truediv: np.true_divide,
    operator.floordiv: np.floor_divide,
    operator.mod: np.mod,
    operator.pow: np.power,
    math.pow: np.power,
}
MATH = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atan2": np.arctan2, "atanh": np.arctanh, "ceil": np.ceil, "copysign": np.copysign, "cos": np.cos,
    "cosh": np.cosh, "degrees": np.degrees, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "fabs": np.fabs,
    "floor": np.floor, "fmod": np.fmod, "hypot": np.hypot, "isfinite": np.isfinite, "isinf": np.isinf,
    "isnan": np.isnan, "ldexp": np.ldexp, "log": np.log, "log10": np.log10, "log1p": np.log1p, "log2": np.log2,
    "pow": np.power, "radians": np.radians, "sin": np.sin, "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan,
    "tanh": np.tanh, "trunc": np.trunc,
}  # fmt: skip


def _compute(function, cast_types):
    """The Python function that evaluates ``function`` on operands of these types."""
    if all(isinstance(t, (types.Integer, types.Boolean)) for t in cast_types) and function in INTEGER:
        body = INTEGER[function]
        return lambda *xs: body(*map(int, xs))
    if function in FLOAT:
        body = FLOAT[function]
        return lambda *xs: body(*(np.float64(x) if type(x) is float else x for x in xs))
    if getattr(math, getattr(function, "__name__", ""), None) is function and function.__name__ in MATH:
        body = MATH[function.__name__]
        return lambda *xs: body(*(np.float64(x) if type(x) is float else x for x in xs))
    if getattr(function, "__module__", "") == "math":
        return lambda *xs: _in_double(function, xs)
    if function in (min, max):
        # As fminf and fmaxf: a nan loses against a number.
        return lambda *xs: function([x for x in xs if x == x] or xs)
    if all(isinstance(t, types.Integer) for t in cast_types) and function not in COMPARISONS:
        return lambda *xs: function(*map(int, xs))
    return function


def _in_double(function, xs):
    """A function that only Python's math module has: computed in double, without Python's exceptions."""
    try:
        return function(*(x if type(x) is int else float(x) for x in xs))
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


COMPARISONS = frozenset((operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne))
_DIRECT = frozenset((operator.add, operator.sub, operator.mul))


@cache
def rule(function, *kinds):
    """The function that computes ``function`` for operands of these Python classes."""
    if function is operator.add and all(issubclass(kind, tuple) for kind in kinds):
        return operator.add
    operand_types = tuple(numba_type(kind) for kind in kinds)
    cast_types, result = resolve(function, operand_types)
    if (
        cast_types == operand_types
        and result == operand_types[0]
        and isinstance(result, types.Float)
        and function in _DIRECT
    ):
        return function
    if function in (operator.floordiv, operator.mod, operator.pow) and isinstance(result, types.Integer):
        cast_types = (result,) * len(cast_types)  # uint64 // int64 divides two int64
    compute = _compute(function, cast_types)
    casts = tuple(caster(t) for t in cast_types)
    if isinstance(result, types.BaseTuple):
        parts = tuple(caster(t) for t in result)
        return lambda *xs: tuple(
            p(v) for p, v in zip(parts, compute(*(c(x) for c, x in zip(casts, xs, strict=True))), strict=True)
        )
    finish = caster(result)
    if len(casts) == 1:
        (cast_a,) = casts
        if operand_types == (types.boolean,) and function in _OF_BOOLEAN:
            return _OF_BOOLEAN[function]
        if function in (operator.neg, operator.invert):  # in its own width, then widened: ~uint8(0) is 255
            return lambda a: finish(cast_a(compute(cast_a(a))))
        return lambda a: finish(compute(cast_a(a)))
    if len(casts) == 2:
        cast_a, cast_b = casts
        return lambda a, b: finish(compute(cast_a(a), cast_b(b)))
    return lambda *xs: finish(compute(*(c(x) for c, x in zip(casts, xs, strict=True))))


def dispatch(function):
    """``function`` for kernel values of any type: the rule is looked up by the types of the operands."""
    table = {}

    def apply(*values):
        kinds = tuple(map(type, values))
        found = table.get(kinds)
        if found is None:
            found = table[kinds] = rule(function, *kinds)
        return found(*values)

    def apply_two(a, b):
        kinds = type(a), type(b)
        found = table.get(kinds)
        if found is None:
            found = table[kinds] = rule(function, *kinds)
        return found(a, b)

    binary = getattr(operator, getattr(function, "__name__", ""), None) is function and function not in UNARY.values()
    return apply_two if binary else apply


#: as numba has it: -True is -1, ~True is False
_OF_BOOLEAN = {operator.neg: lambda a: -int(a), operator.invert: operator.not_}
UNARY = {"USub": operator.neg, "UAdd": operator.pos, "Invert": operator.invert}
BINARY = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv,
    "FloorDiv": operator.floordiv, "Mod": operator.mod, "Pow": operator.pow, "LShift": operator.lshift,
    "RShift": operator.rshift, "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor,
}  # fmt: skip
COMPARE = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
}


def normal(x):
    """A value as NumPy returns it, as a kernel holds it: np.float64 -> float, np.int64 -> int, np.bool -> bool."""
    kind = type(x)
    if kind is np.float64:
        return float(x)
    if kind is np.int64:
        return int(x)
    if kind is np.bool_:
        return bool(x)
    if kind is np.complex128:
        return complex(x)
    return x
