"""Answers to 02-bug."""

import threading

from answers import edit, replace


class Turns:
    """right"""

    def __init__(self, parties):
        self.parties, self.inside, self.side = parties, 0, False
        self.changed = threading.Condition()

    def wait(self):
        with self.changed:
            side = self.side
            self.inside += 1
            if self.inside < self.parties:
                self.changed.wait_for(lambda: self.side != side)
            else:
                self.inside, self.side = 0, not side
                self.changed.notify_all()


class TwoDoors:
    """right"""

    def __init__(self, parties):
        self.parties, self.came = parties, 0
        self.lock, self.first, self.second = threading.Lock(), threading.Semaphore(0), threading.Semaphore(0)

    def wait(self):
        with self.lock:
            self.came += 1
            if self.came == self.parties:
                for _ in range(self.parties):
                    self.first.release()
        self.first.acquire()
        with self.lock:
            self.came -= 1
            if self.came == 0:
                for _ in range(self.parties):
                    self.second.release()
        self.second.acquire()


class RoundsButOneWoken:
    """wrong deadlock: either nobody woke the others"""

    def __init__(self, parties):
        self.parties, self.came, self.round = parties, 0, 0
        self.changed = threading.Condition()

    def wait(self):
        with self.changed:
            mine = self.round
            self.came += 1
            if self.came == self.parties:
                self.came, self.round = 0, mine + 1
                self.changed.notify()
            while self.round == mine:
                self.changed.wait()


class NeverBack:
    """wrong early: that belongs to another round"""

    def __init__(self, parties):
        self.parties, self.came = parties, 0
        self.changed = threading.Condition()

    def wait(self):
        with self.changed:
            self.came += 1
            self.changed.notify_all()
            while self.came < self.parties:
                self.changed.wait()


class AnEvent:
    """wrong early: that belongs to another round"""

    def __init__(self, parties):
        self.parties, self.came = parties, 0
        self.lock, self.all_there = threading.Lock(), threading.Event()

    def wait(self):
        with self.lock:
            self.came += 1
            if self.came == self.parties:
                self.came = 0
                self.all_there.set()
        self.all_there.wait()


class OneSemaphore:
    """wrong deadlock: waits at the barrier for ever"""

    def __init__(self, parties):
        self.parties, self.came = parties, 0
        self.lock, self.go_on = threading.Lock(), threading.Semaphore(0)

    def wait(self):
        with self.lock:
            self.came += 1
            if self.came == self.parties:
                self.came = 0
                for _ in range(self.parties):
                    self.go_on.release()
        self.go_on.acquire()


class NoBarrier:
    """wrong early: went on too early"""

    def __init__(self, parties):
        self.parties = parties

    def wait(self):
        pass


class ReadsTheRoundBefore:
    """right"""

    def __init__(self, parties):
        self.parties, self.came, self.round = parties, 0, 0
        self.changed = threading.Condition()

    def wait(self):
        mine = self.round
        with self.changed:
            self.came += 1
            if self.came == self.parties:
                self.came, self.round = 0, mine + 1
                self.changed.notify_all()
        with self.changed:
            if self.round == mine:
                self.changed.wait()


class AsksAgain:
    """wrong busy-waiting: That is what `wait` is for"""

    def __init__(self, parties):
        self.parties, self.came, self.round = parties, 0, 0
        self.lock = threading.Lock()

    def wait(self):
        with self.lock:
            mine = self.round
            self.came += 1
            if self.came == self.parties:
                self.came, self.round = 0, mine + 1
        while self.round == mine:
            pass


FixedSize = edit(
    RoundsButOneWoken,
    "wrong deadlock: waits at the barrier for ever",
    replace("parties, self.came, self.round = parties, 0", "came, self.round = 0"),
    replace("self.parties:", "2:"),
    replace("notify", "notify_all"),
)
