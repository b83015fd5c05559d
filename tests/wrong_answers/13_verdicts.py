"""Answers to 13-verdicts: functions that return the dict of the answer cell."""

RIGHT = {"first": "zero", "second": "bias", "third": "right", "fourth": "pairs", "fifth": "ends", "sixth": "floor"}


def but(**verdicts):
    return RIGHT | verdicts


def in_another_order():
    """right"""
    return dict(reversed(RIGHT.items()))


def first_is_right():
    """wrong verdict: it goes wrong here"""
    return but(first="right")


def fifth_rounds_down():
    """wrong verdict: it goes wrong here"""
    return but(fifth="floor")


def another_word():
    """wrong not-allowed: did you mean"""
    return but(first="zero point")
