"""Hidden cases of chapter 03: sizes and orders that no visible case has."""

from ..definition import Case
from ..tasks.c03.chunk import random_visits, triangle_visits
from ..tasks.c03.cut import cut_arguments
from ..tasks.c03.finish import cost_arguments
from ..tasks.c03.first import point_arguments
from ..tasks.c03.gate import serving
from ..tasks.c03.largest import largest_arguments
from ..tasks.c03.roof import centre_arguments
from ..tasks.c03.softmax import softmax_arguments
from ..tasks.c03.table import table_arguments

CASES = {
    "03-gate": (
        Case("three callers", serving([1], [2], [3])),
        Case("an error of the last call", serving([1, 2, 3], bad=3)),
        Case("a child before and one after", serving([1, 2], forks="both")),
    ),
    "03-first": (
        Case("two points", point_arguments(2)),
        Case("5003 points", point_arguments(5003)),
        Case("30,011 points", point_arguments(30_011)),
    ),
    "03-table": (
        Case("3 samples of 2 classes", table_arguments(3, 2)),
        Case("one class", table_arguments(100, 1)),
        Case("3001 samples of 17 classes", table_arguments(3001, 17)),
    ),
    "03-largest": (
        Case("two numbers", largest_arguments(2)),
        Case("5001 numbers, many equal", largest_arguments(5001, "ties")),
        Case("3 negative numbers", largest_arguments(3, "negative")),
        Case("40,001 numbers", largest_arguments(40_001)),
    ),
    "03-softmax": (
        Case("one element", softmax_arguments(1, 1)),
        Case("large negative and positive: 7 x 64", softmax_arguments(7, 64, scale=3000)),
        Case("211 x 67", softmax_arguments(211, 67)),
    ),
    "03-roof": (
        Case("7 x 33", centre_arguments(7, 33)),
        Case("one element", centre_arguments(1, 1)),
        Case("703 x 33", centre_arguments(703, 33)),
    ),
    "03-chunk": (
        Case("one thread, costly visits", triangle_visits(30, 1, 50)),
        Case("40 causal rows, 8 threads, a visit costs 10", triangle_visits(40, 8, 10)),
        Case("70 random costs, 5 threads, a visit costs 2", random_visits(70, 5, 2)),
    ),
    "03-cut": (
        Case("one thread", cut_arguments(9, 1)),
        Case("equal costs", lambda rng: ([3] * 17, 4)),
        Case("500 random costs, 8 threads", cut_arguments(500, 8, highest=1000)),
    ),
    "03-finish": (
        Case("one thread", cost_arguments(13, 1, 5)),
        Case("one chunk for everything", cost_arguments(9, 4, 50)),
        Case("equal costs", lambda rng: ([3] * 17, 4, 2)),
        Case("500 random costs", cost_arguments(500, 8, 3, highest=1000)),
    ),
}
