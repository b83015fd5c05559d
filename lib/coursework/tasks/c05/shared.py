"""What several tasks of chapter 05 use: pictures in blocks of threads."""

from ...definition import random_values, unwritten

BLOCK = (16, 16)


def picture_arguments(rows, columns):
    """make(rng) -> picture and out of shape (rows, columns)."""
    return lambda rng: (random_values(rng, rows, columns), unwritten(rows, columns))


def thread_of_pixel(index, case):
    """(block, thread) that writes an element, x counting columns."""
    (row, column) = index
    return (column // 16, row // 16), (column % 16, row % 16)
