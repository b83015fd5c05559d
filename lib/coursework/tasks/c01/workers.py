"""01-workers: The right number of workers."""

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask
from .shared import is_close, is_number


def _run(n, serial, parallel, starting, cores, pace, least_use, wrong=""):
    """(seconds, utilisation) with n workers. `wrong` leaves something out, as answers do."""
    slow = 1.0 if wrong == "straggler" or (n < cores and wrong != "always") else pace
    slow = 1.0 if n == 1 else 1 / slow if wrong == "faster" else slow
    share = parallel / n
    alone = serial + (0.0 if wrong == "starting" else starting * (n - 1))
    seconds = alone + share / slow
    busy = alone + share * (n - 1) + share / slow
    busy = n * seconds - (n - 1) * alone if wrong == "waiting" else busy
    if wrong == "mean pace":
        seconds = alone + parallel / (n - 1 + slow) if n == cores else seconds
    return seconds, busy / (n * seconds)


def best_number(serial, parallel, starting, cores, pace, least_use, wrong=""):
    """(workers, seconds): the fastest number of workers of those that use the cores well enough."""
    arguments = serial, parallel, starting, cores, pace, least_use
    runs = {n: _run(n, *arguments, wrong=wrong) for n in range(1, cores + 1)}
    allowed = [n for n, (_, use) in runs.items() if use >= least_use or wrong == "use"]
    n = min(allowed, key=lambda n: runs[n][0])
    return n, runs[n][0]


WORKERS_WRONG = {
    "straggler": "One of the cores is slow. With all cores, the last worker is on it, and everybody waits for that "
    "worker.",
    "always": "The slow core is taken last: with fewer workers than cores, nobody is on it.",
    "starting": "Each worker beyond the first has to be started, one after the other. That time is serial, too.",
    "waiting": "Its utilisation is too low: workers that are done wait for the one on the slow core, and who waits "
    "does not work.",
    "use": "This is the fastest number, but its utilisation is below what is asked for. While the first worker works "
    "alone, and while it starts the others, these do not work.",
    "faster": "On the slow core a share takes longer: share / pace.",
    "mean pace": "The shares are equal, and nobody takes over what the slow worker has left: it needs share / pace.",
}


def judge_workers(arguments, result):
    """(workers, seconds) as best_number has it."""
    n, least = best_number(*arguments)
    expected = f"({n}, {least:.6g})"
    if not isinstance(result, list | tuple) or len(result) != 2 or not all(is_number(x) for x in result):
        cause = "Return two numbers: how many workers, and the seconds with so many."
        return Slip("type", expected, f"{cause} One worker is always allowed." if n == 1 else cause)
    said, seconds = result
    if type(said) is not int or not 1 <= said <= arguments[3]:
        cause = "The number of workers is a whole number from 1 to `cores`, and comes first; the seconds come second."
        return Slip("count", expected, cause)
    if is_close(seconds, least):  # of several that are as fast, and allowed, any is right
        took, use = _run(said, *arguments)
        if said == n or (is_close(took, least) and use >= arguments[5]):
            return None
    for wrong, cause in WORKERS_WRONG.items():
        mistaken = best_number(*arguments, wrong=wrong)
        if said == mistaken[0] and is_close(seconds, mistaken[1]):
            use = _run(said, *arguments)[1]
            got = f"({said}, {seconds:.6g}), utilisation {use:.3f}" if wrong in ("waiting", "use") else ""
            return Slip(wrong.replace(" ", "-"), expected, cause, got)
    right, use = _run(said, *arguments)
    if not is_close(seconds, right):
        cause = (
            "serial, then starting for each worker beyond the first, then the share of the slowest worker: add up "
            "these three."
        )
        return Slip("seconds", expected, cause, f"({said}, {seconds:.6g}); with {said} workers it takes {right:.6g}")
    if use < arguments[5]:
        cause = (
            "Utilisation: the seconds in which workers work, added up, over workers * seconds. Who is ready waits for "
            "the slowest."
        )
        return Slip("use", expected, cause, f"({said}, {seconds:.6g}), utilisation {use:.3f}")
    cause = (
        "The seconds are right for this number. Another one is allowed, and faster. Do you try all numbers from 1 to "
        "`cores`, the "
    )
    return Slip("not-best", expected, f"{cause}last one too, and compare their seconds?")


WORKERS = FunctionTask(
    id="01-workers",
    section=Section("1.3", "01_scaling", "More threads, or the right number?"),
    title="The right number of workers",
    objective="Choose a number of workers by time and by utilisation, where one core is slow",
    points=5,
    minutes=20,
    judge=judge_workers,
    cases=(
        Case("nothing is serial, no core is slow", lambda rng: (0.0, 12.0, 0.0, 4, 1.0, 0.5)),
        Case("the last core is slow", lambda rng: (1.0, 12.0, 0.0, 4, 0.25, 0.5)),
        Case("starting costs more than it gains", lambda rng: (0.5, 10.0, 0.5, 8, 1.0, 0.1)),
        Case("the fastest number is used badly", lambda rng: (2.0, 6.0, 0.1, 8, 0.9, 0.7)),
        Case("a slow core that is worth it", lambda rng: (0.0, 12.0, 0.0, 2, 0.8, 0.5)),
        Case("nearly all is serial", lambda rng: (9.0, 1.0, 0.0, 4, 1.0, 0.9)),
        Case("who waits for the slow core does not work", lambda rng: (0.0, 12.0, 0.0, 3, 0.7, 0.95)),
    ),
    hints=(
        "Go through all numbers of workers. What are the three parts of the time, one after the other?",
        "First serial alone; then the starts of all workers but one; then the share of the slowest worker, which is as "
        "long as any other's, or longer where all cores are taken. For the utilisation, add up how long each worker "
        "really works.",
        "What is busy at n workers: the first two parts, n - 1 shares, and the share of the last worker as long as it "
        "takes. How much could n workers have done in that time? Among the n that are used well enough, which takes "
        "the fewest seconds?",
    ),
)
