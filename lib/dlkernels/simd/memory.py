"""Vectors to and from memory. All take a C-contiguous array and count ``i`` in elements from its start."""

import platform

from llvmlite import ir
from numba import njit, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from .vector import ELEMENTS, VectorType, call_llvm, fetch, splat, suffix

AHEAD, LINE = 256, 64  # elements: 1 or 2 KiB; bytes of a line of the cache
_X86 = platform.machine().lower() in ("x86_64", "amd64", "i386", "i686")


def _check(name, array, index=types.intp):
    """The vector type that fits ``array``; a message to the person if it cannot be used."""
    if not isinstance(array, types.Array) or array.dtype not in ELEMENTS:
        raise TypingError(f"{name} expects an array of float32 or float64, not {array}")
    if array.layout != "C" or not array.aligned:
        raise TypingError(f"{name} expects a C-contiguous, aligned array, not {array}; np.ascontiguousarray makes one")
    if not isinstance(index, types.Integer):
        raise TypingError(f"{name} expects an integer index, not {index}")
    return VectorType(array.dtype)


def address_of(context, builder, array, value, index_type=None, index=None):
    """LLVM: the address of element ``index`` of an array (without an index: of its start)."""
    data = context.make_array(array)(context, builder, value).data
    if index is None:
        return data
    return builder.gep(data, [context.cast(builder, index, index_type, types.intp)])


def _as_vector(builder, vector_type, address):
    element = ir.FloatType() if vector_type.dtype == types.float32 else ir.DoubleType()
    return builder.bitcast(address, ir.VectorType(element, vector_type.lanes).as_pointer())


def _itemsize(vector_type):
    return vector_type.dtype.bitwidth // 8


@intrinsic
def lanes(typingctx, array):
    """``lanes(array)``: elements of its dtype in one vector, a constant in the compiled code."""
    vector_type = _check("lanes", array)

    def emit(context, builder, signature, arguments):
        return context.get_constant(types.intp, vector_type.lanes)

    return types.intp(array), emit


@intrinsic
def until_aligned(typingctx, array):
    """``until_aligned(array)``: elements before the first whose address is a multiple of the vector size.

    The result is less than ``lanes(array)``; it may exceed ``array.size``.
    """
    vector_type = _check("until_aligned", array)

    def emit(context, builder, signature, arguments):
        address = builder.ptrtoint(address_of(context, builder, array, arguments[0]), ir.IntType(64))
        mask = ir.Constant(address.type, vector_type.lanes * _itemsize(vector_type) - 1)
        missing = builder.and_(builder.neg(address), mask)
        return builder.udiv(missing, ir.Constant(address.type, _itemsize(vector_type)))

    return types.intp(array), emit


@intrinsic
def load(typingctx, array, i):
    """``load(array, i)``: the vector of elements i, i + 1, ... of ``array``; any ``i``, aligned or not."""
    vector_type = _check("load", array, i)

    def emit(context, builder, signature, arguments):
        address = address_of(context, builder, array, arguments[0], i, arguments[1])
        return builder.load(_as_vector(builder, vector_type, address), align=_itemsize(vector_type))

    return vector_type(array, i), emit


def _first(context, builder, vector_type, count_type, count):
    """LLVM: a mask of the first `count` lanes."""
    word = ir.IntType(vector_type.dtype.bitwidth)  # compared in numbers as wide as the lanes
    places = ir.Constant(ir.VectorType(word, vector_type.lanes), list(range(vector_type.lanes)))
    count = context.cast(builder, count, count_type, types.int64)
    count = builder.trunc(count, word) if word.width < 64 else count
    return builder.icmp_signed("<", places, splat(builder, count, vector_type.lanes))


