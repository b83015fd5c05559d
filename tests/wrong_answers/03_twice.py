"""Answers to 03-twice."""


def a_list():
    """right"""
    return list("ABAAAAABABAAABABAAABBB")


def the_other_way_round():
    """right"""
    return "BABBB BBABA BBBAB ABBBAAA"


def without_the_end():
    """right"""
    return "ABAAAAABABAAABABAAA"


def nothing_interrupted():
    """wrong not-reached: computed once each"""
    return "AAA"


def one_after_the_other():
    """wrong not-reached: What can B do between"""
    return "A" * 8 + "B"


def one_row_too_many():
    """wrong not-reached: may wait much longer"""
    return "ABABB"


def set_back_once():
    """wrong not-reached: can wait with it again"""
    return "BAAAAAAB"


def set_back_too_late():
    """wrong not-reached: while the other one computes on"""
    return "BAAAAAAAAB"


def a_thread_that_has_ended():
    """wrong impossible: step 9 is A, but A has ended"""
    return "A" * 9


def a_number():
    """wrong type: one letter for each step"""
    return 6


def numbers_of_threads():
    """wrong type: step 1 is 0"""
    return [0, 1, 0, 1]


def small_letters():
    """wrong unknown-thread: step 3 is 'x'"""
    return "aaxb"


def endless():
    """wrong too-many-steps: 1000000 steps"""
    return "AB" * 500_000
