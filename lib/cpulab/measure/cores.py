"""Let threads come to rest; give each thread of a pool a core of its own, as OMP_PROC_BIND does, for pools that are
running already.

A system may leave two threads of one pool on one core while another core idles. With more than one running
thread a core, a pool that waits by spinning then loses whole time slices: 4 ms instead of microseconds.
"""

import contextlib
import os
import threading
from pathlib import Path

from .turns import HURRY

TASKS = Path("/proc/self/task")
TICKS = 1 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.01
WORKED = 0.25  # a thread that ran for this part of the busiest one's time is one of the team


def can_pin():
    """Whether threads can be given cores here: on Linux."""
    return hasattr(os, "sched_setaffinity") and TASKS.is_dir()


def used():
    """Thread id -> seconds of processor time, for all threads of this process."""
    spent = {}
    for task in TASKS.iterdir():
        with contextlib.suppress(OSError):  # a thread that has just ended
            fields = (task / "stat").read_text().rpartition(")")[2].split()
            spent[int(task.name)] = (int(fields[11]) + int(fields[12])) * TICKS
    return spent


def others_run():
    """Whether another thread of this process runs or could run now, on Linux; None elsewhere."""
    if not can_pin():
        return None
    this_thread = threading.get_native_id()
    for task in TASKS.iterdir():
        with contextlib.suppress(OSError):
            if int(task.name) != this_thread and (task / "stat").read_text().rpartition(")")[2].split()[0] == "R":
                return True
    return False


def settle(clock, limit=0.2):
    """Wait until no other thread of this process computes, at most ``limit`` seconds."""
    if HURRY:
        return
    if not clock.own_is_fine:
        clock.sleep(0.05)
        return
    deadline = clock.now() + limit
    while clock.now() < deadline and clock.others_work():
        clock.sleep(0.001)


@contextlib.contextmanager
def one_core_each(functions, clock, seconds=0.1):
    """Inside the ``with``, every thread that works when one of ``functions`` is called stays on a core of its own.

    Each function is called for ``seconds`` to see which threads work, and for longer where other programs take the
    cores. Threads that a function starts would inherit the caller's one core: not for functions that start threads
    or processes. Where there are fewer cores than threads, or on systems other than Linux, nothing is changed.
    """
    if not can_pin():
        yield {}
        return
    cores = sorted(os.sched_getaffinity(0))
    this_thread = threading.get_native_id()
    pinned = {}
    for function in functions:
        settle(clock)  # workers of the function before may still spin
        worked = _worked(function, clock, seconds)
        least = WORKED * max(worked.values())
        team = sorted(t for t, spent in worked.items() if t != this_thread and spent > least)
        if len(team) < len(cores):
            pinned |= dict(zip(team, cores[1:], strict=False))
    if pinned:
        pinned[this_thread] = cores[0]
    try:
        for thread, core in pinned.items():
            _pin(thread, {core})
        yield pinned
    finally:
        for thread in pinned:
            _pin(thread, cores)


def _worked(function, clock, seconds, tries=20):
    """Thread id -> seconds of processor time while ``function`` is called, until one thread has had half of them:
    on a busy machine the clock goes on while no thread of ours does."""
    before = used()
    for _ in range(tries):
        start = clock.now()
        while clock.now() - start < seconds:
            function()
        worked = {thread: spent - before.get(thread, 0) for thread, spent in used().items()}
        if max(worked.values()) >= seconds / 2:
            break
    return worked


def _pin(thread, cores):
    with contextlib.suppress(OSError):  # the thread has ended
        os.sched_setaffinity(thread, cores)
