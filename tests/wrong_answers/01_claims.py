"""Answers to 01-claims: functions that return the dict of the answer cell."""

import numpy as np

RIGHT = {
    "ratio": {"peer": [1, 2], "ours": [2, 1]},
    "workers": {"percent": 1, "wanted": 34},
    "clock": {"tick": 60, "cost": 20},
}


def but(**claims):
    return RIGHT | claims


def other_inputs():
    """right"""
    return {
        "ratio": {"peer": np.array([10.0, 1, 5]), "ours": (1, 10, 5)},
        "workers": {"percent": np.int64(5), "wanted": 16},
        "clock": {"tick": 38, "cost": 1},
    }


def equal_times():
    """wrong agrees: When can a mean be above 1"""
    return but(ratio={"peer": [3, 3], "ours": [3, 3]})


def ours_always_faster():
    """wrong agrees: One of the two is the winner"""
    return but(ratio={"peer": [2, 3, 4], "ours": [1, 2, 3]})


def one_pair():
    """wrong agrees: the winner here"""
    return but(ratio={"peer": [9], "ours": [2]})


def different_lengths():
    """wrong not-allowed: as many times of the one"""
    return but(ratio={"peer": [1, 2, 3], "ours": [2, 1]})


def time_of_nothing():
    """wrong not-allowed: at place 1: 0"""
    return but(ratio={"peer": [1, 0], "ours": [2, 1]})


def no_whole_number():
    """wrong agrees: what ceil makes of it"""
    return but(workers={"percent": 7, "wanted": 11})


def at_the_limit():
    """wrong not-allowed: below the limit"""
    return but(workers={"percent": 10, "wanted": 10})


def a_fraction():
    """wrong not-allowed: with a point"""
    return but(workers={"percent": 2.5, "wanted": 10})


def a_fine_clock():
    """wrong agrees: The clock stands still"""
    return but(clock={"tick": 1, "cost": 50})


def a_power_of_two_of_calls():
    """wrong agrees: How far apart"""
    return but(clock={"tick": 32, "cost": 1})


def a_call_of_a_tick():
    """wrong agrees: The clock stands still"""
    return but(clock={"tick": 50, "cost": 50})


def no_tick():
    """wrong not-allowed: a whole number from 1 to 60"""
    return but(clock={"tick": 0, "cost": 5})


def code():
    """wrong not-allowed: which is text"""
    return but(ratio={"peer": "[1, 2]", "ours": [2, 1]})


def a_fourth():
    """wrong not-allowed: a dict with "ratio", "workers", "clock\""""
    return but(fourth={})
