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


def in_turns():
    """wrong not-reached: What may happen between these two loads"""
    return "RW" * 6


def message_by_message():
    """wrong not-reached: What may happen between these two loads"""
    return "WWRR" * 3


def all_of_it_between():
    """wrong not-reached: How many steps of W are enough"""
    return "RWWWWWWRRRRR"


def twice():
    """wrong not-reached: both between R's two loads"""
    return "RWWRRWWWWR"


def as_without_a_fence():
    """wrong unknown-thread: Write W or R"""
    return "FRRFRRFRR"


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
