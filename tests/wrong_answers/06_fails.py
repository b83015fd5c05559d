"""Answers to 06-fails: functions that return the dict of the answer cell."""

import numpy as np

RIGHT = {"halved": {"threads": 3, "blocks": 1}, "crossed": {"rows": 1, "columns": 2}, "copies": {"x": [1] * 33}}


def but(**flaws):
    return RIGHT | flaws


def small_ones():
    """right"""
    return RIGHT


def large_ones():
    """right"""
    x = np.arange(64) % 7
    x[32:] = x[31::-1]
    return {
        "halved": {"threads": np.int64(127), "blocks": 4},
        "crossed": {"rows": 63, "columns": 64},
        "copies": {"x": x},
    }


def a_power_of_two():
    """wrong agrees: Is there such a thread, whatever the number of threads"""
    return but(halved={"threads": 64, "blocks": 3})


def one_thread():
    """wrong agrees: Is there such a thread, whatever the number of threads"""
    return but(halved={"threads": 1, "blocks": 4})


def too_many_threads():
    """wrong not-allowed: a whole number from 1 to 128"""
    return but(halved={"threads": 200, "blocks": 1})


def no_square_but_full():
    """wrong agrees: Which element does it store"""
    return but(crossed={"rows": 16, "columns": 64})


def a_small_square():
    """wrong agrees: for which shapes of a tile are both there or both not"""
    return but(crossed={"rows": 9, "columns": 9})


def the_same_number_32_times():
    """wrong agrees: Which threads have the same copy"""
    return but(copies={"x": [5] * 32})


def two_equal_ones_side_by_side():
    """wrong agrees: what else must they share"""
    return but(copies={"x": [3, 3]})


def long_but_never_equal_32_apart():
    """wrong agrees: Nothing atomic is needed as long as no two threads use one counter"""
    return but(copies={"x": [0] * 32 + [1] * 32})


def no_such_bin():
    """wrong not-allowed: from 0 to 7"""
    return but(copies={"x": [8] * 40})


def a_number_for_a_list():
    """wrong not-allowed: a list of 1 to 64 numbers"""
    return but(copies={"x": 33})


def a_fraction():
    """wrong not-allowed: gives a whole number"""
    return but(crossed={"rows": 4.5, "columns": 3})


def misspelt():
    """wrong not-allowed: did you mean "columns"?"""
    return but(crossed={"rows": 4, "colums": 3})
