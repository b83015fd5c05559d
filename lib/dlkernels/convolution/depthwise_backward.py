"""Gradients of a depthwise convolution, a plane at a time, as one long line.

The rows of a network's last layers have 7 pixels: loops along them never fill a vector. So a plane is copied to a line
with its padding, and what arrives to another line of the same pitch, with zeros between its numbers (stride) and rows.
Then each place (ky, kx) of the kernel is one shift of the whole line::

    of the weight   the product of the line of what arrives and the line of pixels, shifted
    of the pixels   what arrives times the weight, added to a line that is shifted likewise

A zero times infinity is NaN, where the formula has no term: numbers must be finite.
"""

import numpy as np

from .. import team
from ..matrix import choose as products
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..team import share

BLOCK = 1024  # elements of a line that stay in the L1 cache for all places of the kernel
TASK = 1 << 14  # elements of all lines of a task, if they are short: beside them, to make room for lines costs little


@inner_njit(fastmath={"contract", "reassoc"})
def _product(a, b):
    """The sum of a * b, in an order that the compiler chooses."""
    total = a.dtype.type(0)
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@inner_njit(fastmath={"contract"})
def _add(factor, source, target):
    """target += factor * source"""
    for i in range(source.size):
        target[i] += factor * source[i]


@inner_njit()
def _some_planes(arguments, task, who):
    """Both gradients of some planes that lie one after the other: an input channel of a picture, all results of its
    group."""
    g, grad, x, weight, of_x, parts, tall, wide, planes = arguments
    outs, (high, across) = grad.shape[1] // g.groups, grad.shape[2:]
    pixels, back = np.zeros(tall * wide, x.dtype), np.zeros(tall * wide, x.dtype)
    length = (high - 1) * g.stride_y * wide + (across - 1) * g.stride_x + 1
    arrived = np.zeros(length, x.dtype)
    first_row, last_row = max(0, -g.top), min(x.shape[2], tall - g.top)
    first_column, last_column = max(0, -g.left), min(x.shape[3], wide - g.left)
    for plane in range(task * planes, min((task + 1) * planes, x.shape[0] * x.shape[1])):
        n, channel = plane // x.shape[1], plane % x.shape[1]
        for i in range(first_row, last_row):
            offset = (i + g.top) * wide + g.left
            for j in range(first_column, last_column):
                pixels[offset + j] = x[n, channel, i, j]
        back[:] = 0
        for o in range(channel * outs, (channel + 1) * outs):
            for y in range(high):
                offset = y * g.stride_y * wide
                for z in range(across):
                    arrived[offset + z * g.stride_x] = grad[n, o, y, z]
            for begin in range(0, length, BLOCK):
                part = arrived[begin : begin + BLOCK]
                for ky in range(g.kernel_y):
                    for kx in range(g.kernel_x):
                        offset = begin + ky * g.dilation_y * wide + kx * g.dilation_x
                        parts[n, o, ky, kx] += _product(part, pixels[offset : offset + part.size])
                        _add(weight[o, 0, ky, kx], part, back[offset : offset + part.size])
        for i in range(first_row, last_row):
            offset = (i + g.top) * wide + g.left
            for j in range(first_column, last_column):
                of_x[n, channel, i, j] = back[offset + j]


@cached_njit()
def _all_planes(g, grad, x, weight, of_x, parts, tall, wide, planes, threads, least, team):
    arguments = g, grad, x, weight, of_x, parts, tall, wide, planes
    share(_some_planes, arguments, -(-x.shape[0] * x.shape[1] // planes), threads, least, team)


def add_gradients(g, grad, x, weight, of_x, of_weight):
    """Fill the gradients, which come as zeros, of a convolution with one input channel in each group; contiguous,
    finite."""
    tall, wide = (
        (count - 1) * stride + (kernel - 1) * dilation + 1
        for count, stride, kernel, dilation in (
            (grad.shape[2], g.stride_y, g.kernel_y, g.dilation_y),
            (grad.shape[3], g.stride_x, g.kernel_x, g.dilation_x),
        )
    )
    multiplies = 2 * grad.size * weight[0].size
    threads, least = products.threads_for(multiplies), products.least_time(multiplies)
    planes = max(1, min(TASK // (tall * wide), -(-x.shape[0] * x.shape[1] // (4 * threads))))
    parts = np.zeros((len(x), *of_weight.shape[:1], *of_weight.shape[2:]), x.dtype)
    _all_planes(g, grad, x, weight, of_x, parts, tall, wide, planes, threads, least, team.members())
    of_weight[:, 0] = parts.sum(axis=0)
