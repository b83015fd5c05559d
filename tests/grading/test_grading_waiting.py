"""The clock of a submission stands still while others have the cores. What Linux says is played, so no machine
decides."""

import io
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from coursework.grading import waiting

SPIN = "print(flush=True)\nwhile True:\n    pass"
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say how long a thread waited")


class Machine:
    """Some cores; each of the threads of a submission has run and waited for so many seconds since the start."""

    def __init__(self, monkeypatch, cores=1):
        self.now, self.idle, self.threads, self.ended = 100.0, 7.0, {}, 0.0
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
        monkeypatch.setattr(waiting, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(waiting, "_idle", lambda cores: self.idle)
        monkeypatch.setattr(waiting, "_threads", lambda pids: list(self.threads.items()))
        monkeypatch.setattr(waiting, "_ran", lambda pids: self.ended + sum(ran for ran, _ in self.threads.values()))
        self.lost = waiting.Lost()
        self.passes(0)

    def passes(self, seconds, idle=0.0, ended=0.0, **threads):
        """What a submission lost of so many seconds. threads: (share that it ran, share that it was ready and waited)
        of each; `ended`: the share that threads ran which came and went; idle: the share of a core's time in which it
        had nothing to do."""
        self.now += seconds
        self.idle += idle * seconds
        self.ended += ended * seconds
        for name, shares in threads.items():
            before = self.threads.get(name, (0.0, 0.0))
            self.threads[name] = tuple(b + seconds * share for b, share in zip(before, shares, strict=True))
        return self.lost.since_last([1])


@pytest.fixture
def machine(monkeypatch):
    return Machine(monkeypatch)


def test_what_shares_its_core_with_three_loses_most_of_its_time(machine):
    assert machine.passes(2, mine=(0.25, 0.75)) == pytest.approx(1.5)
    assert machine.passes(2, mine=(1, 0)) == pytest.approx(0)
    assert machine.passes(4, mine=(0.25, 0.75)) == pytest.approx(3)  # since the last look


def test_of_several_threads_the_one_that_waited_longest_counts(monkeypatch):
    machine = Machine(monkeypatch, cores=4)
    assert machine.passes(1, one=(0.5, 0.5), two=(0.25, 0.75), three=(0, 0)) == pytest.approx(0.75)


def test_threads_that_come_and_go_lose_no_less(machine):
    """No look meets most of them: what they waited is known to nobody."""
    assert machine.passes(2, ended=0.25) == pytest.approx(1.5)
    assert machine.passes(2, ended=0.25, idle=0.5) == pytest.approx(0.5)  # nobody kept it from running then


def test_what_sleeps_or_is_gone_loses_nothing(machine):
    assert machine.passes(5, mine=(0, 0)) == 0
    machine.threads.clear()
    assert machine.passes(5) == 0


def test_threads_of_its_own_do_not_buy_time(machine):
    """Four on one core wait for each other. On a machine of one core nobody else has it, so nothing is lost."""
    four = dict.fromkeys("abcd", (0.25, 0.75))
    assert machine.passes(2, **four) == pytest.approx(0)
    half = dict.fromkeys("abcd", (0.125, 0.875))  # others have the core for half of the time
    assert machine.passes(2, **half) == pytest.approx(1)


def test_a_deadline_moves_by_what_is_lost_but_not_for_ever(machine):
    one, two = SimpleNamespace(lost=5.0), SimpleNamespace(lost=0.0)
    deadline = waiting.Deadline(10, one, two)
    assert deadline.left() == 10
    one.lost, two.lost = 9.0, 2.0
    assert deadline.left() == 16
    machine.now += 20
    assert deadline.left() == -4
    one.lost = 1000.0
    assert deadline.left() == 10 * waiting.MOST - 20


# what Linux says ------------------------------------------------------------------------------------------------------


def test_each_number_is_read_from_its_place(monkeypatch):
    files = {
        "/proc/7/task/7/schedstat": "1500000000 250000000 12\n",
        "/proc/7/task/8/schedstat": "1 2\n",  # no such numbers
        "/proc/7/stat": "7 (a (b) c) S " + " ".join(str(100 + place) for place in range(4, 53)),
        "/proc/stat": "cpu 1 2 3 4 5 6\ncpu0 10 20 30 40 50 60\ncpu1 11 21 31 41 51 61\ncpu2 9 9 9 9 9 9\nintr 5 6 7 8 "
        "9\n",
    }

    def reads(path):
        if path not in files:
            raise FileNotFoundError(path)
        return io.StringIO(files[path])

    monkeypatch.setattr(waiting, "open", reads, raising=False)
    monkeypatch.setattr(
        os, "listdir", lambda path: {"/proc/7/task": ["7", "8", "9"]}[path] if "7" in path else reads(path)
    )
    assert dict(waiting._threads([7, 5])) == {"7": (1.5, 0.25)}
    assert waiting._ran([7, 5]) == (114 + 115 + 116 + 117) / TICKS  # user, system, and of children that ended
    assert waiting._idle({0, 1}) == (40 + 50 + 41 + 51) / TICKS


@linux
def test_of_a_process_that_runs_there_are_such_numbers():
    with subprocess.Popen([sys.executable, "-c", SPIN], stdout=subprocess.PIPE) as process:
        try:
            process.stdout.readline()
            ends = time.monotonic() + 120
            while not waiting._ran([process.pid]):
                assert time.monotonic() < ends
                time.sleep(0.01)
            if os.path.exists(f"/proc/{process.pid}/schedstat"):
                (numbers,) = dict(waiting._threads([process.pid])).values()
                assert numbers[0] > 0
            assert waiting.Lost().since_last([process.pid]) >= 0
        finally:
            process.kill()
    assert list(waiting._threads([process.pid])) == []
    assert waiting._ran([process.pid]) == 0
    assert waiting.Lost().since_last([process.pid]) == 0
