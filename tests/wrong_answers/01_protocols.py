"""Answers to 01-protocols: functions that return the dict of the answer cell."""

RIGHT = {"first": "compiles", "second": "dead", "third": "honest", "fourth": "once", "fifth": "warm"}


def but(**verdicts):
    return RIGHT | verdicts


def in_another_order():
    """right"""
    return dict(reversed(RIGHT.items()))


def first_is_honest():
    """wrong verdict: 9 repeats, 30 s to compile, nothing disturbed: it goes wrong here"""
    return but(first="honest")


def fourth_is_honest():
    """wrong verdict: calls 4 and 10 disturbed"""
    return but(fourth="honest")


def fourth_is_noisy():
    """wrong verdict: fourth: "noisy\""""
    return but(fourth="noisy")


def fifth_is_honest():
    """wrong verdict: who looks at its result"""
    return but(fifth="honest")


def two_exchanged():
    """wrong verdict: it goes wrong here"""
    return but(second="warm", fifth="dead")


def all_honest():
    """wrong verdict: it goes wrong here"""
    return dict.fromkeys(RIGHT, "honest")


def misspelt():
    """wrong not-allowed: did you mean "compiles"?"""
    return but(first="compile")


def a_flag():
    """wrong not-allowed: True or False"""
    return but(third=True)


def upper_case():
    """wrong not-allowed: a dict with "first\""""
    return {name.upper(): verdict for name, verdict in RIGHT.items()}
