"""Answers to 07-fails."""

import numpy as np
from answers import data

RIGHT = {
    "first": {"n": 10, "blocks": 2, "threads": 64},
    "second": {"n": 96, "blocks": 3, "threads": 32},
    "third": {"n": 2, "blocks": 2, "threads": 1},
    "fourth": {"x": [-1000, 1000]},
}

small_ones = data("right", RIGHT)


def the_largest_and_numpy_numbers():
    """right"""
    launch = {"n": np.int64(2048), "blocks": np.int32(16), "threads": 256}
    return {
        "first": launch | {"n": 1},
        "second": launch,
        "third": launch,
        "fourth": {"x": np.linspace(-1000, 1000, 64)},
    }


tuples = data("right", RIGHT | {"fourth": {"x": (89,)}})
block_of_256 = data("right", RIGHT | {"second": {"n": 300, "blocks": 2, "threads": 256}})
ragged_in_the_last_block = data(
    "wrong agrees: Every block but the last works without a guard",
    RIGHT | {"first": {"n": 100, "blocks": 2, "threads": 64}},
)
one_block_of_128 = data(
    "wrong agrees: What is 128 meant to be", RIGHT | {"second": {"n": 100, "blocks": 1, "threads": 128}}
)
many_blocks_of_128 = data(
    "wrong agrees: What is 128 meant to be", RIGHT | {"second": {"n": 1000, "blocks": 8, "threads": 128}}
)
larger_blocks_that_are_full = data(
    "wrong agrees: what the specification says", RIGHT | {"second": {"n": 512, "blocks": 2, "threads": 256}}
)
a_single_block_of_the_third = data(
    "wrong agrees: Which thread stores out[0]", RIGHT | {"third": {"n": 250, "blocks": 1, "threads": 256}}
)
small_values = data("wrong agrees: The largest float32 is about 3.4e38", RIGHT | {"fourth": {"x": [0, 1, -1, 80]}})
large_and_negative = data("wrong agrees: becomes larger than that", RIGHT | {"fourth": {"x": [-1000]}})
too_few_threads = data(
    "wrong not-allowed: blocks * threads >= n", RIGHT | {"first": {"n": 100, "blocks": 1, "threads": 64}}
)
no_elements = data(
    "wrong not-allowed: a whole number from 1 to 2048", RIGHT | {"first": {"n": 0, "blocks": 3, "threads": 64}}
)
negative_blocks = data(
    "wrong not-allowed: a whole number from 1 to 16", RIGHT | {"first": {"n": 1, "blocks": -3, "threads": 64}}
)
huge = data(
    "wrong not-allowed: a number of more than 64 bits",
    RIGHT | {"second": {"n": 10**6000, "blocks": 16, "threads": 256}},
)
too_many_threads = data(
    "wrong not-allowed: a whole number from 1 to 256", RIGHT | {"third": {"n": 64, "blocks": 2, "threads": 512}}
)
a_float = data("wrong not-allowed: with a point", RIGHT | {"first": {"n": 64.0, "blocks": 3, "threads": 64}})
a_flag = data("wrong not-allowed: True or False", RIGHT | {"first": {"n": True, "blocks": 3, "threads": 64}})
a_text = data("wrong not-allowed: which is text", RIGHT | {"first": {"n": "64", "blocks": 3, "threads": 64}})
code = data("wrong not-allowed: which is text", RIGHT | {"fourth": {"x": "__import__('os').system('true')"}})
not_a_number = data("wrong not-allowed: at place 1: nan", RIGHT | {"fourth": {"x": [1.0, float("nan")]}})
infinite = data("wrong not-allowed: inf, which is no number to compute with", RIGHT | {"fourth": {"x": [float("inf")]}})
too_large = data("wrong not-allowed: at place 0: 1001", RIGHT | {"fourth": {"x": [1001]}})
empty = data("wrong not-allowed: 0 of them", RIGHT | {"fourth": {"x": []}})
too_long = data("wrong not-allowed: 10000000 of them", RIGHT | {"fourth": {"x": np.zeros(10_000_000)}})
a_matrix = data(
    "wrong not-allowed: an array of float64 of shape (2, 2)", RIGHT | {"fourth": {"x": np.full((2, 2), 100.0)}}
)
nested = data("wrong not-allowed: which is a list", RIGHT | {"fourth": {"x": [[100.0]]}})


def endless():
    """wrong not-allowed: which is a generator"""
    return RIGHT | {"fourth": {"x": (x for x in iter(int, 1))}}


another_name = data(
    'wrong not-allowed: did you mean "blocks"?', RIGHT | {"first": {"n": 64, "block": 3, "threads": 64}}
)
a_fifth = data('wrong not-allowed: a dict with "first", "second", "third", "fourth"', RIGHT | {"fifth": {}})
a_number = data("wrong not-allowed: which is a number", 64)


def a_list_without_an_end():
    """wrong not-allowed: [...]"""
    inside = []
    inside.append(inside)
    return RIGHT | {"fourth": {"x": inside}}


a_list_of_numbers = data("wrong not-allowed: which is a list", RIGHT | {"first": [64, 3, 64]})
