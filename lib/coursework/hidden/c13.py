"""Hidden cases of chapter 13: sizes and values that no visible case has."""

import numpy as np

from ..definition import Case
from ..tasks.c13.affine import affine_case, values
from ..tasks.c13.breaks import asked
from ..tasks.c13.channel import layer
from ..tasks.c13.frontier import a_network
from ..tasks.c13.int8 import int8_case
from ..tasks.c13.merge import merge_case
from ..tasks.c13.pack import numbers
from ..tasks.c13.rows import rows_case
from ..tasks.c13.through import weights

CASES = {
    "13-frontier": (Case("a third order, more pictures", a_network(1200)),),
    "13-affine": (
        affine_case("one number", lambda rng: (np.array([-0.7]), np.array([-0.7, 0.2, -0.1]))),
        affine_case("a large range", values(50, -3e4, 8e5)),
        affine_case("two bits, unsigned", values(20, -1.0, 0.4), 0, 3),
    ),
    "13-channel": (
        Case("one filter of one weight", layer(1, 1, 1)),
        Case("9 filters, two of 2^12 in size", layer(9, 2, 3, 12)),
    ),
    "13-breaks": (asked(2000, 3), asked(20_000, 4)),
    "13-through": (
        Case("one weight", weights(1, 1.0, 0.5, -2, 1)),
        Case("one bit and a sign", weights(25, 2.0, 0.7, -1, 1)),
    ),
    "13-int8": (int8_case("one row, one column", 1, 1, 4), int8_case("a wide ragged one", 3, 37, 20, -128)),
    "13-rows": (rows_case("all rows empty", [0, 0, 0]), rows_case("one entry each", [1, 1, 1, 1, 1, 1])),
    "13-merge": (
        merge_case("no entries", lambda rng: [0, 0, 0, 0, 0], 3),
        merge_case("one part", lambda rng: [3, 1], 1),
        merge_case("rows that grow", lambda rng: np.arange(50), 13),
    ),
    "13-pack": (Case("one four", numbers(1, 1)), Case("nine fours, many equal", numbers(5, 9, True))),
}
