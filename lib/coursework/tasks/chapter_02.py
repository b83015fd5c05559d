"""Tasks of chapter 02, Threads in Python. All but the prediction are graded by running them under many schedules."""

import itertools
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from cpulab.explore import Program

from ..definition import Budget, Case, Section, Slip
from ..events import Events, Played
from ..kinds.prediction import PredictionTask, Question
from ..kinds.schedule import ScheduleTask
from ..kinds.thread import ThreadTask

# 02-mean -----------------------------------------------------------------------------------------------------


def feed(Mean, writers, times, value, reads, refused):
    """`writers` threads add `value` `times` times each; one more thread reads. A refused value comes first."""
    mean, seen, raised = Mean(), [], None

    def write():
        for _ in range(times):
            mean.add(value)

    def look():
        for _ in range(reads):
            seen.append(_pair(mean.read()))

    if refused:
        try:
            mean.add("three")
        except Exception as error:
            raised = type(error).__name__
    threads = [threading.Thread(target=write) for _ in range(writers)]
    threads += [threading.Thread(target=look)] if reads else []
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"seen": seen, "end": _pair(mean.read()), "raised": raised}


def _pair(value):
    """What `read` returned, as a list of two; in a list by itself if it is none."""
    return list(value) if isinstance(value, tuple | list) and len(value) == 2 else [value]


def judge_feed(arguments, result):
    writers, times, value, _, refused = arguments
    for pair in (result["end"], *result["seen"]):
        if len(pair) != 2:
            return Slip("type", "(count, total)", "`read` returns the two numbers.", repr(pair[0]))
    if refused and result["raised"] is None:
        return Slip("accepted", "add('three') raises an error", "Let the error of the addition go out of `add`.")
    for count, total in result["seen"]:
        if total != count * value:
            return Slip(
                "torn-read",
                f"a total of {count} times {value}: {count * value}, not {total}",
                "`read` saw one number before an addition and the other after it. Reading needs the lock as well.",
            )
    expected = [writers * times, writers * times * value]
    if result["end"] == expected[::-1]:
        return Slip("exchanged", f"(count, total) = {tuple(expected)} at the end", "`read` gives the count first.")
    if writers == 1 and not result["seen"] and result["end"] != expected:
        cause = (
            "One thread alone, so nothing was lost between threads. Does each Mean have numbers of its own, set to 0 in "
            "`__init__`, and does `add` count one and add the value once?"
        )
        return Slip("counted", f"(count, total) = {tuple(expected)} at the end", cause)
    if refused and result["end"] == [expected[0] + 1, expected[1]]:
        return Slip(
            "half-added",
            f"(count, total) = {tuple(expected)}: what cannot be added is not counted",
            "The value that cannot be added was counted: `count` had changed before the addition raised its error. Do first "
            "what may fail.",
        )
    if result["end"] != expected:
        return Slip("wrong-result", f"(count, total) = {tuple(expected)} at the end", MEAN_CAUSE)
    return None


MEAN_CAUSE = (
    "An addition was lost, or made twice. Between the reading and the writing of one number, another thread came in. "
    "Is everything that changes together under the same lock?"
)


def feeding(writers, times, reads=0, refused=False):
    return lambda rng: (writers, times, int(rng.integers(2, 9)), reads, refused)


MEAN = ThreadTask(
    id="02-mean",
    section=Section("2", "02_threads", "The lock, and its price"),
    title="A mean that several threads feed",
    objective="Protect two numbers that belong together with one lock, for writing and for reading",
    points=3,
    minutes=10,
    scenario=feed,
    schedules=150,
    judge=judge_feed,
    cases=(
        Case("one thread, three additions", feeding(1, 3)),
        Case("two threads, one addition each", feeding(2, 1)),
        Case("one thread adds, one reads", feeding(1, 2, reads=1)),
        Case("a value that cannot be added comes first", feeding(2, 1, refused=True)),
    ),
    advice={
        "lost-update": MEAN_CAUSE,
        "deadlock": (
            "A thread waits for a lock that is never opened again. What happens to your lock when the addition raises "
            "an error? `with` opens it in every case."
        ),
        "lock-not-released": (
            "A lock is still closed at the end. What happens to it when the addition raises an error? `with` opens it "
            "in every case."
        ),
    },
    hints=(
        "Which numbers must change together, so that nobody ever sees the one without the other?",
        "One lock for the object, made once in `__init__`. Both methods take it, `read` too.",
        "with self.lock: then first `self.total += value` (it may raise), then `self.count += 1`. In read: "
        "`with self.lock: return self.count, self.total`.",
    ),
)

