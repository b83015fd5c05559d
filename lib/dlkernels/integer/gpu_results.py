"""What both ladders on the GPU share: from sums to results, codes as words, sums of rows of codes.

A code is rounded without an instruction for it: float32 has 24 bits, and 1.5 2^23 plus a number between -2^22 and 2^22
is rounded to a whole one, ties to even. Limits come before, so that every number is that small.
"""

import functools

import numpy as np

from ..device import cuda
from ..launches import constant, device_array, launch, view
from ..layouts import address

f32, i32, u32, u8 = np.float32, np.int32, np.uint32, np.uint8
ROUND = f32(1.5 * 2**23)
THREADS = 128
WARP = 32
#: The arguments of `result` that are the same for all outputs, with which kernels end: `numbers` makes them.
NUMBERS = "float32, int32, int32, float32, int32, float32, float32"


@cuda.jit(device=True)
def as_code(total, bias, scale, input_scale, output_scale, output_zero, low, high):
    """As codes.factors says; a code of int8 as its bits."""
    of_sum = f32(input_scale * scale)
    value = f32(f32(f32(total) + f32(bias / of_sum)) * f32(of_sum / output_scale))
    value = min(max(value, low), high)
    return u8((i32(f32(f32(value + ROUND) - ROUND)) + output_zero) & i32(255))


@cuda.jit(device=True)
def as_number(total, bias, scale, input_scale, output_scale, output_zero, low, high):
    return min(max(f32(f32(total) * f32(input_scale * scale) + bias), low), high)


def result_of(codes):
    return as_code if codes else as_number


def out_type(codes):
    return "uint8" if codes else "float32"


def numbers(q):
    return (q.input_scale, i32(q.input_zero), i32(q.flip), q.output_scale, i32(q.output_zero), q.low, q.high)


def as_bytes(x, shape=None):
    """Codes of uint8 or int8 as bytes without a sign, as an array of that shape."""
    return view(x, tuple(x.shape) if shape is None else shape, np.uint8)


def results(out, shape):
    """Where a kernel writes, and whether it writes codes."""
    codes = out.dtype != np.float32
    return (as_bytes(out, shape) if codes else view(out, shape)), codes


def for_channels(channels, bias, zeros):
    return constant(channels, 0) if bias is None else bias, constant(channels, 0, i32) if zeros is None else zeros


# ---- rows of codes as words ----------------------------------------------------------------------------------------


@cuda.jit
def words_kernel(codes, words):
    """Each row of codes as words, filled up with zeros: a thread for each word."""
    k = cuda.grid(1)
    rows, steps = words.shape
    if k < rows * steps:
        row, first = k // steps, k % steps * 4
        word = u32(0)
        for c in range(4):
            if first + c < codes.shape[1]:
                word |= u32(codes[row, first + c]) << u32(8 * c)
        words[row, first // 4] = word


WORDS = ["void(uint8[:, ::1], uint32[:, ::1])"]


def as_words(codes):
    """Rows of bytes as rows of words: the same memory where rows are whole words, else a copy."""
    rows, terms = tuple(codes.shape)
    steps = -(-terms // 4)
    if terms % 4 == 0 and (address(codes) or 0) % 4 == 0:
        return view(codes, (rows, steps), u32)
    words = device_array((rows, steps), u32)
    launch(words_kernel, -(-rows * steps // THREADS), THREADS, codes, words)
    return words


# ---- sums of rows --------------------------------------------------------------------------------------------------


@cuda.jit
def sums_kernel(codes, flip, subtract, sums):
    """sums[row] = the sum of (code ^ flip) - subtract: a warp for each row, lane by lane, then by shuffles."""
    row, lane = cuda.blockIdx.x, cuda.threadIdx.x
    total = i32(0)
    for k in range(lane, codes.shape[1], WARP):
        total += i32((i32(codes[row, k]) ^ flip) - subtract)
    half = 16
    while half > 0:
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, half)
        half //= 2
    if lane == 0:
        sums[row] = total


SUMS = ["void(uint8[:, ::1], int32, int32, int32[::1])"]


def sums_of_rows(codes, flip, subtract):
    """int32 for each row. Of signed codes: flip 128, which makes them unsigned, and subtract 128."""
    sums = device_array(codes.shape[0], i32)
    launch(sums_kernel, codes.shape[0], WARP, codes, i32(flip), i32(subtract), sums)
    return sums


def sums_of_weight(rows):
    return sums_of_rows(rows, 128, 128)


@functools.cache
def flip_word(flip):
    """xor-ed to four codes at once."""
    return u32(flip * 0x01010101)
