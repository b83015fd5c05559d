"""Loads and stores of 16 bytes in CUDA kernels.

A GPU thread can move 4, 8 or 16 bytes with one instruction. The compiler joins four neighbouring 4-byte
accesses into one only where it can prove that the address is a multiple of 16, which for an argument, a NumPy-style
array, it cannot. `load4` and `store4` promise it (CUDA C++ programmers write ``reinterpret_cast<float4*>``)::

    a0, a1, a2, a3 = load4(a, 4 * i)
    store4(out, 4 * i, (a0, a1, a2, a3))
    t0, t1, t2, t3 = load4(tile, (row, column))         # of shared memory

`store2` stores two neighbours, 8 bytes. The array must be C-contiguous and its data aligned to 16 bytes, the (last)
index a multiple of the width: true for every array that `cuda.device_array` or `cuda.to_device` makes, not for every
slice of one (layouts.aligned asks), and for a shared array whose rows are multiples of 16 bytes. For float64 an access
is 32 bytes, which the hardware moves with two instructions.
"""

from llvmlite import ir

from simt import stand_in
from simt.intrinsics import Intrinsic, Types, extending

from . import device

types = Types()
intrinsic = Intrinsic if device.name == "executor" else extending().intrinsic

WIDTH = 4


def element_pointer(context, builder, array_type, array, index_type, index):
    """LLVM pointer to one element of a C-contiguous array; `index`: an integer, or a tuple of one for each axis."""
    struct = context.make_array(array_type)(context, builder, array)
    if not isinstance(index_type, types.BaseTuple):
        return builder.gep(struct.data, [index])
    offset = None
    for axis, kind in enumerate(index_type):
        step = context.cast(builder, builder.extract_value(index, axis), kind, types.intp)
        extent = builder.extract_value(struct.shape, axis)
        offset = step if offset is None else builder.add(builder.mul(offset, extent), step)
    return builder.gep(struct.data, [offset])


def _vector_address(context, builder, width, array_type, array, index_type, index):
    vector = ir.VectorType(context.get_value_type(array_type.dtype), width)
    pointer = element_pointer(context, builder, array_type, array, index_type, index)
    return builder.bitcast(pointer, vector.as_pointer()), vector


def _alignment(array_type, width):
    return min(16, width * array_type.dtype.bitwidth // 8)


def _lane(k):
    return ir.Constant(ir.IntType(32), k)


def _load(width):
    def load(typing_context, array, index):
        def generate(context, builder, signature, args):
            array_type, index_type = signature.args
            address, _ = _vector_address(context, builder, width, array_type, args[0], index_type, args[1])
            loaded = builder.load(address, align=_alignment(array_type, width))
            lanes = [builder.extract_element(loaded, _lane(k)) for k in range(width)]
            return context.make_tuple(builder, signature.return_type, lanes)

        return types.UniTuple(array.dtype, width)(array, index), generate

    load.__name__ = f"load{width}"
    load.__doc__ = f"{width} neighbouring elements of `array`, from `index` (a multiple of {width}) on, as a tuple."
    return intrinsic(load)


def _store(width):
    def store(typing_context, array, index, values):
        def generate(context, builder, signature, args):
            array_type, index_type, _ = signature.args
            array, index, values = args
            address, vector = _vector_address(context, builder, width, array_type, array, index_type, index)
            value = ir.Constant(vector, ir.Undefined)
            for k in range(width):
                value = builder.insert_element(value, builder.extract_value(values, k), _lane(k))
            builder.store(value, address, align=_alignment(array_type, width))
            return context.get_dummy_value()

        return types.void(array, index, values), generate

    store.__name__ = f"store{width}"
    store.__doc__ = f"Store the tuple of {width} `values` at `index` (a multiple of {width}) and after."
    return intrinsic(store)


load4, store4, store2 = _load(4), _store(4), _store(2)


def _load4_in_python(context, array, index):
    return context.load(array, index, 4)


def _store_in_python(context, array, index, values):
    context.store(array, index, values)


stand_in(load4, _load4_in_python)
stand_in(store4, _store_in_python)
stand_in(store2, _store_in_python)

if device.name == "simulator":  # it runs plain Python only

    def _neighbour(index, k):
        return (*index[:-1], index[-1] + k) if isinstance(index, tuple) else index + k

    def load4(array, index):
        return tuple(array[_neighbour(index, k)] for k in range(WIDTH))

    def store4(array, index, values):
        for k, value in enumerate(values):
            array[_neighbour(index, k)] = value

    store2 = store4
