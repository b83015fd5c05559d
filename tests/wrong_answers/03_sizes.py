"""Answers to 03-sizes: functions that return the dict of the answer cell."""

import numpy as np

RIGHT = {"first": {"n": 9, "parts": 4}, "second": {"n": 2000, "parts": 2}, "third": {"n": 100, "parts": 20}}


def but(**flaws):
    return RIGHT | flaws


def other_sizes():
    """right"""
    return {
        "first": {"n": np.int64(15), "parts": 64},
        "second": {"n": 172, "parts": 1},
        "third": {"n": 1999, "parts": np.int32(64)},
    }


def without_remainder():
    """wrong agrees: Rounded to the nearest"""
    return but(first={"n": 1000, "parts": 8})


def only_a_zero_is_lost():
    """wrong agrees: n = 6 in 5 parts"""
    return but(first={"n": 6, "parts": 5})


def many_small_parts():
    """wrong agrees: how many can an int8 hold"""
    return but(second={"n": 2000, "parts": 64})


def just_127():
    """wrong agrees: How many does one part find"""
    return but(second={"n": 169, "parts": 1})


def sixteen_parts():
    """wrong agrees: Which two parts use the same place"""
    return but(third={"n": 1000, "parts": 16})


def empty_parts():
    """wrong agrees: Does each of these two have an element"""
    return but(third={"n": 20, "parts": 18})


def no_numbers():
    """wrong not-allowed: a whole number from 1 to 2000"""
    return but(first={"n": 0, "parts": 4})


def too_many_parts():
    """wrong not-allowed: a whole number from 1 to 64"""
    return but(third={"n": 1000, "parts": 65})


def huge():
    """wrong not-allowed: a number of more than 64 bits"""
    return but(second={"n": 10**6000, "parts": 1})


def a_float():
    """wrong not-allowed: with a point"""
    return but(first={"n": 9.0, "parts": 4})


def a_flag():
    """wrong not-allowed: True or False"""
    return but(first={"n": True, "parts": 4})


def another_name():
    """wrong not-allowed: did you mean "parts"?"""
    return but(first={"n": 9, "part": 4})


def a_list():
    """wrong not-allowed: which is a list"""
    return but(first=[9, 4])
