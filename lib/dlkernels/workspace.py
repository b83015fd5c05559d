"""Memory that a thread of the caller keeps for its next call: to ask for it anew would take longer than a small operation."""

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
