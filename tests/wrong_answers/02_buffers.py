"""Answers to 02-buffers: functions that return the dict of the answer cell."""

RIGHT = {"A": "gives up", "B": "sleeps on", "C": "right", "D": "crashes"}


def but(**verdicts):
    return RIGHT | verdicts


def a_is_right():
    """wrong verdict: one producer, two consumers, bound 2: it goes wrong here"""
    return but(A="right")


def a_crashes():
    """wrong verdict: A: "crashes\""""
    return but(A="crashes")


def c_is_overfull():
    """wrong verdict: C: "overfull\""""
    return but(C="overfull")


def d_is_right():
    """wrong verdict: one producer, two consumers, bound 2: it goes wrong here"""
    return but(D="right")


def b_and_c_exchanged():
    """wrong verdict: B: "right\""""
    return but(B="right", C="sleeps on")


def all_right():
    """wrong verdict: it goes wrong here"""
    return dict.fromkeys("ABCD", "right")


def misspelt():
    """wrong not-allowed: did you mean "sleeps on"?"""
    return but(B="sleep on")


def a_class():
    """wrong not-allowed: which is a type"""
    return but(A=int)


def a_list():
    """wrong not-allowed: which is a list"""
    return list(RIGHT.values())
