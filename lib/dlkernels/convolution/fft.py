"""Convolution as a product of spectra: for large kernels.

    result = inverse transform of ( sum over channels of transform(pixels) * conjugate(transform(weights)) )

A transform of F x F pixels makes the results at which the kernel stands wholly inside: (F - kernel + 1)^2 of them, as
the sum goes round at the edges. A picture is therefore cut into squares that overlap by kernel - 1 pixels: overlap-save
(Oppenheim and Schafer, Discrete-Time Signal Processing, section 8.7). Transforms of real numbers have only half of the
spectrum to be kept: F (F / 2 + 1) complex numbers. For each of them, the sum over channels is a product of matrices.

Multiplications for each result and pair of channels: about 4 F (F / 2 + 1) / (F - kernel + 1)^2, where the definition
has kernel^2; transforms come on top for each channel, not for each pair. Transforms are NumPy's.
"""

import math

import numpy as np

from .. import team
from .geometry import extent

SMALL = 49  # places of a kernel; for fewer it was never faster
MULTIPLY, TRANSFORM = 12, 36
CALL = 1200  # what each transform takes beside its numbers, in the unit of `length`: small squares are many of them
SPECTRA = 8 << 20  # bytes of spectra of pixels, and of weights, at a time
LENGTHS = sorted(base << power for base in (1, 3, 5) for power in range(2, 10))  # what transforms are fast for


def fits(g):
    """Whether the convolution has no stride, which would compute results that nobody needs. Dilation costs nothing."""
    return (g.stride_y, g.stride_x) == (1, 1)


def pays(weight, g, out):
    """Whether it is faster than direct sums: by shape. In time, a multiplication of spectra is worth MULTIPLY of a
    direct sum, and a number of a transform, for each doubling of its length, TRANSFORM: measured on one thread, on
    which transforms stay.
    """
    if not fits(g) or g.kernel_y * g.kernel_x < SMALL:
        return False
    (tall, broad), multiplies, _ = counts(weight, g, out)
    squares, (outs, ins) = _squares((tall, broad), g, out), weight.shape[:2]
    numbers = (squares * (ins * g.groups + outs) + outs * ins) * tall * broad * math.log2(tall * broad)
    direct = out.size * weight[0].size
    return MULTIPLY * multiplies + TRANSFORM * numbers * team.size() < direct


def spans(g):
    return extent(g.kernel_y, g.dilation_y), extent(g.kernel_x, g.dilation_x)


def length(span, results, weights):
    """How long transforms along one axis are, so that they take as little time as can be. weights: how many transforms
    of weights there are for one of pixels or results, if the picture is one square."""

    def cost(size):
        return ((-(-results // (size - span + 1))) ** 2 + weights) * (size**2 * math.log2(size) + CALL)

    longest = 1 << (span + results - 2).bit_length()
    return min([size for size in LENGTHS if size >= span] or [max(longest, 4)], key=cost)


def edges(weight, g, out):
    """(height, width) of the squares."""
    weights = weight.shape[0] * weight.shape[1] / (len(out) * (weight.shape[1] * g.groups + len(weight)))
    return tuple(length(span, results, weights) for span, results in zip(spans(g), out.shape[2:], strict=True))


def _squares(size, g, out):
    """How many squares a convolution is cut into."""
    inner = (s - k + 1 for s, k in zip(size, spans(g), strict=True))
    return len(out) * math.prod(-(-results // step) for results, step in zip(out.shape[2:], inner, strict=True))


def counts(weight, g, out):
    """(edges, multiplications of real numbers without those of the transforms, bytes of spectra)."""
    size, (outs, ins) = edges(weight, g, out), weight.shape[:2]
    numbers, squares = size[0] * (size[1] // 2 + 1), _squares(size, g, out)
    item_bytes = ins * numbers * 2 * out.itemsize
    room = item_bytes * (_some(outs // g.groups, item_bytes) + _some(squares, item_bytes))
    return size, 4 * numbers * squares * outs * ins, room


def _some(count, item_bytes):
    """How many things of `item_bytes` bytes are taken at a time."""
    return min(count, max(1, SPECTRA // item_bytes))


def convolve(x, weight, bias, g, out):
    """out = the convolution, for contiguous arrays."""
    (pictures, outs, high, wide), ins, of_group = out.shape, weight.shape[1], len(weight) // g.groups
    size, span = edges(weight, g, out), spans(g)
    inner = tuple(s - k + 1 for s, k in zip(size, span, strict=True))
    corners = [(n, y, z) for n in range(pictures) for y in range(0, high, inner[0]) for z in range(0, wide, inner[1])]
    item_bytes = ins * size[0] * (size[1] // 2 + 1) * 2 * out.itemsize
    squares, channels = _some(len(corners), item_bytes), _some(of_group, item_bytes)
    kernel = np.zeros((outs, ins, *span), weight.dtype)
    kernel[:, :, :: g.dilation_y, :: g.dilation_x] = weight
    for first_out in range(0, outs, channels):
        for group in range(first_out // of_group, -(-min(first_out + channels, outs) // of_group)):
            channel_block = slice(max(first_out, group * of_group), min(first_out + channels, (group + 1) * of_group))
            factors = _spectra(kernel[channel_block], size).conj()
            for first_corner in range(0, len(corners), squares):
                block_corners = corners[first_corner : first_corner + squares]
                pixels = _spectra(_cut_out(x[:, group * ins : (group + 1) * ins], block_corners, size, g), size)
                sums = _results(factors @ pixels, size)
                for (n, y, z), result in zip(block_corners, sums.swapaxes(0, 1), strict=True):
                    target = out[n, channel_block, y : y + inner[0], z : z + inner[1]]
                    np.add(result[:, : target.shape[1], : target.shape[2]], bias[channel_block, None, None], out=target)


def _cut_out(x, corners, size, g):
    """(channels, squares, height, width): the pixels of squares whose first results are given, with their padding."""
    squares = np.zeros((x.shape[1], len(corners), *size), x.dtype)
    for k, (n, y, z) in enumerate(corners):
        top, left = y - g.top, z - g.left
        rows, columns = slice(max(top, 0), max(top + size[0], 0)), slice(max(left, 0), max(left + size[1], 0))
        seen = x[n, :, rows, columns]
        down, right = max(-top, 0), max(-left, 0)
        squares[:, k, down : down + seen.shape[1], right : right + seen.shape[2]] = seen
    return squares


def _spectra(x, size):
    """(frequency, rows, columns) of an array (rows, columns, height, width)."""
    spectra = np.fft.rfft2(x, size)
    return np.ascontiguousarray(spectra.reshape(*x.shape[:2], -1).transpose(2, 0, 1))


def _results(sums, size):
    """The inverse of `_spectra`."""
    spectra = np.ascontiguousarray(sums.transpose(1, 2, 0)).reshape(*sums.shape[1:], size[0], -1)
    return np.fft.irfft2(spectra, size)
