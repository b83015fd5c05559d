"""02-buffers, the second part of 02-buffer: Four buffers, one of them right."""

import threading
from collections import deque

from ...definition import Case, Section
from ...kinds.detective import DetectiveTask, Fault
from ...kinds.thread import ThreadTask
from .shared import HIDDEN_JUDGE, judge_through, passing, through


class Frame:
    def __init__(self, bound):
        self.items, self.bound, self.closed = deque(), bound, False
        self.changed = threading.Condition()

    def close(self):
        with self.changed:
            self.closed = True
            self.changed.notify_all()


class A(Frame):
    def put(self, item):
        with self.changed:
            while len(self.items) >= self.bound:
                self.changed.wait()
            self.items.append(item)
            self.changed.notify_all()

    def get(self):
        with self.changed:
            if not self.items and not self.closed:
                self.changed.wait()
            if not self.items:
                return None
            item = self.items.popleft()
            self.changed.notify_all()
            return item


class B(Frame):
    def put(self, item):
        with self.changed:
            while len(self.items) >= self.bound:
                self.changed.wait()
            self.items.append(item)
            self.changed.notify()

    def get(self):
        with self.changed:
            while not self.items and not self.closed:
                self.changed.wait()
            if not self.items:
                return None
            item = self.items.popleft()
            self.changed.notify()
            return item


class C(Frame):
    def __init__(self, bound):
        self.items, self.bound, self.closed = deque(), bound, False
        lock = threading.Lock()
        self.changed, self.room = threading.Condition(lock), threading.Condition(lock)

    def put(self, item):
        with self.changed:
            while len(self.items) >= self.bound:
                self.room.wait()
            self.items.append(item)
            self.changed.notify()

    def get(self):
        with self.changed:
            while not self.items and not self.closed:
                self.changed.wait()
            if not self.items:
                return None
            item = self.items.popleft()
            self.room.notify()
            return item


class D(Frame):
    def put(self, item):
        with self.changed:
            while len(self.items) >= self.bound:
                self.changed.wait()
            self.items.append(item)
            self.changed.notify_all()

    def get(self):
        with self.changed:
            while not self.items and not self.closed:
                self.changed.wait()
            if not self.items:
                return None
        with self.changed:
            item = self.items.popleft()
            self.changed.notify_all()
            return item


SMALL_BUFFER = ThreadTask(
    id="02-buffers",
    title="",
    objective="",
    scenario=through,
    judge=judge_through,
    **HIDDEN_JUDGE
    | {
        "schedules": 60,
        "cases": (
            Case("two producers, one consumer, bound 1", passing(1, 2, 1, 1)),
            Case("one producer, two consumers, bound 2", passing(2, 1, 2, 1)),
            Case("two producers, two consumers, bound 1", passing(1, 2, 2, 1)),
        ),
    },
)

BUFFERS = DetectiveTask(
    id="02-buffers",
    section=Section("2.2", "02_waiting", "A condition"),
    title="Four buffers, one of them right",
    objective="Judge code with a condition: find who may be woken in vain, and who never",
    after="02-buffer",
    points=3,
    minutes=12,
    judge=SMALL_BUFFER,
    programs={"A": A, "B": B, "C": C, "D": D},
    run="case",
    faults=(
        Fault("right", "does what the first part asks for, in every order"),
        Fault("gives up", "`get` can return None although the buffer is open", ("early-end",)),
        Fault("sleeps on", "somebody can wait for ever", ("deadlock",)),
        Fault("overfull", "there can be more items in it than the bound", ("over-bound",)),
        Fault("loses", "an item can get lost, or come twice", ("wrong-result",)),
        Fault("crashes", "a thread can take from an empty buffer", ("raised-IndexError",)),
        Fault("disorder", "items of one producer can come in another order", ("order",)),
    ),
    advice={
        "verdict": "Follow two threads that wait at the same time, for different things. Who is woken, what is true "
        "when it has the lock again, and does it look?"
    },
    hints=(
        "For each `wait`: what may have happened between the notification and the moment at which the thread has the "
        "lock again?",
        "For each `notify`: which threads may wait there, and for what? For each `append` and `popleft`: was the lock "
        "held all the time since somebody looked?",
        "Play bound 1 with two producers and two consumers on paper. One item is put, then taken: write down after "
        "each step who waits where. One of the four has two waiting rooms: who sleeps in which?",
    ),
)
