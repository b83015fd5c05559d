"""Convolution as a product of matrices: patches as columns.

    columns[(c, ky, kx), (y, x)] = input[c, y stride + ky dilation - padding, x stride + kx dilation - padding]
    result[o, (y, x)]            = sum over (c, ky, kx) of weight[o, (c, ky, kx)] columns[(c, ky, kx), (y, x)]

Each pixel is written as often as the kernel has places. So that this does not cost memory without bound, it is done for
some rows of the result at a time.
"""

import math
from contextlib import contextmanager

import numpy as np

from .. import team
from ..host import taken, workspace
from ..matrix import choose as products
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..team import share

COLUMNS = 4 << 20  # bytes of patches at a time; at least one row of the result


@inner_njit()
def inside(k, size, count, stride, before, dilation):
    """(start, stop) of the windows whose place k lies inside the picture, along one axis of `size` pixels."""
    shift = before - k * dilation  # window y sees pixel y * stride - shift
    start = -(-shift // stride) if shift > 0 else 0
    stop = (size - 1 + shift) // stride + 1 if size + shift > 0 else 0
    return min(start, count), min(stop, count)


@inner_njit()
def _one_place(arguments, task, who):
    """What one place of the kernel sees of one channel, for all windows of some rows: one row of the columns."""
    picture, g, top, rows, width, columns = arguments
    channel, tap = task // (g.kernel_y * g.kernel_x), task % (g.kernel_y * g.kernel_x)
    ky, kx = tap // g.kernel_x, tap % g.kernel_x
    high, wide = picture.shape[1:]
    begin, end = inside(kx, wide, width, g.stride_x, g.left, g.dilation_x)
    for y in range(rows):
        target = columns[task, y * width : (y + 1) * width]
        i = (top + y) * g.stride_y + ky * g.dilation_y - g.top
        target[:] = 0
        if 0 <= i < high and begin < end:
            source, inner = picture[channel, i, begin * g.stride_x + kx * g.dilation_x - g.left :], target[begin:end]
            if g.stride_x == 1:
                for z in range(inner.size):
                    inner[z] = source[z]
            else:
                for z in range(inner.size):
                    inner[z] = source[z * g.stride_x]


@cached_njit()
def _fill_columns(picture, g, top, rows, width, columns, threads, team):
    share(_one_place, (picture, g, top, rows, width, columns), columns.shape[0], threads, 0, team)


@contextmanager
def columns_of(picture, g, top, rows, width):
    """The patches of `rows` rows of the result from row `top` on: a matrix in kept memory.

    picture: (channels of a group, height, width), contiguous. width: of the result.
    """
    terms = len(picture) * g.kernel_y * g.kernel_x
    line = workspace(picture.dtype, terms * rows * width)
    with taken(line):
        columns = line[: terms * rows * width].reshape(terms, rows * width)
        threads = products.threads_for(columns.size)
        _fill_columns(picture, g, top, rows, width, columns, threads, team.members())
        yield columns


def rows_at_once(terms, height, width, itemsize):
    """How many rows of the result have patches of COLUMNS bytes; equal parts, as few as there can be."""
    fit = max(1, COLUMNS // (terms * width * itemsize))
    return -(-height // -(-height // fit))


def parts(weight, g, out):
    """(picture, group, its outputs, its inputs, first row, rows) of all products that make a result."""
    count, outs, height, width = out.shape
    of_group, ins = outs // g.groups, weight.shape[1]
    rows = rows_at_once(math.prod(weight.shape[1:]), height, width, out.itemsize)
    for n, group in np.ndindex(count, g.groups):
        out_channels, in_channels = (
            slice(group * of_group, (group + 1) * of_group),
            slice(group * ins, (group + 1) * ins),
        )
        for top in range(0, height, rows):
            yield n, out_channels, in_channels, top, min(rows, height - top)


def convolve(x, weight, bias, g, out):
    """out = the convolution, for contiguous arrays."""
    width = out.shape[3]
    lines = out.reshape(*out.shape[:2], -1)
    matrix = weight.reshape(len(weight), -1)
    for n, out_channels, in_channels, top, rows in parts(weight, g, out):
        target = lines[n, out_channels, top * width : (top + rows) * width]
        with columns_of(x[n, in_channels], g, top, rows, width) as columns:
            products.multiply(matrix[None, out_channels], columns[None], target[None])
    out += bias[:, None, None]