# 02-predict --------------------------------------------------------------------------------------------------


def interleavings(steps):
    """How many orders two threads of `steps` steps each have: counted one by one."""
    return sum(1 for _ in itertools.combinations(range(2 * steps), steps))


def least_count(threads, times):
    """The smallest value that unprotected counters can end with: every order of reads and writes is followed."""
    # A thread's state: (steps made, value last read); even steps read, odd ones write.
    start = ((0, 0),) * threads, 0
    reached, open_states = {start}, [start]
    while open_states:
        states, value = open_states.pop()
        for k, (made, seen) in enumerate(states):
            if made == 2 * times:
                continue
            mine = (made + 1, value if made % 2 == 0 else seen)
            after = (*states[:k], mine, *states[k + 1 :]), value if made % 2 == 0 else seen + 1
            if after not in reached:
                reached.add(after)
                open_states.append(after)
    return min(value for states, value in reached if all(made == 2 * times for made, _ in states))


def most_alive(bound, batches):
    """Loaded batches that exist at once with a queue of `bound`: the most over the schedules that are explored."""
    from cpulab.explore import explore

    most = 0

    def scenario():
        events, ahead = Events(), queue.Queue(maxsize=bound)

        def load():
            for k in range(batches):
                events.enter("alive")  # the batch is loaded now
                ahead.put(k)

        loader = threading.Thread(target=load)
        loader.start()
        for _ in range(batches):
            ahead.get()
            time.sleep(0)  # the consumer computes
            events.leave("alive")
        loader.join()
        return events.counts()["alive"]

    def judge(result):
        nonlocal most
        most = max(most, result)

    explore(scenario, judge=judge, schedules=60, preemptions=1)
    return most


PREDICT = PredictionTask(
    id="02-predict",
    section=Section("2", "02_threads", "The lost update"),
    title="Predict what threads can do",
    objective="Predict the number of orders, the worst lost update and the memory that a queue bounds",
    points=3,
    minutes=20,
    questions=(
        Question(
            "orders",
            "orders in which two threads of 3 steps each can run",
            lambda: interleavings(3),
            {
                2: "These are the orders without any interruption. A thread can be interrupted after each step.",
                6: "6 is the number of steps in all. In how many of the 6 places can the steps of A stand?",
                8: "2 * 2 * 2 would be right if A and B took turns in pairs. B may also make all its steps at once.",
                9: "9 pairs of steps. But an order says for all 6 places whose step comes there.",
                720: "6! lets the steps of one thread change places, too. Each thread keeps its own order.",
                64: "2 to the power of 6 also counts orders in which A makes more than 3 steps.",
            },
            "Write the order as a word of three A and three B, as ABBAAB. How many such words are there?",
        ),
        Question(
            "least",
            "smallest value of the counter after 2 threads with 3 additions each",
            lambda: least_count(2, 3),
            {
                6: "6 is the largest value: nothing lost. How low can it get?",
                3: "One thread's additions all lost gives 3. But a thread that has read *early* may write *late*, "
                "over much more than one addition.",
                4: "More can be lost. Let A read 0 and sleep while B makes two of its additions. What does A write then?",
                5: "That is one lost addition. Can an old value be written over several additions?",
                1: "The last write of all is an old value plus 1. The thread that makes it had begun its last addition "
                "by reading; had nobody written anything before that?",
                0: "Every write puts in some value plus 1.",
            },
            "Play it with two people and a sheet of paper: each reads, sleeps as long as it likes, then writes one more.",
        ),
        Question(
            "in_memory",
            "loaded batches that exist at once, at most, with Queue(maxsize=3)",
            lambda: most_alive(3, 7),
            {
                3: "3 lie in the queue. Who else holds a batch?",
                4: "3 lie in the queue, and one is with the consumer or the loader. Or with both?",
                6: "3 lie in the queue. One thread puts, one takes: each can hold only one more.",
                7: "That would be all of them: put waits when the queue is full.",
            },
            "Stop the film when the queue is full: what does the loader hold in its hands, and what the consumer?",
        ),
    ),
    hints=(
        "Draw it. Two columns, one for each thread; a step is one row.",
        "orders: choose the places of A among 6. least: a thread can write an old value at the very end. in_memory: queue, "
        "loader and consumer each hold some.",
        "orders: 6 * 5 * 4 / (3 * 2 * 1). least: A reads 0; B makes 2 additions; A writes 1; B reads 1 for its last one; A "
        "makes all the rest; B writes. in_memory: 3 and two more hands.",
    ),
)

