"""Linear layers of codes on the GPU.

The ladder of linear_int8                what the rung adds
    linear_int8_one_per_output   a thread for each result: a byte per load, a product per instruction
    linear_int8_words            four codes per load, four products per instruction (dp4a); zero points by sums of rows
    linear_int8_tile             words in shared memory, 4 x 4 results in each thread
"""

import functools

from ..device import cuda
from ..implementations import implementation
from ..launches import launch
from . import gpu_results as g
from .cpu_linear import DTYPES
from .dp4a import CAPABILITY, dot_of_codes
from .gpu_results import i32, result_of, u32

SIDE = 16
EDGE, DEPTH, EACH = 64, 8, 4  # a block computes 64 x 64 results, 8 words at a time; a thread 4 x 4
PADDED = DEPTH + 1  # a word more: the threads of a warp, which read a column, meet different banks
INSTEAD = "Use linear on the numbers that the codes stand for there."
CHANNELS = "float32[::1], float32[::1], int32[::1]"


def on_rows(rung):
    """Let `rung`, written for rows of bytes, take what `linear_int8` prepares. Returns the result.

    It gets (x, weight, bias, scale, zeros, quantizer, out, codes), arrays for all channels; results of no elements
    never reach it.
    """

    @functools.wraps(rung)
    def wrapper(x, weight, bias, scale, zeros, q, out):
        if out.size:
            n, k = tuple(weight.shape)
            m = out.size // n
            results, codes = g.results(out, (m, n))
            known = *g.for_channels(n, bias, zeros), q, results, codes
            rung(g.as_bytes(x, (m, k)), g.as_bytes(weight), scale, zeros is not None, *known)
        return out

    return wrapper


