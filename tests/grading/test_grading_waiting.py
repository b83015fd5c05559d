"""The clock of a submission stands still while others have the cores."""

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from types import SimpleNamespace

import pytest

from coursework.grading import waiting

SPIN = "import os; os.sched_setaffinity(0, {%d})\nprint(flush=True)\nwhile True:\n    pass"
THREADS = """import os, threading
os.sched_setaffinity(0, {%d})
print(flush=True)
while True:
    thread = threading.Thread(target=sum, args=(range(2000),))
    thread.start()
    thread.join()
"""
linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say how long a thread waited")


def spinning(stack, core, program=SPIN):
    process = stack.enter_context(
        subprocess.Popen([sys.executable, "-c", program % core], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    )
    stack.callback(process.kill)
    process.stdout.readline()
    return process.pid


@pytest.mark.rotates
@linux
def test_what_shares_its_core_with_three_loses_most_of_its_time():
    core = min(os.sched_getaffinity(0))
    with ExitStack() as stack:
        mine, *_ = [spinning(stack, core) for _ in range(4)]
        lost = waiting.Lost()
        lost.since_last([mine])
        begun = time.monotonic()
        time.sleep(1.5)
        passed = time.monotonic() - begun
        share = lost.since_last([mine]) / passed
    assert 0.4 < share < 1.0


@pytest.mark.rotates
@linux
def test_threads_that_come_and_go_lose_no_less(monkeypatch):
    """No look meets most of them: what they waited is known to nobody."""
    core = min(os.sched_getaffinity(0))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {core})
    with ExitStack() as stack:
        mine, *_ = [spinning(stack, core, program) for program in (THREADS, SPIN, SPIN, SPIN)]
        lost = waiting.Lost()
        lost.since_last([mine])
        total, begun = 0.0, time.monotonic()
        while time.monotonic() - begun < 2:
            time.sleep(0.2)
            total += lost.since_last([mine])
        share = total / (time.monotonic() - begun)
    assert 0.4 < share <= 1.0


@linux
def test_what_sleeps_or_is_gone_loses_nothing():
    sleeper = subprocess.Popen(
        [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"], stdout=subprocess.PIPE
    )
    sleeper.stdout.readline()
    lost = waiting.Lost()
    lost.since_last([sleeper.pid])
    time.sleep(0.5)
    assert lost.since_last([sleeper.pid]) < 0.1
    sleeper.kill()
    sleeper.communicate()
    assert lost.since_last([sleeper.pid]) == 0


@linux
def test_threads_of_its_own_do_not_buy_time(monkeypatch):
    """Four processes on one core wait for each other. On a machine of one core nobody else has it, so nothing is lost."""
    core = min(os.sched_getaffinity(0))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {core})
    with ExitStack() as stack:
        mine = [spinning(stack, core) for _ in range(4)]
        lost = waiting.Lost()
        lost.since_last(mine)
        ran = sum(_ran(pid) for pid in mine)
        begun = time.monotonic()
        time.sleep(1)
        passed, share = time.monotonic() - begun, lost.since_last(mine)
        ran = sum(_ran(pid) for pid in mine) - ran
    assert share <= passed - ran + 0.1


def _ran(pid):
    with open(f"/proc/{pid}/schedstat") as file:
        return int(file.read().split()[0]) / 1e9


def test_a_deadline_moves_by_what_is_lost_but_not_for_ever():
    one, two = SimpleNamespace(lost=5.0), SimpleNamespace(lost=0.0)
    deadline = waiting.Deadline(10, one, two)
    assert 9 < deadline.left() <= 10
    one.lost, two.lost = 9.0, 2.0
    assert 15 < deadline.left() <= 16
    one.lost = 1000.0
    assert 29 < deadline.left() <= 10 * waiting.MOST