# 02-lose -----------------------------------------------------------------------------------------------------

LOSE = ScheduleTask(
    id="02-lose",
    section=Section("2", "02_threads", "The lost update"),
    title="Be the scheduler: lose updates",
    objective="Choose the steps of two threads so that as many updates as possible are lost",
    points=2,
    minutes=8,
    program=Program(
        """
        value = 0


        def add(times):
            global value
            for k in range(times):
                seen = value
                value = seen + 1
        """,
        A=("add", 3),
        B=("add", 3),
    ),
    score=lambda played: 6 - played.state["value"],
    shown="{} of 6 updates lost",
    slips={
        0: "Every thread wrote before the other one read. Which step of B must come between A's reading and its writing?",
        1: "One update was written over. Let a thread that has read wait longer: how many writings can its own one undo?",
        2: "Let a thread that has read wait longer: how many writings of the other thread can its own one undo?",
        3: "One thread lost all it had. Can the other one lose some, too? Whoever writes last should have read very early.",
    },
    hints=(
        "A thread that has read an old value may sleep as long as you like. What does its writing do to all that happened "
        "meanwhile?",
        "An old value can be written twice: by A early, so that B reads a small number for its last addition; and by B, at the "
        "very end.",
        "A reads. B makes two whole additions. A writes its old value plus one, and B reads that. Who goes on now, how far, and "
        "who must make the very last step?",
    ),
)

# 02-lock, the second part of 02-lose ---------------------------------------------------------------------------

LOCK = ScheduleTask(
    id="02-lock",
    section=Section("2", "02_threads", "Locked, and still wrong"),
    title="Now with a lock that does not help",
    objective="Choose the steps that lose updates although each writing is under a lock",
    after="02-lose",
    points=2,
    minutes=8,
    program=Program(
        """
        value, lock = 0, Lock()


        def add(times):
            global value
            for k in range(times):
                seen = value
                with lock:
                    value = seen + 1
        """,
        A=("add", 3),
        B=("add", 3),
    ),
    score=lambda played: 6 - played.state["value"],
    shown="{} of 6 updates lost",
    slips={0: "Nothing was lost. Is the reading under the lock? Where can B come in?"},
    otherwise="Some are lost. The order of readings and writings from the first part still works here: the lock only adds two "
    "steps to each writing.",
    hints=(
        "Which line of the addition does the lock not protect?",
        "Take the order of readings and writings that you found without a lock. Each writing is now three steps: take the lock, "
        "write, open it.",
        "Reading is one letter, writing is three of the same. A reads; B makes two whole additions, 8 letters; A writes, 3 "
        "letters; B reads. What remains is for you.",
    ),
)

# 02-hang -----------------------------------------------------------------------------------------------------

HANG = ScheduleTask(
    id="02-hang",
    section=Section("2.2", "02_waiting", "Deadlock"),
    title="Be the scheduler: hang three threads",
    objective="Choose the steps after which three threads with two locks wait forever",
    points=2,
    minutes=8,
    program=Program(
        """
        red, blue = Lock(), Lock()
        busy = False


        def forward():
            global busy
            if not busy:
                busy = True
                with red:
                    with blue:
                        pass
                busy = False


        def backward():
            global busy
            if not busy:
                busy = True
                with blue:
                    with red:
                        pass
                busy = False
        """,
        A=("forward",),
        B=("backward",),
        C=("forward",),
    ),
    score=lambda played: len(played.waiting),
    shown="{} of 3 threads wait forever",
    slips={
        0: "All threads came to their end. Which lock must A hold, and which B, so that each wants what the other has? And how "
        "does each of them get past its `if`?",
        2: "Two hang, and the third has ended. How does it get past its `if`, so that it asks for a lock as well?",
    },
    hints=(
        "The flag shall let in one thread at a time. What does a thread know that has looked at it, and is then stopped?",
        "First let the threads look at the flag, all before anybody sets it. Then two of them must each hold one lock before "
        "one asks for its second.",
        "One letter for each thread to look, one for each to set the flag. Who must take the next two steps, so that A holds "
        "red and B holds blue?",
    ),
)

