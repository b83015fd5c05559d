"""The names of ``numba.cuda``, for the executor: ``from simt import cuda``.

A kernel written for this module runs unchanged on a GPU with ``from numba import cuda``, and the other way round.
Device-side names (``threadIdx``, ``syncthreads`` ...) mean something inside a kernel only.
"""

import contextlib
import importlib
import sys
import types as types_

from numba import types
from numba.core import sigutils
from numba.core.types import (  # noqa: F401
    boolean,
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    intp,
    uint8,
    uint16,
    uint32,
    uint64,
    uintp,
    void,
)

from . import limits
from .dispatcher import Dispatcher
from .hostarrays import (  # noqa: F401
    DeviceNDArray,
    device_array,
    device_array_like,
    from_interface,
    managed_array,
    mapped_array,
    mapped_array_like,
    pinned_array,
    pinned_array_like,
    to_device,
)
from .policy import engine, last_launch  # noqa: F401
from .source.names import DEVICE
from .streams import default_stream, event, event_elapsed_time, external_stream, stream, synchronize  # noqa: F401
from .vectors import VECTORS

globals().update(DEVICE)
globals().update(VECTORS)
HAS_NUMBA = True
double = float64
legacy_default_stream = per_thread_default_stream = default_stream
implementation = "dlkernels executor"

_OPTIONS = frozenset((
    "inline", "forceinline", "link", "debug", "opt", "lineinfo", "cache", "launch_bounds", "lto", "fastmath",
    "max_registers", "cooperative", "extensions", "abi", "abi_info", "shared_memory_carveout", "boundscheck",
    "nopython",
))  # fmt: skip


def jit(func_or_sig=None, device=False, **options):
    """Make a kernel, or a device function with ``device=True``. Also ``@cuda.jit("void(float32[:])")`` and lists of
    these.

    Options that steer numba's compiler (``fastmath``, ``lineinfo``, ``max_registers`` ...) are accepted and change
    nothing.
    """
    unknown = set(options) - _OPTIONS
    if unknown:
        raise TypeError(f"cuda.jit() does not know the option {sorted(unknown)[0]!r}")
    if options.get("boundscheck"):
        raise NotImplementedError("bounds checking is not supported for CUDA (the executor always checks)")
    if func_or_sig is None:
        return lambda function: Dispatcher(function, (), device, options)
    if isinstance(func_or_sig, Dispatcher):
        raise TypeError("A jit decorator was called on an already jitted function: use its .py_func")
    if isinstance(func_or_sig, list) or sigutils.is_signature(func_or_sig):
        signatures = func_or_sig if isinstance(func_or_sig, list) else [func_or_sig]

        def declare(function):
            for signature in signatures:
                result = sigutils.normalize_signature(signature)[1]
                if not device and result not in (None, types.none):
                    raise TypeError("CUDA kernel must have void return type.")
            return Dispatcher(function, signatures, device, options)

        return declare
    if not callable(func_or_sig):
        raise TypeError(f"cuda.jit takes a function or a signature, a {type(func_or_sig).__name__} came")
    return Dispatcher(func_or_sig, (), device, options)


class Reduce:
    """``@cuda.reduce``: makes a function that reduces a 1-D array with a binary function, here on the host."""

    def __init__(self, functor):
        self._functor = functor

    def __call__(self, arr, size=None, res=None, init=0, stream=0):  # noqa: F811
        values = (arr.copy_to_host() if isinstance(arr, DeviceNDArray) else arr)[:size]
        total = init
        for value in values:
            total = self._functor(total, value)
        if res is None:
            return total
        res[0] = total
        return None


reduce = Reduce


