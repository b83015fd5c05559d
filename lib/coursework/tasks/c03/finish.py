"""03-finish: Simulate a dynamic schedule."""

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask
from .shared import PREDICT_ROWS, is_whole, makespan, static_makespan


def _round_robin(costs, threads, chunk):
    free = [0] * threads
    for turn, first in enumerate(range(0, len(costs), chunk)):
        free[turn % threads] += sum(costs[first : first + chunk])
    return max(free)


def _ends(parts, threads):
    """When each thread ends, the first one first, if `parts` are handed out to whoever is free."""
    free = [0] * threads
    for part in parts:
        free[0] += sum(part)
        free.sort()
    return free


def judge_finish(arguments, result):
    costs, threads, chunk = arguments
    expected = makespan(costs, threads, chunk)
    if not is_whole(result):
        return Slip("type", f"{expected}, a whole number", "Return the time at which the last thread ends.")
    if result == expected:
        return None
    # The most telling explanation that fits comes first.
    perfect, largest_first = -(-sum(costs) // threads), makespan(sorted(costs, reverse=True), threads, chunk)
    overlapping = makespan(costs, threads, chunk, step=1)
    parts = [costs[first : first + chunk] for first in range(0, len(costs), chunk)]
    slips = (
        (
            "one-thread",
            sum(costs),
            "This is all the work, one after the other, as if there were one thread"
            + (", or as if the chunks overlapped." if overlapping == sum(costs) else "."),
        ),
        ("overlapping", overlapping, "The chunks overlap: the next one begins `chunk` further."),
        (
            "static",
            static_makespan(costs, threads),
            "This is the static schedule: parts fixed in advance. Here the thread that is free first takes the next "
            "chunk.",
        ),
        (
            "in-turns",
            _round_robin(costs, threads, chunk),
            "This hands out chunks in turns. A thread that is still busy must not get one: who is free first?",
        ),
        (
            "single",
            makespan(costs, threads, 1),
            "This is the result for chunks of 1: a thread takes `chunk` iterations at once.",
        ),
        (
            "tail",
            makespan(costs[: len(costs) // chunk * chunk], threads, chunk),
            "The last chunk, which may be shorter, was left out.",
        ),
        (
            "long-slice",
            makespan(costs, threads, chunk + 1, step=chunk),
            "Each chunk has an iteration too many: a slice [first : first + chunk] ends before first + chunk.",
        ),
        (
            "ideal",
            perfect,
            "This is all work divided by the threads, as if iterations could be split"
            + (", or as if they were sorted: they come in the order of the list." if perfect == largest_first else "."),
        ),
        ("sorted", largest_first, "The iterations come in the order of the list: do not sort."),
        (
            "sorted",
            makespan(sorted(costs), threads, chunk),
            "The iterations come in the order of the list: do not sort.",
        ),
        ("first-end", _ends(parts, threads)[0], "This is when the first thread ends. The last one is asked for."),
        (
            "largest-only",
            _ends([[max(part)] for part in parts], threads)[-1],
            "A thread does all iterations of its chunk, one after the other: their sum.",
        ),
        (
            "rounds",
            sum(max(map(sum, parts[k : k + threads])) for k in range(0, len(parts), threads)),
            "Here all threads wait for each other before the next chunks. A thread that is free takes the next one at "
            "once.",
        ),
        ("two-threads", _ends(parts, 2)[-1], "This is the result for 2 threads. `threads` says how many there are."),
    )
    for kind, value, cause in slips:
        if result == value:
            return Slip(kind, str(expected), cause)
    cause = (
        "Only the arguments decide. Play it with paper: a clock for each thread; the earliest clock takes the next "
        "chunk and moves on by its cost."
    )
    return Slip("other", str(expected), cause)


def cost_arguments(n, threads, chunk, highest=20):
    return lambda rng: ([int(c) for c in rng.integers(1, highest, n)], threads, chunk)


FINISH = FunctionTask(
    id="03-finish",
    section=Section("3.2", "03_schedules", "Dynamic: a shared counter"),
    title="Simulate a dynamic schedule",
    objective="Compute when a dynamic schedule ends, and choose a chunk size with it",
    points=4,
    minutes=15,
    judge=judge_finish,
    cases=(
        Case("8 causal rows, 2 threads, chunks of 2", lambda rng: (list(PREDICT_ROWS), 2, 2)),
        Case("a long iteration first", lambda rng: ([30, 1, 2, 3, 4, 5, 6, 7], 3, 1)),
        Case("a shorter chunk at the end", lambda rng: ([5, 1, 4, 2, 3, 9, 8], 2, 3)),
        Case("more threads than iterations", lambda rng: ([4, 7], 4, 1)),
        Case("40 random costs", cost_arguments(40, 3, 4)),
    ),
    hints=(
        "What does the scheduler need to know to hand out the next chunk? Who gets it?",
        "Keep a list with the time at which each thread is free, all 0 at first. Go through the chunks in order; the "
        "thread with the smallest time gets the chunk, and its time grows by the sum of the costs.",
        "`free` has one time for each thread. Which thread comes next, and what is added to its time? The last chunk "
        "may be short. And when is all work done?",
    ),
)
