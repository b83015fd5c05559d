"""Other numbers for the predictions of chapter 02."""

from ..tasks.c02.waits import HIGH_COMES, JOB, JOBS_CAME, MIDDLE_COMES, blocking_pays, high_waits, served, worst_of_both
from . import Asked, Variants


def gil(python, before, inside, after, handing_over):
    job, shifted = before + inside + after, 2 * before + inside
    return {
        "python": Asked(
            f"milliseconds until two threads are done, each with {python} ms of pure Python",
            2 * python,
            {
                python: "That would be two threads that run at once. Pure Python needs the GIL all the time.",
                python / 2: "Both jobs have to be done, not one of them divided.",
            },
            "The GIL lets one of the two run Python at a time.",
        ),
        "mixed": Asked(
            f"milliseconds until two threads are done, each with {before} ms of Python, {inside} ms in NumPy without "
            f"the GIL, {after} ms of Python",
            max(shifted, job) + after,  # the second thread's last piece waits for its NumPy, and for the first thread
            {
                2 * job: "That is one after the other. While one of them is in NumPy, the GIL is free.",
                job: "Both begin with Python. Who has the GIL first, and what does the other one do meanwhile?",
                shifted + 2 * after: (
                    f"The second thread's {inside} ms in NumPy begin as soon as its first piece of Python is done: "
                    f"after {2 * before} ms."
                ),
            },
            "Draw a row for each thread and a column for each millisecond. In no column do both run Python.",
        ),
        "pays": Asked(
            "the least work in whole microseconds that is done sooner by two threads, if handing over costs "
            f"{handing_over}",
            2 * handing_over + 1,
            {
                handing_over: f"With {handing_over} of work, handing over alone takes as long as the whole work.",
                handing_over + 1: (
                    f"Half of the work remains after handing over: {handing_over} + {(handing_over + 1) / 2} is more "
                    f"than {handing_over + 1}."
                ),
                2 * handing_over: (
                    f"With {2 * handing_over}, both take the same time: {handing_over} + {handing_over}."
                ),
                2 * handing_over + 2: "A little less is enough. Microseconds can be halved.",
            },
            f"One thread needs w, two need {handing_over} + w / 2.",
        ),
    }


def _ranks(ranks):
    return tuple(int(rank) for rank in ranks.split())


def waits(sleep, wake, ranks, ageing, hold, middle):
    blocking, rank_of = sleep + wake, _ranks(ranks)
    return {
        "pays": Asked(
            "nanoseconds of the shortest wait for which blocking takes no more processor time than spinning",
            blocking_pays(blocking),
            {
                sleep: "That pays for going to sleep. The thread must be woken as well.",
                wake: "That pays for being woken. The thread must go to sleep first.",
                2 * blocking: "At that wait, spinning takes twice what blocking takes.",
            },
            "Spinning takes as long as the wait. Blocking takes the same for every wait: how much?",
        ),
        "worst": Asked(
            "nanoseconds of processor time, at most, if it spins for so long first, and then blocks",
            worst_of_both(blocking),
            {blocking: "So much it takes if the lock is free just before the spinning ends. And just after?"},
            "When is the lock given back in the worst case? All the spinning was for nothing then, and what comes on "
            "top?",
        ),
        "order": Asked(
            "the order of the four jobs, as one number of four digits",
            served(JOBS_CAME, rank_of, JOB, ageing),
            {
                served(
                    JOBS_CAME, rank_of, JOB, 0
                ): "That is the order without ageing. What has each of them waited by the time that the core is free?",
                1234: "That is first come, first served. Who has the lower rank at 10 ms, job 2 or job 3?",
            },
            "At 0, 10, 20 and 30 ms the core is free: which jobs are there, and what is the rank of each after its "
            "wait?",
        ),
        "inverted": Asked(
            "milliseconds that the high thread waits for the lock, without inheritance",
            high_waits(hold, middle, inherits=False),
            {
                hold
                - HIGH_COMES: "So long it would wait if the low thread could go on. Who has the core from 2 ms on?",
                middle: "The low thread must also do what is left of its own work, before it opens the lock.",
                hold
                + middle: "That is the moment at which the lock is opened. The high thread has waited from 1 ms on.",
                hold
                + middle
                - MIDDLE_COMES: "That is from the moment on at which the middle thread comes. The high one waits "
                "already.",
            },
            "A row for the core, a column for each millisecond: L, M or H? When is the last L over?",
        ),
        "inherited": Asked(
            "milliseconds that the high thread waits for the lock, with inheritance",
            high_waits(hold, middle, inherits=True),
            {
                hold: "So long the low thread holds the lock. The high one came later.",
                hold + middle - HIGH_COMES: "That is without inheritance. Whom does the low thread go before now?",
            },
            "From when on does the low thread have the rank of the high one, and what is left of its work then?",
        ),
    }


def _ageing_decides(ranks, ageing, **others):
    """Whether the order is neither that of the ranks alone, nor that in which the jobs came; and no two are equal in
    rank."""
    rank_of = _ranks(ranks)
    aged = [
        [r - ageing * (now - c) for r, c in zip(rank_of, JOBS_CAME, strict=True) if c <= now] for now in (10, 20, 30)
    ]
    order = served(JOBS_CAME, rank_of, JOB, ageing)
    return all(len(set(aged_ranks)) == len(aged_ranks) for aged_ranks in aged) and order not in (
        1234,
        served(JOBS_CAME, rank_of, JOB, 0),
    )


VARIANTS = {
    "02-gil": Variants(
        {"python": 6, "before": 1, "inside": 4, "after": 1, "handing_over": 50},
        {
            "python": (5, 6, 7, 8, 9),
            "before": (1, 2),
            "inside": (4, 5, 6, 7),
            "after": (1, 2),
            "handing_over": (20, 30, 40, 50, 60, 80),
        },
        "`python`: a job is {python} ms of pure Python. `mixed`: a job is {before} ms of Python, {inside} ms in NumPy, "
        "then {after} ms of Python. `pays`: handing over costs {handing_over} microseconds.",
        gil,
    ),
    "02-waits": Variants(
        {"sleep": 1500, "wake": 4500, "ranks": "5 6 2 1", "ageing": 0.5, "hold": 4, "middle": 20},
        {
            "sleep": (1000, 1500, 2000),
            "wake": (3000, 4500, 5500),
            "ranks": ("5 6 2 1", "4 8 7 1", "5 8 6 2", "6 5 2 4", "8 9 2 1"),
            "ageing": (0.25, 0.5, 1.0),
            "hold": (4, 5, 6),
            "middle": (15, 20, 30),
        },
        "going to sleep costs {sleep} ns, being woken {wake} ns. The jobs 1 to 4 have the ranks {ranks}, and a rank "
        "falls by {ageing} for each millisecond. The low thread works for {hold} ms under its lock, the middle one for "
        "{middle} ms.",
        waits,
        _ageing_decides,
    ),
}
