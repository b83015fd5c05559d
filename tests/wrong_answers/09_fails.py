"""Answers to 09-fails: functions that return the dict of the answer cell."""

import numpy as np

RIGHT = {
    "first": {"n": 9, "taps": 1, "padding": 0, "dilation": 1, "stride": 2},
    "second": {"n": 5, "taps": 2, "padding": 8, "dilation": 3, "stride": 3},
    "third": {"n": 1, "taps": 3, "padding": 2, "dilation": 2, "stride": 1},
    "fourth": {"n": 64, "taps": 6, "padding": 8, "dilation": 4},
}


def but(**flaws):
    return RIGHT | flaws


def numpy_numbers():
    """right"""
    return but(first={"n": np.int64(64), "taps": 3, "padding": np.int32(4), "dilation": 1, "stride": 1})


def the_usual_layer():
    """wrong agrees: When is out as long as x"""
    return but(first={"n": 30, "taps": 3, "padding": 1, "dilation": 1, "stride": 1})


def the_usual_layer_dilated():
    """wrong agrees: an element of x that counts and is left out"""
    return but(first={"n": 30, "taps": 3, "padding": 2, "dilation": 2, "stride": 1})


def no_dilation():
    """wrong agrees: What is it multiplied by"""
    return but(second={"n": 30, "taps": 5, "padding": 4, "dilation": 1, "stride": 2})


def no_padding():
    """wrong agrees: makes that no difference"""
    return but(second={"n": 30, "taps": 5, "padding": 0, "dilation": 3, "stride": 2})


def neighbours():
    """wrong agrees: what does rounding leave out"""
    return but(third={"n": 30, "taps": 5, "padding": 8, "dilation": 1, "stride": 3})


def no_window():
    """wrong not-allowed: a window fits into the line"""
    return but(first={"n": 5, "taps": 9, "padding": 1, "dilation": 1, "stride": 1})


def no_step():
    """wrong not-allowed: a whole number from 1 to 3"""
    return but(second={"n": 5, "taps": 3, "padding": 1, "dilation": 1, "stride": 0})


def a_float():
    """wrong not-allowed: with a point"""
    return but(third={"n": 17.0, "taps": 3, "padding": 1, "dilation": 2, "stride": 1})


def a_flag():
    """wrong not-allowed: True or False"""
    return but(third={"n": 17, "taps": True, "padding": 1, "dilation": 2, "stride": 1})


def a_stride_too_many():
    """wrong not-allowed: a dict with "n", "taps", "padding", "dilation\""""
    return but(fourth={"n": 64, "taps": 9, "padding": 0, "dilation": 3, "stride": 1})


def a_tuple():
    """wrong not-allowed: which is a list"""
    return but(first=(20, 3, 0, 1, 1))
