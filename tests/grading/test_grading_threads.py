"""Thread code of students in the clean process: right answers pass, hostile ones get nothing, and the next is
unharmed."""

import ast
import os
from dataclasses import replace
from textwrap import dedent

import pytest

from coursework import checking, definition
from coursework.grading import sandbox, watch
from coursework.grading.remote import Remote
from coursework.grading.session import Session

pytestmark = [pytest.mark.skipif(os.name != "posix", reason="the grader runs on Linux and macOS"), pytest.mark.rotates]
TASK = definition.find("02-mean")
NO_BWRAP = sandbox.why_no_bwrap()
MODES = [pytest.param("bwrap", marks=pytest.mark.skipif(bool(NO_BWRAP), reason=NO_BWRAP or "")), "rlimit"]
LIMITS = sandbox.Limits(cell_seconds=120, total_seconds=1200)

RIGHT = """
class Answer:
    def __init__(self):
        self.count, self.total, self._lock = 0, 0, threading.Lock()
    def add(self, value):
        with self._lock:
            self.total += value
            self.count += 1
    def read(self):
        with self._lock:
            return self.count, self.total
"""


def changed(add="", read="", init="", head=""):
    """RIGHT with the body of a method replaced."""
    lines = RIGHT
    if init:
        lines = lines.replace("self.count, self.total, self._lock = 0, 0, threading.Lock()", init)
    if add:
        body = "\n".join("        " + line for line in add.splitlines())
        begin, end = lines.index("        with self._lock:"), lines.index("    def read")
        lines = lines[:begin] + body + "\n" + lines[end:]
    if read:
        begin = lines.rindex("        with self._lock:")
        lines = lines[:begin] + "\n".join("        " + line for line in read.splitlines()) + "\n"
    return dedent(head) + lines


