"""The host's part of a call on a GPU: launches, results and constants, with what never changes found once and kept.

A short kernel ends before Python has queued the next one; then the call takes as long as the host does.
``kernel[grid, block](x)`` finds out the types of its arguments, looks for the kernel that was compiled for them, for
the device and its context, each time. What can be kept is the same in each call:

    launch(kernel, grid, block, ...)   as kernel[grid, block](...); keeps the compiled kernel, by the types of arguments
    device_array(shape, dtype)         as cuda.device_array, from the driver's own pool of memory (cuMemAllocAsync)
    view(x, shape, dtype)              as x.reshape(shape) of a contiguous array, and x.view(dtype)
    constant(n, value, dtype)          an array of one number, sent once
    sent(x)                            a host array that nobody changes, sent once

To ask for memory and to give it back waits for the device; the pool does neither. It is ordered by the default stream:
what comes of it may be used as any device array by kernels of the default stream, and of all streams that wait for that
one (cuda.stream() makes such). Who uses it in another stream keeps a reference until that stream is done, as with
PyTorch's tensors. Such an array has no handle for other processes (get_ipc_handle).

It is switched on by DLKERNELS_LAUNCH=kept, and off by default: no GPU has run it yet, only a driver that does nothing
(benchmarks/gpu_host.py). Else, and where there is no GPU, all this is what the names of `cuda` do. So it is for what is
not known here: other types of arguments, arrays with strides, cooperative launches.
"""

import ctypes
import functools
import math
import os
import threading
import weakref

import numpy as np

from . import device
from .device import cuda

KEPT = 256  # launches, arrays and constants that are kept, each; beyond, they are made again
QUICK = device.name == "gpu" and os.environ.get("DLKERNELS_LAUNCH", "").strip().lower() == "kept"
if QUICK:
    try:
        from cuda.bindings import driver
        from cuda.core import Device, LaunchConfig, Stream
        from cuda.core import launch as start
        from numba import types
        from numba.cuda.cudadrv.devicearray import DeviceNDArray
        from numba.cuda.cudadrv.driver import MemoryPointer

        # Else no stream waits for all others, and memory that one thread gave back might still be in use.
        QUICK = os.environ.get("NUMBA_CUDA_PER_THREAD_DEFAULT_STREAM", "0") in ("", "0")
    except ImportError:  # an older numba-cuda, which does not stand on cuda.core
        QUICK = False

PASSED = "passed_to_kernels"  # the attribute of our arrays that says how
#: The class of device arrays; None in numba's simulator, which has several.
DEVICE_ARRAY = DeviceNDArray if QUICK else None if device.name == "simulator" else type(cuda.device_array(0, np.uint8))


# ---- where we are ----------------------------------------------------------------------------------------------------


class _Thread(threading.local):
    """What this thread keeps for each device: a context belongs to a thread, and so no lock is needed."""

    def __init__(self):
        self.places = {}


class _Place:
    """A device, as a thread uses it."""

    def __init__(self, gpu):
        self.context = weakref.proxy(cuda.current_context())
        self.stream, self.kernels = Stream.from_handle(0), {}
        self.pool = gpu.memory_resource if gpu.properties.memory_pools_supported else None


_thread = _Thread()


def _place():
    gpu = Device()
    found = _thread.places.get(gpu.device_id)
    if found is None:
        cuda.current_context()  # numba's, which becomes current in this thread
        gpu = Device()
        found = _thread.places[gpu.device_id] = _Place(gpu)
    return found


# ---- launches --------------------------------------------------------------------------------------------------------

if QUICK:
    #: How a number is passed to a kernel, and for which type of argument: as numba does.
    NUMBERS = {
        int: (int, types.int64, ctypes.c_int64),
        bool: (bool, types.boolean, bool),
        float: (float, types.float64, ctypes.c_double),
        np.float32: (np.float32, types.float32, ctypes.c_float),
        np.float64: (np.float64, types.float64, ctypes.c_double),
        np.int32: (np.int32, types.int32, ctypes.c_int32),
        np.int64: (np.int64, types.int64, ctypes.c_int64),
        np.uint32: (np.uint32, types.uint32, ctypes.c_uint32),
    }


def launch(kernel, grid, block, *arguments):
    """``kernel[grid, block](*arguments)``, for contiguous device arrays and numbers in a hundredth of a millisecond."""
    if not QUICK:
        kernel[grid, block](*arguments)
        return
    kinds, values = [kernel], []
    for x in arguments:
        if type(x) is DeviceNDArray and x.is_c_contiguous():
            kind, leading, trailing = x.__dict__.get(PASSED) or _passed(x)
            kinds.append(kind)
            values += *leading, x.device_ctypes_pointer.value or 0, *trailing
        else:
            known = NUMBERS.get(type(x))
            if known is None:
                kernel[grid, block](*arguments)
                return
            kinds.append(known[0])
            values.append(known[2](x))
    state, key = _place(), tuple(kinds)
    compiled = state.kernels.get(key)
    if compiled:
        start(state.stream, _configuration(grid, block), compiled, *values)
    elif compiled is None:
        _keep(state.kernels, key, _first(kernel, grid, block, arguments))
    else:
        kernel[grid, block](*arguments)


