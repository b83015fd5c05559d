"""The explorer itself: the same every time, never hangs, says what it saw, leaves the process as it was."""

import queue
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from types import SimpleNamespace

import pytest
from buggy_programs import (
    Box,
    buffer_that_tells_nobody,
    dining_philosophers,
    lost_update,
    run,
    semaphore_taken_in_parts,
    two_locks_in_two_orders,
)
from right_programs import counter_with_a_lock

from cpulab.explore import explore, replay, scheduler
from cpulab.explore.exploration import Search
from cpulab.explore.scheduler import Decision

pytestmark = pytest.mark.quick

here = threading.current_thread


def test_the_same_seed_gives_the_same_report():
    one, two = (explore(lost_update, expected=2, seed=5) for _ in range(2))
    assert str(one) == str(two)
    assert one.schedule.choices == two.schedule.choices
    one, two = (explore(counter_with_a_lock, expected=2, seed=s, schedules=60) for s in (1, 1))
    assert (one.schedules, one.results) == (two.schedules, two.results)


def test_a_report_shows_the_interleaving():
    report = explore(lost_update, expected=2)
    text = str(report)
    assert "lost update, found in" in text
    assert "The run shown has 1 interruption." in text
    assert "reads box.n: 0" in text
    assert "writes box.n: 1" in text
    assert "box.n += 1" in text
    rows = [row for row in report.table.rows if "box.n" in row[4]]
    assert [row[1] for row in rows] == ["A", "B", "A"]
    assert report.results.keys() == {"1", "2"}
    html = report._repr_html_()
    assert "<table class='interleaving'" in html
    assert "lost update" in html
    figure, alt = report.figure()
    assert "main, A, B" in alt
    assert figure.axes


def test_replay_without_a_schedule_is_an_ordinary_run():
    ordinary = replay(lost_update)
    assert (ordinary.ok, ordinary.result) == (True, 2)
    assert ordinary.interruptions == 0


def test_all_schedules_within_the_bound_are_run():
    report = explore(counter_with_a_lock, expected=2, schedules=5000)
    assert report.complete
    assert "all schedules with at most 2 interruptions" in str(report)
    few = explore(counter_with_a_lock, expected=2, schedules=20)
    assert not few.complete
    assert (few.schedules, "not all with" in str(few)) == (20, True)


def test_an_interruption_costs_one_of_the_bound_and_a_forced_switch_nothing():
    free, forced = (Decision(0, 0, options=(0, 1), late=(), forced=forced) for forced in (False, True))
    run, search = SimpleNamespace(ending="ended", points=[free, forced]), Search(lost_update, preemptions=1)
    assert list(search._children(run, 0, {}, -1)) == [(1, {0: 1}, 0), (0, {1: 1}, 1)]
    assert list(search._children(run, 1, {}, -1)) == [(1, {1: 1}, 1)]


def test_results_are_counted_when_it_goes_on():
    report = explore(lost_update, expected=2, keep_going=True, schedules=50)
    assert set(report.results) == {"1", "2"}
    assert sum(report.results.values()) == 50


def test_deadlock_says_who_holds_and_who_waits():
    finding = explore(two_locks_in_two_orders).finding
    facts = dict(finding.facts)
    assert facts["A"].startswith("waits for right, which B holds since line")
    assert facts["B"].startswith("waits for left, which A holds since line")
    assert "A waits for B, B waits for A" in finding.cause
    assert "waits for forks[" in str(explore(dining_philosophers).finding)


def test_a_wait_for_a_semaphore_says_who_has_it():
    facts = dict(explore(semaphore_taken_in_parts).finding.facts)
    assert re.match(r"waits for places, which A took in line \d+ and B took in line \d+ \(line", facts["A"])
    facts = dict(explore(buffer_that_tells_nobody).finding.facts)
    assert facts["B"].startswith("waits for full (line")  # others release it than acquire it: nobody has it


def test_a_task_that_runs_and_waits_is_not_told_as_one_without_a_worker():
    def waits_itself():
        ready, pool = threading.Semaphore(0), ThreadPoolExecutor(2)
        pool.submit(ready.acquire).result()

    cause = explore(waits_itself).finding.cause
    assert "worker" not in cause
    assert "nobody has released it" in cause


