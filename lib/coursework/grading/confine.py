"""First program inside the sandbox: set limits, give up rights, become the program that is to be limited.

    python confine.py '{"memory": 4e9, "file": 6e7, "processes": 256, "seconds": 120, "user": 61234,
        "folder": "/tmp/dlk-1"}' program arguments...

"parent" is the process that must still be there when this one starts. With nothing but "parent" it only ties
the two together, which closes the moment in which a killed grader would leave its sandbox behind.

Uses the standard library only and is run as a file, so that nothing of the course is imported twice.
"""

import contextlib
import json
import os
import sys


def main(wish, *command):
    wish = json.loads(wish)
    try:
        import resource
    except ImportError:  # Windows
        resource = None
    if resource:
        for name, key in (("AS", "memory"), ("FSIZE", "file"), ("NPROC", "processes"), ("CPU", "seconds")):
            _limit(resource, getattr(resource, f"RLIMIT_{name}", None), wish.get(key))
        _limit(resource, resource.RLIMIT_CORE, 0)
    if wish.get("user"):
        os.setgroups([])
        os.setgid(wish["user"])
        os.setuid(wish["user"])
    if "folder" in wish:
        os.chdir(wish["folder"])
        os.umask(0o077)
    if sys.platform == "linux":
        import ctypes
        import signal

        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG: end when the grader ends
    if wish.get("parent", os.getppid()) != os.getppid():
        sys.exit("the grader ended before this began")
    os.environ.pop("JPY_PARENT_PID", None)  # in a namespace of processes the parent always seems to be gone
    os.execv(command[0], command)


def _limit(resource, which, value):
    if which is None or value is None:
        return
    hard = resource.getrlimit(which)[1]
    value = int(value) if hard == resource.RLIM_INFINITY else min(int(value), hard)
    with contextlib.suppress(ValueError, OSError):  # macOS refuses some of them
        resource.setrlimit(which, (value, value))


if __name__ == "__main__":
    main(*sys.argv[1:])
