"""Answers to 08-fails: functions that return the dict of the answer cell."""

import numpy as np

RIGHT = {
    "first": {"m": 1, "k": 17, "n": 16},
    "second": {"m": 2, "k": 1, "n": 1},
    "third": {"m": 16, "k": 2, "n": 1},
    "fourth": {"m": 1, "k": 1, "n": 1},
}


def but(**flaws):
    return RIGHT | flaws


def small_ones():
    """right"""
    return RIGHT


def numpy_numbers():
    """right"""
    one = {"m": np.int64(33), "k": np.int32(61), "n": 29}
    return dict.fromkeys(RIGHT, one)


def squares():
    """wrong agrees: What does the loop over them end with"""
    return but(first={"m": 33, "k": 33, "n": 33})


def long_rows():
    """wrong agrees: when is that too early"""
    return but(first={"m": 16, "k": 32, "n": 64})


def the_same_tile():
    """wrong agrees: The tiles go on along k"""
    return but(first={"m": 16, "k": 31, "n": 17})


def multiples_of_16():
    """wrong agrees: Where does a thread with a column that does not exist"""
    return but(second={"m": 32, "k": 7, "n": 48})


def ragged_below_only():
    """wrong agrees: is it let through"""
    return but(second={"m": 19, "k": 7, "n": 48})


def full_blocks():
    """wrong agrees: What is missing when it loads nothing"""
    return but(third={"m": 16, "k": 50, "n": 32})


def a_multiple_of_four():
    """wrong agrees: how many terms are that for each k"""
    return but(fourth={"m": 5, "k": 64, "n": 9})


def three_more():
    """wrong agrees: for which k is it too few"""
    return but(fourth={"m": 5, "k": 63, "n": 9})


def nothing():
    """wrong not-allowed: a whole number from 1 to 64"""
    return but(first={"m": 0, "k": 1, "n": 1})


def too_large():
    """wrong not-allowed: a whole number from 1 to 64"""
    return but(fourth={"m": 1, "k": 65, "n": 1})


def a_float():
    """wrong not-allowed: with a point"""
    return but(third={"m": 17.0, "k": 16, "n": 16})


def a_flag():
    """wrong not-allowed: True or False"""
    return but(third={"m": True, "k": 16, "n": 16})


def huge():
    """wrong not-allowed: a number of more than 64 bits"""
    return but(second={"m": 10**6000, "k": 1, "n": 1})


def a_tuple():
    """wrong not-allowed: which is a list"""
    return but(first=(16, 32, 16))


def another_name():
    """wrong not-allowed: a dict with "m", "k", "n\""""
    return but(first={"m": 16, "p": 32, "n": 16})
