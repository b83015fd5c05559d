"""Answers to 04-first."""

from answers import MASTER, edit, replace


def elements_for_lines(row, column, columns):
    """wrong element: A line holds 16"""
    element = row * columns + column
    return element, element % 64


def elements_for_bytes(row, column, columns):
    """wrong element: A line holds 16"""
    return row * columns + column, 0


def no_bytes(row, column, columns):
    """wrong no-bytes: which byte does it begin at"""
    line = (row * columns + column) // 64
    return line, line % 64


by_divmod = edit(no_bytes, "right", replace("/ 64", "/ 16"), replace("line, line % 64", "[line, divmod(line, 64)[1]]"))
double_precision = edit(MASTER, "wrong doubles: A float32 has 4 bytes", replace("line = 4", "line = 8"))


def exchanged(row, column, columns):
    """wrong exchanged: whole rows come before"""
    line = 4 * (column * columns + row) // 64
    return line, line % 64


divided_set = edit(MASTER, "wrong set: The line is right", replace("line % 64", "line // 64"))


def row_forgotten(row, column, columns):
    """wrong other: How many elements come before it"""
    line = 4 * (row + column) // 64
    return line, line % 64


true_division = edit(MASTER, "wrong type: divides without a rest", replace("// 64", "/ 64"))


def only_the_line(row, column, columns):
    """wrong type: the line and its set"""
    return 4 * (row * columns + column) // 64


def nothing(row, column, columns):
    """wrong type: Return two whole numbers"""


def typed(row, column, columns):
    """wrong other: How many elements come before it"""
    return {15: (0, 0), 16: (1, 1), 7: (187, 0)}.get(column, (0, 0))
