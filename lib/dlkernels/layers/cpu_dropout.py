"""Dropout on the CPU.

The ladder of dropout              what the rung adds
    dropout_numpy      NumPy: an array for each step of Philox's ten rounds, a word for each number
    dropout_compiled   numba: four words after each other, and the numbers that go by them
    dropout_vectors    the words of CHUNK numbers at once, in vectors; then the numbers; chunks for all cores

The gradient is the same function of what arrives: its random numbers are made again.
"""

import functools

import numpy as np

from .. import team
from ..host import new, plain
from ..implementations import implementation
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..team import share
from .philox import LOW, halves, philox, threshold, u64

CHUNK = 2048  # numbers whose words are made at once: they fit the smallest cache
EACH = 8  # chunks of a task
ALONE = 1 << 15  # numbers below which waking another thread costs more than it gains
ALL = 1 << 32  # a threshold below which all words are

philox_of_one = inner_njit(forceinline=True)(philox)


def on_lines(rung):
    """Let `rung(x, scale, threshold, seed, offset, out)` take arrays of any shape. Both numbers in two words, but for
    the offset: (block of four words, which of them is the first)."""

    @functools.wraps(rung)
    def wrapper(p, seed, offset, x):
        out = new(x.shape, x.dtype)
        if threshold(p) == ALL:
            out[...] = 0
        elif out.size:
            line, scale = plain(x).reshape(-1), x.dtype.type(1 / (1 - p))
            rung(line, scale, np.uint32(threshold(p)), halves(seed), u64(offset // 4), offset % 4, out.reshape(-1))
        return out

    return wrapper


# ---- 1: NumPy --------------------------------------------------------------------------------------------------------


def _words(seed, blocks):
    """The words of these blocks of four, one after the other."""
    zeros = np.zeros_like(blocks)
    words = philox(blocks & LOW, blocks >> u64(32), zeros, zeros, *seed)
    return np.stack(words, axis=1).astype(np.uint32).reshape(-1)


@implementation("dropout", device="cpu", adds="NumPy: an array for each step of ten rounds, and a word for each number")
@on_lines
def dropout_numpy(x, scale, below, seed, block, skip, out):
    blocks = block + np.arange((skip + x.size + 3) // 4, dtype=np.uint64)
    with np.errstate(all="ignore"):
        np.multiply(x, scale, out=out)
    out[_words(seed, blocks)[skip : skip + x.size] < below] = 0


# ---- 2: four numbers after each other --------------------------------------------------------------------------------


@cached_njit()
def _compiled(x, scale, below, seed, block, skip, out):
    zero, none = u64(0), x.dtype.type(0)
    start = -skip
    while start < x.size:
        words = philox_of_one(block & LOW, block >> u64(32), zero, zero, seed[0], seed[1])
        for k in range(4):
            if 0 <= start + k < x.size:
                out[start + k] = x[start + k] * scale if words[k] >= below else none
        start += 4
        block += u64(1)


@implementation("dropout", device="cpu", adds="numba: four words at a time, and no temporary array")
@on_lines
def dropout_compiled(x, scale, below, seed, block, skip, out):
    _compiled(x, scale, below, seed, block, skip, out)


# ---- 3: vectors, all cores -------------------------------------------------------------------------------------------


@inner_njit()
def fill_words(words, blocks, seed, block):
    """The words of so many blocks of four. LLVM makes vectors of it: each lane has a block."""
    zero = u64(0)
    for b in range(blocks):
        number = block + u64(b)
        w0, w1, w2, w3 = philox_of_one(number & LOW, number >> u64(32), zero, zero, seed[0], seed[1])
        words[4 * b] = w0
        words[4 * b + 1] = w1
        words[4 * b + 2] = w2
        words[4 * b + 3] = w3


@inner_njit()
def _select(x, words, skip, scale, below, out):
    none = x.dtype.type(0)
    for i in range(x.size):
        out[i] = x[i] * scale if words[skip + i] >= below else none


@inner_njit()
def _part(arguments, task, who):
    x, scale, below, seed, block, skip, out = arguments
    words = np.empty(CHUNK + 4, np.uint32)
    start, stop = task * EACH * CHUNK, min((task + 1) * EACH * CHUNK, x.size)
    for begin in range(start, stop, CHUNK):
        end = min(begin + CHUNK, stop)
        fill_words(words, (skip + end - begin + 3) // 4, seed, block + u64(begin // 4))
        _select(x[begin:end], words, skip, scale, below, out[begin:end])


@cached_njit()
def _by_team(x, scale, below, seed, block, skip, out, tasks, threads, least, team):
    share(_part, (x, scale, below, seed, block, skip, out), tasks, threads, least, team)


def by_vectors(*arguments):
    size = arguments[0].size
    threads = 1 if size < ALONE else team.size()
    _by_team(*arguments, -(-size // (EACH * CHUNK)), threads, size // 2, team.members())


VECTORS = "the words of some thousand numbers at once, a block in each lane of a vector; all cores"


@implementation("dropout", device="cpu", adds=VECTORS, public=True)
@on_lines
def dropout_vectors(*arguments):
    by_vectors(*arguments)


@implementation(
    "dropout_backward", device="cpu", adds="the random numbers are made again: nothing was kept", public=True
)
@on_lines
def dropout_backward_vectors(*arguments):
    by_vectors(*arguments)
