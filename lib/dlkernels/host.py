"""Arrays in host memory, as kernels take them: contiguous, or beginning with a line of the cache.

A vector that crosses two lines takes two accesses.
"""

import math
import threading

import numpy as np

KEPT = 32 << 20  # bytes of workspace that a thread keeps for its next call; what is larger is given back
LINE = 64  # bytes
_kept = threading.local()


def plain(x):
    """The array itself if it is contiguous and may be written, as kernels are compiled for such, else a copy."""
    return (
        x if x.flags.carray else np.require(x, requirements="CAW")
    )  # it takes 2 microseconds to see that nothing is to do


def workspace(dtype, elements):
    """Memory for so many elements, or more, kept for this thread's next call unless it is large: to ask for it anew would take
    longer than a small operation."""
    line = _kept.__dict__.get(dtype.char)
    if line is None or line.size < elements:
        line = _from_a_line(np.empty(elements + LINE // dtype.itemsize, dtype))
        if line.nbytes <= KEPT:
            setattr(_kept, dtype.char, line)
    return line


def aligned_zeros(shape, dtype):
    """A new contiguous array of zeros."""
    dtype, size = np.dtype(dtype), math.prod(shape)
    return _from_a_line(np.zeros(size + LINE // dtype.itemsize, dtype))[:size].reshape(shape)


def _from_a_line(line):
    """What is left of an array from its first whole line of the cache on."""
    return line[-(line.ctypes.data // line.itemsize) % (LINE // line.itemsize) :]
