"""Walls around a student's process: bubblewrap (namespaces) with rlimits, or rlimits alone.

    bwrap    no network, no other process, no file but Python, the course and an empty work folder. Linux.
    rlimit   limits of time, memory, files and processes only: the answer can still read and write what you can.
             For submissions that you trust, on systems without bubblewrap.
    auto     bwrap, or stop and say why it does not work here.

Run by root, the student's process becomes another, unprivileged user inside the walls, for root is not bound by limits.
"""

import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from .walls import LIBRARY, bwrap_command

USERS = (1_950_000_000, 61_000)  # numbers nobody has: the first, or where a container knows only 65,536 the second
PREFIX = "dlk-"
_COUNTER = itertools.count()
CLEAN_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONNOUSERSITE": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "MPLBACKEND": "agg",
    "NUMBA_NUM_THREADS": "2",
    "OMP_NUM_THREADS": "1",
    "DLKERNELS_DEVICE": "executor",
    "DLKERNELS_ENGINE": "executor",
    "DLKERNELS_PROGRESS": "off",
}


class SandboxUnavailable(RuntimeError):
    """The wall asked for cannot be built here. The message says why and what to do."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use, all its processes together. Memory, files and output in bytes, times in seconds;
    `file` is for one file."""

    cell_seconds: float = 20.0
    total_seconds: float = 300.0
    memory: int = 4 << 30
    file: int = 64 << 20
    folder: int = 256 << 20
    output: int = 2 << 20
    processes: int = 256


@dataclass
class Sandbox:
    """One work folder and the means to start programs that see nothing else. Use as a context manager."""

    mode: str
    limits: Limits
    without: tuple = ()  # folders of the library that are empty there, with bwrap
    folder: Path = None
    user: int | None = None
    group: str = ""  # of groups.py: where a process enters it
    broken: tuple | None = None  # what watch.py found
    turn: int = 0  # how often it was wiped
    lost: float = 0.0  # seconds that its processes waited for a core which others had, if watch.py looks
    _started: list = field(default_factory=list)
    _finds: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        if os.name == "posix" and os.geteuid() == 0 and self.mode == "bwrap":
            self.user = _free_user()
            os.chown(self.folder, self.user, self.user)
        self._before = set(psutil.Process().children(recursive=True))
        if self.mode == "rlimit":
            _adopt_orphans(True)
        return self

    def __exit__(self, *error):
        for process in self._started:
            stop(process)
        self._kill_leftovers()
        if self.mode == "rlimit":
            _adopt_orphans(False)
        shutil.rmtree(self.folder, onerror=_force)

    def environment(self):
        home = str(self.folder)
        return {
            **CLEAN_ENVIRONMENT,
            "PYTHONPATH": str(LIBRARY),
            "HOME": home,
            "TMPDIR": home,
            "IPYTHONDIR": f"{home}/.ipython",
            **_windows(),
        }

    def argv(self, *arguments):
        """The command line that runs Python with `arguments` inside the walls."""
        wish = {
            "memory": self.limits.memory,
            "file": self.limits.file,
            "processes": self.limits.processes,
            "seconds": int(self.limits.total_seconds * 2),
            "user": self.user,
            "folder": str(self.folder),
            "filter": sys.platform == "linux",
        }
        outside = {"parent": os.getpid(), "group": self.group}
        program = [sys.executable, *arguments]
        if self.mode == "rlimit":
            return [*_launcher(wish | outside), *program]
        return [*_launcher(outside), *bwrap_command(self.folder, self.user, self.without), *_launcher(wish), *program]

    def start(self, *arguments):
        """Start Python with `arguments` inside; stdin and stdout are pipes."""
        process = subprocess.Popen(
            self.argv(*arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            env=self.environment(),
            start_new_session=True,
        )
        self._started.append(process)
        return process

    def wipe(self):
        """Empty the work folder: the next process finds nothing that this one left there."""
        for entry in list(os.scandir(self.folder)):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, onerror=_force)
            else:
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)
        with self._finds:
            self.turn, self.broken = self.turn + 1, None

    def breaks(self, turn, name, text):
        """A limit was broken here, seen by who began to look in `turn`: what lay there before it was wiped is nobody's
        now."""
        with self._finds:
            if turn == self.turn:
                self.broken = (name, text)

    def roots(self):
        """The processes that were started here."""
        return [process.pid for process in self._started if process.poll() is None]

    def why_ended(self):
        """(name, text) of the limit that was broken here since the last question, or None."""
        why, self.broken = self.broken, None
        return why

    def own(self, path):
        """Let the student's process read a file that was written into the work folder. A link there is the student's
        own: what it points to stays whose it is."""
        if self.user:
            os.chown(path, self.user, self.user, follow_symlinks=False)

    def _kill_leftovers(self):
        """End what the submission left running, and wait until it is gone."""
        for _ in range(20):
            left = [p for p in psutil.Process().children(recursive=True) if p not in self._before]
            left += [p for p in psutil.process_iter() if _user_of(p) == self.user] if self.user else []
            if not left:
                return
            for process in left:
                with contextlib.suppress(psutil.Error):
                    process.kill()
            psutil.wait_procs(left, timeout=0.5)


