"""Answers to 03-loops: functions that return the dict of the answer cell."""

RIGHT = {"A": "race", "B": "right", "C": "rows left out", "D": "wrong start", "E": "carried"}


def but(**verdicts):
    return RIGHT | verdicts


def in_another_order():
    """right"""
    return dict(reversed(RIGHT.items()))


def a_is_carried():
    """wrong verdict: iteration 0"""
    return but(A="carried")


def b_is_carried():
    """wrong verdict: B: "carried\""""
    return but(B="carried")


def d_is_right():
    """wrong verdict: element [5] is 0; expected -1"""
    return but(D="right")


def e_is_right():
    """wrong verdict: top is used before the iteration has set it"""
    return but(E="right")


def e_races():
    """wrong verdict: what may another iteration do"""
    return but(E="race")


def misspelt():
    """wrong not-allowed: did you mean "carried"?"""
    return but(E="caried")


def a_list():
    """wrong not-allowed: which is a list"""
    return list(RIGHT.values())


def the_loop_itself():
    """wrong not-allowed: which is a builtin_function_or_method"""
    return but(A=max)


def a_sixth():
    """wrong not-allowed: a dict with "A", "B", "C", "D", "E\""""
    return but(F="race")
