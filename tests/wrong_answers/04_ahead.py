"""Answers to 04-ahead: functions that return the dict of the answer cell."""

RIGHT = {"A": "prefetch", "B": "nobody", "C": "prefetch", "D": "hardware", "E": "prefetch", "F": "hardware"}


def but(**verdicts):
    return RIGHT | verdicts


def in_another_order():
    """right"""
    return dict(reversed(RIGHT.items()))


def chance_for_nobody():
    """wrong verdict: A: "nobody\""""
    return but(A="nobody")


def a_list_can_be_followed():
    """wrong verdict: B: "prefetch\""""
    return but(B="prefetch")


def lists_are_alike():
    """wrong verdict: F: "nobody\""""
    return but(F="nobody")


def a_list_needs_a_prefetch():
    """wrong verdict: the first lines asked for are 0, 1, 2, 3, 4, 5"""
    return but(F="prefetch")


def a_regular_step_is_followed():
    """wrong verdict: their pages are 0, 2, 4, 6, 8, 10"""
    return but(C="hardware")


def a_random_beginning_is_chance():
    """wrong verdict: D: "prefetch\""""
    return but(D="prefetch")


def each_needs_the_one_before():
    """wrong verdict: E: "nobody\""""
    return but(E="nobody")


def a_formula_is_followed():
    """wrong verdict: the hardware sees no more than that"""
    return but(E="hardware")


def all_by_hardware():
    """wrong verdict: lines asked for are"""
    return dict.fromkeys("ABCDEF", "hardware")


def misspelt():
    """wrong not-allowed: did you mean "nobody"?"""
    return but(B="nobdy")


def a_list():
    """wrong not-allowed: a list"""
    return list(RIGHT.values())


def a_program_too_many():
    """wrong not-allowed: a dict with"""
    return but(G="nobody")
