"""A kernel of numba.cuda and its translation to OpenCL C."""

from dataclasses import dataclass

import numpy as np
from numba.core import types
from numba.np.numpy_support import from_dtype

from simt.executor.arguments import Arguments
from simt.kernel import kernel_of
from simt.limits import dimensions

from .errors import Refused
from .program import Function, Program
from .values import LARGEST, NAMES, ArrayValue, Several, number


@dataclass(frozen=True)
class Translated:
    """A kernel in OpenCL C.

    name: of the kernel. source: all of the text. parameters: of the kernel, in order: (declaration, name, path of the
    argument, what of it, axis). block: the work-group for which it was translated. dynamic: whether the last
    parameter is the dynamic __local memory. doubles: whether it computes in float64, which some GPUs cannot.
    """

    name: str
    source: str
    parameters: tuple
    block: tuple
    dynamic: bool

    @property
    def doubles(self):
        return "cl_khr_fp64" in self.source


_made = {}


def translate(kernel, block, arguments):
    """The `Translated` of a kernel for a shape of block and arguments like these; `Refused` where it has none.

    Whole numbers from 0 to 2**31 - 1 are taken for sizes, and the text holds for such: it is made again for others.
    """
    kernel = kernel_of(kernel)
    block = dimensions(block, "blockdim")
    values = Arguments(kernel, arguments, None).values
    kernel.program(values)  # which says what no GPU takes
    parameters = {name: _given(v) for name, v in zip(_names(kernel.py_func), values, strict=True)}
    key = kernel.py_func, block, tuple(parameters.values())
    if key not in _made:
        program = Program(block)
        name = program.unused(kernel.py_func.__name__)
        function = Function(program, kernel.py_func, parameters, name, True).translate()
        text = program.text(function)
        dynamic = "dynamic" in function.hidden
        _made[key] = Translated(name, text, tuple(function.used_parameters()), block, dynamic)
    return _made[key]


def _names(function):
    return function.__code__.co_varnames[: function.__code__.co_argcount + function.__code__.co_kwonlyargcount]


def _given(value):
    """What is known of an argument: types, layout, and whether a whole number is a usual size."""
    data = getattr(value, "data", None)
    if isinstance(data, np.ndarray):
        return _array(data, value.readonly)
    if isinstance(value, tuple):
        return Several(tuple(map(_given, value)))
    if value is None:
        return None
    if isinstance(value, bool | np.bool_):
        return number("", types.boolean)
    if isinstance(value, int | np.integer):
        kind = types.int64 if isinstance(value, int) else from_dtype(value.dtype)
        usual = 0 <= int(value) <= LARGEST and kind.bitwidth >= 32
        return number("", kind, *((0, LARGEST) if usual else (None, None)))
    kind = types.float64 if isinstance(value, float) else from_dtype(np.dtype(type(value)))
    if kind not in NAMES:
        raise Refused(f"an argument of {kind}: OpenCL C has no such number")
    return number("", kind)


def _array(data, readonly):
    try:
        kind = from_dtype(data.dtype)
    except NotImplementedError:
        kind = None
    if kind not in NAMES:
        raise Refused(f"an array of {data.dtype}: OpenCL C has numbers, no records or complex ones")
    if any(s % data.itemsize for s in data.strides):
        raise Refused("an array whose elements do not lie at multiples of their size: copy it")
    shape = tuple(number("", types.int64, 0, LARGEST) for _ in data.shape)
    strides = None
    if not data.flags.c_contiguous:
        strides = tuple(number("", types.int64, -1 if s < 0 else 0, LARGEST) for s in data.strides)
    return ArrayValue("", kind, "__global", shape, strides, readonly=readonly)
