"""A zoo of concurrency bugs. Each function is a scenario; `EXPECT` maps it to (kinds of finding, words of the message).

Where a scenario has a right result, `RESULT` has it.
"""

import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor

EXPECT, RESULT = {}, {}


def bug(kinds, words="", **result):
    def put(scenario):
        EXPECT[scenario] = (kinds.split(), words)
        if result:
            RESULT[scenario] = result["result"]
        return scenario

    return put


def run(*works):
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Box:
    def __init__(self, **values):
        self.__dict__.update(values)


@bug("lost-update", "is lost", result=2)
def lost_update():
    box = Box(n=0)

    def add():
        box.n += 1

    run(add, add)
    return box.n


@bug("lost-update", "is lost", result=4)
def lost_update_of_a_closure_variable():
    total = 0

    def add():
        nonlocal total
        for _ in range(2):
            total += 1

    run(add, add)
    return total


@bug("lost-update", "is lost", result=[2, 0])
def lost_update_of_an_element():
    counts = [0, 0]

    def add():
        counts[0] = counts[0] + 1

    run(add, add)
    return counts


_total = 0


@bug("lost-update", "is lost", result=2)
def lost_update_of_a_global():
    global _total
    _total = 0

    def add():
        global _total
        _total += 1

    run(add, add)
    return _total


@bug("lost-update", "is lost", result=2)
def two_locks_for_one_counter():
    box, first, second = Box(n=0), threading.Lock(), threading.Lock()

    def add(lock):
        with lock:
            box.n += 1

    run(lambda: add(first), lambda: add(second))
    return box.n


@bug("lost-update wrong-result", "", result=2)
def lock_only_around_the_write():
    box, lock = Box(n=0), threading.Lock()

    def add():
        new = box.n + 1
        with lock:
            box.n = new

    run(add, add)
    return box.n


@bug("wrong-result lost-update", "no longer true", result=0)
def check_then_act():
    """Two withdrawals, one of which should be refused."""
    account = Box(money=100, given=0)

    def withdraw():
        if account.money >= 100:
            account.money -= 100

    run(withdraw, withdraw)
    return account.money if account.money >= 0 else -1


@bug("exception", "no longer true")
def check_then_pop():
    work = [1]

    def take():
        if work:
            work.pop()

    run(take, take)


@bug("deadlock", "same order")
def two_locks_in_two_orders():
    left, right = threading.Lock(), threading.Lock()

    def one():
        with left, right:
            pass

    def two():
        with right, left:
            pass

    run(one, two)


@bug("deadlock", "same order")
def three_locks_in_a_ring():
    locks = [threading.Lock() for _ in range(3)]

    def work(i):
        with locks[i], locks[(i + 1) % 3]:
            pass

    run(*[lambda i=i: work(i) for i in range(3)])


@bug("deadlock", "same order")
def dining_philosophers():
    forks, eaten = [threading.Lock() for _ in range(4)], []

    def philosopher(i):
        with forks[i], forks[(i + 1) % 4]:
            eaten.append(i)

    run(*[lambda i=i: philosopher(i) for i in range(4)])


@bug("deadlock", "cannot be taken twice")
def lock_taken_twice():
    lock = threading.Lock()

    def inner():
        with lock:
            pass

    def outer():
        with lock:
            inner()

    run(outer)


@bug("deadlock", "without releasing")
def lock_forgotten_on_exception():
    lock = threading.Lock()

    def work(fails):
        lock.acquire()
        if fails:
            return
        lock.release()

    run(lambda: work(True), lambda: work(False))


@bug("lock-not-released", "did not give it back")
def lock_kept_by_the_last():
    lock = threading.Lock()
    run(lambda: lock.acquire())


@bug("deadlock", "before the wait")
def missed_wake_up():
    """The consumer looks only once, and not under the lock that protects the state."""
    box, ready = Box(full=False), threading.Condition()

    def produce():
        box.full = True
        with ready:
            ready.notify()

    def consume():
        if not box.full:
            with ready:
                ready.wait()

    run(consume, produce)


@bug("exception wrong-result", "")
def if_instead_of_while():
    """Two consumers are woken for one item."""
    items, ready = [], threading.Condition()

    def produce():
        with ready:
            items.append(1)
            ready.notify_all()
        with ready:
            items.append(2)

    def consume():
        with ready:
            if not items:
                ready.wait()
            items.pop()

    run(consume, consume, produce)


