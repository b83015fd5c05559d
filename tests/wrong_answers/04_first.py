"""Answers to 04-first."""

from answers import edit, replace


def elements_for_lines(row, column, columns):
    """wrong element: A line holds 16"""
    element = row * columns + column
    return element, element % 64


def elements_for_bytes(row, column, columns):
    """wrong element: A line holds 16"""
    return row * columns + column, 0


by_divmod = edit(
    "no_bytes", "right", replace("/ 64", "/ 16"), replace("line, line % 64", "[line, divmod(line, 64)[1]]")
)


def row_forgotten(row, column, columns):
    """wrong other: How many elements come before it"""
    line = 4 * (row + column) // 64
    return line, line % 64


def only_the_line(row, column, columns):
    """wrong type: the line and its set"""
    return 4 * (row * columns + column) // 64


def nothing(row, column, columns):
    """wrong type: Return two whole numbers"""


def typed(row, column, columns):
    """wrong other: How many elements come before it"""
    return {15: (0, 0), 16: (1, 1), 7: (187, 0)}.get(column, (0, 0))
