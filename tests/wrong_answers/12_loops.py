"""Answers to 12-loops: functions that return the dict of the answer cell."""

RIGHT = {"first": "stale", "second": "pairs", "third": "learns", "fourth": "right", "fifth": "judges", "sixth": "leak"}


def but(**verdicts):
    return RIGHT | verdicts


def in_another_order():
    """right"""
    return dict(reversed(RIGHT.items()))


def first_is_right():
    """wrong verdict: it goes wrong here"""
    return but(first="right")


def second_is_right():
    """wrong verdict: it goes wrong here"""
    return but(second="right")


def third_is_right():
    """wrong verdict: it goes wrong here"""
    return but(third="right")


def fourth_is_stale():
    """wrong verdict: No run of this task shows that"""
    return but(fourth="stale")


def fifth_learns():
    """wrong verdict: it goes wrong here"""
    return but(fifth="learns")


def sixth_is_right():
    """wrong verdict: it goes wrong here"""
    return but(sixth="right")


def two_exchanged():
    """wrong verdict: which gradients wait"""
    return but(third="judges", fifth="learns")


def all_right():
    """wrong verdict: it goes wrong here"""
    return dict.fromkeys(RIGHT, "right")
