"""Tasks of chapter 02, Threads in Python. All but the predictions are graded by running them under many schedules."""

import itertools
import queue
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from cpulab.explore import Program

from ..checking import short
from ..definition import Budget, Case, Section, Slip
from ..events import Accesses, Events, Played, told
from ..golf import Golf
from ..kinds.counterexample import CounterexampleTask, Flaw
from ..kinds.data import Whole
from ..kinds.detective import DetectiveTask, Fault
from ..kinds.prediction import PredictionTask, Question
from ..kinds.schedule import RoundTask, ScheduleTask
from ..kinds.thread import RacesTask, ThreadTask

# 02-gil ------------------------------------------------------------------------------------------------------


def finished(jobs):
    """Milliseconds until all `jobs` are done, a thread and a core for each. A job is a text with a letter for each
    millisecond: P needs the GIL, N does not. Who has the GIL keeps it until it needs it no more."""
    done, holder, now = [0] * len(jobs), None, 0
    while any(d < len(job) for d, job in zip(done, jobs, strict=True)):
        wants = [k for k, job in enumerate(jobs) if job[done[k] :].startswith("P")]
        holder = holder if holder in wants else (wants or [None])[0]
        for k, job in enumerate(jobs):
            if k == holder or job[done[k] :].startswith("N"):
                done[k] += 1
        now += 1
    return now


def _least_that_pays(handing_over=50):
    """The least work for which handing over, and then half of it, takes less time than all of it: by trying."""
    return next(work for work in range(1, 1000) if handing_over + work / 2 < work)


GIL = PredictionTask(
    id="02-gil",
    section=Section("2", "02_threads", "One lock for all Python code"),
    title="What runs at the same time?",
    objective="Predict which code two threads make faster, and from which size of work on",
    points=1,
    minutes=5,
    questions=(
        Question(
            "python",
            "milliseconds until two threads are done, each with 6 ms of pure Python",
            lambda: finished(["PPPPPP"] * 2),
            {
                6: "That would be two threads that run at once. Pure Python needs the GIL all the time.",
                3: "Both jobs have to be done, not one of them divided.",
            },
            "The GIL lets one of the two run Python at a time.",
        ),
        Question(
            "mixed",
            "milliseconds until two threads are done, each with 1 ms of Python, 4 ms in NumPy without the GIL, 1 ms of Python",
            lambda: finished(["PNNNNP"] * 2),
            {
                12: "That is one after the other. While one of them is in NumPy, the GIL is free.",
                6: "Both begin with Python. Who has the GIL first, and what does the other one do meanwhile?",
                8: "The second thread's 4 ms in NumPy begin as soon as its first ms of Python is done: after 2 ms.",
            },
            "Draw a row for each thread and a column for each millisecond. In no column do both run Python.",
        ),
        Question(
            "pays",
            "the least work in whole microseconds that is done sooner by two threads, if handing over costs 50",
            _least_that_pays,
            {
                50: "With 50 of work, handing over alone takes as long as the whole work.",
                51: "Half of the work remains after handing over: 50 + 25.5 is more than 51.",
                100: "With 100, both take the same time: 50 + 50.",
                102: "A little less is enough. Microseconds can be halved.",
            },
            "One thread needs w, two need 50 + w / 2.",
        ),
    ),
    hints=(
        "For each millisecond: which of the two threads needs the GIL, and who has it?",
        "Two rows of letters, P and N. Shift the second row to the right until no column has two P.",
        "python: nothing overlaps. mixed: how far must the second row be shifted? pays: from which w on is 50 + w / 2 below w?",
    ),
)

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
            return Slip("type", "(count, total)", "`read` returns the two numbers.", short(pair[0]))
    if refused and result["raised"] is None:
        return Slip(
            "accepted", "add('three') raises an error", "Let the error of the addition go out of `add`.", "no error"
        )
    for count, total in result["seen"]:
        if total != count * value:
            return Slip(
                "torn-read",
                f"a total of {count} times {value}: {count * value}, not {total}",
                "`read` saw one number before an addition and the other after it. Reading needs the lock as well.",
                f"(count, total) = {(count, total)} from `read`",
            )
    expected = [writers * times, writers * times * value]
    got = f"(count, total) = {tuple(result['end'])}"
    if result["end"] == expected[::-1]:
        return Slip("exchanged", f"(count, total) = {tuple(expected)} at the end", "`read` gives the count first.", got)
    if writers == 1 and not result["seen"] and result["end"] != expected:
        cause = (
            "One thread alone, so nothing was lost between threads. Does each Mean have numbers of its own, set to 0 in "
            "`__init__`, and does `add` count one and add the value once?"
        )
        return Slip("counted", f"(count, total) = {tuple(expected)} at the end", cause, got)
    if refused and result["end"] == [expected[0] + 1, expected[1]]:
        return Slip(
            "half-added",
            f"(count, total) = {tuple(expected)}: what cannot be added is not counted",
            "The value that cannot be added was counted: `count` had changed before the addition raised its error. Do first "
            "what may fail.",
            got,
        )
    if result["end"] != expected:
        return Slip("wrong-result", f"(count, total) = {tuple(expected)} at the end", MEAN_CAUSE, got)
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
        "Both lines of add stand under `with self.lock:`. Only one of them can raise an error: which must come first, so that "
        "nothing has changed then? And what of read must stand under the lock?",
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
    points=4,
    minutes=12,
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
                3: "One thread's additions all lost gives 3. But a thread that has read early may write late, "
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
            section=Section("2.3", "02_queues", "What the bound is for"),
        ),
    ),
    hints=(
        "Draw it. Two columns, one for each thread; a step is one row.",
        "orders: choose the places of A among 6. least: a thread can write an old value at the very end. in_memory: queue, "
        "loader and consumer each hold some.",
        "orders: which three of six places has A? The order in which you choose them does not matter. least: for whom "
        "is it best to read a small number very late, and who must have written it? in_memory: who still holds a batch "
        "while the queue is full?",
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

# 02-races, the third part of 02-lose ---------------------------------------------------------------------------


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
        "verdict": "Ask two things, one after the other. First: is each access to what changes under the same lock, reading too? "
        "Then, wherever the answer to the first led: play the orders of the two threads. Is there more than one end?"
    },
    hints=(
        "Two questions, and neither answers the other. One is about accesses and locks: you need not play anything. The other is "
        "about results: there the locks do not matter by themselves.",
        "For the accesses, list for each attribute who reads it, who writes it, and under which lock. Two names of locks are two "
        "locks. For the results, let thread 1 do everything between two steps of thread 0; `+=` has several, a read and a write.",
        "In which of the six is something read or written outside of every `with`? In which is it under a lock, but not the other "
        "thread's? And in which does the end depend on who came first, or on what came between two `with` blocks, although both had "
        "the lock?",
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

# 02-starve, the second part of 02-hang ---------------------------------------------------------------------------


def kept_out(round):
    """0: only one thread moves in the round; 1: both, and nobody gets in; 2: both, and B gets in. A, once in, ends."""
    if len(round.threads) < 2:
        return 0
    return 1 + (len({state["inside"] for state in round.states}) > 1)


@dataclass(frozen=True, kw_only=True)
class StarveTask(RoundTask):
    """The first of the two cases alone, which gives points in part, is met by a livelock."""

    cases: tuple = (Case("a livelock", lambda rng: ()), Case("starvation", lambda rng: ()))

    def examine(self, answer, cases, seed):
        if len(cases) < len(self.cases):
            return replace(self, goal=1, cases=cases, partial={}).examine(answer, cases, seed)
        return super().examine(answer, cases, seed)


STARVE = StarveTask(
    id="02-starve",
    section=Section("2.2", "02_waiting", "Starvation"),
    title="Now starve a polite thread",
    objective="Choose steps that can be repeated for ever, in which a thread tries again and again and never has its turn",
    after="02-hang",
    points=2,
    partial={"a livelock": 1},
    minutes=12,
    program=Program(
        """
        wants_a = wants_b = False
        inside = ""


        def a():
            global wants_a, inside
            wants_a = True
            while True:
                if not wants_b:
                    break
                wants_a = False  # after you
                wants_a = True
            inside = "A"
            wants_a = False


        def b():
            global wants_b, inside
            while True:
                wants_b = True
                while True:
                    if not wants_a:
                        break
                    wants_b = False  # after you
                    wants_b = True
                inside = "B"
                inside = ""
                wants_b = False
        """,
        A=("a",),
        B=("b",),
    ),
    score=kept_out,
    shown={
        0: "A round of one thread alone",
        1: "A livelock: both step aside for ever, and nobody gets in",
        2: "Starvation: B gets in again and again, and A tries for ever",
    },
    slips={
        0: "Only one thread moves in this round: the other thread is not asked at all. Both must move in it.",
        1: "This can go on for ever, too, but B gets in as seldom as A. What must B find when it looks, so that it gets in? And "
        "what must A find when it looks?",
    },
    advice={
        "no-round": "After the last step all must be as it was once before: the three variables, and the line that each thread "
        "comes to next. What is missing until then?",
        "impossible": "A thread that has got in as A, or that has ended, makes no further step. In a round for ever A must not get in.",
    },
    hints=(
        "A livelock: both want to go in. What does each of them see now, what does it do, and when is all as it was? Starvation: what "
        "does A see each time it looks, if it is to step aside again, and what does B see, if it is to get in?",
        "B may look only in the moment in which A has stepped aside. A may look at any moment in which B wants to be in.",
        "Begin so: B says that it wants in; A says so, looks, and steps aside. Here the round can begin. B looks now. How far does B "
        "go, before A comes back and looks again?",
    ),
)

# 02-tally ----------------------------------------------------------------------------------------------------


class CountedLock:
    """A lock that counts how often it is taken."""

    def __init__(self, events):
        lock = threading.Lock()
        self._lock, self._add = lock, events.add

    def acquire(self):
        self._add("times the lock is taken")
        return self._lock.acquire()

    def release(self):
        self._lock.release()

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *error):
        self.release()


