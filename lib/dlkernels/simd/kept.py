"""Answers kept on disk for this machine: what was measured once, and need not be measured again.

    ways = Kept("dlkernels", "ways")
    ways.update({"first layers, 2 threads": "tiles"})
    ways.read()                                    # in the next process, too

A file of the user's cache for each processor, its features and the version of the library: where one of them changes,
nothing is known.
"""

import contextlib
import functools
import hashlib
import json
import os
import tempfile
from pathlib import Path

import llvmlite.binding as llvm
from numba import config
from numba.core.compiler_lock import global_compiler_lock
from numba.misc.appdirs import user_cache_dir

from .cache import library_stamp


@functools.cache
def _processor():
    """Its name. LLVM has a lock, which a process that is forked meanwhile would wait for without end; a fork waits for
    numba's (cache.py)."""
    with global_compiler_lock:
        return llvm.get_host_cpu_name()


def machine():
    """The processor's name, its features and a hash of the library's source: what a kept answer holds for."""
    return f"{config.CPU_NAME or _processor()} {config.CPU_FEATURES} {library_stamp()}"


class Kept:
    """A dict of what JSON can hold, in the file NAME-<hash of the machine>.json of the user's cache for `program`."""

    def __init__(self, program, name):
        self.program, self.name = program, name

    @property
    def file(self):
        stamp = hashlib.sha256(machine().encode()).hexdigest()[:16]
        return Path(user_cache_dir(self.program)) / f"{self.name}-{stamp}.json"

    def read(self):
        """The dict of the file; an empty one where it is missing or damaged, or no file: of a pipe none saw the end."""
        with contextlib.suppress(OSError, ValueError, RecursionError):
            stored = json.loads(self.file.read_text(encoding="utf-8")) if self.file.is_file() else None
            if isinstance(stored, dict):
                return stored
        return {}

    def update(self, answers):
        """Add answers to the file. Whole or not at all; a disk that is full or closed is no error, nor is a file with
        lists in lists that can be read, and not be written."""
        with contextlib.suppress(OSError, RecursionError):
            file, answers = self.file, self.read() | answers
            if not file.is_absolute():  # nobody knows this user's home
                return
            file.parent.mkdir(parents=True, exist_ok=True)
            handle, beside = tempfile.mkstemp(dir=file.parent, suffix=".json")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as text:
                    json.dump(answers, text, indent=1)
                Path(beside).replace(file)
            finally:
                Path(beside).unlink(missing_ok=True)
