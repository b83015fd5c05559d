"""Answers to 05-place."""

import numpy as np


def with_rests(i, depth, rows, columns):
    """right"""
    if i >= depth * rows * columns:
        return None
    return [i // (rows * columns), i // columns % rows, i % columns]


def by_numpy(i, depth, rows, columns):
    """right"""
    return np.unravel_index(i, (depth, rows, columns)) if i < depth * rows * columns else None


def no_guard(i, depth, rows, columns):
    """wrong beyond: There is no such element"""
    return i // (rows * columns), i // columns % rows, i % columns


def one_too_many(i, depth, rows, columns):
    """wrong beyond: counted from 0"""
    return None if i > depth * rows * columns else (i // (rows * columns), i // columns % rows, i % columns)


def x_first(i, depth, rows, columns):
    """wrong place: The order is z, y, x"""
    return i % columns, i // columns % rows, i // (rows * columns)


def rows_never_begin_anew(i, depth, rows, columns):
    """wrong place: From one slice to the next it begins anew"""
    return i // (rows * columns), i // columns, i % columns


def place_in_the_slice(i, depth, rows, columns):
    """wrong place: x is the place in the slice"""
    return i // (rows * columns), i // columns % rows, i % (rows * columns)


def rows_for_columns(i, depth, rows, columns):
    """wrong place: rows and columns are exchanged"""
    return i // (rows * columns), i // rows % columns, i % rows


def z_fastest(i, depth, rows, columns):
    """wrong place: In memory x does"""
    return i % depth, i // depth % rows, i // (depth * rows)


def slices_of_a_row(i, depth, rows, columns):
    """wrong place: How many elements has one of them"""
    return i // columns, i // columns % rows, i % columns


def floats(i, depth, rows, columns):
    """wrong type: `//` gives a whole number"""
    return i / (rows * columns), i / columns % rows, i % columns


def from_one(i, depth, rows, columns):
    """wrong place: Count from 0"""
    return i // (rows * columns) + 1, i // columns % rows + 1, i % columns + 1


def nothing(i, depth, rows, columns):
    """wrong type: this element is there"""


def one_number(i, depth, rows, columns):
    """wrong type: Return three numbers"""
    return i // (rows * columns)


def of_one_size(i, depth, rows, columns):
    """wrong place: Not right: z, y, x"""
    return None if i == 24 else (i // 12, i // 4 % 3, i % 4)
