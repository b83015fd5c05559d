"""Products of 8- and 16-bit numbers by the instructions made for them: a dot product in each lane.

A lane of 32 bits holds a group of four 8-bit numbers, or of two bfloat16. One instruction multiplies two vectors number
by number and adds the products of each group to a 32-bit sum:

    vpdpbusd    AVX512-VNNI, AVX-VNNI    sum += a0 b0 + a1 b1 + a2 b2 + a3 b3    a signed, b not; exact
    vdpbf16ps   AVX512-BF16              sum += a0 b0 + a1 b1                    float32 sums

(Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.) So the inner dimension goes in groups. Packing
puts the numbers of a group side by side, here with four:

    b, one panel:  b[0:4, 0]  b[0:4, 1]  b[0:4, 2] ...     then steps 4 to 7, ...
    a, one row:    a[0, 0:4]  a[0, 4:8]  ...               one group goes into every lane

After packing a group is a *word* of 32 bits, whatever is in it, and the blocks are those of blocks.py, with words for
numbers. A packed row of a ends with the word that its sums begin with.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from .. import team
from ..simd import has, vector_bytes, vector_width
from ..simd.inner import inner_njit
from ..simd.vector import call_llvm, splat
from .blocks import DEPTH, HEIGHT, PACKED_A, PITCH, REGISTERS, WIDTH, best_parts, room
from .choose import least_time, threads_for, workspace

LANES = vector_width(np.float32)
VECTORS = 2
ROWS = (REGISTERS - VECTORS - 1) // VECTORS
PANEL = VECTORS * LANES
DOT4 = has("avx512vnni") if vector_bytes() == 64 else has("avxvnni")  # does the machine have vpdpbusd?
DOT2 = has("avx512bf16") and vector_bytes() == 64  # and vdpbf16ps?
WORK = np.dtype(np.float32)  # the workspace is that of products in float32

I32, I64 = ir.IntType(32), ir.IntType(64)
BITS = 32 * LANES


class _BFloat16(ir.Type):
    """LLVM's bfloat, which llvmlite does not have."""

    def _to_string(self):
        return "bfloat"


PAIRS = ir.VectorType(_BFloat16(), 2 * LANES)


def _dot_of_integers(builder, total, a, b):
    return call_llvm(builder, f"x86.avx512.vpdpbusd.{BITS}", total.type, [total, b, a])


def _dot_of_bfloats(builder, total, a, b):
    a, b = (builder.bitcast(x, PAIRS) for x in (a, b))
    return call_llvm(builder, f"x86.avx512bf16.dpbf16ps.{BITS}", total.type, [total, a, b])


DOTS = {types.int32: (I32, _dot_of_integers), types.float32: (ir.FloatType(), _dot_of_bfloats)}


