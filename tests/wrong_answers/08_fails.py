"""Answers to 08-fails."""

import numpy as np
from answers import data

RIGHT = {
    "first": {"m": 1, "k": 17, "n": 16},
    "second": {"m": 2, "k": 1, "n": 1},
    "third": {"m": 16, "k": 2, "n": 1},
    "fourth": {"m": 1, "k": 1, "n": 1},
}

small_ones = data("right", RIGHT)


def numpy_numbers():
    """right"""
    one = {"m": np.int64(33), "k": np.int32(61), "n": 29}
    return dict.fromkeys(RIGHT, one)


squares = data("wrong agrees: What does the loop over them end with", RIGHT | {"first": {"m": 33, "k": 33, "n": 33}})
long_rows = data("wrong agrees: when is that too early", RIGHT | {"first": {"m": 16, "k": 32, "n": 64}})
the_same_tile = data("wrong agrees: The tiles go on along k", RIGHT | {"first": {"m": 16, "k": 31, "n": 17}})
multiples_of_16 = data(
    "wrong agrees: Where does a thread with a column that does not exist",
    RIGHT | {"second": {"m": 32, "k": 7, "n": 48}},
)
ragged_below_only = data("wrong agrees: is it let through", RIGHT | {"second": {"m": 19, "k": 7, "n": 48}})
full_blocks = data(
    "wrong agrees: What is missing when it loads nothing", RIGHT | {"third": {"m": 16, "k": 50, "n": 32}}
)
a_multiple_of_four = data(
    "wrong agrees: how many terms are that for each k", RIGHT | {"fourth": {"m": 5, "k": 64, "n": 9}}
)
three_more = data("wrong agrees: for which k is it too few", RIGHT | {"fourth": {"m": 5, "k": 63, "n": 9}})
nothing = data("wrong not-allowed: a whole number from 1 to 64", RIGHT | {"first": {"m": 0, "k": 1, "n": 1}})
too_large = data("wrong not-allowed: a whole number from 1 to 64", RIGHT | {"fourth": {"m": 1, "k": 65, "n": 1}})
a_float = data("wrong not-allowed: with a point", RIGHT | {"third": {"m": 17.0, "k": 16, "n": 16}})
a_flag = data("wrong not-allowed: True or False", RIGHT | {"third": {"m": True, "k": 16, "n": 16}})
huge = data("wrong not-allowed: a number of more than 64 bits", RIGHT | {"second": {"m": 10**6000, "k": 1, "n": 1}})
a_tuple = data("wrong not-allowed: which is a list", RIGHT | {"first": (16, 32, 16)})
another_name = data('wrong not-allowed: a dict with "m", "k", "n"', RIGHT | {"first": {"m": 16, "p": 32, "n": 16}})
