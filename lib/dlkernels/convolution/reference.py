"""Convolution in NumPy and float64: what every other implementation is tested against.

conv2d      out[n, o, y, x] = bias[o] + sum over c, ky, kx of
                weight[o, c, ky, kx] * input[n, first + c, y stride + ky dilation - padding, x stride + ...]

With groups, output channel o belongs to group o // (out_channels / groups), and `first` is the first input channel of
that group. In neural networks this is called convolution; mathematicians turn the kernel round, and call this one a
cross-correlation.

conv2d_half          the same for float16, or bfloat16 given by its bits in uint16; the bias is float32
conv2d_local         the same without groups, with weights for each place of the result:
                     weight[o, c, ky, kx, y, x] in the place of weight[o, c, ky, kx]
conv2d_separable     a depthwise convolution, then one of 1 x 1 pixels

conv2d_backward      with r the gradient of the loss with respect to the result:
                     of input[n, c, i, j]: the sum of weight[o, c, ky, kx] r[n, o, y, x] over all that used it
                     of weight[o, c, ky, kx]: the sum of input[...] r[n, o, y, x] over n, y, x; of bias[o]: of r alone
max_pool2d           the largest pixel of each window; NaN if there is one
avg_pool2d           the mean of each window, divided by the pixels with or without padding, or by a number of its own
adaptive_max_pool2d, adaptive_avg_pool2d
                     the same where window y of h reaches from floor(y height / h) to ceil((y + 1) height / h)
"""

import numpy as np

from . import geometry


def _double(x):
    return np.asarray(x, dtype=np.float64)