def tell(Tally, writers, times, slack, value):
    """`writers` threads, each with a Tally of its own, add `value` `times` times each and close. Nobody may be told of
    too little meanwhile."""
    events, total, made, late = Events(), [0], [0] * writers, []
    lock = CountedLock(events)

    def write(k):
        tally = Tally(total, lock, slack)
        for _ in range(times):
            tally.add(value)
            made[k] += 1
            so_far = sum(made)  # before the total is read: what others add in between cannot count against anybody
            missing = so_far - total[0] / value
            if missing > writers * slack:
                late.append(missing)
        tally.close()

    threads = [threading.Thread(target=write, args=(k,)) for k in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Played({"total": total[0], "late": max(late, default=0)}, events.counts())


def judge_tally(arguments, result):
    writers, times, slack, value = arguments
    expected = writers * times * value
    if result["total"] == writers * times != expected:
        return Slip(
            "wrong-result",
            f"a total of {expected}",
            "Add the values, not their number.",
            f"a total of {result['total']}",
        )
    if result["late"] and result["total"] == 0:
        cause = (
            "Nothing ever came into total[0], the list that all share. `self.total[0] += ...` changes it; `self.total = ...` only gives "
            "a name of yours to something else."
        )
        return Slip("nothing", f"a total of {expected}", cause, "a total of 0")
    if result["late"]:
        return Slip(
            "late",
            f"at most {slack} additions of a writer not yet in the total when `add` returns",
            "The total may lag behind, but not by so much. How many additions may wait in the object when `add` returns? Their number "
            "counts, whatever their values are.",
            f"{result['late']:g} additions of {writers} not yet in the total"
            if writers > 1
            else f"{result['late']:g} additions missing",
        )
    if result["total"] == expected:
        return None
    if abs(result["total"]) > abs(expected):
        cause = (
            "Something was added twice. Is what you keep back set to nothing once it is in the total? And does each Tally keep what is "
            "its own, in `self`?"
        )
        return Slip("twice", f"a total of {expected}", cause, f"a total of {result['total']}")
    if times <= slack or result["total"] % value == 0:
        cause = (
            "Additions are missing at the end: kept back and never added (`close`), or lost to another writer. Reading, adding "
            "and writing total[0] belong under the lock that you were given."
        )
        return Slip("missing", f"a total of {expected}", cause, f"a total of {result['total']}")
    return Slip("wrong-result", f"a total of {expected}", "Add the values, not their number.", str(result["total"]))


def telling(writers, times, slack):
    return lambda rng: (writers, times, slack, int(rng.integers(2, 9)))


TALLY = ThreadTask(
    id="02-tally",
    section=Section("2", "02_threads", "The lock, and its price"),
    title="A lock that is taken less often",
    objective="Cut the price of a lock: add up alone, and take the lock for many additions at once",
    points=3,
    minutes=16,
    scenario=tell,
    schedules=60,
    judge=judge_tally,
    cases=(
        Case("one writer, no slack", telling(1, 3, 0)),
        Case("one writer, 5 additions, slack 2", telling(1, 5, 2)),
        Case("two writers, 2 additions each, slack 1", telling(2, 2, 1)),
        Case("two writers, fewer additions than the slack", telling(2, 1, 3)),
        Case("one writer adds negative numbers, slack 1", lambda rng: (1, 4, 1, -int(rng.integers(2, 9)))),
    ),
    budget=Budget(
        points=1,
        text="the lock is taken at most 10 times by 2 writers with 12 additions each and a slack of 3",
        require={"times the lock is taken": 10},
        over="The total is right, but the lock is taken too often. May an addition wait in the object, until there are several? "
        "`slack` is their number, whatever their values are.",
        case=Case("2 writers, 12 additions each, slack 3", telling(2, 12, 3)),
        golf=Golf(
            count="times the lock is taken",
            best=6,
            lead="How many additions may wait when `add` returns, and is there always something left to do for `close`?",
        ),
    ),
    advice={
        "raised-ZeroDivisionError": "With a slack of 0 nothing may wait: each addition goes into the total at once.",
        "lock-not-released": "A lock is still closed at the end. Use `with self.lock:`, which opens it on every way out.",
        "deadlock": "A writer waits for the lock, and nobody opens it. Does a method that has the lock call one that takes it?",
    },
    hints=(
        "What does a writer need the lock for: for its own sum, or for the total that all share?",
        "Keep two numbers of your own: what is not yet in the total, and how many additions that is. When must they go in?",
        "A method that moves your own sum into the total, under the lock, and sets it to nothing. `add` calls it once too many "
        "additions wait; `close` calls it when any are left.",
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
    calls, sizes = {}, []  # of the function: by the job that a thread is at; by each job that ended

    def ask():
        nonlocal asked
        asked += 1

    def triple(x):
        nonlocal at_home
        at_home += threading.get_ident() == home
        calls[threading.get_ident()] = calls.get(threading.get_ident(), 0) + 1
        if x == bad:
            raise ValueError(f"{x} is bad")
        return 3 * x + 1

    with ThreadPoolExecutor(2) as pool:

        def run(job, arguments):
            nonlocal empty
            calls[threading.get_ident()] = 0
            result = job(*arguments)
            sizes.append(calls[threading.get_ident()])
            empty += sizes[-1] == 0
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
    seen["largest"] = max(sizes, default=0)
    seen["changed"] = given != items
    return Played(seen, counts)


def judge_map(arguments, result):
    items, chunk, bad = arguments
    got, expected = result["result"], [3 * x + 1 for x in items]
    came = short(got)
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
                came,
            )
        return None
    if result["at_home"] and result["jobs"]:
        return Slip(
            "at-home",
            "`function` called by the threads of the pool",
            "The jobs ended at once, and the work was done afterwards, in your own thread. `map` and generators do nothing "
            "until somebody takes their results: let the job make a list.",
            f"{result['at_home']} calls by your own thread",
        )
    if not result["jobs"] and items:
        cause = "Nothing was handed over: the threads had no work."
        return Slip("no-jobs", "the work handed over with submit", cause, "no call of submit")
    if isinstance(got, list) and None in got:
        cause = "A result was used before its job had ended: ask each future for its `result()`, which waits."
        return Slip("too-early", str(expected), cause, came)
    if isinstance(got, list) and got != expected and sorted(map(str, got)) == sorted(map(str, expected)):
        return Slip(
            "order",
            str(expected),
            "The results are right, but in another order: who ends first must not come first. Keep the futures in the order "
            "of the items, and ask them in that order.",
            came,
        )
    if (
        isinstance(got, list)
        and all(isinstance(x, list) for x in got)
        and list(itertools.chain(*got)) == expected != got
    ):
        cause = "A list for each job stands in the result. Join them into one list."
        return Slip("nested", str(expected), cause, came)
    if isinstance(got, list) and 0 < len(got) < len(expected) and got == expected[: len(got)]:
        cause = "The last items are missing. The last chunk may be shorter than the others."
        return Slip("tail", str(expected), cause, came)
    if isinstance(got, list) and len(got) != len(expected):
        cause = (
            f"There are {len(got)} results for {len(expected)} items. A chunk is items[k : k + chunk], and the next one begins "
            "at k + chunk: does each item lie in exactly one?"
        )
        return Slip("slices", str(expected), cause, came)
    if got != expected:
        return Slip("wrong-result", str(expected), MAP_CAUSE, came)
    if result["empty"]:
        return Slip(
            "empty-job",
            f"{-(-len(items) // chunk)} jobs for {len(items)} items in chunks of {chunk}",
            "A job without any item was handed over. len // chunk + 1 is one too many where the division has no rest.",
            f"{result['jobs']} jobs",
        )
    if result["largest"] > chunk:
        return Slip(
            "large-job",
            f"at most {chunk} items in a job",
            "While one job does the work of several, the other threads have nothing to do. A job is one chunk.",
            f"a job with {result['largest']} items",
        )
    if result["late"]:
        return Slip(
            "one-after-another",
            "all jobs handed over before the first result is asked for",
            "A result was asked for before the next job was handed over, so the threads worked one after another. First "
            "submit everything, then collect.",
            f"{result['late']} of {result['jobs']} jobs handed over after the first `result()`",
        )
    return None


MAP_CAUSE = (
    "Some chunks are missing or there twice. A function that is made in a loop sees the loop's variable as it is when the "
    "job runs, not as it was when the job was handed over. Pass what the job needs as arguments of `submit`."
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
            "than a small job: one `submit` for a whole chunk. `chunk` is the number of items in a job, not the number of jobs."
        ),
        case=Case("10 items in chunks of 4", mapping(10, 4)),
    ),
    advice={
        "raised-AttributeError": (
            "What `submit` returns has `result()`, which waits until the job has ended. To ask again and again keeps a core busy."
        ),
        "raised-TimeoutError": "A job that is not ready yet is no error: `result()` without a timeout waits for it.",
        "raised-TypeError": (
            "Does a job get a whole part where one item is expected? `function` takes one item: the job must call it for each "
            "item of its part, and return a list."
        ),
    },
    hints=(
        "What is one job: one item, or a list of items? And what do you keep from each `submit`?",
        "A helper that works on a whole list of items. Submit it once for each slice `items[k : k + chunk]`, keep the futures "
        "in a list, and only then go through the list and ask for the results.",
        "`work(function, part)` returns a list. A part begins at every chunk-th place: what is the call of `submit` "
        "for the one that begins at k? And what makes one list of the lists that `f.result()` gives?",
    ),
)