@intrinsic
def load_part(typingctx, array, i, count):
    """``load_part(array, i, count)``: as `load`, but of the first `count` elements only, with 0 for those after them.

    What is not loaded is not touched: it may lie behind the end of the array. count: None for a whole vector, else from
    0 to ``lanes(array)``.
    """
    vector_type = _check("load_part", array, i)

    def emit(context, builder, signature, arguments):
        address = _as_vector(builder, vector_type, address_of(context, builder, array, arguments[0], i, arguments[1]))
        if count == types.none:
            return builder.load(address, align=_itemsize(vector_type))
        mask, kind = _first(context, builder, vector_type, count, arguments[2]), address.type.pointee
        align, zeros = ir.Constant(ir.IntType(32), _itemsize(vector_type)), ir.Constant(kind, None)
        return call_llvm(builder, f"masked.load.{suffix(vector_type)}.p0", kind, [address, align, mask, zeros])

    return vector_type(array, i, count), emit


@intrinsic
def load_bytes(typingctx, source, i, like):
    """``load_bytes(source, i, like)``: int8 numbers i, i + 1, ... of ``source`` as a vector of the dtype of
    ``like``."""
    vector_type = _check("load_bytes", like, i)
    if not isinstance(source, types.Array) or source.dtype != types.int8 or source.layout != "C":
        raise TypingError(f"load_bytes expects a C-contiguous array of int8, not {source}")

    def emit(context, builder, signature, arguments):
        address = address_of(context, builder, source, arguments[0], i, arguments[1])
        narrow = ir.VectorType(ir.IntType(8), vector_type.lanes)
        numbers = builder.load(builder.bitcast(address, narrow.as_pointer()), align=1)
        return builder.sitofp(numbers, context.get_value_type(vector_type))

    return vector_type(source, i, like), emit


@intrinsic
def load_nibbles(typingctx, source, i, like):
    """``load_nibbles(source, i, like)``: of bytes i, i + 1, ... of ``source`` the low and the high four bits.

    Two vectors of the dtype of ``like``, of numbers from -8 to 7 (two's complement). source: uint8.
    """
    vector_type = _check("load_nibbles", like, i)
    if not isinstance(source, types.Array) or source.dtype != types.uint8 or source.layout != "C":
        raise TypingError(f"load_nibbles expects a C-contiguous array of uint8, not {source}")
    both = types.UniTuple(vector_type, 2)

    def emit(context, builder, signature, arguments):
        address = address_of(context, builder, source, arguments[0], i, arguments[1])
        narrow = ir.VectorType(ir.IntType(8), vector_type.lanes)
        wide = ir.VectorType(ir.IntType(32), vector_type.lanes)
        bytes = builder.sext(builder.load(builder.bitcast(address, narrow.as_pointer()), align=1), wide)
        four, rest = (ir.Constant(wide, [n] * vector_type.lanes) for n in (4, 28))
        halves = builder.ashr(builder.shl(bytes, rest), rest), builder.ashr(bytes, four)
        numbers = [builder.sitofp(half, context.get_value_type(vector_type)) for half in halves]
        return context.make_tuple(builder, both, numbers)

    return both(source, i, like), emit


def _emit_store(array, i, vector_type, nontemporal):
    align = _itemsize(vector_type) * (vector_type.lanes if nontemporal else 1)

    def emit(context, builder, signature, arguments):
        address = address_of(context, builder, array, arguments[0], i, arguments[1])
        instruction = builder.store(arguments[2], _as_vector(builder, vector_type, address), align=align)
        if nontemporal:
            flag = builder.module.add_metadata([ir.Constant(ir.IntType(32), 1)])
            instruction.set_metadata("nontemporal", flag)
        return context.get_dummy_value()

    return emit


def _check_store(name, array, i, v):
    vector_type = _check(name, array, i)
    if v != vector_type:
        raise TypingError(f"{name} expects a {vector_type} for this array, not {v}")
    if not array.mutable:
        raise TypingError(f"{name} expects an array that may be written; this one is read-only")
    return vector_type


