"""How a compiled kernel reads and writes arrays: numba intrinsics, each a few LLVM instructions.

A lowered kernel does not write ``a[i]`` but ``load(flag, site, a, i)``. With a ``flag`` the index is checked::

    a[i]        ok = (unsigned) i < n;  *flag |= ok ? 0 : 1 << site;  value = ok ? a.data[i] : 0

Nothing jumps out of the loop over the threads, so LLVM can still turn that loop into vector instructions, and removes
the check where it can prove it (a guard, the bounds of a loop). The flag is looked at when the block is done. Without a
flag (``None``) nothing is checked. A negative index is an error, as in the executor: the comparison is unsigned.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np import arrayobj

from ..settings import wraps
from ..trace import LOAD, STORE
from .casts import convert
from .watching import WatchedAccess
from .words import INDEX


def integers(index):
    """Types of the parts of an index; TypingError for anything that is no whole number."""
    parts = list(index) if isinstance(index, types.BaseTuple) else [index]
    for part in parts:
        if not isinstance(part, types.Integer):
            raise TypingError(f"an index must be a whole number, not {part}")
    return parts


def check_array(array, count):
    """TypingError unless ``array`` is an array of plain values with at least ``count`` axes."""
    if not isinstance(array, types.Array):
        raise TypingError(f"{array} cannot be indexed")
    if not isinstance(array.dtype, (types.Number, types.Boolean)):
        raise TypingError(f"elements of type {array.dtype}")
    if count > array.ndim:
        raise TypingError(f"an array of {array.ndim} axes takes no {count} indices")


class Access:
    """One element (or row) of an array, in LLVM: ``ok``, and ``pointer`` to it."""

    def __init__(self, context, builder, array_type, array, index_type, index):
        self.context, self.builder, self.type = context, builder, array_type
        parts = integers(index_type)
        values = cgutils.unpack_tuple(builder, index) if isinstance(index_type, types.BaseTuple) else [index]
        self.indices = [
            builder.sext(v, INDEX)
            if t.signed and v.type.width < 64
            else builder.zext(v, INDEX)
            if v.type.width < 64
            else v
            for t, v in zip(parts, values, strict=True)
        ]
        self.array = context.make_array(array_type)(context, builder, array)
        self.shape = cgutils.unpack_tuple(builder, self.array.shape, array_type.ndim)
        if wraps():
            self.indices = [
                builder.select(builder.icmp_signed("<", i, INDEX(0)), builder.add(i, n), i)
                for i, n in zip(self.indices, self.shape, strict=False)
            ]
        self.strides = cgutils.unpack_tuple(builder, self.array.strides, array_type.ndim)

    def ok(self, last=0):
        """i1: every index lies inside; ``last`` more elements of the last axis too."""
        b, result = self.builder, ir.Constant(ir.IntType(1), 1)  # an array without axes has one element
        for axis, (i, n) in enumerate(zip(self.indices, self.shape, strict=False)):
            inside = b.icmp_unsigned("<", i, n)
            if last and axis == len(self.indices) - 1:
                inside = b.and_(inside, b.icmp_unsigned("<", b.add(i, INDEX(last)), n))
            result = b.and_(result, inside) if axis else inside
        return result

    def pointer(self):
        missing = self.type.ndim - len(self.indices)
        indices = self.indices + [INDEX(0)] * missing
        return cgutils.get_item_pointer2(
            self.context, self.builder, self.array.data, self.shape, self.strides, self.type.layout, indices, False
        )


@intrinsic(prefer_literal=True)
def load(typing, flag, site, array, index):
    """``array[index]``: an element, a view of the rest where indices are missing, or a tuple's item."""
    if isinstance(array, types.BaseTuple):
        return _load_tuple(flag, site, array, index)
    count = len(integers(index))
    check_array(array, count)
    if count < array.ndim:
        return _load_view(flag, site, array, index, count)

    def generate(context, builder, signature, args):
        access = Access(context, builder, array, args[2], index, args[3])

        def fetch():
            return arrayobj.load_item(context, builder, array, access.pointer())

        return WatchedAccess(context, builder, flag, args[0], site).access(access, LOAD, fetch)

    return array.dtype(flag, site, array, index), generate


def _load_view(flag, site, array, index, count):
    layout = "C" if array.layout == "C" else "A"
    view = types.Array(array.dtype, array.ndim - count, layout, readonly=not array.mutable)

    def generate(context, builder, signature, args):
        access = Access(context, builder, array, args[2], index, args[3])
        if flag != types.none:
            ok = access.ok()
            WatchedAccess(context, builder, flag, args[0], site).note(ok)
            access.indices = [builder.select(ok, i, INDEX(0)) for i in access.indices]
        row = context.make_array(view)(context, builder)
        arrayobj.populate_array(row, access.pointer(), access.shape[count:], access.strides[count:],
                                access.array.itemsize, None, parent=access.array.parent)  # fmt: skip
        if flag != types.none:  # of an array without elements there is no row 0: the view is empty then
            shape = [builder.select(ok, n, INDEX(0)) for n in access.shape[count:]]
            row.shape = cgutils.pack_array(builder, shape)
        return row._getvalue()

    return view(flag, site, array, index), generate


