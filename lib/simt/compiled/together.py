"""Run a kernel with grid barriers: all its blocks in rounds, each block to its next barrier or to its end."""

import threading

import numpy as np

from .running import BlockFailure, RunningLaunch


class LeftWaiting(BlockFailure):
    """``waiting`` of ``blocks`` blocks wait at a barrier of the grid, ``block`` at ``number``; the others have
    ended."""

    def __init__(self, block, number, waiting, blocks):
        super().__init__(block, 0, 0)
        self.number, self.waiting, self.blocks = number, waiting, blocks


class Together(RunningLaunch):
    """One launch whose blocks are on the device together. keeps: the bytes that a block needs while it waits. passed:
    barriers of the grid."""

    def __init__(self, function, grid, arguments, shared_bytes, order, threads, keeps, counter=None):
        super().__init__(function, grid, arguments, shared_bytes, order, threads, counter and self._counter)
        self.made, self.local, self.passed = counter, threading.local(), 0
        self.stand = np.zeros(self.blocks, np.int64)  # the barrier at which each block stands; -1 where it has ended
        self.arguments = [self.stand, np.empty((self.blocks, keeps), np.uint8), *arguments]
        self.done = False
        self.meeting = threading.Barrier(self.workers, action=self._pass)

    def _counter(self):
        """A buffer for each worker, for all of its rounds."""
        if not hasattr(self.local, "buffer"):
            self.local.buffer = self.made()
        return self.local.buffer

    def _work(self):
        while not self.done:
            super()._work()
            self.meeting.wait()

    def _pass(self):
        """All have done their part of the round: go on, or end."""
        self.next, waiting = 0, np.flatnonzero(self.stand >= 0)
        ended = self.failures or self.error or self.stop[0] or not len(waiting)
        if not ended and len(waiting) < self.blocks:
            block = int(waiting[0])
            self.failures.append(LeftWaiting(block, int(self.stand[block]), len(waiting), self.blocks))
        self.done = bool(ended or self.failures)
        self.passed += not self.done
        if self.made is not None:
            self.made.turn(self.passed)