# 02-map ------------------------------------------------------------------------------------------------------


class Ticket:
    """What `submit` returns to the student: a future that notes when its result is asked for."""

    def __init__(self, future, asked):
        self.future, self.asked = future, asked

    def result(self, timeout=None):
        self.asked()
        return self.future.result(timeout)


def map_in_chunks(chunked_map, items, chunk, bad):
    """The student's map over `items` with a pool of two threads; the job that meets `bad` raises."""
    events, asked, late, home, at_home, empty = Events(), 0, 0, threading.get_ident(), 0, 0
    worked = set()  # jobs that called the function

    def ask():
        nonlocal asked
        asked += 1

    def triple(x):
        nonlocal at_home
        at_home += threading.get_ident() == home
        worked.add(threading.get_ident())
        if x == bad:
            raise ValueError(f"{x} is bad")
        return 3 * x + 1

    with ThreadPoolExecutor(2) as pool:

        def run(job, arguments):
            nonlocal empty
            worked.discard(threading.get_ident())
            result = job(*arguments)
            empty += threading.get_ident() not in worked
            return result

        def submit(job, *arguments):
            nonlocal late
            late += asked > 0
            events.add("jobs")
            return Ticket(pool.submit(run, job, arguments), ask)

        given = list(items)
        try:
            result = list(chunked_map(submit, triple, given, chunk))
            if any(isinstance(x, Ticket) for x in result):
                result = "futures"
        except ValueError as error:
            result = f"ValueError: {error}"
    counts = events.counts()
    seen = {"result": result, "late": late, "at_home": at_home, "empty": empty, "jobs": counts.get("jobs", 0)}
    seen["changed"] = given != items
    return Played(seen, counts)


def judge_map(arguments, result):
    items, chunk, bad = arguments
    got, expected = result["result"], [3 * x + 1 for x in items]
    if result["changed"]:
        cause = "The caller still needs its list: take slices of it, and remove nothing."
        return Slip("input-changed", "items as they were", cause, "another list")
    if got == "futures":
        return Slip(
            "futures", str(expected), "These are the futures. `result()` of each gives what the job returned.", got
        )
    if bad is not None:
        if got != f"ValueError: {bad} is bad":
            return Slip(
                "error-lost",
                f"the error of the job: ValueError: {bad} is bad",
                "A job raised an error and nobody heard of it. `result()` of its future raises it again.",
            )
        return None
    if result["at_home"] and result["jobs"]:
        return Slip(
            "at-home",
            "`function` called by the threads of the pool",
            "The jobs ended at once, and the work was done afterwards, in your own thread. `map` and generators do nothing "
            "until somebody takes their results: let the job make a list.",
        )
    if not result["jobs"] and items:
        return Slip("no-jobs", "the work handed over with submit", "Nothing was handed over: the threads had no work.")
    if isinstance(got, list) and None in got:
        cause = "A result was used before its job had ended: ask each future for its `result()`, which waits."
        return Slip("too-early", str(expected), cause)
    if isinstance(got, list) and got != expected and sorted(map(str, got)) == sorted(map(str, expected)):
        return Slip(
            "order",
            str(expected),
            "The results are right, but in another order: who ends first must not come first. Keep the futures in the order "
            "of the items, and ask them in that order.",
        )
    if (
        isinstance(got, list)
        and all(isinstance(x, list) for x in got)
        and list(itertools.chain(*got)) == expected != got
    ):
        return Slip("nested", str(expected), "A list for each job stands in the result. Join them into one list.")
    if isinstance(got, list) and 0 < len(got) < len(expected) and got == expected[: len(got)]:
        return Slip("tail", str(expected), "The last items are missing. The last chunk may be shorter than the others.")
    if isinstance(got, list) and len(got) != len(expected):
        cause = (
            f"There are {len(got)} results for {len(expected)} items. A chunk is items[k : k + chunk], and the next one begins "
            "at k + chunk: does each item lie in exactly one?"
        )
        return Slip("slices", str(expected), cause)
    if got != expected:
        return Slip("wrong-result", str(expected), MAP_CAUSE)
    if result["empty"]:
        return Slip(
            "empty-job",
            f"{-(-len(items) // chunk)} jobs for {len(items)} items in chunks of {chunk}",
            "A job without any item was handed over. len // chunk + 1 is one too many where the division has no rest.",
            f"{result['jobs']} jobs",
        )
    if result["late"]:
        return Slip(
            "one-after-another",
            "all jobs handed over before the first result is asked for",
            "A result was asked for before the next job was handed over, so the threads worked one after another. First "
            "submit everything, then collect.",
        )
    return None


