"""Compiled code kept on disk, and thrown away when any file of the library has changed.

``@njit(cache=True)`` looks at the one file that defines the function. A kernel is made of functions from many files:
change one of the others, and numba would go on using the old machine code without a word. It also trusts what lies in
its folder: a process that is killed, or whose disk is full, between the two files that it writes leaves old code under
a new stamp; a file that is cut off is an error in each process from then on. And numba counts functions from 1 in each
process, to tell apart those of one name: where code of another process is loaded beside new code, two different
functions may have the same number, and each calls whichever came first
(https://github.com/numba/numba/issues/10486). Numbers are drawn at random here.
"""

import contextlib
import functools
import gc
import hashlib
import os
import pickle
import secrets
import tempfile
from pathlib import Path

import llvmlite
import numba
from numba import config, njit
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock

try:
    from numba.core.caching import FunctionCache
    from numba.core.serialize import dumps
except ImportError:  # no public interface: where it has moved, each process compiles anew, slow but right
    FunctionCache = None

LIBRARY = Path(__file__).parents[1]


class _Numbers:
    """Numbers for functions that no other process has, nor one that was forked from this one."""

    def __next__(self):
        return secrets.randbits(64)


with contextlib.suppress(ImportError):
    from numba.core.bytecode import FunctionIdentity

    FunctionIdentity._unique_ids = _Numbers()


@functools.cache
def library_stamp():
    """A hash of the source text of all files in the library from which kernels are made."""
    _times()
    return _hash()


def _hash():
    files = sorted(LIBRARY.rglob("*.py"))
    text = b"".join(path.name.encode() + path.read_bytes() for path in files)
    return hashlib.sha256(text).hexdigest()


@functools.cache
def _times():
    """When which of these files was changed, as it was when they were read."""
    return _times_now()


def _times_now():
    found = ((path, path.stat()) for path in LIBRARY.rglob("*.py"))
    return {(path, status.st_mtime_ns, status.st_ctime_ns, status.st_size) for path, status in found}


def _has_changed():
    """Whether a file of the library has another text than when this process began."""
    return _times_now() != _times() and _hash() != library_stamp()


#: Of numba's settings those that machine code depends on, and numba's key does not have.
SETTINGS = (
    "OPT",
    "BOUNDSCHECK",
    "DEBUGINFO_DEFAULT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "DISABLE_INTEL_SVML",
    "USING_SVML",
)


def _stamp():
    """What compiled code was made from and by, beside its function's file, its types and the processor."""
    settings = [f"{name}={getattr(config, name, None)!r}" for name in SETTINGS]
    return " ".join([library_stamp(), numba.__version__, llvmlite.__version__, *settings])


_stopped = False


@contextlib.contextmanager
def _nothing_collected():
    """Without Python's search for garbage: a compiler makes millions of objects that live until it is done, and to look
    at all of them again and again takes a good part of its time."""
    global _stopped
    if not gc.isenabled():  # or it compiles what a function calls
        yield
        return
    try:
        _stopped = True
        gc.disable()
        yield
    finally:
        if not gc.get_freeze_count():  # what was made grew old at once, and is not looked at with the next objects
            gc.freeze()
            gc.unfreeze()
        _collect_again()


def _collect_again():
    """After compiling; and in a process that another thread forked meanwhile, where nobody else would."""
    global _stopped
    if _stopped:
        gc.enable()
    _stopped = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_collect_again)
    # A fork waits until no other thread compiles: the new process would have its lock, and nobody who gives it back.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


class _Kernel(Compiler):
    def compile_extra(self, function):
        with _nothing_collected():
            return super().compile_extra(function)


class _Files:
    """A file for each function and types: a checksum, then what was compiled. The checksum also covers the stamp, so
    that what is damaged, cut off or made from other files is alike: not there."""

    def __init__(self, folder, name, stamp):
        self.folder, self.name, self.stamp = Path(folder), name, stamp.encode()

    def _path(self, key):
        return self.folder / f"{self.name}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"

    def _checksum(self, content):
        return hashlib.sha256(self.stamp + content).digest()

    def load(self, key):
        """What was saved under the key, or None."""
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        checksum, content = content[:32], content[32:]
        if checksum != self._checksum(content):
            return None
        found, data = pickle.loads(content)
        return data if found == key else None

    def save(self, key, data):
        """Whole or not at all: others may read, or write the same, meanwhile."""
        path, content = self._path(key), dumps((key, data))
        handle, draft = tempfile.mkstemp(dir=self.folder, prefix=f"{self.name}.", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(self._checksum(content) + content)
            os.replace(draft, path)
        finally:
            Path(draft).unlink(missing_ok=True)

    def flush(self):
        for path in self.folder.glob(f"{self.name}.*.nbc"):
            path.unlink(missing_ok=True)


#: What was to be kept and could not: its function goes from call to call, where LLVM left one. Tests look here.
NOT_KEPT = []

if FunctionCache is not None:

    class _Cache(FunctionCache):
        """numba's, with files of our own. A folder that cannot be read or written is none: compiling goes on."""

        def __init__(self, function, holds):
            super().__init__(function)
            self._holds = holds
            source = self._impl.locator.get_source_stamp()
            self._cache_file = _Files(self._cache_path, self._impl.filename_base, f"{source!r} {_stamp()}")

        def _index_key(self, signature, codegen):
            if self._holds is not None:
                return signature, codegen.magic_tuple(), self._holds
            return super()._index_key(signature, codegen)

        def load_overload(self, signature, target):
            with contextlib.suppress(Exception):  # whatever cannot be made of a file: it is compiled again
                return super().load_overload(signature, target)

        def save_overload(self, signature, done):
            if self._holds is not None and done.library.has_dynamic_globals:
                NOT_KEPT.append(self._holds)  # an address of this process stands in it; numba would warn
                return
            if _has_changed():
                return  # files have changed since this process began: of which it was made, nobody knows
            with contextlib.suppress(OSError):
                super().save_overload(signature, done)


def cached_njit(holds=None, **options):
    """``@cached_njit()``: as ``@njit(cache=True)``, with a cache that notices changes in all files of the library.

    holds: for a function made by another one, what it was made with, in words. numba would tell such functions apart by
    what they hold, and compiled functions among that are others in each process. Without it they are not kept.

    Where nothing can be kept (numba's cache has no public interface for this; no folder may be written), the function
    is compiled anew in each process: slow, but right.
    """

    options = {"no_cfunc_wrapper": True, "pipeline_class": _Kernel} | options

    def decorate(function):
        kernel = njit(**options)(function)
        known = FunctionCache is not None and hasattr(kernel, "_cache")
        if known and (holds is not None or not function.__closure__):
            with contextlib.suppress(AttributeError, OSError, RuntimeError):
                kernel._cache = _Cache(function, holds)
        return kernel

    return decorate
