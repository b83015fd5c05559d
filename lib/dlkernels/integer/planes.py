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

import functools
from collections import namedtuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from ..convolution.plans import by_shape
from ..matrix.dots import I32, LANES
from ..simd.inner import inner_njit
from ..simd.vector import splat
from .packed import by_taps, steps_of
from .words import WIDTH, WORDS, copy_elements

BAND = 256 << 10  # bytes of the planes of a band

#: rows: of the result in a band; bands: of a picture. taps: whether words hold taps. words: of a pixel; each has down x
#: across planes, those of the strides. tall: rows of a plane; pitch: words from one row to the next; size: words of a
#: plane; own: of all planes, and of what the last tile loads beyond them. row: bytes of a padded row of taps; spare: of
#: these, what vectors read beyond it.
Plan = namedtuple("Plan", "rows bands taps words down across tall pitch size own row spare")


@by_shape
def plan(weight, g, out, threads):
    """The `Plan` for a weight and a result of these shapes."""
    (pictures, _outs, high, wide), (_o, ins, kernel_y, kernel_x) = out.shape, weight.shape
    taps = by_taps(weight.shape)
    span_y, span_x = (kernel_y - 1) * g.dilation_y, 0 if taps else (kernel_x - 1) * g.dilation_x
    down, across = min(g.stride_y, span_y + 1), min(g.stride_x, span_x + 1)
    words = ins * steps_of(kernel_x) if taps else steps_of(ins)
    # With stride 1, a column of padding serves as the end of a row and as the begin of the next.
    # With more padding than the kernel reaches over, some of it has results of its own.
    both = min(g.left, g.right, span_x) if g.stride_x == 1 else 0
    pitch, reach = wide + span_x // g.stride_x - both, span_y // g.stride_y
    rows = max(1, min(high, BAND // (4 * words * down * across * pitch) - reach))
    if threads > 1:
        rows = max(1, min(rows, -(-pictures * high // (2 * threads))))
    rows = -(-high // -(-high // rows))
    tall = rows + reach
    size = tall * pitch + both
    workspace = words * down * across * size + 2 * WIDTH
    spare = 2 * LANES  # what vectors read beyond a padded row
    row = (wide - 1) * g.stride_x + (kernel_x - 1) * g.dilation_x + 1 + spare if taps else spare
    return Plan(rows, -(-high // rows), taps, words, down, across, tall, pitch, size, workspace, row, spare)


@by_shape
def places(weight, g, out, p):
    """Where each step begins in the planes, seen from a result's place, in the order of packed.py."""
    _outs, ins, tall, wide = weight.shape
    y = np.arange(tall) * g.dilation_y
    of_rows = y % g.stride_y * p.across * p.size + y // g.stride_y * p.pitch
    if p.taps:
        groups = np.arange(steps_of(wide))
        of_channels = (np.arange(ins)[:, None, None] * len(groups) + groups) * p.down * p.across * p.size
        found = of_channels + of_rows[:, None]
    else:
        x = np.arange(wide) * g.dilation_x
        of_columns = x % g.stride_x * p.size + x // g.stride_x
        found = (np.arange(p.words) * p.down * p.across * p.size)[:, None, None] + of_rows[:, None] + of_columns
    found = np.ascontiguousarray(found.reshape(-1), np.int64)
    return found


@inner_njit()
def fill(line, start, count, word):
    part = line[start : start + count]
    for k in range(part.size):
        part[k] = word


@functools.cache
def join_vector(step):
    """The intrinsic join(pixels, start, apart, flip, line, to): LANES words, of bytes `step` and 2 step apart.

    Byte c of word k is pixels[start + apart[c] + k step], and flip is xor-ed to each word. apart: four offsets.
    """

    @intrinsic
    def join(typingctx, pixels, start, apart, flip, line, to):
        if (pixels.dtype, line.dtype) != (types.uint8, types.uint32):
            raise TypingError("join expects pixels of uint8 and a line of words of uint32")
        codes, seen = ir.VectorType(ir.IntType(8), LANES), ir.VectorType(ir.IntType(8), step * LANES)

        def emit(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            target = context.make_array(signature.args[4])(context, builder, arguments[4]).data
            flip = context.cast(builder, arguments[3], signature.args[3], types.uint32)
            words = splat(builder, flip, LANES)
            for c in range(4):
                offset = builder.add(arguments[1], builder.extract_value(arguments[2], c))
                address = builder.bitcast(builder.gep(data, [offset]), seen.as_pointer())
                bytes_, every = builder.load(address, align=1), ir.VectorType(I32, LANES)
                if step > 1:
                    order = ir.Constant(every, list(range(0, step * LANES, step)))
                    bytes_ = builder.shuffle_vector(bytes_, ir.Constant(seen, ir.Undefined), order)
                assert bytes_.type == codes
                shifted = builder.shl(builder.zext(bytes_, WORDS), ir.Constant(WORDS, [8 * c] * LANES))
                words = builder.xor(words, shifted)
            address = builder.bitcast(builder.gep(target, [arguments[5]]), WORDS.as_pointer())
            builder.store(words, address, align=4)
            return context.get_dummy_value()

        number = types.int64
        return types.none(pixels, number, types.UniTuple(number, 4), types.uint32, line, number), emit

    return join


join_neighbours, join_every_second = join_vector(1), join_vector(2)


@inner_njit()
def join_words(pixels, start, apart, count, step, flip, line, line_start):
    """`count` words of bytes that are `apart` from each other, from pixels[start] on, `step` from one word to the next.

    Whole vectors are written where as many pixels can be read: the caller fills in what follows afterwards.
    """
    padded = (count + LANES - 1) // LANES * LANES
    if step <= 2 and start + max(apart[1], apart[3]) + step * padded <= pixels.size:
        for k in range(0, count, LANES):
            if step == 1:
                join_neighbours(pixels, start + k, apart, flip, line, line_start + k)
            else:
                join_every_second(pixels, start + 2 * k, apart, flip, line, line_start + k)
        return
    for k in range(count):
        index = start + k * step
        low = np.uint32(pixels[index]) | np.uint32(pixels[index + apart[1]]) << np.uint32(8)
        high = np.uint32(pixels[index + apart[2]]) | np.uint32(pixels[index + apart[3]]) << np.uint32(8)
        line[line_start + k] = (low | high << np.uint32(16)) ^ flip


@inner_njit()
def four_apart(count, step):
    """Offsets of four bytes; of fewer, the last one again: it meets a weight of zero."""
    return 0, min(1, count - 1) * step, min(2, count - 1) * step, min(3, count - 1) * step


@inner_njit()
def row_of_channels(pixels, row_start, plane, wide, channels, first_column, g, p, flip, pad, line, line_start):
    """A row of a plane. row_start: the first pixel of the picture's row; first_column: that of the plane's word 0."""
    step = g.stride_x
    begin = min(max(0, -(first_column // step)), p.pitch)  # words before the picture
    end = max(begin, min(p.pitch, (wide - 1 - first_column) // step + 1))
    fill(line, line_start, begin, pad)
    if end > begin:
        source = row_start + first_column + begin * step
        join_words(pixels, source, four_apart(channels, plane), end - begin, step, flip, line, line_start + begin)
    fill(line, line_start + end, p.pitch - end, pad)


@inner_njit()
def pad_row(pixels, start, wide, left, code, row, length):
    """row[:length] = a row of the picture with its padding."""
    begin = min(left, length)
    end = max(begin, min(length, left + wide))
    for k in range(begin):
        row[k] = code
    copy_elements(row, begin, pixels, start + begin - left, end - begin)
    for k in range(end, length):
        row[k] = code


@inner_njit()
def make_planes(pixels, extents, picture, channel, ins, top, g, p, flip, pad, row, line, line_start):
    """The planes of `ins` channels from `channel` on, for a band of results from row `top` on, to line[line_start:].

    pixels: of all pictures; extents: (channels, height, width) of each. flip: a word that is xor-ed to those of the
    picture; pad: the word that stands outside; row: room for a row of pixels where words hold taps.
    """
    (channels, high, wide), groups = extents, (g.kernel_x + 3) // 4
    code, length = np.uint8((pad ^ flip) & np.uint32(255)), row.size - p.spare
    for word in range(p.words):
        c = channel + (word // groups if p.taps else 4 * word)
        tap, count, plane = word % groups * 4, channel + ins - c, high * wide
        for y in range(p.down):
            for z in range(p.across):
                plane_start = line_start + ((word * p.down + y) * p.across + z) * p.size
                rows = 0  # that are one with the next: nothing stands between them
                if not p.taps and p.pitch == wide and g.stride_x == g.stride_y == 1:
                    first_row = top - g.top
                    if first_row >= 0 and first_row + p.tall <= high:
                        source = ((picture * channels + c) * high + first_row) * wide
                        join_words(pixels, source, four_apart(count, plane), p.tall * wide, 1, flip, line, plane_start)
                        rows = p.tall
                for i in range(rows, p.tall):
                    from_row = (top + i) * g.stride_y + y - g.top
                    source, row_start = ((picture * channels + c) * high + from_row) * wide, plane_start + i * p.pitch
                    if not 0 <= from_row < high:
                        fill(line, row_start, p.pitch, pad)
                    elif p.taps:
                        pad_row(pixels, source, wide, g.left, code, row, length)
                        apart = four_apart(g.kernel_x - tap, g.dilation_x)
                        join_words(row, tap * g.dilation_x, apart, p.pitch, g.stride_x, flip, line, row_start)
                    else:
                        row_of_channels(
                            pixels, source, plane, wide, count, z - g.left, g, p, flip, pad, line, row_start
                        )
                fill(line, plane_start + p.tall * p.pitch, p.size - p.tall * p.pitch, pad)
    fill(line, line_start + p.words * p.down * p.across * p.size, 2 * WIDTH, pad)
