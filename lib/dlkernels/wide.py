"""Loads and stores of 16 bytes in CUDA kernels.

A GPU thread can move 4, 8 or 16 bytes with one instruction. The compiler joins four neighbouring 4-byte
accesses to *global* memory into one only where it can prove that the address is a multiple of 16, which for a
NumPy-style array it cannot. `load4` and `store4` promise it (CUDA C++ programmers write
``reinterpret_cast<float4*>``)::

    a0, a1, a2, a3 = load4(a, 4 * i)
    store4(out, 4 * i, (a0, a1, a2, a3))

The array must be contiguous and its data aligned to 16 bytes, the index a multiple of 4: true for every array
that `cuda.device_array` or `cuda.to_device` makes, not for every slice of one. For float64 an access is 32
bytes, which the hardware moves with two instructions.
"""

from llvmlite import ir

from simt import stand_in

from . import device

try:
    from numba.cuda.extending import intrinsic, types  # numba-cuda, with its own types
except ImportError:
    from numba import types
    from numba.extending import intrinsic

WIDTH = 4


def _vector_address(context, builder, array_type, array, index):
    element = context.get_value_type(array_type.dtype)
    data = context.make_array(array_type)(context, builder, array).data
    vector = ir.VectorType(element, WIDTH)
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer()), vector


def _lane(k):
    return ir.Constant(ir.IntType(32), k)


@intrinsic
def load4(typing_context, array, index):
    """Four neighbouring elements of `array`, from `index` (a multiple of 4) on, as a tuple."""

    def generate(context, builder, signature, args):
        address, _ = _vector_address(context, builder, signature.args[0], *args)
        loaded = builder.load(address, align=16)
        lanes = [builder.extract_element(loaded, _lane(k)) for k in range(WIDTH)]
        return context.make_tuple(builder, signature.return_type, lanes)

    return types.UniTuple(array.dtype, WIDTH)(array, index), generate


@intrinsic
def store4(typing_context, array, index, values):
    """Store the tuple of four `values` at `index` (a multiple of 4) and after."""

    def generate(context, builder, signature, args):
        array, index, values = args
        address, vector = _vector_address(context, builder, signature.args[0], array, index)
        value = ir.Constant(vector, ir.Undefined)
        for k in range(WIDTH):
            value = builder.insert_element(value, builder.extract_value(values, k), _lane(k))
        builder.store(value, address, align=16)
        return context.get_dummy_value()

    return types.void(array, index, values), generate


def _load4_in_python(context, array, index):
    return context.load(array, index, WIDTH)


def _store4_in_python(context, array, index, values):
    context.store(array, index, values)


stand_in(load4, _load4_in_python)
stand_in(store4, _store4_in_python)

if device.name == "simulator":  # it runs plain Python only

    def load4(array, index):
        return tuple(array[index + k] for k in range(WIDTH))

    def store4(array, index, values):
        for k in range(WIDTH):
            array[index + k] = values[k]
