"""Answers to 05-fails: functions that return the dict of the answer cell."""

import numpy as np

RIGHT = {
    "wrapped": {"n": 1, "blocks": 1, "threads": 2},
    "pairs": {"n": 1, "blocks": 1, "threads": 1},
    "linear": {"rows": 2, "columns": 1},
}


def but(**flaws):
    return RIGHT | flaws


def small_ones():
    """right"""
    return RIGHT


def the_largest_and_numpy_numbers():
    """right"""
    return {
        "wrapped": {"n": np.int64(1024), "blocks": 16, "threads": np.int32(128)},
        "pairs": {"n": 1023, "blocks": 16, "threads": 128},
        "linear": {"rows": 64, "columns": 63},
    }


def as_many_threads_as_elements():
    """wrong agrees: Which element does the thread behind the last one take"""
    return but(wrapped={"n": 256, "blocks": 4, "threads": 64})


def too_few_threads():
    """wrong not-allowed: blocks * threads >= n"""
    return but(wrapped={"n": 256, "blocks": 3, "threads": 64})


def even():
    """wrong agrees: For which n is the second one not there"""
    return but(pairs={"n": 100, "blocks": 1, "threads": 64})


def many_idle_threads():
    """wrong agrees: For which n is the second one not there"""
    return but(pairs={"n": 2, "blocks": 16, "threads": 128})


def too_few_for_pairs():
    """wrong not-allowed: 2 * blocks * threads >= n"""
    return but(pairs={"n": 101, "blocks": 1, "threads": 50})


def full_blocks():
    """wrong agrees: a thread whose column lies beyond the right edge"""
    return but(linear={"rows": 32, "columns": 48})


def rows_beyond():
    """wrong agrees: when is there a row below"""
    return but(linear={"rows": 5, "columns": 16})


def one_row():
    """wrong agrees: when is there a row below"""
    return but(linear={"rows": 1, "columns": 20})


def no_rows():
    """wrong not-allowed: a whole number from 1 to 64"""
    return but(linear={"rows": 0, "columns": 20})


def a_large_block():
    """wrong not-allowed: a whole number from 1 to 128"""
    return but(wrapped={"n": 100, "blocks": 1, "threads": 256})


def a_float():
    """wrong not-allowed: with a point"""
    return but(pairs={"n": 101 / 1, "blocks": 1, "threads": 64})


def another_name():
    """wrong not-allowed: did you mean "columns"?"""
    return but(linear={"rows": 2, "column": 20})


def a_list():
    """wrong not-allowed: which is a list"""
    return but(wrapped=[100, 2, 64])
