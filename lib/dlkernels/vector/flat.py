"""Element-wise kernels see every array as one line of elements, whatever its shape."""

import functools

import numpy as np

from ..device import is_device_array
from ..launches import DEVICE_ARRAY, line


def flat(rung):
    """Let `rung`, written for contiguous 1-D arrays, take arrays of any shape and strides.

    The last argument is the output and is returned. A non-contiguous array is copied first, as PyTorch's
    `.contiguous()` does; nothing is copied otherwise. Empty arrays never reach the rung.
    """

    @functools.wraps(rung)
    def on_lines(*arguments):
        out = arguments[-1]
        if out.size == 0:
            return out
        if type(out) is DEVICE_ARRAY:  # as all of them are, and contiguous: see implementations.run
            rung(*[line(x) if type(x) is DEVICE_ARRAY else x for x in arguments])
            return out
        lines = [_line(x) if isinstance(x, np.ndarray) or is_device_array(x) else x for x in arguments]
        rung(*lines)
        if not is_device_array(out) and not out.flags.c_contiguous:
            out[...] = lines[-1].reshape(out.shape)
        return out

    return on_lines


FLOAT32, FLOAT64 = np.dtype("float32"), np.dtype("float64")
ndarray = np.ndarray


def alike(first, *others):
    """True for arrays of one shape, float32 or float64, contiguous in host memory: there is nothing else to check."""
    if type(first) is not ndarray:
        return False
    shape, dtype, flags = first.shape, first.dtype, first.flags
    if (dtype is not FLOAT32 and dtype is not FLOAT64) or not (flags.c_contiguous and flags.aligned):
        return False
    for x in others:
        if type(x) is not ndarray or x.shape != shape or x.dtype is not dtype:
            return False
        flags = x.flags
        if not (flags.c_contiguous and flags.aligned):
            return False
    return True


def _line(x):
    if is_device_array(x):  # contiguous: see implementations.run
        return line(x)
    return np.ascontiguousarray(x).reshape(-1)
