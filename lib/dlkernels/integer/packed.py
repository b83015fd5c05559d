"""Weights in the order in which the fused kernels read them, with the sums of their rows.

    layer = PackedWeight(weight)                       # once
    linear_int8(x, layer, ...)                         # many times

A linear layer's weight stands in panels of WIDTH output channels: words of four neighbouring codes of each, one step
after the other. A convolution's stands in panels of ROWS output channels of a group. There a word holds

- four input channels at one tap of the kernel, or
- four taps of a row of the kernel in one channel, where that makes fewer words: of a depthwise layer, say.
"""

import numpy as np

from .. import team
from ..arguments import float_array
from ..host import plain
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..team import share
from .words import ROWS, WIDTH

LINE = 64  # words of a row at a time: some lines of the cache, which it fetches ahead
INT8 = np.dtype("int8")


class PackedWeight:
    """An int8 weight in host memory, packed once for many calls of `linear_int8`, (out, in), or of `conv2d_int8`,
    (out_channels, in_channels / groups, kernel height, kernel width).

    Later changes of the array do not change it. Scales and zero points are given with each call.
    """

    def __init__(self, weight, groups=1):
        float_array("weight", weight, (INT8,))
        if not isinstance(weight, np.ndarray):
            raise ValueError("weight is in device memory; expected host memory: use weight.copy_to_host().")
        if weight.ndim not in (2, 4) or groups < 1 or (weight.ndim == 2 and groups > 1) or len(weight) % groups:
            raise ValueError(
                f"weight has shape {weight.shape} and groups is {groups}; expected (out, in), or (out_channels, "
                "in_channels / groups, height, width) with a number of output channels that groups divide."
            )
        self.weight, self.groups = weight.copy(), groups
        self.weight.flags.writeable = False
        codes = plain(self.weight)
        self.sums = codes.sum(axis=tuple(range(1, codes.ndim)), dtype=np.int32)
        self.words = _pack_linear(codes) if codes.ndim == 2 else _pack_conv2d(codes, groups)

    def __repr__(self):
        return f"PackedWeight of shape {self.weight.shape}" + (f", {self.groups} groups" * (self.groups > 1))


def codes_of(weight):
    """The codes as a contiguous array, packed or not."""
    return plain(weight.weight if isinstance(weight, PackedWeight) else weight)


def packed(weight, groups=1):
    return weight if isinstance(weight, PackedWeight) else PackedWeight(weight, groups)


def steps_of(terms):
    """Words of a row of so many codes: at least one, of zeros."""
    return max(1, -(-terms // 4))


@inner_njit()
def word_of(codes, start, step, count):
    """Four codes from `start` on, `step` apart, the first in the lowest byte; zeros beyond `count` of them."""
    word = np.uint32(0)
    for k in range(min(count, 4)):
        word |= np.uint32(np.uint8(codes[start + k * step])) << np.uint32(8 * k)
    return word


@inner_njit()
def _task_of_linear(arguments, panel, who):
    """Some words of each channel in turn: rows that are a power of two apart would push each other out."""
    codes, outs, terms, steps, words = arguments
    first_channel, full_steps = panel * WIDTH, terms // 4
    channels = min(WIDTH, outs - first_channel)
    for begin in range(0, steps, LINE):
        end = min(begin + LINE, steps)
        for c in range(channels):
            row, word_start = (first_channel + c) * terms, panel * steps * WIDTH + c
            for s in range(begin, min(end, full_steps)):
                start = row + 4 * s
                low = np.uint32(np.uint8(codes[start])) | np.uint32(np.uint8(codes[start + 1])) << np.uint32(8)
                high = np.uint32(np.uint8(codes[start + 2])) | np.uint32(np.uint8(codes[start + 3])) << np.uint32(8)
                words[word_start + s * WIDTH] = low | high << np.uint32(16)
            for s in range(max(begin, full_steps), end):
                words[word_start + s * WIDTH] = word_of(codes, row + 4 * s, 1, terms - 4 * s)


@cached_njit()
def pack_panels(codes, outs, terms, steps, words, panels, threads, team):
    share(_task_of_linear, (codes, outs, terms, steps, words), panels, threads, 0, team)


def _pack_linear(codes):
    outs, terms = codes.shape
    steps, panels = steps_of(terms), -(-outs // WIDTH)
    words = np.zeros(panels * steps * WIDTH, np.uint32)
    threads = team.size() if words.size > 1 << 16 else 1
    pack_panels(codes.reshape(-1), outs, terms, steps, words, panels, threads, team.members())
    return words


def by_taps(shape):
    """Whether words of a convolution's weight hold taps of one channel."""
    _outs, ins, _tall, wide = shape
    return ins * steps_of(wide) < steps_of(ins) * wide


def steps_of_kernel(shape):
    """Words of the kernel of one output channel."""
    _outs, ins, tall, wide = shape
    return tall * (ins * steps_of(wide) if by_taps(shape) else steps_of(ins) * wide)


def rows_of_panel(shape, groups):
    """Output channels of a panel: one where groups have too few for a tile."""
    return ROWS if 2 * (shape[0] // groups) >= ROWS else 1


@cached_njit()
def pack_kernels(codes, groups, rows, taps, words):
    """words[group, panel, step, row]; steps go by (channel, row of the kernel, taps), or by (channels, row, tap)."""
    outs, ins, tall, wide = codes.shape
    line, outs_of_group = codes.reshape(-1), outs // groups
    panels, count = (outs_of_group + rows - 1) // rows, tall * wide
    index = 0
    for group in range(groups):
        for panel in range(panels):
            for c in range(0, ins, 1 if taps else 4):
                for y in range(tall):
                    for z in range(0, wide, 4 if taps else 1):
                        for r in range(rows):
                            o, word = panel * rows + r, np.uint32(0)
                            if o < outs_of_group:
                                begin = ((group * outs_of_group + o) * ins + c) * count + y * wide + z
                                word = word_of(line, begin, 1 if taps else count, wide - z if taps else ins - c)
                            words[index] = word
                            index += 1


def _pack_conv2d(codes, groups):
    rows = rows_of_panel(codes.shape, groups)
    panels = groups * -(-(len(codes) // groups) // rows)
    words = np.zeros(panels * steps_of_kernel(codes.shape) * rows, np.uint32)
    if codes.size:
        pack_kernels(codes, groups, rows, by_taps(codes.shape), words)
    return words
