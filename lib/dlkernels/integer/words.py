"""Four products of codes in each 32-bit lane, kept in registers while a tile of sums grows.

A *word* is four codes side by side. One instruction multiplies two words code by code and adds the four products to a
32-bit sum:

    vpdpbusd   AVX512-VNNI, AVX-VNNI   sum += u0 s0 + u1 s1 + u2 s2 + u3 s3    u without sign, s with one; exact

(Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.) Inputs are the codes without a sign: those of
int8 become such by adding 128, to the zero point, too. Elsewhere the even and the odd codes of a word, as numbers of 16
bits, are multiplied in pairs (vpmaddwd, which adds in 32 bits; Arm: smull and addp). Not by vpmaddubsw, the older
instruction for codes: it adds two products in 16 bits and saturates, so that 255 x 127 twice is 32,767
(reference.saturating_pairs).

A tile has ROWS rows of WIDTH sums. For a linear layer, words of the weight stand in the lanes, and one word of the
input goes to all of them; for a convolution it is the other way round.
"""

import functools

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from ..matrix.dots import DOT4, I32, I64, LANES
from ..simd import vector_registers
from ..simd.vector import call_llvm, splat

VECTORS = 3 if DOT4 else 2  # without the instruction, products and their halves need registers, too
ROWS, LOW_ROWS = (8, 4) if vector_registers() == 32 else (4, 2)
WIDTH = VECTORS * LANES
BITS = 32 * LANES
WORDS, HALVES = ir.VectorType(I32, LANES), ir.VectorType(ir.IntType(16), 2 * LANES)
WIDE = ir.VectorType(I32, 2 * LANES)


def dot_by_instruction(builder, total, unsigned, signed):
    return call_llvm(builder, f"x86.avx512.vpdpbusd.{BITS}", WORDS, [total, unsigned, signed])


def dot_by_pairs(builder, total, unsigned, signed):
    """LLVM knows products of widened numbers whose neighbours are added as one instruction."""

    def splat16(value):
        return ir.Constant(HALVES, [value] * (2 * LANES))

    def pairs(a, b):
        products = builder.mul(builder.sext(a, WIDE), builder.sext(b, WIDE))
        picked = [
            builder.shuffle_vector(
                products,
                ir.Constant(WIDE, ir.Undefined),
                ir.Constant(WORDS, list(range(first, 2 * LANES, 2))),
            )
            for first in range(2)
        ]
        return builder.add(*picked)

    u, s = (builder.bitcast(x, HALVES) for x in (unsigned, signed))
    even = pairs(builder.and_(u, splat16(255)), builder.ashr(builder.shl(s, splat16(8)), splat16(8)))
    odd = pairs(builder.lshr(u, splat16(8)), builder.ashr(s, splat16(8)))
    return builder.add(total, builder.add(even, odd))


