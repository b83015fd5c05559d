"""Arrays in host and device memory alike: made, copied, moved; and host memory that a step leaves to the next one."""

import contextlib
import ctypes
import functools
import os
import sys

import numpy as np

from dlkernels import cuda
from dlkernels.device import is_device_array
from dlkernels.layouts import copy


def filled(like, value):
    """An array of one value, with the shape, dtype and device of another."""
    array = np.full(like.shape, value, like.dtype)
    return cuda.to_device(array) if is_device_array(like) else array


def duplicate(x):
    """A contiguous copy, where the array is."""
    return copy(x, cuda.device_array(x.shape, x.dtype)) if is_device_array(x) else np.array(x, order="C")


def write(target, array):
    """Write a host array into another's memory, wherever that is."""
    if is_device_array(target):
        target.copy_to_device(np.asarray(array, order="C"))
    else:
        target[...] = array


def brought(array, target):
    """The array on "cpu" or "cuda", or, where it is, with another dtype if its numbers are floating-point."""
    there = is_device_array(array)
    if target == "cuda":
        return array if there else cuda.to_device(np.asarray(array, order="C"))
    host = array.copy_to_host() if there else array
    if target == "cpu":
        return host
    host = host.astype(target) if host.dtype.kind == "f" else host
    return cuda.to_device(host) if there else host


# ---- memory that was freed -------------------------------------------------------------------------------------------

MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1  # glibc's names for what `mallopt` sets
LARGEST, KEPT = 32 << 20, 1 << 28  # bytes: the largest that glibc takes for the first; of free memory that is kept


@functools.cache
def keep_freed_memory():
    """Let glibc keep what is freed for what is allocated next. Returns whether it does.

    A step of training allocates what the step before has freed. glibc gives large blocks back to the system at once,
    which then gives them anew, cleared, page by page: up to a third of a step. The setting is one of the whole process,
    which then holds up to KEPT bytes that nobody uses. So it is made with the first backward pass, not by an import,
    and `fit` gives back at its end what is free. Where the environment has a setting of its own
    (MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_), and with another C library, nothing is changed.
    """
    if not sys.platform.startswith("linux") or any(name.startswith("MALLOC_") for name in os.environ):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(MMAP_THRESHOLD, LARGEST) and mallopt(TRIM_THRESHOLD, KEPT))


@contextlib.contextmanager
def freed_memory_kept():
    """Free memory is kept meanwhile, and given back at the end."""
    kept = keep_freed_memory()
    try:
        yield
    finally:
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if kept else None
        if trim is not None:
            trim(0)
