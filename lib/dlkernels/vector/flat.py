"""Element-wise kernels see every array as one line of elements, whatever its shape."""

import functools

import numpy as np

from ..device import is_device_array


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
        lines = [_line(x) if isinstance(x, np.ndarray) or is_device_array(x) else x for x in arguments]
        rung(*lines)
        if not is_device_array(out) and not np.may_share_memory(lines[-1], out):
            out[...] = lines[-1].reshape(out.shape)
        return out

    return on_lines


def _line(x):
    if is_device_array(x):  # contiguous: see implementations.run
        return x if x.ndim == 1 else x.reshape(x.size)
    return np.ascontiguousarray(x).reshape(-1)
