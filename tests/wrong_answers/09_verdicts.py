"""Answers to 09-verdicts: functions that return the dict of the answer cell."""

RIGHT = {"A": "race", "B": "right", "C": "wrong numbers", "D": "outside"}


def but(**verdicts):
    return RIGHT | verdicts


def in_another_order():
    """right"""
    return dict(reversed(RIGHT.items()))


def a_is_right():
    """wrong verdict: A: "right\""""
    return but(A="right")


def a_has_wrong_numbers():
    """wrong verdict: look at `dx"""
    return but(A="wrong numbers")


def b_has_gaps():
    """wrong verdict: No launch of this task shows that"""
    return but(B="gaps")


def b_goes_outside():
    """wrong verdict: No launch of this task shows that"""
    return but(B="outside")


def c_is_right():
    """wrong verdict: element [0], which belongs to thread 0"""
    return but(C="right")


def c_goes_outside():
    """wrong verdict: 30 results, 3 weights"""
    return but(C="outside")


def d_is_right():
    """wrong verdict: look at `"""
    return but(D="right")


def atomics_race():
    """wrong verdict: D: "race\""""
    return but(D="race")


def all_right():
    """wrong verdict: 30 results"""
    return dict.fromkeys("ABCD", "right")


def misspelt():
    """wrong not-allowed: did you mean "race"?"""
    return but(A="races")


def another_letter():
    """wrong not-allowed: a dict with "A", "B", "C", "D\""""
    return but(E="right")