def _free_user():
    """A user number without processes, new for each sandbox: limits count the processes of a user together."""
    first_user = USERS[0] if _knows_user(USERS[0]) else USERS[1]
    taken = {_user_of(process) for process in psutil.process_iter()}
    while True:
        user = first_user + (os.getpid() * 31 + next(_COUNTER)) % 4000
        if user not in taken:
            return user


def _knows_user(number):
    try:
        ranges = [list(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    except (OSError, ValueError):
        return False
    return any(first_id <= number < first_id + count for first_id, _, count in ranges)


def _user_of(process):
    try:
        return process.uids().real
    except psutil.Error:
        return None


def _launcher(wish):
    # -S: it imports nothing but the standard library
    return [sys.executable, "-I", "-S", str(Path(__file__).with_name("confine.py")), json.dumps(wish)]


def stop(process):
    """End a process and its group, and wait for it."""
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (OSError, AttributeError):
            process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe:
            with contextlib.suppress(OSError):
                pipe.close()
    process.wait()


def choose(wish):
    """The mode for `wish` ("auto", "bwrap" or "rlimit"), after a trial; SandboxUnavailable with a reason otherwise."""
    if wish == "rlimit":
        return "rlimit"
    problem = why_no_bwrap()
    if problem:
        raise SandboxUnavailable(
            f"The sandbox cannot be built here: {problem} Nothing was graded. Install or allow bubblewrap (see the "
            "instructor's page), or choose the weaker --grade-sandbox=rlimit for submissions that you trust."
        )
    return "bwrap"


def why_no_bwrap():
    """None if bubblewrap works here, else a sentence."""
    if sys.platform != "linux":
        return "bubblewrap exists for Linux only."
    if not shutil.which("bwrap"):
        return "the program bwrap is not installed (Debian and Ubuntu: apt install bubblewrap)."
    with Sandbox("bwrap", Limits()) as trial:
        done = subprocess.run(
            trial.argv("-I", "-c", "print(6 * 7)"), capture_output=True, text=True, env=trial.environment(), timeout=30
        )
    if done.stdout.strip() == "42":
        return None
    said = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
    return f"bubblewrap does not start Python ({said})."


def sweep():
    """Delete work folders whose grader was killed."""
    for folder in Path(tempfile.gettempdir()).glob(PREFIX + "*-*"):
        owner = folder.name[len(PREFIX) :].split("-")[0]
        if owner.isdigit() and not psutil.pid_exists(int(owner)) and not folder.is_symlink():
            shutil.rmtree(folder, onerror=_force)


def _windows():
    return {"SYSTEMROOT": os.environ["SYSTEMROOT"]} if "SYSTEMROOT" in os.environ else {}


def _adopt_orphans(wish):
    """Make this process the parent of its grandchildren that lost theirs, so that they can be found (Linux)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(36, int(wish), 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def _force(function, path, error):
    """Delete a folder that a submission made unreadable."""
    try:
        os.chmod(os.path.dirname(path), 0o700)
        if not os.path.islink(path):
            os.chmod(path, 0o700)
        function(path)
    except OSError:
        pass
