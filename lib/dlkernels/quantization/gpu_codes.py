"""Quantize and dequantize on the GPU.

The ladder of quantize             what the rung adds
    quantize_threads       a thread for each byte of codes; tables by bisection, in global memory
    quantize_wide          eight neighbours a thread: 16 bytes per load, 4 or 8 bytes of codes per store; the table
                           stands in shared memory

The ladder of dequantize           what the rung adds
    dequantize_threads     a thread for each number
    dequantize_wide        eight neighbours a thread, as above

A float8 is found among `bounds` (formats.py): a kernel that looks at the bits of a float32, as the CPU's last rung
does, would need no table.
"""

import functools
import math

import numpy as np

from ..device import cuda
from ..implementations import implementation
from ..layouts import aligned
from ..wide import load4, store4
from .cpu_codes import BOTH, FLOAT8, INTEGERS, _sign_bit, kind_of
from .formats import FORMATS

f32, i32, u8 = np.float32, np.int32, np.uint8
THREADS, MOST_BLOCKS = 256, 1 << 16
EIGHT = 8  # numbers of a thread
MOST_LEVELS = 256
LINE, BYTES, WHOLE = "float32[::1]", "uint8[::1]", "int32[::1]"
RUNS = "int64, int64, int64, int64"


def blocks_for(threads):
    return min(-(-threads // THREADS), MOST_BLOCKS)


def line(x, dtype=None):
    x = x.reshape(x.size)
    return x if dtype is None or x.dtype == dtype else x.view(dtype)


@cuda.jit(device=True)
def step_of(row, column, run, groups, repeat, scales):
    """The index of a number's scale: see runs.py."""
    return (row // repeat * groups + column // run) % scales.size


@cuda.jit(device=True)
def reached(bounds, count, x):
    """How many of `count` ascending bounds x has reached."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if x >= bounds[middle]:
            low = middle + 1
        else:
            high = middle
    return low


@cuda.jit(device=True)
def code_of(x, scale, zero, kind, lowest, highest, bounds, count, nan):
    q = x / scale
    if kind == INTEGERS:
        q = q if q < f32(highest - zero) else f32(highest - zero)
        q = q if q > f32(lowest - zero) else f32(lowest - zero)
        return i32(round(q)) + zero
    missing = q != q
    if kind == FLOAT8:
        code = i32(nan) if missing else i32(reached(bounds, count, abs(q)))
        return code + i32(128) if math.copysign(f32(1), x) < f32(0) else code
    return i32(nan) if missing else i32(reached(bounds, count, q))


@cuda.jit
def quantize_kernel(x, scales, zeros, kind, lowest, highest, bounds, nan, packed, length, run, groups, repeat, out):
    width = (length + 1) // 2 if packed else length
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        row = i // width
        column = i % width * (2 if packed else 1)
        group = step_of(row, column, run, groups, repeat, scales)
        number = x[row * length + column]
        code = code_of(
            number, scales[group], zeros[group % zeros.size], kind, lowest, highest, bounds, bounds.size, nan
        )
        if packed:
            code = code & 15
            if column + 1 < length:
                group = step_of(row, column + 1, run, groups, repeat, scales)
                number, zero = x[row * length + column + 1], zeros[group % zeros.size]
                high_code = code_of(number, scales[group], zero, kind, lowest, highest, bounds, bounds.size, nan)
                code = code | (high_code & 15) << 4
        out[i] = u8(code & 255)


def on_numbers(rung):
    """Let `rung(form, runs, x, scales, zeros, out)` quantize lines. Of whole numbers there is no table."""

    @functools.wraps(rung)
    def wrapper(dtype, runs, input, scale, zero, out):
        if input.size:
            rung(FORMATS[dtype], runs, line(input), line(scale), line(zero), line(out, u8))
        return out

    return wrapper


@functools.cache
def _table(form, name):
    """A table of the format in device memory, never empty."""
    values = getattr(form, name)
    return cuda.to_device(values if values.size else np.zeros(1, f32))


def constants(form):
    return kind_of(form), int(form.lowest), int(form.highest), _table(form, "bounds"), form.nan


def by_threads(form, runs, x, scales, zeros, out):
    arguments = x, scales, zeros, *constants(form), form.packed, runs.length, runs.run, runs.groups, runs.repeat, out
    quantize_kernel[blocks_for(out.size), THREADS](*arguments)


OF_NUMBERS = (
    quantize_kernel,
    [f"void({LINE}, {LINE}, {WHOLE}, int64, int64, int64, {LINE}, int64, boolean, {RUNS}, {BYTES})"],
)


@implementation(
    "quantize", "gpu", adds="a thread for each byte of codes; tables by bisection", dtypes=BOTH, kernels=[OF_NUMBERS]
)
@on_numbers
def quantize_threads(form, runs, x, scales, zeros, out):
    by_threads(form, runs, x, scales, zeros, out)


@cuda.jit
def quantize_wide_kernel(
    x, scales, zeros, kind, lowest, highest, bounds, nan, packed, length, run, groups, repeat, out
):
    table = cuda.shared.array(MOST_LEVELS, f32)
    for b in range(cuda.threadIdx.x, bounds.size, cuda.blockDim.x):
        table[b] = bounds[b]
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size // EIGHT, cuda.gridsize(1)):
        start = EIGHT * i
        group = step_of(start // length, start % length, run, groups, repeat, scales)
        scale, zero, count = scales[group], zeros[group % zeros.size], bounds.size
        x0, x1, x2, x3 = load4(x, start)
        x4, x5, x6, x7 = load4(x, start + 4)
        c0 = code_of(x0, scale, zero, kind, lowest, highest, table, count, nan)
        c1 = code_of(x1, scale, zero, kind, lowest, highest, table, count, nan)
        c2 = code_of(x2, scale, zero, kind, lowest, highest, table, count, nan)
        c3 = code_of(x3, scale, zero, kind, lowest, highest, table, count, nan)
        c4 = code_of(x4, scale, zero, kind, lowest, highest, table, count, nan)
        c5 = code_of(x5, scale, zero, kind, lowest, highest, table, count, nan)
        c6 = code_of(x6, scale, zero, kind, lowest, highest, table, count, nan)
        c7 = code_of(x7, scale, zero, kind, lowest, highest, table, count, nan)
        if packed:
            b0, b1 = u8(c0 & 15 | (c1 & 15) << 4), u8(c2 & 15 | (c3 & 15) << 4)
            b2, b3 = u8(c4 & 15 | (c5 & 15) << 4), u8(c6 & 15 | (c7 & 15) << 4)
            store4(out, start // 2, (b0, b1, b2, b3))
        else:
            store4(out, start, (u8(c0 & 255), u8(c1 & 255), u8(c2 & 255), u8(c3 & 255)))
            store4(out, start + 4, (u8(c4 & 255), u8(c5 & 255), u8(c6 & 255), u8(c7 & 255)))


def in_eights(runs, *arrays):
    """Whether eight neighbours always have one scale, and all begins where vectors may."""
    return runs.length % EIGHT == 0 and runs.run % EIGHT == 0 and aligned(*arrays)


LIMITS = (
    "runs and rows of no multiple of 8 numbers, and slices that begin at none of 16 bytes, take the first rung's kernel"
)
WIDE = (
    quantize_wide_kernel,
    [f"void({LINE}, {LINE}, {WHOLE}, int64, int64, int64, {LINE}, int64, boolean, {RUNS}, {BYTES})"],
)


@implementation(
    "quantize",
    "gpu",
    adds="eight neighbours a thread: 16 bytes per load; the table in shared memory",
    limits=LIMITS,
    dtypes=BOTH,
    kernels=[WIDE, OF_NUMBERS],
    public=True,
)
@on_numbers
def quantize_wide(form, runs, x, scales, zeros, out):
    if not in_eights(runs, x, out):
        return by_threads(form, runs, x, scales, zeros, out)
    arguments = x, scales, zeros, *constants(form), form.packed, runs.length, runs.run, runs.groups, runs.repeat, out
    quantize_wide_kernel[blocks_for(x.size // EIGHT), THREADS](*arguments)


# ---- dequantize ------------------------------------------------------------------------------------------------------


@cuda.jit(device=True)
def number_of(code, levels, integer, sign, zero):
    return f32((code ^ sign) - sign - zero) if integer else levels[code]


@cuda.jit
def dequantize_kernel(codes, scales, zeros, levels, integer, sign, packed, length, run, groups, repeat, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        row, column = i // length, i % length
        group = step_of(row, column, run, groups, repeat, scales)
        if packed:
            byte = i32(codes[row * ((length + 1) // 2) + column // 2])
            code = byte >> 4 if column % 2 else byte & 15
        else:
            code = i32(codes[i])
        out[i] = number_of(code, levels, integer, sign, zeros[group % zeros.size]) * scales[group]


def on_codes(rung):
    """Let `rung(form, runs, codes, scales, zeros, out)` dequantize lines."""

    @functools.wraps(rung)
    def wrapper(dtype, runs, codes, scale, zero, out):
        if out.size:
            rung(FORMATS[dtype], runs, line(codes, u8), line(scale), line(zero), line(out))
        return out

    return wrapper


def numbers_by_threads(form, runs, codes, scales, zeros, out):
    table = _table(form, "levels"), form.whole, _sign_bit(form), form.packed
    arguments = codes, scales, zeros, *table, runs.length, runs.run, runs.groups, runs.repeat, out
    dequantize_kernel[blocks_for(out.size), THREADS](*arguments)


OF_CODES = (dequantize_kernel, [f"void({BYTES}, {LINE}, {WHOLE}, {LINE}, boolean, int64, boolean, {RUNS}, {LINE})"])


@implementation("dequantize", "gpu", adds="a thread for each number", dtypes=("float32",), kernels=[OF_CODES])
@on_codes
def dequantize_threads(form, runs, codes, scales, zeros, out):
    numbers_by_threads(form, runs, codes, scales, zeros, out)


@cuda.jit
def dequantize_wide_kernel(codes, scales, zeros, levels, integer, sign, packed, length, run, groups, repeat, out):
    table = cuda.shared.array(MOST_LEVELS, f32)
    for b in range(cuda.threadIdx.x, levels.size, cuda.blockDim.x):
        table[b] = levels[b]
    cuda.syncthreads()
    for i in range(cuda.grid(1), out.size // EIGHT, cuda.gridsize(1)):
        start = EIGHT * i
        group = step_of(start // length, start % length, run, groups, repeat, scales)
        scale, zero = scales[group], zeros[group % zeros.size]
        if packed:
            b0, b1, b2, b3 = load4(codes, start // 2)
            c0, c1, c2, c3 = i32(b0) & 15, i32(b0) >> 4, i32(b1) & 15, i32(b1) >> 4
            c4, c5, c6, c7 = i32(b2) & 15, i32(b2) >> 4, i32(b3) & 15, i32(b3) >> 4
        else:
            b0, b1, b2, b3 = load4(codes, start)
            c0, c1, c2, c3 = i32(b0), i32(b1), i32(b2), i32(b3)
            b0, b1, b2, b3 = load4(codes, start + 4)
            c4, c5, c6, c7 = i32(b0), i32(b1), i32(b2), i32(b3)
        y0 = number_of(c0, table, integer, sign, zero) * scale
        y1 = number_of(c1, table, integer, sign, zero) * scale
        y2 = number_of(c2, table, integer, sign, zero) * scale
        y3 = number_of(c3, table, integer, sign, zero) * scale
        store4(out, start, (y0, y1, y2, y3))
        y0 = number_of(c4, table, integer, sign, zero) * scale
        y1 = number_of(c5, table, integer, sign, zero) * scale
        y2 = number_of(c6, table, integer, sign, zero) * scale
        y3 = number_of(c7, table, integer, sign, zero) * scale
        store4(out, start + 4, (y0, y1, y2, y3))


WIDE_CODES = (
    dequantize_wide_kernel,
    [f"void({BYTES}, {LINE}, {WHOLE}, {LINE}, boolean, int64, boolean, {RUNS}, {LINE})"],
)


@implementation(
    "dequantize",
    "gpu",
    adds="eight neighbours a thread: 4 bytes of codes per load, 16 of numbers per store; the table in shared memory",
    limits=LIMITS,
    dtypes=("float32",),
    kernels=[WIDE_CODES, OF_CODES],
    public=True,
)
@on_codes
def dequantize_wide(form, runs, codes, scales, zeros, out):
    if not in_eights(runs, codes, out):
        return numbers_by_threads(form, runs, codes, scales, zeros, out)
    table = _table(form, "levels"), form.whole, _sign_bit(form), form.packed
    arguments = codes, scales, zeros, *table, runs.length, runs.run, runs.groups, runs.repeat, out
    dequantize_wide_kernel[blocks_for(out.size // EIGHT), THREADS](*arguments)
