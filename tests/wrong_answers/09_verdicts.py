"""Answers to 09-verdicts: functions that return the dict of the answer cell."""

RIGHT = {"A": "race", "B": "right", "C": "wrong numbers", "D": "outside"}


def but(**verdicts):
    return RIGHT | verdicts


def in_another_order():
    """right"""
    return dict(reversed(RIGHT.items()))


def b_goes_outside():
    """wrong verdict: No launch of this task shows that"""
    return but(B="outside")


def all_right():
    """wrong verdict: 30 results"""
    return dict.fromkeys("ABCD", "right")


def misspelt():
    """wrong not-allowed: did you mean "race"?"""
    return but(A="races")


def another_letter():
    """wrong not-allowed: a dict with "A", "B", "C", "D\""""
    return but(E="right")
