"""Programs that look like those of buggy_programs.py and are right. `RESULT` maps each scenario to its right result."""

import queue
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from buggy_programs import Box, run

RESULT = {}


def right(result=None):
    def put(scenario):
        RESULT[scenario] = result
        return scenario

    return put


@right(2)
def counter_with_a_lock():
    box, lock = Box(n=0), threading.Lock()

    def add():
        with lock:
            box.n += 1

    run(add, add)
    return box.n


@right(2)
def counter_with_an_rlock_taken_twice():
    box, lock = Box(n=0), threading.RLock()

    def add():
        with lock, lock:
            box.n += 1

    run(add, add)
    return box.n


_lock, _count = threading.Lock(), 0


@right(2)
def counter_with_a_global_lock():
    global _count
    _count = 0

    def add():
        global _count
        with _lock:
            _count += 1

    run(add, add)
    return _count


@right()
def two_locks_in_one_order():
    left, right = threading.Lock(), threading.Lock()

    def work():
        with left, right:
            pass

    run(work, work)


@right(3)
def philosophers_with_one_left_handed():
    forks, eaten = [threading.Lock() for _ in range(3)], []

    def philosopher(i):
        first, second = sorted((i, (i + 1) % 3))
        with forks[first], forks[second]:
            eaten.append(i)

    run(*[lambda i=i: philosopher(i) for i in range(3)])
    return len(eaten)


@right()
def lock_released_on_exception():
    lock = threading.Lock()

    def work():
        try:
            with lock:
                raise ValueError
        except ValueError:
            pass

    run(work, work)


@right([1, 2])
def condition_with_while():
    items, taken, ready = [], [], threading.Condition()

    def produce():
        for i in (1, 2):
            with ready:
                items.append(i)
                ready.notify()

    def consume():
        with ready:
            while not items:
                ready.wait()
            taken.append(items.pop(0))

    run(consume, consume, produce)
    return taken


@right([0, 1, 2])
def queue_with_a_last_item():
    work, seen = queue.Queue(maxsize=1), []

    def produce():
        for i in range(3):
            work.put(i)
        work.put(None)

    def consume():
        while (item := work.get()) is not None:
            seen.append(item)

    run(produce, consume)
    return seen


@right(1)
def double_checked_creation_with_a_second_look():
    box, lock = Box(made=0, thing=None), threading.Lock()

    def get():
        if box.thing is None:
            with lock:
                if box.thing is None:
                    box.made += 1
                    box.thing = object()

    run(get, get)
    return box.made


@right()
def polite_with_random_waits():
    left, right = threading.Lock(), threading.Lock()

    def work(first, second):
        while True:
            with first:
                if second.acquire(blocking=False):
                    second.release()
                    return
            time.sleep(random.random())

    run(lambda: work(left, right), lambda: work(right, left))


@right(6)
def pool_that_keeps_order():
    with ThreadPoolExecutor(2) as pool:
        return sum(pool.map(lambda x: 2 * x, [0, 1, 2]))


@right([0, 0])
def disjoint_elements():
    counts = [0, 0]

    def work(i):
        counts[i] += 1
        counts[i] -= 1

    run(lambda: work(0), lambda: work(1))
    return counts


@right(2)
def result_read_after_join():
    box = Box(a=0, b=0)

    def first():
        box.a = 1

    def second():
        box.b = 1

    run(first, second)
    return box.a + box.b


@right([1, 2])
def event_orders_two_threads():
    out, done = [], threading.Event()

    def first():
        out.append(1)
        done.set()

    def second():
        done.wait()
        out.append(2)

    run(second, first)
    return out


@right(2)
def barrier_between_two_phases():
    box, barrier, seen = Box(a=0, b=0), threading.Barrier(2), []

    def work(name, other):
        setattr(box, name, 1)
        barrier.wait()
        seen.append(getattr(box, other))

    run(lambda: work("a", "b"), lambda: work("b", "a"))
    return sum(seen)


@right(2)
def semaphore_of_one():
    box, gate = Box(n=0), threading.Semaphore(1)

    def add():
        with gate:
            box.n += 1

    run(add, add)
    return box.n


@right(True)
def flag_that_another_thread_sets():
    """Busy waiting: wasteful, but it ends."""
    box = Box(done=False)

    def wait():
        while not box.done:
            pass

    def finish():
        box.done = True

    run(wait, finish)
    return box.done


@right([6, 3])
def closure_variables_keep_what_others_wrote():
    """Python before 3.13 copies a traced frame's variables back after each step: an old value must not come back."""
    total, lock, left = 0, threading.Lock(), 9

    def add():
        nonlocal total, left
        for _ in range(3):
            with lock:
                total += 1
                left -= 1

    run(add, add)
    return [total, left]
