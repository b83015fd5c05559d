"""Packing: copy a block of a matrix to where a kernel reads it best, turning it over on the way if need be.

A block of a large matrix lies scattered: its rows are far apart, on many pages and, where the distance is a power of
two, all in the same few sets of the cache. Kernels therefore copy a block once and read the copy many times.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .inner import inner_njit
from .line import element
from .memory import lanes, load, store
from .target import vector_width
from .tile import TileType, as_index, check_array, check_writable, first_element, load_vector, offset_of, store_vector
from .vector import ELEMENTS


@intrinsic
def transpose_block(typingctx, source, source_start, row, target, target_start, target_row):
    """Copy a square block of ``lanes`` x ``lanes`` elements, rows to columns, in registers.

    Round after round, vectors that lie half the block apart are shuffled into each other like two halves of a pack
    of cards. After log2(lanes) perfect shuffles every element is in its place.
    """
    check_array("transpose_block", source)
    check_array("transpose_block", target, source.dtype)
    check_writable("transpose_block", target)
    size = vector_width(ELEMENTS[source.dtype])
    tile = TileType(source.dtype, size, 1, size)

    def emit(context, builder, signature, arguments):
        def start(array, value, index_type, index):
            return builder.gep(
                first_element(context, builder, array, value), [as_index(context, builder, index_type, index)]
            )

        read = start(source, arguments[0], source_start, arguments[1])
        write = start(target, arguments[3], target_start, arguments[4])
        stride = as_index(context, builder, row, arguments[2])
        rows = [load_vector(builder, tile, read, offset_of(builder, tile, stride, r, 0)) for r in range(size)]
        half = size // 2
        low = [lane // 2 + size * (lane % 2) for lane in range(size)]  # first halves of both, by turns
        high = [lane + half for lane in low]
        for _ in range(size.bit_length() - 1):
            pairs = [(rows[r], rows[r + half]) for r in range(half)]
            rows = [_shuffle(builder, a, b, order) for a, b in pairs for order in (low, high)]
        stride = as_index(context, builder, target_row, arguments[5])
        for r, vector in enumerate(rows):
            store_vector(builder, tile, write, offset_of(builder, tile, stride, r, 0), vector)
        return context.get_dummy_value()

    return types.none(source, source_start, row, target, target_start, target_row), emit


def _shuffle(builder, a, b, order):
    """The vector whose lane l is element order[l] of the two vectors, one after the other."""
    mask = ir.Constant(ir.VectorType(ir.IntType(32), len(order)), order)
    return builder.shuffle_vector(a, b, mask)


@inner_njit()
def pack(source, source_start, row, column, height, width, target, target_start, target_row):
    """target[target_start + i * target_row + j] = source[source_start + i * row + j * column] for i < height,
    j < width.

    ``source`` and ``target`` are lines of memory (`memory`); all other arguments count elements.
    """
    size = lanes(target)
    if column == 1:
        for i in range(height):
            read, write = source_start + i * row, target_start + i * target_row
            n_full = width - width % size
            for j in range(0, n_full, size):
                store(target, write + j, load(source, read + j))
            for j in range(n_full, width):
                target[write + j] = element(source, read + j)
        return
    done, across = 0, 0
    if row == 1:  # neighbours in memory stand below each other: turn square blocks over
        done, across = height - height % size, width - width % size
        for j in range(0, across, size):
            for i in range(0, done, size):
                transpose_block(
                    source, source_start + i + j * column, column, target, target_start + i * target_row + j, target_row
                )
    for i in range(height):
        for j in range(across if i < done else 0, width):
            target[target_start + i * target_row + j] = element(source, source_start + i * row + j * column)
