"""Hidden cases of chapter 10: sizes and values that no visible case has."""

import math

from ..definition import Case
from ..tasks.chapter_10 import cell_arguments, lengths_case

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
}
