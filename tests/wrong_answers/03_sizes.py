"""Answers to 03-sizes."""

import numpy as np
from answers import data

RIGHT = {"first": {"n": 9, "parts": 4}, "second": {"n": 2000, "parts": 2}, "third": {"n": 100, "parts": 20}}

other_sizes = data(
    "right",
    {
        "first": {"n": np.int64(15), "parts": 64},
        "second": {"n": 172, "parts": 1},
        "third": {"n": 1999, "parts": np.int32(64)},
    },
)
without_remainder = data("wrong agrees: Rounded to the nearest", RIGHT | {"first": {"n": 1000, "parts": 8}})
only_a_zero_is_lost = data("wrong agrees: n = 6 in 5 parts", RIGHT | {"first": {"n": 6, "parts": 5}})
many_small_parts = data("wrong agrees: how many can an int8 hold", RIGHT | {"second": {"n": 2000, "parts": 64}})
just_127 = data("wrong agrees: How many does one part find", RIGHT | {"second": {"n": 169, "parts": 1}})
sixteen_parts = data("wrong agrees: Which two parts use the same element", RIGHT | {"third": {"n": 1000, "parts": 16}})
empty_parts = data("wrong agrees: Does each of these two have an element", RIGHT | {"third": {"n": 20, "parts": 18}})
no_numbers = data("wrong not-allowed: a whole number from 1 to 2000", RIGHT | {"first": {"n": 0, "parts": 4}})
too_many_parts = data("wrong not-allowed: a whole number from 1 to 64", RIGHT | {"third": {"n": 1000, "parts": 65}})
huge = data("wrong not-allowed: a number of more than 64 bits", RIGHT | {"second": {"n": 10**6000, "parts": 1}})
a_float = data("wrong not-allowed: with a point", RIGHT | {"first": {"n": 9.0, "parts": 4}})
a_flag = data("wrong not-allowed: True or False", RIGHT | {"first": {"n": True, "parts": 4}})
another_name = data('wrong not-allowed: did you mean "parts"?', RIGHT | {"first": {"n": 9, "part": 4}})
a_list = data("wrong not-allowed: which is a list", RIGHT | {"first": [9, 4]})