# 02-graph, the second part of 02-map ---------------------------------------------------------------------------


def run_graph(Graph, needs, waits):
    """Run the tasks of a graph, each in a thread of its own from the moment that it is submitted. `waits`: {task: another
    one, for whose beginning it waits}."""
    order, early, running, over = [], [], [], set()
    begun = {name: threading.Event() for name in needs}

    def run(name):
        begun[name].set()
        if name in waits:
            begun[waits[name]].wait()
        over.add(name)
        graph.finished(name)

    def submit(name):
        open_needs = [n for n in needs[name] if n not in over]
        if open_needs:
            early.append([name, open_needs[0]])
        order.append(name)
        thread = threading.Thread(target=run, args=(name,), name=f"task {name}")
        running.append(thread)
        thread.start()

    graph = Graph({name: list(before) for name, before in needs.items()}, submit)
    graph.start()
    for thread in running:  # it grows while they run
        thread.join()
    return {"order": order, "early": early}


def judge_graph(arguments, result):
    needs, _ = arguments
    order, early = result["order"], result["early"]
    told = f"each of {', '.join(needs)} submitted once, when all that it needs is finished"
    if not order:
        cause = "Nothing was submitted. What needs nothing can run at once: `start` submits it."
        return Slip("nothing", told, cause, "no call of `submit`")
    if early:
        name, need = early[0]
        cause = (
            "A task was handed over too early. It may need several others: being needed by the one that has just finished is "
            "not enough. And needs[x] are those before x, not those after it."
        )
        return Slip("early", told, cause, f"{name} submitted when {need} was not finished")
    twice = next((name for name in order if order.count(name) > 1), None)
    if twice:
        return Slip("twice", told, GRAPH_TWICE, f"{twice} submitted {order.count(twice)} times")
    missing = [name for name in needs if name not in order]
    if missing:
        return Slip("missing", told, GRAPH_MISSING, f"{', '.join(missing)} never submitted")
    return None


GRAPH_TWICE = (
    "Two threads found the same task ready, and both submitted it. Who brings the number of open needs to 0 must learn it in the "
    "same step, under the lock, in which it takes one off. And a task that `submit` got in `start` may end before `start` has: "
    "what does `start` look at then?"
)
GRAPH_MISSING = (
    "A task was never submitted, though all that it needs is finished: nobody found it ready. Were two needs taken off at once, "
    "and one of them lost? Or do the numbers of open needs belong to another graph, or begin too high?"
)


