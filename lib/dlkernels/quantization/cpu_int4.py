"""linear_int4 on the CPU: a linear layer whose weight has four bits a number.

The ladder of linear_int4          what the rung adds
    linear_int4_numpy      NumPy: the whole weight as float32, then a product
    linear_int4_compiled   numba: a number is made of its four bits where it is multiplied; no float32 weight anywhere
    linear_int4_vectors    a vector of bytes is two vectors of numbers: the input is parted into even and odd numbers
                           first, so that none has to move; four outputs for each load of the input; all cores

One row of input uses each weight once: the time is that of loading them. Four bits and a scale for each group are an
eighth of float32's bytes and a little more. With many rows of input, `linear` of a dequantized weight is faster.
"""

import functools

import numpy as np

from .. import team
from ..host import new, plain
from ..implementations import implementation
from ..simd import broadcast, fma, lanes, load, load_nibbles, reduce_add
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share
from . import reference

OUTPUTS = 4  # that are computed together
EACH = 16  # outputs of a task
ALONE = 1 << 17  # products below which waking another thread costs more than it gains

f32, i32, i8, u8 = np.float32, np.int32, np.int8, np.uint8


def on_rows(rung):
    """Let `rung(x (rows, in), weight, scale, zeros or None, group, out (rows, out))` take any shape; add the bias."""

    @functools.wraps(rung)
    def wrapper(group, bias, input, weight, scale, zero, out):
        rows = out.size // max(weight.shape[0], 1)
        if out.size:
            x, result = plain(input).reshape(rows, input.shape[-1]), out.reshape(rows, -1)
            if x.size:
                rung(x, plain(weight), plain(scale), None if zero is None else plain(zero), group, result)
            else:
                result[...] = 0
            if bias is not None:
                result += bias
        return out

    return wrapper


@implementation(
    "linear_int4", device="cpu", adds="NumPy: the whole weight as float32, then a product", dtypes=("float32",)
)
@on_rows
def linear_int4_numpy(x, weight, scale, zeros, group, out):
    both = np.stack([(weight << u8(4)).view(i8) >> i8(4), weight.view(i8) >> i8(4)], axis=-1)
    numbers = both.reshape(len(weight), -1)[:, : x.shape[1]].astype(f32)
    if zeros is not None:
        numbers -= reference.spread(zeros, numbers.shape, group_size=group)
    numbers *= reference.spread(scale, numbers.shape, group_size=group)
    np.matmul(x, numbers.T, out=out)


