"""What is kept for the next convolution: a thread's memory, and what follows from shapes alone."""

import functools
import threading

import numpy as np

KEPT = 32 << 20  # bytes of workspace that a thread keeps for its next call; what is larger is given back
ALIGNED = 64  # bytes: a vector that crosses two lines of the cache takes two accesses
_kept = threading.local()


def workspace(dtype, elements):
    """Memory for so many elements, or more, that begins with a line of the cache; kept for this thread's next call unless
    it is large."""
    line = _kept.__dict__.get(dtype.char)
    if line is None or line.size < elements:
        spare = ALIGNED // dtype.itemsize
        line = np.empty(elements + spare, dtype)
        line = line[-(line.ctypes.data // dtype.itemsize) % spare :]
        if line.nbytes <= KEPT:
            setattr(_kept, dtype.char, line)
    return line


def by_shape(function):
    """Keep what ``function(weight, g, out, ...)`` finds: it looks at shapes, at the dtype and at what can be hashed, no more.

    A layer of a network is called with the same shapes again and again. To plan it takes as long as a small one itself.
    """

    @functools.lru_cache(maxsize=1024)
    def found(of_weight, g, of_out, dtype, *rest):
        number = np.zeros((), dtype)
        return function(np.broadcast_to(number, of_weight), g, np.broadcast_to(number, of_out), *rest)

    @functools.wraps(function)
    def kept(weight, g, out, *rest):
        return found(weight.shape, g, out.shape, out.dtype, *rest)

    return kept
