"""Hidden cases of chapter 03: sizes and orders that no visible case has."""

from ..definition import Case
from ..tasks.chapter_03 import cost_arguments, label_arguments, largest_arguments, softmax_arguments, triangle_arguments

CASES = {
    "03-histogram": (
        Case("3 labels of 2 classes", label_arguments(3, 2)),
        Case("5003 labels of 64 classes", label_arguments(5003, 64)),
        Case("one class", label_arguments(100, 1)),
    ),
    "03-largest": (
        Case("two numbers", largest_arguments(2)),
        Case("5001 numbers, many equal", largest_arguments(5001, "ties")),
        Case("3 negative numbers", largest_arguments(3, "negative")),
    ),
    "03-softmax": (
        Case("one element", softmax_arguments(1, 1)),
        Case("large negative and positive: 7 x 64", softmax_arguments(7, 64, scale=3000)),
    ),
    "03-balance": (
        Case("two rows", triangle_arguments(2)),
        Case("three rows", triangle_arguments(3)),
        Case("101 rows", triangle_arguments(101)),
    ),
    "03-finish": (
        Case("one thread", cost_arguments(13, 1, 5)),
        Case("one chunk for everything", cost_arguments(9, 4, 50)),
        Case("equal costs", lambda rng: ([3] * 17, 4, 2)),
        Case("500 random costs", cost_arguments(500, 8, 3, highest=1000)),
    ),
}
