"""Kinds of tasks for CPU code: what their checks say about right, wrong and wasteful answers."""

import queue
import threading

import answers
import numba
import numpy as np
import pytest
from numba import njit, prange

from coursework import checking, definition, feedback, playing
from coursework.answer import Local
from coursework.checking import arguments_of
from coursework.definition import Budget, Case, Slip
from coursework.events import Events, Played
from coursework.kinds.parallel import ParallelTask, Watch
from coursework.kinds.prediction import PredictionTask, Question
from coursework.kinds.scenario import ScenarioTask
from coursework.kinds.thread import ThreadTask

COMMON = {"title": "t", "objective": "Write it", "points": 3, "minutes": 5, "hints": ("a", "b", "c")}


def facts(outcome):
    return dict(outcome.failure.facts)


# ThreadTask ------------------------------------------------------------------------------------------------------


def count_together(Counter, threads, times):
    counter = Counter()

    def work():
        for _ in range(times):
            counter.add()

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return counter.value


COUNTER = ThreadTask(
    id="99-counter",
    scenario=count_together,
    spec=lambda threads, times: threads * times,
    cases=(Case("two threads", lambda rng: (2, 1)), Case("three threads", lambda rng: (3, 2))),
    advice={"raised-KeyError": "No such key."},
    **COMMON,
)


class Safe:
    def __init__(self):
        self.value, self._lock = 0, threading.Lock()

    def add(self):
        with self._lock:
            self.value += 1


class Unsafe:
    def __init__(self):
        self.value = 0

    def add(self):
        self.value += 1


class Stub:
    def __init__(self):
        # YOUR CODE HERE
        raise NotImplementedError


class Raises:
    def __init__(self):
        self.value = {}

    def add(self):
        return self.value[3]


class Waits:
    def __init__(self):
        self.value, self.busy = 0, False
        self.lock = threading.Lock()

    def add(self):
        while not self.lock.acquire(blocking=False):
            pass
        self.value += 1
        self.lock.release()


@pytest.mark.quick
def test_right_thread_code_says_what_was_looked_at():
    outcome = checking.check(COUNTER, Local(Safe))
    assert (outcome.status, outcome.points) == (checking.RIGHT, 3)
    said = feedback.as_text(outcome)
    assert "schedules of the threads" in said
    assert "20 runs of each case with real threads" in said
    assert "Not checked. Schedules with more interruptions" in said


@pytest.mark.quick
def test_a_lost_update_is_shown_as_a_table():
    outcome = checking.check(COUNTER, Local(Unsafe))
    assert outcome.failure.kind == "lost-update"
    assert (facts(outcome)["expected"], facts(outcome)["got"]) == ("2", "1")
    assert "is lost" in outcome.failure.cause
    text, html = feedback.as_text(outcome), feedback.as_html(outcome)
    assert "reads self.value: 0" in text
    assert "<table class='interleaving'" in html
    assert checking.check(COUNTER, Local(Unsafe)).failure == outcome.failure


@pytest.mark.quick
def test_unsolved_and_errors():
    assert checking.check(COUNTER, Local(Stub)).status == checking.UNSOLVED
    outcome = checking.check(COUNTER, Local(Raises))
    assert outcome.failure.kind == "raised-KeyError"
    assert "return self.value[3]" in str(outcome.failure.facts)
    assert outcome.failure.cause == "No such key."
    assert checking.check(COUNTER, Local(5)).failure.kind == "raised-TypeError"


@pytest.mark.rotates
def test_busy_waiting_fails_unless_the_task_allows_it():
    outcome = checking.check(COUNTER, Local(Waits))
    assert outcome.failure.kind == "busy-waiting"
    from dataclasses import replace

    assert checking.check(replace(COUNTER, allow_busy_waiting=True), Local(Waits)).status == checking.RIGHT


