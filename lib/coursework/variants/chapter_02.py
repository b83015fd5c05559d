"""Other numbers for the predictions of chapter 02."""

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
            f"milliseconds until two threads are done, each with {before} ms of Python, {inside} ms in NumPy without the GIL, {after} ms "
            "of Python",
            max(shifted, job) + after,  # the second thread's last piece waits for its NumPy, and for the first thread
            {
                2 * job: "That is one after the other. While one of them is in NumPy, the GIL is free.",
                job: "Both begin with Python. Who has the GIL first, and what does the other one do meanwhile?",
                shifted + 2 * after: (
                    f"The second thread's {inside} ms in NumPy begin as soon as its first piece of Python is done: after {2 * before} ms."
                ),
            },
            "Draw a row for each thread and a column for each millisecond. In no column do both run Python.",
        ),
        "pays": Asked(
            f"the least work in whole microseconds that is done sooner by two threads, if handing over costs {handing_over}",
            2 * handing_over + 1,
            {
                handing_over: f"With {handing_over} of work, handing over alone takes as long as the whole work.",
                handing_over + 1: (
                    f"Half of the work remains after handing over: {handing_over} + {(handing_over + 1) / 2} is more than "
                    f"{handing_over + 1}."
                ),
                2 * handing_over: (
                    f"With {2 * handing_over}, both take the same time: {handing_over} + {handing_over}."
                ),
                2 * handing_over + 2: "A little less is enough. Microseconds can be halved.",
            },
            f"One thread needs w, two need {handing_over} + w / 2.",
        ),
    }


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
        "`python`: a job is {python} ms of pure Python. `mixed`: a job is {before} ms of Python, {inside} ms in NumPy, then {after} ms of "
        "Python. `pays`: handing over costs {handing_over} microseconds.",
        gil,
    )
}
