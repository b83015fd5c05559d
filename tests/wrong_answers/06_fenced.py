"""Answers to 06-fenced."""


def small_letters_and_spaces():
    """right"""
    return "rwwr rwwr rwwr"


def a_list():
    """right"""
    return list("RWWR" * 3)


def the_writer_first():
    """wrong not-reached: it has the number in hand before it looks at the flag"""
    return "WWWWWWRRRRRR"


def the_reader_first():
    """wrong not-reached: What may happen between these two loads"""
    return "RRRRRRWWWWWW"


def twice():
    """wrong not-reached: both between R's two loads"""
    return "RWWRRWWWWR"


def a_step_too_many():
    """wrong impossible: The writer has six steps"""
    return "W" * 7


def the_reader_has_ended():
    """wrong impossible: The writer has six steps"""
    return "R" * 7


def a_number():
    """wrong type: one letter for each step"""
    return 6


def nothing_but_numbers():
    """wrong type: one letter for each step"""
    return [1, 0, 0, 1]
