"""Answers to 02-buffer."""

import queue
import threading
import time
from collections import deque

from answers import MASTER, cut, edit, replace


class WaitFor:
    """right"""

    def __init__(self, bound):
        self.items, self.bound, self.closed = deque(), bound, False
        self.changed = threading.Condition()

    def put(self, item):
        with self.changed:
            self.changed.wait_for(lambda: len(self.items) < self.bound)
            self.items.append(item)
            self.changed.notify_all()

    def get(self):
        with self.changed:
            self.changed.wait_for(lambda: self.items or self.closed)
            if not self.items:
                return None
            item = self.items.popleft()
            self.changed.notify_all()
            return item

    def close(self):
        with self.changed:
            self.closed = True
            self.changed.notify_all()


class TwoConditions:
    """right"""

    def __init__(self, bound):
        self.items, self.bound, self.closed = [], bound, False
        lock = threading.Lock()
        self.room, self.work = threading.Condition(lock), threading.Condition(lock)

    def put(self, item):
        with self.room:
            while len(self.items) >= self.bound:
                self.room.wait()
            self.items.append(item)
            self.work.notify()

    def get(self):
        with self.work:
            while not self.items and not self.closed:
                self.work.wait()
            if self.items:
                item = self.items.pop(0)
                self.room.notify()
                return item
            return None

    def close(self):
        with self.work:
            self.closed = True
            self.work.notify_all()


If = edit(
    MASTER,
    "wrong raised-IndexError: `while`, not `if`",
    replace(
        "while len(self.items) == self.bound:\n    self.changed.wait()",
        "self.changed.wait_for(lambda: len(self.items) < self.bound)",
    ),
    replace("while not self.items", "if not self.items"),
    replace("if not self.items:", "if self.closed and not self.items:"),
)
Unbounded = edit(
    WaitFor,
    "wrong over-bound: `put` must wait while `bound` items",
    cut("self.changed.wait_for(lambda: len(self.items) < self.bound)"),
)
OneTooMany = edit(
    WaitFor,
    "wrong over-bound: `put` must wait while `bound` items",
    replace(
        "self.changed.wait_for(lambda: len(self.items) < self.bound)",
        "while len(self.items) > self.bound:\n    self.changed.wait()",
    ),
)
LastFirst = edit(WaitFor, "wrong order: popleft on the other", replace("self.items.popleft()", "self.items.pop()"))
SilentClose = edit(
    WaitFor, "wrong deadlock: all that may be concerned", cut("self.changed.notify_all()", after="self.closed = True")
)
WakesOne = edit(
    MASTER,
    "wrong deadlock: all that may be concerned",
    replace("self.changed.notify_all()", "self.changed.notify()", after="self.items.append(item)"),
    replace("self.changed.notify_all()", "self.changed.notify()", after="item = self.items.popleft()"),
)
LeavesEarly = edit(WaitFor, "wrong wrong-result: empty and closed", replace("if not self.items:", "if self.closed:"))


class AsksAgainAndAgain:
    """wrong busy-waiting: That is what `wait` is for"""

    def __init__(self, bound):
        self.items, self.bound, self.closed = deque(), bound, False
        self.changed = threading.Condition()

    def put(self, item):
        with self.changed:
            self.changed.wait_for(lambda: len(self.items) < self.bound)
            self.items.append(item)
            self.changed.notify_all()

    def get(self):
        while True:
            with self.changed:
                if self.items:
                    item = self.items.popleft()
                    self.changed.notify_all()
                    return item
                if self.closed:
                    return None

    def close(self):
        with self.changed:
            self.closed = True
            self.changed.notify_all()


IfInPut = edit(
    MASTER,
    "wrong over-bound: `put` must wait while `bound` items",
    replace("while len(self.items) == self.bound:", "if len(self.items) >= self.bound:"),
)
IfInGet = edit(
    MASTER,
    "wrong early-end: `while`, not `if`",
    replace("while len(self.items) == self.bound:", "while len(self.items) >= self.bound:"),
    replace("while not self.items", "if not self.items"),
)


class AQueueInside:
    """wrong raised-Spoils: what you build here"""

    def __init__(self, bound):
        self.line = queue.Queue(bound)

    def put(self, item):
        self.line.put(item)

    def get(self):
        return self.line.get()

    def close(self):
        self.line.put(None)
        self.line.put(None)


class Polling:
    """wrong raised-Spoils: to sleep and look again is polling"""

    def __init__(self, bound):
        self.bound, self.items, self.closed, self.lock = bound, deque(), False, threading.Lock()

    def put(self, item):
        while True:
            with self.lock:
                if len(self.items) < self.bound:
                    self.items.append(item)
                    return
            time.sleep(0.001)

    def get(self):
        while True:
            with self.lock:
                if self.items or self.closed:
                    return self.items.popleft() if self.items else None
            time.sleep(0.001)

    def close(self):
        with self.lock:
            self.closed = True


class WaitsATime:
    """wrong raised-Spoils: a wait that ends by itself is polling"""

    def __init__(self, bound):
        self.bound, self.items, self.closed = bound, deque(), False
        self.condition = threading.Condition()

    def put(self, item):
        with self.condition:
            while len(self.items) >= self.bound:
                self.condition.wait(0.01)
            self.items.append(item)

    def get(self):
        with self.condition:
            while not self.items and not self.closed:
                self.condition.wait(timeout=0.01)
            return self.items.popleft() if self.items else None

    def close(self):
        with self.condition:
            self.closed = True


PutPolls = edit(
    WaitFor,
    "wrong raised-Spoils: to sleep and look again is polling",
    replace(
        "def put(self, item):",
        """
        def put(self, item):
            while len(self.items) >= self.bound:
                time.sleep(0.01)
        """,
    ),
)