@intrinsic
def dot_tile(typingctx, sums, work, a, b, depth):
    """sums = a tile of ROWS x PANEL: the words of ROWS packed rows from `a` on times `depth` lines of a panel from
    `b`."""
    if sums.dtype not in DOTS or work.dtype != types.uint32:
        raise TypingError("dot_tile expects sums of int32 or float32 and packed words of uint32")
    kind, dot = DOTS[sums.dtype]
    words, vector = ir.VectorType(I32, LANES), ir.VectorType(kind, LANES)
    places = [(r, v) for r in range(ROWS) for v in range(VECTORS)]

    def emit(context, builder, signature, arguments):
        target, data = (context.make_array(signature.args[i])(context, builder, arguments[i]).data for i in (0, 1))
        a_data, b_data = (builder.gep(data, [start]) for start in arguments[2:4])

        def word(r, p):
            offset = builder.add(I64(r * PITCH), p)
            return splat(builder, builder.load(builder.gep(a_data, [offset]), align=4), LANES)

        def line(p, v):
            offset = builder.add(builder.mul(p, I64(PANEL)), I64(v * LANES))
            return builder.load(builder.bitcast(builder.gep(b_data, [offset]), words.as_pointer()), align=4)

        initial = [builder.bitcast(word(r, I64(DEPTH)), vector) for r, _ in places]
        before, loop, after = builder.block, builder.append_basic_block("words"), builder.append_basic_block("after")
        builder.branch(loop)
        builder.position_at_end(loop)
        p, now = builder.phi(I64), [builder.phi(vector) for _ in places]
        b_lines = [line(p, v) for v in range(VECTORS)]
        a_words = [word(r, p) for r in range(ROWS)]
        new = [dot(builder, total, a_words[r], b_lines[v]) for total, (r, v) in zip(now, places, strict=True)]
        again = builder.add(p, I64(1))
        builder.cbranch(builder.icmp_signed("<", again, arguments[4]), loop, after)
        for phi, entry, end in ((p, I64(0), again), *zip(now, initial, new, strict=True)):
            phi.add_incoming(entry, before)
            phi.add_incoming(end, loop)
        builder.position_at_end(after)
        for total, (r, v) in zip(new, places, strict=True):
            address = builder.gep(target, [I64(r * PANEL + v * LANES)])
            builder.store(total, builder.bitcast(address, vector.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.none(sums, work, types.int64, types.int64, types.int64), emit


# Blocks are given by their edges: for numba, unlike its rows, a slice of a matrix in two directions has no contiguous
# lines.


def pack_rows(a, top, bottom, front, back, work, to):
    """Pack a[top:bottom, front:back] in rows of words. Each dtype has its own way, by `overload`."""


def pack_panels(b, front, back, left, right, work, to):
    """Pack b[front:back, left:right] in panels of words. Words beyond the last column do not matter."""


@inner_njit()
def multiply_packed(work, a, b, c, rows, columns, depth, sums, fresh):
    """A block c[rows, columns], given by the edges, becomes a b, or c + a b unless `fresh`; a and b: where they are
    packed."""
    (top, bottom), (left, right) = rows, columns
    for j in range(left, right, PANEL):
        for i in range(top, bottom, ROWS):
            dot_tile(sums, work, a + (i - top) * PITCH, b + (j - left) * DEPTH, depth)
            for r in range(min(ROWS, bottom - i)):
                target = c[i + r][j : min(j + PANEL, right)]
                for q in range(target.size):
                    target[q] = sums[r, q] if fresh else target[q] + sums[r, q]


@inner_njit()
def multiply_part(group, a, b, c, task, parts, work, work_start):
    """One of the parts = (down, across) of c = a b. `group`: how many numbers make a word; `at`: where its workspace
    is."""
    (m, n), k, (down, across) = c.shape, a.shape[1], parts
    i, j = task // across, task % across
    start, stop = i * m // down, (i + 1) * m // down
    end = (j + 1) * n // across
    sums = np.empty((ROWS, PANEL), c.dtype)
    for left in range(j * n // across, end, WIDTH):
        right = min(left + WIDTH, end)
        for front in range(0, k, DEPTH * group):
            back = min(front + DEPTH * group, k)
            depth = (back - front + group - 1) // group
            pack_panels(b, front, back, left, right, work, work_start + PACKED_A)
            for top in range(start, stop, HEIGHT):
                bottom = min(top + HEIGHT, stop)
                pack_rows(a, top, bottom, front, back, work, work_start)
                edges = (top, bottom), (left, right)
                multiply_packed(work, work_start, work_start + PACKED_A, c, *edges, depth, sums, front == 0)


def multiply(kernel, group, a, b, out):
    """kernel(a, b, out, parts, work, each, threads, least, team), for matrices that are not empty: what it returns."""
    m, n = out.shape
    steps = m * n * a.shape[1] // group
    threads = threads_for(steps)
    parts = (1, 1) if threads == 1 else best_parts(m, n, 2 * threads)
    work = workspace(WORK, threads).view(np.uint32)
    return kernel(a, b, out, parts, work, room(WORK), threads, least_time(steps), team.members())
