"""Hidden cases of chapter 07: sizes that no visible case has."""

import numpy as np

from ..definition import Case, random_values, unwritten
from ..tasks.c07.axpy import AXPY_ALPHA, axpy_arguments
from ..tasks.c07.broadcast import row_and_column
from ..tasks.c07.bug import backward_arguments
from ..tasks.c07.fused import fused_arguments
from ..tasks.c07.map import matrix_arguments
from ..tasks.c07.roofline import swish_arguments
from ..tasks.c07.shared import add_arguments, case_2d
from ..tasks.c07.zip import two_lines

CASES = {
    "07-zip": (
        Case("one element", two_lines(1), grid=1, block=1),
        Case("n = 65 in 1 block of 65", two_lines(65), grid=1, block=65),
    ),
    "07-launch": (
        Case("n = 2", lambda rng: (2,)),
        Case("n = 31 * 1024 + 1", lambda rng: (31 * 1024 + 1,)),
        Case("n = 2**20", lambda rng: (2**20,)),
    ),
    "07-add": (
        Case("one element short of full: n = 383 in 3 blocks of 128", add_arguments(383), grid=3, block=128),
        Case("a block with nothing to do: n = 64 in 3 blocks of 64", add_arguments(64), grid=3, block=64),
        Case("one element each way: 1 and 129 in 2 blocks of 128", add_arguments(1, 129), grid=2, block=128),
        Case("one longer: 97 and 96 in 1 block of 128", add_arguments(97, 96), grid=1, block=128),
    ),
    "07-map": (
        case_2d("one element", matrix_arguments, 1, 1),
        case_2d("one column", matrix_arguments, 41, 1),
        case_2d("one more each way", matrix_arguments, 9, 17),
    ),
    "07-broadcast": (
        case_2d("one element", row_and_column, 1, 1),
        case_2d("one column", row_and_column, 41, 1),
        case_2d("one row", row_and_column, 1, 33),
    ),
    "07-axpy": (
        Case("one thread for everything: n = 77", axpy_arguments(77), grid=1, block=1),
        Case("alpha = 0, n = 130", lambda rng: (0.0, *axpy_arguments(130)(rng)[1:]), grid=3, block=32),
        Case("alpha < 0, n = 257", lambda rng: (-AXPY_ALPHA, *axpy_arguments(257)(rng)[1:]), grid=2, block=64),
    ),
    "07-fused": (
        Case("one feature: 50 x 1", fused_arguments(50, 1)),
        Case(
            "x = -bias: 9 x 4", lambda rng: (lambda b: (np.tile(-b, (9, 1)), b, unwritten(9, 4)))(random_values(rng, 4))
        ),
        Case("ragged: 203 x 61", fused_arguments(203, 61)),
    ),
    "07-bug": (Case("one warp more than a block: n = 160", backward_arguments(160), grid=2, block=128),),
    "07-roofline": (
        Case("one feature: 50 x 1", swish_arguments(50, 1)),
        Case("one row: 1 x 30", swish_arguments(1, 30)),
        Case("the shape of the claims: 32 x 64", swish_arguments(32, 64)),
    ),
}
