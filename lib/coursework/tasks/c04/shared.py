"""What several tasks of chapter 04 use: the cache line and the cache of all tasks."""

import numpy as np

LINE = 64  # bytes in a line, in all tasks: the check counts alike on every machine
FLOATS = LINE // 4  # float32 in a line

SETS, WAYS = 64, 8  # of the model cache in 04-first and 04-pad


def lines_of_array(*shape):
    """Which lines the elements of an array of float32 lie on; it begins at a line."""
    from cpulab.measure import empty_aligned, line_map

    return line_map(empty_aligned(shape, line=LINE), line=LINE)


def as_float64(x):
    return x.astype(np.float64)


def padded_length(length):
    """The length of a row that is padded to whole lines."""
    return -(-length // FLOATS) * FLOATS
