"""Answers to 08-hasty."""


def a_list():
    """right"""
    return list("BABABBBBAAAABBBBAAAA")


def with_spaces():
    """right"""
    return "abab bbbb aaaa bbbb aaaa"


def every_step():
    """right"""
    return "ABABBBBBAAAABBBBAAAAAABB"


def nothing_interrupted():
    """wrong not-reached: Who must go first then"""
    return "A"


def b_begins():
    """wrong not-reached: Once A read a number that was too new"""
    return "B"


def in_turns():
    """wrong not-reached: how far may B go while A rests"""
    return "AB" * 12


def tile_by_tile():
    """wrong not-reached: Which number of a tile does B overwrite"""
    return "ABAB" + "AABB" + "ABAB" + "AABB" + "ABAB" + "AABB"


def b_is_late():
    """wrong not-reached: A read each tile before its numbers were overwritten"""
    return "ABABAAAABBBBAAAABBBBAABB"


def late_once():
    """wrong not-reached: so that A is late once more"""
    return "ABABBBBBAAAA"


def each_late_once():
    """wrong not-reached: Who must go first then"""
    return "ABABAAAABBBBBBBBAAAAAABB"


def past_the_barrier():
    """wrong impossible: step 3 is A, but A waits at the barrier"""
    return "AAA"


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
