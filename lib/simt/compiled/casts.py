"""Conversions between number types as a GPU does them: a float outside an integer's range saturates, nan becomes 0."""

from functools import cache

from llvmlite import ir
from numba.core import datamodel, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from ..source.refused import OURS, not_counted, not_shuffled, not_voted


def is_known(kind):
    """Whether numba has values of this type on a CPU; float16 it has on a GPU only."""
    try:
        datamodel.default_manager.lookup(kind)
    except (KeyError, NotImplementedError):
        return False
    return True


def _admitting(admits, reason):
    """Intrinsic (value): the same, where numba-cuda has an operation for its type; ``reason(its name)`` says why
    not."""

    @intrinsic
    def same(typing, value):
        kind = types.unliteral(value)
        if not admits(kind):
            raise TypingError(OURS + reason(str(kind)))

        def generate(context, builder, signature, args):
            return args[0]

        return kind(kind), generate

    return same


_SHUFFLED = (types.int32, types.int64, types.float32, types.float64)
counted = _admitting(lambda k: isinstance(k, types.Integer), lambda k: not_counted("a barrier that counts", k))
shuffled = _admitting(lambda k: k in _SHUFFLED or isinstance(k, types.BaseTuple), not_shuffled)
voted = _admitting(lambda k: isinstance(k, types.Integer | types.Boolean), not_voted)


def convert(context, builder, value, source, target):
    """``value`` of numba type ``source`` as ``target``, in LLVM."""
    source, target = types.unliteral(source), types.unliteral(target)
    if isinstance(source, types.Float) and isinstance(target, types.Integer):
        kind, integer = value.type, ir.IntType(target.bitwidth)
        letter = "s" if target.signed else "u"
        width = {"float": "f32", "double": "f64"}[str(kind)]
        name = f"llvm.fpto{letter}i.sat.i{target.bitwidth}.{width}"
        function = builder.module.globals.get(name)
        if function is None:
            function = ir.Function(builder.module, ir.FunctionType(integer, [kind]), name)
        return builder.call(function, [value])
    return context.cast(builder, value, source, target)


@cache
def caster(target):
    """The intrinsic that converts any number to the numba type ``target``."""

    @intrinsic
    def cast(typing, value):
        if not isinstance(value, (types.Number, types.Boolean)):
            raise TypingError(f"a {value} cannot be converted to {target}")
        if isinstance(value, types.Complex) and not isinstance(target, types.Complex):
            raise TypingError("a complex number cannot be converted to a real one")

        def generate(context, builder, signature, args):
            return convert(context, builder, args[0], value, target)

        return target(value), generate

    return cast


@intrinsic
def to_int(typing, value):
    """``int(value)``: integers keep their type's sign in 64 bits, floats are cut off and saturate."""
    if not isinstance(value, (types.Integer, types.Float, types.Boolean)):
        raise TypingError(f"int() does not take a {value}")
    target = types.uint64 if isinstance(value, types.Integer) and not value.signed else types.int64

    def generate(context, builder, signature, args):
        return convert(context, builder, args[0], value, target)

    return target(value), generate
