"""Group rows of integer columns: the few tools that keep the analysis free of loops over accesses."""

import numpy as np


def pack(*columns):
    """One int64 key whose order is that of the rows (c0, c1, ...). Columns are integers of any range."""
    key, span = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        column = np.asarray(column, np.int64)
        low = int(column.min()) if column.size else 0
        width = int(column.max()) - low + 1 if column.size else 1
        if span * width >= 2**62:  # number densely before the key overflows
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            span = int(key.max()) + 1
            if span * width >= 2**62:
                column = np.unique(column, return_inverse=True)[1].astype(np.int64)
                low, width = 0, int(column.max()) + 1
        if width > 1:
            key *= width
            key += column
            key -= low
        span *= width
    return key


def group(*columns):
    """Number the distinct rows: (number of each row, index of one row of each number).

    Numbers ascend with the rows, the first column counting most.
    """
    order, start = sort(*columns)
    return _numbered(order, start), order[start]


def _numbered(order, start):
    number = np.empty(len(order), np.int32)
    number[order] = np.repeat(np.arange(len(start), dtype=np.int32), np.diff(np.append(start, len(order))))
    return number


def sort(*columns):
    """(order that sorts the rows, where in it each stretch of equal rows begins). Equal rows keep their order."""
    return _sort(pack(*columns))


def _sort(key):
    """As `sort`; ``key`` is sorted in place."""
    order = np.argsort(key, kind="stable").astype(np.int32)
    key.sort()
    is_start = np.ones(len(key), bool)
    np.not_equal(key[1:], key[:-1], out=is_start[1:])
    return order, np.flatnonzero(is_start)


def compact(*columns):
    """Number the rows so that equal rows, and only those, have equal numbers. Quicker than `group`; gaps are left."""
    key = pack(*columns)
    if len(key) and int(key.max()) > 2 * len(key) + 1_000_000:
        return _numbered(*_sort(key))
    return key.astype(np.int32) if not len(key) or int(key.max()) < 2**31 else key


def spread(address, size, unit):
    """Cut accesses into pieces of ``unit`` bytes: (index of the access, number of the unit)."""
    first, last = address // unit, (address + size - 1) // unit
    if (first == last).all():
        return np.arange(len(address)), first
    pieces = (last - first + 1).astype(np.int64)
    index = np.repeat(np.arange(len(address)), pieces)
    offset = np.arange(len(index)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    return index, first[index] + offset
