"""Give a kernel to another back end: numba.cuda's compiler, or its simulator."""

import types

from . import cuda
from .intrinsics import Intrinsic
from .kernel import Kernel
from .source.names import DeviceName, DeviceNamespace


def retarget(kernel, cuda_module):
    """A copy of a kernel's Python function that speaks to another ``cuda`` module; jit it there yourself.

    kernel: a ``Kernel`` or a Python function. In the copy, the executor's ``cuda`` and every name from it become those
    of ``cuda_module``, and device functions (and those they call) are jitted there. The original is not touched.
    """
    return _Retarget(cuda_module).function(getattr(kernel, "py_func", kernel))


class _Retarget:
    def __init__(self, cuda_module):
        self.cuda_module = cuda_module
        self.copies = {}

    def function(self, original):
        if original in self.copies:
            return self.copies[original]
        names = _names_used(original.__code__)
        namespace = dict(original.__globals__)
        closure = tuple(types.CellType() for _ in original.__closure__ or ())
        copy = types.FunctionType(
            original.__code__, namespace, original.__name__, original.__defaults__, closure or None
        )
        copy.__kwdefaults__, copy.__module__ = original.__kwdefaults__, original.__module__
        self.copies[original] = copy
        for name in names & namespace.keys():
            namespace[name] = self.value(namespace[name])
        for cell, known in zip(closure, original.__closure__ or (), strict=True):
            cell.cell_contents = self.value(known.cell_contents)
        return copy

    def value(self, value):
        if value is cuda:
            return self.cuda_module
        if isinstance(value, (DeviceName, DeviceNamespace)):
            counterpart = self.cuda_module
            for part in (value.path if isinstance(value, DeviceName) else value._path).split("."):
                counterpart = getattr(counterpart, part)
            return counterpart
        if isinstance(value, Intrinsic):
            return value.there
        if isinstance(value, Kernel):
            if value not in self.copies:
                options = {k: v for k, v in value.targetoptions.items() if k != "device"}
                jitted = self.cuda_module.jit(device=value.device, **options)(self.function(value.py_func))
                self.copies[value] = jitted
            return self.copies[value]
        return value


def _names_used(code):
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_used(constant)
    return names
