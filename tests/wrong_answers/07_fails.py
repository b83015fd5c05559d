"""Answers to 07-fails: functions that return the dict of the answer cell."""

import numpy as np

RIGHT = {
    "first": {"n": 10, "blocks": 2, "threads": 64},
    "second": {"n": 96, "blocks": 3, "threads": 32},
    "third": {"n": 2, "blocks": 2, "threads": 1},
    "fourth": {"x": [-1000, 1000]},
}


def but(**flaws):
    return RIGHT | flaws


def small_ones():
    """right"""
    return RIGHT


def the_largest_and_numpy_numbers():
    """right"""
    launch = {"n": np.int64(2048), "blocks": np.int32(16), "threads": 256}
    return {
        "first": launch | {"n": 1},
        "second": launch,
        "third": launch,
        "fourth": {"x": np.linspace(-1000, 1000, 64)},
    }


def tuples():
    """right"""
    return but(fourth={"x": (89,)})


def block_of_256():
    """right"""
    return but(second={"n": 300, "blocks": 2, "threads": 256})


def ragged_in_the_last_block():
    """wrong agrees: Every block but the last works without a guard"""
    return but(first={"n": 100, "blocks": 2, "threads": 64})


def one_block_of_128():
    """wrong agrees: What is 128 meant to be"""
    return but(second={"n": 100, "blocks": 1, "threads": 128})


def many_blocks_of_128():
    """wrong agrees: What is 128 meant to be"""
    return but(second={"n": 1000, "blocks": 8, "threads": 128})


def larger_blocks_that_are_full():
    """wrong agrees: what the specification says"""
    return but(second={"n": 512, "blocks": 2, "threads": 256})


def a_single_block_of_the_third():
    """wrong agrees: Which thread stores out[0]"""
    return but(third={"n": 250, "blocks": 1, "threads": 256})


def small_values():
    """wrong agrees: The largest float32 is about 3.4e38"""
    return but(fourth={"x": [0, 1, -1, 80]})


def large_and_negative():
    """wrong agrees: becomes larger than that"""
    return but(fourth={"x": [-1000]})


def too_few_threads():
    """wrong not-allowed: blocks * threads >= n"""
    return but(first={"n": 100, "blocks": 1, "threads": 64})


def no_elements():
    """wrong not-allowed: a whole number from 1 to 2048"""
    return but(first={"n": 0, "blocks": 3, "threads": 64})


def negative_blocks():
    """wrong not-allowed: a whole number from 1 to 16"""
    return but(first={"n": 1, "blocks": -3, "threads": 64})


def huge():
    """wrong not-allowed: a number of more than 64 bits"""
    return but(second={"n": 10**6000, "blocks": 16, "threads": 256})


def too_many_threads():
    """wrong not-allowed: a whole number from 1 to 256"""
    return but(third={"n": 64, "blocks": 2, "threads": 512})


def a_float():
    """wrong not-allowed: with a point"""
    return but(first={"n": 64.0, "blocks": 3, "threads": 64})


def a_flag():
    """wrong not-allowed: True or False"""
    return but(first={"n": True, "blocks": 3, "threads": 64})


def a_text():
    """wrong not-allowed: which is text"""
    return but(first={"n": "64", "blocks": 3, "threads": 64})


def code():
    """wrong not-allowed: which is text"""
    return but(fourth={"x": "__import__('os').system('true')"})


def not_a_number():
    """wrong not-allowed: at place 1: nan"""
    return but(fourth={"x": [1.0, float("nan")]})


def infinite():
    """wrong not-allowed: inf, which is no number to compute with"""
    return but(fourth={"x": [float("inf")]})


def too_large():
    """wrong not-allowed: at place 0: 1001"""
    return but(fourth={"x": [1001]})


def empty():
    """wrong not-allowed: 0 of them"""
    return but(fourth={"x": []})


def too_long():
    """wrong not-allowed: 10000000 of them"""
    return but(fourth={"x": np.zeros(10_000_000)})


def a_matrix():
    """wrong not-allowed: an array of float64 of shape (2, 2)"""
    return but(fourth={"x": np.full((2, 2), 100.0)})


def nested():
    """wrong not-allowed: which is a list"""
    return but(fourth={"x": [[100.0]]})


def endless():
    """wrong not-allowed: which is a generator"""
    return but(fourth={"x": (x for x in iter(int, 1))})


def another_name():
    """wrong not-allowed: did you mean "blocks"?"""
    return but(first={"n": 64, "block": 3, "threads": 64})


def a_fifth():
    """wrong not-allowed: a dict with "first", "second", "third", "fourth\""""
    return but(fifth={})


def a_number():
    """wrong not-allowed: which is a number"""
    return 64


def a_list_without_an_end():
    """wrong not-allowed: [...]"""
    inside = []
    inside.append(inside)
    return but(fourth={"x": inside})


def a_list_of_numbers():
    """wrong not-allowed: which is a list"""
    return but(first=[64, 3, 64])
