"""02-races, the third part of 02-lose: Which race is it?"""

import threading

from ...definition import Case, Section
from ...events import Accesses
from ...kinds.detective import DetectiveTask, Fault
from ...kinds.thread import RacesTask


class OneTicket:
    def __init__(self):
        self.left, self.lock = 1, threading.Lock()

    def run(self, k):
        with self.lock:
            some = self.left > 0
        if some:
            with self.lock:
                self.left -= 1

    def result(self):
        return self.left


class Search:
    def __init__(self):
        self.found = False

    def run(self, k):
        if not self.found:
            self.found = True

    def result(self):
        return self.found


class TwoDoors:
    def __init__(self):
        self.inside = 0
        self.front, self.back = threading.Lock(), threading.Lock()

    def run(self, k):
        with self.front if k == 0 else self.back:
            self.inside += 1

    def result(self):
        return self.inside


class Stock:
    def __init__(self):
        self.left, self.lock = 1, threading.Lock()

    def run(self, k):
        with self.lock:
            if self.left > 0:
                self.left -= 1

    def result(self):
        return self.left


class Table:
    def __init__(self):
        self.squares, self.lock = None, threading.Lock()

    def run(self, k):
        if self.squares is None:
            with self.lock:
                if self.squares is None:
                    self.squares = [0, 1, 4, 9]

    def result(self):
        return self.squares


class Winner:
    def __init__(self):
        self.first, self.lock = None, threading.Lock()

    def run(self, k):
        with self.lock:
            if self.first is None:
                self.first = k

    def result(self):
        return self.first


def both_run(program):
    """Threads 0 and 1 call `run` of one object."""
    accesses = Accesses()
    shared = accesses.watched(program)()
    threads = [threading.Thread(target=shared.run, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"result": shared.result(), "unordered": accesses.unordered()}


RACES = DetectiveTask(
    id="02-races",
    section=Section("2", "02_threads", "Locked, and still wrong"),
    title="Which race is it?",
    objective="Tell a data race from a race condition",
    after="02-lose",
    points=3,
    minutes=12,
    judge=RacesTask(
        id="02-races",
        title="",
        objective="",
        points=1,
        minutes=5,
        hints=("", "", ""),
        stress=0,
        schedules=60,
        scenario=both_run,
        spec=lambda: None,
        cases=(Case("threads 0 and 1 call run", lambda rng: ()),),
    ),
    programs={"A": OneTicket, "B": Search, "C": TwoDoors, "D": Stock, "E": Table, "F": Winner},
    run="case",
    nothing="In every order the result is the same, and one lock keeps all accesses apart.",
    told="It was played in all orders of its two threads, and each access was noted with the locks that were held.",
    faults=(
        Fault("neither", "has one result, and a lock keeps all accesses apart"),
        Fault(
            "race condition",
            "has a result that depends on the order; a lock keeps all accesses apart",
            ("race-condition",),
        ),
        Fault(
            "data race", "has conflicting accesses without a common lock; the result is always the same", ("data-race",)
        ),
        Fault(
            "both",
            "has a result that depends on the order, and conflicting accesses without a common lock",
            ("both-races",),
        ),
    ),
    advice={
        "verdict": "Ask two things, one after the other. First: is each access to what changes under the same lock, "
        "reading too? Then, wherever the answer to the first led: play the orders of the two threads. Is there more "
        "than one end?"
    },
    hints=(
        "Two questions, and neither answers the other. One is about accesses and locks: you need not play anything. "
        "The other is about results: there the locks do not matter by themselves.",
        "For the accesses, list for each attribute who reads it, who writes it, and under which lock. Two names of "
        "locks are two locks. For the results, let thread 1 do everything between two steps of thread 0; `+=` has "
        "several, a read and a write.",
        "In which of the six is something read or written outside of every `with`? In which is it under a lock, but "
        "not the other thread's? And in which does the end depend on who came first, or on what came between two "
        "`with` blocks, although both had the lock?",
    ),
)
