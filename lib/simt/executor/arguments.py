"""A launch's arguments: checked, copied to the pretended device, and matched with what the kernel was declared for."""

import inspect

import numpy as np
from numba.core import types
from numba.np.numpy_support import as_dtype

from .. import numbers
from ..hostarrays import DeviceNDArray, MappedArray, from_interface, to_device
from .addresses import AddressSpace, describe
from .memory import Array


class Arguments:
    """A kernel's arguments, checked and made ready: ``values`` for the kernel, ``copy_back`` for host arrays."""

    def __init__(self, kernel, args, trace):
        function = kernel.py_func
        parameters = list(inspect.signature(function).parameters.values())
        names = [p.name for p in parameters]
        required = sum(p.default is p.empty for p in parameters)
        if not required <= len(args) <= len(names):
            raise TypeError(
                f"kernel {function.__name__} takes {len(names)} arguments ({', '.join(names)}), {len(args)} came"
            )
        args = [*args, *(p.default for p in parameters[len(args) :])]
        self._back = []
        self._addresses = AddressSpace()
        self._trace = trace
        args = [self._on_device(value, name) for value, name in zip(args, names, strict=True)]
        args = _match(kernel, args)
        self.values = [self._value(value, name) for value, name in zip(args, names, strict=True)]

    def _on_device(self, value, name):
        """Host arrays become device arrays, and are copied back after the launch, as numba does."""
        if isinstance(value, MappedArray):
            return DeviceNDArray(value)
        if isinstance(value, np.ndarray):
            if value.dtype.hasobject or value.dtype.kind in "USMm":
                raise TypeError(f"argument {name!r} is an array of {value.dtype}, which a kernel cannot use")
            try:
                copy = to_device(value)
            except ValueError as error:
                raise ValueError(f"argument {name!r}: {error}") from None
            if value.flags.writeable:
                self._back.append((value, copy))
            else:
                copy._data.flags.writeable = False
            return copy
        if not isinstance(value, DeviceNDArray) and hasattr(value, "__cuda_array_interface__"):
            return from_interface(value)
        if isinstance(value, tuple):
            parts = [self._on_device(v, f"{name}[{i}]") for i, v in enumerate(value)]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
            raise OverflowError(f"argument {name!r} is {value}, which does not fit into 64 bits")
        return value

    def _value(self, value, name):
        if isinstance(value, DeviceNDArray):
            data = value._data
            base = self._addresses.base(data)
            unwritten = (
                value._unwritten if value._unwritten is not None and value._unwritten.bytes is not None else None
            )
            if unwritten is not None and self._trace is None:
                unwritten.forget()
            number = -1
            array = Array(data, name, "global", readonly=not data.flags.writeable, lead=base)
            if self._trace is not None:
                number = len(self._trace.arrays)
                self._trace.arrays.append(describe(array, base))
                if unwritten is not None:
                    self._trace.unwritten[number] = unwritten, base - data.__array_interface__["data"][0]
            array.number = number
            return array
        if isinstance(value, tuple):
            parts = [self._value(v, f"{name}[{i}]") for i, v in enumerate(value)]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if value is None or isinstance(value, (bool, int, float, complex, np.generic)):
            if isinstance(value, np.datetime64 | np.timedelta64 | np.str_ | np.bytes_ | np.object_):
                raise TypeError(f"argument {name!r} is a {type(value).__name__}, which a kernel cannot use")
            if isinstance(value, int) and value >= 1 << 63:
                return np.uint64(value)
            plain = int(value) if isinstance(value, int) and type(value) not in (int, bool) else value
            return numbers.normal(plain)
        if hasattr(value, "copy_to_host"):
            raise TypeError(
                f"argument {name!r} lives on a GPU ({type(value).__module__}): make it with the same `cuda` as the "
                "kernel"
            )
        hint = " (make it a NumPy array: np.array(...))" if isinstance(value, (list, set, range)) else ""
        raise TypeError(f"argument {name!r} is a {type(value).__name__}, which a kernel cannot take{hint}")

    def copy_back(self):
        for host, device in self._back:
            device.copy_to_host(host)


def _match(kernel, args):
    """The arguments as the first declared signature that accepts them takes them; as they are if none is declared."""
    if not kernel.declared:
        return args
    for declared, _ in kernel.declared:
        converted = [_accept(t, v) for t, v in zip(declared, args, strict=False)]
        if len(declared) == len(args) and all(v is not _NO for v in converted):
            return converted
    came = ", ".join(_typed(v) for v in args)
    known = "\n".join(f"    ({', '.join(map(str, declared))})" for declared, _ in kernel.declared)
    raise TypeError(
        f"No matching definition for argument type(s) {came}\n  {kernel.py_func.__name__} was declared for:\n{known}"
    )


_NO = object()


def _accept(declared, value):
    """``value`` as a parameter of the declared type receives it, or ``_NO``."""
    if isinstance(declared, types.Array):
        if not isinstance(value, DeviceNDArray):
            return _NO
        contiguous = {"C": value.is_c_contiguous(), "F": value.is_f_contiguous()}.get(declared.layout, True)
        fits = value.ndim == declared.ndim and value.dtype == as_dtype(declared.dtype) and contiguous
        return value if fits else _NO
    if isinstance(declared, types.BaseTuple):
        if not isinstance(value, tuple) or len(value) != len(declared):
            return _NO
        parts = [_accept(t, v) for t, v in zip(declared, value, strict=True)]
        return _NO if any(p is _NO for p in parts) else tuple(parts)
    if isinstance(declared, (types.Number, types.Boolean)) and isinstance(value, (int, float, complex, np.generic)):
        if isinstance(value, (complex, np.complexfloating)) and not isinstance(declared, types.Complex):
            return _NO
        return numbers.caster(declared)(value)
    return value if not isinstance(value, DeviceNDArray) else _NO


def _typed(value):
    if isinstance(value, DeviceNDArray):
        layout = "C" if value.is_c_contiguous() else "F" if value.is_f_contiguous() else "A"
        return f"array({value.dtype}, {value.ndim}d, {layout})"
    try:
        return str(numbers.numba_type(type(value)))
    except TypeError:
        return type(value).__name__