def graphed(needs, **waits):
    """A graph of the tasks a, b, c ...: "a b c:ab" lets c need a and b."""
    parts = [part.partition(":") for part in needs.split()]
    return lambda rng: ({name: list(before) for name, _, before in parts}, waits)


GRAPH = ThreadTask(
    id="02-graph",
    section=Section("2.3", "02_queues", "Tasks that depend on each other"),
    title="Jobs that need the results of others",
    objective="Run tasks that depend on each other: count what each one still needs, and start it in time",
    after="02-map",
    points=3,
    minutes=10,
    scenario=run_graph,
    schedules=80,
    preemptions=2,
    judge=judge_graph,
    cases=(
        Case("a chain: b needs a, c needs b", graphed("a b:a c:b")),
        Case("c needs a and b", graphed("a b c:ab")),
        Case("one result for two: b and c need a, d needs both", graphed("a b:a c:a d:bc")),
        Case("c needs a alone, and b goes on until c has begun", graphed("a b c:a", b="c")),
    ),
    advice={
        "deadlock": "Somebody waits for ever. A task may begin as soon as all that it needs itself is finished, whatever else is still "
        "running. And nobody may wait inside `finished` or `start`.",
        "lost-update": GRAPH_MISSING,
        "raised-KeyError": "A name has no entry. needs[x] is the list of the tasks before x, and [] for one that needs nothing. Is "
        "everything set up before the first `submit`, which may bring a call of `finished` at once?",
        "raised-AttributeError": "Is everything set up in `__init__`, before the first `submit`, which may bring a call of `finished` at once?",
        "busy-waiting": "`finished` asks again and again. It need not wait: the thread that finishes the last need submits the task.",
        "endless": "`finished` turns in a loop. It need not wait: the thread that finishes the last need submits the task.",
        "livelock": "`finished` turns in a loop. It need not wait: the thread that finishes the last need submits the task.",
    },
    hints=(
        "Task d needs b and c, which finish in two threads, in any order. Which of the two threads submits d, and how does it know?",
        "For each task the number of its needs that are still open, and the list of the tasks that need it. `finished` takes one off "
        "for each task of that list; who comes to 0 submits.",
        "Take one off and compare with 0 under one lock, and keep the answer in a name of your own. In `start`, the open numbers may "
        "already be changing: what tells you, unchanged, which tasks need nothing?",
    ),
)

# 02-waits ----------------------------------------------------------------------------------------------------

SLEEP, WAKE = 1500, 4500  # nanoseconds of processor time: to go to sleep, to be woken
JOBS_CAME, RANKS, JOB, AGEING = (0, 2, 8, 15), (5, 6, 2, 1), 10, 0.5  # milliseconds; rank points for one of them
HOLD, HIGH_COMES, MIDDLE_COMES, MIDDLE = 4, 1, 2, 20  # milliseconds


def processor_time(wait, spins, blocking):
    """What a wait of `wait` ns takes, if a thread spins for `spins` ns at most, and then blocks, which costs `blocking`."""
    return wait if wait < spins else spins + blocking


def blocking_pays(blocking):
    """The least wait in ns that takes no more processor time if the thread blocks at once: by trying."""
    return next(w for w in itertools.count(1) if processor_time(w, 0, blocking) <= processor_time(w, w + 1, blocking))


def worst_of_both(blocking):
    """The most processor time if the thread spins until blocking at once would have paid, and then blocks: by trying."""
    spins = blocking_pays(blocking)
    return max(processor_time(wait, spins, blocking) for wait in range(2 * spins))


def served(came, ranks, job, ageing):
    """The numbers of the jobs, from 1, in the order in which one core does them, written as one number."""
    left, now, order = list(range(len(came))), 0, ""
    while left:
        there = [k for k in left if came[k] <= now]
        first = min(there, key=lambda k: ranks[k] - ageing * (now - came[k]))
        left.remove(first)
        order += str(first + 1)
        now += job
    return int(order)


def high_waits(hold, middle, inherits, high_comes=HIGH_COMES, middle_comes=MIDDLE_COMES):
    """Milliseconds that the most urgent of three threads waits for the lock that the least urgent one holds from 0 on, for
    `hold` ms of its own work. One core, and of those that can go on the most urgent one runs."""
    now, low, other = 0, hold, middle
    while low:
        # the most urgent one has nothing to do but to wait; while the holder inherits its rank, it goes before the middle one
        if now >= middle_comes and other and not (inherits and now >= high_comes):
            other -= 1
        else:
            low -= 1
        now += 1
    return now - high_comes


WAITS = PredictionTask(
    id="02-waits",
    section=Section("2.2", "02_waiting", "Spin, or go to sleep"),
    title="Who waits, and how",
    objective="Predict when blocking costs less than spinning, whom ageing serves first, and how long an inverted priority waits",
    points=3,
    minutes=12,
    questions=(
        Question(
            "pays",
            "nanoseconds of the shortest wait for which blocking takes no more processor time than spinning",
            lambda: blocking_pays(SLEEP + WAKE),
            {
                SLEEP: "That pays for going to sleep. The thread must be woken as well.",
                WAKE: "That pays for being woken. The thread must go to sleep first.",
                WAKE - SLEEP: "Both have to be paid: going to sleep, and being woken.",
                2 * (SLEEP + WAKE): "At that wait, spinning takes twice what blocking takes.",
            },
            "Spinning takes as long as the wait. Blocking takes the same for every wait: how much?",
        ),
        Question(
            "worst",
            "nanoseconds of processor time, at most, if it spins for so long first, and then blocks",
            lambda: worst_of_both(SLEEP + WAKE),
            {
                SLEEP + WAKE: "So much it takes if the lock is free just before the spinning ends. And just after?",
                2 * (SLEEP + WAKE) - SLEEP: "Blocking is going to sleep and being woken.",
                2 * (SLEEP + WAKE) - WAKE: "Blocking is going to sleep and being woken.",
            },
            "When is the lock given back in the worst case? All the spinning was for nothing then, and what comes on top?",
        ),
        Question(
            "order",
            "the order of the four jobs, as one number of four digits",
            lambda: served(JOBS_CAME, RANKS, JOB, AGEING),
            {
                served(
                    JOBS_CAME, RANKS, JOB, 0
                ): "That is the order without ageing. What has job 2 waited by the time that the core is free?",
                1234: "That is first come, first served. Who has the lower rank at 10 ms, job 2 or job 3?",
                1432: "At 10 ms, job 4 is not there yet.",
                4321: "Those are the ranks as they were at first. The core is free at 0 ms, and who is there?",
            },
            "At 0, 10, 20 and 30 ms the core is free: which jobs are there, and what is the rank of each after its wait?",
            section=Section("2.2", "02_waiting", "Starvation"),
        ),
        Question(
            "inverted",
            "milliseconds that the high thread waits for the lock, without inheritance",
            lambda: high_waits(HOLD, MIDDLE, inherits=False),
            {
                HOLD
                - HIGH_COMES: "So long it would wait if the low thread could go on. Who has the core from 2 ms on?",
                MIDDLE: "The low thread must also do what is left of its own work, before it opens the lock.",
                HOLD
                + MIDDLE: "That is the moment at which the lock is opened. The high thread has waited from 1 ms on.",
                HOLD
                + MIDDLE
                - MIDDLE_COMES: "That is from the moment on at which the middle thread comes. The high one waits already.",
                HOLD: "So long the low thread works under the lock. It does not have the core all the time.",
            },
            "A row for the core, a column for each millisecond: L, M or H? When is the fourth L over?",
            section=Section("2.2", "02_waiting", "Priority inversion"),
        ),
        Question(
            "inherited",
            "milliseconds that the high thread waits for the lock, with inheritance",
            lambda: high_waits(HOLD, MIDDLE, inherits=True),
            {
                HOLD: "So long the low thread holds the lock. The high one came later.",
                HOLD - MIDDLE_COMES: "That is from the coming of the middle thread on. The high one came before it.",
                HOLD + MIDDLE - HIGH_COMES: "That is without inheritance. Whom does the low thread go before now?",
                MIDDLE: "That is the work of the middle thread, which must wait now.",
            },
            "From when on does the low thread have the rank of the high one, and what is left of its work then?",
            section=Section("2.2", "02_waiting", "Priority inversion"),
        ),
    ),
    hints=(
        "What does each way of waiting cost, and does that depend on how long the wait is? Who has the core in each millisecond?",
        "pays: two costs add up. worst: the lock is given back at the most unlucky moment. order: take half a point off each rank for "
        "every millisecond of waiting. inverted: the low thread needs the core to open the lock.",
        "worst: all of the spinning, and all of the blocking. order: at 10 ms job 2 has waited 8 ms, so its rank is 6 - 4; job 3 has "
        "waited 2 ms. inverted: draw LL, then all of M, then what is left of L. inherited: how many L come before any M?",
    ),
)

