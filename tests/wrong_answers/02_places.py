"""Answers to 02-places."""

import threading
import time

from answers import MASTER, cut, edit, insert, replace


class Predicate:
    """right"""

    def __init__(self, count):
        self.taken, self.count = 0, count
        self.changed = threading.Condition()

    def take(self, n):
        with self.changed:
            self.changed.wait_for(lambda: self.taken + n <= self.count)
            self.taken += n

    def give(self, n):
        with self.changed:
            self.taken -= n
            self.changed.notify_all()


class SemaphoreAndTurn:
    """wrong deadlock: jobs that fit beside each other are kept apart"""

    def __init__(self, count):
        self.free, self.turn = threading.Semaphore(count), threading.Lock()

    def take(self, n):
        self.turn.acquire()
        for _ in range(n):
            self.free.acquire()

    def give(self, n):
        for _ in range(n):
            self.free.release()
        self.turn.release()


OneAfterTheOther = edit(
    SemaphoreAndTurn,
    "wrong deadlock: keeps or takes off places before it has waited",
    replace("free, self.turn = threading.Semaphore(count), threading.Lock()", "free = threading.Semaphore(count)"),
    cut("self.turn.acquire()"),
    cut("self.turn.release()"),
)
WaitsForAny = edit(MASTER, "wrong too-many: until all `n` are free", replace("self.free < n", "self.free <= 0"))


class LooksTooEarly:
    """wrong too-many: had not found their places"""

    def __init__(self, count):
        self.free, self.changed = count, threading.Condition()

    def take(self, n):
        with self.changed:
            while self.free < n:
                self.changed.wait()
        with self.changed:
            self.free -= n

    def give(self, n):
        with self.changed:
            self.free += n
            self.changed.notify_all()


Unlimited = edit(
    "OneAtATime",
    "wrong too-many: had not found their places",
    replace("lock = threading.Lock()", "count = count"),
    replace("self.lock.acquire()", "pass"),
    replace("self.lock.release()", "pass"),
)


class AsksAgain:
    """wrong busy-waiting: That is what `wait` is for"""

    def __init__(self, count):
        self.free, self.lock = count, threading.Lock()

    def take(self, n):
        while True:
            with self.lock:
                if self.free >= n:
                    self.free -= n
                    return
            time.sleep(0.001)

    def give(self, n):
        with self.lock:
            self.free += n


class WaitsWithoutTheLock:
    """wrong raised-RuntimeError: lock"""

    def __init__(self, count):
        self.free, self.changed = count, threading.Condition()

    def take(self, n):
        while self.free < n:
            self.changed.wait()
        with self.changed:
            self.free -= n

    def give(self, n):
        with self.changed:
            self.free += n
            self.changed.notify_all()


class Spins:
    """wrong busy-waiting: That is what `wait` is for"""

    def __init__(self, count):
        self.free, self.lock = count, threading.Lock()

    def take(self, n):
        while True:
            while self.free < n:
                pass
            with self.lock:
                if self.free >= n:
                    self.free -= n
                    return

    def give(self, n):
        with self.lock:
            self.free += n


class AsksUnderTheLock:
    """wrong busy-waiting: That is what `wait` is for"""

    def __init__(self, count):
        self.free, self.lock = count, threading.Lock()

    def take(self, n):
        self.lock.acquire()
        while self.free < n:
            self.lock.release()
            self.lock.acquire()
        self.free -= n
        self.lock.release()

    def give(self, n):
        with self.lock:
            self.free += n


AsksWithTheLock = edit(
    AsksAgain,
    "wrong busy-waiting: times in this run",
    replace("lock = count, threading.Lock()", "lock, self.asked = count, threading.Lock(), 0"),
    insert("self.asked += 1", before="while True:"),
    cut("time.sleep(0.001)"),
)


class TakesAndGivesBack:
    """wrong livelock: Take all places at once, when they are free"""

    def __init__(self, count):
        self.free = threading.Semaphore(count)

    def take(self, n):
        while True:
            got = 0
            while got < n and self.free.acquire(blocking=False):
                got += 1
            if got == n:
                return
            for _ in range(got):
                self.free.release()

    def give(self, n):
        for _ in range(n):
            self.free.release()


WaitsAWhile = edit(
    MASTER,
    "wrong raised-Spoils: a wait that ends by itself",
    replace("self.changed.wait()", "self.changed.wait(0.01)"),
    cut("self.changed.notify_all()"),
)
