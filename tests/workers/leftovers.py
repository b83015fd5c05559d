"""What a group of processes must not leave behind."""

import contextlib
import glob
import time

import psutil


def left():
    """Names in /dev/shm of segments and semaphores of Python's."""
    return {name for kind in ("psm_", "sem.mp-") for name in glob.glob(f"/dev/shm/{kind}*")}


@contextlib.contextmanager
def nothing_left():
    """Whatever happens inside: no process and no segment more than before."""
    children, names = set(psutil.Process().children(recursive=True)), left()
    yield
    gone_by = time.monotonic() + 120
    while time.monotonic() < gone_by:
        more = [
            child
            for child in set(psutil.Process().children(recursive=True)) - children
            if "resource_tracker" not in " ".join(child.cmdline())
        ]
        if not more and not left() - names:
            return
        time.sleep(0.05)
    assert not more
    assert not left() - names
