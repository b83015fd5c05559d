"""Answers to 06-order."""


def small_letters_and_spaces():
    """right"""
    return "frr frr frr"


def numbers_late_each_time():
    """right"""
    return "FRRNFRRNFRRN"


def nothing_interrupted():
    """wrong not-reached: Which of the two stores has to be late"""
    return "NNNFFFRRRRRR"


def one_flag_alone():
    """wrong not-reached: R looks at the flag three times"""
    return "FRRNNNFFRRRR"


def two_flags_at_once():
    """wrong not-reached: R can see each of them, one after the other"""
    return "FRRFFRR"


def nothing_arrives():
    """wrong not-reached: Which of the two stores has to be late"""
    return "RRR"


def a_fourth_flag():
    """wrong impossible: Three numbers arrive, and three flags"""
    return "FFFF"


def the_writer():
    """wrong unknown-thread: Write N, F or R"""
    return "WFRR"


def words():
    """wrong unknown-thread: a number arrives, a flag arrives"""
    return ["flag", "reader"]


def a_number():
    """wrong type: one letter for each step"""
    return 9


def a_dict():
    """wrong type: one letter for each step"""
    return {"F": 3}
