"""The names of ``numba.cuda`` that mean something inside a kernel, and how a kernel's own names are looked up.

The list below is the only one. Each engine says of every name in it what it becomes, or that it is refused.
"""

import builtins
import sys
from types import ModuleType

from numba.core import types


class OutsideOfAKernel(RuntimeError, AttributeError):
    """A name of the device is used where there is no thread. (To getattr and hasattr: there is no such attribute.)"""


class DeviceName:
    """A name such as ``cuda.syncthreads``: used inside a kernel, it is replaced; outside, it is an error.

    kind: see ``_LIST``. parameters: names of the arguments of a call; optional: those that may be left out.
    """

    def __init__(self, path, kind, parameters=(), optional=()):
        self.path, self.kind, self.parameters, self.optional = path, kind, parameters, optional
        self.__name__ = path.rpartition(".")[2]

    def __repr__(self):
        return f"<cuda.{self.path}>"

    def _refuse(self):
        raise OutsideOfAKernel(f"cuda.{self.path} can only be used inside a kernel or device function (@cuda.jit).")

    def __call__(self, *args, **kwargs):
        self._refuse()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()


class DeviceNamespace:
    """A group of device names, such as ``cuda.atomic``."""

    def __init__(self, path):
        self._path = path

    def __getattr__(self, name):
        raise AttributeError(f"cuda.{self._path} has no {name!r} in the executor")


#: kind -> names, with the arguments of those that are called
_LIST = {
    "place": ("threadIdx", "blockIdx", "blockDim", "gridDim"),  # .x, .y, .z
    "value": ("laneid", "warpsize"),
    "index": ("grid(ndim)", "gridsize(ndim)"),
    "barrier": (
        "syncthreads()", "syncthreads_count(predicate)", "syncthreads_and(predicate)", "syncthreads_or(predicate)",
    ),
    "warp": (
        "syncwarp(mask=)", "activemask()",
        "shfl_sync(mask, value, src_lane)", "shfl_up_sync(mask, value, delta)", "shfl_down_sync(mask, value, delta)",
        "shfl_xor_sync(mask, value, lane_mask)",
        "ballot_sync(mask, predicate)", "any_sync(mask, predicate)", "all_sync(mask, predicate)",
        "eq_sync(mask, predicate)", "match_any_sync(mask, value)", "match_all_sync(mask, value)",
    ),
    "fence": ("threadfence()", "threadfence_block()", "threadfence_system()"),
    "pause": ("nanosleep(ns)",),
    "arithmetic": (
        "lanemask_lt()", "fma(a, b, c)", "popc(x)", "clz(x)", "ffs(x)", "brev(x)", "cbrt(x)",
        "selp(test, if_true, if_false)",
    ),
    "array": ("shared.array(shape, dtype, alignment=)", "local.array(shape, dtype, alignment=)"),
    "constant array": ("const.array_like(ary)",),
    "group": ("cg.this_grid()",),
    "atomic": (
        "atomic.add(ary, idx, val)", "atomic.sub(ary, idx, val)", "atomic.max(ary, idx, val)",
        "atomic.min(ary, idx, val)", "atomic.nanmax(ary, idx, val)", "atomic.nanmin(ary, idx, val)",
        "atomic.inc(ary, idx, val)", "atomic.dec(ary, idx, val)", "atomic.and_(ary, idx, val)",
        "atomic.or_(ary, idx, val)", "atomic.xor(ary, idx, val)", "atomic.exch(ary, idx, val)",
        "atomic.cas(ary, idx, old, val)", "atomic.compare_and_swap(ary, old, val)",
    ),
}  # fmt: skip


def _read(kind, text):
    path, _, arguments = text.rstrip(")").partition("(")
    parameters = [a for a in arguments.split(", ") if a]
    return DeviceName(
        path, kind, tuple(a.rstrip("=") for a in parameters), tuple(a[:-1] for a in parameters if a.endswith("="))
    )


#: path -> name: "syncthreads", "atomic.add"
NAMES = {name.path: name for name in (_read(kind, text) for kind, texts in _LIST.items() for text in texts)}


def _grouped():
    """The names as attributes of ``cuda``: ``syncthreads``, ``atomic``."""
    attributes = {}
    for path, name in NAMES.items():
        group, _, member_name = path.rpartition(".")
        if group:
            setattr(attributes.setdefault(group, DeviceNamespace(group)), member_name, name)
        else:
            attributes[path] = name
    return attributes


DEVICE = _grouped()
_NUMBA_MODULES = ("numba.cuda", "numba_cuda.numba.cuda", "numba.cuda.simulator")
_MISSING = object()


def _from_numba(value):
    """Our counterpart of an object imported from numba.cuda (``from numba.cuda import threadIdx``)."""
    module = sys.modules.get("numba.cuda")
    if module is None or isinstance(value, (int, float, complex, str, tuple)):
        return None
    for attribute, ours in DEVICE.items():
        if value is getattr(module, attribute, _MISSING):
            return ours
    for path, name in NAMES.items():
        group, _, attribute = path.rpartition(".")
        if group and value is getattr(getattr(module, group, None), attribute, _MISSING):
            return name
    return None


def canonical(value):
    """``value`` with numba.cuda's names replaced by ours."""
    if isinstance(value, (DeviceName, DeviceNamespace)):
        return value
    ours = _from_numba(value)
    return value if ours is None else ours


def member(value, attribute):
    """``value.attribute`` where ``value`` is known before the kernel runs. AttributeError if there is none."""
    if isinstance(value, ModuleType) and value.__name__ in _NUMBA_MODULES:
        if attribute in DEVICE:
            return DEVICE[attribute]
        if attribute == "types":
            return types
        if isinstance(known := getattr(types, attribute, None), types.Type):  # numba-cuda may have one of its own
            return known
    if isinstance(value, DeviceName):  # threadIdx.x
        raise AttributeError(attribute)
    return canonical(getattr(value, attribute))


def python_of(function):
    """The Python function of a device function; None for anything else."""
    return None if isinstance(function, DeviceName) else getattr(function, "py_func", None)


class Scope:
    """What a function's non-local names refer to: closure, then globals, then builtins. Read once, as numba does."""

    def __init__(self, function):
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        self._closure = cells
        self._globals = function.__globals__

    def lookup(self, name):
        """The object, or NameError."""
        if name in self._closure:
            try:
                return canonical(self._closure[name].cell_contents)
            except ValueError:
                raise NameError(f"{name} is not assigned yet") from None
        if name in self._globals:
            return canonical(self._globals[name])
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError(f"name {name!r} is not defined")
