"""02-places, the second part of 02-fails: Mend it: all places at once, or none."""

import threading

from ...definition import Case, Section, Slip
from ...events import Events, told
from ...kinds.thread import ThreadTask


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
        cause = (
            "Jobs worked that had not found their places. `take` must wait until all `n` are free, look again after "
            "each wait, and "
        )
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
        "deadlock": "Jobs wait, and nobody gives. Usual reasons: `take` keeps or takes off places before it has "
        "waited; whoever gives wakes one waiter, where several may go on; jobs that fit beside each other are kept "
        "apart, or `n` free places are not taken for enough.",
        "busy-waiting": "`take` asks again and again instead of sleeping until places come back. That is what `wait` "
        "is for.",
        "endless": "A thread turns in a loop without waiting for anything. `wait` on the condition inside the loop.",
        "livelock": "Threads take and give back again and again. Take all places at once, when they are free.",
    },
    without={"timeout": "a wait that ends by itself is polling: the right notify makes it needless"},
    hints=(
        "What must be true before a job may take its n places? And may it touch any of them before?",
        "A `Condition` and a number of free places. `take` waits while fewer than n are free; `give` makes more free, "
        "and several jobs may be able to go on then.",
        "In `take`, the loop that waits compares the free places with n, and stands before the only subtraction. In "
        "`give`, one addition; who has to look again after it?",
    ),
)
