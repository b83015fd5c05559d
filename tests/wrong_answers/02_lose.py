"""Answers to 02-lose."""

import numpy as np


def the_other_way_round():
    """right"""
    return "BAAAA BABBBB A"


def one_lost():
    """wrong not-reached: One update was written over"""
    return "ABABAABABB"[:4]


def two_lost():
    """wrong not-reached: how many writings of the other thread"""
    return "AABBABABABAB"


def a_thread_that_has_ended():
    """wrong impossible: step 7 is A, but A has ended"""
    return "AAAAAAA"


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
    return "abbbb, abaaaab"


def a_thread_too_many():
    """wrong unknown-thread: step 3 is 'D'"""
    return "ABDA"


def endless():
    """wrong too-many-steps: 1000000 steps"""
    return "AB" * 500_000


def a_huge_list():
    """wrong too-many-steps: 1000000 steps"""
    return ["A"] * 1_000_000


def an_array():
    """right"""
    return np.array(list("ABBBBABAAAAB"))


def another_alphabet():
    """wrong unknown-thread: CYRILLIC CAPITAL LETTER A"""
    return "\N{CYRILLIC CAPITAL LETTER A}BBBBABAAAAB"


def a_very_long_name():
    """wrong unknown-thread: step 1 is 'AAAAAAAAAAAA...AAAAAAAAAAAAA'; the threads"""
    return ["A" * 10**6]