def _pointer(context, builder, array_type, array, at):
    """To element `at` of an array's memory, as one to a word."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), I32.as_pointer())


def _emit_tile(context, builder, sums, rows, dot, count, lane_words, row_word, lanes_are_signed):
    """LLVM: the tile over `count` steps (at least one) into the array `sums`."""
    places = [(r, v) for r in range(rows) for v in range(VECTORS)]
    before, loop, after = builder.block, builder.append_basic_block("words"), builder.append_basic_block("after")
    builder.branch(loop)
    builder.position_at_end(loop)
    p, now = builder.phi(I64), [builder.phi(WORDS) for _ in places]
    lines = []
    first = lane_words(p)
    for v in range(VECTORS):
        address = builder.bitcast(builder.gep(first, [I64(v * LANES)]), WORDS.as_pointer())
        lines.append(builder.load(address, align=4))
    new = []
    for r in range(rows):
        word = splat(builder, builder.load(row_word(p, r), align=1), LANES)
        for v in range(VECTORS):
            pair = (word, lines[v]) if lanes_are_signed else (lines[v], word)
            new.append(dot(builder, now[r * VECTORS + v], *pair))
    again = builder.add(p, I64(1))
    builder.cbranch(builder.icmp_signed("<", again, count), loop, after)
    for phi, entry, end in ((p, I64(0), again), *zip(now, [ir.Constant(WORDS, None)] * len(new), new, strict=True)):
        phi.add_incoming(entry, before)
        phi.add_incoming(end, loop)
    builder.position_at_end(after)
    for total, (r, v) in zip(new, places, strict=True):
        address = builder.gep(sums, [I64(r * WIDTH + v * LANES)])
        builder.store(total, builder.bitcast(address, WORDS.as_pointer()), align=4)


def _dot(instruction):
    return dot_by_instruction if instruction else dot_by_pairs


@functools.cache
def rows_by_panel(rows, instruction):
    """The intrinsic tile(sums, x, x_at, pitch, panel, panel_at, steps) of a linear layer.

    sums[r, c] = the sum over `steps` of word s of row r of x, which begins at byte x_at + r pitch, times word c of line
    s of the panel, which begins at word panel_at. x: uint8; panel: uint32; both one-dimensional.
    """

    @intrinsic
    def tile(typingctx, sums, x, x_at, pitch, panel, panel_at, steps):
        if (sums.dtype, x.dtype, panel.dtype) != (types.int32, types.uint8, types.uint32):
            raise TypingError("a tile expects sums of int32, codes of uint8 and a panel of words of uint32")

        def emit(context, builder, signature, arguments):
            total = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            codes = _pointer(context, builder, signature.args[1], arguments[1], arguments[2])
            codes = builder.bitcast(codes, ir.IntType(8).as_pointer())
            lines = _pointer(context, builder, signature.args[4], arguments[4], arguments[5])

            def row_word(p, r):
                offset = builder.add(builder.mul(arguments[3], I64(r)), builder.mul(p, I64(4)))
                return builder.bitcast(builder.gep(codes, [offset]), I32.as_pointer())

            def lane_words(p):
                return builder.gep(lines, [builder.mul(p, I64(WIDTH))])

            _emit_tile(context, builder, total, rows, _dot(instruction), arguments[6], lane_words, row_word, True)
            return context.get_dummy_value()

        number = types.int64
        return types.none(sums, x, number, number, panel, number, number), emit

    return tile


@functools.cache
def channels_by_pixels(rows, instruction):
    """The intrinsic tile(sums, line, line_at, places, weights, weights_at) of a convolution.

    sums[r, c] = the sum over steps s of word line_at + places[s] + c of the line times word weights_at + s rows + r of
    the weights. line, weights: uint32, places: int64; all one-dimensional.
    """

    @intrinsic
    def tile(typingctx, sums, line, line_at, places, weights, weights_at):
        if (sums.dtype, line.dtype, weights.dtype) != (types.int32, types.uint32, types.uint32):
            raise TypingError("a tile expects sums of int32 and words of uint32")

        def emit(context, builder, signature, arguments):
            total = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            pixels = _pointer(context, builder, signature.args[1], arguments[1], arguments[2])
            offsets = context.make_array(signature.args[3])(context, builder, arguments[3])
            words = _pointer(context, builder, signature.args[4], arguments[4], arguments[5])
            steps = builder.extract_value(offsets.shape, 0)

            def row_word(p, r):
                return builder.gep(words, [builder.add(builder.mul(p, I64(rows)), I64(r))])

            def lane_words(p):
                return builder.gep(pixels, [builder.load(builder.gep(offsets.data, [p]))])

            _emit_tile(context, builder, total, rows, _dot(instruction), steps, lane_words, row_word, False)
            return context.get_dummy_value()

        return types.none(sums, line, types.int64, places, weights, types.int64), emit

    return tile


@intrinsic
def copy_elements(typingctx, target, at, source, source_at, count):
    """target[at : at + count] = source[source_at : ...] for lines of memory of one dtype that do not overlap."""
    if target.dtype != source.dtype:
        raise TypingError("copy_elements expects two arrays of one dtype")

    def emit(context, builder, signature, arguments):
        to, of = (context.make_array(signature.args[k])(context, builder, arguments[k]).data for k in (0, 2))
        size = context.get_abi_sizeof(context.get_data_type(signature.args[0].dtype))
        cgutils.raw_memcpy(
            builder, builder.gep(to, [arguments[1]]), builder.gep(of, [arguments[3]]), arguments[4], size
        )
        return context.get_dummy_value()

    return types.none(target, types.int64, source, types.int64, types.int64), emit
