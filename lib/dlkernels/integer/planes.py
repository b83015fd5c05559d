"""Pictures as planes of words, in which each step of a convolution is one load of neighbours.

A tile computes neighbouring results of neighbouring rows at once: as many as its lanes, whatever the width of the
picture. So the words of one step, for neighbouring results, must be neighbours. They are, in planes that are

- padded, with the zero point's code, and so wide that a row of results is followed by the next one at once: the columns
  between two rows serve both as padding of the one's end and of the other's begin;
- split by stride: with stride 2, the even and the odd rows and columns have planes of their own.

Words hold four channels at one pixel; or, where a kernel's taps are packed (packed.by_taps), the four pixels of one
channel that the taps of a row see from one place. Planes of words are made for a band of the picture and one group of
channels at a time, so that they stay in the second cache.
"""

from collections import namedtuple

import numpy as np

from ..convolution.plans import by_shape
from ..simd.inner import inner_njit
from .packed import by_taps, steps_of
from .words import WIDTH

BAND = 256 << 10  # bytes of the planes of a band

#: rows: of the result in a band; bands: of a picture. taps: whether words hold taps. words: of a pixel; each has down x
#: across planes, those of the strides. tall: rows of a plane; pitch: words from one row to the next; size: words of a
#: plane; own: of all planes, and of what the last tile loads beyond them.
Plan = namedtuple("Plan", "rows bands taps words down across tall pitch size own")


