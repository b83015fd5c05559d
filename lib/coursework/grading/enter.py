"""Join the walls that bubblewrap has built around another process, and give up all rights to do more. Linux 5.8 or newer.

What `nsenter` does, and `flatpak enter`: see setns(2), namespaces(7), capabilities(7).
"""

import ctypes
import os
import signal
from pathlib import Path

# CLONE_NEW...: a bit for each kind of namespace, as it is called in /proc/PID/ns
KINDS = {"cgroup": 0x02000000, "ipc": 0x08000000, "mnt": 0x00020000, "net": 0x40000000, "pid": 0x20000000,
         "user": 0x10000000, "uts": 0x04000000}  # fmt: skip
MUST = ("ipc", "mnt", "net", "pid", "uts")  # bubblewrap makes the others where it may or needs to
_DEATH, _DUMPABLE, _DROP, _NO_NEW, _AMBIENT = 1, 4, 24, 38, 47  # of prctl(2)
_CLEAR_ALL, _VERSION_3 = 4, 0x20080522


def join(walls, name):
    """Enter the namespaces of the process whose pidfd is `walls`, and whose number is `name`. The namespace of processes
    holds for children from now on; PermissionError if one of them is no other than here."""
    there = {kind: os.stat(f"/proc/{name}/ns/{kind}").st_ino for kind in KINDS}
    other = [kind for kind, inode in there.items() if inode != os.stat(f"/proc/self/ns/{kind}").st_ino]
    if missing := [kind for kind in MUST if kind not in other]:
        raise PermissionError(f"the walls to be entered have no namespace of their own for {', '.join(missing)}")
    _call("setns", walls, sum(KINDS[kind] for kind in other))


def die_with(parent):
    """End when the process that forked this one does, whose number is `parent`."""
    _call("prctl", _DEATH, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def give_up_rights():
    """No program that is started from now on gets a right that this process does not have, and no right comes back."""
    last = int(Path("/proc/sys/kernel/cap_last_cap").read_text())
    for capability in range(last + 1):
        _call("prctl", _DROP, capability, 0, 0, 0)
    _call("prctl", _AMBIENT, _CLEAR_ALL, 0, 0, 0)
    _call("prctl", _NO_NEW, 1, 0, 0, 0)


def without_capabilities():
    """Give up what is left. Then the process is as one that was started with these rights: its own user may look at it."""
    header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
    _call("capset", header, (ctypes.c_uint32 * 6)())
    _call("prctl", _DUMPABLE, 1, 0, 0, 0)


def _call(name, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    arguments = [ctypes.c_ulong(int(a)) if isinstance(a, int) else a for a in arguments]
    if getattr(libc, name)(*arguments) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
