"""What tasks of chapter 16 share."""

import numpy as np

from ...definition import random_values, unwritten

# Told before a wrong result, which only follows from them.
FIRST = (
    "race",
    "atomic-against-plain",
    "uninitialised-shared",
    "divergent-barrier",
    "barrier-after-exit",
    "divergent-warp-operation",
    "inactive-lane-read",
)


def matrix_arguments(rows, columns):
    """make(rng) -> x and out (rows, columns), rows, columns."""
    return lambda rng: (random_values(rng, rows, columns), unwritten(rows, columns), rows, columns)


def by_place(index, case):
    """(work-group, work-item) of element [row, column] of a matrix whose columns lie along dimension 0."""
    row, column = map(int, index)
    across, down = case.block
    return f"({column // across}, {row // down})", f"({column % across}, {row % down})"


def rounded(shape, local):
    """Work-groups along each dimension."""
    return tuple(-(-n // size) for n, size in zip(shape, local, strict=True))


def whole_numbers(rng, n, low, high):
    return rng.integers(low, high, n).astype(np.int32)
