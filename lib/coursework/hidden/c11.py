"""Hidden cases of chapter 11: sizes and values that no visible case has."""

import math

from ..definition import Case
from ..tasks.c11.attention import attention_case
from ..tasks.c11.back import back_case
from ..tasks.c11.cache import cache_case
from ..tasks.c11.causal import causal_case
from ..tasks.c11.merge import two_parts
from ..tasks.c11.norm import norm_arguments
from ..tasks.c11.roofline import mix_arguments
from ..tasks.c11.rotary import rotary_case
from ..tasks.c11.softmax import score_rows
from ..tasks.c11.split import split_parts
from ..tasks.c11.window import window_case

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
        Case("201 x 63", score_rows(201, 63)),
    ),
    "11-norm": (
        Case("one number", norm_arguments(1, 1)),
        Case("one column", norm_arguments(9, 1, 5)),
        Case("around 30000", norm_arguments(3, 70, 30_000, 2)),
        Case("211 x 53", norm_arguments(211, 53)),
    ),
    "11-rotary": (rotary_case("one token", 1, 2, 9), rotary_case("more than a block, any order", 7, 10, 50, True)),
    "11-window": (
        window_case("a sink that ends in a tile of the window", 12, 15, 16, 4, 9, 6),
        window_case("a window of one", 16, 23, 24, 8, 1, 1),
        window_case("one tile", 0, 3, 4, 4, 2, 0),
        window_case("a ragged end", 40, 43, 44, 16, 17, 20),
    ),
    "11-split": (
        Case("7 parts, 5 heads", split_parts(7, 5, 900)),
        Case("parts and heads without keys", split_parts(2, 3, 2000, ((0, 0), (0, 2), (1, 2)))),
    ),
    "11-attention": (
        attention_case("one query, one key", 1, 1),
        attention_case("one more than a tile and a block", 33, 17),
        attention_case("large scores, three tiles", 33, 47, 300.0),
    ),
    "11-cache": (
        cache_case("full", 8, 4, 16, 16, 6),
        cache_case("many heads, one position", 9, 3, 5, 1, 2, math.nan),
        cache_case("long", 2, 1, 90, 77, 16),
    ),
    "11-causal": (
        causal_case("one", 1),
        causal_case("one more than two blocks", 65),
        causal_case("one tile", 16, 100.0),
    ),
    "11-roofline": (
        Case("5 groups of 2 heads, 3 positions, 9 columns", mix_arguments(5, 2, 3, 9)),
        Case("more groups than the claims", mix_arguments(3, 4, 128, 32)),
    ),
    "11-back": (
        back_case("one of each", 1, 1, 0, 1, 1),
        back_case("more keys than queries", 3, 17, 30, 5, 8, cap=7.0),
        back_case("more queries than keys, wide", 20, 2, 3, 16, 6),
        back_case("large scores, one key of many", 6, 1, 40, factor=9000.0, cap=3000.0),
    ),
}
