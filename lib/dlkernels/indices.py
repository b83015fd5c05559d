"""Arrays of indices, such as classes and words: checks that operations share, before rungs look up without any."""

import numpy as np

from .device import is_device_array
from .host import plain
from .layouts import as_host, contiguous
from .simd.cache import cached_njit

INDICES = (np.dtype("int64"), np.dtype("int32"))
NONE = -(1 << 63)  # an index that is ignored where none is


def checked_indices(name, x):
    """Return `x` if it is an array of int64 or int32; raise TypeError that names the argument otherwise."""
    if not (isinstance(x, np.ndarray) or is_device_array(x)):
        raise TypeError(f"{name} is a {type(x).__name__}; expected a NumPy array (or a device array) of int64.")
    if x.dtype not in INDICES:
        raise TypeError(f"{name} has dtype {x.dtype}; expected int64 or int32. Try {name}.astype(np.int64).")
    return x


@cached_njit()
def _count(line, below, ignored):
    """(where the first index that is wrong stands, or -1; how many are not ignored)."""
    count = 0
    for i in range(line.size):
        if line[i] != ignored:
            if line[i] < 0 or line[i] >= below:
                return i, count
            count += 1
    return -1, count


def counted(name, x, below, ignored=NONE):
    """How many indices are not `ignored`; ValueError where one is neither that nor from 0 to below - 1.

    Indices in device memory are copied to the host: a kernel cannot raise an error.
    """
    line = as_host(contiguous(x) if is_device_array(x) else x)
    first_wrong, count = _count(plain(line).reshape(-1), below, ignored)
    if first_wrong >= 0:
        index = f"[{', '.join(map(str, np.unravel_index(first_wrong, line.shape)))}]" if line.ndim else ""
        but = "" if ignored == NONE else f", or {ignored}, which is ignored"
        raise ValueError(
            f"{name}{index} is {line.reshape(-1)[first_wrong]}; expected an index from 0 to {below - 1}{but}."
        )
    return count


def as_line(x):
    """Indices in host memory as one line of int64."""
    return plain(x if x.dtype == np.int64 else x.astype(np.int64)).reshape(-1)
