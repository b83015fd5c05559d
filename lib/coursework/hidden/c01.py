"""Hidden cases of chapter 01: programs, shares, machines and clocks that no visible case has."""

from ..definition import Case
from ..tasks.c01.fit import runs_of
from ..tasks.c01.roof import any_program, program

CASES = {
    "01-roof": (
        Case("five loops", any_program(5)),
        Case(
            "the first two of three loops", program([(1e9, 8e9), (28e9, 2e9), (1e9, 1e9)], [1.5e9, 0.1e9], 100.0, 25.0)
        ),
        Case("a fast machine", program([(3e12, 5e10), (1e12, 8e10)], [2e10], 60_000.0, 3_350.0)),
    ),
    "01-bug": (
        Case("one repeat", lambda rng: (1, 3.0, 1000)),
        Case("11 repeats, every 3rd is disturbed", lambda rng: (11, 0.5, 3)),
    ),
    "01-ratio": (
        Case("two rounds", lambda rng: (2, 1.0, 0.2, 1000)),
        Case("15 rounds, drift and every 5th call disturbed", lambda rng: (15, 2.0, 1.0, 5)),
    ),
    "01-workers": (
        Case("16 cores, all of it", lambda rng: (1.0, 40.0, 0.2, 16, 0.5, 0.6)),
        Case("only one worker is used well", lambda rng: (5.0, 5.0, 0.5, 8, 0.5, 0.95)),
        Case("3 cores, a core at half pace", lambda rng: (0.2, 9.0, 0.05, 3, 0.5, 0.4)),
    ),
    "01-fit": (
        Case("no serial part", runs_of(0.0, (1, 2, 3, 6, 12), noise=0.08)),
        Case("nothing can be divided", runs_of(1.0, (1, 2, 4), scale=5.0)),
        Case("without one worker", runs_of(0.3, (2, 3, 8), noise=0.06)),
        Case("many workers in each other's way", runs_of(0.02, (1, 2, 4, 8, 16), per_worker=0.01, noise=0.01)),
    ),
}
