"""The vector type: one register of float32 or float64, with arithmetic lane by lane."""

import math
import operator

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, register_model

from .emitted import emitted
from .target import vector_bytes, vector_width

ELEMENTS = {types.float32: "float32", types.float64: "float64"}


class VectorType(types.Type):
    """numba's type of a vector: ``dtype`` (float32 or float64) in as many lanes as the machine has."""

    def __init__(self, dtype):
        if dtype not in ELEMENTS:
            raise TypingError(f"a vector holds float32 or float64, not {dtype}")
        self.dtype = dtype
        self.lanes = vector_width(ELEMENTS[dtype])
        super().__init__(name=f"vector({dtype} x {self.lanes})")


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        element = ir.FloatType() if fe_type.dtype == types.float32 else ir.DoubleType()
        super().__init__(dmm, fe_type, ir.VectorType(element, fe_type.lanes))

    def as_data(self, builder, value):
        """In a list, or in a generator that waits. Memory that numba asks for is not aligned for it: the process would
        end."""
        raise TypingError(f"a {self.fe_type} lives in registers, not in a list or a generator; arrays hold its numbers")


def splat(builder, scalar, lanes):
    """LLVM: the scalar in every lane."""
    vector_type = ir.VectorType(scalar.type, lanes)
    in_lane_0 = builder.insert_element(ir.Constant(vector_type, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes), None)
    return builder.shuffle_vector(in_lane_0, ir.Constant(vector_type, ir.Undefined), zeros)


def call_llvm(builder, name, result, arguments, **options):
    """LLVM: call the intrinsic ``llvm.<name>``."""
    signature = ir.FunctionType(result, [argument.type for argument in arguments])
    function = builder.module.globals.get(f"llvm.{name}") or ir.Function(builder.module, signature, f"llvm.{name}")
    return builder.call(function, arguments, **options)


def fetch(builder, address):
    """LLVM: ask for the cache line at ``address``; harmless wherever that is."""
    # Read (0), keep in every level (3), data rather than instructions (1).
    hints = [ir.Constant(ir.IntType(32), hint) for hint in (0, 3, 1)]
    call_llvm(builder, "prefetch.p0", ir.VoidType(), [builder.bitcast(address, ir.IntType(8).as_pointer()), *hints])


def suffix(vector_type):
    """LLVM's name of a vector type inside intrinsic names: v8f32."""
    return f"v{vector_type.lanes}{'f32' if vector_type.dtype == types.float32 else 'f64'}"


@intrinsic
def broadcast(typingctx, x):
    """``broadcast(x)``: a vector with the float32 or float64 scalar ``x`` in every lane."""
    vector_type = VectorType(x)

    def emit(context, builder, signature, arguments):
        return splat(builder, arguments[0], vector_type.lanes)

    return vector_type(x), emit


def _elementwise(emit_one):
    """An intrinsic on 1 to 3 vectors of one type; a scalar among them is broadcast, in the vectors' dtype."""

    def describe(*operands):
        vectors = {operand for operand in operands if isinstance(operand, VectorType)}
        numbers = [operand for operand in operands if not isinstance(operand, VectorType)]
        if len(vectors) != 1 or not all(isinstance(number, types.Integer | types.Float) for number in numbers):
            return None
        (vector_type,) = vectors

        def emit(context, builder, signature, arguments):
            values = []
            for operand, value in zip(operands, arguments, strict=True):
                if operand != vector_type:
                    scalar = context.cast(builder, value, operand, vector_type.dtype)
                    value = splat(builder, scalar, vector_type.lanes)
                values.append(value)
            return emit_one(builder, vector_type, *values)

        return vector_type(*operands), emit

    return describe


_fma = _elementwise(
    lambda builder, vector_type, *abc: call_llvm(builder, f"fmuladd.{suffix(vector_type)}", abc[0].type, abc)
)
_maximum = _elementwise(
    lambda builder, vector_type, *ab: call_llvm(builder, f"maximum.{suffix(vector_type)}", ab[0].type, ab)
)
_minimum = _elementwise(
    lambda builder, vector_type, *ab: call_llvm(builder, f"minimum.{suffix(vector_type)}", ab[0].type, ab)
)
# "larger, or b" is what one instruction of x86 does; the NaN of `maximum` takes two more
_larger = _elementwise(lambda builder, vector_type, a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b))
_smaller = _elementwise(lambda builder, vector_type, a, b: builder.select(builder.fcmp_ordered("<", a, b), a, b))


@intrinsic
def fma(typingctx, a, b, c):
    """``fma(a, b, c)``: a * b + c, one instruction and one rounding where the machine has it."""
    return _fma(a, b, c)


@intrinsic
def maximum(typingctx, a, b):
    """``maximum(a, b)`` lane by lane; NaN if either is NaN, as ``np.maximum``."""
    return _maximum(a, b)


@intrinsic
def minimum(typingctx, a, b):
    """``minimum(a, b)`` lane by lane; NaN if either is NaN, as ``np.minimum``."""
    return _minimum(a, b)


@intrinsic
def larger(typingctx, a, b):
    """``larger(a, b)``: a where a > b, else b, lane by lane: b where one is NaN. Faster than `maximum`."""
    return _larger(a, b)


