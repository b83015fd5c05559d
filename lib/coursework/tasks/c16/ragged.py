"""16-ragged: The guard of a ragged matrix."""

import numpy as np

from ...definition import Case, Section
from ...kinds.arrays import Suspect
from ...kinds.opencl import OpenCLTask
from .shared import by_place, matrix_arguments, rounded

LOCAL = (8, 4)
SLOPE = 0.125


def leaky(x, out, rows, columns):
    x = x.astype(np.float64)
    return np.where(x > 0, x, SLOPE * x)


def ragged_case(name, rows, columns):
    groups = rounded((columns, rows), LOCAL)
    return Case(f"{name}: {rows} x {columns}", matrix_arguments(rows, columns), grid=groups, block=LOCAL)


RAGGED = OpenCLTask(
    id="16-ragged",
    section=Section("16", "16_opencl", "From a platform to an event"),
    kernel="leaky",
    title="The guard of a ragged matrix",
    objective="Write an elementwise kernel in OpenCL C that is right where the work-groups do not divide the matrix",
    points=2,
    minutes=10,
    spec=leaky,
    out=1,
    writer=by_place,
    cases=(
        ragged_case("exact", 8, 16),
        ragged_case("ragged", 5, 13),
        ragged_case("one column", 9, 1),
        ragged_case("one element", 1, 1),
    ),
    suspects=(
        Suspect(
            lambda x, out, r, c: np.maximum(x.astype(np.float64), 0),
            "Negative numbers became 0. This is ReLU, or a factor that is 0, as 1 / 8 between whole numbers is: they "
            "are multiplied by 0.125.",
        ),
        Suspect(
            lambda x, out, r, c: np.where(x > 0, SLOPE * x, x), "The two sides are exchanged: positive numbers stay."
        ),
        Suspect(lambda x, out, r, c: SLOPE * x.astype(np.float64), "All numbers were multiplied: positive ones stay."),
        Suspect(lambda x, out, r, c: np.abs(x), "This is the absolute value."),
        Suspect(
            lambda x, out, r, c: np.maximum(x.astype(np.float64), SLOPE),
            "Negative numbers became 0.125 itself. They are multiplied by it.",
        ),
        Suspect(
            lambda x, out, r, c: leaky(x.reshape(c, r).T, out, r, c),
            "x was read as if its columns lay one after the other. Rows do: element [row, column] is at row * columns "
            "+ column.",
        ),
        Suspect(
            lambda x, out, r, c: leaky(x, out, r, c).T.reshape(r, c),
            "out was written as if its columns lay one after the other. Rows do: element [row, column] is at row * "
            "columns + column.",
        ),
    ),
    advice={
        "out-of-bounds": (
            "The NDRange was rounded up in both dimensions. Which work-items have no element? The last element of the "
            "memory is not the only edge: a column beyond the end is an element of the next row."
        ),
        "race": (
            "Two work-items stored to one element: a work-item whose column is beyond the end stores into the next "
            "row, or the index has not the row's length in it."
        ),
        "two-writers": "The element of row r and column c stands at r * columns + c. Does a column beyond the end "
        "store into the next row?",
        "some-unwritten": "Some elements have no work-item. Dimension 0 runs along the columns, dimension 1 along the "
        "rows.",
    },
    hints=(
        "A work-item of this NDRange has a row and a column. From which function, and which of its dimensions?",
        "Guard both: column < columns and row < rows. Then the place in memory is row * columns + column.",
        "int column = get_global_id(0), row = get_global_id(1); one `if` around all the rest; `? :` chooses the value. "
        "Write 0.125f, with an f.",
    ),
)
