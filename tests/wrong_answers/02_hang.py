"""Answers to 02-hang."""


def with_all_letters():
    """right"""
    return "CABCABABABC"


def c_holds_red():
    """right"""
    return "ABCABCCB"


def no_harm():
    """wrong not-reached: Which lock must A hold"""
    return "AB"


def a_waits():
    """wrong impossible: but B waits for blue, which A holds since line"""
    return "ABABAABBB"


def a_has_ended():
    """wrong impossible: step 8 is A, but A has ended: it has 7 steps"""
    return "A" * 8


def a_number():
    """wrong type: one letter for each step"""
    return 3


def not_a_number():
    """wrong type: one letter for each step"""
    return float("nan")


def bytes_():
    """wrong type: one letter for each step"""
    return b"ABAB"


def numbers_of_threads():
    """wrong type: step 1 is 0"""
    return [0, 1, 0, 1]


def a_dictionary():
    """wrong type: one letter for each step"""
    return {"A": 1}


def code():
    """wrong type: one letter for each step"""
    return print


def small_letters():
    """right"""
    return "cabcababABC"


def a_thread_too_many():
    """wrong unknown-thread: step 3 is 'D'"""
    return "ABDA"


def endless():
    """wrong too-many-steps: 1000000 steps"""
    return "AB" * 500_000


def a_huge_list():
    """wrong too-many-steps: 1000000 steps"""
    return ["A"] * 1_000_000
