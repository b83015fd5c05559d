"""Hidden cases of chapter 07: sizes that no visible case has."""

import numpy as np

from ..definition import Case, random_values, unwritten
from ..tasks.chapter_07 import AXPY_ALPHA, add_arguments, axpy_arguments, backward_arguments, fused_arguments

CASES = {
    "07-launch": (
        Case("n = 2", lambda rng: (2,)),
        Case("n = 31 * 1024 + 1", lambda rng: (31 * 1024 + 1,)),
        Case("n = 2**20", lambda rng: (2**20,)),
    ),
    "07-add": (
        Case("one element short of full: n = 383 in 3 blocks of 128", add_arguments(383), grid=3, block=128),
        Case("a block with nothing to do: n = 64 in 3 blocks of 64", add_arguments(64), grid=3, block=64),
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
    ),
    "07-bug": (Case("one warp more than a block: n = 160", backward_arguments(160), grid=2, block=128),),
}