@bug("exception", "cannot notify on un-acquired lock")
def notify_without_the_lock():
    ready = threading.Condition()
    run(ready.notify)


@bug("deadlock", "before the wait")
def one_notify_for_two():
    box, ready = Box(open=False), threading.Condition()

    def wait():
        with ready:
            while not box.open:
                ready.wait()

    def open_it():
        with ready:
            box.open = True
            ready.notify()

    run(wait, wait, open_it)


@bug("lost-update wrong-result", "", result=2)
def semaphore_lets_two_in():
    box, gate = Box(n=0), threading.Semaphore(2)

    def add():
        with gate:
            box.n += 1

    run(add, add)
    return box.n


@bug("deadlock", "A ended without releasing gate")
def semaphore_never_given_back():
    gate = threading.Semaphore(1)
    run(gate.acquire, gate.acquire)


@bug("deadlock", "locks and semaphores in the same order")
def two_semaphores_in_two_orders():
    left, right = threading.Semaphore(1), threading.Semaphore(1)

    def work(first, second):
        with first, second:
            pass

    run(lambda: work(left, right), lambda: work(right, left))


@bug("deadlock", "A and B hold all of places together, and each waits for more of it")
def semaphore_taken_in_parts():
    places = threading.Semaphore(2)

    def work():
        with places, places:
            pass

    run(work, work)


@bug("deadlock", "A has taken gate and waits for more of it")
def semaphore_taken_twice():
    gate = threading.Semaphore(1)

    def work():
        with gate, gate:
            pass

    run(work)


@bug("deadlock", "ping began at 0, and nobody has released it yet")
def signals_that_wait_for_each_other():
    ping, pong = threading.Semaphore(0), threading.Semaphore(0)

    def answer(heard, said):
        heard.acquire()
        said.release()

    run(lambda: answer(ping, pong), lambda: answer(pong, ping))


@bug("deadlock", "full began at 0, and nobody has released it yet")
def buffer_that_tells_nobody():
    room, full = threading.Semaphore(1), threading.Semaphore(0)

    def give():
        for _ in range(2):
            room.acquire()

    def take():
        full.acquire()
        room.release()

    run(give, take)


@bug("deadlock", "Each thread that waits for it needs a release of its own")
def one_release_for_two():
    ready = threading.Semaphore(0)
    run(ready.acquire, ready.acquire, ready.release)


@bug("deadlock", "meanwhile it holds lock, for which B waits")
def semaphore_waited_for_under_a_lock():
    lock, full = threading.Lock(), threading.Semaphore(0)

    def take():
        with lock:
            full.acquire()

    def give():
        with lock:
            full.release()

    run(take, give)


@bug("deadlock", "meanwhile it holds lock, for which B waits")
def queue_waited_for_under_a_lock():
    lock, todo = threading.Lock(), queue.Queue()

    def take():
        with lock:
            todo.get()

    def give():
        with lock:
            todo.put(1)

    run(take, give)


@bug("endless", "nobody does")
def semaphore_asked_for_again_and_again():
    places = threading.Semaphore(0)

    def ask():
        while not places.acquire(timeout=1):
            pass

    run(ask, ask)


@bug("exception", "released too many times")
def semaphore_given_back_twice():
    gate = threading.BoundedSemaphore(1)

    def work():
        gate.acquire()
        gate.release()
        gate.release()

    run(work)


@bug("lost-update", "is lost", result=1)
def double_checked_creation():
    """Made once? The second look is missing."""
    box, lock = Box(made=0, thing=None), threading.Lock()

    def get():
        if box.thing is None:
            with lock:
                box.made += 1
                box.thing = object()
        return box.thing

    run(get, get)
    return box.made


@bug("exception wrong-result", "")
def published_too_early():
    """The flag is set before the value."""
    box = Box(ready=False, value=None)

    def make():
        box.ready = True
        box.value = 5

    def use():
        if box.ready:
            assert box.value == 5, "used before it was there"

    run(make, use)


@bug("deadlock", "sign that the work is over")
def queue_without_a_last_item():
    work = queue.Queue()

    def produce():
        for i in range(2):
            work.put(i)

    def consume():
        while True:
            work.get()

    run(produce, consume)


