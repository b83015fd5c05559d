"""Run a compiled kernel: its blocks in chunks, shared out over CPU threads.

The chunks are handed out in the order of the blocks, and each is a call that lasts about 20 ms. So Ctrl-C ends a launch
soon (a ``while`` loop in the kernel asks, too), and when a block fails, all blocks before it have run or fail as well:
the failure that is reported is that of the lowest block, however many threads there are.
"""

import os
import threading
import time

import numpy as np

from ..interrupts import held_back

CHUNK = 0.02  # seconds
STACK = 64 << 20  # bytes of address space for a worker's stack: a block's arrays live there


def cpu_threads():
    """How many threads a launch uses: DLKERNELS_THREADS, or all cores this process may use."""
    wish = os.environ.get("DLKERNELS_THREADS", "").strip()
    if wish:
        return max(1, int(wish))
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


class BlockFailure(Exception):
    """A block went wrong. ``block``: its number; ``flag``: what (see unit.Unit); ``line``: where, 0 if not known."""

    def __init__(self, block, flag, line):
        self.block, self.flag, self.line = block, flag, line


class RunningLaunch:
    """One launch: ``function(first, last, ...)`` for all blocks of ``grid``."""

    def __init__(self, function, grid, arguments, shared_bytes, order, threads, counter=None):
        self.function, self.grid, self.arguments, self.shared_bytes = function, grid, arguments, shared_bytes
        self.counter = counter
        self.blocks = grid[0] * grid[1] * grid[2]
        self.reverse = order == "reverse"
        self.stop = np.zeros(1, np.int64)
        self.lock = threading.Lock()
        self.next, self.size = 0, 1
        self.failures, self.error = [], None
        self.workers = min(threads, self.blocks)

    def run(self):
        """Run all blocks; raises the BlockFailure of the lowest block that failed (in the order in which they run)."""
        workers = [threading.Thread(target=self._work, daemon=True) for _ in range(self.workers)]
        try:
            with held_back():  # all of them, or those that have started would wait for the others
                self._start(workers)
            for worker in workers:
                while worker.is_alive():
                    worker.join(0.2)
        except BaseException:
            with held_back():  # nobody writes the arrays any more when the launch is over
                self.stop[0] = 1
                for worker in workers:
                    if worker.ident is not None:
                        worker.join()
            raise
        if self.error is not None:
            raise self.error
        if self.failures:
            raise min(self.failures, key=lambda f: -f.block if self.reverse else f.block)

    def _start(self, workers):
        before = threading.stack_size(STACK)
        try:
            for worker in workers:
                worker.start()
        finally:
            threading.stack_size(before)

    def _take(self, seconds):
        """The next chunk: as many blocks as take about CHUNK seconds, to judge from the last one."""
        with self.lock:
            if seconds is not None:
                grown = self.size * 4 if seconds < CHUNK / 4 else self.size // 2 if seconds > 2 * CHUNK else self.size
                fair = max(1, (self.blocks - self.next) // (2 * self.workers))
                self.size = max(1, min(grown, fair))
            if self.failures or self.error or self.stop[0] or self.next >= self.blocks:
                return None
            begin = self.next
            self.next = end = min(self.blocks, begin + self.size)
        return (self.blocks - end, self.blocks - begin) if self.reverse else (begin, end)

    def _work(self):
        result, dynamic = np.zeros(3, np.int64), np.empty(max(16, self.shared_bytes) + 64, np.uint8)
        offset = -dynamic.ctypes.data % 64
        dynamic = dynamic[offset : offset + self.shared_bytes]
        counts = [] if self.counter is None else [self.counter()]
        places = [c.ctypes.data for c in counts]
        seconds = None
        try:
            while (chunk := self._take(seconds)) is not None:
                result[:] = -1, 0, 0
                start = time.perf_counter()
                self.function(*chunk, *self.grid, self.stop.ctypes.data, result, dynamic, *places, *self.arguments)
                seconds = time.perf_counter() - start
                if result[0] >= 0:
                    with self.lock:
                        self.failures.append(BlockFailure(*map(int, result)))
        except BaseException as error:
            self.error = error
