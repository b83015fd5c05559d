"""Answers to 07-launch."""

import math


def with_ceil(n):
    """right"""
    return math.ceil(n / 1024), 1024


def smallest_blocks(n):
    """right"""
    blocks, rest = divmod(n, 32)
    return [blocks + (rest > 0), 32]


def rounded_down(n):
    """wrong too-few: Round up"""
    return n // 256, 256


def one_more(n):
    """wrong too-many: one block too many when the division has no rest"""
    return n // 256 + 1, 256


def one_block(n):
    """wrong over-1024: 1024 is the limit"""
    return 1, (n + 31) // 32 * 32


def with_a_float(n):
    """wrong type: `//` gives a whole number"""
    return (n + 255) / 256, 256


def odd_threads(n):
    """wrong not-warps: warps of 32"""
    return (n + 99) // 100, 100


def hard_coded(n):
    """wrong too-many: The last block has nothing to do"""
    return 1954, 256


def threads_first(n):
    """wrong exchanged: The number of blocks comes first"""
    return 256, (n + 255) // 256


def blocks_alone(n):
    """wrong type: Return the two numbers"""
    return (n + 255) // 256


def a_warp_for_each_element(n):
    """wrong too-many: a block handles `threads` elements"""
    return n, 32
