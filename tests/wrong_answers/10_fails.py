"""Answers to 10-fails."""

import numpy as np
from answers import data

RIGHT = {"first": {"a": [0.001] * 20}, "second": {"b": [4, -9, 5]}, "third": {"n": 3}}

small_ones = data("right", RIGHT)
numpy_arrays = data(
    "right",
    RIGHT
    | {
        "first": {"a": np.full(40, 0.01)},
        "second": {"b": np.array([9, 0, -9, -9, 1, 1])},
        "third": {"n": np.int64(63)},
    },
)
all_ones = data("wrong agrees: the smallest number that a float32 can hold", RIGHT | {"first": {"a": [1, 1, 1, 1]}})
many_that_are_not_small_enough = data("wrong agrees: divides by products", RIGHT | {"first": {"a": [0.5] * 40}})
one_small_number = data("wrong agrees: products of many numbers", RIGHT | {"first": {"a": [0.001]}})
all_positive = data("wrong agrees: inside of that half", RIGHT | {"second": {"b": [1, 2, 3, 4]}})
falls_in_the_first_half = data("wrong agrees: replaced by its sum", RIGHT | {"second": {"b": [1, -9, 3, 4]}})
falls_at_the_end = data("wrong agrees: What is forgotten then", RIGHT | {"second": {"b": [1, 2, 3, -9]}})
power_of_two = data("wrong agrees: how many rounds are there for this n", RIGHT | {"third": {"n": 64}})
one_step = data("wrong agrees: After k rounds", RIGHT | {"third": {"n": 1}})
zero = data("wrong not-allowed: at place 1: 0", RIGHT | {"first": {"a": [1, 0]}})
too_long = data("wrong not-allowed: 2 to 8 numbers", RIGHT | {"second": {"b": list(range(9))}})
half_a_step = data("wrong not-allowed: with a point", RIGHT | {"third": {"n": 7.0}})
