"""Linear layers of codes on the CPU.

The ladder of linear_int8                what the rung adds
    linear_int8_loop       a product of differences, a sum in 32 bits, a result
    linear_int8_sums       zero points leave the inner loop: a sum of the input's codes stays
    linear_int8_product    the library's product of int8 matrices; then a pass from sums to codes
    linear_int8_pairs      bias, scales and rounding while a tile of sums is in the cache; the weight packed; all cores
    linear_int8_dot4       four products in each lane by one instruction
"""

import functools

import numpy as np

from .. import team
from ..host import plain
from ..implementations import implementation
from ..matrix import matmul_int8
from ..matrix.choose import least_time, threads_for
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..team import share
from .codes import FLIP, factors
from .packed import PackedWeight, codes_of, packed, steps_of
from .requantize import channel_numbers, put_one
from .words import DOT4, LOW_ROWS, ROWS, WIDTH, copy_elements, rows_by_panel

DTYPES = ("uint8", "int8", "float32")
FEW = 12  # rows of the input, over the threads that would pack: for no more, a weight that comes unpacked stays so
ALWAYS_FEW = 3  # with any number of threads: no packing takes as little time
HEIGHT = 128  # rows of the input that meet a panel before the next one: with it they fit the second cache
EMPTY = np.empty(0, np.float32), np.empty(0, np.int32)
SLOW = 1 << 22  # products: nobody would wait for the first rung with more


