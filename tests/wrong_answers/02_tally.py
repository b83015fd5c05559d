"""Answers to 02-tally."""

import threading


class WaitsAsLongAsItMay:
    """right"""

    def __init__(self, total, lock, slack):
        self.total, self.lock, self.slack, self.kept = total, lock, slack, []

    def add(self, value):
        self.kept.append(value)
        if len(self.kept) > self.slack:
            self.empty()

    def empty(self):
        with self.lock:
            self.total[0] += sum(self.kept)
        self.kept = []

    def close(self):
        if self.kept:
            self.empty()


class TakesAndOpens:
    """right"""

    def __init__(self, total, lock, slack):
        self.total, self.lock, self.slack, self.mine, self.n = total, lock, slack, 0, 0

    def add(self, value):
        self.mine, self.n = self.mine + value, self.n + 1
        if self.n > self.slack:
            self.close()

    def close(self):
        if self.n == 0:
            return
        self.lock.acquire()
        try:
            self.total[0] = self.total[0] + self.mine
        finally:
            self.lock.release()
        self.mine, self.n = 0, 0


class EachTime:
    """over budget over-budget: May an addition wait"""

    def __init__(self, total, lock, slack):
        self.total, self.lock = total, lock

    def add(self, value):
        with self.lock:
            self.total[0] += value

    def close(self):
        pass


class EverySecond:
    """over budget over-budget: May an addition wait"""

    def __init__(self, total, lock, slack):
        self.total, self.lock, self.slack, self.kept = total, lock, min(slack, 1), []

    def add(self, value):
        self.kept.append(value)
        if len(self.kept) > self.slack:
            self.close()

    def close(self):
        with self.lock:
            self.total[0] += sum(self.kept)
        self.kept = []


class WithoutTheLock:
    """wrong missing: belong under the lock that you were given"""

    def __init__(self, total, lock, slack):
        self.total = total

    def add(self, value):
        self.total[0] += value

    def close(self):
        pass


class ReadsOutside:
    """wrong missing: belong under the lock that you were given"""

    def __init__(self, total, lock, slack):
        self.total, self.lock = total, lock

    def add(self, value):
        seen = self.total[0]
        with self.lock:
            self.total[0] = seen + value

    def close(self):
        pass


class LockOfItsOwn:
    """wrong missing: belong under the lock that you were given"""

    def __init__(self, total, lock, slack):
        self.total, self.lock = total, threading.Lock()

    def add(self, value):
        with self.lock:
            self.total[0] += value

    def close(self):
        pass


class OnlyAtTheEnd:
    """wrong late: How many additions may wait"""

    def __init__(self, total, lock, slack):
        self.total, self.lock, self.mine = total, lock, 0

    def add(self, value):
        self.mine += value

    def close(self):
        with self.lock:
            self.total[0] += self.mine


class OneTooLate:
    """wrong late: may lag behind, but not by so much"""

    def __init__(self, total, lock, slack):
        self.total, self.lock, self.slack, self.kept = total, lock, slack, []

    def add(self, value):
        self.kept.append(value)
        if len(self.kept) > self.slack + 1:
            self.close()

    def close(self):
        with self.lock:
            self.total[0] += sum(self.kept)
        self.kept = []


class CloseForgotten:
    """wrong missing: kept back and never added"""

    def __init__(self, total, lock, slack):
        self.total, self.lock, self.slack, self.kept = total, lock, slack, []

    def add(self, value):
        self.kept.append(value)
        if len(self.kept) > self.slack:
            with self.lock:
                self.total[0] += sum(self.kept)
            self.kept = []

    def close(self):
        pass


class NeverEmptied:
    """wrong twice: set to nothing"""

    def __init__(self, total, lock, slack):
        self.total, self.lock, self.mine = total, lock, 0

    def add(self, value):
        self.mine += value
        with self.lock:
            self.total[0] += self.mine

    def close(self):
        pass


class CountsInstead:
    """wrong wrong-result: Add the values, not their number"""

    def __init__(self, total, lock, slack):
        self.total, self.lock = total, lock

    def add(self, value):
        with self.lock:
            self.total[0] += 1

    def close(self):
        pass


class StaysLocked:
    """wrong deadlock: cannot be taken twice"""

    def __init__(self, total, lock, slack):
        self.total, self.lock = total, lock

    def add(self, value):
        self.lock.acquire()
        self.total[0] += value

    def close(self):
        pass


class LocksTwice:
    """wrong deadlock: cannot be taken twice"""

    def __init__(self, total, lock, slack):
        self.total, self.lock, self.mine = total, lock, 0

    def add(self, value):
        with self.lock:
            self.mine += value
            self.close()

    def close(self):
        with self.lock:
            self.total[0] += self.mine
        self.mine = 0


class Endless:
    """wrong endless: loop"""

    def __init__(self, total, lock, slack):
        self.total, self.lock = total, lock

    def add(self, value):
        while True:
            pass

    def close(self):
        pass
