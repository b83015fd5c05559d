"""Answers to 14-pipeline: each function returns the steps."""


def as_a_list():
    """right"""
    return list("ABCABAAAADCBBBBDCCCCDDDD")


def forward_in_blocks():
    """wrong not-reached: each stage keeps four activations"""
    return "AAABBBCCCDDD" * 2


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
