"""Answers to 02-tally."""

import threading  # noqa: F401 (an edit uses it)

from answers import edit, insert, replace


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


WithoutTheLock = edit(
    "EachTime",
    "wrong missing: belong under the lock that you were given",
    replace("self.total, self.lock = total, lock", "self.total = total"),
    replace("with self.lock:\n    self.total[0] += value", "self.total[0] += value"),
)
ReadsOutside = edit(
    "EachTime",
    "wrong missing: belong under the lock that you were given",
    insert("seen = self.total[0]", before="with self.lock:"),
    replace("self.total[0] += value", "self.total[0] = seen + value"),
)
LockOfItsOwn = edit(
    "EachTime",
    "wrong missing: belong under the lock that you were given",
    replace("self.total, self.lock = total, lock", "self.total, self.lock = total, threading.Lock()"),
)
OnlyAtTheEnd = edit(
    "EachTime",
    "wrong late: How many additions may wait",
    replace("lock = total, lock", "lock, self.mine = total, lock, 0"),
    replace("with self.lock:\n    self.total[0] += value", "self.mine += value"),
    replace("pass", "with self.lock:\n    self.total[0] += self.mine"),
)
OneTooLate = edit(
    EverySecond,
    "wrong late: may lag behind, but not by so much",
    replace("min(slack, 1)", "slack"),
    replace("self.slack:", "self.slack + 1:"),
)


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


NeverEmptied = edit(
    "EachTime",
    "wrong twice: set to nothing",
    replace("self.total, self.lock = total, lock", "self.total, self.lock, self.mine = total, lock, 0"),
    insert("self.mine += value", before="with self.lock:"),
    replace("self.total[0] += value", "self.total[0] += self.mine"),
)
CountsInstead = edit(
    "EachTime",
    "wrong wrong-result: Add the values, not their number",
    replace("self.total[0] += value", "self.total[0] += 1"),
)
StaysLocked = edit(
    "EachTime",
    "wrong deadlock: cannot be taken twice",
    replace("with self.lock:\n    self.total[0] += value", "self.lock.acquire()\nself.total[0] += value"),
)
LocksTwice = edit(
    EverySecond,
    "wrong deadlock: cannot be taken twice",
    replace("slack, self.kept = total, lock, min(slack, 1), []", "mine = total, lock, 0"),
    replace("self.kept.append(value)\nif len(self.kept) > self.slack:", "with self.lock:\n    self.mine += value"),
    replace("    self.total[0] += sum(self.kept)\nself.kept = []", "    self.total[0] += self.mine\nself.mine = 0"),
)
Endless = edit(
    "EachTime", "wrong endless: loop", replace("with self.lock:\n    self.total[0] += value", "while True:\n    pass")
)