def _load_tuple(flag, site, values, index):
    if isinstance(index, types.IntegerLiteral):
        number, count = index.literal_value, len(values)
        if not -count <= number < count:
            raise TypingError(f"index {number} lies outside a tuple of {count}")

        def generate(context, builder, signature, args):
            return builder.extract_value(args[2], number % count)

        return values[number](flag, site, values, index), generate
    kinds = {types.unliteral(value) for value in values}
    if len(kinds) != 1 or not isinstance(index, types.Integer):
        raise TypingError("a tuple of several types takes a constant index only")
    (kind,) = kinds  # of (1, 2, 3) too, where each item has a literal type of its own

    def generate_dynamic(context, builder, signature, args):
        i = convert(context, builder, args[3], index, types.int64)
        from_end = builder.icmp_signed("<", i, INDEX(0))  # as in Python, and unlike arrays here
        i = builder.select(from_end, builder.add(i, INDEX(len(values))), i)
        ok = builder.icmp_unsigned("<", i, INDEX(len(values)))
        WatchedAccess(context, builder, flag, args[0], site).note(ok)
        result = ir.Constant(context.get_value_type(kind), None)
        for k in range(len(values)):
            result = builder.select(builder.icmp_unsigned("==", i, INDEX(k)), builder.extract_value(args[2], k), result)
        return result

    return kind(flag, site, values, index), generate_dynamic


@intrinsic(prefer_literal=True)
def store(typing, flag, site, array, index, value):
    """``array[index] = value``, converted as a C cast does; floats that do not fit into an integer saturate."""
    count = len(integers(index))
    check_array(array, count)
    if count != array.ndim or not array.mutable:
        raise TypingError("a kernel stores single elements of arrays that are not read-only")
    value_type = types.unliteral(value)
    if not isinstance(value_type, (types.Number, types.Boolean)):
        raise TypingError(f"a {value_type} cannot be stored in an array")
    if isinstance(value_type, types.Complex) and not isinstance(array.dtype, types.Complex):
        raise TypingError("a complex number cannot be stored in an array of real ones")

    def generate(context, builder, signature, args):
        access = Access(context, builder, array, args[2], index, args[3])
        converted = convert(context, builder, args[4], value_type, array.dtype)

        def put():
            arrayobj.store_item(context, builder, array, converted, access.pointer())

        WatchedAccess(context, builder, flag, args[0], site).access(access, STORE, put)
        return context.get_dummy_value()

    return types.void(flag, site, array, index, value_type), generate


# -- 16 bytes at a time -----------------------------------------------------------------------------------------------


def _aligned(builder, access, count):
    """i1: the access begins at a multiple of its own size (the array itself does)."""
    b = builder
    offset = b.sub(b.ptrtoint(access.pointer(), INDEX), b.ptrtoint(access.array.data, INDEX))
    size = b.mul(access.array.itemsize, INDEX(count))
    return b.icmp_unsigned("==", b.urem(offset, size), INDEX(0))


def _neighbours(builder, access, count):
    pointer = access.pointer()
    return [builder.gep(pointer, [INDEX(k)]) for k in range(count)]


@intrinsic(prefer_literal=True)
def load_wide(typing, flag, site, array, index, count):
    """A tuple of ``count`` neighbours of the last axis, from ``array[index]`` on."""
    check_array(array, len(integers(index)))
    number = count.literal_value
    result = types.UniTuple(array.dtype, number)
    if len(integers(index)) != array.ndim or array.layout != "C":
        raise TypingError("a vector access needs a contiguous array and one index for each axis")

    def generate(context, builder, signature, args):
        access = Access(context, builder, array, args[2], index, args[3])

        def fetch():
            values = [arrayobj.load_item(context, builder, array, p) for p in _neighbours(builder, access, number)]
            return context.make_tuple(builder, result, values)

        watch = WatchedAccess(context, builder, flag, args[0], site)
        return watch.access(access, LOAD, fetch, None, number - 1, lambda: _aligned(builder, access, number))

    return result(flag, site, array, index, count), generate


@intrinsic(prefer_literal=True)
def store_wide(typing, flag, site, array, index, values):
    """Store the tuple ``values`` at ``array[index]`` and after."""
    check_array(array, len(integers(index)))
    number = len(values)
    if len(integers(index)) != array.ndim or array.layout != "C" or not array.mutable:
        raise TypingError("a vector access needs a contiguous array and one index for each axis")

    def generate(context, builder, signature, args):
        access = Access(context, builder, array, args[2], index, args[3])
        converted = [
            convert(context, builder, builder.extract_value(args[4], k), types.unliteral(values[k]), array.dtype)
            for k in range(number)
        ]

        def put():
            for pointer, value in zip(_neighbours(builder, access, number), converted, strict=True):
                arrayobj.store_item(context, builder, array, value, pointer)

        watch = WatchedAccess(context, builder, flag, args[0], site)
        watch.access(access, STORE, put, None, number - 1, lambda: _aligned(builder, access, number))
        return context.get_dummy_value()

    return types.void(flag, site, array, index, values), generate
