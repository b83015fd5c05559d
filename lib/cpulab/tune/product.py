"""A matrix product whose sizes are left open: the example that this book tunes.

It is the loop nest of Goto and van de Geijn (2008) that lib/dlkernels/matrix/blocks.py has with sizes chosen by hand.

rows, vectors   the tile of the result that is kept in registers        compiled in
unroll          steps of the sum in one turn of the innermost loop      compiled in
depth           steps of the sum for which a and b are packed           an argument
height          rows of a that are packed at a time                     an argument
"""

import functools

import numpy as np
from numba import njit, types

from dlkernels.simd import vector_registers, vector_width
from dlkernels.simd.line import memory
from dlkernels.simd.pack import pack
from dlkernels.simd.tile import tile_load, tile_multiply_add, tile_store

from .space import Space

LARGEST = 1 << 18  # bytes of the packed block of a: it should fit half of an L2 cache
COMPILED = ("rows", "vectors", "unroll")
#: What `counts` counts, in this order.
COUNTED = ("multiply-adds", "stalls", "loads", "spilled", "packed", "results")
IN_FLIGHT = 8  # multiply-adds that two units with a latency of four cycles can work at


def space():
    """`Space` of the product's sizes. The packed block of a fits LARGEST, and has a whole tile of rows."""
    return Space(
        {
            "rows": (1, 2, 4, 6, 8, 10, 12, 14),
            "vectors": (1, 2, 3, 4),
            "unroll": (1, 4),
            "depth": (32, 64, 128, 256, 512),
            "height": (8, 16, 32, 64, 128, 256),
        },
        lambda c: c["height"] >= c["rows"],
        lambda c: 4 * c["depth"] * c["height"] <= LARGEST,
        lambda c: c["rows"] * c["vectors"] <= 2 * vector_registers(),
    )


@functools.cache
def compiled(rows, vectors, unroll):
    """The product with these sizes compiled in, as an njit function of (a, b, out, depth, height).

    a: (m, k), b: (k, n), out: (m, n), float32, C-contiguous, none of them empty; depth: a multiple of unroll; height:
    at least rows.
    """
    width = vectors * vector_width(np.float32)
    taps = tuple(step * width for step in range(unroll))

    @njit
    def multiply(a, b, out, depth, height):
        (m, k), n, tall = a.shape, b.shape[1], height - height % rows
        pitch = -(-n // width) * width
        packed_a, packed_b = np.empty((tall + rows) * depth, np.float32), np.empty(pitch * depth, np.float32)
        sums = np.zeros((m + rows) * pitch, np.float32)
        for front in range(0, k, depth):
            deep = min(depth, k - front)
            turns = -(-deep // unroll)
            padded = turns * unroll
            pack_panels(b, front, deep, padded, width, packed_b)
            for top in range(0, m, tall):
                high = min(tall, m - top)
                pack_tiles(a, top, high, front, deep, padded, rows, packed_a)
                for left in range(0, pitch, width):
                    for row in range(0, high, rows):
                        start = (top + row) * pitch + left
                        acc = tile_load(sums, start, pitch, rows, vectors)
                        acc = tile_multiply_add(
                            acc, turns, packed_a, row * padded, (1, unroll * rows, rows),
                            packed_b, left * padded, unroll * width, taps,
                        )  # fmt: skip
                        tile_store(sums, start, pitch, acc)
        unpack(sums, pitch, out)

    return multiply


MATRIX, LINE = types.float32[:, ::1], types.float32[::1]
SIX = (types.int64,) * 6


@njit((MATRIX, *SIX[:4], LINE))
def pack_panels(b, front, deep, padded, width, packed):
    """The panels of b, `width` columns each, one after the other: zeros beyond the last row and column."""
    n, source = b.shape[1], memory(b)
    for left in range(0, n, width):
        wide, start = min(width, n - left), left * padded
        if deep < padded or wide < width:
            packed[start : start + width * padded] = 0
        pack(source, front * n + left, n, 1, deep, wide, packed, start, width)


@njit((MATRIX, *SIX, LINE))
def pack_tiles(a, top, high, front, deep, padded, rows, packed):
    """The tiles of a, `rows` rows each, column after column: zeros beyond the last row and column."""
    k, source = a.shape[1], memory(a)
    for row in range(0, high, rows):
        some, start = min(rows, high - row), row * padded
        if deep < padded or some < rows:
            packed[start : start + rows * padded] = 0
        pack(source, (top + row) * k + front, 1, k, deep, some, packed, start, rows)


@njit((LINE, types.int64, MATRIX))
def unpack(sums, pitch, out):
    for i in range(out.shape[0]):
        out[i] = sums[i * pitch : i * pitch + out.shape[1]]


def multiply(a, b, out, *, depth, height, **sizes):
    """out = a b, by the configuration that the keywords are. out: float32, C-contiguous, no part of a or b."""
    compiled(**sizes)(a, b, out, depth, height)
    return out


def counts(configuration, m, n, k):
    """Float64 of the length of COUNTED: what a product of (m, k) and (k, n) does, in vectors; known without running it.

    multiply-adds, those of padding included; stalls: those not begun as a tile has too few sums to hide the latency;
    loads from packed a and b; sums that do not fit the registers, written and read; packed elements, and those of the
    result written and read again.
    """
    lanes, registers = vector_width(np.float32), vector_registers()
    rows, vectors, unroll = (configuration[name] for name in COMPILED)
    depth, height = min(configuration["depth"], k), min(configuration["height"], m)
    blocks, bands = -(-k // depth), -(-m // height)
    steps = blocks * -(-depth // unroll) * unroll
    panels = -(-n // (vectors * lanes))
    tiles = panels * bands * -(-height // rows)  # of one block
    work = tiles * steps * rows * vectors
    stalls = tiles * steps * max(0, IN_FLIGHT - rows * vectors)
    loads = tiles * steps * (rows / lanes + vectors)
    spilled = tiles * steps * max(0, rows * vectors + vectors + 1 - registers)
    packed = (m * steps + panels * vectors * lanes * steps) / lanes
    results = tiles * rows * vectors * (2 * blocks - 1)
    return np.array([work, stalls, loads, spilled, packed, results], np.float64)
