"""Examples of reductions. A size is the shape of x; what is reduced goes by the seed.

The error allowed is that of n additions one after the other, whose roundings go either way (Higham, Accuracy and
Stability of Numerical Algorithms, section 4.2): it grows with the square root of n, so that in a sum of many thousands
one number that is missing, or added twice, shows.
"""

import numpy as np

from ..examples import Examples, exact

SHAPES = ((), (1,), (7,), (0,), (5, 3), (3, 0), (0, 4), (2, 6, 5), (9, 18), (1, 70), (290,), (3, 2, 2, 5))
LARGE = ((70_001,), (600_000,), (3, 200_001), (1001, 301), (7, 513, 40), (40_003, 3), (2, 1, 131_072), (5000, 33))
TIMED = ((1 << 16,), (1 << 24,), (1024, 1024), (64, 256, 256))


def bounded(draw, *shape):
    """An array of that shape whose sums do not overflow."""
    large = draw.values in ("huge", "special")
    return draw.array(*shape, scale=1 / max(1, np.prod(shape)) if large else None)


def _sum_arguments(draw, *shape):
    dim, keepdim = draw.one_of(((None, False), (-1, False), (0, True), ((0, -1), False), (None, True)))
    if not shape or (dim == (0, -1) and len(shape) == 1):
        dim = None
    return bounded(draw, *shape), dim, keepdim


def root_of_squares(x, axis, keepdims):
    """The square root of the sum of squares, which itself may overflow."""
    x = np.abs(np.asarray(x, np.float64))
    largest = np.max(x, axis=axis, keepdims=True, initial=0)
    scale = np.where((largest > 0) & np.isfinite(largest), largest, 1)
    return np.sqrt(np.sum((x / scale) ** 2, axis=axis, keepdims=keepdims)) * scale.reshape(
        np.sum(x, axis=axis, keepdims=keepdims).shape
    )


def _sum_error(arguments, expected, eps):
    x, dim, keepdim = arguments
    count = x.size / max(1, np.size(expected))
    return eps * (4 + 2 * np.sqrt(count)) * (root_of_squares(x, dim, keepdim) + np.abs(expected))


SUM = Examples(_sum_arguments, _sum_error, SHAPES, LARGE, TIMED, seeds=5)


def _sum_gradient_arguments(draw, *shape):
    x, dim, keepdim = _sum_arguments(draw, *shape)
    return draw.array(*np.sum(np.zeros(x.shape), axis=dim, keepdims=keepdim).shape), x, dim, keepdim


SUM_BACKWARD = Examples(_sum_gradient_arguments, exact, SHAPES, LARGE, TIMED, seeds=5)


def _cumsum_arguments(draw, *shape):
    return bounded(draw, *shape), draw.one_of((0, -1, len(shape) // 2))


def _cumsum_error(arguments, expected, eps):
    """As for a sum of all up to here, whatever they were on the way."""
    x, dim = arguments
    if not x.size:
        return expected
    x, scale = np.abs(np.asarray(x, np.float64)), np.max(np.abs(expected), initial=0, where=np.isfinite(expected)) or 1
    count = np.cumsum(np.ones(x.shape), axis=dim)
    sizes = np.sqrt(np.cumsum((x / scale) ** 2, axis=dim)) * scale
    return eps * (4 + 2 * np.sqrt(count)) * (sizes + np.maximum.accumulate(np.abs(expected), axis=dim))


CUMSUM = Examples(_cumsum_arguments, _cumsum_error, SHAPES[1:], LARGE, TIMED, seeds=3)


# ---- histograms --------------------------------------------------------------------------------------------

#: (bins, min, max) for numbers of size one, the fourth with many outside, the sixth with nearly all in one bin. 1700
#: bins are too many for a table of each warp of a GPU, 13,000 for one of each block, and for four on a CPU.
RANGES = ((10, -1, 1), (1, -2, 2), (256, -3.5, 3.25), (7, 0.1, 0.2), (1700, -2, 3), (3, -1000, 10), (13_000, -3, 3))


def _histogram_arguments(draw, *shape):
    x, (bins, low, high) = draw.array(*shape), draw.one_of(RANGES)
    limits = np.finfo(draw.dtype)
    if draw.values == "tiny":
        low, high = float(limits.tiny) * low, float(limits.tiny) * high
    elif draw.values == "huge":  # more bins, or a wider range, and the product of both overflows
        bins, low, high = 4, float(limits.max) * 0.15, float(limits.max) * 0.35
    elif draw.one_of((True, False, True)) and x.ndim and x.size and x.flags.writeable:
        x[..., 0] = draw.one_of((low, high))  # an edge itself
    return x, bins, low, high


HISTOGRAM = Examples(_histogram_arguments, exact, SHAPES, LARGE, TIMED, seeds=len(RANGES))
