"""Answers to 05-overlap."""


def small_letters():
    """right"""
    return "bac bac bac"


def a_list():
    """right"""
    return list("BABACBACC")


def not_all_issued():
    """wrong not-reached: Look for gaps in the two lines"""
    return "AB"


def a_step_too_many():
    """wrong impossible: A stream has three pieces of work"""
    return "AAAA"


def a_stream_that_is_none():
    """wrong unknown-thread: The streams are A, B and C"""
    return "ABCD"


def numbers():
    """wrong type: Write a string with one letter for each step"""
    return [0, 1, 2]


def a_table():
    """wrong type: Write a string with one letter for each step"""
    return {"A": 3}


def words():
    """wrong unknown-thread: A step issues the next piece of work"""
    return ["A load", "B load"]
