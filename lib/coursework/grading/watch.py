"""Limits for a submission as a whole: somebody looks, several times a second, at all its processes and files.

The kernel's own limits (confine.py) hold for one process; a cgroup (groups.py) is not allowed everywhere. Counted are:
memory of all processes together, shared pages once; how many there are; files in the work folders, also those that were
deleted and are still open; and by how much the grader itself grows, which reads what the submission sends. What breaks
a limit is ended at once, and the box says why.
"""

import contextlib
import os
import signal
import stat
import sys
import threading
import time

import psutil

from .groups import Group
from .waiting import Lost

INTERVAL = 0.2
GRADER = 1 << 30  # by which the grader may grow
MOST_FILES = 20_000
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Watch:
    """Watches the boxes of one submission, in a group of their own where there can be one. `notebook`: its box;
    `clean`: that of the clean process."""

    def __init__(self, notebook, clean):
        self.notebook, self.clean, self.limits = notebook, clean, notebook.limits
        self._group, self._full = Group(self.limits), 0
        self._lost = Lost()
        self._end, self.error = threading.Event(), None
        self._thread = threading.Thread(target=self._run, name="grading-watch", daemon=True)

    def __enter__(self):
        self._before = set(_below(os.getpid(), _parents()))
        self._grader = _resident(os.getpid())
        self.notebook.group = self.clean.group = self._group.__enter__().join
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._end.set()
        self._thread.join()
        self._group.__exit__()
        if self.error and not any(error):
            raise self.error  # nobody looked

    def _run(self):
        pause = INTERVAL
        while not self._end.wait(pause):
            begun = time.monotonic()
            try:
                self._look()
            except (OSError, psutil.Error):
                pass  # what ends while it is looked at
            except Exception as error:
                self.error = error
                return
            pause = max(INTERVAL, 9 * (time.monotonic() - begun))  # a tenth of a core at most

    def _look(self):
        turns = self.notebook.turn, self.clean.turn
        parents = _parents()
        running = set(_below(os.getpid(), parents)) - self._before
        roots = self.clean.roots()
        theirs = {pid for root in roots for pid in (root, *_below(root, parents))}
        boxes = [(self.notebook, turns[0], running - theirs), (self.clean, turns[1], running & theirs)]
        lost = self._lost.since_last(running)
        for box, turn, pids in boxes:
            box.lost += lost
            self._look_at(box, turn, pids)
        shares = [_memory(pids) for *_, pids in boxes]
        full, self._full = self._full, self._group.out_of_memory()
        too_much = sum(shares) > self.limits.memory and _memory(running, exactly=True) > self.limits.memory
        if too_much or self._full > full:
            text = f"all its processes took more than {_shown(self.limits.memory)} of memory"
            _end(*boxes[shares.index(max(shares))], "MemoryLimit", text)
        elif len(running) > self.limits.processes:
            _end(*boxes[0], "ProcessLimit", f"it had more than {self.limits.processes} processes")
        elif _resident(os.getpid()) - self._grader > GRADER:
            _end(*boxes[0], "OutputLimit", f"it sent more than {_shown(GRADER)} to the grader")

    def _look_at(self, box, turn, pids):
        written, count = _files(box.folder)
        hidden = _deleted(pids, box.folder, self.limits.file)
        if written + hidden > self.limits.folder:
            _end(box, turn, pids, "FileLimit", f"it wrote more than {_shown(self.limits.folder)} of files")
        elif count > MOST_FILES:
            _end(box, turn, pids, "FileLimit", f"it made more than {MOST_FILES} files")


def _shown(size):
    return f"{size >> 30} GB" if size >= 1 << 30 else f"{size >> 20} MB"


def _end(box, turn, pids, name, text):
    """End the processes of a box, and let it say why. `turn`: of the box when somebody began to look."""
    box.breaks(turn, name, text)
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _parents():
    """{process: its parent} of the whole system, without those that have ended and wait to be asked how."""
    if sys.platform != "linux":
        return {p.pid: p.info["ppid"] for p in psutil.process_iter(["ppid"])}
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                text = file.read()
                state, parent = text[text.rindex(b")") + 2 :].split()[:2]
                if state not in b"ZX":
                    found[int(name)] = int(parent)
    return found


def _below(root, parents):
    """All processes that descend from `root`."""
    children = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    found, stack = [], [root]
    while stack:
        below = children.pop(stack.pop(), ())
        found += below
        stack += below
    return found


def _resident(pid):
    try:
        if sys.platform != "linux":
            return psutil.Process(pid).memory_info().rss
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError, psutil.Error):
        return 0


def _memory(pids, exactly=False):
    """Bytes of memory that processes have. `exactly`: a page that several of them share counts once."""
    total = 0
    for pid in pids:
        resident = _resident(pid)
        if exactly:
            with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup", "rb") as file:
                resident = next((int(line.split()[1]) << 10 for line in file if line.startswith(b"Pss:")), resident)
        total += resident
    return total


def _files(folder):
    """(bytes, number) of all that lies below a folder; counting ends where it is too many."""
    total = count = 0
    stack = [folder]
    while stack and count <= MOST_FILES:
        with contextlib.suppress(OSError):
            for entry in os.scandir(stack.pop()):
                count += 1
                with contextlib.suppress(OSError):
                    total += entry.stat(follow_symlinks=False).st_size
                    if entry.is_dir(follow_symlinks=False):
                        stack.append(entry.path)
    return total, count


def _deleted(pids, folder, most):
    """Bytes of deleted files on the disk of `folder` that processes keep open or mapped; of a mapped one, `most`, since
    nobody is told its size."""
    if sys.platform != "linux":
        return 0
    try:
        disk = os.stat(folder).st_dev
    except OSError:
        return 0
    opened, mapped = {}, set()
    for pid in pids:
        with contextlib.suppress(OSError):
            for name in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    info = os.stat(f"/proc/{pid}/fd/{name}")
                    if stat.S_ISREG(info.st_mode) and not info.st_nlink and info.st_dev == disk:
                        opened[info.st_ino] = info.st_blocks * 512
        with contextlib.suppress(OSError), open(f"/proc/{pid}/maps", "rb") as file:
            for line in file:
                if line.endswith(b" (deleted)\n"):
                    major, minor = (int(number, 16) for number in line.split()[3].split(b":"))
                    if os.makedev(major, minor) == disk:
                        mapped.add(int(line.split()[4]))
    return sum(opened.values()) + most * len(mapped - opened.keys())
