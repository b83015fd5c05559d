"""Hidden cases of chapter 10: sizes and values that no visible case has."""

import math

from ..definition import Case
from ..tasks.c10.backward import backward_arguments
from ..tasks.c10.cell import cell_arguments
from ..tasks.c10.chunks import chunk_case
from ..tasks.c10.fused import gru_case
from ..tasks.c10.lengths import lengths_case
from ..tasks.c10.plan import plan_case
from ..tasks.c10.scan import scan_case
from ..tasks.c10.wavefront import rounds_case

CASES = {
    "10-cell": (
        Case("7 sequences, 2 features, 8 units", cell_arguments(7, 2, 8)),
        Case("one row, large", cell_arguments(1, 9, 3, 40_000.0)),
    ),
    "10-lengths": (
        lengths_case("nothing at all", 3, (0, 0), 2, math.nan),
        lengths_case("one step", 1, (1, 0, 1), 3, math.nan),
        lengths_case("rising", 11, (2, 5, 11, 9, 10), 7, 3.0),
    ),
    "10-fused": (
        gru_case("one number", 1, 1),
        gru_case("more than a block, ragged", 5, 17),
        gru_case("one row, far from 0", 1, 70, 90.0),
    ),
    "10-wavefront": (
        rounds_case("three times two", [2, 2, 2], 6),
        rounds_case("one step", [2, 1, 2], 1),
        rounds_case("mixed again", [1, 1, 2, 1, 2], 7),
    ),
    "10-chunks": (
        chunk_case("a step each", 9, 9),
        chunk_case("one step", 1, 3),
        chunk_case("empty chunks at the end", 10, 7),
        chunk_case("zeros, a long memory", 333, 10, low=0.95, high=1.0, zeros=50),
        chunk_case("long", 9001, 11),
    ),
    "10-backward": (
        Case("one row, 7 units", backward_arguments(1, 7, 3.0)),
        Case("9 rows, one unit", backward_arguments(9, 1)),
    ),
    "10-plan": (plan_case("a prime", 7), plan_case("three", 3), plan_case("one more", 33), plan_case("a hundred", 100)),
    "10-scan": (scan_case("63 steps", 2, 63), scan_case("33 steps", 1, 33), scan_case("two steps", 4, 2)),
}
