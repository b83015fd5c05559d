"""Answers to 05-fails."""

import numpy as np
from answers import data

RIGHT = {
    "wrapped": {"n": 1, "blocks": 1, "threads": 2},
    "pairs": {"n": 1, "blocks": 1, "threads": 1},
    "linear": {"rows": 2, "columns": 1},
}

small_ones = data("right", RIGHT)
the_largest_and_numpy_numbers = data(
    "right",
    {
        "wrapped": {"n": np.int64(1024), "blocks": 16, "threads": np.int32(128)},
        "pairs": {"n": 1023, "blocks": 16, "threads": 128},
        "linear": {"rows": 64, "columns": 63},
    },
)
as_many_threads_as_elements = data(
    "wrong agrees: Which element does the thread behind the last one take",
    RIGHT | {"wrapped": {"n": 256, "blocks": 4, "threads": 64}},
)
too_few_threads = data(
    "wrong not-allowed: blocks * threads >= n", RIGHT | {"wrapped": {"n": 256, "blocks": 3, "threads": 64}}
)
even = data(
    "wrong agrees: For which n is the second one not there", RIGHT | {"pairs": {"n": 100, "blocks": 1, "threads": 64}}
)
many_idle_threads = data(
    "wrong agrees: For which n is the second one not there", RIGHT | {"pairs": {"n": 2, "blocks": 16, "threads": 128}}
)
too_few_for_pairs = data(
    "wrong not-allowed: 2 * blocks * threads >= n", RIGHT | {"pairs": {"n": 101, "blocks": 1, "threads": 50}}
)
full_blocks = data(
    "wrong agrees: a thread whose column lies beyond the right edge", RIGHT | {"linear": {"rows": 32, "columns": 48}}
)
rows_beyond = data("wrong agrees: when is there a row below", RIGHT | {"linear": {"rows": 5, "columns": 16}})
one_row = data("wrong agrees: when is there a row below", RIGHT | {"linear": {"rows": 1, "columns": 20}})
no_rows = data("wrong not-allowed: a whole number from 1 to 64", RIGHT | {"linear": {"rows": 0, "columns": 20}})
a_large_block = data(
    "wrong not-allowed: a whole number from 1 to 128", RIGHT | {"wrapped": {"n": 100, "blocks": 1, "threads": 256}}
)
a_float = data("wrong not-allowed: with a point", RIGHT | {"pairs": {"n": 101 / 1, "blocks": 1, "threads": 64}})
another_name = data('wrong not-allowed: did you mean "columns"?', RIGHT | {"linear": {"rows": 2, "column": 20}})
a_list = data("wrong not-allowed: which is a list", RIGHT | {"wrapped": [100, 2, 64]})
