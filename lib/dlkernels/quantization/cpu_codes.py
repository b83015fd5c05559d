"""Quantize and dequantize on the CPU.

The ladder of quantize             what the rung adds
    quantize_numpy         NumPy: a quotient for each number, then a search in the table, or rounding, as passes
    quantize_compiled      numba: one number after the other, no temporary array; tables by bisection
    quantize_vectors       no search: a float8 is rounded in the bits of float32; a vector at a time; all cores

The ladder of dequantize           what the rung adds
    dequantize_numpy       NumPy: codes as numbers of their own, then a product
    dequantize_compiled    numba: one pass
    dequantize_vectors     runs of one scale, a vector at a time; all cores

How a float32 becomes a float8 by adding (quantize_vectors): half of what is cut off is added to the bits, one less
where the last digit that stays is even; a carry runs on into the exponent, which is right. Below the smallest normal
number the digits do not move with the exponent: there a number is added whose last digit is the float8's, and the adder
rounds.
"""

import functools

import numpy as np

from .. import team
from ..host import plain
from ..implementations import implementation
from ..simd import broadcast, lanes, larger, load, smaller, store, store_low_bytes
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..team import share
from .formats import FORMATS

PIECE = 2048  # numbers of a row that are worked on at once: their codes fit the smallest cache
EACH = 1 << 15  # numbers of a task
ALONE = 1 << 16  # numbers below which waking another thread costs more than it gains
BOTH = ("int8", "uint8")
INTEGERS, FLOAT8, LEVELS = 0, 1, 2  # the kinds of format
RINT = np.float32(1.5 * 2**23)  # float32 numbers near it are whole

i32, f32, u8, u32 = np.int32, np.float32, np.uint8, np.uint32


def kind_of(form):
    return INTEGERS if form.whole else FLOAT8 if form.fraction else LEVELS


def matrix(x, runs):
    """The array as the rows of its runs, or, of packed codes, as their bytes."""
    return plain(x).reshape(runs.rows, -1) if x.size else np.empty((runs.rows, 0), x.dtype)


def on_numbers(rung):
    """Let `rung(form, runs, x (rows, numbers), scales, zeros, out (rows, bytes))` quantize what has any shape."""

    @functools.wraps(rung)
    def wrapper(dtype, runs, input, scale, zero, out):
        if input.size:
            lines = plain(scale).reshape(-1), plain(zero).reshape(-1)
            rung(FORMATS[dtype], runs, matrix(input, runs), *lines, matrix(out, runs).view(np.uint8))
        return out

    return wrapper


def on_codes(rung):
    """Let `rung(form, runs, bytes (rows, bytes), scales, zeros, out (rows, numbers))` dequantize what has any shape."""

    @functools.wraps(rung)
    def wrapper(dtype, runs, codes, scale, zero, out):
        if out.size:
            lines = plain(scale).reshape(-1), plain(zero).reshape(-1)
            rung(FORMATS[dtype], runs, matrix(codes, runs).view(np.uint8), *lines, matrix(out, runs))
        return out

    return wrapper


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
        size = np.abs(q) if form.fraction else q
        codes = np.searchsorted(form.bounds, size, side="right").astype(u8)
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
#
# A slice of an array counts its owners, by an atomic addition to a word that all threads share: for each short run that
# takes longer than the run. So slices here are of memory that has no owner (simd/line.py).


@inner_njit()
def owned_by_none(x):
    """The same line."""
    return memory(x)[: x.size]


@inner_njit()
def scaled(x, scales, q):
    """q = x / scale. scales: one, or one for each number."""
    j, width, per_number = 0, lanes(x), scales.size > 1
    while j + width <= x.size:
        store(q, j, load(x, j) / (load(scales, j) if per_number else broadcast(scales[0])))
        j += width
    while j < x.size:
        q[j] = x[j] / scales[j if per_number else 0]
        j += 1


@inner_njit()
def bits_of(x):
    return f32(x).view(u32)


