"""Examples of convolutions.

A size is (batch, in, out, height, width, kernel), or without batch (in, out, height, width, kernel): `in` and `out` are
the channels of one group. The seed chooses stride, padding, dilation, groups and bias. Where a kernel does not fit into
its picture, the padding grows until it does.

The error allowed is that of a sum of so many rounded terms, element by element: (terms + 2) eps |weight| * |input|,
whatever the order of the additions (Higham, Accuracy and Stability of Numerical Algorithms, section 3.5).
"""

import math
from dataclasses import replace

import numpy as np

from ..examples import Examples
from . import geometry, reference

#: (stride, padding, dilation, groups, bias); "depthwise": one input channel in each group.
SETTINGS = (
    (1, 1, 1, 1, True),
    (2, 0, 1, 1, False),
    (1, "same", 2, 2, True),
    ((3, 2), (2, 1), (1, 2), 1, False),
    (1, 1, 1, "depthwise", True),
    (1, 0, 1, 1, True),
    ((2, 1), (0, 2), 1, "depthwise", False),
    (5, "valid", 1, 3, True),
)
# 1x1 pictures, 1x1 kernels, kernel = picture, even kernels, ragged ones, no picture at all.
SHAPES = (
    (1, 1, 1, 1, 1, 1), (2, 2, 3, 1, 1, 3), (1, 2, 2, 5, 7, 3), (2, 3, 1, 4, 6, 1), (1, 1, 3, 5, 5, 5),
    (3, 1, 2, 3, 4, 2),
    (0, 3, 2, 5, 4, 3), (2, 5, 3, 3, 3), (1, 4, 1, 9, 1), (9, 5, 11, 8, 3),
)  # fmt: skip
# Past a tile of rows and of vectors, a band of the picture, the patches at a time; several pictures.
LARGE = (
    (2, 9, 17, 30, 33, 3),
    (3, 40, 13, 9, 7, 3),
    (1, 40, 6, 70, 61, 3),
    (1, 3, 20, 41, 70, 5),
    (70, 66, 20, 18, 1),
    (1, 5, 3, 130, 40, 3),
    # Rows of results of several tiles of vectors of pixels, for few input channels and for many.
    (1, 3, 24, 12, 103, 3),
    (2, 18, 9, 9, 99, 3),
)
TIMED = ((1, 8, 8, 14, 14, 3), (1, 64, 64, 56, 56, 3), (1, 256, 64, 56, 56, 1))
VALUES = ("normal", "tiny", "few")


def arguments(draw, *shape, settings=SETTINGS):
    """Of one call of `conv2d`."""
    *batch, ins, outs, height, width, kernel = shape
    outs, height, width, kernel = (max(1, extent) for extent in (outs, height, width, kernel))
    stride, padding, dilation, groups, with_bias = draw.one_of(settings)
    if groups == "depthwise":
        ins, groups = 1, max(1, ins)
    padding = fitting(padding, (height, width), kernel, dilation)
    x = draw.array(*batch, ins * groups, height, width)
    # What is not finite stands in the picture only: whether a padded zero is multiplied by it is nobody's promise.
    plain = replace(draw, values="normal" if draw.values == "few" else draw.values, seed=draw.seed + 1)
    weight = plain.array(outs * groups, ins, kernel, kernel)
    return x, weight, plain.array(outs * groups) if with_bias else None, stride, padding, dilation, groups


