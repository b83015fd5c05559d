"""The truths of chapter 02's predictions, found in a second way; and what its judges say of results made by hand."""

import itertools
import math
import re
import threading

import masters
import pytest

from coursework import definition, progress
from coursework.events import Accesses
from coursework.tasks import c02 as tasks
from cpulab.explore import explore

pytestmark = pytest.mark.quick

MASTER = masters.cells("02")
LEFT_OUT = "It can be left out.*"


def final_value(order, times):
    """The counter after threads 0 and 1 made their reads and writes in the order of their numbers."""
    value, seen, made = 0, [0, 0], [0, 0]
    for thread in order:
        if made[thread] % 2 == 0:
            seen[thread] = value
        else:
            value = seen[thread] + 1
        made[thread] += 1
    return value


@pytest.mark.parametrize("times", [1, 2, 3])
def test_least_count_is_what_all_orders_give(times):
    steps = 4 * times
    orders = ([k in places for k in range(steps)] for places in itertools.combinations(range(steps), 2 * times))
    assert tasks.predict.least_count(2, times) == min(final_value(order, times) for order in orders)


def test_least_count_with_real_code_under_the_explorer():
    def scenario():
        box = {"value": 0}

        def add():
            for _ in range(2):
                box["value"] += 1

        threads = [threading.Thread(target=add) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return box["value"]

    report = explore(scenario, keep_going=True, preemptions=4, schedules=1000)
    assert set(report.results) == {"2", "3", "4"}
    assert min(map(int, report.results)) == tasks.predict.least_count(2, 2)


@pytest.mark.parametrize("steps", [1, 2, 3, 6])
def test_interleavings(steps):
    assert tasks.predict.interleavings(steps) == math.comb(2 * steps, steps)


@pytest.mark.parametrize("bound", [1, 2, 3])
def test_a_bounded_queue_has_two_hands(bound):
    assert tasks.predict.most_alive(bound, bound + 4) == bound + 2


@pytest.mark.parametrize(
    ("taken", "held", "kind"),
    [
        ([[[0, 0], [0, 1]]], 1, None),
        ([[[0, 0], [0, 1]]], 2, "over-bound"),
        ([[[0, 1], [0, 0]]], 1, "order"),
        ([[[0, 0]]], 1, "wrong-result"),
        ([[[0, 0], [0, 0], [0, 1]]], 1, "wrong-result"),
    ],
)
def test_verdicts_on_a_buffer(taken, held, kind):
    slip = tasks.shared.judge_through((1, 1, 1, 2), {"taken": taken, "held": held, "early": 0})
    assert (slip.kind if slip else None) == kind


@pytest.mark.parametrize("pair", [[1, 0], [0, 5], [2, 5]])
def test_a_torn_read_is_seen(pair):
    result = {"seen": [[0, 0], pair], "end": [2, 10], "raised": None}
    assert tasks.mean.judge_feed((1, 2, 5, 2, False), result).kind == "torn-read"


def test_the_core_takes_two_hours_and_the_title_names_it():
    core, others, later, number = [], [], [], 0
    minutes = {True: 0, False: 0}
    for task in definition.of_chapter("02"):
        statement = MASTER[f"{task.id}-task"]
        left_out = LEFT_OUT in statement
        minutes[left_out] += task.minutes
        numbered = re.match(r"## (\d+)\. ", statement)
        number = int(numbered[1]) if numbered else number
        if numbered:
            (others if left_out else core).append(number)
        elif left_out and number in core and number not in later:  # a second part, or a third
            later.append(number)
    assert minutes[False] <= 120
    assert abs(minutes[True] - 150) < 15
    assert "The others take about two and a half hours" in MASTER["02-title"]
    title = MASTER["02-title"]
    for before, numbers, after in (
        ("Tasks ", core, " are the core, about two hours."),
        ("tasks ", others, ", and the later"),
        ("later parts of ", later, "."),
    ):
        *most, last = map(str, numbers)
        assert f"{before}{', '.join(most)} and {last}{after}" in title
    assert (
        f"{sum(points for task in definition.of_chapter('02') for _, points in progress.parts(task))} points." in title
    )
    after = {task.after for task in definition.of_chapter("02") if LEFT_OUT not in MASTER[f"{task.id}-task"]} - {""}
    assert not any(LEFT_OUT in MASTER[f"{first}-task"] for first in after)  # what the core opens with is of the core


class Shared:
    """Two locks, and methods whose accesses are in an order, or in none."""

    def __init__(self):
        self.value, self.other, self.red, self.blue = 0, 0, threading.Lock(), threading.Lock()

    def read(self, k):
        return self.value

    def write_one(self, k):
        return self.value if k else setattr(self, "other", 1)

    def write_and_read(self, k):
        if k:
            return self.value
        self.value = 1

    def two_locks(self, k):
        with self.red if k else self.blue:
            self.value += 1

    def one_in_common(self, k):
        if k:
            with self.red, self.blue:
                self.value += 1
        else:
            with self.blue:
                self.value += 1

    def read_before(self, k):
        value = self.value
        with self.red:
            self.value = value + 1

    def after_the_lock(self, k):
        with self.red:
            self.value += 1
        self.other = k


@pytest.mark.parametrize(
    ("method", "unordered"),
    [
        ("read", []),
        ("write_one", []),
        ("write_and_read", ["value"]),
        ("two_locks", ["value"]),
        ("one_in_common", []),
        ("read_before", ["value"]),
        ("after_the_lock", ["other"]),
    ],
)
def test_accesses_without_a_lock_in_common(method, unordered):
    accesses = Accesses()
    shared = accesses.watched(Shared)()
    threads = [threading.Thread(target=getattr(shared, method), args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shared.value = shared.other  # alone: not looked at
    assert accesses.unordered() == unordered
