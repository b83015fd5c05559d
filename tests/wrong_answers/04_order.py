"""Answers to 04-order."""

import itertools

import numpy as np


def tiles(n, m, size):
    for top, left in itertools.product(range(0, n, size), range(0, m, size)):
        for i in range(top, min(top + size, n)):
            for j in range(left, min(left + size, m)):
                yield i, j


def as_an_array(n, m):
    """right"""
    return np.array(list(tiles(n, m, 16)))


def strips(n, m):
    """right"""
    return [(i, j) for left in range(0, m, 32) for i in range(n) for j in range(left, min(left + 32, m))]


def columns_of_tiles(n, m):
    """right"""
    return [[i, j] for left in range(0, m, 16) for i in range(n) for j in range(left, min(m, left + 16))]


def tiles_too_small(n, m):
    """wrong fetches: less than 16 rows"""
    return list(tiles(n, m, 4))


def tiles_too_large(n, m):
    """wrong fetches: must still be there for its next row"""
    return list(tiles(n, m, 48))


def tiles_across_lines(n, m):
    """wrong fetches: half used"""
    return list(tiles(n, m, 12))


def whole_tiles_only(n, m):
    """wrong number: ragged edges"""
    return list(tiles(n // 16 * 16, m // 16 * 16, 16))


def over_the_edge(n, m):
    """wrong number: ragged edges"""
    return list(tiles(-(-n // 16) * 16, -(-m // 16) * 16, 16))


def transposed(n, m):
    """wrong exchanged: or is it (j, i)?"""
    return [(j, i) for i, j in tiles(n, m, 16)]


def overlapping(n, m):
    """wrong twice: Do your tiles overlap"""
    pairs = list(tiles(n, m, 16))
    return pairs[:-1] + pairs[:1]


def flat_numbers(n, m):
    """wrong type: a list of pairs"""
    return list(range(n * m))


def nothing(n, m):
    """wrong type: a list of pairs"""
