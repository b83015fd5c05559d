"""The command line of bubblewrap: Python and the course to read, one folder to write, nothing else."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[2]  # the folder that our packages lie in
PACKAGES = ("dlkernels", "simt", "training", "workers", "opencl", "cpulab", "coursework")
# What a notebook's process does without: the tasks know what is right. The clean one plays their scenarios.
ANSWERS = ("coursework/tasks", "coursework/variants")
HIDDEN = "coursework/hidden"
SCRATCH = 64 << 20  # bytes of /tmp, and of /dev/shm


def bwrap_command(folder, user=None, without=()):
    """bubblewrap's part of a command line. `user`: run by root, the number of the user that the process becomes.
    `without`: folders of the library that are empty there."""
    command = [
        shutil.which("bwrap"),
        "--unshare-pid",
        "--unshare-net",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
    ]
    command += ["--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    if user:
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", *(["--disable-userns"] if _knows("--disable-userns") else [])]
    command += ["--proc", "/proc", "--dev", "/dev", *_tmpfs("/tmp"), *_tmpfs("/dev/shm")]
    for path in ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32"):
        if os.path.islink(path):
            command += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            command += ["--ro-bind", path, path]
    for path in ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime"):
        command += ["--ro-bind-try", path, path]
    bound = ["/usr"]
    for path in sorted(
        {
            os.path.realpath(sys.base_prefix),
            sys.prefix,
            os.path.realpath(sys.prefix),
            *(str(LIBRARY / package) for package in PACKAGES),
        }
    ):
        if not any(path == b or path.startswith(b + "/") for b in bound):
            command += [*_parents(path), "--ro-bind", path, path]
            bound.append(path)
    closed = ["/", "/dev"]  # in memory, and without a limit: whoever may write there fills the machine
    for emptied in (LIBRARY / name for name in (HIDDEN, *without)):
        if emptied.is_dir():
            command += ["--tmpfs", str(emptied)]
            closed.append(str(emptied))
    command += [*_parents(folder), "--bind", str(folder), str(folder), "--chdir", "/"]
    for path in closed:
        command += ["--remount-ro", path]
    return [*command, "--"]


def _tmpfs(path):
    return ["--size", str(SCRATCH), "--perms", "1777", "--tmpfs", path]


def _parents(path):
    """Make the folders above `path` passable: bubblewrap makes them for their owner only."""
    steps = []
    for parent in reversed(Path(path).parents):
        if str(parent) not in ("/", "/tmp", "/usr"):
            steps += ["--perms", "0755", "--dir", str(parent)]
    return steps


@cache
def _knows(option):
    """True if the bubblewrap of this machine has an option."""
    try:
        return option in subprocess.run(["bwrap", "--help"], capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return False
