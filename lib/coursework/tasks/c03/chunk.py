"""03-chunk: Choose the chunk size."""

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask
from .shared import is_whole, makespan


def visited_makespan(costs, threads, chunk, visit):
    """As `makespan`, where a visit to the counter takes `visit`, and only one thread can be there at a time."""
    free, counter = [0] * threads, 0
    for first in range(0, len(costs), chunk):
        t = free.index(min(free))
        counter = max(free[t], counter) + visit
        free[t] = counter + sum(costs[first : first + chunk])
    return max(free)


def best_chunk(costs, threads, visit):
    """The specification of 03-chunk: the smallest of the chunk sizes that end first."""
    return min(range(1, len(costs) + 1), key=lambda chunk: visited_makespan(costs, threads, chunk, visit))


def _misplayed(costs, threads, chunk, visit, wrong):
    """A wrong time, as simulations have it: every thread visits the counter as if it were "alone"; it is "held" while
    its chunk is computed; threads come by "turns"; the "first" thread that is free ends the loop."""
    free, counter = [0] * threads, 0
    for number, first in enumerate(range(0, len(costs), chunk)):
        t = number % threads if wrong == "turns" else free.index(min(free))
        visited = (free[t] if wrong == "alone" else max(free[t], counter)) + visit
        free[t] = visited + sum(costs[first : first + chunk])
        counter = free[t] if wrong == "held" else visited
    return min(free) if wrong == "first" else max(free)


def judge_chunk(arguments, result):
    costs, threads, visit = arguments
    sizes = range(1, len(costs) + 1)
    best = best_chunk(*arguments)
    least = visited_makespan(costs, threads, best, visit)
    expected = f"a chunk size that ends at {least}"
    if not is_whole(result) or result not in sizes:
        return Slip("type", f"a whole number from 1 to {len(costs)}", "Return the number of iterations in a chunk.")
    if result == best:
        return None
    ends = visited_makespan(costs, threads, int(result), visit)
    got = f"{result}, which ends at {ends}"
    if ends == least:
        return Slip(
            "tie", expected, "A smaller chunk size ends at the same time: of equal ones return the smallest.", got
        )
    slips = (
        ("free", lambda k: makespan(costs, threads, k), "This is best if a visit costs nothing."),
        (
            "no-queue",
            lambda k: _misplayed(costs, threads, k, visit, "alone"),
            "This is best if threads never wait for each other at the counter. Only one can be there at a time: its "
            "visit begins when it is free AND the counter is.",
        ),
        (
            "turns",
            lambda k: _misplayed(costs, threads, k, visit, "turns"),
            "This is best if the threads come one after the other, by turns. The one that is free first comes first.",
        ),
        (
            "held",
            lambda k: _misplayed(costs, threads, k, visit, "held"),
            "This is best if a thread keeps the counter while it computes. The counter is free again after the visit.",
        ),
        (
            "first-end",
            lambda k: _misplayed(costs, threads, k, visit, "first"),
            "This is best for the thread that is done first. The loop ends when the last one is done.",
        ),
    )
    matching = [(kind, cause) for kind, ends_at, cause in slips if result == min(sizes, key=ends_at)]
    if matching:
        return Slip(matching[0][0], expected, " Or: ".join(cause for _, cause in matching[:2]), got)
    if result == -(-len(costs) // threads):
        return Slip("static", expected, "One chunk for each thread: the visits are few, but who ends last?", got)
    if result == 1:
        cause = (
            "Chunks of 1 balance best, and visit the counter most often. Is every size tried (is the `return` behind "
            "the loop), and does each begin with free threads and a free counter?"
        )
        return Slip("ones", expected, cause, got)
    cause = (
        "Play this size with paper: the thread that is free first waits for the counter, visits it, and then computes "
        "its chunk. "
    )
    cause += "The loop ends when the last thread does. Do you try all sizes, the last one too?"
    return Slip("other", expected, cause, got)


def triangle_visits(n, threads, visit):
    return lambda rng: (list(range(1, n + 1)), threads, visit)


def random_visits(n, threads, visit, highest=40):
    return lambda rng: ([int(c) for c in rng.integers(1, highest, n)], threads, visit)


def _one_long(rng):
    """Whoever has the first iteration comes to the counter no more: by turns it would still get every second chunk."""
    return [60, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], 2, 1


CHUNK = FunctionTask(
    id="03-chunk",
    after="03-finish",
    section=Section("3.2", "03_schedules", "How large a chunk?"),
    title="Choose the chunk size",
    objective="Choose a chunk size for given costs, with visits to the counter that cost time and exclude each other",
    points=3,
    minutes=12,
    judge=judge_chunk,
    cases=(
        Case("12 causal rows, 2 threads, a visit costs 3", triangle_visits(12, 2, 3)),
        Case("100 causal rows, 4 threads, a visit costs 20", triangle_visits(100, 4, 20)),
        Case("150 causal rows, 8 threads, a visit costs 35", triangle_visits(150, 8, 35)),
        Case("6 equal rows, 2 threads, free visits", lambda rng: ([3] * 6, 2, 0)),
        Case("90 random costs, 3 threads, a visit costs 10", random_visits(90, 3, 10)),
        Case("more threads than iterations", lambda rng: ([4, 7], 4, 1)),
        Case("a visit costs more than all the work", lambda rng: ([1, 2, 3, 4, 5], 2, 50)),
        Case("one iteration is longer than all others", _one_long),
    ),
    advice={"raised-ValueError": "The smallest chunk has one iteration: begin with the size 1."},
    hints=(
        "What changes in your simulation when a visit takes time? And what when two threads come at once?",
        "Besides the times at which the threads are free, keep the time at which the counter is free. A visit begins "
        "at the later of the two. Then try all sizes.",
        "A visit begins when both are free, the thread and the counter, and keeps the counter busy as long as it "
        "lasts; only then does the chunk's work begin. Go through the sizes from 1 on, and keep a size only if it ends "
        "earlier than the best before it.",
    ),
)