def fitting(padding, picture, kernel, dilation):
    """The padding, or more of it until the kernel fits into the picture."""
    if padding == "same":
        return padding
    pads = (0, 0) if padding == "valid" else (padding,) * 2 if isinstance(padding, int) else padding
    dilation = (dilation,) * 2 if isinstance(dilation, int) else dilation
    needed = [-(-(d * (kernel - 1) + 1 - size) // 2) for size, d in zip(picture, dilation, strict=True)]
    enough = tuple(max(pair) for pair in zip(pads, needed, strict=True))
    return padding if enough == pads else enough


def conv2d_error(arguments, expected, eps):
    x, weight, bias, *rest = arguments
    sizes = [None if a is None else np.abs(np.asarray(a, np.float64)) for a in (x, weight, bias)]
    return (weight[0].size + 3) * eps * reference.conv2d(*sizes, *rest)


CONV2D = Examples(arguments, conv2d_error, SHAPES, LARGE, TIMED, values=VALUES, seeds=len(SETTINGS))


def half_arguments(draw, *shape):
    x, weight, bias, *rest = arguments(draw, *shape)
    narrow = replace(draw, dtype="float32", layout="contiguous")
    return x, weight, None if bias is None else narrow.array(*bias.shape), *rest


def half_error(arguments, expected, eps):
    x, weight, *rest = arguments
    return conv2d_error((reference.widened(x), reference.widened(weight), *rest), expected, eps)


HALF = Examples(
    half_arguments,
    half_error,
    SHAPES,
    LARGE,
    TIMED,
    dtypes=("float16", "bfloat16"),
    values=("normal",),
    seeds=len(SETTINGS),
)


def _largest_error(arguments, expected, eps):
    """By the largest numbers, not by their products (as for Strassen's: Higham, section 23.2.2)."""
    x, weight, bias, *_ = arguments
    largest = [np.abs(np.asarray(a, np.float64)).max(initial=0) for a in (x, weight, 0 if bias is None else bias)]
    return conv2d_error(arguments, expected, eps) + 30 * eps * (
        (weight[0].size + 3) * largest[0] * largest[1] + largest[2]
    )


# Also tasks that are panels of output channels, several pieces in a row of tiles, blocks of several pictures.
WINOGRAD = Examples(
    arguments,
    _largest_error,
    (*SHAPES, (2, 3, 5, 9, 20, 3)),
    (*LARGE, (1, 24, 40, 33, 47, 3), (3, 20, 70, 7, 6, 3), (1, 2, 3, 9, 300, 3), (7, 34, 18, 11, 14, 3)),
    TIMED[:2],
    values=("normal", "tiny"),
    seeds=len(SETTINGS),
)
FFT = Examples(
    arguments,
    _largest_error,
    (*SHAPES, (2, 3, 5, 9, 20, 5)),
    (*LARGE, (2, 7, 5, 90, 51, 13), (1, 3, 300, 30, 33, 20)),
    ((1, 64, 64, 56, 56, 21),),
    values=("normal", "tiny"),
    seeds=len(SETTINGS),
)


def local_arguments(draw, *shape):
    """Of one call of `conv2d_local`: the same, without groups, with weights for each place."""
    x, weight, bias, stride, padding, dilation, _groups = arguments(draw, *shape, settings=LOCAL)
    picture, kernel = x.shape[-2:], weight.shape[2:]
    _, sizes = geometry.convolution(picture, kernel, stride, padding, dilation)
    plain = replace(draw, values="normal" if draw.values == "few" else draw.values, seed=draw.seed + 2)
    return x, plain.array(*weight.shape, *sizes), bias, stride, padding, dilation


def local_error(arguments, expected, eps):
    x, weight, bias, *rest = arguments
    sizes = [None if a is None else np.abs(np.asarray(a, np.float64)) for a in (x, weight, bias)]
    return (weight[0, ..., 0, 0].size + 3) * eps * reference.conv2d_local(*sizes, *rest)


LOCAL = tuple(setting for setting in SETTINGS if setting[3] == 1)
CONV2D_LOCAL = Examples(
    local_arguments,
    local_error,
    SHAPES,
    ((2, 9, 17, 30, 33, 3), (1, 3, 20, 41, 70, 5)),
    ((1, 16, 16, 28, 28, 3), (8, 16, 16, 28, 28, 3)),
    values=VALUES,
    seeds=len(LOCAL),
)


def separable_arguments(draw, *shape):
    """Of one call of `conv2d_separable`: channels of their own for the depthwise part, `out` for the other."""
    *batch, ins, outs, height, width, kernel = shape
    of_each = 2 if draw.seed % 3 == 2 else 1  # channels between the two, of each input channel
    x, depthwise, _, stride, padding, dilation, _ = arguments(
        draw, *batch, ins, of_each, height, width, kernel, settings=SEPARABLE
    )
    channels, plain = (
        len(depthwise),
        replace(draw, values="normal" if draw.values == "few" else draw.values, seed=draw.seed + 2),
    )
    pointwise, bias = plain.array(max(1, outs), channels, 1, 1), plain.array(max(1, outs))
    return x, depthwise, pointwise, bias if draw.seed % 2 else None, stride, padding, dilation


def separable_error(arguments, expected, eps):
    x, depthwise, pointwise, bias, *rest = arguments
    sizes = [None if a is None else np.abs(np.asarray(a, np.float64)) for a in (x, depthwise, pointwise, bias)]
    return (depthwise[0].size + len(depthwise) + 6) * eps * reference.conv2d_separable(*sizes, *rest)


SEPARABLE = tuple((stride, padding, dilation, "depthwise", False) for stride, padding, dilation, *_ in SETTINGS)
CONV2D_SEPARABLE = Examples(
    separable_arguments,
    separable_error,
    SHAPES,
    ((2, 19, 40, 30, 33, 3), (1, 3, 20, 41, 70, 5), (3, 70, 17, 9, 7, 3)),
    ((1, 144, 24, 56, 56, 3), (8, 32, 16, 112, 112, 3)),
    values=("normal", "tiny"),
    seeds=len(SEPARABLE),
)


# ---- gradients -------------------------------------------------------------------------------------------------------


def gradient_arguments(draw, *shape):
    x, weight, bias, *rest = arguments(draw, *shape)
    stride, padding, dilation, groups = rest
    picture, kernel = x.shape[-2:], weight.shape[2:]
    _, sizes = geometry.convolution(picture, kernel, stride, padding, dilation, groups)
    return draw.array(*x.shape[:-3], len(weight), *sizes), x, weight, bias, *rest


def gradient_error(arguments, expected, eps):
    grad, x, weight, bias, *rest = arguments
    sizes = [None if a is None else np.abs(np.asarray(a, np.float64)) for a in (grad, x, weight, bias)]
    of_bias = grad.size // len(weight)
    terms = len(weight) * math.prod(weight.shape[2:]) // rest[-1], of_bias, of_bias
    return tuple((n + 3) * eps * part for n, part in zip(terms, reference.conv2d_backward(*sizes, *rest), strict=False))


# Pixels of several pictures in a block; a kernel of more places than a block has rows.
LARGE_GRADIENTS = ((2, 5, 7, 30, 33, 3), (1, 40, 6, 70, 61, 3), (19, 6, 35, 6, 7, 3), (1, 2, 20, 29, 31, 12))
CONV2D_BACKWARD = Examples(
    gradient_arguments,
    gradient_error,
    SHAPES,
    LARGE_GRADIENTS,
    TIMED[:2],
    values=("normal", "tiny"),
    seeds=len(SETTINGS),
)


# ---- pooling: a size is (batch, channels, height, width), or without batch -------------------------------------------

#: (kernel, stride, padding, dilation, ceil_mode)
WINDOWS = (
    (2, None, 0, 1, False),
    (3, 2, 1, 1, False),
    ((3, 2), (2, 3), (1, 0), 1, True),
    (3, 1, 1, (2, 1), False),
    ((1, 5), 4, (0, 2), 1, True),
)
POOLED = ((1, 1, 1, 1), (2, 3, 7, 9), (0, 3, 4, 5), (3, 8, 5), (1, 2, 12, 11), (1, 1, 1, 7))
LARGE_POOLED = ((3, 5, 61, 90), (2, 300, 140), (70, 20, 7, 7))
TIMED_POOLED = ((1, 16, 28, 28), (8, 64, 112, 112))


def window(draw, *shape):
    """(x, kernel, stride, padding, dilation, ceil_mode) by seed: a window of one pixel where another does not fit."""
    *stack, height, width = shape
    x = draw.array(*stack, max(height, 1), max(width, 1))
    kernel, stride, padding, dilation, ceil_mode = draw.one_of(WINDOWS)
    try:
        geometry.pooling(x.shape[-2:], kernel, stride, padding, dilation, ceil_mode)
    except ValueError:
        return x, 1, stride, 0, 1, ceil_mode
    return x, kernel, stride, padding, dilation, ceil_mode


def mean_window(draw, *shape):
    """The same without dilation, with both ways to divide and a divisor."""
    x, kernel, stride, padding, _, ceil_mode = window(draw, *shape)
    return x, kernel, stride, padding, ceil_mode, draw.seed // len(WINDOWS) % 2 == 0, (None, None, 7)[draw.seed % 3]


def shares(draw, *shape):
    x = window(draw, *shape)[0]
    return x, draw.one_of((1, (3, 5), (None, 2), (4, None), 13))


def no_error(arguments, expected, eps):
    return 0 if isinstance(expected, np.ndarray) else (0,) * len(expected)


def mean_error(function):
    """An `allowed` for sums of pixels, divided once: of the mean of their sizes."""

    def allowed(arguments, expected, eps):
        x, *rest = arguments
        most = 15
        if function is reference.adaptive_avg_pool2d:
            most = math.prod(axis[:, 2].max() for axis in geometry.adaptive_windows(x.shape[-2:], *rest))
        return (most + 3) * eps * function(np.abs(np.asarray(x, np.float64)), *rest)

    return allowed


def pooled(make, allowed, values, terms=None):
    return Examples(
        make, allowed, POOLED, LARGE_POOLED, TIMED_POOLED, values=values, seeds=2 * len(WINDOWS), terms=terms
    )


MAX_POOL2D = pooled(window, no_error, ("normal", "tiny", "huge", "special"))
AVG_POOL2D = pooled(mean_window, mean_error(reference.avg_pool2d), VALUES)
ADAPTIVE_MAX_POOL2D = pooled(shares, no_error, MAX_POOL2D.values)
ADAPTIVE_AVG_POOL2D = pooled(shares, mean_error(reference.adaptive_avg_pool2d), VALUES)


def pooled_gradient(make, sizes_of, function, counted=None):
    """Examples of the gradient: what arrives, then the arguments of the operation. sizes_of: (height, width) of its
    result.
    counted: from ones in place of what arrives, how many windows send something to each pixel; None: the gradient
    itself."""

    def made(draw, *shape):
        x, *rest = make(draw, *shape)
        return draw.array(*x.shape[:-2], *sizes_of(x.shape[-2:], *rest)), x, *rest

    def allowed(arguments, expected, eps):
        grad, x, *rest = arguments
        return 20 * eps * gradient(np.abs(np.asarray(grad, np.float64)), x, *rest)

    def terms(arguments):
        grad, *rest = arguments
        return (counted or gradient)(np.ones(grad.shape), *rest)

    gradient = getattr(reference, f"{function.__name__}_backward")
    return pooled(made, allowed, ("normal", "tiny"), terms)


def _sizes(picture, kernel, stride, padding, dilation, ceil_mode):
    return geometry.pooling(picture, kernel, stride, padding, dilation, ceil_mode)[1]


def _mean_sizes(picture, kernel, stride, padding, ceil_mode, *_):
    return _sizes(picture, kernel, stride, padding, 1, ceil_mode)


def _share_sizes(picture, output_size):
    return tuple(map(len, geometry.adaptive_windows(picture, output_size)))


def _mean_counted(ones, x, *rest):
    return reference.avg_pool2d_backward(ones, x, *rest[:-1], divisor_override=1)


def _shares_counted(ones, x, output_size):
    return reference.spread(ones, x, *geometry.adaptive_windows(x.shape[-2:], output_size), 1)


MAX_POOL2D_BACKWARD = pooled_gradient(window, _sizes, reference.max_pool2d)
AVG_POOL2D_BACKWARD = pooled_gradient(mean_window, _mean_sizes, reference.avg_pool2d, _mean_counted)
ADAPTIVE_MAX_POOL2D_BACKWARD = pooled_gradient(shares, _share_sizes, reference.adaptive_max_pool2d)
ADAPTIVE_AVG_POOL2D_BACKWARD = pooled_gradient(shares, _share_sizes, reference.adaptive_avg_pool2d, _shares_counted)
