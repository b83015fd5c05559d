"""Files that others may read, and write, at the same time."""

import contextlib
import errno
import os
import secrets
import stat
import time
from pathlib import Path

try:
    from fcntl import LOCK_EX, LOCK_NB, flock

    def _lock(handle):
        flock(handle, LOCK_EX | LOCK_NB)
except ImportError:  # Windows
    from msvcrt import LK_NBLCK, locking

    def _lock(handle):
        locking(handle, LK_NBLCK, 1)


_NO_FILES = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a named pipe"), (stat.S_ISSOCK, "a socket"))


def read_text(path):
    """The text of a file, in UTF-8. Raises OSError for what is no file: a named pipe would be waited for without
    end."""
    _refuse_what_is_no_file(os.stat(path))
    return Path(path).read_text(encoding="utf-8")


def write_text(path, text):
    """Write a text file so that a reader sees the old one or the new one, never half of it; folders are made.

    The new file has a name of its own that nobody can guess until it takes the old one's place: two writers do not
    disturb each other, and no link that lies in wait is followed. Raises OSError where a folder, a pipe or a device
    lies.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(path) and not path.is_symlink():
        _refuse_what_is_no_file(os.stat(path))
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}.part")
    try:
        with draft.open("x", encoding="utf-8") as file:
            file.write(text)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _refuse_what_is_no_file(status):
    if not stat.S_ISREG(status.st_mode):
        kind = next((name for is_it, name in _NO_FILES if is_it(status.st_mode)), "a device")
        raise OSError(errno.EINVAL, f"it is {kind}, not a file")


@contextlib.contextmanager
def locked(path, patience=1.0):
    """Alone among those who read `path`, change it and write it, for the time of the block.

    The lock is the operating system's, on a file `.name.lock` beside it that lives as long as the block: it ends with
    the process that has it. Who cannot have it within `patience` seconds, because somebody was stopped with it, goes on
    without; so does who may write no file there, or has a file system without locks.
    """
    path = Path(path)
    beside, until, handle = path.with_name(f".{path.name.lstrip('.')}.lock"), time.monotonic() + patience, None
    try:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            while (handle := _locked_now(beside)) is None and time.monotonic() < until:
                time.sleep(0.005)
        yield
    finally:
        if handle is not None:
            with contextlib.suppress(OSError):  # Windows keeps a file that is open
                beside.unlink()
            os.close(handle)


def _locked_now(beside):
    """The open file with its lock; None where somebody else has it, or took it away meanwhile."""
    handle = os.open(beside, os.O_CREAT | os.O_RDWR | getattr(os, "O_NONBLOCK", 0))
    try:
        _lock(handle)
        if os.name == "nt" or os.path.samestat(os.fstat(handle), os.stat(beside)):
            return handle
    except (BlockingIOError, PermissionError, FileNotFoundError):
        pass
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None
