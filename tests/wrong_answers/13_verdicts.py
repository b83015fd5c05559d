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


def second_is_right():
    """wrong verdict: it goes wrong here"""
    return but(second="right")


def third_forgets_zero():
    """wrong verdict: No run of this task shows that"""
    return but(third="zero")


def fourth_is_right():
    """wrong verdict: it goes wrong here"""
    return but(fourth="right")


def fifth_rounds_down():
    """wrong verdict: it goes wrong here"""
    return but(fifth="floor")


def sixth_is_right():
    """wrong verdict: it goes wrong here"""
    return but(sixth="right")


def two_changed():
    """wrong verdict: it goes wrong here"""
    return but(fifth="floor", sixth="ends")


def all_right():
    """wrong verdict: it goes wrong here"""
    return dict.fromkeys(RIGHT, "right")


def another_word():
    """wrong not-allowed: did you mean"""
    return but(first="zero point")
