"""Dropout on the GPU, in float32.

The ladder of dropout              what the rung adds
    dropout_one_per_element    a thread for each number: it makes four words, and needs one
    dropout_four_per_thread    a thread for the four numbers that go by one block of Philox
    dropout_wide               16 bytes per load and store, where a block's numbers begin at a multiple of 16 bytes

No thread has a state: it makes the words of its numbers from the seed and their index, the very ones that the CPU
makes.
"""

import functools

import numpy as np

from ..device import cuda
from ..implementations import implementation
from ..layouts import aligned
from ..wide import WIDTH, load4, store4
from .philox import LOW, halves, philox, threshold, u64

f32, u32 = np.float32, np.uint32
THREADS, MOST_BLOCKS = 256, 1024
LINE = "float32[::1]"
SIGNATURE = f"void({LINE}, float32, uint64, uint64, uint64, uint64, int64, {LINE})"

philox_of_one = cuda.jit(device=True)(philox)


def on_lines(rung):
    """Let `rung(x, scale, threshold, k0, k1, block, skip, out)` take arrays of any shape: the seed in two words, the
    offset as a block of four words and which of them is the first."""

    @functools.wraps(rung)
    def wrapper(p, seed, offset, x):
        out = cuda.device_array(tuple(x.shape), f32)
        if x.size:
            scale = f32(1 / (1 - p) if p < 1 else 1)
            arguments = scale, u64(threshold(p)), *halves(seed), u64(offset // 4), offset % 4
            rung(x.reshape(x.size), *arguments, out.reshape(x.size))
        return out

    return wrapper


def blocks_for(count):
    return min(-(-count // THREADS), MOST_BLOCKS)


@cuda.jit(device=True)
def words_of(block, k0, k1):
    return philox_of_one(block & LOW, block >> u64(32), u64(0), u64(0), k0, k1)


@cuda.jit
def one_per_element_kernel(x, scale, below, k0, k1, block, skip, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        number = i + skip
        w0, w1, w2, w3 = words_of(block + u64(number // 4), k0, k1)
        word = w0 if number % 4 == 0 else w1 if number % 4 == 1 else w2 if number % 4 == 2 else w3
        out[i] = x[i] * scale if word >= below else f32(0)


@implementation(
    "dropout",
    "gpu",
    adds="a thread for each number: it makes four words, and needs one",
    dtypes=("float32",),
    kernels=[(one_per_element_kernel, [SIGNATURE])],
)
@on_lines
def dropout_one_per_element(x, *arguments):
    one_per_element_kernel[blocks_for(x.size), THREADS](x, *arguments)


@cuda.jit
def four_per_thread_kernel(x, scale, below, k0, k1, block, skip, out):
    for b in range(cuda.grid(1), (out.size + skip + 3) // 4, cuda.gridsize(1)):
        w0, w1, w2, w3 = words_of(block + u64(b), k0, k1)
        i = 4 * b - skip
        if i >= 0:
            out[i] = x[i] * scale if w0 >= below else f32(0)
        if i + 1 >= 0 and i + 1 < out.size:
            out[i + 1] = x[i + 1] * scale if w1 >= below else f32(0)
        if i + 2 >= 0 and i + 2 < out.size:
            out[i + 2] = x[i + 2] * scale if w2 >= below else f32(0)
        if i + 3 < out.size:
            out[i + 3] = x[i + 3] * scale if w3 >= below else f32(0)


def by_fours(x, *arguments):
    four_per_thread_kernel[blocks_for(-(-x.size // 4) + 1), THREADS](x, *arguments)


@implementation(
    "dropout",
    "gpu",
    adds="a thread for the four numbers that go by one block of words: a quarter of the arithmetic",
    dtypes=("float32",),
    kernels=[(four_per_thread_kernel, [SIGNATURE])],
)
@on_lines
def dropout_four_per_thread(x, *arguments):
    by_fours(x, *arguments)


@cuda.jit
def wide_kernel(x, scale, below, k0, k1, block, skip, out):
    fours = out.size // WIDTH
    for b in range(cuda.grid(1), fours, cuda.gridsize(1)):
        w0, w1, w2, w3 = words_of(block + u64(b), k0, k1)
        a0, a1, a2, a3 = load4(x, WIDTH * b)
        r0 = a0 * scale if w0 >= below else f32(0)
        r1 = a1 * scale if w1 >= below else f32(0)
        r2 = a2 * scale if w2 >= below else f32(0)
        r3 = a3 * scale if w3 >= below else f32(0)
        store4(out, WIDTH * b, (r0, r1, r2, r3))
    rest = WIDTH * fours + cuda.grid(1)
    if rest < out.size:
        w0, w1, w2, w3 = words_of(block + u64(fours), k0, k1)
        word = w0 if rest % 4 == 0 else w1 if rest % 4 == 1 else w2
        out[rest] = x[rest] * scale if word >= below else f32(0)


def wide(x, *arguments):
    *_, skip, out = arguments
    if skip or not aligned(x, out):
        return by_fours(x, *arguments)
    wide_kernel[blocks_for(-(-x.size // WIDTH)), THREADS](x, *arguments)


LIMITS = (
    "offsets that are no multiple of 4, and slices that begin at none of 16 bytes, take the kernel of "
    "dropout_four_per_thread"
)
BOTH = [(wide_kernel, [SIGNATURE]), (four_per_thread_kernel, [SIGNATURE])]


@implementation(
    "dropout", "gpu", adds="16 bytes per load and store", limits=LIMITS, dtypes=("float32",), kernels=BOTH, public=True
)
@on_lines
def dropout_wide(x, *arguments):
    wide(x, *arguments)


@implementation(
    "dropout_backward",
    "gpu",
    adds="the random numbers are made again: nothing was kept",
    limits=LIMITS,
    dtypes=("float32",),
    kernels=BOTH,
    public=True,
)
@on_lines
def dropout_backward_wide(x, *arguments):
    wide(x, *arguments)
