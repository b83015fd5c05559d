"""Answers to 07-verdicts: functions that return the dict of the answer cell."""

RIGHT = {"A": "two writers", "B": "outside", "C": "right", "D": "gaps"}


def but(**verdicts):
    return RIGHT | verdicts


def in_another_order():
    """right"""
    return dict(reversed(RIGHT.items()))


def a_has_gaps():
    """wrong verdict: A: "gaps\""""
    return but(A="gaps")


def b_has_gaps():
    """wrong verdict: look at `x[i]`"""
    return but(B="gaps")


def the_odd_one_is_wrong():
    """wrong verdict: No launch of this task shows that"""
    return but(C="wrong numbers")


def d_is_right():
    """wrong verdict: n = 200 in 2 blocks of 64"""
    return but(D="right")


def all_right():
    """wrong verdict: of 64"""
    return dict.fromkeys("ABCD", "right")


def misspelt():
    """wrong not-allowed: did you mean "two writers"?"""
    return but(A="two writer")


def a_list():
    """wrong not-allowed: which is a list"""
    return list(RIGHT.values())


def several_for_one():
    """wrong not-allowed: which is a list"""
    return but(A=["outside", "gaps"])


def a_huge_number():
    """wrong not-allowed: something very long, which is a number"""
    return but(A=10**6000)


def lower_case():
    """wrong not-allowed: a dict with "A", "B", "C", "D\""""
    return {name.lower(): verdict for name, verdict in RIGHT.items()}
