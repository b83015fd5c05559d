"""02-tally: A lock that is taken less often."""

import threading

from ...definition import Budget, Case, Section, Slip
from ...events import Events, Played
from ...golf import Golf
from ...kinds.thread import ThreadTask


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
            "Nothing ever came into total[0], the list that all share. `self.total[0] += ...` changes it; `self.total "
            "= ...` only gives a name of yours to something else."
        )
        return Slip("nothing", f"a total of {expected}", cause, "a total of 0")
    if result["late"]:
        return Slip(
            "late",
            f"at most {slack} additions of a writer not yet in the total when `add` returns",
            "The total may lag behind, but not by so much. How many additions may wait in the object when `add` "
            "returns? Their number counts, whatever their values are.",
            f"{result['late']:g} additions of {writers} not yet in the total"
            if writers > 1
            else f"{result['late']:g} additions missing",
        )
    if result["total"] == expected:
        return None
    if abs(result["total"]) > abs(expected):
        cause = (
            "Something was added twice. Is what you keep back set to nothing once it is in the total? And does each "
            "Tally keep what is its own, in `self`?"
        )
        return Slip("twice", f"a total of {expected}", cause, f"a total of {result['total']}")
    if times <= slack or result["total"] % value == 0:
        cause = (
            "Additions are missing at the end: kept back and never added (`close`), or lost to another writer. "
            "Reading, adding and writing total[0] belong under the lock that you were given."
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
        over="The total is right, but the lock is taken too often. May an addition wait in the object, until there are "
        "several? `slack` is their number, whatever their values are.",
        case=Case("2 writers, 12 additions each, slack 3", telling(2, 12, 3)),
        golf=Golf(
            count="times the lock is taken",
            best=6,
            lead="How many additions may wait when `add` returns? Is there always something left to do for `close`?",
        ),
    ),
    advice={
        "raised-ZeroDivisionError": "With a slack of 0 nothing may wait: each addition goes into the total at once.",
        "lock-not-released": "A lock is still closed at the end. Use `with self.lock:`, which opens it on every way "
        "out.",
        "deadlock": "A writer waits for the lock, and nobody opens it. Does a method that has the lock call one that "
        "takes it?",
    },
    hints=(
        "What does a writer need the lock for: for its own sum, or for the total that all share?",
        "Keep two numbers of your own: what is not yet in the total, and how many additions that is. When must they go "
        "in?",
        "A method that moves your own sum into the total, under the lock, and sets it to nothing. `add` calls it once "
        "too many additions wait; `close` calls it when any are left.",
    ),
)
