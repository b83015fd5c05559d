"""Answers to 10-fails: functions that return the dict of the answer cell."""

import numpy as np

RIGHT = {"first": {"a": [0.001] * 20}, "second": {"b": [4, -9, 5]}, "third": {"n": 3}}


def but(**flaws):
    return RIGHT | flaws


def small_ones():
    """right"""
    return RIGHT


def numpy_arrays():
    """right"""
    return but(first={"a": np.full(40, 0.01)}, second={"b": np.array([9, 0, -9, -9, 1, 1])}, third={"n": np.int64(63)})


def all_ones():
    """wrong agrees: the smallest number that a float32 can hold"""
    return but(first={"a": [1, 1, 1, 1]})


def many_that_are_not_small_enough():
    """wrong agrees: divides by products"""
    return but(first={"a": [0.5] * 40})


def one_small_number():
    """wrong agrees: products of many numbers"""
    return but(first={"a": [0.001]})


def all_positive():
    """wrong agrees: inside of that half"""
    return but(second={"b": [1, 2, 3, 4]})


def falls_in_the_first_half():
    """wrong agrees: replaced by its sum"""
    return but(second={"b": [1, -9, 3, 4]})


def falls_at_the_end():
    """wrong agrees: What is forgotten then"""
    return but(second={"b": [1, 2, 3, -9]})


def power_of_two():
    """wrong agrees: how many rounds are there for this n"""
    return but(third={"n": 64})


def one_step():
    """wrong agrees: After k rounds"""
    return but(third={"n": 1})


def zero():
    """wrong not-allowed: at place 1: 0"""
    return but(first={"a": [1, 0]})


def too_long():
    """wrong not-allowed: 2 to 8 numbers"""
    return but(second={"b": list(range(9))})


def half_a_step():
    """wrong not-allowed: with a point"""
    return but(third={"n": 7.0})
