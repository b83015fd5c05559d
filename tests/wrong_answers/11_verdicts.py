"""Answers to 11-verdicts: functions that return the dict of the answer cell."""

RIGHT = {"A": "too much", "B": "barrier", "C": "race", "D": "right", "E": "keys lost"}


def but(**verdicts):
    return RIGHT | verdicts


def in_another_order():
    """right"""
    return dict(reversed(RIGHT.items()))


def b_reads_too_much():
    """wrong verdict: look at `cuda.syncthreads()`"""
    return but(B="too much")


def d_loses_keys():
    """wrong verdict: No launch of this task shows that"""
    return but(D="keys lost")


def all_right():
    """wrong verdict: 64 queries and keys"""
    return dict.fromkeys("ABCDE", "right")


def misspelt():
    """wrong not-allowed: did you mean "keys lost"?"""
    return but(E="key lost")


def another_letter():
    """wrong not-allowed: a dict with "A", "B", "C", "D", "E\""""
    return but(F="right")
