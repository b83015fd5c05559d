"""Where a window stands: stride, padding, dilation and groups, as PyTorch means them, checked.

    out_height = (height + top + bottom - dilation (kernel_height - 1) - 1) // stride + 1

Output (y, x) sees the input pixels (y stride + ky dilation - top, x stride + kx dilation - left). Those outside the
picture count as zeros for a convolution, and not at all for a maximum.
"""

import functools
import numbers
from collections import namedtuple

import numpy as np

#: All that a kernel has to know beside the arrays. Whole numbers, so that compiled functions take it as it is.
Geometry = namedtuple(
    "Geometry", "kernel_y kernel_x stride_y stride_x top bottom left right dilation_y dilation_x groups"
)


MOST = 2**31 - 1  # of a stride, a padding, a dilation: more than any picture, and no sum of them overflows


def pair(name, value, least):
    """`value`, a whole number or two of them (for y and x), as a tuple of two; an error that names the argument."""
    if type(value) is int and least <= value <= MOST:  # the usual case, fast
        return value, value
    values = value if isinstance(value, tuple | list) else (value, value)
    if len(values) != 2 or not all(_is_whole(x) for x in values):
        raise TypeError(f"{name} is {value!r}; expected a whole number, or two of them: one for y, one for x.")
    if min(values) < least:
        raise ValueError(f"{name} is {value!r}; expected {'nothing negative' if least == 0 else 'at least 1'}.")
    if max(values) > MOST:
        raise ValueError(f"{name} is {value!r}; expected at most {MOST}.")
    return tuple(int(x) for x in values)


def _is_whole(value):
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def extent(kernel, dilation):
    """How many pixels a dilated kernel spans."""
    return dilation * (kernel - 1) + 1