@inner_njit()
def encode_integers(x, scales, zeros, lowest, highest, codes):
    """To add RINT rounds to a whole number, ties to even; its last bits are then the number's."""
    j, width, per_number = 0, lanes(x), scales.size > 1
    scale, zero = broadcast(scales[0]), broadcast(zeros[0])
    while j + width <= x.size:
        if per_number:
            scale, zero = load(scales, j), load(zeros, j) if zeros.size > 1 else zero
        code = larger(smaller(load(x, j) / scale, highest - zero), lowest - zero)
        store_low_bytes(codes, j, (code + RINT) + zero)
        j += width
    while j < x.size:
        origin = zeros[j if zeros.size > 1 else 0]
        code = x[j] / scales[j if per_number else 0]
        code = code if code < highest - origin else highest - origin
        code = code if code > lowest - origin else lowest - origin
        codes[j] = u8(bits_of((code + RINT) + origin) & u32(255))
        j += 1


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
def encode_float8(q, x, shift, rebias, least, magic, most, nan, codes):
    for j in range(q.size):
        codes[j] = float8_code(q[j], x[j], shift, rebias, least, magic, most, nan)


@inner_njit()
def encode_levels(q, b, codes):
    """All bounds for each number: 15 comparisons without a branch cost less than four that are guessed wrong."""
    b0, b1, b2, b3, b4, b5, b6, b7 = b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]
    b8, b9, b10, b11, b12, b13, b14 = b[8], b[9], b[10], b[11], b[12], b[13], b[14]
    for j in range(q.size):
        x = q[j]
        low = i32(x >= b0) + i32(x >= b1) + i32(x >= b2) + i32(x >= b3) + i32(x >= b4) + i32(x >= b5) + i32(x >= b6)
        high = i32(x >= b8) + i32(x >= b9) + i32(x >= b10) + i32(x >= b11) + i32(x >= b12) + i32(x >= b13)
        codes[j] = u8(low + high + i32(x >= b7) + i32(x >= b14))


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
def _run_at(runs, row, column, last, scales):
    """(the run's scale, behind its last scale, where it ends). Runs of one number are taken as one with many scales."""
    group = column // runs.run
    of = (row // runs.repeat * runs.groups + group) % scales.size
    if runs.run == 1:
        return of, of + last - column, last
    return of, of + 1, min(last, (group + 1) * runs.run)


@inner_njit()
def _encode_piece(form, runs, x, row, start, stop, scales, zeros, q, codes):
    """The codes of numbers `start` to `stop` of a row; x: these numbers."""
    kind, lowest, highest, shift, rebias, least, magic, most, nan, bounds, _ = form
    begin = start
    while begin < stop:
        of, of_end, end = _run_at(runs, row, begin, stop, scales)
        source, target, steps = x[begin - start : end - start], q[begin - start : end - start], scales[of:of_end]
        if kind == INTEGERS:
            origins = zeros[of:of_end] if zeros.size > 1 else zeros
            encode_integers(source, steps, origins, lowest, highest, codes[begin - start : end - start])
        else:
            scaled(source, steps, target)
        begin = end
    if kind == FLOAT8:
        encode_float8(q, x, shift, rebias, least, magic, most, nan, codes)
    elif kind == LEVELS:
        encode_levels(q, bounds, codes)


@inner_njit()
def _quantize_task(arguments, task, who):
    form, runs, x, scales, zeros, out, pieces, task_pieces = arguments
    packed, quotients, scratch = form[-1], np.empty(PIECE, f32), np.empty(PIECE, u8)
    numbers, bytes, length, width = memory(x), memory(out), x.shape[1], out.shape[1]
    steps, origins = owned_by_none(scales), owned_by_none(zeros)
    for piece in range(task * task_pieces, min((task + 1) * task_pieces, pieces * x.shape[0])):
        row, start = piece // pieces, piece % pieces * PIECE
        stop = min(start + PIECE, length)
        q, source = memory(quotients)[: stop - start], numbers[row * length + start : row * length + stop]
        if packed:
            codes = memory(scratch)[: stop - start]
            _encode_piece(form, runs, source, row, start, stop, steps, origins, q, codes)
            pack_pairs(codes, bytes[row * width + start // 2 : row * width + (stop + 1) // 2])
        else:
            codes = bytes[row * width + start : row * width + stop]
            _encode_piece(form, runs, source, row, start, stop, steps, origins, q, codes)


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
    limits = f32(form.lowest), f32(form.highest)
    return (kind_of(form), *limits, i32(shift), rebias, least, magic, f32(form.highest), u32(form.nan), form.bounds,
            form.packed)  # fmt: skip


def cut(rows, length):
    """(pieces of a row, pieces of a task, tasks, threads)."""
    pieces = -(-length // PIECE)
    task_pieces = max(1, EACH // min(length, PIECE))
    return pieces, task_pieces, -(-pieces * rows // task_pieces), 1 if rows * length < ALONE else team.size()


ROUNDED = "a float8 is rounded in the bits of float32; a vector of numbers at a time; all cores"


@implementation("quantize", device="cpu", adds=ROUNDED, dtypes=BOTH, public=True)
@on_numbers
def quantize_vectors(form, runs, x, scales, zeros, out):
    pieces, task_pieces, tasks, threads = cut(*x.shape)
    arguments = _constants(form), runs, x, scales, zeros.astype(f32), out, pieces, task_pieces
    _quantize_by_team(arguments, tasks, threads, x.size // 2, team.members())


@inner_njit()
def decode(codes, levels, sign, out):
    if levels.size:
        for j in range(out.size):
            out[j] = levels[codes[j]]
    else:
        for j in range(out.size):
            out[j] = f32((i32(codes[j]) ^ sign) - sign)


@inner_njit()
def unscaled(out, scales, zeros):
    """out = (out - zero) * scale, in its place. One of each, or one for each number."""
    j, width, per_number = 0, lanes(out), scales.size > 1
    scale, zero = broadcast(scales[0]), broadcast(zeros[0])
    while j + width <= out.size:
        if per_number:
            scale, zero = load(scales, j), load(zeros, j) if zeros.size > 1 else zero
        store(out, j, (load(out, j) - zero) * scale)
        j += width
    while j < out.size:
        out[j] = (out[j] - zeros[j if zeros.size > 1 else 0]) * scales[j if per_number else 0]
        j += 1


@inner_njit()
def _decode_piece(levels, sign, runs, codes, row, start, stop, scales, zeros, out):
    decode(codes, levels, sign, out)
    begin = start
    while begin < stop:
        of, of_end, end = _run_at(runs, row, begin, stop, scales)
        origins = zeros[of:of_end] if zeros.size > 1 else zeros
        unscaled(out[begin - start : end - start], scales[of:of_end], origins)
        begin = end


@inner_njit()
def _dequantize_task(arguments, task, who):
    levels, sign, packed, runs, codes, scales, zeros, out, pieces, task_pieces = arguments
    scratch = np.empty(PIECE, u8)
    bytes, numbers, width, length = memory(codes), memory(out), codes.shape[1], out.shape[1]
    steps, origins = owned_by_none(scales), owned_by_none(zeros)
    for piece in range(task * task_pieces, min((task + 1) * task_pieces, pieces * out.shape[0])):
        row, start = piece // pieces, piece % pieces * PIECE
        stop = min(start + PIECE, length)
        target = numbers[row * length + start : row * length + stop]
        if packed:
            part = memory(scratch)[: stop - start]
            unpack_pairs(bytes[row * width + start // 2 : row * width + (stop + 1) // 2], part)
            _decode_piece(levels, sign, runs, part, row, start, stop, steps, origins, target)
        else:
            part = bytes[row * width + start : row * width + stop]
            _decode_piece(levels, sign, runs, part, row, start, stop, steps, origins, target)


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
    pieces, task_pieces, tasks, threads = cut(*out.shape)
    arguments = (
        form.levels,
        i32(_sign_bit(form)),
        form.packed,
        runs,
        codes,
        scales,
        zeros.astype(f32),
        out,
        pieces,
        task_pieces,
    )
    _dequantize_by_team(arguments, tasks, threads, out.size // 2, team.members())
