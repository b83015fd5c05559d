"""Answers to 02-graph."""

import threading
from collections import deque

from answers import cut, edit, replace


class SetsOfNames:
    """right"""

    def __init__(self, needs, submit):
        self.submit, self.changed = submit, threading.Lock()
        self.first = [name for name in needs if not needs[name]]
        self.waiting = {name: set(before) for name, before in needs.items() if before}

    def start(self):
        for name in self.first:
            self.submit(name)

    def finished(self, name):
        ready = []
        with self.changed:
            for user in list(self.waiting):
                self.waiting[user].discard(name)
                if not self.waiting[user]:
                    del self.waiting[user]
                    ready.append(user)
        for user in ready:
            self.submit(user)


class SemaphoresAsCounters:
    """right"""

    def __init__(self, needs, submit):
        self.needs, self.submit = needs, submit
        self.tokens = {name: threading.Semaphore(len(needs[name]) - 1) for name in needs if needs[name]}

    def start(self):
        for name in self.needs:
            if name not in self.tokens:
                self.submit(name)

    def finished(self, name):
        for user in self.tokens:
            if name in self.needs[user] and not self.tokens[user].acquire(blocking=False):
                self.submit(user)  # no token was left for the last one


class Frame:
    def __init__(self, needs, submit):
        self.needs, self.submit, self.lock = needs, submit, threading.Lock()
        self.still_open = {name: len(before) for name, before in needs.items()}
        self.users = {name: [other for other in needs if name in needs[other]] for name in needs}
        self.over, self.begun = set(), set()

    def start(self):
        for name in self.needs:
            if not self.needs[name]:
                self.submit(name)

    def finished(self, name):
        for user in self.users[name]:
            with self.lock:
                self.still_open[user] -= 1
                ready = self.still_open[user] == 0
            if ready:
                self.submit(user)


class ReadsThenWrites(Frame):
    """wrong missing: one of them lost"""

    def finished(self, name):
        for user in self.users[name]:
            left = self.still_open[user]
            self.still_open[user] = left - 1
            if left == 1:
                self.submit(user)


class LooksAfterTheLock(Frame):
    """wrong twice: both submitted it"""

    def finished(self, name):
        for user in self.users[name]:
            with self.lock:
                self.still_open[user] -= 1
            if self.still_open[user] == 0:
                self.submit(user)


NoLock = edit(
    LooksAfterTheLock,
    "wrong missing: Were two needs taken off at once",
    replace("with self.lock:\n    self.still_open[user] -= 1", "self.still_open[user] -= 1"),
)


class StartLooksAtTheNumbers(Frame):
    """wrong twice: what does `start` look at then?"""

    def start(self):
        for name in self.needs:
            if self.still_open[name] == 0:
                self.submit(name)


class AllAtOnce(Frame):
    """wrong early: handed over too early"""

    def start(self):
        for name in self.needs:
            self.submit(name)

    def finished(self, name):
        pass


class OneNeedIsEnough(Frame):
    """wrong early: It may need several others"""

    def finished(self, name):
        with self.lock:
            ready = [user for user in self.users[name] if user not in self.begun]
            self.begun.update(ready)
        for user in ready:
            self.submit(user)


class NeverStarts(Frame):
    """wrong nothing: What needs nothing can run at once"""

    def start(self):
        pass


class OnlyTheFirst(Frame):
    """wrong missing: nobody found it ready"""

    def start(self):
        for name in self.needs:
            if not self.needs[name]:
                self.submit(name)
                return


TheOtherWayRound = edit(
    OnlyTheFirst, "wrong early: needs[x] are those before x", replace("needs[name]", "users[name]"), cut("return")
)
OneUserOnly = edit(
    LooksAfterTheLock,
    "wrong missing: nobody found it ready",
    replace("for user in self.users[name]:", "if self.users[name]:\n    user = self.users[name][-1]"),
    replace("if self.still_open[user] == 0:", "    ready = self.still_open[user] == 0\nif ready:"),
)


class LevelByLevel(Frame):
    """wrong deadlock: whatever else is still running"""

    def __init__(self, needs, submit):
        Frame.__init__(self, needs, submit)
        self.running = 0

    def start(self):
        self.next_level()

    def next_level(self):
        ready = [n for n in self.needs if n not in self.begun and all(b in self.over for b in self.needs[n])]
        self.running += len(ready)
        self.begun.update(ready)
        for name in ready:
            self.submit(name)

    def finished(self, name):
        with self.lock:
            self.over.add(name)
            self.running -= 1
            last = self.running == 0
        if last:
            self.next_level()


class WaitsInFinished(Frame):
    """wrong deadlock: nobody may wait inside"""

    def __init__(self, needs, submit):
        Frame.__init__(self, needs, submit)
        self.changed = threading.Condition()

    def finished(self, name):
        with self.changed:
            self.over.add(name)
            for user in self.users[name]:
                while not all(need in self.over for need in self.needs[user]):
                    self.changed.wait()
                if user not in self.begun:
                    self.begun.add(user)
                    self.submit(user)


class Polls(Frame):
    """wrong busy-waiting: It need not wait"""

    def finished(self, name):
        self.over.add(name)
        for user in self.users[name]:
            while not all(need in self.over for need in self.needs[user]):
                pass
            with self.lock:
                ready = user not in self.begun
                self.begun.add(user)
            if ready:
                self.submit(user)


class InAFixedOrder:
    """wrong deadlock: all that it needs itself is finished"""

    def __init__(self, needs, submit):
        self.left, self.submit, self.needs, self.over = deque(needs), submit, needs, set()

    def start(self):
        if self.left and not self.needs[self.left[0]]:
            self.submit(self.left.popleft())

    def finished(self, name):
        self.over.add(name)
        if self.left and all(need in self.over for need in self.needs[self.left[0]]):
            self.submit(self.left.popleft())


class NoEntry(Frame):
    """wrong raised-KeyError: A name has no entry"""

    def __init__(self, needs, submit):
        Frame.__init__(self, needs, submit)
        self.users = {}
        for name, before in needs.items():
            for other in before:
                self.users[other] = [*self.users.get(other, []), name]
