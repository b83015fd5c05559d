"""Answers to 14-loops: functions that return the dict of the answer cell."""

RIGHT = {"first": "divide", "second": "ragged", "third": "batch", "fourth": "right", "fifth": "start", "sixth": "late"}


def but(**verdicts):
    return RIGHT | verdicts


def in_another_order():
    """right"""
    return dict(reversed(RIGHT.items()))


def first_is_right():
    """wrong verdict: it goes wrong here"""
    return but(first="right")


def second_starts_apart():
    """wrong verdict: it goes wrong here"""
    return but(second="start")


def third_is_right():
    """wrong verdict: it goes wrong here"""
    return but(third="right")


def another_word():
    """wrong not-allowed: did you mean"""
    return but(third="batches")
