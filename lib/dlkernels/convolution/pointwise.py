"""Convolution with a kernel of one pixel: a product of matrices as it stands.

    result[n, o, (y, x)] = sum over c of weight[o, c] input[n, c, (y, x)]

With a stride, the pixels that are met are copied first, some pictures or some rows of one at a time.
"""

from contextlib import contextmanager

import numpy as np

from .. import team
from ..host import taken, workspace
from ..matrix import choose as products
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..team import share
from .pictures import no_bias

COPIED = 8 << 20  # bytes of pixels that are copied at a time; at least one row of a picture
PLANES = 16  # of a task: one of a few pixels would be too short
COPY = 32  # multiply-adds that take no longer than to copy one of the pixels that a stride leaves


def fits(g):
    """Whether a convolution is a product of matrices: of the pixels as they stand, or of some of them."""
    return (g.kernel_y, g.kernel_x) == (1, 1) and not (g.top or g.bottom or g.left or g.right)


def at_once(x, g, out):
    """(pictures, rows) of the result whose pixels are copied at a time; all of them where none is copied."""
    count, _, high, wide = out.shape
    if (g.stride_y, g.stride_x) == (1, 1):
        return count, high
    row = x.shape[1] * wide * x.itemsize
    return max(1, min(count, COPIED // (row * high))), max(1, min(high, COPIED // row))


def room(x, g, out):
    """Bytes of workspace."""
    if (g.stride_y, g.stride_x) == (1, 1):
        return 0
    pictures, rows = at_once(x, g, out)
    return pictures * x.shape[1] * rows * out.shape[3] * x.itemsize


@inner_njit()
def _some_planes(arguments, task, who):
    x, top, stride_y, stride_x, seen = arguments
    channels, high, wide = seen.shape[1:]
    for plane in range(task * PLANES, min((task + 1) * PLANES, len(seen) * channels)):
        n, c = plane // channels, plane % channels
        for y in range(high):
            source, target = x[n, c, (top + y) * stride_y], seen[n, c, y]
            if stride_x == 2:  # a constant: vectors are loaded and shuffled
                for z in range(wide):
                    target[z] = source[2 * z]
            else:
                for z in range(wide):
                    target[z] = source[stride_x * z]


@cached_njit()
def _copy(x, top, stride_y, stride_x, seen, threads, team):
    tasks = -(-(seen.shape[0] * seen.shape[1]) // PLANES)
    share(_some_planes, (x, top, stride_y, stride_x, seen), tasks, threads, 0, team)


@contextmanager
def pixels_seen(x, g, top, high, wide):
    """What results in rows top .. top + high - 1 are made of, (pictures, channels, pixels): of x itself, or in kept
    memory."""
    count, channels = x.shape[:2]
    if (g.stride_y, g.stride_x) == (1, 1):
        yield x.reshape(count, channels, -1)
        return
    size = count * channels * high * wide
    line = workspace(x.dtype, size)
    with taken(line):
        seen = line[:size].reshape(count, channels, high, wide)
        _copy(x, top, g.stride_y, g.stride_x, seen, products.threads_for(COPY * size), team.members())
        yield seen.reshape(count, channels, -1)


def convolve(x, weight, bias, g, out):
    """out = the convolution, for contiguous arrays and a kernel of one pixel without padding."""
    count, outs, high, wide = out.shape
    ins, of_group = weight.shape[1], outs // g.groups
    lines, matrix = out.reshape(count, outs, high * wide), weight.reshape(outs, ins)
    if count == g.groups == g.stride_y == g.stride_x == 1:
        products.multiply_contiguous(matrix, x.reshape(ins, -1), lines[0])
        add(bias, out)
        return
    pictures, rows = at_once(x, g, out)
    for n in range(0, count, pictures):
        for top in range(0, high, rows):
            with pixels_seen(x[n : n + pictures], g, top, min(rows, high - top), wide) as seen:
                target = lines[n : n + pictures, :, top * wide : top * wide + seen.shape[2]]
                if len(seen) == g.groups == 1:
                    products.multiply(matrix[None], seen, target)
                    continue
                for group in range(g.groups):
                    out_channels, in_channels = (
                        slice(group * of_group, (group + 1) * of_group),
                        slice(group * ins, (group + 1) * ins),
                    )
                    left = np.broadcast_to(matrix[None, out_channels], (len(seen), of_group, ins))
                    products.multiply(left, seen[:, in_channels], target[:, out_channels])
    add(bias, out)


def add(bias, out):
    """out += bias for each channel, unless it is zeros."""
    if bias is not no_bias(len(bias), bias.dtype) and bias.any():
        out += bias[:, None, None]
