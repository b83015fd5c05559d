"""Hidden cases of chapter 11: sizes and values that no visible case has."""

from ..definition import Case
from ..tasks.chapter_11 import norm_arguments, score_rows, two_parts

CASES = {
    "11-merge": (
        Case("many keys", two_parts(60, 33, (1, 0), 9)),
        Case("far apart, the other way", two_parts(2, 9, (-900, 800))),
        Case("an empty part beside large scores", two_parts(0, 4, (0, 2000))),
    ),
    "11-softmax": (
        Case("one number", score_rows(1, 1)),
        Case("rising, masked", score_rows(13, 31, "masked")),
        Case("one row, large", score_rows(1, 50, "large")),
    ),
    "11-norm": (
        Case("one number", norm_arguments(1, 1)),
        Case("one column", norm_arguments(9, 1, 5)),
        Case("around 30000", norm_arguments(3, 70, 30_000, 2)),
    ),
}
