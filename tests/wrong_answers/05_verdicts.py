"""Answers to 05-verdicts: functions that return the dict of the answer cell."""

RIGHT = {"A": "gaps", "B": "right", "C": "outside", "D": "two writers"}


def but(**verdicts):
    return RIGHT | verdicts


def a_goes_outside():
    """wrong verdict: n = 200 in 4 blocks of 64: look at element [192]"""
    return but(A="outside")


def the_odd_one_has_two_writers():
    """wrong verdict: No launch of this task shows that"""
    return but(B="two writers")


def d_has_wrong_numbers():
    """wrong verdict: look at `out[i]`"""
    return but(D="wrong numbers")


def misspelt():
    """wrong not-allowed: did you mean "two writers"?"""
    return but(D="two writer")


def a_list():
    """wrong not-allowed: which is a list"""
    return list(RIGHT.values())


def lower_case():
    """wrong not-allowed: a dict with "A", "B", "C", "D\""""
    return {name.lower(): verdict for name, verdict in RIGHT.items()}
