"""07-broadcast: A row and a column make a matrix."""

import numpy as np

from ...definition import Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask
from .shared import BEYOND_2D, GAPS_2D, TURNED, case_2d, thread_2d


def row_and_column(rows, columns):
    """make(rng) -> row of shape (columns,), column of shape (rows,), out of shape (rows, columns)."""
    return lambda rng: (random_values(rng, columns), random_values(rng, rows), unwritten(rows, columns))


def _outer(row, column):
    return column[:, None].astype(np.float64) + row


BROADCAST = KernelTask(
    id="07-broadcast",
    section=Section("7.2", "07_fusion", "Fusion"),
    title="A row and a column make a matrix",
    objective="Index vectors that are broadcast along the rows and the columns of a matrix",
    points=1,
    minutes=8,
    after="07-map",
    spec=lambda row, column, out: _outer(row, column),
    cases=(
        case_2d("one block, full", row_and_column, 8, 16),
        case_2d("wide", row_and_column, 5, 70),
        case_2d("ragged and tall", row_and_column, 37, 20),
        case_2d("exact and square", row_and_column, 32, 32),
    ),
    writer=thread_2d,
    suspects=(
        Suspect(
            lambda row, column, out: _outer(column, row) if row.size == column.size else np.zeros(0),
            "Rows and columns are exchanged: row[j] belongs to column j of the matrix.",
        ),
        Suspect(lambda row, column, out: 0 * column[:, None] + row, "This is the row alone: no column was added."),
        Suspect(lambda row, column, out: column[:, None] + 0 * row, "This is the column alone: no row was added."),
        Suspect(
            lambda row, column, out: column[:, None] * row, "This is the product of the two. The sum is asked for."
        ),
    ),
    advice={
        "out-of-bounds": BEYOND_2D,
        "none-beyond": "row has an element for each column of the matrix, column one for each row, and out has rows "
        "first. Which index does each take?",
        "some-unwritten": GAPS_2D,
        "gaps-in-one-block": TURNED + " Or does an `if` leave out a store?",
        "race": TURNED,
    },
    hints=(
        "Element [2, 5] of the matrix: which element of row does it need, and which of column?",
        "All threads of a column of the matrix read the same element of row. Nothing is copied: an index that a vector "
        "does not have is simply not used.",
        "As in the task before, with the guard by out.shape. Of the two indices, row takes the one that counts "
        "columns.",
    ),
)