def test_who_asks_without_waiting_is_told_which_call_waits():
    def scenario(wait, tell):
        def ask():
            while True:
                try:
                    if wait():
                        return
                except queue.Empty:
                    pass

        run(ask, tell)

    def semaphore():
        places = threading.Semaphore(0)
        scenario(lambda: places.acquire(blocking=False), places.release)

    def items():
        todo = queue.Queue()
        scenario(lambda: todo.get(block=False), lambda: todo.put(1))

    for program, words in ((semaphore, "Without `blocking=False`"), (items, "Without `block=False`")):
        (told,) = [f for f in explore(program, schedules=40).findings if f.kind == "busy-waiting"]
        assert words in told.cause


def test_judge_and_assertion_and_expected_say_the_same():
    def asserts():
        assert lost_update() == 2, "an addition is missing"

    assert explore(asserts).finding.headline.startswith("an addition is missing")
    judged = explore(lost_update, judge=lambda result: None if result == 2 else f"{result} is not two")
    assert judged.finding.headline == "1 is not two"
    assert explore(lost_update).ok  # nobody said what is right ...
    assert set(explore(lost_update).results) == {"1", "2"}  # ... but results differ


# never hangs -----------------------------------------------------------------------------------------------------


def test_a_loop_without_any_access_is_ended():
    def spin():
        while True:
            pass

    assert explore(lambda: run(spin)).finding.kind == "endless"


def test_a_loop_that_swallows_errors_is_ended():
    def spin():
        while True:
            try:
                while True:
                    pass
            except Exception:
                pass

    assert explore(lambda: run(spin)).finding.kind == "endless"


def test_main_that_spins_is_ended():
    def scenario():
        n = 0
        while True:
            n += 1

    assert explore(scenario).finding.kind == "endless"


def test_waiting_outside_the_explorers_reach_is_told(monkeypatch):
    monkeypatch.setattr(scheduler, "PATIENCE", 0.5)
    real = threading.Lock()
    real.acquire()
    holder = [real]  # a list: not replaced

    def wait():
        holder[0].acquire()

    try:
        report = explore(lambda: run(wait), schedules=1)
        assert report.finding.kind == "blocked"
        assert "does not control" in report.finding.headline
    finally:
        real.release()


def polled(nap):
    """A thread that goes round `nap(box, lock)` until another, which has much to do, says that it is ready."""
    box, lock = Box(n=0), threading.Lock()

    def look():
        while nap(box, lock):
            pass

    def work():
        for _ in range(3):
            time.sleep(1)
            box.n += 1

    run(look, work)
    return box.n


def looks_and_sleeps(box, lock):
    with lock:
        if box.n == 3:
            return False
    time.sleep(0.1)
    return True


def looks_without_a_lock_and_sleeps(box, lock):
    if box.n < 3:
        time.sleep(0.1)
    return box.n < 3


def backs_off(box, lock):
    got = lock.acquire(timeout=0.5)
    if got:
        lock.release()
        return box.n < 3
    time.sleep(0.1)
    return True


@pytest.mark.parametrize("nap", [looks_and_sleeps, looks_without_a_lock_and_sleeps])
def test_polling_with_sleep_is_told_whatever_run_it_is_in(nap):
    report = explore(lambda: polled(nap), schedules=20)
    assert report.ok  # a warning
    (told,) = {f.kind for f in report.findings}
    assert told == "busy-waiting"
    assert "sleeps, looks, and sleeps again" in str(report.finding)
    assert "time.sleep(0.1)" in str(report.finding)  # not work(), which sleeps and does not look


def looks_under_a_lock(box, lock):
    with lock:
        return box.n < 3


def gives_the_lock_back_and_takes_it(box, lock):
    lock.acquire()
    while box.n < 3:
        lock.release()
        lock.acquire()
    lock.release()
    return False


def takes_what_there_is_and_gives_it_back(box, lock):
    if box.n == 3:
        return False
    if lock.acquire(blocking=False):
        lock.release()
    return True


@pytest.mark.parametrize(
    "nap", [looks_under_a_lock, gives_the_lock_back_and_takes_it, takes_what_there_is_and_gives_it_back]
)
def test_polling_under_a_lock_is_told_with_its_count(nap):
    report = explore(lambda: polled(nap), schedules=20)
    assert report.ok  # a warning
    (told,) = {f.kind for f in report.findings}
    assert told == "busy-waiting"
    assert re.search(r"asks again and again, \d\d+ times in this run, line", str(report.finding))


