"""A control group (cgroup v2) for a submission, where this user may make one: the Linux kernel then holds the limits of
memory and processes itself, at once, for all processes together. Where none is allowed, watch.py looks, as it does
anyway.

The group is made beside the grader's own: in the nearest group above that hands its memory and process controllers on,
and that this user may write to (a desktop session's or a service's with `Delegate=yes`; root, outside a container).
"""

import contextlib
import os
import signal
import time
from pathlib import Path

ROOTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
NEEDED = frozenset(("memory", "pids"))


def place(needed=NEEDED):
    """The folder in which groups can be made, or None."""
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    cgroup = next((line[3:] for line in lines if line.startswith("0::")), None)
    root = next((root for root in ROOTS if (root / "cgroup.controllers").exists()), None)
    if cgroup is None or root is None:
        return None
    folder = root / cgroup.strip("/")
    for above in (folder, *folder.parents):
        if not above.is_relative_to(root):
            return None
        if _hands_on(above, needed) and os.access(above, os.W_OK) and os.access(above / "cgroup.procs", os.W_OK):
            return above
    return None


def _hands_on(folder, needed):
    try:
        return needed <= set((folder / "cgroup.subtree_control").read_text(encoding="utf-8").split())
    except OSError:
        return False


class Group:
    """One group with limits, as a context manager: `join` is the file into which a process writes its number to enter
    it; "" where no group can be made."""

    def __init__(self, limits, folder=None):
        self.limits, self.parent, self.folder = limits, folder, None

    @property
    def join(self):
        return str(self.folder / "cgroup.procs") if self.folder else ""

    def __enter__(self):
        above = self.parent or place()
        if above is None:
            return self
        folder = above / f"dlk-{os.getpid()}-{time.monotonic_ns()}"
        try:
            folder.mkdir()
            self.folder = folder
            for name, value in self._values().items():
                if (folder / name).exists():
                    (folder / name).write_text(str(value), encoding="ascii")
        except OSError:  # a place that only looked as if
            self._remove()
        return self

    def _values(self):
        return {
            "memory.max": self.limits.memory,
            "memory.swap.max": 0,
            "memory.oom.group": 0,
            "pids.max": 4 * self.limits.processes,  # threads count here
        }

    def __exit__(self, *error):
        self._remove()

    def out_of_memory(self):
        """How often the kernel ended a process because the group was full."""
        try:
            lines = (self.folder / "memory.events").read_text(encoding="ascii").splitlines() if self.folder else ()
        except OSError:
            return 0
        return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)

    def _remove(self):
        """End all that is still in the group, and take it away."""
        folder, self.folder = self.folder, None
        for _ in range(50):
            if folder is None or not folder.exists():
                return
            with contextlib.suppress(OSError):
                for pid in (folder / "cgroup.procs").read_text(encoding="ascii").split():
                    os.kill(int(pid), signal.SIGKILL)
            with contextlib.suppress(OSError):
                folder.rmdir()
                return
            time.sleep(0.05)
