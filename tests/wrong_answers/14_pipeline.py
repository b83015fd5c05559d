"""Answers to 14-pipeline: each function returns the steps."""


def another_interleaving():
    """right"""
    return "AAAABBBBACCCCBADDDDCDBCD"


def as_a_list():
    """right"""
    return list("ABCABAAAADCBBBBDCCCCDDDD")


def with_blanks():
    """right"""
    return "abc ab aaa adc bbb bdc ccc ddd d"


def one_by_one():
    """wrong not-reached: What could stage 0 do while stage 1 works"""
    return "AAAAAABBBBBBCCCCCCDDDDDD"


def all_forward_first():
    """wrong not-reached: each stage keeps four activations"""
    return "ABCD" * 6


def forward_in_blocks():
    """wrong not-reached: each stage keeps four activations"""
    return "AAABBBCCCDDD" * 2


def two_halves():
    """wrong not-reached: Look at the bars"""
    return "ABABABABABABCDCDCDCDCDCD"


def no_warm_up():
    """wrong not-reached: Look at the bars"""
    return "AAAABABBABBBCCCCDCDDCDDD"


def too_few():
    """wrong not-reached: What could stage 0 do"""
    return "A"


def too_often():
    """wrong impossible: A microbatch has six passes"""
    return "AAAAAAABBBBB"


def a_fifth():
    """wrong unknown-thread: The microbatches are A, B, C and D"""
    return "ABCDE"


def a_number():
    """wrong type: one letter for each step"""
    return 18


def passes_in_place_of_letters():
    """wrong unknown-thread: A step issues the next pass"""
    return ["Af0", "Af1"]


def far_too_many():
    """wrong too-many-steps: has 24 when"""
    return "ABCD" * 300
