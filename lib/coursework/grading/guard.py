"""Ends the clean process when something happens in it that no admitted answer can bring about.

Admission is the wall; this is the bell behind it. While an answer is defined and run, Python tells an audit hook of
each file that is opened, each process that is started and the like. None of these is an answer's to do, so the process
ends at the first, and the submission is flagged. What Python does not tell of, as machine code that goes astray, is not
heard.
"""

import contextlib
import os
import sys

STATUS = 87  # with which the process ends
NEVER = (
    "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile", "os.kill",
    "os.killpg", "subprocess.Popen", "pty.spawn", "socket.", "ftplib.", "http.", "urllib.", "webbrowser.", "smtplib.",
    "sqlite3.", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod",
    "os.chown", "os.chflags", "os.utime", "os.setxattr", "os.removexattr", "os.chroot", "os.chdir", "os.fwalk",
    "os.walk", "shutil.", "glob.", "pdb.", "code.interact", "cpython.run_", "sys.addaudithook", "sys._current_frames",
    "sys._current_exceptions", "gc.get_", "builtins.breakpoint", "builtins.input", "import_module",
)  # fmt: skip
_inside = False


def is_forbidden(event, arguments, folder):
    """Whether an event is none that may happen while an answer is run; `folder`: where requests and replies lie."""
    if event == "open":  # the importer reads what is compiled already, and is told to write none
        path, mode, flags = arguments
        writes = isinstance(mode, str) and set(mode) & set("wax+")
        writes = writes or (
            isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        )
        return (bool(writes) and path != os.devnull) or _lies_in(path, folder)
    return event.startswith(NEVER)


def _lies_in(path, folder):
    """Whether a path, absolute or from the work folder on, lies in `folder`; an int is a file that is open already."""
    return not isinstance(path, int) and os.path.abspath(os.fsdecode(path)).startswith(folder)


def arm(folder, end=os._exit):
    """From now on, what happens within `inside` is heard, in all threads. For the rest of the process's life."""
    folder = os.path.abspath(folder)

    def heard(event, arguments):
        if _inside and is_forbidden(event, arguments, folder):
            end(STATUS)

    sys.addaudithook(heard)


@contextlib.contextmanager
def inside():
    """While an answer is defined and run."""
    global _inside
    _inside = True
    try:
        yield
    finally:
        _inside = False