# 02-fails ----------------------------------------------------------------------------------------------------


def job(places, need, work):
    for _ in range(need):
        places.acquire()
    work()
    for _ in range(need):
        places.release()


_TURN = threading.Lock()


def _job_in_turn(places, need, work):
    """Takes all it needs before anybody else takes any."""
    with _TURN:
        for _ in range(need):
            places.acquire()
    work()
    for _ in range(need):
        places.release()


def three_jobs(job, places, needs):
    free, done = threading.Semaphore(places), []
    threads = [threading.Thread(target=job, args=(free, need, lambda: done.append(1))) for need in needs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(done)


class Accounts:
    def __init__(self, balances):
        self.balances = balances
        self.locks = [threading.Lock() for _ in range(3)]

    def pay(self, source, target, amount):
        low, high = min(source, target), max(source, target)
        with self.locks[low % 3], self.locks[high % 3]:
            self.balances[source] -= amount
            self.balances[target] += amount


class _Accounts:
    """The locks in the order of the locks."""

    def __init__(self, balances):
        self.balances = balances
        self.locks = [threading.Lock() for _ in range(3)]

    def pay(self, source, target, amount):
        low, high = sorted({source % 3, target % 3})
        with self.locks[low], self.locks[high]:
            self.balances[source] -= amount
            self.balances[target] += amount


def two_payments(Accounts, a, b, c, d):
    accounts = Accounts([100] * 9)
    threads = [threading.Thread(target=accounts.pay, args=(*pair, 10)) for pair in ((a, b), (c, d))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return accounts.balances


def _paid(a, b, c, d):
    balances = [100] * 9
    for source, target in ((a, b), (c, d)):
        balances[source] -= 10
        balances[target] += 10
    return balances


_HIDDEN_JUDGE = {"points": 1, "minutes": 5, "hints": ("", "", ""), "cases": (), "stress": 0, "schedules": 120}
JOBS = ThreadTask(
    id="02-fails", title="", objective="", scenario=three_jobs, spec=lambda places, needs: len(needs), **_HIDDEN_JUDGE
)
PAYMENTS = ThreadTask(id="02-fails", title="", objective="", scenario=two_payments, spec=_paid, **_HIDDEN_JUDGE)

FAILS = CounterexampleTask(
    id="02-fails",
    section=Section("2.2", "02_waiting", "A semaphore, and how it is set"),
    title="Find what makes two programs hang",
    objective="Find the setting of a semaphore, and the calls of a class with locks, that can end in a deadlock",
    points=3,
    minutes=12,
    flaws=(
        Flaw(
            name="places",
            judge=JOBS,
            wrong=job,
            right=_job_in_turn,
            fields={"places": Whole(6, 9), "A": Whole(1, 3), "B": Whole(1, 3), "C": Whole(1, 3)},
            case=lambda places, A, B, C: Case(f"{places} places, needs {A}, {B}, {C}", lambda rng: (places, [A, B, C])),
            agrees="all three jobs end, in every schedule tried",
            lead="How many places can the three jobs hold so that none of them has all it needs?",
        ),
        Flaw(
            name="payments",
            judge=PAYMENTS,
            wrong=Accounts,
            right=_Accounts,
            fields={name: Whole(0, 8) for name in ("source_1", "target_1", "source_2", "target_2")},
            case=lambda source_1, target_1, source_2, target_2: Case(
                f"{source_1} pays {target_1}, {source_2} pays {target_2}",
                lambda rng: (source_1, target_1, source_2, target_2),
            ),
            rules=(
                (
                    lambda source_1, target_1, source_2, target_2: (
                        source_1 % 3 != target_1 % 3 and source_2 % 3 != target_2 % 3
                    ),
                    "the two accounts of a payment have different locks: source % 3 != target % 3",
                ),
            ),
            agrees="both payments are made, in every schedule tried",
            lead="Write down which two locks each payment takes, and which of them first. The accounts are in order; are the locks?",
        ),
    ),
    hints=(
        "A deadlock needs a ring: each holds what the next one wants. What can each job, or each payment, hold and still want "
        "more?",
        "places: a job that needs n can hold n - 1 and hang. payments: the smaller account may have the larger lock.",
        "places: add up what three jobs can hold with one place missing each, and compare with 6. payments: let both use the "
        "same two locks; write the locks of accounts 0 to 8 in a row, 0 1 2 0 1 2 ..., and look for pairs that fall.",
    ),
)

# 02-places, the second part of 02-fails ------------------------------------------------------------------------


def share_places(Places, count, needs, meeting):
    """Each job takes its places, works, and gives them back. The jobs of `meeting` work at the same time: each waits
    for the others while it works."""
    places, events, together = Places(count), Events(), threading.Barrier(len(meeting) or 1)

    def run(k):
        places.take(needs[k])
        events.enter("taken", needs[k])
        if k in meeting:
            together.wait()
        events.leave("taken", needs[k])
        places.give(needs[k])

    threads = [threading.Thread(target=run, args=(k,), name=f"job {k}") for k in range(len(needs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return events.counts()["taken"]


def judge_places(arguments, result):
    count = arguments[0]
    if result > count:
        cause = "Jobs worked that had not found their places. `take` must wait until all `n` are free, look again after each wait, and "
        cause += "take `n` off."
        until = told("taken", result)
        return Slip("too-many", f"at most {count} places taken at a time", cause, f"{result} at a time", until=until)
    return None


def sharing(count, *needs, meeting=()):
    return lambda rng: (count, list(needs), list(meeting))


PLACES = ThreadTask(
    id="02-places",
    section=Section("2.2", "02_waiting", "A condition"),
    title="Mend it: all places at once, or none",
    objective="Break hold and wait: take several places at once, without keeping out jobs that fit",
    after="02-fails",
    points=4,
    minutes=15,
    scenario=share_places,
    schedules=150,
    judge=judge_places,
    cases=(
        Case("one job", sharing(3, 2)),
        Case("6 places, three jobs of 3", sharing(6, 3, 3, 3)),
        Case("two jobs that fit work together: 4 places", sharing(4, 2, 2, meeting=(0, 1))),
        Case("a large job, and two small ones that work together: 2 places", sharing(2, 2, 1, 1, meeting=(1, 2))),
    ),
    advice={
        "deadlock": "Jobs wait, and nobody gives. Usual reasons: `take` keeps or takes off places before it has waited; whoever "
        "gives wakes one waiter, where several may go on; jobs that fit beside each other are kept apart, or `n` free places are "
        "not taken for enough.",
        "busy-waiting": "`take` asks again and again instead of sleeping until places come back. That is what `wait` is for.",
        "endless": "A thread turns in a loop without waiting for anything. `wait` on the condition inside the loop.",
        "livelock": "Threads take and give back again and again. Take all places at once, when they are free.",
    },
    without={"timeout": "a wait that ends by itself is polling: the right notify makes it needless"},
    hints=(
        "What must be true before a job may take its n places? And may it touch any of them before?",
        "A `Condition` and a number of free places. `take` waits while fewer than n are free; `give` makes more free, and several "
        "jobs may be able to go on then.",
        "In `take`, the loop that waits compares the free places with n, and stands before the only subtraction. In `give`, one "
        "addition; who has to look again after it?",
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
            f"at most {bound} items put and not yet asked for",
            "`put` must wait while `bound` items (or more) are in the buffer, and look again after each `wait`: `while`, not "
            "`if`. What it cannot add yet must not push another item out.",
            f"{result['held']} items",
        )
    if every != [[k, number] for k in range(producers) for number in range(each)]:
        cause = (
            "An item is missing, or somebody got it twice. May a getter leave before the buffer is empty and closed? And does "
            "`close` leave in the buffer what is there?"
        )
        return Slip(
            "wrong-result",
            f"each of the {producers * each} items exactly once",
            cause,
            f"[producer, number]: {short(every)}",
        )
    for taken in result["taken"]:
        for k in range(producers):
            numbers = [number for maker, number in taken if maker == k]
            if numbers != sorted(numbers):
                cause = "The item that came first must leave first: append on one side, popleft on the other."
                return Slip(
                    "order",
                    f"the items of producer {k} in the order in which it put them",
                    cause,
                    f"the numbers {numbers}",
                )
    return None


def passing(bound, producers, consumers, each):
    return lambda rng: (bound, producers, consumers, each)


BUFFER = ThreadTask(
    id="02-buffer",
    section=Section("2.2", "02_waiting", "A condition"),
    title="A bounded buffer that can be closed",
    objective="Write a buffer with a condition: wait in a loop, notify whoever may be concerned, end cleanly",
    points=6,
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
            "Somebody waits in `wait` and is never told. Whom does each of `put`, `get` and `close` have to wake: one thread, or "
            "all that may be concerned, while it holds the same lock? And does it look at the state before it waits: may a "
            "getter wait although it is closed, a putter although there is room?"
        ),
        "raised-RuntimeError": "`wait` and `notify` need the lock of their condition: put them inside `with` of that condition.",
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
        "For each of `put` and `get`: what must be true before it may go on? And who can make it true?",
        "One `Condition`. `put` waits while the buffer is full; `get` waits while it is empty and not closed. Whoever changes "
        "something (`put`, `get`, `close`) calls `notify_all`.",
        "`get`: the loop that waits compares two things, and goes on when one of them is no longer so. Behind it the "
        "buffer may be empty all the same: what is returned then? And whom must you tell after taking an item?",
    ),
)

# 02-buffers, the second part of 02-buffer ----------------------------------------------------------------------


class Frame:
    def __init__(self, bound):
        self.items, self.bound, self.closed = deque(), bound, False
        self.changed = threading.Condition()

    def close(self):
        with self.changed:
            self.closed = True
            self.changed.notify_all()


class A(Frame):
    def put(self, item):
        with self.changed:
            while len(self.items) >= self.bound:
                self.changed.wait()
            self.items.append(item)
            self.changed.notify_all()

    def get(self):
        with self.changed:
            if not self.items and not self.closed:
                self.changed.wait()
            if not self.items:
                return None
            item = self.items.popleft()
            self.changed.notify_all()
            return item


class B(Frame):
    def put(self, item):
        with self.changed:
            while len(self.items) >= self.bound:
                self.changed.wait()
            self.items.append(item)
            self.changed.notify()

    def get(self):
        with self.changed:
            while not self.items and not self.closed:
                self.changed.wait()
            if not self.items:
                return None
            item = self.items.popleft()
            self.changed.notify()
            return item


class C(Frame):
    def __init__(self, bound):
        self.items, self.bound, self.closed = deque(), bound, False
        lock = threading.Lock()
        self.changed, self.room = threading.Condition(lock), threading.Condition(lock)

    def put(self, item):
        with self.changed:
            while len(self.items) >= self.bound:
                self.room.wait()
            self.items.append(item)
            self.changed.notify()

    def get(self):
        with self.changed:
            while not self.items and not self.closed:
                self.changed.wait()
            if not self.items:
                return None
            item = self.items.popleft()
            self.room.notify()
            return item


class D(Frame):
    def put(self, item):
        with self.changed:
            while len(self.items) >= self.bound:
                self.changed.wait()
            self.items.append(item)
            self.changed.notify_all()

    def get(self):
        with self.changed:
            while not self.items and not self.closed:
                self.changed.wait()
            if not self.items:
                return None
        with self.changed:
            item = self.items.popleft()
            self.changed.notify_all()
            return item


SMALL_BUFFER = ThreadTask(
    id="02-buffers",
    title="",
    objective="",
    scenario=through,
    judge=judge_through,
    **_HIDDEN_JUDGE
    | {
        "schedules": 60,
        "cases": (
            Case("two producers, one consumer, bound 1", passing(1, 2, 1, 1)),
            Case("one producer, two consumers, bound 2", passing(2, 1, 2, 1)),
            Case("two producers, two consumers, bound 1", passing(1, 2, 2, 1)),
        ),
    },
)

BUFFERS = DetectiveTask(
    id="02-buffers",
    section=Section("2.2", "02_waiting", "A condition"),
    title="Four buffers, one of them right",
    objective="Judge code with a condition: find who may be woken in vain, and who never",
    after="02-buffer",
    points=3,
    minutes=12,
    judge=SMALL_BUFFER,
    programs={"A": A, "B": B, "C": C, "D": D},
    run="case",
    faults=(
        Fault("right", "does what the first part asks for, in every order"),
        Fault("gives up", "`get` can return None although the buffer is open", ("early-end",)),
        Fault("sleeps on", "somebody can wait for ever", ("deadlock",)),
        Fault("overfull", "there can be more items in it than the bound", ("over-bound",)),
        Fault("loses", "an item can get lost, or come twice", ("wrong-result",)),
        Fault("crashes", "a thread can take from an empty buffer", ("raised-IndexError",)),
        Fault("disorder", "items of one producer can come in another order", ("order",)),
    ),
    advice={
        "verdict": "Follow two threads that wait at the same time, for different things. Who is woken, what is true when it has "
        "the lock again, and does it look?"
    },
    hints=(
        "For each `wait`: what may have happened between the notification and the moment at which the thread has the lock again?",
        "For each `notify`: which threads may wait there, and for what? For each `append` and `popleft`: was the lock held all the "
        "time since somebody looked?",
        "Play bound 1 with two producers and two consumers on paper. One item is put, then taken: write down after each step who "
        "waits where. One of the four has two waiting rooms: who sleeps in which?",
    ),
)

# 02-prefetch -------------------------------------------------------------------------------------------------


def feed_batches(prefetch, batches, bound, bad):
    """Consume what `prefetch` loads. `load(k)` gives batches[k]; it raises OSError for k = bad. AN_ERROR among the batches
    stands for an exception object, which is a batch like any other."""
    events, home, at_home, got, error = Events(), threading.get_ident(), 0, [], None
    kept = OSError("this was a batch")

    def load(k):
        nonlocal at_home
        at_home += threading.get_ident() == home
        if k == bad:
            raise OSError(f"batch {k} cannot be read")
        events.enter("in_memory")
        return kept if batches[k] == AN_ERROR else batches[k]

    try:
        for batch in prefetch(range(len(batches)), load, bound):
            time.sleep(0)  # the consumer computes
            got.append(AN_ERROR if batch is kept else batch)
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
            "The consumer's own thread called `load`, so nothing is loaded while it computes.",
            f"{result['at_home']} calls by the consumer's own thread",
        )
    if bad is not None and result["error"] is None:
        return Slip(
            "error-lost",
            f"OSError: batch {bad} cannot be read, raised where the batches are used",
            "The loader failed and the consumer never heard of it: it takes the data set for shorter than it is. Catch the "
            "error in the loader, hand it over like a batch, and raise it on the other side.",
            f"no error; the batches {short(result['got'])}",
        )
    if bad is None and result["error"] is not None:
        got = f"it was raised: OSError: {result['error']}"
        return Slip("batch-raised", f"the batches {expected}, in this order", BATCH_RAISED, got)
    if result["got"] != expected:
        more = len(result["got"]) - len(expected)
        cause = PREFETCH_SHORT if more < 0 else PREFETCH_LONG if more else PREFETCH_ORDER
        return Slip(
            "wrong-result", f"the batches {expected}, in this order", cause, f"the batches {short(result['got'])}"
        )
    return None


AN_ERROR = "an OSError object"
BATCH_RAISED = (
    "A batch was raised as if loading had failed. A batch may be anything, an exception object too, so what it is does not "
    "tell whether loading failed: hand over with each thing which of the two it is, as in `(kind, thing)`."
)
PREFETCH_ORDER = "The batches came in another order. One loader and one queue keep the order by themselves."
PREFETCH_LONG = (
    "There are more batches than items: something is handed over twice, or the sign of the end is yielded, too."
)
PREFETCH_SHORT = (
    "The consumer stopped too early. Does it look at something else than the queue (a flag, a list, `is_alive`)? "
    "Batches are missing. Two usual reasons: a batch was taken for the sign of the end (a batch may be None, 0 or empty: the "
    "sign must be an object of your own), or what was loaded before an error is thrown away."
)


def loading(n, bound, bad=None, odd=()):
    def make(rng):
        batches = [int(x) for x in rng.permutation(90)[:n]]
        batches[1 : 1 + len(odd)] = odd
        return batches, bound, bad

    return make


PREFETCH = ThreadTask(
    id="02-prefetch",
    section=Section("2.3", "02_queues", "When loading fails"),
    title="A prefetcher that does not lose errors",
    objective="Overlap loading with computing by a bounded queue; keep order, bound and errors",
    points=7,
    minutes=35,
    scenario=feed_batches,
    schedules=150,
    judge=judge_batches,
    cases=(
        Case("three batches, bound 1", loading(3, 1)),
        Case("no batch at all", loading(0, 2)),
        Case("batches that are None and 0", loading(4, 2, odd=(None, 0))),
        Case("a batch that is an exception object", loading(3, 1, odd=(AN_ERROR,))),
        Case("batch 2 of 4 cannot be read", loading(4, 1, bad=2)),
    ),
    partial={"three batches, bound 1": 1, "batch 2 of 4 cannot be read": 3},
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
        "Put pairs into the queue: `(kind, thing)`, with the kinds batch, end and error. The loader's loop stands in `try`; "
        "`except Exception as error` puts the error.",
        "The consumer gets `kind, thing` in a `while True`. `return`, `raise`, `yield`: which of them for which kind? And what "
        "must `queue.Queue` be told, so that `put` waits?",
    ),
)

# 02-shards, the second part of 02-prefetch -----------------------------------------------------------------------


def feed_shards(interleave, lengths, bound, bad, stop, odd=None):
    """Consume what `interleave` makes of shards of these lengths. Batch b of shard s is the number 10 s + b, so that the first
    one is 0; `bad`: [s, b] of the one that cannot be read; `stop`: so many batches are taken, then the consumer closes the
    generator; `odd`: the number of a batch in whose place an exception object is handed over, a batch like any other."""
    events, at_home, home, two_at_once, got, error = Events(), 0, threading.get_ident(), [], [], None
    before, kept = threading.active_count(), OSError("this was a batch")

    def shard(s):
        nonlocal at_home
        for b in range(lengths[s]):
            at_home += threading.get_ident() == home
            if [s, b] == bad:
                raise OSError(f"batch {b} of shard {s} cannot be read")
            events.enter("in_memory")
            yield kept if 10 * s + b == odd else 10 * s + b

    batches = interleave([shard(s) for s in range(len(lengths))], bound)
    try:
        while stop is None or len(got) < stop:
            batch = next(batches, None)
            if batch is None:
                break
            got.append(odd if batch is kept else batch)
            events.leave("in_memory")
        batches.close()
    except OSError as raised:
        error = str(raised)
    except ValueError as raised:  # "generator already executing"
        two_at_once.append(str(raised))
    left = threading.active_count() - before
    loaded = events.counts().get("in_memory", 0)
    return {
        "got": got, "error": error, "at_home": at_home, "left": left, "two_at_once": len(two_at_once), "loaded": loaded
    }  # fmt: skip


def in_turns(lengths, bad=None):
    """The batches in the order asked for, up to the one that cannot be read."""
    order = [[s, b] for b in range(max(lengths, default=0)) for s in range(len(lengths)) if b < lengths[s]]
    return [10 * s + b for s, b in (order[: order.index(bad)] if bad else order)]


def judge_shards(arguments, result):
    lengths, bound, bad, stop, odd = arguments
    expected, most = in_turns(lengths, bad)[:stop], len(lengths) * (bound + 1) + 1
    if result["at_home"]:
        cause = "The consumer's own thread read a shard, so nothing is loaded while it computes."
        got = f"{result['at_home']} batches read by the consumer's own thread"
        return Slip("no-thread", "each shard read by a thread of its own", cause, got)
    if result["two_at_once"]:
        cause = "Two threads read one shard at the same time. A shard is a generator: one thread may be in it."
        return Slip("two-at-once", "one thread for each shard", cause, "ValueError: generator already executing")
    if odd is not None and result["error"] is not None:
        told = f"the batches {expected}, in this order; {odd} stands for the exception object"
        return Slip("batch-raised", told, BATCH_RAISED, f"it was raised: OSError: {result['error']}")
    if bad and stop is None and result["error"] is None:
        cause = "A shard failed, and the consumer never heard of it. Hand the error over in the place of the batch."
        return Slip(
            "error-lost",
            f"OSError: batch {bad[1]} of shard {bad[0]} cannot be read",
            cause,
            f"no error; {result['got']}",
        )
    if result["got"] != expected:
        told = f"the batches {expected}, in this order (10 s + b is batch b of shard s)"
        return Slip("wrong-result", told, SHARDS_ORDER, f"{result['got']}")
    if result["loaded"] > most:
        cause = "More batches are loaded than the bound allows. What makes a loader wait when `bound` of its batches lie ready?"
        told = f"at most {most} loaded batches at a time: {bound} ready and one in hand for each shard, one with the consumer"
        return Slip("over-bound", told, cause, f"{result['loaded']} at a time")
    if result["left"]:
        cause = (
            "Loaders are still there when the generator has ended: each keeps its file open and its batches in memory. Whoever "
            "waits in `put` is woken by somebody who takes; then it must learn that it is over, and `join` waits for its end."
        )
        return Slip("left-behind", "no loader left", cause, f"{result['left']} threads left")
    return None


SHARDS_ORDER = (
    "Shards take turns: one batch of each, in the order of the shards; a shard that has no more is left out. Which queue do you "
    "ask, whoever is faster? And how do you tell the end from a batch, which may be 0 or anything else?"
)


def sharded(*lengths, bound=1, bad=None, stop=None, odd=None):
    return lambda rng: (list(lengths), bound, bad, stop, odd)


SHARDS = ThreadTask(
    id="02-shards",
    section=Section("2.3", "02_queues", "Several loaders, in order, with an early stop"),
    title="Several loaders that end when the consumer stops",
    objective="Load from several sources at once, in a fixed order; end all loaders on an early stop or an error",
    after="02-prefetch",
    points=7,
    minutes=30,
    scenario=feed_shards,
    schedules=120,
    judge=judge_shards,
    cases=(
        Case("two shards of 2 batches", sharded(2, 2)),
        Case("shards of different lengths", sharded(1, 3, bound=2)),
        Case("one shard, the consumer stops after 1 of 5", sharded(5, stop=1)),
        Case("two shards, the consumer stops after 1 of 6", sharded(3, 3, stop=1)),
        Case("batch 0 of shard 1 cannot be read", sharded(4, 2, bad=[1, 0])),
        Case("batch 1 of shard 0 is an exception object", sharded(2, 1, odd=1)),
    ),
    partial={"two shards of 2 batches": 2, "two shards, the consumer stops after 1 of 6": 2},
    advice={
        "deadlock": "Somebody waits for ever. The consumer, for a batch that never comes: is each loader started, with its own shard "
        "and its own queue? Or, after an early stop, a loader in `put`, because nobody takes any more: make room before you wait "
        "for its end, and do it in a `finally`, as nothing else behind a `yield` runs then.",
        "raised-RuntimeError": "The shard's own error must come out where the batches are used: `raise error`.",
        "raised-OSError": "The error stayed in the loader's thread. Catch it there, and hand it over through the queue.",
        "raised-TypeError": "The check takes batches with `next(...)`: `interleave` must be a generator, which has a `yield`. If a line "
        "of yours is named, what stands in it is of another type than you think.",
        "busy-waiting": "A thread asks again and again. After the sign to stop, one look into each queue is enough: how many "
        "batches can a loader still put?",
    },
    hints=(
        "Who keeps the order if each shard has a queue of its own? And what runs when a generator is closed?",
        "A thread and a bounded queue for each shard; the consumer asks the queues in turn. In `finally`: set an `Event`, which each "
        "loader looks at after each `put`; take what lies in the queues, so that nobody waits in `put`; then `join`.",
        "The queues that are not at their end stand in a `deque`: take the first, `get` from it, `yield`, append it again. After the "
        "Event is set, a loader puts one thing more at most: is there room for it, once the queue was emptied?",
    ),
)

# 02-bug ------------------------------------------------------------------------------------------------------


def meet(Barrier, parties, rounds):
    """`parties` threads come to the barrier `rounds` times. Nobody may go on before all have come in this round."""
    barrier, came, early, lock = Barrier(parties), [0] * rounds, [], threading.Lock()

    def work():
        for k in range(rounds):
            with lock:
                came[k] += 1
            barrier.wait()
            if came[k] != parties:
                early.append([k, came[k]])

    threads = [threading.Thread(target=work) for _ in range(parties)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return min(early, default=None)


def judge_meet(arguments, result):
    parties, _ = arguments
    if result is None:
        return None
    k, came = result
    cause = (
        "A thread went on too early. After `wait`, does it look whether the round that it came for is over, or at something "
        "that belongs to another round?"
    )
    return Slip(
        "early",
        f"nobody goes on before all {parties} have come",
        cause,
        f"in round {k + 1} one went on when {came} had come",
    )


def coming(parties, rounds):
    return lambda rng: (parties, rounds)


BUG = ThreadTask(
    id="02-bug",
    section=Section("2.2", "02_waiting", "A condition"),
    title="Repair two bugs in a barrier",
    objective="Debug code with a condition from the interleaving that breaks it: a barrier that can be used again",
    points=5,
    minutes=20,
    scenario=meet,
    schedules=150,
    judge=judge_meet,
    without={"Barrier": "what stands inside it is what you build here"},
    cases=(
        Case("one thread, two rounds", coming(1, 2)),
        Case("two threads, one round", coming(2, 1)),
        Case("three threads, one round", coming(3, 1)),
        Case("two threads, two rounds", coming(2, 2)),
    ),
    advice={
        "deadlock": "Somebody waits at the barrier for ever. Does it open when exactly `parties` have come, also if that is one, and "
        "in each round anew? Then either nobody woke the others, or one was woken and waited again: with what does it compare, and what had that become by "
        "the time that it looked?",
        "busy-waiting": "A thread asks again and again instead of sleeping until all have come. That is what `wait` is for.",
        "endless": "A thread turns in a loop without waiting for anything. `wait` on the condition inside the loop.",
        "livelock": "A thread turns in a loop without waiting for anything. `wait` on the condition inside the loop.",
    },
    hints=(
        "Run the check on the code as it is. Who should have been woken, and was not? Then mend that, and run it again.",
        "How many threads wait when the last one comes? And can a thread be back at the barrier before another one has left it?",
        "A thread waits for the end of its own round. Number the rounds: who comes keeps the number that it found; the last one "
        "raises it. What must the loop compare then?",
    ),
)

TASKS = (
    *(GIL, MEAN, LOSE, LOCK, RACES, PREDICT, TALLY, MAP, GRAPH, HANG, STARVE, WAITS, FAILS, PLACES),
    *(BUFFER, BUFFERS, BUG, PREFETCH, SHARDS),
)