def padding_of(padding, kernel, stride, dilation):
    """((top, bottom), (left, right)) for a whole number, two of them, "valid" or "same".

    "same" gives a result of the picture's size. Where an odd number of zeros is needed, the odd one stands at the end.
    """
    if not isinstance(padding, str):
        return tuple((p, p) for p in pair("padding", padding, 0))
    if padding == "valid":
        return (0, 0), (0, 0)
    if padding == "same":
        if stride != (1, 1):
            raise ValueError(f'padding is "same" and stride is {stride}; expected stride 1, or padding as numbers.')
        missing = [extent(k, d) - 1 for k, d in zip(kernel, dilation, strict=True)]
        return tuple((m // 2, m - m // 2) for m in missing)
    raise ValueError(f'padding is {padding!r}; expected "same", "valid", a whole number, or two of them.')


def convolution(picture, kernel, stride=1, padding=0, dilation=1, groups=1):
    """(Geometry, (height, width) of the result) for a picture and a kernel of these heights and widths."""
    stride, dilation = pair("stride", stride, 1), pair("dilation", dilation, 1)
    y, x = padding_of(padding, kernel, stride, dilation)
    g = Geometry(*kernel, *stride, *y, *x, *dilation, groups)
    return g, sizes_out(picture, g)


def sizes_out(picture, g, ceil_mode=False):
    """(height, width) of what a window makes of a picture; ValueError where it does not fit in once."""
    height, width = picture
    spans = extent(g.kernel_y, g.dilation_y), extent(g.kernel_x, g.dilation_x)
    room = height + g.top + g.bottom, width + g.left + g.right
    axes = (room[0] - spans[0], g.stride_y, height + g.top), (room[1] - spans[1], g.stride_x, width + g.left)
    sizes = tuple(_places(*axis, ceil_mode) for axis in axes)
    if min(sizes) < 1:
        dilated = " with its dilation" if (g.dilation_y, g.dilation_x) != (1, 1) else ""
        raise ValueError(
            f"the kernel spans {spans[0]} x {spans[1]} pixels{dilated}, but the picture has {room[0]} x {room[1]} with "
            "its padding; expected a kernel that fits in. Use more padding, or a smaller kernel."
        )
    return sizes


def _places(steps, stride, last, ceil_mode):
    """How many windows stand along one axis. ceil_mode: also one that reaches over the end, if it begins before
    `last`."""
    if not ceil_mode:
        return steps // stride + 1
    count = -(-steps // stride) + 1
    return count - 1 if (count - 1) * stride >= last else count


# ---- windows of a pooling --------------------------------------------------------------------------------------------
# For each axis an array with a row for each window: of a mean (first, last, length), of a maximum (first, count, step).
# For a small picture, making it takes longer than the pooling; so it is kept, and nobody may write to it.


def kept(make):
    """Let `make`, which makes such an array of whole numbers, keep it for the next call with the same numbers."""

    @functools.lru_cache(maxsize=64)
    @functools.wraps(make)
    def made(*numbers):
        windows = make(*numbers)
        windows.flags.writeable = False
        return windows

    return made


def pooling(picture, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    """(Geometry, (height, width) of the result) of a pooling. stride: None for windows side by side.

    ceil_mode: windows that reach over the end count, too, if they begin in the picture or in the padding before it.
    """
    kernel = pair("kernel_size", kernel_size, 1)
    stride = kernel if stride is None else pair("stride", stride, 1)
    padding, dilation = pair("padding", padding, 0), pair("dilation", dilation, 1)
    if any(p > k // 2 for p, k in zip(padding, kernel, strict=True)):
        raise ValueError(
            f"padding is {padding} and kernel_size is {kernel}; expected at most half of it, so that windows have "
            "pixels."
        )
    top, left = padding
    g = Geometry(*kernel, *stride, top, top, left, left, *dilation, 1)
    return g, sizes_out(picture, g, ceil_mode)


def windows(picture, sizes, g, count_include_pad):
    """For each axis the (first, last, length) of means: the pixels of each window, and what its sum is divided by.

    length: with the padding, as far as the picture is padded, or of the pixels alone.
    """
    axes = (picture[0], sizes[0], g.kernel_y, g.stride_y, g.top), (picture[1], sizes[1], g.kernel_x, g.stride_x, g.left)
    return tuple(_clipped(*axis, count_include_pad) for axis in axes)


@kept
def _clipped(pixels, count, kernel, stride, padding, count_include_pad):
    first = np.arange(count) * stride - padding
    last = np.minimum(first + kernel, pixels + padding)
    inside = np.maximum(first, 0), np.minimum(last, pixels)
    length = last - first if count_include_pad else inside[1] - inside[0]
    return np.stack([*inside, length], axis=1)


def places(picture, sizes, g):
    """For each axis the (first, count, step) of maxima: the pixels of each window that stand on the picture.

    A dilated window may have none of them; its count is 0.
    """
    down = picture[0], sizes[0], g.kernel_y, g.stride_y, g.top, g.dilation_y
    return _on_the_picture(*down), _on_the_picture(picture[1], sizes[1], g.kernel_x, g.stride_x, g.left, g.dilation_x)


@kept
def _on_the_picture(pixels, count, kernel, stride, padding, dilation):
    begin = np.arange(count) * stride - padding
    first = np.where(begin < 0, begin % dilation, begin)
    last = np.minimum(begin + extent(kernel, dilation), pixels)
    return np.stack([first, np.maximum(0, -((first - last) // dilation)), np.full(count, dilation)], axis=1)


def adaptive_windows(picture, output_size):
    """Those of means that share a picture out among so many results; None: as many as there are pixels."""
    return tuple(_shares(*axis) for axis in _to_share(picture, output_size))


def adaptive_places(picture, output_size):
    """Those of maxima that do the same."""
    return tuple(_shared_places(*axis) for axis in _to_share(picture, output_size))


def _to_share(picture, output_size):
    """For each axis (pixels, windows)."""
    wanted = output_size if isinstance(output_size, tuple | list) else (output_size, output_size)
    if len(wanted) != 2:
        raise TypeError(f"output_size is {output_size!r}; expected a whole number or None, or two of them.")
    sizes = pair("output_size", [p if w is None else w for p, w in zip(picture, wanted, strict=True)], 1)
    return zip(picture, sizes, strict=True)


@kept
def _shares(pixels, count):
    y = np.arange(count)
    first, last = y * pixels // count, -(-(y + 1) * pixels // count)
    return np.stack([first, last, last - first], axis=1)


@kept
def _shared_places(pixels, count):
    first, _, length = _shares(pixels, count).T
    return np.stack([first, length, np.ones_like(first)], axis=1)