def tiles(out, edge):
    return -(-out.shape[1] // edge), -(-out.shape[0] // edge)


# ---- a thread for each result --------------------------------------------------------------------------------------


@functools.cache
def one_per_output_kernel(codes):
    result = result_of(codes)

    @cuda.jit
    def kernel(x, weight, bias, scale, zeros, out, input_scale, input_zero, flip, output_scale, output_zero, low, high):
        j, i = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            total = i32(0)
            for k in range(x.shape[1]):
                code = i32((i32(weight[j, k]) ^ i32(128)) - i32(128))
                total += i32(((i32(x[i, k]) ^ flip) - input_zero) * (code - zeros[j]))
            out[i, j] = result(total, bias[j], scale[j], input_scale, output_scale, output_zero, low, high)

    return kernel


def _one_per_output(codes):
    return [f"void(uint8[:, ::1], uint8[:, ::1], {CHANNELS}, {g.out_type(codes)}[:, ::1], {g.NUMBERS})"]


@implementation(
    "linear_int8",
    "gpu",
    adds="a thread for each result, a byte for each load",
    dtypes=DTYPES,
    kernels=[(one_per_output_kernel(codes), _one_per_output(codes)) for codes in (True, False)],
)
@on_rows
def linear_int8_one_per_output(x, weight, scale, shifted, bias, zeros, q, out, codes):
    launch(
        one_per_output_kernel(codes), tiles(out, SIDE), (SIDE, SIDE), x, weight, bias, scale, zeros, out, *g.numbers(q)
    )


# ---- four codes at a time ------------------------------------------------------------------------------------------


@functools.cache
def words_kernel(codes):
    result = result_of(codes)

    @cuda.jit
    def kernel(
        x, weight, sums, rests, turn, bias, scale, zeros, out, input_scale, input_zero, flip, output_scale, output_zero,
        low, high,
    ):  # fmt: skip
        j, i = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            total = i32(0)
            for k in range(x.shape[1]):
                total = dot_of_codes(x[i, k] ^ turn, weight[j, k], total)
            total = i32(total - input_zero * sums[j] - zeros[j] * rests[i])
            out[i, j] = result(total, bias[j], scale[j], input_scale, output_scale, output_zero, low, high)

    return kernel


def _words(codes):
    words = "uint32[:, ::1], uint32[:, ::1], int32[::1], int32[::1], uint32"
    return [f"void({words}, {CHANNELS}, {g.out_type(codes)}[:, ::1], {g.NUMBERS})"]


def by_words(kernel, x, weight, scale, shifted, bias, zeros, q, out, grid):
    """Launch a kernel that takes rows of words and sums of rows."""
    sums = g.sums_of_weight(weight)
    rests = g.sums_of_rows(x, q.flip, q.input_zero) if shifted else g.constant(out.shape[0], 0, i32)
    words = g.as_words(x), g.as_words(weight), sums, rests, g.flip_word(q.flip)
    launch(kernel, grid, (SIDE, SIDE), *words, bias, scale, zeros, out, *g.numbers(q))


@implementation(
    "linear_int8",
    "gpu",
    adds="four codes for each load, four products in one instruction; zero points by sums of rows",
    dtypes=DTYPES,
    kernels=[(words_kernel(codes), _words(codes)) for codes in (True, False)]
    + [(g.words_kernel, g.WORDS), (g.sums_kernel, g.SUMS)],
    capability=CAPABILITY,
    instead=INSTEAD,
    limits="in the executor a function that does the same stands in for the instruction",
)
@on_rows
def linear_int8_words(x, weight, scale, shifted, bias, zeros, q, out, codes):
    by_words(words_kernel(codes), x, weight, scale, shifted, bias, zeros, q, out, tiles(out, SIDE))


# ---- tiles in shared memory ----------------------------------------------------------------------------------------


@functools.cache
def tile_kernel(codes):
    result = result_of(codes)

    @cuda.jit
    def kernel(
        x, weight, sums, rests, turn, bias, scale, zeros, out, input_scale, input_zero, flip, output_scale, output_zero,
        low, high,
    ):  # fmt: skip
        x_tile = cuda.shared.array((EDGE, PADDED), u32)
        w_tile = cuda.shared.array((EDGE, PADDED), u32)
        totals = cuda.local.array((EACH, EACH), i32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        top, left, t = cuda.blockIdx.y * EDGE, cuda.blockIdx.x * EDGE, ty * SIDE + tx
        for r in range(EACH):
            for c in range(EACH):
                totals[r, c] = i32(0)
        for start in range(0, x.shape[1], DEPTH):
            for part in range(EDGE * DEPTH // (SIDE * SIDE)):
                row, step = t // DEPTH + part * (SIDE * SIDE // DEPTH), t % DEPTH
                inside = start + step < x.shape[1]
                x_tile[row, step] = x[top + row, start + step] ^ turn if inside and top + row < x.shape[0] else u32(0)
                w_tile[row, step] = (
                    weight[left + row, start + step] if inside and left + row < weight.shape[0] else u32(0)
                )
            cuda.syncthreads()
            for step in range(DEPTH):
                for r in range(EACH):
                    word = x_tile[ty + r * SIDE, step]
                    for c in range(EACH):
                        totals[r, c] = dot_of_codes(word, w_tile[tx + c * SIDE, step], totals[r, c])
            cuda.syncthreads()
        for r in range(EACH):
            for c in range(EACH):
                i, j = top + ty + r * SIDE, left + tx + c * SIDE
                if i < out.shape[0] and j < out.shape[1]:
                    total = i32(totals[r, c] - input_zero * sums[j] - zeros[j] * rests[i])
                    out[i, j] = result(total, bias[j], scale[j], input_scale, output_scale, output_zero, low, high)

    return kernel


@implementation(
    "linear_int8",
    "gpu",
    adds="words in shared memory, 4 x 4 results in each thread: eight loads for sixteen instructions",
    dtypes=DTYPES,
    kernels=[(tile_kernel(codes), _words(codes)) for codes in (True, False)]
    + [(g.words_kernel, g.WORDS), (g.sums_kernel, g.SUMS)],
    capability=CAPABILITY,
    instead=INSTEAD,
    limits="in the executor a function that does the same stands in for the instruction",
    public=True,
)
@on_rows
def linear_int8_tile(x, weight, scale, shifted, bias, zeros, q, out, codes):
    by_words(tile_kernel(codes), x, weight, scale, shifted, bias, zeros, q, out, tiles(out, EDGE))