@pytest.mark.quick
def test_stress_ends_a_deadlock_that_exploration_could_not_see(monkeypatch):
    monkeypatch.setattr(playing, "PATIENCE", 0.5)

    def hang(answer):
        if not type(threading.Lock()).__module__.startswith("cpulab"):
            lock = threading.Lock()
            lock.acquire()
            lock.acquire()
        return 1

    task = ThreadTask(id="99-hang", scenario=hang, spec=lambda: 1, cases=(Case("c", lambda rng: ()),), **COMMON)
    outcome = checking.check(task, Local(Safe))
    assert outcome.failure.kind == "deadlock"
    assert "with real threads: it never ended" in outcome.failure.headline


@pytest.mark.quick
def test_stress_tells_an_error_in_a_thread():
    def fail(answer):
        if not type(threading.Lock()).__module__.startswith("cpulab"):
            thread = threading.Thread(target=lambda: 1 // 0)
            thread.start()
            thread.join()
        return 1

    task = ThreadTask(id="99-fail", scenario=fail, spec=lambda: 1, cases=(Case("c", lambda rng: ()),), **COMMON)
    assert checking.check(task, Local(Safe)).failure.kind == "raised-ZeroDivisionError"


# counted events ---------------------------------------------------------------------------------------------------


def load_all(load_batches, batches, bound):
    """A loader that is counted: reads, and how many batches are under way at once."""
    events = Events()

    def read(i):
        events.enter("in_flight")
        return 10 * i

    def use(batch):
        events.leave("in_flight")
        used.append(batch)

    used = []
    load_batches(events.counted("reads", read), use, batches, bound)
    return Played(used, events.counts())


LOADER = ThreadTask(
    id="99-loader",
    scenario=load_all,
    spec=lambda batches, bound: [10 * i for i in range(batches)],
    cases=(Case("three batches", lambda rng: (3, 1)),),
    budget=Budget(
        points=2,
        text="at most 3 batches in flight, each read once",
        require={"in_flight": 3, "reads": 3},
        over="Bound it.",
    ),
    **COMMON,
)


def bounded(read, use, batches, bound):
    line = make_queue(bound)

    def load():
        for i in range(batches):
            line.put(read(i))

    loader = threading.Thread(target=load)
    loader.start()
    for _ in range(batches):
        use(line.get())
    loader.join()


def unbounded(read, use, batches, bound):
    line = make_queue(0)
    for i in range(batches):
        line.put(read(i))
        read(i)
    for _ in range(batches):
        use(line.get())


def make_queue(bound):
    return queue.Queue(bound)


@pytest.mark.quick
def test_counts_are_the_most_over_all_schedules():
    assert checking.check(LOADER, Local(bounded)).status == checking.RIGHT
    assert checking.check_budget(LOADER, Local(bounded)).status == checking.RIGHT
    played = playing.play(LOADER, bounded, (3, 1))
    assert played["counts"] == {"reads": 3, "in_flight": 3}
    assert playing.play(LOADER, unbounded, (3, 1))["counts"] == {"reads": 6, "in_flight": 6}
    outcome = checking.check_budget(LOADER, Local(unbounded))
    assert outcome.failure.kind == "over-budget"
    assert "6; the budget is 3" in facts(outcome)["in_flight"]


# ScenarioTask ------------------------------------------------------------------------------------------------------


def clocked(median, steps):
    now = [0.0]

    def clock():
        now[0] += steps[len(calls)] if len(calls) < len(steps) else 1.0
        calls.append(1)
        return now[0]

    calls = []
    return {"value": median(clock), "calls": len(calls)}


def judge(arguments, result):
    if result["calls"] != 2:
        return Slip("calls", "two looks at the clock", "Look before and after.", got=f"{result['calls']} looks")
    return (
        None
        if result["value"] == arguments[0][1]
        else Slip("wrong-result", str(arguments[0][1]), "After minus before.")
    )


CLOCK = ScenarioTask(
    id="99-clock", scenario=clocked, judge=judge, cases=(Case("steps", lambda rng: ([5.0, 2.0],)),), **COMMON
)


@pytest.mark.quick
def test_scenarios_observe_what_an_answer_calls():
    def right(clock):
        before = clock()
        return clock() - before

    def once(clock):
        return clock()

    def sums(clock):
        before = clock()
        return clock() + before

    assert checking.check(CLOCK, Local(right)).status == checking.RIGHT
    outcome = checking.check(CLOCK, Local(once))
    assert (outcome.failure.kind, facts(outcome)["got"]) == ("calls", "1 looks")
    outcome = checking.check(CLOCK, Local(sums))
    assert (outcome.failure.kind, facts(outcome)["expected"]) == ("wrong-result", "2.0")


@pytest.mark.quick
def test_results_must_be_plain_data():
    def thing(clock):
        return object()

    outcome = checking.check(CLOCK, Local(thing))
    assert outcome.failure.kind == "type"
    assert "an object; use numbers, text, lists, dicts or arrays" in facts(outcome)["got"]


@pytest.mark.quick
def test_either_spec_or_judge():
    with pytest.raises(ValueError, match="either spec or judge"):
        ScenarioTask(id="99-x", scenario=clocked, cases=(), **COMMON)


# ParallelTask ------------------------------------------------------------------------------------------------------


@njit(parallel=True)
def largest(x, where):
    candidates = np.zeros(2, np.int64)
    for part in prange(2):
        best = part * x.size // 2
        for i in range(best, (part + 1) * x.size // 2):
            if x[i] > x[best]:
                best = i
        candidates[part] = best
    where[0] = candidates[1] if x[candidates[1]] > x[candidates[0]] else candidates[0]


@pytest.mark.rotates
def test_a_loop_whose_result_was_there_by_chance_is_not_idle():
    """Where the first element is the largest, zeros are right without the loop; other draws tell."""
    task = definition.find("03-largest")
    seeds = [seed for seed in range(100) if arguments_of(task.cases[0], seed, 2000)[0].argmax() == 0]
    assert len(seeds) >= 5
    for seed in seeds[:5]:
        assert checking.check(task, Local(largest), seed).status == "right", seed


@njit(parallel=True)
def from_the_last(x, where):
    candidates = np.full(2, x.size - 1)
    for part in prange(2):
        begin, end = part * x.size // 2, (part + 1) * x.size // 2
        for i in range(begin, end):
            if i == begin or x[i] > x[candidates[part]]:
                candidates[part] = i
    where[0] = candidates[1] if x[candidates[1]] > x[candidates[0]] else candidates[0]


@pytest.mark.rotates
def test_a_result_that_is_the_same_for_all_numbers_proves_nothing():
    """Where the last element is always the largest, no loop is needed for it."""
    outcome = checking.check(definition.find("03-largest"), Local(from_the_last))
    assert outcome.status == "right", outcome.failure


@pytest.mark.rotates
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("parallel_for_one_size", "no loop over prange(...) was run; the case: large numbers"),
        ("detects_by_rounding", "what they compute is not used"),
        ("detects_by_overflow", "is a whole number of more than 64 bits"),
    ],
)
def test_serial_code_does_not_pass_by_seeing_that_it_is_watched(name, says):
    outcome = checking.check(definition.find("03-softmax"), Local(answers.answer("03-softmax", name)))
    assert says in str(outcome.failure.facts)


