"""The same text on a device, where there is one: one more line in a notebook.

if available():
    on_device(source, "add", 256, 64)(a, b, out, n)      # as Program(source).run("add", 256, 64)(a, b, out, n)
"""

import functools

import numpy as np

from .program import LocalMemory, Program
from .types import Pointer


@functools.cache
def available():
    """Whether pyopencl is installed and finds a device."""
    try:
        import pyopencl

        return any(platform.get_devices() for platform in pyopencl.get_platforms())
    except Exception:  # no package, no loader, no driver
        return False


@functools.cache
def _queue():
    import pyopencl

    devices = [d for platform in pyopencl.get_platforms() for d in platform.get_devices()]
    return pyopencl.CommandQueue(pyopencl.Context(devices[:1]))


def name():
    """The name of the device."""
    return _queue().device.name


def on_device(source, called, global_size, local_size=None, options=()):
    """A function that runs a kernel of a text with the given arguments on the first device; arrays are changed."""

    def launch(*arguments):
        import pyopencl

        queue = _queue()
        flags = pyopencl.mem_flags.READ_WRITE | pyopencl.mem_flags.COPY_HOST_PTR
        passed, arrays = [], []
        for (_, kind), argument in zip(Program(source).parameters(called), arguments, strict=True):
            if isinstance(argument, LocalMemory):
                passed.append(pyopencl.LocalMemory(argument.nbytes))
            elif isinstance(kind, Pointer):
                passed.append(pyopencl.Buffer(queue.context, flags, hostbuf=argument))
                arrays.append((argument, passed[-1]))
            else:
                passed.append(np.dtype(kind.numpy).type(argument))
        program = pyopencl.Program(queue.context, source).build(options=list(options))
        getattr(program, called)(queue, _sizes(global_size), _sizes(local_size), *passed)
        for array, buffer in arrays:
            pyopencl.enqueue_copy(queue, array, buffer)
        queue.finish()

    return launch


def _sizes(size):
    return size if size is None or isinstance(size, tuple) else tuple(size) if isinstance(size, list) else (size,)
