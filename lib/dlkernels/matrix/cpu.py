"""Matrix product on the CPU.

The ladder of matmul                      what the rung adds
    matmul_ijk             three loops, as the formula is written
    matmul_ikj             the other order: the inner loop runs along rows, and is vectorised
    matmul_blocked         a block of b stays in the cache while all rows of a pass by
    matmul_packed          the block is copied: its rows stand close together
    matmul_register_tile   three rows and four steps at a time: a loaded vector of b serves three times
    matmul_vector          6 x 2 vectors of the result have names, and stay in registers over the whole loop
    matmul_tile            the tile as large as the registers allow; a is packed; small matrices are not
    matmul_parallel        all cores
"""

import numpy as np
from numba import njit

from ..implementations import implementation
from ..simd import broadcast, fma, lanes, load, store
from ..simd.cache import cached_njit
from . import choose
from .batch import batched

CONTRACT = {"contract"}  # a * b + c may become one instruction, with one rounding


# ---- 1, 2: the order of the loops --------------------------------------------------------------------------


@cached_njit()
def _ijk(a, b, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = out.dtype.type(0)
            for p in range(a.shape[1]):
                total += a[i, p] * b[p, j]
            out[i, j] = total


@implementation("matmul", device="cpu", adds="three loops, as the formula is written", largest=1 << 18)
@batched
def matmul_ijk(a, b, out):
    _ijk(a, b, out)


@cached_njit(fastmath=CONTRACT)
def _ikj(a, b, out):
    out[:] = 0
    for i in range(out.shape[0]):
        for p in range(a.shape[1]):
            for j in range(out.shape[1]):
                out[i, j] += a[i, p] * b[p, j]


@implementation(
    "matmul", device="cpu", adds="another order of loops: the inner one runs along rows of b and of the result"
)
@batched
def matmul_ikj(a, b, out):
    _ikj(a, b, out)


# ---- 3, 4: blocks that stay in the cache -------------------------------------------------------------------

BLOCK_ROWS, BLOCK_COLUMNS = 64, 1024  # of b: 256 KiB in float32, for the L2 cache


@njit(fastmath=CONTRACT)
def _add_rows(factors, b, p, j, total):
    """total += factors[0] * b[p, j:] + factors[1] * b[p + 1, j:] + ..., for the columns that total has.

    The slices tell LLVM that neighbours in the loop are neighbours in memory; ``b[p + q, j + c]`` would not: j + c
    might be negative, which in Python means the other end of the row, and LLVM would not vectorise.
    """
    for q in range(factors.size):
        row = b[p + q, j : j + total.size]
        for c in range(total.size):
            total[c] += factors[q] * row[c]


@cached_njit()
def _blocked(a, b, out):
    out[:] = 0
    for p in range(0, b.shape[0], BLOCK_ROWS):
        for j in range(0, b.shape[1], BLOCK_COLUMNS):
            for i in range(a.shape[0]):
                factors = a[i, p : p + BLOCK_ROWS]
                _add_rows(factors, b, p, j, out[i, j : j + BLOCK_COLUMNS])


@implementation("matmul", device="cpu", adds="blocks: a part of b stays in the cache while all rows of a pass by")
@batched
def matmul_blocked(a, b, out):
    _blocked(a, b, out)


@njit
def _copy(source, target):
    """Of equal length. An assignment of slices would do; but its error message takes seconds to compile."""
    for j in range(target.size):
        target[j] = source[j]


@njit
def _pack_block(b, p, j, block):
    """Copy the block of b that begins at (p, j), zeros where b has ended; returns its rows and columns."""
    height, width = min(BLOCK_ROWS, b.shape[0] - p), min(BLOCK_COLUMNS, b.shape[1] - j)
    block[:] = 0
    for q in range(height):
        _copy(b[p + q, j : j + width], block[q, :width])
    return height, width


@cached_njit()
def _packed(a, b, out):
    out[:] = 0
    block = np.empty((BLOCK_ROWS, BLOCK_COLUMNS), b.dtype)
    for p in range(0, b.shape[0], BLOCK_ROWS):
        for j in range(0, b.shape[1], BLOCK_COLUMNS):
            _pack_block(b, p, j, block)
            for i in range(a.shape[0]):
                factors = a[i, p : p + BLOCK_ROWS]
                _add_rows(factors, block, 0, 0, out[i, j : j + BLOCK_COLUMNS])


@implementation("matmul", device="cpu", adds="packing: the block is copied, so that its rows stand close together")
@batched
def matmul_packed(a, b, out):
    _packed(a, b, out)


# ---- 5: fewer loads and stores for each multiply-add -------------------------------------------------------


@njit(fastmath=CONTRACT)
def _three_rows(factors, block, depth, width, sums):
    """sums[r] = factors[r] @ block for three rows r, four steps at a time: 12 multiply-adds for 7 loads, 3 stores."""
    line, total, n = (block.reshape(-1), sums.reshape(-1), BLOCK_COLUMNS)  # a constant apart: LLVM sees no overlap
    sums[:] = 0
    for q in range(0, depth, 4):
        x0, x1, x2, x3 = factors[0, q], factors[0, q + 1], factors[0, q + 2], factors[0, q + 3]
        y0, y1, y2, y3 = factors[1, q], factors[1, q + 1], factors[1, q + 2], factors[1, q + 3]
        z0, z1, z2, z3 = factors[2, q], factors[2, q + 1], factors[2, q + 2], factors[2, q + 3]
        rows = line[q * n : q * n + 4 * n]
        for c in range(width):
            b0, b1, b2, b3 = rows[c], rows[c + n], rows[c + 2 * n], rows[c + 3 * n]
            total[c] += x0 * b0 + x1 * b1 + x2 * b2 + x3 * b3
            total[c + n] += y0 * b0 + y1 * b1 + y2 * b2 + y3 * b3
            total[c + 2 * n] += z0 * b0 + z1 * b1 + z2 * b2 + z3 * b3


@cached_njit(fastmath=CONTRACT)
def _register_tile(a, b, out):
    out[:] = 0
    m, k = a.shape
    block = np.empty((BLOCK_ROWS, BLOCK_COLUMNS), b.dtype)
    factors, sums = np.zeros((3, BLOCK_ROWS), a.dtype), np.empty((3, BLOCK_COLUMNS), out.dtype)
    for p in range(0, k, BLOCK_ROWS):
        for j in range(0, b.shape[1], BLOCK_COLUMNS):
            depth, width = _pack_block(b, p, j, block)
            for i in range(0, m, 3):
                factors[:] = 0  # a ragged end is padded with zeros, here and in the block
                for r in range(min(3, m - i)):
                    _copy(a[i + r, p : p + depth], factors[r, :depth])
                _three_rows(factors, block, depth, width, sums)
                for r in range(min(3, m - i)):
                    target = out[i + r, j : j + width]
                    for c in range(width):
                        target[c] += sums[r, c]


@implementation(
    "matmul",
    device="cpu",
    adds="a register tile in plain Python: each loaded vector serves three rows, each sum four steps",
)
@batched
def matmul_register_tile(a, b, out):
    _register_tile(a, b, out)


# ---- 6: the result stays in registers ----------------------------------------------------------------------

STEPS = 256  # of the sums: a panel of b stays in the L1 cache


@njit
def _six_by_two(a, i, p, depth, panel, out, offset, row):
    """The tile of 6 rows and 2 vectors that begins at element `offset` of out: out += a[i : i + 6, p : p + depth]
    panel."""
    n = lanes(panel)
    c00, c01 = load(out, offset), load(out, offset + n)
    c10, c11 = load(out, offset + row), load(out, offset + row + n)
    c20, c21 = load(out, offset + 2 * row), load(out, offset + 2 * row + n)
    c30, c31 = load(out, offset + 3 * row), load(out, offset + 3 * row + n)
    c40, c41 = load(out, offset + 4 * row), load(out, offset + 4 * row + n)
    c50, c51 = load(out, offset + 5 * row), load(out, offset + 5 * row + n)
    for q in range(depth):
        b0, b1 = load(panel, 2 * n * q), load(panel, 2 * n * q + n)
        x = broadcast(a[i, p + q])
        c00, c01 = fma(x, b0, c00), fma(x, b1, c01)
        x = broadcast(a[i + 1, p + q])
        c10, c11 = fma(x, b0, c10), fma(x, b1, c11)
        x = broadcast(a[i + 2, p + q])
        c20, c21 = fma(x, b0, c20), fma(x, b1, c21)
        x = broadcast(a[i + 3, p + q])
        c30, c31 = fma(x, b0, c30), fma(x, b1, c31)
        x = broadcast(a[i + 4, p + q])
        c40, c41 = fma(x, b0, c40), fma(x, b1, c41)
        x = broadcast(a[i + 5, p + q])
        c50, c51 = fma(x, b0, c50), fma(x, b1, c51)
    store(out, offset, c00), store(out, offset + n, c01)
    store(out, offset + row, c10), store(out, offset + row + n, c11)
    store(out, offset + 2 * row, c20), store(out, offset + 2 * row + n, c21)
    store(out, offset + 3 * row, c30), store(out, offset + 3 * row + n, c31)
    store(out, offset + 4 * row, c40), store(out, offset + 4 * row + n, c41)
    store(out, offset + 5 * row, c50), store(out, offset + 5 * row + n, c51)


@cached_njit(fastmath=CONTRACT)
def _vector(a, b, out):
    out[:] = 0
    (m, k), n, width = a.shape, b.shape[1], 2 * lanes(out)
    sixes, whole = m - m % 6, n - n % width
    panel = np.empty(STEPS * width, b.dtype)
    for p in range(0, k, STEPS):
        depth = min(STEPS, k - p)
        for j in range(0, whole, width):
            for q in range(depth):
                _copy(b[p + q, j : j + width], panel[q * width : (q + 1) * width])
            for i in range(0, sixes, 6):
                _six_by_two(a, i, p, depth, panel, out, i * n + j, n)
        for i in range(m):  # what is left over: columns that fill no panel, rows that fill no tile
            left = 0 if i >= sixes else whole
            _add_rows(a[i, p : p + depth], b, p, left, out[i, left:])


@implementation(
    "matmul", device="cpu", adds="6 x 2 vectors of the result have names, and stay in registers over 256 steps"
)
@batched
def matmul_vector(a, b, out):
    _vector(a, b, out)


# ---- 7, 8: the generated tile, and all cores (choose.py, blocks.py) ----------------------------------------


@implementation(
    "matmul", device="cpu", adds="a tile generated to fill the registers; a packed too; small matrices in place"
)
@batched(strided=True, stacks=True)
def matmul_tile(a, b, out):
    choose.multiply(a, b, out, most_threads=1)


@implementation(
    "matmul", device="cpu", adds="all cores: each multiplies some rows of a with some columns of b", public=True
)
@batched(strided=True, stacks=True)
def matmul_parallel(a, b, out):
    choose.multiply(a, b, out)