def test_a_semaphore_taken_in_part_and_given_back_is_polling():
    def scenario():
        places, box = threading.Semaphore(0), Box(n=0)

        def take():
            while True:
                got = 0
                while got < 2 and places.acquire(blocking=False):
                    got += 1
                if got == 2:
                    return
                for _ in range(got):
                    places.release()

        def give():
            for _ in range(2):
                time.sleep(1)
                places.release()

        run(take, give)
        return box.n

    assert {f.kind for f in explore(scenario, schedules=20).findings} == {"busy-waiting"}


def test_who_goes_through_much_under_a_lock_or_gives_many_signs_does_not_poll():
    def scenario():
        box, lock, signs = Box(sums=[], items=list(range(60))), threading.Lock(), threading.Semaphore(0)

        def read():
            total = 0
            for i in range(60):
                with lock:
                    total += box.items[i]
            with lock:
                box.sums.append(total)

        def signal():
            for _ in range(100):
                signs.release()

        run(read, read, signal, signal)
        return box.sums

    report = explore(scenario, [1770, 1770], schedules=40)
    assert not report.findings, report.finding


def test_who_does_not_get_a_lock_and_backs_off_does_not_poll():
    def scenario():
        box, lock = Box(n=0), threading.Lock()

        def hold():
            with lock:
                time.sleep(2)
                box.n = 3

        run(hold, lambda: [None for _ in iter(lambda: backs_off(box, lock), False)])
        return box.n

    report = explore(scenario, schedules=20)
    assert not [f for f in report.findings if "sleeps, looks" in str(f)]


def test_busy_waiting_is_a_warning():
    box = Box(go=False)

    def scenario():
        box.go = False

        def wait():
            while not box.go:
                pass

        def tell():
            time.sleep(1)
            box.go = True

        run(wait, tell)

    report = explore(scenario, schedules=20)
    assert report.ok
    found = [f for f in replay(scenario).findings if f.kind == "busy-waiting"]
    assert found
    assert found[0].severity == "warning"


def test_daemon_threads_do_not_keep_a_run_alive():
    def scenario():
        work = queue.Queue()

        def serve():
            while True:
                work.get()

        threading.Thread(target=serve, daemon=True).start()
        work.put(1)

    assert explore(scenario, schedules=50).ok


# nothing is left -------------------------------------------------------------------------------------------------


def test_names_and_process_are_as_before():
    before = (threading.Lock, queue.Queue, time.sleep, sys.gettrace(), threading.gettrace(), here())
    count = threading.active_count()
    explore(lost_update, expected=2)
    explore(dining_philosophers)
    after = (threading.Lock, queue.Queue, time.sleep, sys.gettrace(), threading.gettrace(), here())
    assert before == after
    assert type(globals()["threading"]).__name__ == "module"
    assert threading.active_count() == count


def test_locks_made_before_serve_every_run_anew():
    lock, gate, work = threading.Lock(), threading.Semaphore(2), queue.Queue()

    def scenario():
        box = Box(n=0)

        def add():
            with gate, lock:
                box.n += 1
            work.put(1)

        run(add, add)
        return box.n, work.qsize()

    lock.acquire()  # a real one that is taken: the scenario has its own
    assert explore(scenario, expected=(2, 2), schedules=60).ok
    assert work.qsize() == 0


def test_a_stand_in_that_outlives_its_run_says_so():
    kept = []

    def scenario():
        if kept:
            kept[0].acquire()
        kept.append(threading.Lock())

    report = explore(scenario)
    assert "made in an earlier run" in str(report.finding)
    with pytest.raises(RuntimeError, match="exploration that is over"):
        kept[0].acquire()


def test_a_real_thread_inside_is_not_overlooked():
    modules = [threading]  # hidden from the explorer

    def scenario():
        thread = modules[0].Thread(target=lambda: None)
        thread.start()
        thread.join()

    with pytest.raises(RuntimeError, match="real thread"):
        explore(scenario)


def test_an_import_inside_a_function_is_refused():
    def scenario():
        import threading

        threading.Lock()

    with pytest.raises(ValueError, match="at the top"):
        explore(scenario)


