"""Hidden cases of chapter 01: shares, machines and clocks that no visible case has."""

from ..definition import Case
from ..tasks.chapter_01 import times_of

CASES = {
    "01-roof": (
        Case("in balance but for a little", lambda rng: (8.0e9, 2.1e9, 80.0, 20.0)),
        Case("a fast machine", lambda rng: (3e12, 5e10, 60_000.0, 3_350.0)),
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
        Case("2 % serial, 30 times as fast", lambda rng: (0.02, 30.0)),
        Case("30 % serial, 4 times as fast", lambda rng: (0.3, 4.0)),
        Case("12.5 % serial, 4 times as fast", lambda rng: (0.125, 4.0)),
    ),
    "01-fit": (
        Case("no serial part", times_of(0.0, (1, 2, 3, 6, 12), noise=0.02)),
        Case("nothing can be divided", times_of(1.0, (1, 2, 4), scale=5.0)),
        Case("without one worker", times_of(0.3, (2, 3, 8), noise=0.03)),
    ),
}
