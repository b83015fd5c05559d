"""Lines of memory: arrays of one dimension that begin somewhere and have no end.

A kernel that takes lines and strides is compiled once, where one that takes matrices is compiled again for every
mixture of layouts. A line neither owns nor bounds its memory: keep the array alive, and count well.
"""

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from .inner import UNOWNED
from .tile import as_index, check_array, constant, first_element


@intrinsic
def memory(typingctx, array):
    """``memory(array)``: the memory from the array's first element on, whatever its layout and numbers are.

    A line is not counted as an array in use is, which costs as much as a short loop.
    """
    if not isinstance(array, types.Array) or not isinstance(array.dtype, types.Number):
        raise TypingError(f"memory expects an array of numbers, not {array}")
    line = types.Array(array.dtype, 1, "C", readonly=not array.mutable)

    def emit(context, builder, signature, arguments):
        return _line(context, builder, line, first_element(context, builder, array, arguments[0]))

    return line(array), emit


@intrinsic
def memory_at(typingctx, address, like):
    """``memory_at(address, like)``: as `memory`, from a place given as a number, with the dtype of the array
    ``like``."""
    check_array("memory_at", like)
    line = types.Array(like.dtype, 1, "C")

    def emit(context, builder, signature, arguments):
        element_type = context.get_data_type(line.dtype)
        return _line(context, builder, line, builder.inttoptr(arguments[0], element_type.as_pointer()))

    return line(address, like), emit


UNOWNED.update((memory, memory_at))


def _line(context, builder, line, data):
    """An array of one dimension, without owner and practically without end, that begins at `data`."""
    result = context.make_array(line)(context, builder)
    single, itemsize = types.UniTuple(types.intp, 1), constant(line.dtype.bitwidth // 8)
    result.data, result.nitems, result.itemsize = data, constant(1 << 48), itemsize
    result.shape = context.make_tuple(builder, single, [constant(1 << 48)])
    result.strides = context.make_tuple(builder, single, [itemsize])
    result.meminfo, result.parent = (ir.Constant(result.meminfo.type, None), ir.Constant(result.parent.type, None))
    return result._getvalue()


@intrinsic
def element(typingctx, line, index):
    """``element(line, index)``: one number. Unlike ``line[index]``, a negative ``index`` lies before the line's first
    element."""
    check_array("element", line)

    def emit(context, builder, signature, arguments):
        address = builder.gep(
            first_element(context, builder, line, arguments[0]), [as_index(context, builder, index, arguments[1])]
        )
        return builder.load(address, align=line.dtype.bitwidth // 8)

    return line.dtype(line, index), emit