def test_misuse_is_a_sentence():
    with pytest.raises(TypeError, match="expected a function"):
        explore(5)

    def inner():
        explore(counter_with_a_lock)

    report = explore(inner)
    assert "one inside another is not possible" in str(report.finding)


# stand-ins behave like the real things ------------------------------------------------------------------------------


def both(program):
    """The result of `program` with real threads and, in a run without interruptions, with stand-ins."""
    return program(), replay(program).result


def test_primitives():
    def program():
        lock, rlock, gate, go = (threading.Lock(), threading.RLock(), threading.BoundedSemaphore(1), threading.Event())
        seen = [lock.acquire(), lock.acquire(blocking=False), lock.acquire(timeout=0.01), lock.locked()]
        lock.release()
        seen += [
            rlock.acquire(),
            rlock.acquire(),
            gate.acquire(),
            gate.acquire(blocking=False),
            go.wait(0.01),
            go.is_set(),
        ]
        go.set()
        seen.append(go.wait())
        for act in (lock.release, gate.release, gate.release, lambda: threading.Semaphore(-1)):
            try:
                act()
                seen.append("fine")
            except (RuntimeError, ValueError) as error:
                seen.append(f"{type(error).__name__}: {error}")
        condition = threading.Condition()
        with condition:
            seen += [condition.wait(0.01), condition.wait_for(lambda: False, 0.01), condition.wait_for(lambda: 3)]
        return seen

    real, stand_in = both(program)
    assert real == stand_in


def test_queues():
    def program():
        seen = []
        for make in (queue.Queue, queue.LifoQueue, queue.PriorityQueue):
            line = make(3)
            for i in (2, 1, 3):
                line.put(i)
            seen += [line.full(), line.qsize(), line.get(), line.get(), line.empty()]
            line.task_done()
            for act in (lambda line=line: line.get() and line.get_nowait(), lambda line=line: line.get(timeout=0.01)):
                try:
                    seen.append(act())
                except queue.Empty:
                    seen.append("Empty")
        small = queue.Queue(1)
        small.put(0)
        try:
            small.put_nowait(1)
        except queue.Full:
            seen.append("Full")
        return seen

    real, stand_in = both(program)
    assert real == stand_in


def test_threads_and_pools():
    class Own(threading.Thread):
        def __init__(self, n):
            super().__init__(name=f"own {n}")
            self.n, self.got = n, None

        def run(self):
            self.got = (self.n, threading.current_thread().name, threading.current_thread() is self)

    def program():
        own = [Own(i) for i in range(2)]
        seen = [own[0].is_alive()]
        for thread in own:
            thread.start()
        for thread in own:
            thread.join()
        seen += [thread.got for thread in own] + [own[0].is_alive()]
        with ThreadPoolExecutor(2) as pool:
            seen.append(list(pool.map(lambda x, y: x * y, [1, 2, 3], [4, 5, 6])))
            failing = pool.submit(lambda: 1 // 0)
            seen += [type(failing.exception()).__name__, failing.done(), failing.cancelled()]
            seen.append(sorted(f.result() for f in as_completed([pool.submit(pow, 2, i) for i in range(3)])))
        try:
            pool.submit(print)
        except RuntimeError as error:
            seen.append(str(error))
        return seen

    real, stand_in = both(program)
    assert real == stand_in


def test_a_barrier_breaks_like_the_real_one():
    def program():
        barrier, seen = threading.Barrier(2), []
        try:
            barrier.wait(0.01)
        except threading.BrokenBarrierError:
            seen.append("broken")
        return [*seen, barrier.broken]

    real, stand_in = both(program)
    assert real == stand_in


def test_an_error_in_a_thread_is_told_with_its_line():
    def fail():
        raise KeyError("no such batch")

    finding = explore(lambda: run(fail)).finding
    assert (finding.kind, finding.name) == ("exception", "KeyError")
    assert "no such batch" in dict(finding.facts)["it said"]
    assert "raise KeyError" in dict(finding.facts)["A"]


def test_a_pool_that_is_closed_early_cancels_what_waits_while_workers_come_for_work():
    def stop_early():
        done, pool = [], ThreadPoolExecutor(2)
        for k in range(4):
            pool.submit(done.append, k)
        pool.shutdown(cancel_futures=True)
        return len(done) <= 4

    report = explore(stop_early, expected=True, schedules=100)
    assert report.ok, report
