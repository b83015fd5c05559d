"""A clock that stands still while others have the cores: a busy machine must not cost points.

Linux says of each thread how long it ran and how long it was ready and waited for a core. What is lost is what the
thread waited that waited longest, but not what a submission takes from itself, with more threads than there are cores.
"""

import contextlib
import os
import time

MOST = 3  # times its seconds, a step ends by the wall's clock, whatever it waited for


class Lost:
    """Seconds that processes lost to others; where nobody says (not on Linux), 0."""

    def __init__(self):
        self._cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        self._threads, self._at = {}, time.monotonic()

    def since_last(self, pids):
        now, threads = time.monotonic(), {}
        for pid in pids:
            with contextlib.suppress(OSError):
                for thread in os.listdir(f"/proc/{pid}/task"):
                    with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                        ran, waited, _ = file.read().split()
                        threads[thread] = int(ran), int(waited)
        ran = waited = 0
        for thread, (own, ready) in threads.items():
            own_before, ready_before = self._threads.get(thread, (0, 0))
            ran += own - own_before
            waited = max(waited, ready - ready_before)
        idle = now - self._at - ran / 1e9 / self._cores
        self._threads, self._at = threads, now
        return max(0.0, min(waited / 1e9, idle))


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