@intrinsic
def smaller(typingctx, a, b):
    """``smaller(a, b)``: a where a < b, else b, lane by lane: b where one is NaN. Faster than `minimum`."""
    return _smaller(a, b)


_where = _elementwise(
    lambda builder, vector_type, chosen, a, b: builder.select(
        builder.fcmp_unordered("!=", chosen, ir.Constant(chosen.type, None)), a, b
    )
)


@intrinsic
def where(typingctx, chosen, a, b):
    """``where(chosen, a, b)``: lane by lane, a where `chosen` is not 0, else b, as ``np.where``."""
    return _where(chosen, a, b)


@intrinsic
def first_lanes(typingctx, n, a, b):
    """``first_lanes(n, a, b)``: of two vectors, lane i is a's where i < n, else b's. n: any integer."""
    if not isinstance(n, types.Integer) or not isinstance(a, VectorType) or a != b:
        return None

    def emit(context, builder, signature, arguments):
        element = ir.IntType(a.dtype.bitwidth)  # compared in numbers as wide as the lanes
        places = ir.Constant(ir.VectorType(element, a.lanes), list(range(a.lanes)))
        count, most = context.cast(builder, arguments[0], n, types.int64), ir.Constant(ir.IntType(64), a.lanes)
        less = builder.icmp_signed if n.signed else builder.icmp_unsigned
        count = builder.select(less("<", count, most), count, most)
        least = ir.Constant(count.type, 0)
        count = builder.select(less("<", count, least), least, count)
        count = builder.trunc(count, element) if element.width < 64 else count
        return builder.select(builder.icmp_signed("<", places, splat(builder, count, a.lanes)), *arguments[1:])

    return a(n, a, b), emit


@intrinsic
def reduce_add(typingctx, v):
    """``reduce_add(v)``: the sum of the lanes, in an order the compiler chooses."""
    if not isinstance(v, VectorType):
        return None

    def emit(context, builder, signature, arguments):
        zero = ir.Constant(arguments[0].type.element, -0.0)
        operands = [zero, arguments[0]]
        return call_llvm(builder, f"vector.reduce.fadd.{suffix(v)}", zero.type, operands, fastmath=("reassoc",))

    return v.dtype(v), emit


@intrinsic
def reduce_max(typingctx, v):
    """``reduce_max(v)``: the largest of the lanes; NaN if one of them is."""
    if not isinstance(v, VectorType):
        return None

    def emit(context, builder, signature, arguments):
        (vector,) = arguments
        return call_llvm(builder, f"vector.reduce.fmaximum.{suffix(v)}", vector.type.element, [vector])

    return v.dtype(v), emit


def _shuffled(builder, a, b, places):
    """LLVM: lane l is element places[l] of both vectors, one after the other."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places))


@intrinsic
def prefix_sum(typingctx, v):
    """``prefix_sum(v)``: lane l is the sum of lanes 0 to l, after log2(lanes) rounds of moving by 1, 2, 4, ... and
    adding."""
    if not isinstance(v, VectorType):
        return None

    def emit(context, builder, signature, arguments):
        (vector,) = arguments
        zeros, step = ir.Constant(vector.type, None), 1
        while step < v.lanes:
            moved = [lane - step if lane >= step else v.lanes for lane in range(v.lanes)]
            vector = builder.fadd(vector, _shuffled(builder, vector, zeros, moved))
            step *= 2
        return vector

    return v(v), emit


@intrinsic
def last_lane(typingctx, v):
    """``last_lane(v)``: the number in the last lane."""
    if not isinstance(v, VectorType):
        return None

    def emit(context, builder, signature, arguments):
        return builder.extract_element(arguments[0], ir.Constant(ir.IntType(32), v.lanes - 1))

    return v.dtype(v), emit


def _on_two(function, instruction):
    """Let `function` work on two vectors, or a vector and a number."""
    describe = _elementwise(lambda builder, vector_type, *ab: getattr(builder, instruction)(*ab))
    mixes = (VectorType, VectorType), (VectorType, types.Number), (types.Number, VectorType)
    emitted(function, lambda a, b: describe(a, b), *mixes)


def _on_one(function, emit_one):
    """Let `function` work on a vector."""
    describe = _elementwise(emit_one)
    emitted(function, lambda v: describe(v), (VectorType,))


_on_two(operator.add, "fadd")
_on_two(operator.sub, "fsub")
_on_two(operator.mul, "fmul")
_on_two(operator.truediv, "fdiv")
_on_one(operator.neg, lambda builder, kind, v: builder.fneg(v))
_on_one(math.sqrt, lambda builder, kind, v: call_llvm(builder, f"sqrt.{suffix(kind)}", v.type, [v]))


@intrinsic
def full_vectors(typingctx):
    """``full_vectors()``: LLVM's vectors in the loops of this function have all lanes of the machine.

    By itself it takes half of AVX-512's. It pays where a loop is long and computes much; a short one leaves lanes over.
    """

    def emit(context, builder, signature, arguments):
        attributes = builder.function.attributes
        if vector_bytes() == 64 and isinstance(attributes, set):
            set.add(attributes, '"prefer-vector-width"="512"')  # llvmlite's own `add` has no attributes with a value
        return context.get_dummy_value()

    return types.none(), emit
