"""The transpose of a matrix on the CPU: out[j, i] = x[i, j], a contiguous copy.

The ladder of transpose                   what the rung adds
    transpose_loops        two loops: what is read lies beside what was read, what is written is a row away
    transpose_blocked      a block of SIDE x SIDE: a cache line is used up before it leaves the cache
    transpose_vectors      blocks as large as a vector is long are turned over in registers
    transpose_parallel     all cores

Nothing is computed: each number is read once and written once. What differs is how much of each cache line that comes
or goes is used: in the first rung one number of a line that is written.
"""

import functools

import numpy as np

from .. import team
from ..implementations import implementation
from ..simd import lanes
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory
from ..simd.pack import transpose_block
from ..team import share

SIDE = 32  # of a block: two cache lines of float32, so that 2 x 32 rows of it fit the smallest cache
PARALLEL_FROM = 1 << 15  # numbers below which waking another thread costs more than it gains
# Rows and columns of x in a piece of work of the last rungs. Vectors of x lie across two cache lines, and the second
# line is wanted again for the next vector: of 32 rows that are a power of two apart both lines fit a cache of 8 ways.
DEEP, WIDE = 32, 64


def on_stacks(rung):
    """Let `rung(x, out)`, written for contiguous arrays (matrices, m, n) and (matrices, n, m), take any leading
    dimensions and strides. Empty arrays never reach it."""

    @functools.wraps(rung)
    def wrapper(x, out):
        if not out.size:
            return out
        turned = np.swapaxes(x, -1, -2)
        if turned.flags.c_contiguous:  # x is a transpose itself: there is nothing left to turn
            np.copyto(out, turned)
            return out
        m, n = x.shape[-2:]
        source = x if x.flags.carray else np.require(x, requirements="CAW")
        target = out if out.flags.carray else np.empty(out.shape, out.dtype)
        rung(source.reshape(-1, m, n), target.reshape(-1, n, m))
        if target is not out:
            out[...] = target
        return out

    return wrapper


# ---- 1, 2: loops -------------------------------------------------------------------------------------------


@cached_njit()
def _loops(x, out):
    count, m, n = x.shape
    for k in range(count):
        for i in range(m):
            for j in range(n):
                out[k, j, i] = x[k, i, j]


@implementation(
    "transpose", device="cpu", adds="two loops: reads go along rows, each write is a row away from the last"
)
@on_stacks
def transpose_loops(x, out):
    _loops(x, out)


@cached_njit()
def _blocked(x, out):
    count, m, n = x.shape
    for k in range(count):
        for top in range(0, m, SIDE):
            for left in range(0, n, SIDE):
                for j in range(left, min(left + SIDE, n)):
                    for i in range(top, min(top + SIDE, m)):
                        out[k, j, i] = x[k, i, j]


@implementation("transpose", device="cpu", adds="block by block: a cache line is used up while it is there")
@on_stacks
def transpose_blocked(x, out):
    _blocked(x, out)


# ---- 3: blocks in registers --------------------------------------------------------------------------------


@inner_njit()
def turn(x, out, k, top, left):
    """The piece of matrix k that begins at row `top` and column `left` of x: DEEP x WIDE, or what is left of it.

    Vectors at the edge begin earlier: what they write twice is the same.
    """
    _, m, n = x.shape
    source, target, size = memory(x), memory(out), lanes(out)
    read, write = k * m * n, k * m * n
    bottom, right = min(top + DEEP, m), min(left + WIDE, n)
    if m < size or n < size:
        for j in range(left, right):
            for i in range(top, bottom):
                target[write + j * m + i] = source[read + i * n + j]
        return
    for j in range(left, right, size):
        column = min(j, n - size)
        for i in range(top, bottom, size):
            row = min(i, m - size)
            transpose_block(source, read + row * n + column, n, target, write + column * m + row, m)


@inner_njit()
def pieces(m, n):
    """How many pieces a matrix has: (down, across)."""
    return -(-m // DEEP), -(-n // WIDE)


@cached_njit()
def _vectors(x, out):
    count, m, n = x.shape
    for k in range(count):
        for top in range(0, m, DEEP):
            for left in range(0, n, WIDE):
                turn(x, out, k, top, left)


@implementation(
    "transpose", device="cpu", adds="blocks as large as a vector is long, turned over in registers by shuffles"
)
@on_stacks
def transpose_vectors(x, out):
    _vectors(x, out)


# ---- 4: all cores ------------------------------------------------------------------------------------------


@inner_njit()
def _some_pieces(arguments, task, who):
    x, out, task_pieces, total = arguments
    _, m, n = x.shape
    down, across = pieces(m, n)
    for piece in range(task * task_pieces, min((task + 1) * task_pieces, total)):
        k, rest = divmod(piece, down * across)
        turn(x, out, k, rest // across * DEEP, rest % across * WIDE)


@cached_njit()
def _parallel(x, out, tasks, threads, least, team):
    count, m, n = x.shape
    down, across = pieces(m, n)
    total = count * down * across
    task_pieces = -(-total // tasks)
    share(_some_pieces, (x, out, task_pieces, total), -(-total // task_pieces), threads, least, team)


def turned(x, out):
    """out = the transposes of x for contiguous (matrices, m, n) and (matrices, n, m), none of them empty."""
    if x.size < PARALLEL_FROM or team.size() == 1:
        _vectors(x, out)
    else:
        threads = team.size()
        _parallel(x, out, 8 * threads, threads, x.size // 4, team.members())


@implementation("transpose", device="cpu", adds="all cores: each takes some of the pieces", public=True)
@on_stacks
def transpose_parallel(x, out):
    turned(x, out)
