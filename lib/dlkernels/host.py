"""Arrays in host memory, as kernels take them: contiguous, or beginning with a line of the cache.

A vector that crosses two lines takes two accesses.
"""

import math
import threading
from contextlib import contextmanager

import numpy as np

KEPT = 32 << 20  # bytes of workspace that a thread keeps for its next call; what is larger is given back
LINE = 64  # bytes
# Bytes of a result from which on it pays to look where it begins: a look takes 10 to 30 microseconds after a kernel
# that filled the cache; of less, whole vectors gain fewer.
LARGE = 1 << 22
_kept = threading.local()


def plain(x):
    """The array itself if it is contiguous and may be written, as kernels are compiled for such, else a copy."""
    # A matrix or a memmap as the array that it is. np.require alone takes 2 microseconds where nothing is to do.
    x = np.asarray(x)
    return x if x.flags.carray else np.require(x, requirements="CAW")


def workspace(dtype, elements):
    """Memory for so many elements, or more, kept for this thread's next call unless it is large: to ask for it anew
    would take longer than a small operation.

    It holds what the call before has left. Who uses it calls nothing that takes it, too; a product of matrices may be
    called, which has memory of its own (matrix/choose.py). Who fills it and reads it in two calls needs `taken`.
    """
    line = _kept.__dict__.get(dtype.char)
    if line is None or line.size < elements:
        line = _aligned((elements,), dtype, np.empty)
        if line.nbytes <= KEPT:
            setattr(_kept, dtype.char, line)
    return line


@contextmanager
def taken(line):
    """The workspace `line` is in use: a signal's handler, or what else Python runs between two calls, has other
    memory."""
    kept = _kept.__dict__
    kept.pop(line.dtype.char, None)
    try:
        yield
    finally:
        if line.nbytes <= KEPT:
            kept[line.dtype.char] = line


def new(shape, dtype):
    """A new contiguous array for a result, unset. A large one begins with a line of the cache."""
    dtype = np.dtype(dtype)
    large = math.prod(shape) * dtype.itemsize >= LARGE
    return _aligned(shape, dtype, np.empty) if large else np.empty(shape, dtype)


def aligned_zeros(shape, dtype):
    """A new contiguous array of zeros."""
    return _aligned(shape, np.dtype(dtype), np.zeros)


def _aligned(shape, dtype, make):
    """An array that begins with a line of the cache, in memory that np.empty or np.zeros makes."""
    room = make(math.prod(shape) * dtype.itemsize + LINE, np.uint8)
    return np.ndarray(shape, dtype, room, -room.ctypes.data % LINE)
