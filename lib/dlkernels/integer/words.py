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
WIDE, FLOATS = ir.VectorType(I32, 2 * LANES), ir.VectorType(ir.FloatType(), LANES)


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
                products, ir.Constant(WIDE, ir.Undefined), ir.Constant(WORDS, list(range(parity, 2 * LANES, 2)))
            )
            for parity in range(2)
        ]
        return builder.add(*picked)

    u, s = (builder.bitcast(x, HALVES) for x in (unsigned, signed))
    even = pairs(builder.and_(u, splat16(255)), builder.ashr(builder.shl(s, splat16(8)), splat16(8)))
    odd = pairs(builder.lshr(u, splat16(8)), builder.ashr(s, splat16(8)))
    return builder.add(total, builder.add(even, odd))


def _emit_tile(builder, rows, dot, count, lane_words, row_word, lanes_are_signed):
    """LLVM: the sums of a tile over `count` steps (at least one), as vectors, row by row."""
    before, loop, after = builder.block, builder.append_basic_block("words"), builder.append_basic_block("after")
    builder.branch(loop)
    builder.position_at_end(loop)
    p, now = builder.phi(I64), [builder.phi(WORDS) for _ in range(rows * VECTORS)]
    pointer = lane_words(p)
    lines = [load(builder, builder.gep(pointer, [I64(v * LANES)]), WORDS) for v in range(VECTORS)]
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
    return new


def load(builder, pointer, kind):
    """LLVM: a vector of words or float32 that need not be aligned."""
    return builder.load(builder.bitcast(pointer, kind.as_pointer()), align=4)


def _emit_results(builder, totals, rows, results, dtype, numbers, limits):
    """LLVM: a tile of sums into lines of WIDTH, as they are (int32), as float32, or as codes (uint8).

    numbers(r, v): of a vector, what is taken from its sums, and the start, factor and addend of codes.factors.
    limits: (low, high, zero point).
    """
    for r in range(rows):
        for v in range(VECTORS):
            value, kind, align = totals[r * VECTORS + v], WORDS, 4
            if dtype != types.int32:
                correction, start, factor, add = numbers(r, v)
                low, high = (splat(builder, limit, LANES) for limit in limits[:2])
                value = builder.sitofp(builder.sub(value, correction), FLOATS)
                if dtype == types.float32:
                    value, kind = builder.fadd(builder.fmul(value, factor), add), FLOATS
                else:
                    value = builder.fmul(builder.fadd(value, start), factor)
                value = builder.select(builder.fcmp_ordered("<", value, low), low, value)
                value = builder.select(builder.fcmp_ordered(">", value, high), high, value)
            if dtype == types.uint8:
                value = builder.fptosi(call_llvm(builder, f"rint.v{LANES}f32", FLOATS, [value]), WORDS)
                kind, align = ir.VectorType(ir.IntType(8), LANES), 1
                value = builder.trunc(builder.add(value, splat(builder, limits[2], LANES)), kind)
            address = builder.gep(results, [I64(r * WIDTH + v * LANES)])
            builder.store(value, builder.bitcast(address, kind.as_pointer()), align=align)


class _Numbers:
    """LLVM: the numbers of channels, which two arrays hold line by line: whole ones, and factors."""

    def __init__(self, context, builder, signature, arguments):
        self.builder = builder
        self.lines = []
        for kind, value in zip(signature, arguments, strict=True):
            array = context.make_array(kind)(context, builder, value)
            length = builder.extract_value(array.shape, 1)
            for row in range(kind_rows(kind)):
                self.lines.append(builder.gep(array.data, [builder.mul(length, I64(row))]))

    def at(self, line, index):
        return self.builder.gep(self.lines[line], [index])


def kind_rows(kind):
    """Lines of whole numbers (corrections, zero points), and of factors (start, factor, add)."""
    return 2 if kind.dtype == types.int32 else 3


def _dot(instruction):
    return dot_by_instruction if instruction else dot_by_pairs


RESULTS = types.int32, types.float32, types.uint8


def _check_tile(results, codes, words, integers, factors):
    dtypes = codes.dtype, words.dtype, integers.dtype, factors.dtype
    if results.dtype not in RESULTS or dtypes[0] not in (types.uint8, types.uint32):
        raise TypingError("a tile expects codes of uint8 or words of uint32, and results of int32, float32 or uint8")
    if dtypes[1:] != (types.uint32, types.int32, types.float32):
        raise TypingError("a tile expects words of uint32 and numbers of int32 and float32")