@intrinsic
def store(typingctx, array, i, v):
    """``store(array, i, v)``: write vector ``v`` to elements i, i + 1, ... of ``array``; any ``i``."""
    vector_type = _check_store("store", array, i, v)
    return types.none(array, i, v), _emit_store(array, i, vector_type, nontemporal=False)


@intrinsic
def store_part(typingctx, array, i, v, count):
    """``store_part(array, i, v, count)``: write the first `count` numbers of ``v``; None for all, as in `load_part`."""
    vector_type = _check_store("store_part", array, i, v)

    def emit(context, builder, signature, arguments):
        address = _as_vector(builder, vector_type, address_of(context, builder, array, arguments[0], i, arguments[1]))
        if count == types.none:
            builder.store(arguments[2], address, align=_itemsize(vector_type))
        else:
            mask = _first(context, builder, vector_type, count, arguments[3])
            align = ir.Constant(ir.IntType(32), _itemsize(vector_type))
            operands = [arguments[2], address, align, mask]
            call_llvm(builder, f"masked.store.{suffix(vector_type)}.p0", ir.VoidType(), operands)
        return context.get_dummy_value()

    return types.none(array, i, v, count), emit


@intrinsic
def store_low_bytes(typingctx, target, i, v):
    """``store_low_bytes(target, i, v)``: the last eight bits of each number of ``v``, float32, to bytes i, i + 1, ...

    Of whole numbers near 1.5 * 2**23 these are the numbers themselves, as int8 or uint8. target: uint8.
    """
    if not isinstance(target, types.Array) or target.dtype != types.uint8 or target.layout != "C":
        raise TypingError(f"store_low_bytes expects a C-contiguous array of uint8, not {target}")
    if v != VectorType(types.float32) or not isinstance(i, types.Integer):
        raise TypingError(f"store_low_bytes expects an integer index and a vector of float32, not {i} and {v}")

    def emit(context, builder, signature, arguments):
        narrow, wide = (ir.VectorType(ir.IntType(bits), v.lanes) for bits in (8, 32))
        bytes = builder.trunc(builder.bitcast(arguments[2], wide), narrow)
        address = address_of(context, builder, target, arguments[0], i, arguments[1])
        builder.store(bytes, builder.bitcast(address, narrow.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.none(target, i, v), emit


@intrinsic
def store_nontemporal(typingctx, array, i, v):
    """``store_nontemporal(array, i, v)``: as ``store``, but past the cache.

    A usual store first reads the cache line it is about to overwrite; this one does not, so a loop that only
    writes its output moves a third less. It pays for arrays larger than the cache that are not read soon
    after. The address must be a multiple of the vector size (`until_aligned` tells where to begin): a wrong
    one ends the process. Call `fence` before another thread reads the result.
    """
    vector_type = _check_store("store_nontemporal", array, i, v)
    return types.none(array, i, v), _emit_store(array, i, vector_type, nontemporal=True)


@intrinsic
def fence(typingctx):
    """``fence()``: non-temporal stores before it are visible to other threads before any store after it."""

    def emit(context, builder, signature, arguments):
        if _X86:
            call_llvm(builder, "x86.sse.sfence", ir.VoidType(), [])
        else:
            builder.fence("release")
        return context.get_dummy_value()

    return types.none(), emit


@intrinsic
def prefetch(typingctx, array, i):
    """``prefetch(array, i)``: ask for the cache line of element ``i``; harmless if ``i`` is out of bounds."""
    _check("prefetch", array, i)

    def emit(context, builder, signature, arguments):
        address = address_of(context, builder, array, arguments[0], i, arguments[1])
        fetch(builder, address)
        return context.get_dummy_value()

    return types.none(array, i), emit


@njit
def fetch_ahead(array, start, count):
    """Ask for ``count`` elements from ``start``, which may lie behind the end.

    For loops with tens of instructions for a vector. A processor executes some hundred instructions ahead of the one
    that waits for memory: these are a few lines of the cache then, and memory can have more of them on their way.
    """
    for i in range(start, start + count, LINE // array.itemsize):
        prefetch(array, i)