MAP_CAUSE = (
    "Some chunks are missing or there twice. A function that is made in a loop sees the loop's variable as it is when the "
    "job *runs*, not as it was when the job was handed over. Pass what the job needs as arguments of submit."
)


def mapping(n, chunk, bad=False):
    def make(rng):
        items = [int(x) for x in rng.permutation(50)[:n]]
        return items, chunk, items[n // 2] if bad else None

    return make


MAP = ThreadTask(
    id="02-map",
    section=Section("2.3", "02_queues", "A pool of threads"),
    title="A parallel map in chunks",
    objective="Hand over large parts to a pool, keep the order and the errors",
    points=3,
    minutes=15,
    scenario=map_in_chunks,
    schedules=120,
    judge=judge_map,
    cases=(
        Case("two chunks: 4 items in chunks of 2", mapping(4, 2)),
        Case("ragged: 5 items in chunks of 2", mapping(5, 2)),
        Case("one item fails: 4 items in chunks of 2", mapping(4, 2, bad=True)),
        Case("nothing to do: 0 items", mapping(0, 3)),
    ),
    budget=Budget(
        points=1,
        text="one job for each chunk: 3 jobs for 10 items in chunks of 4",
        require={"jobs": 3},
        over=(
            "The result is right, but the work was handed over in smaller pieces than asked for. Handing over costs more "
            "than a small job: one submit for a whole chunk. `chunk` is the number of items in a job, not the number of jobs."
        ),
        case=Case("10 items in chunks of 4", mapping(10, 4)),
    ),
    advice={
        "raised-AttributeError": (
            "What submit returns has `result()`, which waits until the job has ended. To ask again and again keeps a core busy."
        ),
        "raised-TimeoutError": "A job that is not ready yet is no error: `result()` without a timeout waits for it.",
        "raised-TypeError": (
            "Does a job get a whole part where one item is expected? `function` takes one item: the job must call it for each "
            "item of its part, and return a list."
        ),
    },
    hints=(
        "What is one job: one item, or a list of items? And what do you keep from each submit?",
        "A helper that works on a whole list of items. Submit it once for each slice items[k : k + chunk], keep the futures "
        "in a list, and only then go through the list and ask for the results.",
        "futures = [submit(work, function, items[k : k + chunk]) for k in range(0, len(items), chunk)], with "
        "work(function, part) returning [function(x) for x in part]. Then join the lists of `f.result()` in that order.",
    ),
)

# 02-buffer ---------------------------------------------------------------------------------------------------


def through(Buffer, bound, producers, consumers, each):
    """Producers put [producer, number]; the buffer is closed; consumers get until they are told that it is over."""
    buffer, events, taken = Buffer(bound), Events(), [[] for _ in range(consumers)]
    closing, early = False, 0

    def produce(k):
        for number in range(each):
            buffer.put([k, number])
            events.enter("held")

    def consume(k):
        nonlocal early
        events.leave("held")  # before get: what it takes has left the buffer by the time that get returns
        while (item := buffer.get()) is not None:
            taken[k].append(item)
            events.leave("held")
        early += not closing

    takers = [threading.Thread(target=consume, args=(k,), name=f"taker {k}") for k in range(consumers)]
    makers = [threading.Thread(target=produce, args=(k,), name=f"maker {k}") for k in range(producers)]
    for thread in takers + makers:
        thread.start()
    for thread in makers:
        thread.join()
    closing = True
    buffer.close()
    for thread in takers:
        thread.join()
    return {"taken": taken, "held": events.counts().get("held", 0), "early": early}


def judge_through(arguments, result):
    bound, producers, _, each = arguments
    every = sorted(item for taken in result["taken"] for item in taken)
    if result["early"]:
        return Slip(
            "early-end",
            "None from get only after close",
            "A getter was told that there was something, found nothing, and gave up: another thread had been faster. After "
            "`wait`, look again: `while`, not `if`.",
            "None from get, though the buffer was still open",
        )
    if result["held"] > bound:
        return Slip(
            "over-bound",
            f"at most {bound} items put and not yet asked for, not {result['held']}",
            "`put` must wait while `bound` items (or more) are in the buffer, and look again after each `wait`: `while`, not "
            "`if`. What it cannot add yet must not push another item out.",
        )
    if every != [[k, number] for k in range(producers) for number in range(each)]:
        cause = (
            "An item is missing, or somebody got it twice. May a getter leave before the buffer is empty *and* closed? And does "
            "`close` leave in the buffer what is there?"
        )
        return Slip("wrong-result", f"each of the {producers * each} items exactly once", cause)
    for taken in result["taken"]:
        for k in range(producers):
            numbers = [number for maker, number in taken if maker == k]
            if numbers != sorted(numbers):
                cause = "The item that came first must leave first: append on one side, popleft on the other."
                return Slip("order", f"the items of producer {k} in the order in which it put them", cause)
    return None


def passing(bound, producers, consumers, each):
    return lambda rng: (bound, producers, consumers, each)


BUFFER = ThreadTask(
    id="02-buffer",
    section=Section("2.2", "02_waiting", "A condition"),
    title="A bounded buffer that can be closed",
    objective="Write a buffer with a condition: wait in a loop, notify whoever may be concerned, end cleanly",
    points=4,
    minutes=25,
    scenario=through,
    schedules=150,
    judge=judge_through,
    cases=(
        Case("one producer, one consumer, bound 1", passing(1, 1, 1, 3)),
        Case("order: one producer, one consumer, bound 3", passing(3, 1, 1, 3)),
        Case("two consumers, bound 1", passing(1, 1, 2, 2)),
        Case("two producers, two consumers, bound 1", passing(1, 2, 2, 1)),
        Case("two producers, one consumer, bound 1", passing(1, 2, 1, 2)),
    ),
    advice={
        "deadlock": (
            "Somebody waits in `wait` and is never told. Whom does each of put, get and close have to wake: one thread, or "
            "all that may be concerned, while it holds the same lock? And does it look at the state before it waits: may a "
            "getter wait although it is closed, a putter although there is room?"
        ),
        "raised-RuntimeError": "wait and notify need the lock of their condition: put them inside `with` of that condition.",
        "raised-IndexError": (
            "A thread took from an empty buffer. It had been told of an item, but another was faster. After `wait`, look "
            "again: `while`, not `if`."
        ),
        "busy-waiting": "The thread asks again and again instead of sleeping until it is told. That is what `wait` is for.",
        "endless": "A thread turns in a loop without waiting for anything. `wait` on the condition inside the loop.",
        "livelock": "A thread turns in a loop without waiting for anything. `wait` on the condition inside the loop.",
    },
    without={
        **dict.fromkeys(("queue", "Queue", "SimpleQueue", "LifoQueue"), "what stands inside it is what you build here"),
        "sleep": "to sleep and look again is polling; a condition wakes whoever waits",
        "timeout": "a wait that ends by itself is polling: the right notify makes it needless",
    },
    hints=(
        "For each of put and get: what must be true before it may go on? And who can make it true?",
        "One Condition. put waits while the buffer is full; get waits while it is empty and not closed. Whoever changes "
        "something (put, get, close) calls notify_all.",
        "get: `with self.changed:` `while not self.items and not self.closed: self.changed.wait()`; if there is an item, "
        "popleft it, notify_all and return it, else return None.",
    ),
)

# 02-prefetch -------------------------------------------------------------------------------------------------


def feed_batches(prefetch, batches, bound, bad):
    """Consume what `prefetch` loads. `load(k)` gives batches[k]; it raises OSError for k = bad."""
    events, home, at_home, got, error = Events(), threading.get_ident(), 0, [], None

    def load(k):
        nonlocal at_home
        at_home += threading.get_ident() == home
        if k == bad:
            raise OSError(f"batch {k} cannot be read")
        events.enter("in_memory")
        return batches[k]

    try:
        for batch in prefetch(range(len(batches)), load, bound):
            time.sleep(0)  # the consumer computes
            got.append(batch)
            events.leave("in_memory")
    except OSError as raised:
        error = str(raised)
    return Played({"got": got, "error": error, "at_home": at_home}, events.counts())


def judge_batches(arguments, result):
    batches, _, bad = arguments
    expected = list(batches) if bad is None else list(batches)[:bad]
    if result["at_home"]:
        return Slip(
            "no-thread",
            "load called in another thread than the consumer's",
            "The consumer's own thread called load, so nothing is loaded while it computes.",
        )
    if bad is not None and result["error"] is None:
        return Slip(
            "error-lost",
            f"OSError: batch {bad} cannot be read, raised where the batches are used",
            "The loader failed and the consumer never heard of it: it takes the data set for shorter than it is. Catch the "
            "error in the loader, hand it over like a batch, and raise it on the other side.",
        )
    if result["got"] != expected:
        more = len(result["got"]) - len(expected)
        cause = PREFETCH_SHORT if more < 0 else PREFETCH_LONG if more else PREFETCH_ORDER
        return Slip("wrong-result", f"the batches {expected}, in this order", cause)
    return None


PREFETCH_ORDER = "The batches came in another order. One loader and one queue keep the order by themselves."
PREFETCH_LONG = (
    "There are more batches than items: something is handed over twice, or the sign of the end is yielded, too."
)
PREFETCH_SHORT = (
    "The consumer stopped too early. Does it look at something else than the queue (a flag, a list, `is_alive`)? "
    "Batches are missing. Two usual reasons: a batch was taken for the sign of the end (a batch may be None, 0 or empty: the "
    "sign must be an object of your own), or what was loaded before an error is thrown away."
)


def loading(n, bound, bad=None, odd=False):
    def make(rng):
        batches = [int(x) for x in rng.permutation(90)[:n]]
        if odd:
            batches[1], batches[2] = None, 0
        return batches, bound, bad

    return make


PREFETCH = ThreadTask(
    id="02-prefetch",
    section=Section("2.3", "02_queues", "When loading fails"),
    title="A prefetcher that does not lose errors",
    objective="Overlap loading with computing by a bounded queue; keep order, bound and errors",
    points=4,
    minutes=35,
    scenario=feed_batches,
    schedules=150,
    judge=judge_batches,
    cases=(
        Case("three batches, bound 1", loading(3, 1)),
        Case("no batch at all", loading(0, 2)),
        Case("batches that are None and 0", loading(4, 2, odd=True)),
        Case("batch 2 of 4 cannot be read", loading(4, 1, bad=2)),
    ),
    budget=Budget(
        points=2,
        text="at most bound + 2 loaded batches at a time: 4 for a bound of 2",
        require={"in_memory": 4},
        over=(
            "The result is right, but more batches are in memory than the bound allows. How many can your queue hold, and does "
            "`put` wait when it is full?"
        ),
        case=Case("7 batches, bound 2", loading(7, 2)),
    ),
    advice={
        "deadlock": (
            "The consumer waits for a batch that never comes. Was the thread started? How does the consumer learn that there "
            "are no more batches? And how, if the loader stopped with an error?"
        ),
        "deadlock-full": (
            "`put` waits for room, and nobody takes any more. Did the consumer leave early: a batch (None, 0) taken for the end, "
            "a timeout taken for the end, a join before the last get? Or does the consumer's own thread load (`run()`, or "
            "`target=work()`, in the place of `start()` and `target=work`)?"
        ),
        "raised-RuntimeError": (
            "Where the batches are used, the loader's own error must be raised, an OSError, not another one around it: "
            "`raise error`."
        ),
        "raised-OSError": "The error stayed in the loader's thread. Catch it there and hand it over through the queue.",
    },
    hints=(
        "Two things must reach the consumer besides batches. Which?",
        "Put pairs into the queue: (kind, thing), with the kinds batch, end and error. The loader's loop stands in `try`; "
        "`except Exception as error` puts the error.",
        "The consumer: `kind, thing = ahead.get()` in a `while True`; return at the end, `raise thing` for an error, else "
        "`yield thing`. The queue: queue.Queue(maxsize=bound).",
    ),
)

# 02-bug ------------------------------------------------------------------------------------------------------


def settle(Account, balances, orders):
    """All orders (source, target, amount) at once, a thread for each."""
    accounts = [Account(k, balance) for k, balance in enumerate(balances)]
    done = [None] * len(orders)

    def run(k):
        source, target, amount = orders[k]
        done[k] = accounts[source].pay(accounts[target], amount)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(orders))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"balances": [account.balance for account in accounts], "done": done}