@bug("deadlock", "sign that the work is over")
def one_last_item_for_two_consumers():
    work = queue.Queue()

    def produce():
        work.put(1)
        work.put(None)

    def consume():
        while work.get() is not None:
            pass

    run(produce, consume, consume)


@bug("deadlock", "full")
def full_queue_that_nobody_empties():
    work = queue.Queue(maxsize=1)

    def produce():
        work.put(1)
        work.put(2)

    run(produce)


@bug("deadlock", "task_done")
def task_done_forgotten():
    work = queue.Queue()
    work.put(1)

    def consume():
        work.get()

    threading.Thread(target=consume).start()
    work.join()


@bug("deadlock exception", "")
def empty_is_no_end():
    """`empty()` was false, but another consumer was quicker."""
    work = queue.Queue()
    work.put(1)

    def consume():
        if not work.empty():
            work.get()

    run(consume, consume)


@bug("livelock", "Each gives way")
def polite_back_off():
    left, right = threading.Lock(), threading.Lock()

    def work(first, second):
        while True:
            with first:
                if second.acquire(blocking=False):
                    second.release()
                    return

    run(lambda: work(left, right), lambda: work(right, left))


@bug("livelock", "different waiting times")
def polite_with_equal_waits():
    left, right = threading.Lock(), threading.Lock()

    def work(first, second):
        while True:
            with first:
                if second.acquire(timeout=0.01):
                    second.release()
                    return
            time.sleep(0.01)

    run(lambda: work(left, right), lambda: work(right, left))


@bug("endless", "nobody does")
def waits_for_a_flag_that_nobody_sets():
    box = Box(done=False)

    def wait():
        while not box.done:
            pass

    run(wait, lambda: None)


@bug("wrong-result", "", result=["a", "b", "c"])
def a_b_a():
    """A stack that is changed if its top is still the same: the top came back, what lies below did not."""
    c = Box(name="c", below=None)
    b = Box(name="b", below=c)
    a = Box(name="a", below=b)
    stack, lock, kept = Box(top=a), threading.Lock(), []

    def swap(old, new):  # compare and swap
        with lock:
            if stack.top is old:
                stack.top = new
                return True
            return False

    def pop():
        while True:
            top = stack.top
            if swap(top, top.below):
                return top

    def take_one():
        kept.append(pop())

    def take_two_and_give_one_back():
        first, second = pop(), pop()
        kept.append(second)
        while True:
            first.below = stack.top
            if swap(first.below, first):
                return

    run(take_one, take_two_and_give_one_back)
    while stack.top is not None:
        kept.append(stack.top)
        stack.top = stack.top.below
    return sorted(node.name for node in kept)


@bug("wrong-result lost-update", "", result=[1, 2])
def sleep_is_no_synchronisation():
    box = Box(out=[])

    def first():
        box.out.append(1)

    def second():
        time.sleep(10)
        box.out.append(2)

    run(first, second)
    return box.out


@bug("wrong-result exception", "")
def read_before_join():
    box = Box(result=None)

    def work():
        box.result = 7

    thread = threading.Thread(target=work)
    thread.start()
    value = box.result
    thread.join()
    assert value == 7, f"value is {value}"


@bug("deadlock", "Fewer threads")
def barrier_for_three_with_two():
    barrier = threading.Barrier(3)
    run(barrier.wait, barrier.wait)


@bug("deadlock", "no free worker")
def pool_that_waits_for_itself():
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: pool.submit(lambda: 1).result()).result()


@bug("deadlock", "set the event")
def event_cleared_too_early():
    go = threading.Event()

    def signal():
        go.set()
        go.clear()

    run(signal, go.wait)


@bug("lost-update", "is lost", result=3)
def lost_update_in_a_pool():
    box = Box(n=0)

    def add(_):
        box.n += 1

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(add, range(3)))
    return box.n


@bug("wrong-result", "", result=[0, 0])
def torn_pair():
    """Two values that belong together are changed one after the other, and read in between."""
    pair, seen = Box(a=0, b=0), []

    def change():
        pair.a = 1
        pair.b = 1

    def look():
        seen.append(pair.a - pair.b)

    run(change, look)
    return [0, *seen]
