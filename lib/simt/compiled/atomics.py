"""``cuda.atomic``: in memory that other blocks see, LLVM's atomic instructions; in a block's own memory, plain ones.

One CPU thread runs all threads of a block, one after the other, so a block's shared memory needs no atomic instruction.
Where the array may be either, as in a device function, LLVM's instructions serve both.
"""

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from ..executor.atomics import OPERATIONS, flushes
from ..trace import ATOMIC
from .accesses import Access, check_array, integers
from .casts import convert
from .counting import is_global
from .storage import is_argument
from .watching import WatchedAccess

ORDER = "seq_cst"
_NATIVE = {"add": "add", "sub": "sub", "and_": "and", "or_": "or", "xor": "xor", "exch": "xchg"}
_BITS = ir.IntType(32)
_EXPONENT, _SIGN = _BITS(0x7F800000), _BITS(0x80000000)  # of a float32


def _flushed(builder, value, where):
    """A float32, or where ``where`` (i1) a zero of its sign if it is subnormal."""
    bits = builder.bitcast(value, _BITS)
    small = builder.icmp_unsigned("==", builder.and_(bits, _EXPONENT), _BITS(0))
    zero = builder.bitcast(builder.and_(bits, _SIGN), value.type)
    return builder.select(builder.and_(small, where), zero, value)


def _new_value(name, builder, kind, old, operand, flush=None):
    """The value that an operation stores, computed as ``executor/atomics.py`` says. flush: i1, where subnormal numbers
    may be zeros."""
    if flush is not None:
        old, operand = (_flushed(builder, value, flush) for value in (old, operand))
        return _flushed(builder, _new_value(name, builder, kind, old, operand), flush)
    floating = isinstance(kind, types.Float)
    b = builder

    def less(x, y):
        if floating:
            return b.fcmp_ordered("<", x, y)
        return b.icmp_signed("<", x, y) if kind.signed else b.icmp_unsigned("<", x, y)

    def nan(x):
        return b.fcmp_unordered("uno", x, x) if floating else ir.IntType(1)(0)

    if name in ("add", "sub"):
        return getattr(b, ("f" if floating else "") + name)(old, operand)
    if name in ("and_", "or_", "xor"):
        return getattr(b, name)(old, operand)
    if name == "exch":
        return operand
    if name in ("max", "min", "nanmax", "nanmin"):
        better = less(old, operand) if name.endswith("max") else less(operand, old)
        if not name.startswith("nan"):  # a nan on either side changes nothing
            return b.select(better, operand, old)
        return b.select(nan(operand), old, b.select(b.or_(better, nan(old)), operand, old))
    one, zero = old.type(1), old.type(0)
    if name == "inc":
        return b.select(b.icmp_unsigned(">=", old, operand), zero, b.add(old, one))
    wraps = b.or_(b.icmp_unsigned("==", old, zero), b.icmp_unsigned(">", old, operand))
    return b.select(wraps, operand, b.sub(old, one))


def _loop(name, builder, kind, pointer, operand, flush):
    """Compare and exchange until nobody came between; returns the old value."""
    bits = ir.IntType(kind.bitwidth)
    raw = builder.bitcast(pointer, bits.as_pointer())
    loaded = builder.load(raw)
    before, loop, done = (builder.block, builder.append_basic_block("again"), builder.append_basic_block("done"))
    builder.branch(loop)
    builder.position_at_end(loop)
    seen = builder.phi(bits)
    seen.add_incoming(loaded, before)
    old = builder.bitcast(seen, operand.type)
    new = builder.bitcast(_new_value(name, builder, kind, old, operand, flush), bits)
    pair = builder.cmpxchg(raw, seen, new, ORDER, ORDER)
    seen.add_incoming(builder.extract_value(pair, 0), loop)
    builder.cbranch(builder.extract_value(pair, 1), done, loop)
    builder.position_at_end(done)
    return old


def _update(name, builder, kind, pointer, operands, is_shared, flush):
    """One read-modify-write; returns the old value."""
    if name == "cas":
        expected, value = operands
        if is_shared:
            old = builder.load(pointer)
            same = builder.icmp_unsigned("==", old, expected)
            builder.store(builder.select(same, value, old), pointer)
            return old
        return builder.extract_value(builder.cmpxchg(pointer, expected, value, ORDER, ORDER), 0)
    (operand,) = operands
    if is_shared:
        old = builder.load(pointer)
        builder.store(_new_value(name, builder, kind, old, operand), pointer)
        return old
    if isinstance(kind, types.Integer):
        if name in _NATIVE:
            return builder.atomic_rmw(_NATIVE[name], pointer, operand, ORDER)
        if name in ("max", "min", "nanmax", "nanmin"):
            return builder.atomic_rmw(("" if kind.signed else "u") + name[-3:], pointer, operand, ORDER)
    return _loop(name, builder, kind, pointer, operand, flush)


def _make(name, is_shared):
    allowed = OPERATIONS[name][0]

    @intrinsic(prefer_literal=True)
    def atomic(typing, flag, site, array, index, operands):
        check_array(array, len(integers(index)))
        if len(integers(index)) != array.ndim or not array.mutable:
            raise TypingError("an atomic operation needs one index for each axis of an array that is not read-only")
        if str(array.dtype) not in allowed:
            raise TypingError(f"cuda.atomic.{name} does not exist for {array.dtype}")
        kinds = [types.unliteral(t) for t in operands]
        if not all(isinstance(t, (types.Integer, types.Float, types.Boolean)) for t in kinds):
            raise TypingError(f"cuda.atomic.{name} cannot take {kinds}")

        def generate(context, builder, signature, args):
            access = Access(context, builder, array, args[2], index, args[3])
            packed = args[4]
            values = [
                convert(context, builder, builder.extract_value(packed, k), t, array.dtype) for k, t in enumerate(kinds)
            ]

            watch = WatchedAccess(context, builder, flag, args[0], site)

            def perform():
                flush = None
                if not is_shared and flushes(name, array.dtype):
                    flush = (
                        is_argument(builder, access.array) if watch.counter is None else is_global(watch, access.array)
                    )
                return _update(name, builder, array.dtype, access.pointer(), values, is_shared, flush)

            return watch.access(access, ATOMIC, perform)

        return array.dtype(flag, site, array, index, operands), generate

    return atomic


ATOMICS = {(name, is_shared): _make(name, is_shared) for name in OPERATIONS for is_shared in (False, True)}
