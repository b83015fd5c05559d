"""04-first: Where does an element lie?"""

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask
from .shared import LINE, SETS


def place_of(row, column, columns):
    """The specification of 04-first."""
    line = 4 * (row * columns + column) // LINE
    return line, line % SETS


_WHOLE = "(A row is not always a whole number of lines: count the elements before this one, then bytes, then lines.)"


def judge_place(arguments, result):
    row, column, columns = arguments
    line, number = place_of(row, column, columns)
    expected = f"({line}, {number})"
    well_formed = isinstance(result, tuple | list) and len(result) == 2 and all(type(x) is int for x in result)
    if not well_formed:
        return Slip("type", expected, "Return two whole numbers, the line and its set. `//` divides without a rest.")
    if tuple(result) == (line, number):
        return None
    element = row * columns + column
    if tuple(result) == (number, line):
        return Slip("order", expected, "The line comes first, then its set.")
    slips = (
        ("element", result[0] == element, "The first number is that of the element. A line holds 16 of them."),
        ("no-bytes", result[0] == element // LINE, "An element has 4 bytes: which byte does it begin at?"),
        ("doubles", result[0] == 8 * element // LINE, "That would be right for float64. A float32 has 4 bytes."),
        (
            "exchanged",
            result[0] == 4 * (column * columns + row) // LINE,
            "Row and column are exchanged: whole rows come before the element, `columns` elements each.",
        ),
        (
            "no-column",
            result[0] == 4 * row * columns // LINE,
            f"That is where row {row} begins. `column` elements of the row come before this one, too."
            + (f" {_WHOLE}" if result[0] == row * (columns // 16) + column // 16 else ""),
        ),
        ("whole-lines", result[0] == row * (columns // 16) + column // 16, _WHOLE),
        (
            "padded",
            result[0] == row * -(-columns // 16) + column // 16,
            "Here each row begins with a new line. The rows follow each other without a gap: count elements, then "
            "bytes.",
        ),
        ("from-one", result[0] == line + 1, "The matrix begins at line 0, not at line 1."),
        ("set", result[0] == line, "The line is right. A cache keeps it in the set with the number line % 64."),
    )
    for kind, holds, cause in slips:
        if holds:
            return Slip(kind, expected, cause)
    return Slip("other", expected, "How many elements come before it? How many bytes are that, and how many lines?")


def place_case(row, column, columns):
    return Case(f"x[{row}, {column}] of {columns} columns", lambda rng: (row, column, columns))


FIRST = FunctionTask(
    id="04-first",
    section=Section("4", "04_memory", "Cache lines"),
    title="Where does an element lie?",
    objective="Say in which line and in which set of a cache an element lies",
    points=1,
    minutes=4,
    judge=judge_place,
    cases=(
        place_case(5, 50, 300),
        place_case(0, 15, 100),
        place_case(0, 16, 100),
        place_case(3, 7, 1000),
        place_case(65, 5, 1024),
    ),
    hints=(
        "How many elements come before x[row, column]?",
        "Elements before it, times their bytes, divided by the bytes of a line and rounded down: that is the line. The "
        "rest of a division says the set.",
        "`columns` elements for each whole row before it, and `column` more; 4 bytes each; 64 bytes in a line; 64 "
        "sets.",
    ),
)
