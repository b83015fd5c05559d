"""Answers to 11-fails: functions that return the dict of the answer cell."""

import numpy as np

RIGHT = {
    "first": {"x": [95]},
    "second": {"x": [-110, -120]},
    "third": {"x": [-10000, -9999.5]},
    "fourth": {"queries": 9, "keys": 3},
}


def but(**flaws):
    return RIGHT | flaws


def numpy_arrays():
    """right"""
    return but(first={"x": np.array([0.0, 200.0])}, fourth={"queries": np.int64(1), "keys": np.int32(64)})


def all_zero():
    """wrong agrees: the largest number whose exponential"""
    return but(first={"x": [0, 0, 0]})


def large_and_still_right():
    """wrong agrees: a float32 can hold"""
    return but(first={"x": [80, 79, 3]})


def one_above_zero():
    """wrong agrees: For which x is it still 0 at the end"""
    return but(second={"x": [-200, -200, 0.5]})


def below_zero_and_near():
    """wrong agrees: what is then the largest of the exponentials"""
    return but(second={"x": [-20, -30, -40]})


def around_zero():
    """wrong agrees: about seven digits"""
    return but(third={"x": [-1, 0, 1, 2]})


def far_from_each_other():
    """wrong agrees: How large must `squares` be"""
    return but(third={"x": [-10000, 10000, 5000]})


def a_square():
    """wrong agrees: Which keys does query 0 see"""
    return but(fourth={"queries": 33, "keys": 33})


def too_large():
    """wrong not-allowed: at place 1: 201"""
    return but(first={"x": [100, 201]})


def negative():
    """wrong not-allowed: numbers from 0 to 200"""
    return but(first={"x": [-100]})


def too_many():
    """wrong not-allowed: 9 of them"""
    return but(second={"x": [-150] * 9})


def one_number():
    """wrong not-allowed: a list of 2 to 8 numbers"""
    return but(third={"x": [9000]})


def infinity():
    """wrong not-allowed: no number to compute with"""
    return but(first={"x": [float("inf")]})


def no_queries():
    """wrong not-allowed: a whole number from 1 to 64"""
    return but(fourth={"queries": 0, "keys": 3})
