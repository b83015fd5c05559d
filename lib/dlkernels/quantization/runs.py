"""Which scale belongs to which numbers: any tensor as rows that are cut into runs, each with a scale of its own.

    one scale for all              one row, which is one run
    a scale for each of an axis    a row for each of its indices, which is one run; of the last axis: runs of one number
    a scale for each group         the tensor's rows, in runs of `group_size` numbers

Rows and runs are contiguous. Rungs know no more of a tensor than this.
"""

import math
from typing import NamedTuple


class Runs(NamedTuple):
    """rows of `length` numbers, in runs of `run` (the last may be shorter), `groups` to a row. `repeat` rows after each
    other have the same scales; run g of row r has scale (r // repeat * groups + g) % how many scales there are."""

    rows: int
    length: int
    run: int
    groups: int
    repeat: int


def runs(shape, axis=None, group_size=None, packed=False):
    """The Runs of a tensor of that shape. packed: its rows are bytes of their own, so rows may not be joined."""
    shape = tuple(shape) or (1,)
    rows, length = math.prod(shape[:-1]), shape[-1]
    if group_size is not None:
        return Runs(rows, length, group_size, -(-length // group_size), 1)
    if axis is None:
        joined = not packed or length % 2 == 0
        rows, length = (1, rows * length) if joined else (rows, length)
        return Runs(rows, length, max(length, 1), 1, 1)
    axis %= len(shape)
    if axis == len(shape) - 1:
        return Runs(rows, length, 1, length, max(rows, 1))
    repeat = math.prod(shape[axis + 1 : -1])
    if not packed or length % 2 == 0:
        rows, length, repeat = math.prod(shape[: axis + 1]), length * repeat, 1
    return Runs(rows, length, max(length, 1), 1, max(repeat, 1))


def scales_shape(shape, axis=None, group_size=None):
    """The shape of the scales of a tensor of that shape."""
    if group_size is not None:
        return (*shape[:-1], -(-shape[-1] // group_size))
    return () if axis is None else (shape[axis],)
