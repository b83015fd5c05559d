"""Answers to 11-fails."""

import numpy as np
from answers import data

RIGHT = {
    "first": {"x": [95]},
    "second": {"x": [-110, -120]},
    "third": {"x": [-10000, -9999.5]},
    "fourth": {"queries": 9, "keys": 3},
}

numpy_arrays = data(
    "right", RIGHT | {"first": {"x": np.array([0.0, 200.0])}, "fourth": {"queries": np.int64(1), "keys": np.int32(64)}}
)
all_zero = data("wrong agrees: the largest number whose exponential", RIGHT | {"first": {"x": [0, 0, 0]}})
large_and_still_right = data("wrong agrees: a float32 can hold", RIGHT | {"first": {"x": [80, 79, 3]}})
one_above_zero = data(
    "wrong agrees: For which x is it still 0 at the end", RIGHT | {"second": {"x": [-200, -200, 0.5]}}
)
below_zero_and_near = data(
    "wrong agrees: what is then the largest of the exponentials", RIGHT | {"second": {"x": [-20, -30, -40]}}
)
around_zero = data("wrong agrees: about seven digits", RIGHT | {"third": {"x": [-1, 0, 1, 2]}})
far_from_each_other = data("wrong agrees: How large must `squares` be", RIGHT | {"third": {"x": [-10000, 10000, 5000]}})
a_square = data("wrong agrees: Which keys does query 0 see", RIGHT | {"fourth": {"queries": 33, "keys": 33}})
too_large = data("wrong not-allowed: at place 1: 201", RIGHT | {"first": {"x": [100, 201]}})
negative = data("wrong not-allowed: numbers from 0 to 200", RIGHT | {"first": {"x": [-100]}})
too_many = data("wrong not-allowed: 9 of them", RIGHT | {"second": {"x": [-150] * 9}})
one_number = data("wrong not-allowed: a list of 2 to 8 numbers", RIGHT | {"third": {"x": [9000]}})
infinity = data("wrong not-allowed: no number to compute with", RIGHT | {"first": {"x": [float("inf")]}})
no_queries = data("wrong not-allowed: a whole number from 1 to 64", RIGHT | {"fourth": {"queries": 0, "keys": 3}})
