"""Channels in the lanes of vectors: pictures turned from planes, [channel][row][column], to [row][column][channel], and
back.

Blocks of lanes x lanes elements are turned in registers (`simd.pack.transpose_block`); where fewer are left, the last
block is moved back over ones that are done.
"""

from ..simd import broadcast, lanes, load, store
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..simd.pack import pack, transpose_block


@inner_njit()
def turn(source, source_start, plane, channels, pixels, line, line_start):
    """line[line_start + pixel * lanes + channel] = source[source_start + channel * plane + pixel]; zeros for channels
    that are not there."""
    size = lanes(line)
    if channels == size and pixels >= size:
        for pixel in range(0, pixels, size):
            first_pixel = min(pixel, pixels - size)  # the last block is moved back
            transpose_block(source, source_start + first_pixel, plane, line, line_start + first_pixel * size, size)
        return
    if channels < size:
        line[line_start : line_start + pixels * size] = 0
    pack(source, source_start, 1, plane, pixels, channels, line, line_start, size)


@inner_njit()
def turn_back(line, line_start, step, channels, pixels, target, target_start, plane):
    """target[target_start + channel * plane + pixel] = line[line_start + pixel * step + channel]."""
    size = lanes(line)
    if channels == size and pixels >= size:
        for pixel in range(0, pixels, size):
            first_pixel = min(pixel, pixels - size)
            transpose_block(line, line_start + first_pixel * step, step, target, target_start + first_pixel, plane)
        return
    pack(line, line_start, 1, step, channels, pixels, target, target_start, plane)


@inner_njit()
def _fill(line, start, count, step, zero):
    for k in range(count):
        store(line, start + k * step, zero)


@inner_njit()
def _copy(line, source_at, source_stride, count, target_at, target_stride):
    for k in range(count):
        store(line, target_at + k * target_stride, load(line, source_at + k * source_stride))


@inner_njit()
def copy_turned(x, channel, picture, window, line, target_at, step, scratch):
    """A window of one vector of channels, with its padding: row r, column c from element
    target_at + (r * columns + c) * step on.

    window: (first row, first column, rows, columns, row_stride, column_stride). scratch: memory for
    rows * columns * column_stride vectors.
    """
    size, (high, wide) = lanes(line), x.shape[2:]
    top, left, rows, columns, row_stride, column_stride = window
    channels = min(size, x.shape[1] - channel)
    zero = broadcast(line.dtype.type(0))
    pad_left = max(-(left // column_stride), 0)  # columns that lie left of the picture, inside, right of it
    inside = max(min((wide - 1 - left) // column_stride + 1, columns) - pad_left, 0)
    column = left + pad_left * column_stride
    span = (inside - 1) * column_stride + 1
    plane, pixels_at = high * wide, (picture * x.shape[1] + channel) * high * wide
    above, below = max(-(top // row_stride), 0), min((high - 1 - top) // row_stride + 1, rows)
    together = row_stride == 1 and span == wide and inside > 0 and below > above
    if together:  # whole rows: one run of pixels
        turn(memory(x), pixels_at + (top + above) * wide, plane, channels, (below - above) * wide, line, scratch)
    for r in range(rows):
        row = target_at + r * columns * step
        if above <= r < below and inside > 0:
            turned = scratch
            if together:
                turned = scratch + (r - above) * wide * size
            else:
                turn(
                    memory(x), pixels_at + (top + r * row_stride) * wide + column, plane, channels, span, line, scratch
                )
            _fill(line, row, pad_left, step, zero)
            _copy(line, turned, column_stride * size, inside, row + pad_left * step, step)
            _fill(line, row + (pad_left + inside) * step, columns - pad_left - inside, step, zero)
        else:
            _fill(line, row, columns, step, zero)


@inner_njit()
def copy_interleaved(x, picture, window, line, target_at):
    """The same of all channels, where they are fewer than a vector has lanes: pixels stand x.shape[1] elements
    apart."""
    ins, high, wide = x.shape[1:]
    top, left, rows, columns, row_stride, column_stride = window
    pad_left = max(-(left // column_stride), 0)
    inside = max(min((wide - 1 - left) // column_stride + 1, columns) - pad_left, 0)
    for r in range(rows):
        i, row = top + r * row_stride, target_at + r * columns * ins
        line[row : row + columns * ins] = 0
        if 0 <= i < high and inside > 0:
            for channel in range(ins):
                source, pixel_at = (
                    x[picture, channel, i, left + pad_left * column_stride :],
                    row + pad_left * ins + channel,
                )
                for q in range(inside):
                    line[pixel_at + q * ins] = source[q * column_stride]