def in_turn(balances, orders):
    """All outcomes that some order of the transfers, one after another, gives: [(balances, done), ...]."""
    outcomes = []
    for sequence in itertools.permutations(range(len(orders))):
        left, done = list(balances), [None] * len(orders)
        for k in sequence:
            source, target, amount = orders[k]
            done[k] = left[source] >= amount
            if done[k]:
                left[source] -= amount
                left[target] += amount
        outcomes.append((left, done))
    return outcomes


def judge_settle(arguments, result):
    balances, orders = arguments
    got = result["balances"], result["done"]
    outcomes = in_turn(balances, [tuple(order) for order in orders])
    if got in outcomes:
        return None
    if any(type(said) is not bool for said in result["done"]):
        return Slip("no-answer", "True or False from every transfer", "Say True if the money moved, else False.")
    expected = " or ".join(
        f"balances {left}" for left, _ in outcomes[:1] + [o for o in outcomes if o != outcomes[0]][:1]
    )
    if min(result["balances"]) < 0:
        cause = (
            "Both threads found enough money, then both took it. Looking and taking must be one step: look at the balance "
            "under the lock."
        )
        return Slip("overdrawn", expected, cause)
    if sum(result["balances"]) != sum(balances):
        cause = (
            "Money appeared or vanished: an addition or a subtraction was lost, or is not there. What one account loses the other "
            "gets; and both locks are held while both balances change."
        )
        return Slip("wrong-result", expected, cause)
    if result["balances"] not in [left for left, _ in outcomes] and result["done"].count(True) < min(
        done.count(True) for _, done in outcomes
    ):
        cause = (
            "A transfer was refused although there was enough money for it, in every order. `balance == amount` is enough, the "
            "balance of *this* account counts, and a lock that is taken is no reason to refuse: wait for it."
        )
        return Slip("refused", expected, cause)
    cause = "No order of the transfers, one after another, ends like this."
    return Slip("wrong-result", expected, cause)


