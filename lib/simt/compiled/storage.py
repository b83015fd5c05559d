"""Where a block keeps what its threads share and what each thread keeps for itself: all of it on the stack.

LLVM knows that two stack variables do not overlap, and that no array argument lies in them; so a loop over the threads
that reads and writes them can become vector instructions. Fresh memory is poisoned (nan, or -1), as in the executor.
"""

from math import prod

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

from .words import FLAG, INDEX

BYTE = ir.IntType(8)


def _stack(context, builder, dtype, count, poison):
    """Pointer to ``count`` values of ``dtype`` in the function's frame."""
    element = context.get_data_type(dtype)
    with builder.goto_entry_block():
        memory = builder.alloca(ir.ArrayType(element, count))
        memory.align = 64
    if poison:
        size = count * context.get_abi_sizeof(element)
        raw = builder.bitcast(memory, BYTE.as_pointer())
        cgutils.memset(builder, raw, INDEX(size), 0xFF)
    return builder.bitcast(memory, element.as_pointer())


def _array(context, builder, kind, pointer, shape, strides, itemsize):
    array = context.make_array(kind)(context, builder)
    arrayobj.populate_array(
        array, pointer, [INDEX(n) for n in shape], [INDEX(s) for s in strides], INDEX(itemsize), None
    )
    return array._getvalue()


def is_argument(builder, array):
    """i1: an array (its structure in LLVM) is, or is a view of, an argument. numba knows the Python object of those;
    what a kernel makes itself has none. In a counted launch arrays have numbers there instead."""
    return builder.icmp_unsigned("!=", builder.ptrtoint(array.parent, INDEX), INDEX(0))


def _row_major(shape, itemsize):
    return [itemsize * prod(shape[k + 1 :]) for k in range(len(shape))]


def whole_array(shape, dtype):
    """Intrinsic without arguments: a new poisoned array in the frame of the function that calls it."""
    kind = types.Array(dtype, len(shape), "C")

    @intrinsic
    def make(typing):
        def generate(context, builder, signature, args):
            pointer = _stack(context, builder, dtype, max(1, prod(shape)), poison=True)
            itemsize = context.get_abi_sizeof(context.get_data_type(dtype))
            return _array(context, builder, kind, pointer, shape, _row_major(shape, itemsize), itemsize)

        return kind(), generate

    return make


def dynamic_array(dtype):
    """Intrinsic (bytes): the launch's dynamic shared memory, an array of bytes, as an array of ``dtype``."""
    kind = types.Array(dtype, 1, "C")

    @intrinsic
    def make(typing, memory):
        def generate(context, builder, signature, args):
            struct = context.make_array(memory)(context, builder, args[0])
            itemsize = context.get_abi_sizeof(context.get_data_type(dtype))
            count = builder.udiv(builder.extract_value(struct.shape, 0), INDEX(itemsize))
            pointer = builder.bitcast(struct.data, context.get_data_type(dtype).as_pointer())
            array = context.make_array(kind)(context, builder)
            arrayobj.populate_array(array, pointer, [count], [INDEX(itemsize)], INDEX(itemsize), None)
            return array._getvalue()

        return kind(memory), generate

    return make


def per_thread(dtype, count, poison=False):
    """Intrinsic: memory for ``count`` values of ``dtype``, as a pointer."""
    kind = types.CPointer(dtype)

    @intrinsic
    def make(typing):
        def generate(context, builder, signature, args):
            return _stack(context, builder, dtype, count, poison)

        return kind(), generate

    return make


def private_view(shape, dtype, threads):
    """Intrinsic (pointer, thread): that thread's private array.

    Element k of all threads lies together: thread t's are at k * threads + t. So a loop over the threads reads
    neighbours.
    """
    kind = types.Array(dtype, len(shape), "A")

    @intrinsic
    def make(typing, pointer, thread):
        def generate(context, builder, signature, args):
            itemsize = context.get_abi_sizeof(context.get_data_type(dtype))
            strides = [s * threads for s in _row_major(shape, itemsize)]
            data = builder.gep(args[0], [args[1]], inbounds=True)
            return _array(context, builder, kind, data, shape, strides, itemsize)

        return kind(pointer, thread), generate

    return make


@intrinsic
def peek(typing, pointer, index):
    """``pointer[index]``"""

    def generate(context, builder, signature, args):
        return context.unpack_value(builder, pointer.dtype, builder.gep(args[0], [args[1]], inbounds=True))

    return pointer.dtype(pointer, types.int64), generate


@intrinsic
def poke(typing, pointer, index, value):
    """``pointer[index] = value``"""

    def generate(context, builder, signature, args):
        converted = context.cast(builder, args[2], types.unliteral(value), pointer.dtype)
        context.pack_value(builder, pointer.dtype, converted, builder.gep(args[0], [args[1]], inbounds=True))
        return context.get_dummy_value()

    return types.void(pointer, types.int64, value), generate


def _in_kept(context, builder, kept, memory, block, offset):
    """Pointer to `offset` in the row of `block` of ``kept``, an array of bytes for each block."""
    rows = context.make_array(kept)(context, builder, memory)
    width = builder.extract_value(rows.shape, 1)
    return builder.gep(rows.data, [builder.add(builder.mul(block, width), offset)])