class Device:
    """The device that the executor pretends to be. Its name says so; its limits are those of real GPUs."""

    name = b"dlkernels executor (CPU, no GPU)"
    id = 0
    compute_capability = (8, 0)
    uuid = "executor"
    WARP_SIZE = limits.WARP_SIZE
    MAX_THREADS_PER_BLOCK = limits.MAX_THREADS_PER_BLOCK
    MAX_BLOCK_DIM_X, MAX_BLOCK_DIM_Y, MAX_BLOCK_DIM_Z = limits.MAX_BLOCK
    MAX_GRID_DIM_X, MAX_GRID_DIM_Y, MAX_GRID_DIM_Z = limits.MAX_GRID
    MAX_SHARED_MEMORY_PER_BLOCK = limits.MAX_SHARED_PER_BLOCK
    MAX_THREADS_PER_MULTI_PROCESSOR = limits.MAX_THREADS_PER_MULTIPROCESSOR
    MULTIPROCESSOR_COUNT = limits.MULTIPROCESSORS
    TOTAL_CONSTANT_MEMORY = limits.MAX_CONSTANT_MEMORY
    COMPUTE_CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MINOR = compute_capability
    supports_float16 = True

    def __repr__(self):
        return "<CUDA device 0: dlkernels executor (CPU, no GPU)>"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def reset(self):
        """Nothing to reset."""


class Context:
    """The context of the pretended device."""

    def __init__(self, device):
        self.device = device
        self.deallocations = []  # nothing waits to be freed

    def get_memory_info(self):
        """(free, total) bytes: of the host, since that is where arrays live."""
        import psutil

        memory = psutil.virtual_memory()
        return MemoryInfo(memory.available, memory.total)

    def synchronize(self):
        """Nothing to wait for."""

    def reset(self):
        """Nothing to reset."""


class MemoryInfo(tuple):
    def __new__(cls, free, total):
        return super().__new__(cls, (free, total))

    free = property(lambda self: self[0])
    total = property(lambda self: self[1])


_device = Device()
gpus = [_device]


def list_devices():
    return gpus


def is_available():
    """True: kernels can be run, by the executor. (No GPU is claimed: see ``get_current_device().name``.)"""
    return True


def cuda_error():
    return None


def is_float16_supported():
    return True


def get_current_device():
    return _device


def select_device(device_id):
    if device_id != 0:
        raise ValueError(f"there is one device, number 0; {device_id!r} came")
    return Context(_device)


def current_context(devnum=None):
    return Context(_device)


def close():
    """Nothing to close."""


def detect():
    """Print what there is."""
    print("Found 1 CUDA devices\nid 0    b'dlkernels executor (CPU, no GPU)'    [RUNS ON THE CPU]")
    return True


@contextlib.contextmanager
def defer_cleanup():
    yield


@contextlib.contextmanager
def pinned(*arrays):
    yield


@contextlib.contextmanager
def mapped(*arrays, **options):
    devices = [DeviceNDArray(a) for a in arrays]
    yield devices[0] if len(devices) == 1 else devices


def profile_start():
    """No profiler to start."""


def profile_stop():
    """No profiler to stop."""


@contextlib.contextmanager
def profiling():
    yield


def is_cuda_array(obj):
    return isinstance(obj, DeviceNDArray) or hasattr(obj, "__cuda_array_interface__")  # asking one of ours changes it


def from_cuda_array_interface(desc, owner=None, sync=True):
    return from_interface(types_.SimpleNamespace(__cuda_array_interface__=desc, owner=owner))


def as_cuda_array(obj, sync=True):
    if isinstance(obj, DeviceNDArray):
        return obj
    if not is_cuda_array(obj):
        raise TypeError("*obj* doesn't implement the cuda array interface.")
    return from_interface(obj)


def __getattr__(name):
    if name in ("random", "libdevice", "fp16", "types"):
        home = types if name == "types" else importlib.import_module(f".{name}", __package__)
        globals()[name] = home
        return home
    if name in ("compile", "compile_ptx", "compile_for_current_device", "compile_ptx_for_current_device"):
        raise AttributeError(f"cuda.{name} needs the gpu extra (numba-cuda): the executor does not compile")
    raise AttributeError(f"cuda has no {name!r} in the executor (module {sys.modules[__name__].__name__})")