def moving(balances, *orders):
    return lambda rng: (list(balances), [list(order) for order in orders])


BUG = ThreadTask(
    id="02-bug",
    section=Section("2.2", "02_waiting", "Deadlock"),
    title="Repair two bugs in an account",
    objective="Debug code with several locks from the interleaving that breaks it",
    points=3,
    minutes=15,
    scenario=settle,
    schedules=150,
    judge=judge_settle,
    cases=(
        Case("one transfer", moving((100, 50), (0, 1, 30))),
        Case("two in opposite directions", moving((60, 60), (0, 1, 30), (1, 0, 20))),
        Case("two from one account that holds enough for one", moving((100, 0, 0), (0, 1, 70), (0, 2, 60))),
        Case("two into one account", moving((80, 0, 60), (0, 1, 70), (2, 1, 60))),
    ),
    advice={
        "deadlock": (
            "Each thread holds the lock that the other wants. If every thread takes the two locks in the same order, whatever "
            "the direction of the transfer, this cannot happen. The order must not depend on what changes."
        )
    },
    hints=(
        "Run the check on the code as it is. In the table, which two locks does each thread take, and in which order?",
        "One bug is the order of the locks: make it depend on something fixed. The other is a look at the balance that "
        "happens too early: another thread may take the money in between.",
        "first, second = sorted((self, target), key=lambda account: account.number); `with first.lock, second.lock:` and "
        "everything else, the `if` too, under it.",
    ),
)

TASKS = (MEAN, PREDICT, LOSE, LOCK, MAP, BUFFER, PREFETCH, HANG, BUG)
