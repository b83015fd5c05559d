"""02-waits: Who waits, and how."""

import itertools

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question

SLEEP, WAKE = 1500, 4500  # nanoseconds of processor time: to go to sleep, to be woken
JOBS_CAME, RANKS, JOB, AGEING = (0, 2, 8, 15), (5, 6, 2, 1), 10, 0.5  # milliseconds; rank points for one of them
HOLD, HIGH_COMES, MIDDLE_COMES, MIDDLE = 4, 1, 2, 20  # milliseconds


def processor_time(wait, spins, blocking):
    """What a wait of `wait` ns takes, if a thread spins for `spins` ns at most, and then blocks, which costs
    `blocking`."""
    return wait if wait < spins else spins + blocking


def blocking_pays(blocking):
    """The least wait in ns that takes no more processor time if the thread blocks at once: by trying."""
    return next(w for w in itertools.count(1) if processor_time(w, 0, blocking) <= processor_time(w, w + 1, blocking))


def worst_of_both(blocking):
    """The most processor time if the thread spins until blocking at once would have paid, and then blocks: by
    trying."""
    spins = blocking_pays(blocking)
    return max(processor_time(wait, spins, blocking) for wait in range(2 * spins))


def served(came, ranks, job, ageing):
    """The numbers of the jobs, from 1, in the order in which one core does them, written as one number."""
    left, now, order = list(range(len(came))), 0, ""
    while left:
        there = [k for k in left if came[k] <= now]
        chosen = min(there, key=lambda k: ranks[k] - ageing * (now - came[k]))
        left.remove(chosen)
        order += str(chosen + 1)
        now += job
    return int(order)


def high_waits(hold, middle, inherits, high_comes=HIGH_COMES, middle_comes=MIDDLE_COMES):
    """Milliseconds that the most urgent of three threads waits for the lock that the least urgent one holds from 0 on,
    for `hold` ms of its own work. One core, and of those that can go on the most urgent one runs."""
    now, low, middle_left = 0, hold, middle
    while low:
        # the most urgent one has nothing to do but to wait; while the holder inherits its rank, it goes before the
        # middle one
        if now >= middle_comes and middle_left and not (inherits and now >= high_comes):
            middle_left -= 1
        else:
            low -= 1
        now += 1
    return now - high_comes


WAITS = PredictionTask(
    id="02-waits",
    section=Section("2.2", "02_waiting", "Spin, or go to sleep"),
    title="Who waits, and how",
    objective="Predict when blocking costs less than spinning, whom ageing serves first, and how long an inverted "
    "priority waits",
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
            "When is the lock given back in the worst case? All the spinning was for nothing then, and what comes on "
            "top?",
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
            "At 0, 10, 20 and 30 ms the core is free: which jobs are there, and what is the rank of each after its "
            "wait?",
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
                - MIDDLE_COMES: "That is from the moment on at which the middle thread comes. The high one waits "
                "already.",
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
        "What does each way of waiting cost, and does that depend on how long the wait is? Who has the core in each "
        "millisecond?",
        "pays: two costs add up. worst: the lock is given back at the most unlucky moment. order: take half a point "
        "off each rank for every millisecond of waiting. inverted: the low thread needs the core to open the lock.",
        "worst: all of the spinning, and all of the blocking. order: at 10 ms job 2 has waited 8 ms, so its rank is 6 "
        "- 4; job 3 has waited 2 ms. inverted: draw LL, then all of M, then what is left of L. inherited: how many L "
        "come before any M?",
    ),
)