@by_shape
def plan(weight, g, out, threads):
    """The `Plan` for a weight and a result of these shapes."""
    (pictures, _outs, high, wide), (_o, ins, kernel_y, kernel_x) = out.shape, weight.shape
    taps = by_taps(weight.shape)
    span_y, span_x = (kernel_y - 1) * g.dilation_y, 0 if taps else (kernel_x - 1) * g.dilation_x
    down, across = min(g.stride_y, span_y + 1), min(g.stride_x, span_x + 1)
    words = ins * steps_of(kernel_x) if taps else steps_of(ins)
    # With stride 1, a column of padding serves as the end of a row and as the begin of the next.
    both = min(g.left, g.right) if g.stride_x == 1 and not taps else 0
    pitch, reach = wide + span_x // g.stride_x - both, span_y // g.stride_y
    rows = max(1, min(high, BAND // (4 * words * down * across * pitch) - reach))
    if threads > 1:
        rows = max(1, min(rows, -(-pictures * high // (2 * threads))))
    rows = -(-high // -(-high // rows))
    tall = rows + reach
    size = tall * pitch + both
    own = words * down * across * size + 2 * WIDTH
    return Plan(rows, -(-high // rows), taps, words, down, across, tall, pitch, size, own)


@by_shape
def places(weight, g, out, p):
    """Where each step begins in the planes, seen from a result's place, in the order of packed.py."""
    _outs, ins, tall, wide = weight.shape
    y = np.arange(tall) * g.dilation_y
    of_rows = y % g.stride_y * p.across * p.size + y // g.stride_y * p.pitch
    if p.taps:
        groups = np.arange(steps_of(wide))
        each = (np.arange(ins)[:, None, None] * len(groups) + groups) * p.down * p.across * p.size
        found = each + of_rows[:, None]
    else:
        x = np.arange(wide) * g.dilation_x
        of_columns = x % g.stride_x * p.size + x // g.stride_x
        found = (np.arange(p.words) * p.down * p.across * p.size)[:, None, None] + of_rows[:, None] + of_columns
    found = np.ascontiguousarray(found.reshape(-1), np.int64)
    return found


@inner_njit()
def fill(line, at, count, word):
    part = line[at : at + count]
    for k in range(part.size):
        part[k] = word


@inner_njit()
def join_channels(pixels, at, plane, count, channels, step, flip, pad, line, to):
    """Words of up to four channels, `plane` pixels apart: count of them, from pixel `at` on, `step` apart."""
    if count <= 0:
        return
    target = line[to : to + count]
    if channels >= 4 and step == 1:
        b0, b1 = pixels[at : at + count], pixels[at + plane : at + plane + count]
        b2, b3 = pixels[at + 2 * plane : at + 2 * plane + count], pixels[at + 3 * plane : at + 3 * plane + count]
        for k in range(target.size):
            low = np.uint32(b0[k]) | np.uint32(b1[k]) << np.uint32(8)
            high = np.uint32(b2[k]) | np.uint32(b3[k]) << np.uint32(8)
            target[k] = (low | high << np.uint32(16)) ^ flip
        return
    for k in range(target.size):
        target[k] = pad ^ flip
    for c in range(min(channels, 4)):
        shift, first = np.uint32(8 * c), at + c * plane
        for k in range(target.size):
            known = target[k] & ~(np.uint32(255) << shift)
            target[k] = known | np.uint32(pixels[first + k * step]) << shift
    for k in range(target.size):
        target[k] ^= flip


@inner_njit()
def row_of_channels(pixels, at, plane, width, channels, first, g, p, flip, pad, line, to):
    """A row of a plane. at: the first pixel of the picture's row; first: the column of the plane's first word."""
    step = g.stride_x
    begin = min(max(0, -(first // step)), p.pitch)  # words before the picture
    end = max(begin, min(p.pitch, (width - 1 - first) // step + 1))
    fill(line, to, begin, pad)
    source = at + first + begin * step
    join_channels(pixels, source, plane, end - begin, channels, step, flip, pad, line, to + begin)
    fill(line, to + end, p.pitch - end, pad)


@inner_njit()
def row_of_taps(pixels, at, width, first, taps, g, p, flip, pad, line, to):
    """The same of taps: word k holds pixels first + k stride + 0, 1, 2, 3 times the dilation."""
    target = line[to : to + p.pitch]
    code, turn = np.uint32(pad & np.uint32(255)), np.uint8(flip & np.uint32(255))
    for k in range(target.size):
        target[k] = np.uint32(0)
    for t in range(min(taps, 4)):
        shift, here = np.uint32(8 * t), first + t * g.dilation_x
        begin = min(max(0, -(here // g.stride_x)), p.pitch)
        end = max(begin, min(p.pitch, (width - 1 - here) // g.stride_x + 1))
        for k in range(begin):
            target[k] |= code << shift
        if g.stride_x == 1 and end > begin:
            source, part = pixels[at + here + begin : at + here + end], target[begin:end]
            for k in range(part.size):
                part[k] |= np.uint32(source[k] ^ turn) << shift
        else:
            for k in range(begin, end):
                target[k] |= np.uint32(pixels[at + here + k * g.stride_x] ^ turn) << shift
        for k in range(end, target.size):
            target[k] |= code << shift


@inner_njit()
def make_planes(pixels, extents, picture, channel, ins, top, g, p, kernel_x, flip, pad, line, at):
    """The planes of `ins` channels from `channel` on, for a band of results from row `top` on, from line[at] on.

    pixels: of all pictures; extents: (channels, height, width) of each. flip: a word that is xor-ed to those of the
    picture; pad: the word that stands outside.
    """
    (channels, high, wide), groups = extents, (kernel_x + 3) // 4
    for word in range(p.words):
        c = channel + (word // groups if p.taps else 4 * word)
        for y in range(p.down):
            for z in range(p.across):
                to = at + ((word * p.down + y) * p.across + z) * p.size
                for i in range(p.tall):
                    row = (top + i) * g.stride_y + y - g.top
                    inside = 0 <= row < high
                    source, place = ((picture * channels + c) * high + row) * wide, to + i * p.pitch
                    if not inside:
                        fill(line, place, p.pitch, pad)
                    elif p.taps:
                        tap = word % groups * 4
                        first = tap * g.dilation_x - g.left
                        row_of_taps(pixels, source, wide, first, kernel_x - tap, g, p, flip, pad, line, place)
                    else:
                        plane, count = high * wide, channel + ins - c
                        row_of_channels(pixels, source, plane, wide, count, z - g.left, g, p, flip, pad, line, place)
                fill(line, to + p.tall * p.pitch, p.size - p.tall * p.pitch, pad)
    fill(line, at + p.words * p.down * p.across * p.size, 2 * WIDTH, pad)
