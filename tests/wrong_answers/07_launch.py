"""Answers to 07-launch."""

import math  # noqa: F401  for the answers in mistakes


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


def with_a_float(n):
    """wrong type: `//` gives a whole number"""
    return (n + 255) / 256, 256


def odd_threads(n):
    """wrong not-warps: warps of 32"""
    return (n + 99) // 100, 100


def threads_first(n):
    """wrong exchanged: The number of blocks comes first"""
    return 256, (n + 255) // 256


def blocks_alone(n):
    """wrong type: Return the two numbers"""
    return (n + 255) // 256
