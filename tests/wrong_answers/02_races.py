"""Answers to 02-races: functions that return the dict of the answer cell."""

RIGHT = {"A": "race condition", "B": "data race", "C": "both", "D": "neither", "E": "data race", "F": "race condition"}


def but(**verdicts):
    return RIGHT | verdicts


def in_another_order():
    """right"""
    return dict(reversed(RIGHT.items()))


def locked_is_right():
    """wrong verdict: It was played in all orders of its two threads"""
    return but(A="neither")


def locks_mean_no_race():
    """wrong verdict: each access was noted with the locks that were held"""
    return but(A="neither", F="neither")


def harmless_is_no_race():
    """wrong verdict: B: "neither\""""
    return but(B="neither")


def any_lock_will_do():
    """wrong verdict: is each access to what changes under the same lock"""
    return but(C="race condition")


def a_lost_addition_is_a_data_race():
    """wrong verdict: Is there more than one end?"""
    return but(C="data race")


def whoever_comes_first():
    """wrong verdict: D: "race condition\""""
    return but(D="race condition")


def double_checked_is_fine():
    """wrong verdict: E: "neither\""""
    return but(E="neither")


def all_both():
    """wrong verdict: each access was noted with the locks that were held"""
    return dict.fromkeys("ABCDEF", "both")


def all_one_race():
    """wrong verdict: each access was noted with the locks that were held"""
    return dict.fromkeys("ABCDEF", "data race")