# name -> (source, kinds of failure that may be told)
HOSTILE = {
    "patches threading": (changed(head="threading.Lock = None\n", add="threading.Thread = None"), "raised-NotAdmitted"),
    "patches through an alias": (changed(init="t = threading\n        t.Lock = None"), "raised-NotAdmitted"),
    "patches the lock's class": (changed(init="Lock.acquire = None"), "raised-NotAdmitted raised-TypeError"),
    "patches the thread's class": (changed(add="threading.Thread.join = None"), "raised-NotAdmitted"),
    "patches a class under another name": (changed(head="T = threading.Thread\n", add="for t in (T,):\n    t.join = None"), "raised-NotAdmitted"),
    "patches its lock": (
        changed(init="self.count, self.total, self._lock = 0, 0, threading.Lock()\n        self._lock.__enter__ = None"),
        "raised-NotAdmitted",
    ),
    "patches the scenario's module": (changed(add="import coursework.tasks.c02.mean as c\nc.feed = None"), "raised-NotAdmitted"),
    "stops the tracing": (changed(add="import sys\nsys.settrace(None)"), "raised-NotAdmitted"),
    "stops the tracing of new threads": (changed(add="threading.settrace(None)"), "raised-NotAdmitted"),
    "reaches for the scheduler": (changed(add="self._lock._StandIn__run.policy = None"), "raised-NotAdmitted"),
    "exits": (changed(add="raise SystemExit"), "raised-NotAdmitted"),
    "exits at once": (changed(add="import os\nos._exit(0)"), "raised-NotAdmitted"),
    "asks a question": (changed(add="input()"), "raised-NotAdmitted"),
    "swallows everything": (changed(add="while True:\n    try:\n        self.count += 1\n    except:\n        pass"), "raised-NotAdmitted"),
    "swallows in finally": (
        changed(add="while True:\n    try:\n        self.count += 1\n    finally:\n        continue"), "raised-NotAdmitted",
    ),
    "swallows in a context": (
        changed(
            head="""
            class Quiet:
                def __enter__(self):
                    return self
                def __exit__(self, *error):
                    return True
            """,
            add="while True:\n    with Quiet():\n        while True:\n            pass",
        ),
        "endless raised-TimeLimit",
    ),
    "spins for ever": (changed(add="while True:\n    pass"), "endless"),
    "spins on a lock": (changed(add="while not self._lock.acquire(blocking=False):\n    pass\nself.add(value)"), "endless deadlock"),
    "waits for ever": (changed(add="self._lock.acquire()\nself._lock.acquire()"), "deadlock"),
    "never gives back": (changed(add="self._lock.acquire()\nself.total += value\nself.count += 1"), "deadlock lock-not-released"),
    "a thread that is never joined": (
        changed(add="def work():\n    self.total += value\n    self.count += 1\nthreading.Thread(target=work).start()"),
        "counted lost-update wrong-result torn-read accepted exception raised-TypeError",
    ),
    "recurses": (changed(add="self.add(value)"), "raised-RecursionError"),
    "a long computation": (changed(add="x = 7 ** 7 ** 9"), "raised-TimeLimit raised-KernelDied blocked"),
    "a giant list": (changed(add="self.kept = [0] * 10 ** 11"), "raised-MemoryError raised-KernelDied"),
    "threads without end": (
        changed(add="while True:\n    threading.Thread(target=lambda: None).start()"),
        "endless raised-RuntimeError raised-TimeLimit raised-KernelDied",
    ),
    "equal to everything": (
        changed(head="class Yes:\n    def __eq__(self, other):\n        return True\n", read="return Yes(), Yes()"), "raised-NotAdmitted",
    ),
    "a list that lies": (
        changed(head="class Yes(list):\n    def __len__(self):\n        return 2\n", read="return Yes()"),
        "wrong-result type torn-read accepted raised-IndexError raised-ValueError",
    ),
    "an object for a number": (changed(read="return self, self"), "type raised-TypeError"),
    "no lock at all": (changed(add="self.total += value\nself.count += 1", read="return self.count, self.total"), "lost-update torn-read wrong-result"),
    "a lock of its own each time": (changed(add="with threading.Lock():\n    self.total += value\n    self.count += 1"), "lost-update torn-read wrong-result"),
    "a sleep for a lock": (changed(add="time.sleep(0.01)\nself.total += value\nself.count += 1"), "lost-update torn-read wrong-result"),
    "hard-coded": (changed(read="return 3, 3"), "counted wrong-result torn-read"),
    "not a class": ("Answer = 5\n", "raised-NotAdmitted raised-NameError raised-TypeError raised-NoResult"),
    "nothing": ("print('hello')\n", "raised-NotAdmitted"),
}  # fmt: skip


@pytest.fixture(scope="module", params=MODES)
def session(request):
    boxes = sandbox.Sandbox(request.param, LIMITS), sandbox.Sandbox(request.param, LIMITS)
    with boxes[0] as notebook, boxes[1] as clean, watch.Watch(notebook, clean):
        made = Session(notebook, clean, None)
        yield made
        made.close()


def graded(session, source):
    """As if the notebook's process had sent all functions, classes and assignments of the source, whatever they are."""
    session.begin()
    answer = Remote(session, "Answer")
    kinds = ast.FunctionDef | ast.ClassDef | ast.Assign
    answer.said = {"name": "Answer", "texts": [ast.unparse(s) for s in ast.parse(source).body if isinstance(s, kinds)]}
    return checking.check(TASK, answer, seed=7, hidden=True)


def test_a_right_answer_is_right(session):
    outcome = graded(session, RIGHT)
    assert outcome.status == checking.RIGHT, outcome
    assert "schedules of the threads" in " ".join(outcome.checked)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_answer_gets_nothing(session, name, monkeypatch):
    source, kinds = HOSTILE[name]
    if "raised-TimeLimit" in kinds:
        monkeypatch.setattr(session, "limits", replace(LIMITS, cell_seconds=5))
    outcome = graded(session, source)
    assert (outcome.status, outcome.points) == (checking.WRONG, 0), outcome
    assert outcome.failure.kind in kinds.split(), outcome.failure


def test_the_process_is_fit_for_the_next_after_all_of_them(session):
    outcome = graded(session, RIGHT)
    assert outcome.status == checking.RIGHT, outcome