@cached_njit()
def _compiled(x, weight, scale, zeros, group, out):
    for row in range(x.shape[0]):
        for o in range(weight.shape[0]):
            total = f32(0)
            for g in range(scale.shape[1]):
                part, zero = f32(0), f32(zeros[o, g] if zeros.size else 0)
                for k in range(g * group, min((g + 1) * group, x.shape[1])):
                    code = i32(weight[o, k // 2] >> u8(4 * (k % 2)) & u8(15))
                    part += x[row, k] * (f32((code ^ 8) - 8) - zero)
                total += part * scale[o, g]
            out[row, o] = total


NONE = np.zeros((0, 0), np.int32)


@implementation(
    "linear_int4",
    device="cpu",
    adds="numba: a number is made of its four bits where it is multiplied: no float32 weight anywhere",
    dtypes=("float32",),
)
@on_rows
def linear_int4_compiled(x, weight, scale, zeros, group, out):
    _compiled(x, weight, scale, NONE if zeros is None else zeros, group, out)


# ---- vectors, all cores ----------------------------------------------------------------------------------------------


@inner_njit()
def _byte(x, index, odd, byte):
    """The share of one byte: two products."""
    number = i32(byte)
    low, high = ((number & 15) ^ 8) - 8, ((number >> 4) ^ 8) - 8
    return x[index] * f32(low) + x[odd + index] * f32(high)


@inner_njit()
def four_outputs(x, odd, weight, width, scale, zeros, sums, groups, o, bytes_of_group, out):
    """out[o] ... out[o + 3] of a row of input. x: its even numbers, from `odd` on the odd ones; sums: of each group."""
    lanes_of = lanes(x)
    a0 = a1 = a2 = a3 = broadcast(f32(0))
    b0 = b1 = b2 = b3 = f32(0)
    w0, w1, w2, w3 = o * width, (o + 1) * width, (o + 2) * width, (o + 3) * width
    for g in range(groups):
        index, end = g * bytes_of_group, min((g + 1) * bytes_of_group, width)
        s0, s1 = scale[o * groups + g], scale[(o + 1) * groups + g]
        s2, s3 = scale[(o + 2) * groups + g], scale[(o + 3) * groups + g]
        p0 = p1 = p2 = p3 = broadcast(f32(0))
        while index + lanes_of <= end:
            even, uneven = load(x, index), load(x, odd + index)
            low, high = load_nibbles(weight, w0 + index, x)
            p0 = fma(high, uneven, fma(low, even, p0))
            low, high = load_nibbles(weight, w1 + index, x)
            p1 = fma(high, uneven, fma(low, even, p1))
            low, high = load_nibbles(weight, w2 + index, x)
            p2 = fma(high, uneven, fma(low, even, p2))
            low, high = load_nibbles(weight, w3 + index, x)
            p3 = fma(high, uneven, fma(low, even, p3))
            index += lanes_of
        a0, a1, a2, a3 = fma(p0, s0, a0), fma(p1, s1, a1), fma(p2, s2, a2), fma(p3, s3, a3)
        while index < end:
            b0 += s0 * _byte(x, index, odd, weight[w0 + index])
            b1 += s1 * _byte(x, index, odd, weight[w1 + index])
            b2 += s2 * _byte(x, index, odd, weight[w2 + index])
            b3 += s3 * _byte(x, index, odd, weight[w3 + index])
            index += 1
        if zeros.size:
            b0 -= s0 * sums[g] * f32(zeros[o * groups + g])
            b1 -= s1 * sums[g] * f32(zeros[(o + 1) * groups + g])
            b2 -= s2 * sums[g] * f32(zeros[(o + 2) * groups + g])
            b3 -= s3 * sums[g] * f32(zeros[(o + 3) * groups + g])
    out[o], out[o + 1] = reduce_add(a0) + b0, reduce_add(a1) + b1
    out[o + 2], out[o + 3] = reduce_add(a2) + b2, reduce_add(a3) + b3


@inner_njit()
def one_output(x, odd, weight, width, scale, zeros, sums, groups, o, bytes_of_group, out):
    """The same, of one."""
    lanes_of, total, rest = lanes(x), broadcast(f32(0)), f32(0)
    for g in range(groups):
        index, end, s = g * bytes_of_group, min((g + 1) * bytes_of_group, width), scale[o * groups + g]
        part = broadcast(f32(0))
        while index + lanes_of <= end:
            low, high = load_nibbles(weight, o * width + index, x)
            part = fma(high, load(x, odd + index), fma(low, load(x, index), part))
            index += lanes_of
        total = fma(part, s, total)
        while index < end:
            rest += s * _byte(x, index, odd, weight[o * width + index])
            index += 1
        if zeros.size:
            rest -= s * sums[g] * f32(zeros[o * groups + g])
    out[o] = reduce_add(total) + rest


@inner_njit()
def _some_outputs(arguments, task, who):
    x, weight, scale, zeros, sums, bytes_of_group, out = arguments
    width, groups, odd, outputs = weight.shape[1], scale.shape[1], x.shape[1] // 2, out.shape[1]
    bytes, scales, steps = memory(weight), memory(scale), memory(zeros)[: zeros.size]
    start, stop = task * EACH, min((task + 1) * EACH, outputs)
    for row in range(x.shape[0]):  # the weights of these outputs stay in the nearest cache
        begin = row * x.shape[1]
        line, result = memory(x)[begin : begin + x.shape[1]], memory(out)[row * outputs : (row + 1) * outputs]
        of_groups = memory(sums)[row * groups : (row + 1) * groups]
        o = start
        while o + OUTPUTS <= stop:
            four_outputs(line, odd, bytes, width, scales, steps, of_groups, groups, o, bytes_of_group, result)
            o += OUTPUTS
        while o < stop:
            one_output(line, odd, bytes, width, scales, steps, of_groups, groups, o, bytes_of_group, result)
            o += 1


@cached_njit()
def _by_team(arguments, tasks, threads, least, team):
    share(_some_outputs, arguments, tasks, threads, least, team)


def even_and_odd(x, width):
    """(rows, 2 width): the numbers with even indices, then those with odd ones; 0 where there is none."""
    rows, length = x.shape
    both = new((rows, 2, width), f32)
    both[:, 0], both[:, 1, : length // 2] = x[:, ::2], x[:, 1::2]
    both[:, 1, length // 2 :] = 0
    return both.reshape(rows, 2 * width)


@implementation(
    "linear_int4",
    device="cpu",
    adds="a vector of bytes is two of numbers: even and odd inputs stand apart; four outputs at once; all cores",
    limits="with many rows of input, dequantize and linear are faster",
    dtypes=("float32",),
    public=True,
)
@on_rows
def linear_int4_vectors(x, weight, scale, zeros, group, out):
    sums = np.add.reduceat(x, np.arange(0, x.shape[1], group), axis=1) if zeros is not None else np.zeros((1, 1), f32)
    work = x.size * len(weight)
    arguments = even_and_odd(x, weight.shape[1]), weight, scale, NONE if zeros is None else zeros, sums, group // 2, out
    _by_team(arguments, -(-len(weight) // EACH), 1 if work < ALONE else team.size(), work // 16, team.members())
