"""Threads of a traced run that look at memory in a ``while`` and find nothing new: they sleep until somebody writes
there.

A thread gives way every few rounds (source/waiting.py). Where all its variables are what they were when it gave way
last, and it has only read meanwhile, its next rounds would be the same until one of the places that it read is written.
So a chain of blocks that wait for one another is traced in as many rounds as it has links, not in the square of them.
"""

import ast

from ..trace import KINDS, LOAD
from .residents import WAIT, stand

GRAIN = 4  # bits: places are pieces of 16 bytes, the widest access


class Sleepers:
    """The sleeping threads of a launch, by the places that they look at."""

    def __init__(self, launch):
        self.launch, self.trace = launch, launch.trace
        self.by_place = {}
        self.unchanged = set()  # rows of atomics that stored what was there

    def ran(self, thread, first_row):
        """A thread has run; its accesses are the rows from ``first_row`` on."""
        trace = self.trace
        start = 4 * (first_row - (len(trace) - len(trace.recorded) // 4))
        if start < 0:  # they have been put away meanwhile
            self._wake_all()
            thread.stand = None
            return
        rows, sites, arrays = trace.recorded[start:], trace.sites, trace.arrays
        read, wrote = set(), False
        for k in range(0, len(rows), 4):
            info = arrays[rows[k + 2]]
            word = info.space, info.base + rows[k + 3] >> GRAIN
            if sites[rows[k]].kind == KINDS[LOAD] or first_row + k // 4 in self.unchanged:
                read.add(word)
            else:
                wrote = True
                for sleeper in self.by_place.pop(word, ()):
                    sleeper.asleep = False
        self.unchanged.clear()
        self._settle(thread, read, wrote)

    def _settle(self, thread, read, wrote):
        """Let the thread sleep, if it goes round for nothing."""
        request = thread.request
        if request is None or thread.generator is None or not self._in_while(request):
            thread.stand = None
            return
        before, thread.stand = thread.stand, stand(thread.generator)
        if read and not wrote and before == thread.stand:
            thread.asleep = True
            for word in read:
                self.by_place.setdefault(word, []).append(thread)

    def _in_while(self, request):
        loop = self.launch.program.loops.get(request[1]) if request[0] == WAIT else None
        return loop is not None and isinstance(loop[0], ast.While)  # how far a ``for`` is, no variable says

    def _wake_all(self):
        for sleepers in self.by_place.values():
            for sleeper in sleepers:
                sleeper.asleep = False
        self.by_place.clear()