def on_lines(rung):
    """Let `rung`, written for rows of codes without sign and float32 for each channel, take what is prepared.

    It gets (x, weight, bias, scale, zeros, quantizer, out): all contiguous, x as uint8 whose codes are still to
    be flipped, out as uint8 or float32. Results of no elements never reach it.
    """

    @functools.wraps(rung)
    def wrapper(x, weight, bias, scale, zeros, q, out):
        if out.size:
            lines = (
                plain(x).view(np.uint8).reshape(-1, x.shape[-1])
                if x.size
                else np.zeros((out.size // out.shape[-1], 0), np.uint8)
            )
            bias = None if bias is None else plain(bias)
            zeros = None if zeros is None else plain(zeros)
            results = (out if out.dtype == np.float32 else out.view(np.uint8)).reshape(len(lines), -1)
            rung(lines, weight, bias, plain(scale), zeros, q, results)
        return out

    return wrapper


def no_zeros(channels, zeros):
    return np.zeros(channels, np.int32) if zeros is None else zeros


# ---- one sum after the other ---------------------------------------------------------------------------------------


@cached_njit()
def multiply_differences(x, weight, zeros, start, factor, add, q, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = np.int32(0)
            for k in range(x.shape[1]):
                total += ((x[i, k] ^ q.flip) - q.input_zero) * (weight[j, k] - zeros[j])
            put_one(total, start[j], factor[j], add[j], q.low, q.high, q.output_zero, out[i], j)


@implementation("linear_int8", device="cpu", adds="a loop over products of differences", dtypes=DTYPES, largest=SLOW)
@on_lines
def linear_int8_loop(x, weight, bias, scale, zeros, q, out):
    weight = codes_of(weight)
    multiply_differences(
        x, weight, no_zeros(len(weight), zeros), *factors(bias, scale, q, out.dtype != np.float32), q, out
    )


@cached_njit()
def multiply_codes(x, weight, zeros, start, factor, add, q, out):
    terms = x.shape[1]
    line = np.empty(terms, np.int16)  # a row of x less its zero point: 9 bits, so that vectors multiply pairs
    for i in range(out.shape[0]):
        rest = np.int32(0)
        for k in range(terms):
            line[k] = np.int32(x[i, k] ^ q.flip) - q.input_zero
            rest = np.int32(rest + line[k])
        for j in range(out.shape[1]):
            row, total = weight[j], np.int32(0)
            for k in range(terms):
                total = np.int32(total + np.int32(line[k]) * np.int32(row[k]))
            total = np.int32(total - zeros[j] * rest)
            put_one(total, start[j], factor[j], add[j], q.low, q.high, q.output_zero, out[i], j)


@implementation(
    "linear_int8",
    device="cpu",
    adds="zero points out of the inner loop: the input's before all rows of the weight, the weight's by a sum of codes",
    dtypes=DTYPES,
)
@on_lines
def linear_int8_sums(x, weight, bias, scale, zeros, q, out):
    weight = codes_of(weight)
    multiply_codes(x, weight, no_zeros(len(weight), zeros), *factors(bias, scale, q, out.dtype != np.float32), q, out)


# ---- a product of matrices, then the rest --------------------------------------------------------------------------


@cached_njit()
def requantize_sums(products, zeros, rests, sums, zero, start, factor, add, q, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = products[i, j] - zero * sums[j] - zeros[j] * rests[i]
            put_one(total, start[j], factor[j], add[j], q.low, q.high, q.output_zero, out[i], j)


@implementation(
    "linear_int8",
    device="cpu",
    adds="the product of int8 matrices: four products in a lane where the processor can; sums travel through memory",
    dtypes=DTYPES,
)
@on_lines
def linear_int8_product(x, weight, bias, scale, zeros, q, out):
    weight = codes_of(weight)
    signed = (x if q.flip else x ^ np.uint8(FLIP)).view(np.int8)
    zero = q.input_zero - FLIP
    rests = signed.sum(axis=1, dtype=np.int32) - np.int32(zero * x.shape[1])
    sums = weight.sum(axis=1, dtype=np.int32)
    products = matmul_int8(signed, weight.T)
    requantize_sums(
        products,
        no_zeros(len(weight), zeros),
        rests,
        sums,
        zero,
        *factors(bias, scale, q, out.dtype != np.float32),
        q,
        out,
    )


# ---- fused ---------------------------------------------------------------------------------------------------------


def _fused(instruction):
    """The kernel for processors with the instruction, or without it."""
    tall, low, single = (rows_by_panel(rows, instruction) for rows in (ROWS, LOW_ROWS, 1))

    @inner_njit()
    def task(arguments, task, who):
        x, pitch, words, steps, integers, factors, rests, q, out, down, across = arguments
        (m, n), line = out.shape, out.reshape(out.size)
        i, j = task // across, task % across
        start, stop = i * m // down, (i + 1) * m // down
        panels, results = (n + WIDTH - 1) // WIDTH, np.empty((ROWS, WIDTH), out.dtype)
        flat, least, most, zero = results.reshape(ROWS * WIDTH), q.low, q.high, q.output_zero
        for panel in range(j * panels // across, (j + 1) * panels // across):
            left, panel_start = panel * WIDTH, panel * steps * WIDTH
            columns, top = min(WIDTH, n - left), start
            while top < stop:
                # The last tile is moved up: some rows are computed twice, none is guarded.
                rows = ROWS if stop - start >= ROWS else LOW_ROWS if stop - start >= LOW_ROWS else 1
                top = min(top, stop - rows)
                begin = top * pitch
                if rows == ROWS:
                    tall(
                        results, x, begin, pitch, words, panel_start, steps, integers, factors, left, rests, top, least,
                        most, zero,
                    )  # fmt: skip
                elif rows == LOW_ROWS:
                    low(
                        results, x, begin, pitch, words, panel_start, steps, integers, factors, left, rests, top, least,
                        most, zero,
                    )  # fmt: skip
                else:
                    single(
                        results, x, begin, pitch, words, panel_start, steps, integers, factors, left, rests, top, least,
                        most, zero,
                    )  # fmt: skip
                for r in range(rows):
                    copy_elements(line, (top + r) * n + left, flat, r * WIDTH, columns)
                top += rows

    @cached_njit(holds=f"instruction: {instruction}")
    def multiply_fused(
        x, pitch, words, steps, bias, zeros, scale, sums, rests, q, out, down, across, threads, least, team
    ):
        count = (out.shape[1] + WIDTH - 1) // WIDTH * WIDTH
        integers, factors = channel_numbers(bias, zeros, scale, sums, q, out.itemsize == 1, count)
        arguments = x, pitch, words, steps, integers, factors, rests, q, out, down, across
        share(task, arguments, down * across, threads, least, team)

    return multiply_fused


multiply_by_pairs = _fused(False)
multiply_by_instruction = _fused(True) if DOT4 else multiply_by_pairs


@functools.lru_cache(maxsize=64)
def _nothing(length):
    """Zeros, the same array each time: nobody writes to it."""
    return np.zeros(length, np.int32)


def fused(kernel, x, weight, bias, scale, zeros, q, out):
    """The layer by one of the kernels."""
    (m, n), k = out.shape, x.shape[1]
    layer, steps = packed(weight), steps_of(k)
    rests = _nothing(m) if zeros is None else rests_of(x, q)
    if q.flip or k != 4 * steps:
        codes = np.zeros((m, 4 * steps), np.uint8)
        np.bitwise_xor(x, np.uint8(q.flip), out=codes[:, :k])
        x = codes
    work = m * n * k // 4
    threads = threads_for(work)
    down = max(1, -(-m // HEIGHT))
    across = min(-(-n // WIDTH), -(-4 * threads // down)) if threads > 1 else 1
    kernel(
        x.reshape(-1), 4 * steps, layer.words, steps, *or_empty(bias, zeros), scale, layer.sums, rests, q, out, down,
        across, threads, least_time(work), team.members(),
    )  # fmt: skip


def or_empty(bias, zeros):
    """Both as arrays, without elements where there are none: for None numba would compile everything again."""
    return EMPTY[0] if bias is None else bias, EMPTY[1] if zeros is None else zeros


def rests_of(x, q):
    """The sum of (code - zero point) of each row."""
    codes = x ^ np.uint8(q.flip)
    return codes.sum(axis=1, dtype=np.int32) - np.int32(q.input_zero * x.shape[1])


@implementation(
    "linear_int8",
    device="cpu",
    adds="a tile of sums in registers, made codes while it is in the first cache; a packed weight; all cores",
    dtypes=DTYPES,
)
@on_lines
def linear_int8_pairs(x, weight, bias, scale, zeros, q, out):
    fused(multiply_by_pairs, x, weight, bias, scale, zeros, q, out)


@implementation(
    "linear_int8",
    device="cpu",
    adds="four products in each lane in one instruction, exact, where pairs of 16-bit numbers need six",
    dtypes=DTYPES,
    limits="AVX512-VNNI or AVX-VNNI; elsewhere as linear_int8_pairs",
    public=True,
)
@on_lines
def linear_int8_dot4(x, weight, bias, scale, zeros, q, out):
    if not isinstance(weight, PackedWeight) and len(x) <= max(ALWAYS_FEW, FEW // team.size()):
        # to pack it would take longer than the rows
        return linear_int8_sums(x, weight, bias, scale, zeros, q, out)
    fused(multiply_by_instruction, x, weight, bias, scale, zeros, q, out)
