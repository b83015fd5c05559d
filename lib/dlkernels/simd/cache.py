"""Compiled code kept on disk, and thrown away when any file of the library has changed.

``@njit(cache=True)`` looks at the one file that defines the function. A kernel is made of functions from many files:
change one of the others, and numba would go on using the old machine code without a word.
"""

import contextlib
import functools
import gc
import hashlib
from pathlib import Path

from numba import njit
from numba.core.compiler import Compiler

LIBRARY = Path(__file__).parents[1]


@functools.cache
def library_stamp():
    """A hash of the source text of all files in the library from which kernels are made."""
    files = sorted(LIBRARY.rglob("*.py"))
    text = b"".join(path.name.encode() + path.read_bytes() for path in files)
    return hashlib.sha256(text).hexdigest()


@contextlib.contextmanager
def _nothing_collected():
    """Without Python's search for garbage: a compiler makes millions of objects that live until it is done, and to look
    at all of them again and again takes a good part of its time."""
    if not gc.isenabled():  # or it compiles what a function calls
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class _Kernel(Compiler):
    def compile_extra(self, function):
        with _nothing_collected():
            return super().compile_extra(function)


def cached_njit(holds=None, **options):
    """``@cached_njit()``: as ``@njit(cache=True)``, with a cache that notices changes in all files of the library.

    holds: for a function made by another one, what it was made with, in words. numba would tell such functions apart by
    what they hold, and compiled functions among that are others in each process.

    Where numba cannot be told to (its cache has no public interface for this), the function is compiled anew in each
    process: slow, but right.
    """

    options = {"no_cfunc_wrapper": True, "pipeline_class": _Kernel} | options

    def decorate(function):
        kernel = njit(cache=True, **options)(function)
        try:
            file = kernel._cache._cache_file
            file._source_stamp = f"{file._source_stamp} {library_stamp()}"
            if holds is not None and kernel._cache._index_key:
                kernel._cache._index_key = lambda signature, codegen: (signature, codegen.magic_tuple(), holds)
                can, implementation = kernel._cache._impl.check_cachable, kernel._cache._impl
                # What the held function calls may stand in it as an address: numba keeps none such, and would warn.
                implementation.check_cachable = lambda done: not done.library.has_dynamic_globals and can(done)
        except AttributeError:
            kernel = njit(**options)(function)
        return kernel

    return decorate
