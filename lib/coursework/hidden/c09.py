"""Hidden cases of chapter 09: sizes, strides and paddings that no visible case has."""

from ..definition import Case
from ..tasks.c09.halo import halo_case
from ..tasks.c09.im2col import columns_case
from ..tasks.c09.line import line_case
from ..tasks.c09.plane import plane_case
from ..tasks.c09.pool import all_different, many_equal, pool_case, with_infinities, with_nan
from ..tasks.c09.roofline import depthwise_arguments
from ..tasks.c09.weight import gradient_case
from ..tasks.c09.winograd import winograd_arguments

CASES = {
    "09-line": (
        line_case("one result", 1, 3),
        line_case("one more than a block, a rest", 33, 6, 2, 1),
        line_case("many weights", 40, 11),
    ),
    "09-plane": (
        plane_case("one pixel", 1, 1, 1, 3, 3, 1),
        plane_case("a broad kernel", 2, 5, 33, 1, 4, 0),
        plane_case("more padding than needed", 2, 4, 6, 3, 3, 3),
        plane_case("kernel as large as the picture", 3, 4, 5, 4, 5, 0),
    ),
    "09-halo": (
        halo_case("one pixel", 1, 1),
        halo_case("one row", 1, 40),
        halo_case("one more each way", 17, 33),
        halo_case("tall", 50, 7),
    ),
    "09-pool": (
        pool_case("one pixel", all_different, 1, 1, 1, 1, 1, 0),
        pool_case("equal, tall, much padding", many_equal, 3, 11, 5, 4, 3, 2),
        pool_case("NaN everywhere", with_nan, 2, 9, 9, 3, 1, 1),
        pool_case("windows of -inf", with_infinities, 2, 5, 9, 3, 2, 1),
    ),
    "09-im2col": (
        columns_case("one window", 2, 3, 3, 3, 1, 0),
        columns_case("jumps and padding", 3, 8, 5, 5, 3, 2),
        columns_case("one row", 2, 1, 9, 1, 2, 0),
        columns_case("many windows", 5, 37, 41, 3, 1, 1),
    ),
    "09-weight": (
        gradient_case("one pixel", 1, 2, 3, 1, 1, 1, 0),
        gradient_case("kernel as large as the picture", 2, 2, 2, 3, 4, 3, 0),
        gradient_case("an even kernel, much padding", 2, 1, 3, 4, 5, 2, 2),
        gradient_case("many of all", 2, 9, 11, 4, 5, 2, 1),
        gradient_case("more than is watched", 2, 45, 48, 4, 5, 3, 1),
    ),
    "09-winograd": (
        Case("3 results", winograd_arguments(3)),
        Case("the length of the budget", winograd_arguments(512)),
        Case("257 results", winograd_arguments(257)),
    ),
    "09-roofline": (
        Case("one row of windows: 3 of 3 x 9", depthwise_arguments(3, 3, 9)),
        Case("tall: 2 of 20 x 4", depthwise_arguments(2, 20, 4)),
        Case("the shape of the claims", depthwise_arguments(8)),
    ),
}
