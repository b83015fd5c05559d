"""The plain functions that lowered kernels call."""

import operator

import numpy as np

from .. import numbers
from .memory import Array

SYNC = {"block": 0, "warp": 1, "grid": 2, "wait": 3}


# -- plain values --------------------------------------------------------------------------------------------------


_EQUAL = (operator.eq, operator.ne)


def _comparison(function):
    compute = numbers.dispatch(function)

    def apply(a, b):
        try:
            return compute(a, b)
        except TypeError:
            tuples = isinstance(a, tuple) and isinstance(b, tuple)
            if tuples or (function in _EQUAL and not isinstance(a, Array) and not isinstance(b, Array)):
                return function(a, b)
            raise

    return apply


_to_int64 = numbers.caster(numbers.numba_type(int))


def _range(*limits):
    """As numba has it: a float, of math.ceil in a kernel, say, becomes an integer, cut off towards 0."""
    return range(*(_to_int64(x) if isinstance(x, (float, np.floating)) else operator.index(x) for x in limits))


def _len(x):
    return len(x)


def _extreme(function):
    compute = numbers.dispatch(function)
    return lambda *values: compute(*(values[0] if len(values) == 1 and isinstance(values[0], tuple) else values))


_round_to_integer = numbers.dispatch(round)


def _round(x, digits=None):
    if digits is None:
        return _round_to_integer(x)
    kind = type(x)
    rounded = round(float(x), int(digits))
    return kind(rounded) if kind is np.float32 else rounded


_to_float, _to_int = numbers.dispatch(float), numbers.dispatch(int)


def _float(x=0.0):
    return float(x) if type(x) is bool else _to_float(x)


def _complex(real=0.0, imaginary=0.0):
    narrow = type(real) is np.float32 and type(imaginary) is np.float32
    value = complex(real, imaginary)
    return np.complex64(value) if narrow else value


def _divmod(a, b):
    return _floor_divide(a, b), _modulo(a, b)


def _print(*values):
    print(*values)


def _conjugate(x):
    return x.conjugate()


_floor_divide, _modulo = numbers.dispatch(operator.floordiv), numbers.dispatch(operator.mod)

VALUES = {
    **{"_" + name: numbers.dispatch(function) for name, function in numbers.BINARY.items()},
    **{"_" + name: numbers.dispatch(function) for name, function in numbers.UNARY.items()},
    **{"_" + name: _comparison(function) for name, function in numbers.COMPARE.items()},
    "_wrap": numbers.wrap_int64, "_double": float,
    "_slice": lambda *parts: slice(*(None if p is None else operator.index(p) for p in parts)),
    "_range": _range, "_enumerate": enumerate, "_zip": zip, "_len": _len, "_print": _print, "_bool": bool,
    "_int": lambda x=0: _to_int(x), "_float": _float, "_complex": _complex, "_round": _round, "_divmod": _divmod,
    "_abs": numbers.dispatch(abs), "_min": _extreme(min), "_max": _extreme(max), "_conjugate": _conjugate,
}  # fmt: skip
VALUES["_eq"], VALUES["_pow"] = VALUES["_Eq"], VALUES["_Pow"]
BUILTINS = {
    len: "_len", print: "_print", bool: "_bool", int: "_int", float: "_float", complex: "_complex", abs: "_abs",
    min: "_min", max: "_max", round: "_round", pow: "_pow", divmod: "_divmod", range: "_range",
}  # fmt: skip


# -- functions of cuda that only compute ------------------------------------------------------------------------------


def _width(x):
    return 64 if type(x) is int else np.dtype(type(x)).itemsize * 8


def _bits(x):
    """The bits of an integer, as a number that is not negative."""
    return int(x) & ((1 << _width(x)) - 1)


def _popc(x):
    return type(x)(_bits(x).bit_count())


def _clz(x):
    return type(x)(_width(x) - _bits(x).bit_length())


def _ffs(x):
    bits = _bits(x)
    return np.uint32((bits & -bits).bit_length())


def _brev(x):
    width = 64 if type(x) is np.uint64 else 32  # as numba: everything but uint64 is cast to uint32
    reversed_bits = int(f"{int(x) & ((1 << width) - 1):0{width}b}"[::-1], 2)
    return np.uint64(reversed_bits) if width == 64 else np.uint32(reversed_bits)


def _cbrt(x):
    return np.cbrt(x) if type(x) is np.float32 else float(np.cbrt(float(x)))


def _fma(a, b, c):
    """a * b + c, rounded once: exactly through twice the precision for float32, through fractions for float64."""
    if type(a) is type(b) is type(c) is np.float32:
        return _fma_float32(a, b, c)
    return _fma_float64(float(a), float(b), float(c))


def _fma_float32(a, b, c):
    exact, addend = float(a) * float(b), float(c)  # the product of two float32 is exact in float64
    total = exact + addend
    if not np.isfinite(total):
        return np.float32(total)
    # Round to odd, so that the second rounding cannot go wrong.
    rest = (exact - (total - addend)) + (addend - (total - (total - addend)))
    if rest != 0.0 and not int(np.float64(total).view(np.int64)) & 1:
        total = float(np.nextafter(total, np.inf if rest > 0 else -np.inf))
    return np.float32(total)


def _fma_float64(a, b, c):
    from fractions import Fraction

    if not (np.isfinite(a) and np.isfinite(b) and np.isfinite(c)):
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")


def _selp(condition, a, b):
    return a if condition else b


VALUES.update(
    {"_popc": _popc, "_clz": _clz, "_ffs": _ffs, "_brev": _brev, "_cbrt": _cbrt, "_fma": _fma, "_selp": _selp}
)
