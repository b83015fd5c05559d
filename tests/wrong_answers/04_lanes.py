"""Answers to 04-lanes: functions that return the dict of the answer cell."""

RIGHT = {"A": "never", "B": "order", "C": "vectors", "D": "error", "E": "never"}


def but(**verdicts):
    return RIGHT | verdicts


def in_another_order():
    """right"""
    return dict(reversed(RIGHT.items()))


def a_is_a_sum():
    """wrong verdict: one number is computed at a time"""
    return but(A="order")


def a_has_vectors():
    """wrong verdict: A: "vectors\""""
    return but(A="vectors")


def b_has_vectors():
    """wrong verdict: what rounds i and i + 1 need"""
    return but(B="vectors")


def c_raises():
    """wrong verdict: C: "error\""""
    return but(C="error")


def all_have():
    """wrong verdict: one number is computed at a time"""
    return dict.fromkeys("ABCDE", "vectors")


def misspelt():
    """wrong not-allowed: did you mean "order"?"""
    return but(B="orders")


def a_word():
    """wrong not-allowed: which is text"""
    return "never"


def true_or_false():
    """wrong not-allowed: a truth value, True or False"""
    return but(A=False)
