"""Stand-ins for the queues of `queue`: each put and get is one step."""

import heapq
import queue
from collections import deque

from .locks import StandIn, _note, _run


class Queue(StandIn):
    """queue.Queue."""

    def __init__(self, maxsize=0):
        super().__init__("queue")
        self.__maxsize, self.__items, self.__open, self.__came = maxsize, self._store(), 0, 0

    maxsize = property(lambda self: self.__maxsize)
    came = property(lambda self: self.__came)  # how many items were put in

    def _store(self):
        return deque()

    def _push(self, items, item):
        items.append(item)

    def _pop(self, items):
        return items.popleft()

    def put(self, item, block=True, timeout=None):
        run = _run(self)
        if timeout is not None and timeout < 0 and block:
            raise ValueError("'timeout' must be a non-negative number")
        room = lambda: self.__maxsize <= 0 or len(self.__items) < self.__maxsize  # noqa: E731
        if not run.wait(room, self, f"waits for room in {self.label}", timeout if block else 0):
            _note(run, f"finds {self.label} full")
            raise queue.Full
        self._push(self.__items, item)
        self.__open += 1
        self.__came += 1
        _note(run, f"puts into {self.label} ({len(self.__items)} in it)")

    def get(self, block=True, timeout=None):
        run = _run(self)
        if timeout is not None and timeout < 0 and block:
            raise ValueError("'timeout' must be a non-negative number")
        seconds = timeout if block else 0
        if not run.wait(lambda: bool(self.__items), self, f"waits for something in {self.label}", seconds):
            _note(run, f"finds {self.label} empty")
            raise queue.Empty
        item = self._pop(self.__items)
        _note(run, f"gets from {self.label} ({len(self.__items)} left)")
        return item

    def put_nowait(self, item):
        self.put(item, False)

    def get_nowait(self):
        return self.get(False)

    def qsize(self):
        _run(self).point()
        return len(self.__items)

    def empty(self):
        return self.qsize() == 0

    def full(self):
        return 0 < self.__maxsize <= self.qsize()

    def task_done(self):
        run = _run(self)
        run.point()
        if self.__open <= 0:
            raise ValueError("task_done() called too many times")
        self.__open -= 1
        _note(run, f"marks a task of {self.label} done")

    def join(self):
        _run(self).wait(lambda: self.__open == 0, self, f"waits for all tasks of {self.label}")


class LifoQueue(Queue):
    """queue.LifoQueue."""

    def _pop(self, items):
        return items.pop()


class PriorityQueue(Queue):
    """queue.PriorityQueue."""

    def _store(self):
        return []

    def _push(self, items, item):
        heapq.heappush(items, item)

    def _pop(self, items):
        return heapq.heappop(items)


class SimpleQueue(Queue):
    """queue.SimpleQueue: no bound."""

    def __init__(self):
        super().__init__()