def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    x, weight = _double(x), _double(weight)
    g, (height, width) = geometry.convolution(x.shape[-2:], weight.shape[2:], stride, padding, dilation, groups)
    pictures = padded(x if x.ndim == 4 else x[None], g)
    count, outs = len(pictures), weight.shape[0]
    total = np.zeros((count, groups, outs // groups, height * width))
    with np.errstate(all="ignore"):
        for ky, kx in np.ndindex(weight.shape[2:]):
            seen = pictures[tap(g, ky, kx, height, width)].reshape(count, groups, weight.shape[1], height * width)
            total += weight[:, :, ky, kx].reshape(groups, outs // groups, weight.shape[1]) @ seen
        total = total.reshape(count, outs, height, width)
        total = total if bias is None else total + _double(bias)[:, None, None]
    return total if x.ndim == 4 else total[0]


def conv2d_local(x, weight, bias=None, stride=1, padding=0, dilation=1):
    x, weight = _double(x), _double(weight)
    g, (height, width) = geometry.convolution(x.shape[-2:], weight.shape[2:4], stride, padding, dilation)
    pictures = padded(x if x.ndim == 4 else x[None], g)
    total = np.zeros((len(pictures), len(weight), height, width))
    with np.errstate(all="ignore"):
        for ky, kx in np.ndindex(weight.shape[2:4]):
            total += np.einsum("ncyx,ocyx->noyx", pictures[tap(g, ky, kx, height, width)], weight[:, :, ky, kx])
        total = total if bias is None else total + _double(bias)[:, None, None]
    return total if x.ndim == 4 else total[0]


def conv2d_separable(x, depthwise, pointwise, bias=None, stride=1, padding=0, dilation=1):
    return conv2d(conv2d(x, depthwise, None, stride, padding, dilation, x.shape[-3]), pointwise, bias)


def conv2d_half(x, weight, *rest):
    return conv2d(*(widened(half) for half in (x, weight)), *rest)


def widened(half):
    """float32 from float16, or from the bits of bfloat16 in uint16: exactly."""
    half = np.asarray(half)
    return (half.astype(np.uint32) << 16).view(np.float32) if half.dtype == np.uint16 else half.astype(np.float32)


def padded(pictures, g, value=0.0):
    """The pictures with their padding."""
    return np.pad(pictures, ((0, 0), (0, 0), (g.top, g.bottom), (g.left, g.right)), constant_values=value)


def tap(g, ky, kx, height, width):
    """The index of the padded pixels that one place of the kernel sees, in all positions of the window."""
    y, x = ky * g.dilation_y, kx * g.dilation_x
    down = slice(y, y + (height - 1) * g.stride_y + 1, g.stride_y)
    across = slice(x, x + (width - 1) * g.stride_x + 1, g.stride_x)
    return (slice(None), slice(None), down, across)


def conv2d_backward(grad, x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    grad, x, weight = _double(grad), _double(x), _double(weight)
    g, (height, width) = geometry.convolution(x.shape[-2:], weight.shape[2:], stride, padding, dilation, groups)
    pictures = padded(x if x.ndim == 4 else x[None], g)
    (outs, ins), count = weight.shape[:2], len(pictures)
    arrived = grad.reshape(count, groups, outs // groups, height * width)
    of_x, of_weight = np.zeros_like(pictures), np.zeros_like(weight)
    with np.errstate(all="ignore"):
        for ky, kx in np.ndindex(weight.shape[2:]):
            index = tap(g, ky, kx, height, width)
            matrix = weight[:, :, ky, kx].reshape(groups, outs // groups, ins)
            of_x[index] += (matrix.swapaxes(1, 2) @ arrived).reshape(count, groups * ins, height, width)
            seen = pictures[index].reshape(count, groups, ins, height * width)
            of_weight[:, :, ky, kx] = (arrived @ seen.swapaxes(2, 3)).sum(axis=0).reshape(outs, ins)
        of_x = of_x[:, :, g.top : g.top + x.shape[-2], g.left : g.left + x.shape[-1]].reshape(x.shape)
        of_bias = arrived.sum(axis=(0, 3)).reshape(outs)
    return (of_x, of_weight) if bias is None else (of_x, of_weight, of_bias)


def max_pool2d_with_indices(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    """Also where each stands: row * width + column in its picture; the first of several, the last NaN; -1 for no
    pixel."""
    x = _double(x)
    g, (height, width) = geometry.pooling(x.shape[-2:], kernel_size, stride, padding, dilation, ceil_mode)
    i = np.arange(height) * g.stride_y - g.top
    j = np.arange(width) * g.stride_x - g.left
    rows = i[:, None] + np.arange(g.kernel_y) * g.dilation_y
    return largest(x, rows, j[:, None] + np.arange(g.kernel_x) * g.dilation_x)


def adaptive_max_pool2d_with_indices(x, output_size):
    """The same for windows that share each picture out."""
    x, seen = _double(x), []
    for axis in geometry.adaptive_windows(x.shape[-2:], output_size):
        pixels = axis[:, :1] + np.arange(axis[:, 2].max())
        seen.append(np.where(pixels < axis[:, 1:2], pixels, -1))
    return largest(x, *seen)


def largest(x, rows, columns):
    """(largest, its place) of each window. rows: those that each window sees, one after the other; columns: likewise.
    What is not on the picture is not seen."""
    best = np.full((*x.shape[:-2], len(rows), len(columns)), -np.inf)
    places = np.full(best.shape, -1)
    for ky, kx in np.ndindex(rows.shape[1], columns.shape[1]):
        down, across = rows[:, ky, None], columns[:, kx]
        there = (down >= 0) & (down < x.shape[-2]) & (across >= 0) & (across < x.shape[-1])
        pixel = x[..., np.clip(down, 0, x.shape[-2] - 1), np.clip(across, 0, x.shape[-1] - 1)]
        better = there & ((pixel > best) | np.isnan(pixel) | (places < 0))
        best = np.where(better, pixel, best)
        places = np.where(better, down * x.shape[-1] + across, places)
    return best, places


def max_pool2d(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    return max_pool2d_with_indices(x, kernel_size, stride, padding, dilation, ceil_mode)[0]


def adaptive_max_pool2d(x, output_size):
    return adaptive_max_pool2d_with_indices(x, output_size)[0]


def avg_pool2d(x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    g, sizes = geometry.pooling(x.shape[-2:], kernel_size, stride, padding, 1, ceil_mode)
    down, across = geometry.windows(x.shape[-2:], sizes, g, count_include_pad)
    return means(x, down, across, divisor_override)


def adaptive_avg_pool2d(x, output_size):
    return means(x, *geometry.adaptive_windows(x.shape[-2:], output_size), None)


def means(x, down, across, divisor):
    """The sums of windows, given along each axis by (first, last, length), divided by `divisor` or length times
    length."""
    x = _double(x)
    with np.errstate(all="ignore"):
        rows = np.stack([x[..., first:last, :].sum(axis=-2) for first, last, _ in down], axis=-2)
        sums = np.stack([rows[..., first:last].sum(axis=-1) for first, last, _ in across], axis=-1)
        return sums / (divisor or np.outer(down[:, 2], across[:, 2]))


def max_pool2d_backward(grad, x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    return to_places(grad, x, max_pool2d_with_indices(x, kernel_size, stride, padding, dilation, ceil_mode)[1])


def adaptive_max_pool2d_backward(grad, x, output_size):
    return to_places(grad, x, adaptive_max_pool2d_with_indices(x, output_size)[1])


def to_places(grad, x, places):
    """What each maximum got, to the pixel that it came from."""
    planes, windows = x[..., 0, 0].size, places.shape[-2] * places.shape[-1]
    of_x = np.zeros((planes, x.shape[-2] * x.shape[-1]))
    plane, window = np.nonzero(places.reshape(planes, windows) >= 0)
    place = places.reshape(planes, windows)[plane, window]
    np.add.at(of_x, (plane, place), _double(grad).reshape(planes, windows)[plane, window])
    return of_x.reshape(x.shape)


def avg_pool2d_backward(
    grad, x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    g, sizes = geometry.pooling(x.shape[-2:], kernel_size, stride, padding, 1, ceil_mode)
    down, across = geometry.windows(x.shape[-2:], sizes, g, count_include_pad)
    return spread(grad, x, down, across, divisor_override)


def adaptive_avg_pool2d_backward(grad, x, output_size):
    return spread(grad, x, *geometry.adaptive_windows(x.shape[-2:], output_size), None)


def spread(grad, x, down, across, divisor):
    """What each mean got, in equal parts to the pixels of its window."""
    shares = _double(grad) / (divisor or np.outer(down[:, 2], across[:, 2]))
    rows, of_x = np.zeros((*x.shape[:-2], len(down), x.shape[-1])), np.zeros(x.shape)
    for z, (first, last, _) in enumerate(across):
        rows[..., first:last] += shares[..., z, None]
    for y, (first, last, _) in enumerate(down):
        of_x[..., first:last, :] += rows[..., y, None, :]
    return of_x
