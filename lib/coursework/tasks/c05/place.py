"""05-place: Where in the volume?"""

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask


def judge_place(arguments, result):
    """A Slip, or None for the place of element i in a volume."""
    i, depth, rows, columns = arguments
    if i >= depth * rows * columns:
        cause = "There is no such element: the volume has depth * rows * columns, counted from 0. Then return None."
        return None if result is None else Slip("beyond", "None", cause)
    right = tuple(int(v) for v in np.unravel_index(i, (depth, rows, columns)))
    expected = f"(z, y, x) = {right}"
    if not isinstance(result, tuple | list) or len(result) != 3:
        cause = "Return three numbers, `return z, y, x`. None is for an i that is too large, and this element is there."
        return Slip("type", expected, cause)
    if not all(isinstance(v, int | np.integer) for v in result):
        return Slip(
            "type", expected, "`/` gives a float even where the division has no rest; `//` gives a whole number."
        )
    said, (z, y, x) = tuple(int(v) for v in result), right
    if said == right:
        return None
    causes = (
        ((x, y, z), "The order is z, y, x: the one that changes slowest comes first."),
        (
            (z, i // columns, x),
            "y counts the rows from the beginning of the volume. From one slice to the next it begins anew: % rows.",
        ),
        ((z, y, i % (rows * columns)), "x is the place in the slice. In its row it begins anew: % columns."),
        ((z, y, i), "x is all of i. In its row it begins anew: % columns."),
        (
            np.unravel_index(i, (depth, columns, rows)),
            "A row has as many elements as there are columns. Here rows and columns are exchanged.",
        ),
        (
            np.unravel_index(i, (depth, rows, columns), "F"),
            "Here z changes fastest. In memory x does: elements 0 and 1 are neighbours in a row.",
        ),
        (
            (i // (depth * rows), i % (depth * rows) // columns, i % (depth * rows) % columns),
            "A slice has rows * columns elements, not depth * rows.",
        ),
        ((i // depth, y, x), "z counts slices. How many elements has one of them?"),
        ((i // rows, y, x), "z counts slices. How many elements has one of them?"),
        ((i // columns, y, x), "z counts slices. How many elements has one of them?"),
        ((z + 1, y + 1, x + 1), "Count from 0: element 0 stands at (0, 0, 0)."),
    )
    fits = [words for indices, words in causes if said == tuple(int(v) for v in indices)]
    cause = " Or: ".join(dict.fromkeys(fits))  # small numbers may fit several
    wrong = [name for name, a, b in zip("zyx", said, right, strict=True) if a != b]
    cause = cause or (
        f"Not right: {', '.join(wrong)}. A row has `columns` elements, a slice has rows * columns. How many whole "
        "slices lie before element i, and how many whole rows in what is left?"
    )
    return Slip("place", expected, cause)


def _at(i, *shape):
    return Case(f"i = {i} in {' x '.join(map(str, shape))}", lambda rng: (i, *shape))


PLACE = FunctionTask(
    id="05-place",
    section=Section("5", "05_threads", "Two and three dimensions"),
    title="Where in the volume?",
    objective="Compute slice, row and column of an element from the number of its thread",
    points=2,
    minutes=10,
    judge=judge_place,
    cases=(
        _at(7, 2, 3, 4),
        _at(17, 2, 3, 4),
        _at(0, 2, 3, 4),
        _at(23, 2, 3, 4),
        _at(24, 2, 3, 4),
        _at(1234, 20, 12, 30),
    ),
    advice={
        "raised-ValueError": "np.unravel_index refuses an index beyond the end. Ask first whether there is such an "
        "element.",
        "raised-TypeError": "i, depth, rows and columns are whole numbers, not arrays.",
    },
    hints=(
        "A volume of 2 x 3 x 4 has slices of 12 elements, in rows of 4. In which slice is element 17? How many "
        "elements of that slice come before it?",
        "`//` tells how many whole ones lie before, `%` what is left. Begin with the slices, and go on with what is "
        "left.",
        "The slice is i divided by the elements of a slice. What is left, divided by the elements of a row, is the "
        "row; what is left of that is the column. First of all, the guard.",
    ),
)