@functools.cache
def rows_by_panel(rows, instruction):
    """The intrinsic tile(results, x, x_at, pitch, panel, panel_at, steps, integers, factors, channel, rests, row, low,
    high, zero) of a linear layer.

    results[r, c] = what becomes of the sum over `steps` of word s of row r of x, which begins at byte x_at + r pitch,
    times word c of line s of the panel, which begins at word panel_at. x: uint8; panel: uint32; both one-dimensional.
    integers, factors: (corrections, zero points) and (start, factor, add) of all channels, this panel's from `channel`
    on; rests: of all rows, this tile's from `row` on.
    """

    @intrinsic
    def tile(
        typingctx, results, x, x_at, pitch, panel, panel_at, steps, integers, factors, channel, rests, row, low, high,
        zero,
    ):  # fmt: skip
        _check_tile(results, x, panel, integers, factors)

        def emit(context, builder, signature, arguments):
            def data(k):
                return context.make_array(signature.args[k])(context, builder, arguments[k]).data

            codes, lines = builder.gep(data(1), [arguments[2]]), builder.gep(data(4), [arguments[5]])
            of_channels = _Numbers(context, builder, signature.args[7:9], arguments[7:9])
            of_rows = builder.gep(data(10), [arguments[11]])

            def row_word(p, r):
                offset = builder.add(builder.mul(arguments[3], I64(r)), builder.mul(p, I64(4)))
                return builder.bitcast(builder.gep(codes, [offset]), I32.as_pointer())

            def lane_words(p):
                return builder.gep(lines, [builder.mul(p, I64(WIDTH))])

            def numbers(r, v):
                index = builder.add(arguments[9], I64(v * LANES))
                correction, zeros = (load(builder, of_channels.at(k, index), WORDS) for k in (0, 1))
                rest = splat(builder, builder.load(builder.gep(of_rows, [I64(r)])), LANES)
                floats = (load(builder, of_channels.at(k, index), FLOATS) for k in (2, 3, 4))
                return builder.add(correction, builder.mul(zeros, rest)), *floats

            totals = _emit_tile(builder, rows, _dot(instruction), arguments[6], lane_words, row_word, True)
            _emit_results(builder, totals, rows, data(0), signature.args[0].dtype, numbers, arguments[12:15])
            return context.get_dummy_value()

        i64, f32 = types.int64, types.float32
        args = results, x, i64, i64, panel, i64, i64, integers, factors, i64, rests, i64, f32, f32, types.int32
        return types.none(*args), emit

    return tile


@functools.cache
def channels_by_pixels(rows, instruction):
    """The intrinsic tile(results, line, line_at, places, weights, weights_at, integers, factors, channel, low, high,
    zero) of a convolution.

    results[r, c] = what becomes of the sum over steps s of word line_at + places[s] + c of the line times word
    weights_at + s rows + r of the weights. line, weights: uint32, places: int64; all one-dimensional. integers,
    factors: as above, those of the tile's channels from `channel` on.
    """

    @intrinsic
    def tile(
        typingctx, results, line, line_at, places, weights, weights_at, integers, factors, channel, low, high, zero
    ):
        _check_tile(results, line, weights, integers, factors)

        def emit(context, builder, signature, arguments):
            def data(k):
                return context.make_array(signature.args[k])(context, builder, arguments[k]).data

            pixels, words = builder.gep(data(1), [arguments[2]]), builder.gep(data(4), [arguments[5]])
            offsets = context.make_array(signature.args[3])(context, builder, arguments[3])
            steps = builder.extract_value(offsets.shape, 0)
            of_channels = _Numbers(context, builder, signature.args[6:8], arguments[6:8])

            def row_word(p, r):
                return builder.gep(words, [builder.add(builder.mul(p, I64(rows)), I64(r))])

            def lane_words(p):
                return builder.gep(pixels, [builder.load(builder.gep(offsets.data, [p]))])

            def numbers(r, v):
                index = builder.add(arguments[8], I64(r))
                return [splat(builder, builder.load(of_channels.at(k, index)), LANES) for k in (0, 2, 3, 4)]

            totals = _emit_tile(builder, rows, _dot(instruction), steps, lane_words, row_word, False)
            _emit_results(builder, totals, rows, data(0), signature.args[0].dtype, numbers, arguments[9:12])
            return context.get_dummy_value()

        i64, f32 = types.int64, types.float32
        args = results, line, i64, places, weights, i64, integers, factors, i64, f32, f32, types.int32
        return types.none(*args), emit

    return tile


@intrinsic
def copy_elements(typingctx, target, target_start, source, source_start, count):
    """target[target_start:] = `count` elements of source[source_start:], lines of one dtype that do not overlap."""
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