def _passed(x):
    """How numba passes an array: two pointers that are not used, elements, bytes of one; address; shape, strides."""
    return (x.dtype, x.ndim), (0, 0, x.size, x.dtype.itemsize), (*x.shape, *x.strides)


@functools.lru_cache(maxsize=KEPT)
def _configuration(grid, block):
    return LaunchConfig(grid=grid, block=block)


def _first(kernel, grid, block, arguments):
    """Launch as numba does; returns the kernel that it has launched, or False where such a launch does more."""
    configured, seen = kernel[grid, block], []

    def note(compiled, _):
        seen.append(compiled)

    configured.pre_launch_callbacks.append(note)
    try:
        configured(*arguments)
    finally:
        configured.pre_launch_callbacks.remove(note)
    compiled = seen[0]
    more = compiled.debug or compiled.cooperative or compiled.extensions or kernel._launch_config_sensitive
    same = len(seen) == 1 and all(map(_takes, compiled.argument_types, arguments))
    return compiled._codelibrary.get_cufunc().kernel if same and not more else False


def _takes(kind, x):
    """Whether a compiled kernel has the very type of an argument, not one to which it could be converted."""
    return kind == (x._numba_type_ if type(x) is DeviceNDArray else NUMBERS[type(x)][1])


def _keep(kept, key, value):
    if len(kept) >= KEPT:
        kept.clear()
    kept[key] = value


# ---- arrays ----------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=KEPT)
def _form(shape, dtype):
    """An array of that shape, without memory: what a new one is a copy of. None where it has no elements."""
    shape, dtype = (shape,) if isinstance(shape, int) else tuple(map(int, shape)), np.dtype(dtype)
    if 0 in shape:
        return None
    strides = tuple(dtype.itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    form = DeviceNDArray(shape, strides, dtype, gpu_data=())
    form._numba_type_  # noqa: B018  (found once, and copied)
    setattr(form, PASSED, _passed(form))
    return form


def _copy(form, memory):
    """As form.bind() makes one, in a fifth of its time."""
    x = object.__new__(DeviceNDArray)
    x.__dict__.update(form.__dict__)
    x.gpu_data = memory
    return x


def device_array(shape, dtype):
    """A new contiguous device array, unset."""
    form = _form(shape, dtype) if QUICK else None
    state = None if form is None else _place()
    if state is None or state.pool is None:
        return cuda.device_array(shape, dtype)
    try:
        buffer = state.pool.allocate(form.alloc_size, stream=state.stream)
    except Exception:  # no memory: numba gives back what waits for that, tries again, and has the words for it
        return cuda.device_array(shape, dtype)
    pointer = driver.CUdeviceptr(int(buffer.handle))
    return _copy(form, MemoryPointer(state.context, pointer, form.alloc_size, owner=buffer))


def view(x, shape, dtype=None):
    """x.reshape(shape) for a C-contiguous device array and a shape of as many elements. A line of memory: x.size.

    dtype: that of the result, where its bytes are to be read as other numbers.
    """
    form = _form(shape, dtype or x.dtype) if QUICK and type(x) is DeviceNDArray and not x.stream else None
    if form is None:
        return x.reshape(shape) if dtype is None else x.reshape(x.size).view(dtype).reshape(shape)
    return x if x.shape == form.shape and x.dtype == form.dtype else _copy(form, x.gpu_data)


def line(x):
    """A contiguous device array as one line of memory."""
    return x if x.ndim == 1 else view(x, x.size)


# ---- constants -------------------------------------------------------------------------------------------------------

_sent = {}  # (id of a host array, device) -> (the array, its copy)


def sent(x):
    """The copy on the device of a host array that nobody changes: sent with the first call, kept for those that follow.

    Nobody may write to it.
    """
    key = id(x), Device().device_id if QUICK else 0
    found = _sent.get(key)
    if found is None:
        found = x, cuda.to_device(x)  # with x itself, so that no other array gets its id
        _keep(_sent, key, found)
    return found[1]


@functools.lru_cache(maxsize=KEPT)
def _full(n, value, dtype):
    return np.full(n, value, dtype)


def constant(n, value, dtype=np.float32):
    """A line of n equal numbers on the device. Nobody may write to it."""
    return sent(_full(n, value, dtype))
