"""02-gil: What runs at the same time?"""

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question


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
            "milliseconds until two threads are done, each with 1 ms of Python, 4 ms in NumPy without the GIL, 1 ms of "
            "Python",
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
        "python: nothing overlaps. mixed: how far must the second row be shifted? pays: from which w on is 50 + w / 2 "
        "below w?",
    ),
)
