"""Quantize and dequantize on the CPU.

The ladder of quantize             what the rung adds
    quantize_numpy         NumPy: a quotient for each number, then a search in the table, or rounding, as passes
    quantize_compiled      numba: one number after the other, no temporary array; tables by bisection
    quantize_vectors       no search: a float8 is rounded in the bits of float32; a vector at a time; all cores

The ladder of dequantize           what the rung adds
    dequantize_numpy       NumPy: codes as numbers of their own, then a product
    dequantize_compiled    numba: one pass
    dequantize_vectors     runs of one scale, a vector at a time; all cores

How a float32 becomes a float8 by adding (quantize_vectors): half of what is cut off is added to the bits, one less where
the last digit that stays is even; a carry runs on into the exponent, which is right. Below the smallest normal number
the digits do not move with the exponent: there a number is added whose last digit is the float8's, and the adder
rounds.
"""

import functools

import numpy as np

from .. import team
from ..host import plain
from ..implementations import implementation
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..team import share
from .formats import FORMATS

PIECE = 2048  # numbers of a row that are worked on at once: their codes fit the smallest cache
EACH = 1 << 15  # numbers of a task
ALONE = 1 << 16  # numbers below which waking another thread costs more than it gains
BOTH = ("int8", "uint8")
INTEGERS, FLOAT8, LEVELS = 0, 1, 2  # the kinds of format
SCRATCH = 64  # bytes between the scratch memories of two tasks

i32, f32, u8, u32 = np.int32, np.float32, np.uint8, np.uint32


def kind_of(form):
    return INTEGERS if form.whole else FLOAT8 if form.fraction else LEVELS


def matrix(x, runs):
    """The array as the rows of its runs, or, of packed codes, as their bytes."""
    return plain(x).reshape(runs.rows, -1) if x.size else np.empty((runs.rows, 0), x.dtype)


def on_numbers(rung):
    """Let `rung(form, runs, x (rows, numbers), scales, zeros, out (rows, bytes))` quantize what has any shape."""

    @functools.wraps(rung)
    def whole(dtype, runs, input, scale, zero, out):
        if input.size:
            lines = plain(scale).reshape(-1), plain(zero).reshape(-1)
            rung(FORMATS[dtype], runs, matrix(input, runs), *lines, matrix(out, runs).view(np.uint8))
        return out

    return whole


def on_codes(rung):
    """Let `rung(form, runs, bytes (rows, bytes), scales, zeros, out (rows, numbers))` dequantize what has any shape."""

    @functools.wraps(rung)
    def whole(dtype, runs, codes, scale, zero, out):
        if out.size:
            lines = plain(scale).reshape(-1), plain(zero).reshape(-1)
            rung(FORMATS[dtype], runs, matrix(codes, runs).view(np.uint8), *lines, matrix(out, runs))
        return out

    return whole


# ---- 1: NumPy --------------------------------------------------------------------------------------------------------


