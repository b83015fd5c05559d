"""Hidden cases of chapter 04: lengths just beside a line, thin images, other powers of two."""

from ..definition import Case
from ..tasks.c04.bug import square_arguments
from ..tasks.c04.channels import channel_arguments
from ..tasks.c04.first import place_case
from ..tasks.c04.lab import lab_case
from ..tasks.c04.order import order_case
from ..tasks.c04.pad import pad_case
from ..tasks.c04.roofline import poly_arguments
from ..tasks.c04.sums import sum_arguments

CASES = {
    "04-first": (place_case(0, 0, 1), place_case(17, 99, 333), place_case(200, 1000, 4096)),
    "04-lab": (lab_case(48, 16), lab_case(80, 48)),
    "04-channels": (
        Case("one channel: 2 x 3 x 4 x 1", channel_arguments(2, 3, 4, 1)),
        Case("one row of pixels: 1 x 1 x 9 x 33", channel_arguments(1, 1, 9, 33)),
    ),
    "04-sums": (
        Case("one element: 1 x 1", sum_arguments(1, 1)),
        Case("one more than a vector: 5 x 17", sum_arguments(5, 17)),
    ),
    "04-pad": (pad_case(128, 4096), pad_case(300, 640), pad_case(1, 1), pad_case(512, 1023)),
    "04-order": (order_case(1, 40), order_case(33, 65), order_case(96, 16)),
    "04-roofline": (
        Case("degree 1: a line", poly_arguments(50, 1)),
        Case("n = 1000, degree 20", poly_arguments(1000, 20)),
    ),
    "04-bug": (
        Case("one element: n = 1", square_arguments(1)),
        Case("one short of a line: n = 127", square_arguments(127)),
        Case("n = 1000", square_arguments(1000)),
        Case("n = 20,011", square_arguments(20_011)),
    ),
}
