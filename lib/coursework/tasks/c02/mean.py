"""02-mean: A mean that several threads feed."""

import threading

from ...checking import short
from ...definition import Case, Section, Slip
from ...kinds.thread import ThreadTask


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
            "One thread alone, so nothing was lost between threads. Does each Mean have numbers of its own, set to 0 "
            "in `__init__`, and does `add` count one and add the value once?"
        )
        return Slip("counted", f"(count, total) = {tuple(expected)} at the end", cause, got)
    if refused and result["end"] == [expected[0] + 1, expected[1]]:
        return Slip(
            "half-added",
            f"(count, total) = {tuple(expected)}: what cannot be added is not counted",
            "The value that cannot be added was counted: `count` had changed before the addition raised its error. Do "
            "first what may fail.",
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
        "Both lines of add stand under `with self.lock:`. Only one of them can raise an error: which must come first, "
        "so that nothing has changed then? And what of read must stand under the lock?",
    ),
)
