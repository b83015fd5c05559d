"""01-bus: A sports car or a bus?"""

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question


def _cycles(jobs, latency, every, dependent=False):
    """Cycles until the last of `jobs` is done, on a core that begins one `every` so many cycles; the next one at the
    earliest when the last is done, if it depends on it."""
    begin = done = 0
    for _ in range(jobs):
        begin = max(begin, done) if dependent else begin
        done = begin + latency
        begin += every
    return done


CAR, BUS = {"latency": 4, "every": 4}, {"latency": 30, "every": 1}

BUS_TASK = PredictionTask(
    id="01-bus",
    section=Section("1", "01_why_parallel", "A sports car or a bus"),
    title="A sports car or a bus?",
    objective="Tell latency from throughput: predict from how many jobs on the slower core is done first",
    points=1,
    minutes=4,
    questions=(
        Question(
            "many",
            "cycles that the bus needs for 100 jobs that do not depend on each other",
            lambda: _cycles(100, **BUS),
            {
                3000: "It begins a job in each cycle, and does not wait until the last one is done.",
                100: "After 100 cycles the last job has begun. When is it done?",
                130: "The first job begins in cycle 0, so the last one begins in cycle 99.",
                400: "That is the car. When does the last job begin on the bus, and how long does it take?",
            },
            "When does the last job begin, and how long does it take?",
        ),
        Question(
            "from_here",
            "the smallest number of such jobs for which the bus is done before the car",
            lambda: next(n for n in range(1, 100) if _cycles(n, **BUS) < _cycles(n, **CAR)),
            {
                8: "For 8 jobs the car needs 32 cycles, the bus 30 + 7.",
                9: "For 9 jobs the car needs 36 cycles, the bus 30 + 8. That is not before.",
                11: "One fewer is enough: n jobs keep the bus for 30 + (n - 1) cycles.",
            },
            "The car needs 4 n cycles, the bus 30 for the first job and one more for each other job.",
        ),
        Question(
            "chain",
            "cycles that the bus needs for 100 jobs of which each needs the result of the one before",
            lambda: _cycles(100, **BUS, dependent=True),
            {129: "Each job has to wait for the one before: nothing is in flight beside it.", 400: "That is the car."},
            "How many jobs can be in flight at a time?",
        ),
    ),
    hints=(
        "When does the second job begin, on each of the two cores?",
        "The last job of n begins in cycle n - 1 on the bus, and is done 30 cycles later.",
        "many: when the last one begins, and 30 more. from_here: compare with 4 n. chain: 30 cycles for each job.",
    ),
)
