"""The same kernel, for another ``cuda`` module: what was written for the executor is handed to numba's compiler.

The function is rebuilt with a copy of its globals and closure in which the executor's ``cuda`` and its
device functions are replaced. The original function and its module are not touched.
"""

import operator
import types

from ..simt import Kernel
from ..simt import cuda as facade
from ..simt.names import DeviceName, DeviceNamespace


def retarget(function, cuda, known=None):
    """A copy of ``function`` that uses ``cuda`` (numba.cuda) wherever it used the executor's."""
    known = {} if known is None else known
    if function in known:
        return known[function]
    scope = dict(function.__globals__)
    cells = tuple(types.CellType() for _ in function.__closure__ or ())
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells)
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    known[function] = copy
    for name in _names(function.__code__) & scope.keys():
        scope[name] = _replace(scope[name], cuda, known)
    for cell, original in zip(cells, function.__closure__ or (), strict=True):
        cell.cell_contents = _replace(original.cell_contents, cuda, known)
    return copy


def _names(code):
    """Global names a function may use, those of functions inside it too."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


def _replace(value, cuda, known):
    if value is facade:
        return cuda
    if isinstance(value, Kernel):
        return cuda.jit(device=True)(retarget(value.py_func, cuda, known)) if value.device else value
    if isinstance(value, DeviceNamespace):
        return getattr(cuda, value._path)
    if isinstance(value, DeviceName):
        return operator.attrgetter(value.path)(cuda)
    return value
