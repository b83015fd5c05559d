"""Answers to 02-mean."""

import threading

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


class ANewLockEachTime:
    """wrong lost-update: under the same lock"""

    def __init__(self):
        self.count, self.total = 0, 0

    def add(self, value):
        with threading.Lock():
            self.total += value
            self.count += 1

    def read(self):
        with threading.Lock():
            return self.count, self.total


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


class ReadsWithoutLock:
    """wrong torn-read: Reading needs the lock as well"""

    def __init__(self):
        self.count, self.total = 0, 0
        self.lock = threading.Lock()

    def add(self, value):
        with self.lock:
            self.total += value
            self.count += 1

    def read(self):
        return self.count, self.total


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


class CountsWhatItRefuses:
    """wrong half-added: Do first what may fail"""

    def __init__(self):
        self.count, self.total = 0, 0
        self.lock = threading.Lock()

    def add(self, value):
        with self.lock:
            self.count += 1
            self.total += value

    def read(self):
        with self.lock:
            return self.count, self.total


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
