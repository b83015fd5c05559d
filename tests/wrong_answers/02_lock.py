"""Answers to 02-lock."""


def the_other_way_round():
    """right"""
    return "B" + 8 * "A" + "BBBA" + 8 * "B" + "AAA"


def left_open():
    """wrong not-reached: The order of readings and writings"""
    return "ABAB"


def a_thread_that_waits():
    """wrong impossible: step 5 is B, but B waits for lock, which A holds since line 8"""
    return "AABBB"


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
    return ("B" + 8 * "A" + "BBBA" + 8 * "B" + "AAA").lower()


def a_thread_too_many():
    """wrong unknown-thread: step 3 is 'D'"""
    return "ABDA"


def endless():
    """wrong too-many-steps: 1000000 steps"""
    return "AB" * 500_000


def a_huge_list():
    """wrong too-many-steps: 1000000 steps"""
    return ["A"] * 1_000_000
