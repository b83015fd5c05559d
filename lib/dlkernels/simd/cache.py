"""Compiled code kept on disk, and thrown away when any file of the library has changed.

``@njit(cache=True)`` looks at the one file that defines the function. A kernel is made of functions from many files:
change one of the others, and numba would go on using the old machine code without a word.
"""

import functools
import hashlib
from pathlib import Path

from numba import njit

LIBRARY = Path(__file__).parents[1]


@functools.cache
def library_stamp():
    """A hash of the source text of all files in the library from which kernels are made."""
    files = sorted(LIBRARY.rglob("*.py"))
    text = b"".join(path.name.encode() + path.read_bytes() for path in files)
    return hashlib.sha256(text).hexdigest()


def cached_njit(**options):
    """``@cached_njit()``: as ``@njit(cache=True)``, with a cache that notices changes in all files of the library.

    Where numba cannot be told to (its cache has no public interface for this), the function is compiled anew in each
    process: slow, but right.
    """

    def decorate(function):
        kernel = njit(cache=True, **options)(function)
        try:
            file = kernel._cache._cache_file
            file._source_stamp = f"{file._source_stamp} {library_stamp()}"
        except AttributeError:
            kernel = njit(**options)(function)
        return kernel

    return decorate