HISTOGRAM = ParallelTask(
    id="99-histogram",
    spec=lambda x, h: np.bincount(x, minlength=h.size),
    rtol=0,
    atol=0,
    watch=Watch(threads=2),
    cases=(
        Case("small", lambda rng: (rng.integers(0, 4, 30), np.zeros(4, np.int64))),
        Case("large", lambda rng: (rng.integers(0, 9, 3000), np.zeros(9, np.int64))),
    ),
    budget=Budget(
        points=1,
        text="no cache line shared",
        require={"false_sharing": 0, "arrays": 1},
        over="Pad.",
        case=Case("40", lambda rng: (rng.integers(0, 4, 40), np.zeros(4, np.int64))),
    ),
    **COMMON,
)


@njit(parallel=True)
def racing(x, h):
    for i in prange(x.size):
        h[x[i]] += 1


@njit(parallel=True)
def private(x, h):
    part = np.zeros((numba.get_num_threads(), h.size), np.int64)
    for i in prange(x.size):
        part[numba.get_thread_id(), x[i]] += 1
    for b in range(h.size):
        for t in range(part.shape[0]):
            h[b] += part[t, b]


@njit(parallel=True)
def padded(x, h):
    part = np.zeros((numba.get_num_threads(), (h.size + 7) // 8 * 8), np.int64)
    for i in prange(x.size):
        part[numba.get_thread_id(), x[i]] += 1
    for b in range(h.size):
        for t in range(part.shape[0]):
            h[b] += part[t, b]


@njit(parallel=True)
def off_by_one(x, h):
    for b in prange(h.size - 1):
        for i in range(x.size):
            if x[i] == b:
                h[b] += 1


@pytest.mark.quick
def test_a_race_is_told_by_its_iterations():
    outcome = checking.check(HISTOGRAM, Local(racing))
    assert outcome.failure.kind == "race"
    assert facts(outcome)["element"].startswith("h[")
    assert "h[x[i]]" in facts(outcome)["iteration"]
    assert "at the same time" in outcome.failure.cause


@pytest.mark.rotates
def test_parallel_results_are_compared_like_compiled_ones():
    assert checking.check(HISTOGRAM, Local(private)).status == checking.RIGHT
    outcome = checking.check(HISTOGRAM, Local(off_by_one))
    assert outcome.status == checking.WRONG
    assert facts(outcome)["first wrong"].startswith("element [3]")


@pytest.mark.rotates
def test_budgets_mix_what_was_watched_and_what_was_allocated():
    assert checking.check_budget(HISTOGRAM, Local(padded)).status == checking.RIGHT
    outcome = checking.check_budget(HISTOGRAM, Local(private))
    assert outcome.failure.kind == "over-budget"
    assert "cache line 0 of part" in facts(outcome)["cache lines with false sharing"]
    assert checking.check_budget(HISTOGRAM, Local(racing)).failure.kind == "race"


DOT = ParallelTask(
    id="99-dot",
    out="result",
    spec=lambda a, b: a @ b,
    cases=(Case("one", lambda rng: (rng.random(9), rng.random(9))),),
    **COMMON,
)


@njit(parallel=True)
def dot(a, b):
    total = 0.0
    for i in prange(a.size):
        total += a[i] * b[i]
    return total


@njit(parallel=True)
def carried(a, b):
    total, last = 0.0, 0.0
    for i in prange(a.size):
        total += last
        last = a[i] * b[i]
    return total + last


@njit(parallel=True)
def first_only(a, b):
    total = 0.0
    for i in prange(1):
        total += a[i] * b[i]
    return total


@njit(parallel=True)
def nothing(a, b):
    for i in prange(a.size):
        a[i] * b[i]


@pytest.mark.quick
def test_a_returned_number_is_compared():
    assert checking.check(DOT, Local(dot)).status == checking.RIGHT
    assert facts(checking.check(DOT, Local(first_only)))["first wrong"] == "the number returned"
    assert checking.check(DOT, Local(nothing)).failure.kind == "type"


@pytest.mark.quick
def test_a_carried_value_is_told_by_its_name():
    outcome = checking.check(DOT, Local(carried))
    assert outcome.failure.kind == "carried-scalar"
    assert "last" in facts(outcome)["carried"]


# predictions -------------------------------------------------------------------------------------------------------


@pytest.mark.quick
def test_a_prediction_may_be_near():
    task = PredictionTask(id="99-p", questions=(Question("ratio", "?", lambda: 2.0, tolerance=0.25),), **COMMON)
    assert checking.check(task, {"ratio": 1.6}).status == checking.RIGHT
    assert checking.check(task, {"ratio": 1.4}).status == checking.WRONG
