"""What a kernel computes where numba for the CPU and a GPU differ: as the GPU, and so as the executor (numbers.py)
does.

Loops over threads must stay free of branches, so these are selections, not jumps.
"""

import math

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from .casts import convert

inline = njit(error_model="numpy", forceinline=True)


@inline
def smaller(a, b):
    """``min(a, b)``: a nan loses against a number, as in fminf; of equals, the first."""
    return b if (b < a or a != a) else a


@inline
def larger(a, b):
    """``max(a, b)``, likewise."""
    return b if (b > a or a != a) else a


def _shift(name, choose):
    """Shift by any amount: what leaves the word is gone. numba's own result type: 64 bits, signed unless both are
    not."""

    @intrinsic
    def shift(typing, a, b):
        import operator

        function = operator.lshift if name == "shl" else operator.rshift
        rule = typing.resolve_function_type(function, (types.unliteral(a), types.unliteral(b)), {})
        if rule is None or not isinstance(rule.return_type, types.Integer):
            raise TypingError(f"{a} cannot be shifted by {b}")
        result = rule.return_type

        def generate(context, builder, signature, args):
            value = context.cast(builder, args[0], types.unliteral(a), result)
            count = context.cast(builder, args[1], types.unliteral(b), types.uint64)
            wide = builder.icmp_unsigned(">=", count, ir.IntType(64)(64))
            return choose(builder, value, builder.select(wide, ir.IntType(64)(63), count), wide, result)

        return result(a, b), generate

    return shift


def _left(builder, value, count, wide, result):
    return builder.select(
        wide, value.type(0), builder.shl(value, builder.trunc(count, value.type) if value.type.width < 64 else count)
    )


def _right(builder, value, count, wide, result):
    if result.signed:
        return builder.ashr(value, count)
    return builder.select(wide, value.type(0), builder.lshr(value, count))


shift_left, shift_right = _shift("shl", _left), _shift("shr", _right)


def _rounding(name, function):
    """As in C: a float gives a float. (numba for the CPU gives an integer, as Python does.)"""

    @inline
    def rounded(x):
        return function(x)

    rounded.__name__ = name
    return rounded


floor, ceil, trunc = _rounding("floor", np.floor), _rounding("ceil", np.ceil), _rounding("trunc", np.trunc)


@inline
def fmod(a, b):
    return np.fmod(a, b)


@intrinsic
def fused_multiply_add(typing, a, b, c):
    """a * b + c, rounded once."""
    kinds = [types.unliteral(t) for t in (a, b, c)]
    kind = types.float32 if all(k == types.float32 for k in kinds) else types.float64

    def generate(context, builder, signature, args):
        values = [context.cast(builder, v, k, kind) for v, k in zip(args, kinds, strict=True)]
        return builder.fma(*values)

    return kind(a, b, c), generate


def _bits(name, result_type, compute):
    @intrinsic
    def operation(typing, x):
        source = types.unliteral(x)
        if not isinstance(source, types.Integer):
            raise TypingError(f"{name} takes an integer, not {source}")
        result = result_type(source)

        def generate(context, builder, signature, args):
            return compute(context, builder, args[0], source)

        return result(x), generate

    return operation


def _clz(context, builder, x, source):
    return builder.ctlz(x, ir.IntType(1)(0))


def _ffs(context, builder, x, source):
    position = builder.add(builder.cttz(x, ir.IntType(1)(0)), x.type(1))
    position = builder.select(builder.icmp_unsigned("==", x, x.type(0)), x.type(0), position)
    return context.cast(builder, position, source, types.uint32)


def _brev(context, builder, x, source):
    target = types.uint64 if source == types.uint64 else types.uint32  # as numba-cuda: the rest is cast to uint32
    return builder.bitreverse(context.cast(builder, x, source, target))


popc = _bits("popc", lambda t: t, lambda context, builder, x, source: builder.ctpop(x))
clz = _bits("clz", lambda t: t, _clz)
ffs = _bits("ffs", lambda t: types.uint32, _ffs)
brev = _bits("brev", lambda t: types.uint64 if t == types.uint64 else types.uint32, _brev)


@inline
def cube_root(x):
    return np.cbrt(x)


@inline
def select(test, if_true, if_false):
    return if_true if test else if_false


@inline
def range_length(start, stop, step):
    """How often ``for i in range(start, stop, step)`` runs."""
    if step == 0:
        return 0
    return len(range(start, stop, step))


@inline
def more_rounds(rounds, most, start, stop, step):
    """``rounds`` and those of ``range(start, stop, step)``, of which more than ``most`` count as one more."""
    turns = range_length(start, stop, step)
    return rounds + (most + 1 if turns > most else np.int64(turns))


@intrinsic
def range_item(typing, start, stop, step, number):
    """The ``number``-th value of ``range(start, stop, step)``, of the type that numba gives it."""
    limit_types = tuple(types.unliteral(t) for t in (start, stop, step))
    rule = typing.resolve_function_type(range, limit_types, {})
    if rule is None:
        raise TypingError(f"range{limit_types} is not defined")
    kind = rule.return_type.dtype

    def generate(context, builder, signature, args):
        first_value = convert(context, builder, args[0], limit_types[0], kind)
        stride = convert(context, builder, args[2], limit_types[2], kind)
        n = convert(context, builder, args[3], types.unliteral(number), kind)
        return builder.add(first_value, builder.mul(n, stride))

    return kind(start, stop, step, number), generate


MATH = {math.floor: floor, math.ceil: ceil, math.trunc: trunc, math.fmod: fmod}
