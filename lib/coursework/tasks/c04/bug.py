"""04-bug: Repair a loop that loses elements, and stop its threads from sharing lines."""

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.parallel import ParallelTask, Watch
from .shared import as_float64


def square_arguments(n):
    return lambda rng: (random_values(rng, n), unwritten(n))


BUG = ParallelTask(
    id="04-bug",
    section=Section("4.3", "04_sharing", "False sharing"),
    title="Repair a loop that loses elements, and stop its threads from sharing lines",
    objective="Find false sharing from a map of writes, and remove it",
    points=2,
    minutes=15,
    spec=lambda x, out: as_float64(x) ** 2,
    cases=(
        Case("four full lines: n = 64", square_arguments(64)),
        Case("ragged: n = 203", square_arguments(203)),
        Case("fewer than parts: n = 3", square_arguments(3)),
        Case("one more than four lines: n = 65", square_arguments(65)),
    ),
    suspects=(
        Suspect(lambda x, out: as_float64(x), "This is x itself: nothing was squared."),
        Suspect(lambda x, out: 2 * as_float64(x), "This is 2 * x. The square is asked for."),
    ),
    advice={
        "some-unwritten": (
            "These elements belong to no part. Do four parts, from t = 0 to 3, reach to the end of x? A division that "
            "rounds down (n // 4, n // 16) leaves out the rest."
        ),
        "nothing-written": "With fewer elements than parts, n // 4 is 0: all parts are empty. Round up instead.",
        "raised-IndexError": "The last part reaches over the end. End it at min(stop, x.size).",
        "race": "Two parts contain the same elements. Part t ends where part t + 1 begins.",
    },
    watch=Watch(threads=4, case=Case("n = 203, four threads", square_arguments(203))),
    budget=Budget(
        points=2,
        text="no cache line of 64 bytes written by two threads (four threads, one part each), no array allocated",
        require={"false_sharing": 0, "arrays": 0},
        over=(
            "The result is right, but a part ends in the middle of a line, and the next part begins there: two threads "
            "write to that line. Let every part begin at a multiple of 16 elements."
        ),
        case=Case("n = 203, four threads", square_arguments(203)),
    ),
    hints=(
        "n = 203 and four parts: which elements does each part get, and which get none? In which line (16 float32) "
        "does each part begin?",
        "Share out lines, not elements. How many lines do n elements fill, rounded up? How many of them should each "
        "part get, rounded up? The last part may get fewer, or none.",
        "Round the lines up, share them out, and only then turn lines into elements. The last part is cut at x.size: "
        "by which `min`? And what about a part that begins behind the end?",
    ),
)
