"""Answers to 02-mean."""

import threading

from answers import MASTER, cut, edit, insert, replace

DOOR = threading.Lock()


class OneLockForAll:
    """right"""

    def __init__(self):
        self.both = (0, 0)

    def add(self, value):
        with DOOR:
            count, total = self.both
            self.both = (count + 1, total + value)

    def read(self):
        with DOOR:
            return self.both


class TryFinally:
    """right"""

    def __init__(self):
        self.count, self.total = 0, 0
        self.lock = threading.RLock()

    def add(self, value):
        self.lock.acquire()
        try:
            self.total += value
            self.count += 1
        finally:
            self.lock.release()

    def read(self):
        with self.lock:
            return [self.count, self.total]


class LockForOneNumber:
    """wrong lost-update: under the same lock"""

    def __init__(self):
        self.count, self.total = 0, 0
        self.lock = threading.Lock()

    def add(self, value):
        with self.lock:
            self.total += value
        self.count += 1

    def read(self):
        with self.lock:
            return self.count, self.total


ANewLockEachTime = edit(
    MASTER,
    "wrong lost-update: under the same lock",
    cut("self.lock = threading.Lock()"),
    replace("self.lock", "threading.Lock()", after="def add(self, value):"),
    replace("self.lock", "threading.Lock()", after="def read(self):"),
)
TwoLocks = edit(
    LockForOneNumber,
    "wrong torn-read: `read` saw one number before",
    replace("lock = threading", "one, self.other = threading.Lock(), threading"),
    replace("with self.lock:", "with self.one:", after="def add(self, value):"),
    replace("self.count += 1", "with self.other:\n    self.count += 1"),
    replace("with self.lock:", "with self.one, self.other:", after="def read(self):"),
)
LocksItselfOut = edit(
    MASTER,
    "wrong deadlock: A Lock cannot be taken twice by the same thread",
    replace(
        "self.count, self.total = 0, 0\nself.lock = threading.Lock()",
        "self.lock, self.count, self.total = threading.Lock(), 0, 0",
    ),
    replace("value  # may raise: then nothing has changed", "value"),
    insert("self.read()", after="self.count += 1"),
)