def _copier(there):
    @intrinsic
    def copy(typing, kept, block, offset, what, size):
        def generate(context, builder, signature, args):
            memory, block, offset, value, size = args
            pointer = value
            if isinstance(what, types.Array):
                pointer = context.make_array(what)(context, builder, value).data
            ends = [_in_kept(context, builder, kept, memory, block, offset), pointer]
            target, source = (builder.bitcast(p, BYTE.as_pointer()) for p in (ends if there else ends[::-1]))
            cgutils.raw_memcpy(builder, target, source, size, INDEX(1))
            return context.get_dummy_value()

        return types.void(kept, types.int64, types.int64, what, types.int64), generate

    return copy


keep, bring = _copier(True), _copier(False)  # (kept, block, place, pointer or array, bytes): copy there, and back


def keep_value(kind):
    """Intrinsic (kept, block, offset, value): keep a value of a numba type."""

    @intrinsic
    def make(typing, kept, block, offset, value):
        def generate(context, builder, signature, args):
            pointer = _in_kept(context, builder, kept, *args[:3])
            converted = context.cast(builder, args[3], types.unliteral(value), kind)
            typed = builder.bitcast(pointer, context.get_data_type(kind).as_pointer())
            context.pack_value(builder, kind, converted, typed)
            return context.get_dummy_value()

        return types.void(kept, types.int64, types.int64, value), generate

    return make


def kept_value(kind):
    """Intrinsic (kept, block, offset): a value of a numba type that was kept."""

    @intrinsic
    def make(typing, kept, block, offset):
        def generate(context, builder, signature, args):
            pointer = _in_kept(context, builder, kept, *args)
            return context.unpack_value(
                builder, kind, builder.bitcast(pointer, context.get_data_type(kind).as_pointer())
            )

        return kind(kept, types.int64, types.int64), generate

    return make


@intrinsic
def new_flag(typing):
    """A flag for what goes wrong in a block, all bits zero."""

    def generate(context, builder, signature, args):
        pointer = cgutils.alloca_once(builder, INDEX)
        builder.store(INDEX(0), pointer)
        return pointer

    return FLAG(), generate


@intrinsic
def read_flag(typing, flag):
    def generate(context, builder, signature, args):
        return builder.load(args[0])

    return types.int64(flag), generate


@intrinsic
def raise_flag(typing, flag, bit):
    """``*flag |= bit``"""

    def generate(context, builder, signature, args):
        builder.store(builder.or_(builder.load(args[0]), args[1]), args[0])
        return context.get_dummy_value()

    return types.void(flag, types.int64), generate


@intrinsic
def going_on(typing, stop, flag):
    """False once the launch is to end (Ctrl-C: ``stop`` is the address of a number), or the block has failed."""

    def generate(context, builder, signature, args):
        pointer = builder.inttoptr(args[0], INDEX.as_pointer())
        stopped = builder.load_atomic(pointer, "monotonic", 8)
        return builder.icmp_unsigned("==", builder.or_(stopped, builder.load(args[1])), INDEX(0))

    return types.boolean(types.intp, flag), generate


def _assume(builder, fact):
    name = "llvm.assume"
    known = builder.module.globals.get(name)
    kind = ir.FunctionType(ir.VoidType(), [ir.IntType(1)])
    builder.call(known or ir.Function(builder.module, kind, name), [fact])


@intrinsic
def assume(typing, fact):
    """A promise to LLVM."""

    def generate(context, builder, signature, args):
        _assume(builder, args[0])
        return context.get_dummy_value()

    return types.void(types.boolean), generate


@intrinsic
def between(typing, value, low, high):
    """``value``, with the promise to LLVM that it lies in low <= value < high."""

    def generate(context, builder, signature, args):
        _assume(builder, builder.icmp_signed(">=", args[0], args[1]))
        _assume(builder, builder.icmp_signed("<", args[0], args[2]))
        return args[0]

    return types.int64(types.int64, types.int64, types.int64), generate


@intrinsic
def fence(typing):
    """Memory written before is seen before memory written after."""

    def generate(context, builder, signature, args):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def zero_like(typing, value):
    """Zero of the type of ``value``."""

    def generate(context, builder, signature, args):
        return ir.Constant(context.get_value_type(types.unliteral(value)), None)

    return types.unliteral(value)(value), generate


def zero_of(kind):
    """Intrinsic without arguments: zero of a numba type."""

    @intrinsic
    def make(typing):
        def generate(context, builder, signature, args):
            return ir.Constant(context.get_value_type(kind), None)

        return kind(), generate

    return make


@intrinsic
def poison_bytes(typing, memory):
    """Fill an array of bytes with 0xFF."""

    def generate(context, builder, signature, args):
        struct = context.make_array(memory)(context, builder, args[0])
        cgutils.memset(builder, struct.data, builder.extract_value(struct.shape, 0), 0xFF)
        return context.get_dummy_value()

    return types.void(memory), generate
