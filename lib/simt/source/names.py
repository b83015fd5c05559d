"""The names of ``numba.cuda`` that mean something inside a kernel, and how a kernel's own names are looked up."""

import builtins
import sys
import types


class DeviceName:
    """A name such as ``cuda.syncthreads``: used inside a kernel, it is replaced; outside, it is an error."""

    def __init__(self, path):
        self.path = path
        self.__name__ = path.rpartition(".")[2]

    def __repr__(self):
        return f"<cuda.{self.path}>"

    def _refuse(self):
        raise RuntimeError(f"cuda.{self.path} can only be used inside a kernel or device function (@cuda.jit).")

    def __call__(self, *args, **kwargs):
        self._refuse()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()


class DeviceNamespace:
    """A group of device names, such as ``cuda.atomic``."""

    def __init__(self, path, names):
        self._path = path
        for name in names:
            setattr(self, name, DeviceName(f"{path}.{name}"))

    def __getattr__(self, name):
        raise AttributeError(f"cuda.{self._path} has no {name!r} in the executor")


PLAIN = (
    "threadIdx", "blockIdx", "blockDim", "gridDim", "laneid", "warpsize", "grid", "gridsize",
    "syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or", "syncwarp",
    "shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync",
    "ballot_sync", "any_sync", "all_sync", "eq_sync", "match_any_sync", "match_all_sync",
    "activemask", "lanemask_lt", "threadfence", "threadfence_block", "threadfence_system", "nanosleep",
    "fma", "popc", "clz", "ffs", "brev", "cbrt", "selp",
)  # fmt: skip
GROUPS = {
    "shared": ("array",),
    "local": ("array",),
    "const": ("array_like",),
    "cg": ("this_grid",),
    "atomic": (
        "add", "sub", "max", "min", "nanmax", "nanmin", "inc", "dec", "and_", "or_", "xor", "exch", "cas",
        "compare_and_swap",
    ),
}  # fmt: skip

DEVICE = {name: DeviceName(name) for name in PLAIN}
DEVICE.update({group: DeviceNamespace(group, names) for group, names in GROUPS.items()})

_NUMBA_MODULES = ("numba.cuda", "numba_cuda.numba.cuda", "numba.cuda.simulator")


def _from_numba(value):
    """The executor's counterpart of an object imported from numba.cuda (``from numba.cuda import threadIdx``)."""
    module = sys.modules.get("numba.cuda")
    if module is None or isinstance(value, (int, float, complex, str, tuple)):
        return None
    for name in (*PLAIN, *GROUPS):
        if value is getattr(module, name, _MISSING):
            return DEVICE[name]
    for group, names in GROUPS.items():
        original = getattr(module, group, None)
        for name in names:
            if value is getattr(original, name, _MISSING):
                return getattr(DEVICE[group], name)
    return None


_MISSING = object()


def is_cuda_module(value):
    return isinstance(value, types.ModuleType) and (value.__name__ in _NUMBA_MODULES or value.__name__ == "simt.cuda")


def canonical(value):
    """``value`` with numba.cuda's names replaced by the executor's."""
    if isinstance(value, (DeviceName, DeviceNamespace)):
        return value
    found = _from_numba(value)
    return value if found is None else found


def member(value, attribute):
    """``value.attribute`` where ``value`` is known before the kernel runs. AttributeError if there is none."""
    if is_cuda_module(value):
        if attribute in DEVICE:
            return DEVICE[attribute]
        return canonical(getattr(sys.modules["simt.cuda"], attribute, None) or getattr(value, attribute))
    if isinstance(value, DeviceName):  # threadIdx.x
        raise AttributeError(attribute)
    return canonical(getattr(value, attribute))


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
