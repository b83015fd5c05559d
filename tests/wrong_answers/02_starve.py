"""Answers to 02-starve."""


def a_list_with_more_rounds():
    """right"""
    return list("BAAA" + 3 * "BBBBBAAA")


def another_beginning():
    """right"""
    return "bbb bbb, a a a bbbbb aaa bbbbb aaa"


def b_first_for_a_while():
    """right"""
    return "BBBBBB BBAAABB BBBAAA BBBBBAAA"


def a_livelock():
    """wrong not-reached: What must B find when it looks"""
    return "ABABABAB"


def nobody_is_asked():
    """wrong not-reached: the other thread is not asked at all"""
    return "BBBBBBBBBB"


def a_alone():
    """wrong not-reached: Both must move in it"""
    return "BAAAAAAAAA"


def only_b_came_back():
    """wrong not-reached: the other thread is not asked at all"""
    return "BAAABBBBB"


def not_closed():
    """wrong no-round: the start, but A was at line"""
    return "BAAABBBB"


def no_round_at_all():
    """wrong no-round: the start, but wants_b was False, and is True"""
    return "B"


def a_gets_in():
    """wrong impossible: step 5 is A, but A has ended"""
    return "AAAAAB"


def a_number():
    """wrong type: one letter for each step"""
    return 3


def numbers_of_threads():
    """wrong type: step 1 is 0"""
    return [0, 1, 0, 1]


def code():
    """wrong type: one letter for each step"""
    return print


def a_thread_too_many():
    """wrong unknown-thread: step 3 is 'C'"""
    return "ABCA"


def endless():
    """wrong too-many-steps: 1000000 steps"""
    return "AB" * 500_000


def a_huge_list():
    """wrong too-many-steps: 1000000 steps"""
    return ["A"] * 1_000_000
