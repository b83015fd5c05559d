"""What a reduction along any dimensions comes to: arrays (before, n, after) whose middle is reduced.

Dimensions that lie beside each other in memory are one. Those that do not are reduced one group after the other, the
last first.
"""

import math

from ..host import plain


def whole_dim(dim, ndim):
    """A dimension as a number from 0 on; TypeError or ValueError where there is none."""
    if isinstance(dim, bool) or not hasattr(dim, "__index__"):
        raise TypeError(f"dim is {dim!r}; expected a whole number.")
    if not -ndim <= dim < ndim:
        expected = f"a number from {-ndim} to {ndim - 1}" if ndim else "an array of at least one dimension"
        raise ValueError(f"dim is {dim}, and x has {ndim} dimensions; expected {expected}.")
    return dim.__index__() % ndim


def lines_of(shape, dims):
    """(before, n, after) of each reduction of an array of that shape, one after the other."""
    shape, left = list(shape), sorted(dims)
    while left:
        last = first = left.pop()
        while left and left[-1] == first - 1:
            first = left.pop()
        yield math.prod(shape[:first]), math.prod(shape[first : last + 1]), math.prod(shape[last + 1 :])
        del shape[first : last + 1]


def in_memory_order(x):
    """(axes, x with its axes in that order): the longest steps first, so that what lies side by side is read so."""
    axes = sorted(range(x.ndim), key=lambda axis: -abs(x.strides[axis]))
    return axes, plain(x.transpose(axes))


def pieces(count, size):
    """How many pieces of `size` there are in `count`, the last one perhaps smaller."""
    return -(-count // size)
