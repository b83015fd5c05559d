"""Windows of 2 x 2 pixels side by side, some of a row at a time: two vectors of pixels are sorted into left and right
ones, and all is done lane by lane. Left to the compiler, what fills no vector becomes branches on pixels, half of which
are guessed wrong. Here last windows are done twice instead.

The largest is, as in all of pooling, the first of several that are equal; the last NaN if there is one.
"""

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from ..simd.inner import inner_njit
from ..simd.memory import address_of

LEAST = 2  # windows of a row


def _pixels(context, builder, array, value, start, count):
    """LLVM: `count` elements of a line of memory, from element `start` on: a pointer to a vector of them."""
    element = context.get_value_type(array.dtype)
    address = builder.gep(address_of(context, builder, array, value), [start])
    return builder.bitcast(address, ir.VectorType(element, count).as_pointer())


def _shuffle(builder, one, other, order):
    return builder.shuffle_vector(one, other, ir.Constant(ir.VectorType(ir.IntType(32), len(order)), order))


def _windows(context, builder, array, line, start, wide, count):
    """LLVM: of `count` windows, their largest pixels, and where a later one takes the place of those before."""
    size = array.dtype.bitwidth // 8
    pixels = []
    for row in (start, builder.add(start, wide)):
        both = builder.load(_pixels(context, builder, array, line, row, 2 * count), align=size)
        pixels += [_shuffle(builder, both, both, [2 * z + side for z in range(count)]) for side in (0, 1)]
    best, taken = pixels[0], []
    for pixel in pixels[1:]:
        take = builder.or_(builder.fcmp_ordered(">", pixel, best), builder.fcmp_unordered("uno", pixel, pixel))
        best = builder.select(take, pixel, best)
        taken.append(take)
    return best, taken


def _check(name, source, target, count):
    if not isinstance(count, types.IntegerLiteral) or source.dtype != target.dtype:
        raise TypingError(f"{name} expects arrays of one dtype and a constant count, not {source}, {target}, {count}")
    return count.literal_value


@intrinsic(prefer_literal=True)
def largest_of_pairs(typingctx, line, start, wide, target, to, count):
    """target[to:] = the largest pixels of `count` windows, a constant, of the rows at elements `start` and
    `start + wide`."""
    some = _check("largest_of_pairs", line, target, count)

    def emit(context, builder, signature, arguments):
        best, _ = _windows(context, builder, line, *arguments[:3], some)
        place = _pixels(context, builder, target, *arguments[3:5], some)
        builder.store(best, place, align=target.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.none(line, types.intp, types.intp, target, types.intp, count), emit


@intrinsic(prefer_literal=True)
def back_to_pairs(typingctx, line, start, wide, arrived, of, target, count):
    """What arrives at `count` windows, arrived[of:], goes to their largest pixels, in the rows of target at elements
    `start` and `start + wide`; the others get 0. Nothing is added to what stood there."""
    some = _check("back_to_pairs", line, target, count)

    def emit(context, builder, signature, arguments):
        source, start, wide, grads, of_, result = arguments[:6]
        size = target.dtype.bitwidth // 8
        _, taken = _windows(context, builder, line, source, start, wide, some)
        part = builder.load(_pixels(context, builder, arrived, grads, of_, some), align=size)
        none = ir.Constant(part.type, None)
        part, parts = builder.fadd(part, none), []  # as where sums begin at 0: -0 is 0
        for take in reversed(taken):
            parts.append(builder.select(take, part, none))
            part = builder.select(take, none, part)
        parts.append(part)
        turns = [window + side * some for window in range(some) for side in (0, 1)]
        for row, left, right in ((start, 3, 2), (builder.add(start, wide), 1, 0)):
            both = _shuffle(builder, parts[left], parts[right], turns)
            builder.store(both, _pixels(context, builder, target, result, row, 2 * some), align=size)
        return context.get_dummy_value()

    return types.none(line, types.intp, types.intp, arrived, types.intp, target, count), emit


@inner_njit()
def largest_of_plane(line, start, wide, target, to, rows, count):
    """target[to:] = the largest pixels of `rows` times `count` windows, the first of which begins at element `start`.

    count: LEAST or more. The choice is outside of the loop over rows, so that nothing but windows is inside.
    """
    if count >= 8:
        for _ in range(rows):
            for z in range(0, count, 8):
                z = min(z, count - 8)
                largest_of_pairs(line, start + 2 * z, wide, target, to + z, 8)
            start, to = start + 2 * wide, to + count
    elif count >= 4:
        for _ in range(rows):
            for z in range(0, count, 4):
                z = min(z, count - 4)
                largest_of_pairs(line, start + 2 * z, wide, target, to + z, 4)
            start, to = start + 2 * wide, to + count
    else:
        for _ in range(rows):
            for z in range(0, count, 2):
                z = min(z, count - 2)
                largest_of_pairs(line, start + 2 * z, wide, target, to + z, 2)
            start, to = start + 2 * wide, to + count


@inner_njit()
def back_to_plane(line, start, wide, arrived, of, target, rows, count):
    """What arrives at the windows of `largest_of_plane` goes to their largest pixels in target; the others get 0."""
    if count >= 8:
        for _ in range(rows):
            for z in range(0, count, 8):
                z = min(z, count - 8)
                back_to_pairs(line, start + 2 * z, wide, arrived, of + z, target, 8)
            start, of = start + 2 * wide, of + count
    elif count >= 4:
        for _ in range(rows):
            for z in range(0, count, 4):
                z = min(z, count - 4)
                back_to_pairs(line, start + 2 * z, wide, arrived, of + z, target, 4)
            start, of = start + 2 * wide, of + count
    else:
        for _ in range(rows):
            for z in range(0, count, 2):
                z = min(z, count - 2)
                back_to_pairs(line, start + 2 * z, wide, arrived, of + z, target, 2)
            start, of = start + 2 * wide, of + count
