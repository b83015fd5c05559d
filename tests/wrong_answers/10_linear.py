"""Answers to 10-linear: functions that return the dict of the answer cell."""

RIGHT = {"A": "waits", "B": "pair", "C": "max", "D": "fraction", "E": "waits"}


def but(**verdicts):
    return RIGHT | verdicts


def a_is_a_pair():
    """wrong verdict: look at `h ="""
    return but(A="pair")


def b_is_a_fraction():
    """wrong verdict: No trial of this task shows that"""
    return but(B="fraction")


def c_waits():
    """wrong verdict: C: "waits\""""
    return but(C="waits")


def d_waits():
    """wrong verdict: Write two steps one after the other as one formula"""
    return but(D="waits")


def all_wait():
    """wrong verdict: with x ="""
    return dict.fromkeys("ABCDE", "waits")


def misspelt():
    """wrong not-allowed: did you mean "fraction"?"""
    return but(D="fractions")


def another_letter():
    """wrong not-allowed: a dict with "A", "B", "C", "D", "E\""""
    return but(F="pair")
