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


class NoLock:
    """wrong lost-update: An addition was lost"""

    def __init__(self):
        self.count, self.total = 0, 0

    def add(self, value):
        self.total += value
        self.count += 1

    def read(self):
        return self.count, self.total


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


class TwoLocks:
    """wrong torn-read: `read` saw one number before"""

    def __init__(self):
        self.count, self.total = 0, 0
        self.one, self.other = threading.Lock(), threading.Lock()

    def add(self, value):
        with self.one:
            self.total += value
        with self.other:
            self.count += 1

    def read(self):
        with self.one, self.other:
            return self.count, self.total


ReadsWithoutLock = edit(
    MASTER,
    "wrong torn-read: Reading needs the lock as well",
    replace("with self.lock:\n    return self.count, self.total", "return self.count, self.total"),
)


class ForgottenRelease:
    """wrong deadlock: `with` opens it in every case"""

    def __init__(self):
        self.count, self.total = 0, 0
        self.lock = threading.Lock()

    def add(self, value):
        self.lock.acquire()
        self.total += value
        self.count += 1
        self.lock.release()

    def read(self):
        with self.lock:
            return self.count, self.total


CountsWhatItRefuses = edit(
    MASTER,
    "wrong half-added: Do first what may fail",
    insert("self.count += 1", before="self.total += value  # may raise: then nothing has changed"),
    cut("self.count += 1"),
)


class LocksItselfOut:
    """wrong deadlock: A Lock cannot be taken twice by the same thread"""

    def __init__(self):
        self.lock, self.count, self.total = threading.Lock(), 0, 0

    def add(self, value):
        with self.lock:
            self.total += value
            self.count += 1
            self.read()

    def read(self):
        with self.lock:
            return self.count, self.total
