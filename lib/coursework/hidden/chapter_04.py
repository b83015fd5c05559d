"""Hidden cases of chapter 04: lengths just beside a line, thin images, other powers of two."""

from ..definition import Case
from ..tasks.chapter_04 import (
    _lab_case,
    _order_case,
    _pad_case,
    _place_case,
    channel_arguments,
    poly_arguments,
    square_arguments,
    sum_arguments,
)

CASES = {
    "04-first": (_place_case(0, 0, 1), _place_case(17, 99, 333), _place_case(200, 1000, 4096)),
    "04-lab": (_lab_case(48, 16), _lab_case(80, 48)),
    "04-channels": (
        Case("one channel: 2 x 3 x 4 x 1", channel_arguments(2, 3, 4, 1)),
        Case("one row of pixels: 1 x 1 x 9 x 33", channel_arguments(1, 1, 9, 33)),
    ),
    "04-sums": (
        Case("one element: 1 x 1", sum_arguments(1, 1)),
        Case("one more than a vector: 5 x 17", sum_arguments(5, 17)),
    ),
    "04-pad": (_pad_case(128, 4096), _pad_case(300, 640), _pad_case(1, 1), _pad_case(512, 1023)),
    "04-order": (_order_case(1, 40), _order_case(33, 65), _order_case(96, 16)),
    "04-roofline": (
        Case("degree 1: a line", poly_arguments(50, 1)),
        Case("n = 1000, degree 20", poly_arguments(1000, 20)),
    ),
    "04-bug": (
        Case("one element: n = 1", square_arguments(1)),
        Case("one short of a line: n = 127", square_arguments(127)),
        Case("n = 1000", square_arguments(1000)),
    ),
}
