"""Answers to 04-pad."""

import numpy as np


def crowd(rows, length):
    lines = np.unique(np.arange(rows) * length * 4 // 64)
    return np.bincount(lines % 64).max()


def with_numpy(rows, columns):
    """right"""
    length = columns
    while crowd(rows, length) > 8:
        length += 1
    return length


def always_a_line_more(rows, columns):
    """wrong too-long: wastes memory"""
    return columns + 16


def always_one_more(rows, columns):
    """wrong too-long: from `columns` on"""
    return columns + 1


def a_line_more_if_a_power_of_two(rows, columns):
    """wrong too-long: wastes memory"""
    return columns + 16 if columns & (columns - 1) == 0 else columns


def one_more_if_a_power_of_two(rows, columns):
    """wrong crowded: Lines whose numbers differ by 64"""
    return columns + 1 if columns & (columns - 1) == 0 else columns


def whole_lines(rows, columns):
    """wrong too-long: wastes memory"""
    length = -(-columns // 16) * 16
    while crowd(rows, length) > 8:
        length += 16
    return length


def in_bytes(rows, columns):
    """wrong too-long: wastes memory"""
    return 4 * with_numpy(rows, columns)


def the_padding_alone(rows, columns):
    """wrong too-short: takes none away"""
    return with_numpy(rows, columns) - columns


def two_rows_in_a_line_counted_twice(rows, columns):
    """wrong too-long: wastes memory"""
    length = columns
    while np.bincount(np.arange(rows) * length * 4 // 64 % 64).max() > 8:
        length += 1
    return length


def with_a_fraction(rows, columns):
    """wrong type: an int"""
    return with_numpy(rows, columns) * 4 / 4


def nine_lines(rows, columns):
    """wrong crowded: share a set"""
    while crowd(rows, columns) > 9:
        columns += 1
    return columns
