"""Answers to 06-fails."""

import numpy as np
from answers import data

RIGHT = {"halved": {"threads": 3, "blocks": 1}, "crossed": {"rows": 1, "columns": 2}, "copies": {"x": [1] * 33}}

small_ones = data("right", RIGHT)


def large_ones():
    """right"""
    x = np.arange(64) % 7
    x[32:] = x[31::-1]
    return {
        "halved": {"threads": np.int64(127), "blocks": 4},
        "crossed": {"rows": 63, "columns": 64},
        "copies": {"x": x},
    }


a_power_of_two = data(
    "wrong agrees: Is there such a thread, whatever the number of threads",
    RIGHT | {"halved": {"threads": 64, "blocks": 3}},
)
one_thread = data(
    "wrong agrees: Is there such a thread, whatever the number of threads",
    RIGHT | {"halved": {"threads": 1, "blocks": 4}},
)
too_many_threads = data(
    "wrong not-allowed: a whole number from 1 to 128", RIGHT | {"halved": {"threads": 200, "blocks": 1}}
)
no_square_but_full = data("wrong agrees: Which element does it store", RIGHT | {"crossed": {"rows": 16, "columns": 64}})
a_small_square = data(
    "wrong agrees: for which shapes of a tile are both there or both not",
    RIGHT | {"crossed": {"rows": 9, "columns": 9}},
)
the_same_number_32_times = data("wrong agrees: Which threads have the same copy", RIGHT | {"copies": {"x": [5] * 32}})
two_equal_ones_side_by_side = data("wrong agrees: what else must they share", RIGHT | {"copies": {"x": [3, 3]}})
long_but_never_equal_32_apart = data(
    "wrong agrees: Nothing atomic is needed as long as no two threads use one counter",
    RIGHT | {"copies": {"x": [0] * 32 + [1] * 32}},
)
no_such_bin = data("wrong not-allowed: from 0 to 7", RIGHT | {"copies": {"x": [8] * 40}})
a_number_for_a_list = data("wrong not-allowed: a list of 1 to 64 numbers", RIGHT | {"copies": {"x": 33}})
a_fraction = data("wrong not-allowed: gives a whole number", RIGHT | {"crossed": {"rows": 4.5, "columns": 3}})
misspelt = data('wrong not-allowed: did you mean "columns"?', RIGHT | {"crossed": {"rows": 4, "colums": 3}})
