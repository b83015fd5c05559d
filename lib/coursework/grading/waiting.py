"""A clock that stands still while others have the cores: a busy machine must not cost points.

Linux says of each thread how long it ran and how long it was ready and waited for a core. What is lost is what the
thread waited that waited longest, but not what a submission takes from itself, with more threads than there are cores.
Threads that come and go between two looks leave only what they ran. Then what is lost is the time in which the
submission did not run although it wanted to and no core was idle.
"""

import contextlib
import os
import time

MOST = 3  # times its seconds, a step ends by the wall's clock, whatever it waited for
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class Lost:
    """Seconds that processes lost to others; where nobody says (not on Linux), 0."""

    def __init__(self):
        self._cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count())
        self._threads, self._ran, self._idle, self._at = {}, 0.0, _idle(self._cores), time.monotonic()

    def since_last(self, pids):
        now, idle, passed = time.monotonic(), _idle(self._cores), _ran(pids)
        seconds, ran = now - self._at, max(0.0, passed - self._ran)
        waited, threads = 0.0, dict(_threads(pids))
        for thread, (_, ready) in threads.items():
            waited = max(waited, ready - self._threads.get(thread, (0, 0))[1])
        seen = sum(cpu_seconds - self._threads.get(thread, (0, 0))[0] for thread, (cpu_seconds, _) in threads.items())
        lost = min(waited, seconds - seen / len(self._cores))
        if ran:
            lost = max(lost, seconds - ran - (idle - self._idle))
        self._threads, self._ran, self._idle, self._at = threads, passed, idle, now
        return max(0.0, lost)


def _threads(pids):
    """(thread, (seconds it ran, seconds it was ready and waited)) of all threads that are there."""
    for pid in pids:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                    cpu_time, ready, _ = file.read().split()
                    yield thread, (int(cpu_time) / 1e9, int(ready) / 1e9)


def _ran(pids):
    """Seconds that processes and their children that ended ran, with all threads that ever were."""
    ticks = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/stat") as file:
            ticks += sum(map(int, file.read().rpartition(")")[2].split()[11:15]))
    return ticks / _TICKS


def _idle(cores):
    """Seconds that these cores had nothing to do, together."""
    ticks = 0
    with contextlib.suppress(OSError, ValueError), open("/proc/stat") as file:
        for name, *fields in map(str.split, file):
            if name[:3] == "cpu" and name[3:].isdigit() and int(name[3:]) in cores:
                ticks += int(fields[3]) + int(fields[4])
    return ticks / _TICKS


class Deadline:
    """`seconds` from now for what runs in `boxes`, by their own clock."""

    def __init__(self, seconds, *boxes):
        self._seconds, self._boxes = seconds, boxes
        self._begun, self._before = time.monotonic(), self._lost()

    def _lost(self):
        return sum(box.lost for box in self._boxes)

    def left(self):
        """Seconds, below 0 when it has passed."""
        lost = min(self._lost() - self._before, (MOST - 1) * self._seconds)
        return self._begun + self._seconds + lost - time.monotonic()