def _spread(values, runs):
    """Scales, or zero points, as a matrix that goes with the rows."""
    if values.size == 1:
        return values.reshape(1, 1)
    of_row = np.resize(values, (max(values.size // runs.groups, 1), runs.groups))
    of_row = of_row[np.arange(runs.rows) // runs.repeat % len(of_row)]
    return np.repeat(of_row, runs.run, axis=1)[:, : runs.length]


@implementation("quantize", device="cpu", adds="NumPy: a pass for each step, with its temporary array", dtypes=BOTH)
@on_numbers
def quantize_numpy(form, runs, x, scales, zeros, out):
    with np.errstate(all="ignore"):
        q = x / _spread(scales, runs)
    missing = np.isnan(q)
    if form.whole:
        zero = _spread(zeros, runs)
        codes = np.clip(q, f32(form.lowest) - zero, f32(form.highest) - zero)
        codes = np.where(missing, i32(form.highest), np.rint(np.where(missing, 0, codes)).astype(i32) + zero).astype(u8)
    else:
        at = np.abs(q) if form.fraction else q
        codes = np.searchsorted(form.bounds, at, side="right").astype(u8)
        codes[missing] = form.nan
        if form.fraction:
            codes |= np.signbit(x).view(u8) << u8(7)
    if form.packed:
        codes &= u8(15)
        out[...] = codes[:, ::2]
        out[:, : codes.shape[1] // 2] |= codes[:, 1::2] << u8(4)
    else:
        out[...] = codes


@implementation(
    "dequantize", device="cpu", adds="NumPy: codes as an array of numbers, then a product", dtypes=("float32",)
)
@on_codes
def dequantize_numpy(form, runs, codes, scales, zeros, out):
    if form.packed:
        both = np.stack([codes & u8(15), codes >> u8(4)], axis=-1).reshape(len(codes), -1)
        codes = both[:, : runs.length]
    if form.whole:
        sign = _sign_bit(form)
        numbers = (codes.astype(i32) ^ sign) - sign - _spread(zeros, runs)
    else:
        numbers = form.levels[codes]
    np.multiply(numbers, _spread(scales, runs), out=out, casting="unsafe", dtype=f32)


def _sign_bit(form):
    """The bit of a code that counts negative; 0 where there is none."""
    return 1 << (form.bits - 1) if form.lowest < 0 else 0


# ---- 2: one number after the other -----------------------------------------------------------------------------------


@inner_njit()
def bisect(bounds, x):
    """How many bounds x has reached; they ascend."""
    low, high = 0, bounds.size
    while low < high:
        middle = (low + high) // 2
        if x >= bounds[middle]:
            low = middle + 1
        else:
            high = middle
    return low


@cached_njit()
def _quantize(kind, bounds, lowest, highest, nan, packed, runs, x, scales, zeros, out):
    for row in range(x.shape[0]):
        for column in range(x.shape[1]):
            of = (row // runs.repeat * runs.groups + column // runs.run) % scales.size
            zero, q = zeros[of % zeros.size], x[row, column] / scales[of]
            if kind == INTEGERS:
                q = q if q < highest - zero else f32(highest - zero)
                q = q if q > lowest - zero else f32(lowest - zero)
                code = i32(np.rint(q)) + zero
            elif kind == LEVELS:
                code = i32(bisect(bounds, q))
            else:
                code = i32(nan if np.isnan(q) else bisect(bounds, abs(q))) | (128 if np.signbit(x[row, column]) else 0)
            if not packed:
                out[row, column] = u8(code & 255)
            elif column % 2 == 0:
                out[row, column // 2] = u8(code & 15)
            else:
                out[row, column // 2] |= u8((code & 15) << 4)


@implementation("quantize", device="cpu", adds="numba: one pass, no temporary array; tables by bisection", dtypes=BOTH)
@on_numbers
def quantize_compiled(form, runs, x, scales, zeros, out):
    limits = i32(form.lowest), i32(form.highest)
    _quantize(kind_of(form), form.bounds, *limits, form.nan, form.packed, runs, x, scales, zeros, out)


@cached_njit()
def _dequantize(levels, sign, packed, runs, codes, scales, zeros, out):
    for row in range(out.shape[0]):
        for column in range(out.shape[1]):
            of = (row // runs.repeat * runs.groups + column // runs.run) % scales.size
            code = i32(codes[row, column // 2] >> u8(4 * (column % 2)) & 15 if packed else codes[row, column])
            number = levels[code] if levels.size else f32((code ^ sign) - sign - zeros[of % zeros.size])
            out[row, column] = number * scales[of]


@implementation("dequantize", device="cpu", adds="numba: one pass, no temporary array", dtypes=("float32",))
@on_codes
def dequantize_compiled(form, runs, codes, scales, zeros, out):
    _dequantize(form.levels, i32(_sign_bit(form)), form.packed, runs, codes, scales, zeros, out)


# ---- 3: vectors, all cores -------------------------------------------------------------------------------------------


@inner_njit()
def encode_integers(x, scales, zero, lowest, highest, codes):
    """scales: one, or one for each number."""
    low, high, alone = f32(lowest - zero), f32(highest - zero), scales.size == 1
    if alone:
        scale = scales[0]
        for j in range(x.size):
            q = x[j] / scale
            q = q if q < high else high
            q = q if q > low else low
            codes[j] = u8(i32(np.rint(q)) + zero)
    else:
        for j in range(x.size):
            q = x[j] / scales[j]
            q = q if q < high else high
            q = q if q > low else low
            codes[j] = u8(i32(np.rint(q)) + zero)


@inner_njit()
def bits_of(x):
    return f32(x).view(u32)


@inner_njit()
def float8_code(q, x, shift, rebias, least, magic, most, nan):
    """The code of q, a float8 of float32's digits shifted so far; its sign is that of x."""
    size = abs(q)
    size = size if size < most else (most if size >= most else q)
    bits = bits_of(size)
    half = u32((1 << (shift - 1)) - 1) + (bits >> u32(shift) & u32(1))
    normal = ((bits + half) >> u32(shift)) - rebias
    small = bits_of(size + magic) - bits_of(magic)
    code = small if size < least else normal
    code = code if size == size else nan
    return u8(code | bits_of(x) >> u32(31) << u32(7))


@inner_njit()
def encode_float8(x, scales, shift, rebias, least, magic, most, nan, codes):
    if scales.size == 1:
        scale = scales[0]
        for j in range(x.size):
            codes[j] = float8_code(x[j] / scale, x[j], shift, rebias, least, magic, most, nan)
    else:
        for j in range(x.size):
            codes[j] = float8_code(x[j] / scales[j], x[j], shift, rebias, least, magic, most, nan)


@inner_njit()
def encode_levels(x, scales, bounds, codes):
    """All bounds for each number: 15 comparisons without a branch are fewer than a wrong guess of one costs."""
    one_scale = scales.size == 1
    for j in range(x.size):
        q = x[j] / scales[0 if one_scale else j]
        code = i32(0)
        for b in range(15):
            code += i32(q >= bounds[b])
        codes[j] = u8(code)


@inner_njit()
def pack_pairs(codes, out):
    for j in range(codes.size // 2):
        out[j] = codes[2 * j] & u8(15) | codes[2 * j + 1] << u8(4)
    if codes.size % 2:
        out[codes.size // 2] = codes[codes.size - 1] & u8(15)


@inner_njit()
def unpack_pairs(packed, codes):
    for j in range(codes.size // 2):
        codes[2 * j] = packed[j] & u8(15)
        codes[2 * j + 1] = packed[j] >> u8(4)
    if codes.size % 2:
        codes[codes.size - 1] = packed[codes.size // 2] & u8(15)


@inner_njit()
def _encode_piece(form, runs, x, row, first, last, scales, zeros, codes):
    """The codes of numbers `first` to `last` of a row."""
    kind, lowest, highest, shift, rebias, least, magic, most, nan, bounds, _ = form
    line, begin = row // runs.repeat * runs.groups, first
    while begin < last:
        group = begin // runs.run
        of = (line + group) % scales.size
        end, of_end = min(last, (group + 1) * runs.run), of + 1
        if runs.run == 1 and zeros.size == 1:  # scales of one number each lie as the numbers do
            end, of_end = last, of + last - begin
        source, target = x[row, begin:end], codes[begin - first : end - first]
        if kind == INTEGERS:
            encode_integers(source, scales[of:of_end], zeros[of % zeros.size], lowest, highest, target)
        elif kind == FLOAT8:
            encode_float8(source, scales[of:of_end], shift, rebias, least, magic, most, nan, target)
        else:
            encode_levels(source, scales[of:of_end], bounds, target)
        begin = end


@inner_njit()
def _quantize_task(arguments, task, who):
    form, runs, x, scales, zeros, out, pieces, each = arguments
    packed, scratch = form[-1], np.empty(PIECE, u8)
    for piece in range(task * each, min((task + 1) * each, pieces * x.shape[0])):
        row, first = piece // pieces, piece % pieces * PIECE
        last = min(first + PIECE, x.shape[1])
        if packed:
            codes = scratch[: last - first]
            _encode_piece(form, runs, x, row, first, last, scales, zeros, codes)
            pack_pairs(codes, out[row, first // 2 : (last + 1) // 2])
        else:
            _encode_piece(form, runs, x, row, first, last, scales, zeros, out[row, first:last])


@cached_njit()
def _quantize_by_team(arguments, tasks, threads, least, team):
    share(_quantize_task, arguments, tasks, threads, least, team)


@functools.cache
def _constants(form):
    """What rounds to this format: see `float8_code`."""
    shift = 23 - form.fraction
    least = f32(2.0 ** (1 - form.bias))
    magic = f32(2.0 ** (1 - form.bias - form.fraction + 23))
    rebias = u32((127 - form.bias) << form.fraction)
    limits = i32(form.lowest), i32(form.highest)
    return (kind_of(form), *limits, i32(shift), rebias, least, magic, f32(form.highest), u32(form.nan), form.bounds,
            form.packed)  # fmt: skip


def cut(rows, length):
    """(pieces of a row, pieces of a task, tasks, threads)."""
    pieces = -(-length // PIECE)
    each = max(1, EACH // min(length, PIECE))
    return pieces, each, -(-pieces * rows // each), 1 if rows * length < ALONE else team.size()


ROUNDED = "a float8 is rounded in the bits of float32; a vector of numbers at a time; all cores"


@implementation("quantize", device="cpu", adds=ROUNDED, dtypes=BOTH, public=True)
@on_numbers
def quantize_vectors(form, runs, x, scales, zeros, out):
    pieces, each, tasks, threads = cut(*x.shape)
    arguments = _constants(form), runs, x, scales, zeros, out, pieces, each
    _quantize_by_team(arguments, tasks, threads, x.size // 2, team.members())


@inner_njit()
def decode_integers(codes, scales, zero, sign, out):
    if scales.size == 1:
        scale = scales[0]
        for j in range(out.size):
            out[j] = f32((i32(codes[j]) ^ sign) - sign - zero) * scale
    else:
        for j in range(out.size):
            out[j] = f32((i32(codes[j]) ^ sign) - sign - zero) * scales[j]


@inner_njit()
def decode_levels(codes, scales, levels, out):
    one_scale = scales.size == 1
    for j in range(out.size):
        out[j] = levels[codes[j]] * scales[0 if one_scale else j]


@inner_njit()
def _decode_piece(levels, sign, runs, codes, row, first, last, scales, zeros, out):
    line, begin = row // runs.repeat * runs.groups, first
    while begin < last:
        group = begin // runs.run
        of = (line + group) % scales.size
        end, of_end = min(last, (group + 1) * runs.run), of + 1
        if runs.run == 1 and zeros.size == 1:
            end, of_end = last, of + last - begin
        source, target = codes[begin - first : end - first], out[row, begin:end]
        if levels.size:
            decode_levels(source, scales[of:of_end], levels, target)
        else:
            decode_integers(source, scales[of:of_end], zeros[of % zeros.size], sign, target)
        begin = end


@inner_njit()
def _dequantize_task(arguments, task, who):
    levels, sign, packed, runs, codes, scales, zeros, out, pieces, each = arguments
    scratch = np.empty(PIECE, u8)
    for piece in range(task * each, min((task + 1) * each, pieces * out.shape[0])):
        row, first = piece // pieces, piece % pieces * PIECE
        last = min(first + PIECE, out.shape[1])
        if packed:
            here = scratch[: last - first]
            unpack_pairs(codes[row, first // 2 : (last + 1) // 2], here)
            _decode_piece(levels, sign, runs, here, row, first, last, scales, zeros, out)
        else:
            _decode_piece(levels, sign, runs, codes[row, first:last], row, first, last, scales, zeros, out)


@cached_njit()
def _dequantize_by_team(arguments, tasks, threads, least, team):
    share(_dequantize_task, arguments, tasks, threads, least, team)


@implementation(
    "dequantize",
    device="cpu",
    adds="runs of one scale, a vector at a time; all cores",
    dtypes=("float32",),
    public=True,
)
@on_codes
def dequantize_vectors(form, runs, codes, scales, zeros, out):
    pieces, each, tasks, threads = cut(*out.shape)
    arguments = form.levels, i32(_sign_bit(form)), form.packed, runs, codes, scales, zeros, out, pieces, each
    _dequantize_by_team(arguments, tasks, threads, out.size // 2, team.members())
