"""Pages: memory that nobody has touched yet, and how often the system had to provide some.

The first access to a page of new memory is a *page fault*: the system finds a page, fills it with zeros and enters it
in the table of the process. Where large pages may be used (2 MiB in the place of 4 KiB), there are far fewer faults;
`new_memory` asks the system not to use them, so that pages can be counted.
"""

import contextlib
import mmap

import numpy as np
import psutil

PAGE = mmap.PAGESIZE


def page_faults():
    """How many page faults this process has had so far, without those that had to wait for a disk."""
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:  # Windows, where psutil counts them
        return psutil.Process().memory_info().num_page_faults
    return getrusage(RUSAGE_SELF).ru_minflt


def new_memory(shape, dtype=np.uint8):
    """Zeros in memory that nobody has touched, in pages of the usual size; it begins with a page."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if size < 1:
        raise ValueError(f"shape is {shape}; expected at least one element")
    memory = mmap.mmap(-1, size)
    with contextlib.suppress(AttributeError, OSError):  # only Linux has large pages that come unasked
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, dtype, count=size // dtype.itemsize).reshape(shape)
