"""Answers to 02-races: functions that return the dict of the answer cell."""

RIGHT = {"A": "race condition", "B": "data race", "C": "both", "D": "neither", "E": "data race", "F": "race condition"}


def but(**verdicts):
    return RIGHT | verdicts


def locks_mean_no_race():
    """wrong verdict: each access was noted with the locks that were held"""
    return but(A="neither", F="neither")


def a_lost_addition_is_a_data_race():
    """wrong verdict: Is there more than one end?"""
    return but(C="data race")


def all_both():
    """wrong verdict: each access was noted with the locks that were held"""
    return dict.fromkeys("ABCDEF", "both")


def all_one_race():
    """wrong verdict: each access was noted with the locks that were held"""
    return dict.fromkeys("ABCDEF", "data race")
