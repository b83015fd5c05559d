"""The matrix product in blocks that fit the caches, around a tile that fits the registers.

After Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication (ACM TOMS 34, 2008)::

    for 1024 columns of b at a time                           WIDTH
        for 512 or 256 of its rows (columns of a) at a time   DEPTH
            for 128 or 256 rows of a at a time                HEIGHT
                pack them                                     they fit the L2 cache, with one panel of b
                for each panel of b, three vectors wide
                    for each 8 or 4 rows of a                 ROWS
                        a tile of the result, in registers, over the whole depth;
                        the first tile of all packs the panel on its way: the whole block then fits the L3 cache

The result is read and written once for each DEPTH. The tile takes the vector registers but for three vectors of b and
one number of a: 8 x 3 of 32 registers, 4 x 3 of 16. (Beside 14 x 2 and 6 x 2 they load fewer numbers for each
multiply-add and write fewer rows, on fewer pages, at a time; and 8 and 4 divide most numbers of rows.) Last rows have a
tile of 4, last columns tiles of one vector or two, or vectors along k where they are few. Small matrices stand in the
cache as they are, and nothing is packed; nor is a left matrix that meets only a few columns. One that meets many
matrices in turn is packed once (`multiply_beside`).
"""

import functools
from collections import namedtuple

from numba import njit

from ..simd import broadcast, fma, lanes, load, prefetch, reduce_add, vector_registers, vector_width
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..simd.line import memory, memory_at
from ..simd.pack import pack
from ..simd.tile import tile_load, tile_multiply_add, tile_store, tile_store_part, tile_zeros
from ..team import share

REGISTERS = vector_registers()
VECTORS = 3
ROWS, LOW_ROWS = (8, 4) if REGISTERS == 32 else (4, 4)  # low: of a last tile, so that few rows are computed in vain
NARROW_ROWS = 14  # of a tile that is one vector wide
FEW_NARROW_ROWS = 7
LONG = 64  # terms of a sum from which on vectors along it are worth adding up their lanes
SMALL_ROWS = 8 if REGISTERS == 32 else 6  # 8 divides most sizes, and 16 sums suffice to hide the latency
# With vectors of AVX2 a panel of b stays in the L1 cache. For those of AVX-512 that would be 128 deep: deeper is
# faster, from the L2 cache.
DEPTH, HEIGHT = (512, 128) if REGISTERS == 32 else (256, 256)
WIDTH = 1024
SPARE = 32  # by how much a block may be deeper or wider, so that none is left that is hardly begun
PITCH = DEPTH + SPARE + 16  # elements from one packed row of a to the next: rows must not share a set of the cache
# Elements of packed a: whole tiles of every height, and a row more.
PACKED_A = -(-(HEIGHT + 1) // NARROW_ROWS) * NARROW_ROWS * PITCH
SMALL = 128**3  # multiply-adds; below, packing costs more than it gains
SKINNY = (
    4 if REGISTERS == 16 else 2
)  # vectors in a row of b; with no more, rows of a are read too few times to be packed
SKINNY_B = 1 << 16  # elements of such a b: for the L2 cache
FAR = 256  # elements from row to row: with more, each of its lines would be on a page of its own

inlined = njit(inline="always")  # not compiled by itself: each level of calls would be compiled again

#: A matrix in a line of memory: element (i, j) is data[at + i * row + j * column].
Matrix = namedtuple("Matrix", "data at row column")


@inner_njit()
def part(x, i, j):
    """The matrix that begins at element (i, j) of x."""
    return Matrix(x.data, x.at + i * x.row + j * x.column, x.row, x.column)


# ---- large: packed ---------------------------------------------------------------------------------------


@inlined
def put(c, start, acc, tall, vectors, rows, columns, fresh):
    """c = acc, or c += acc unless `fresh`, for a tile of `tall` rows and so many vectors: as many rows and columns of
    it."""
    if rows < tall or columns < vectors * lanes(c.data):
        tile_store_part(c.data, start, c.row, acc, rows, columns, not fresh)
    elif fresh:
        tile_store(c.data, start, c.row, acc)
    else:
        tile_store(c.data, start, c.row, tile_load(c.data, start, c.row, tall, vectors) + acc)


@inner_njit()
def ask_for(c, start, rows, width):
    """The result is needed after the loop: ask for it now."""
    for r in range(rows):
        for v in range(0, width, lanes(c.data)):
            prefetch(c.data, start + r * c.row + v)
        prefetch(c.data, start + r * c.row + width - 1)


@inner_njit()
def in_tall_tiles(rows):
    """How many rows of a block, one tile at least, are computed in tiles of ROWS; the rest fits one of LOW_ROWS."""
    rest = rows % ROWS
    return rows - rest if 0 < rest <= LOW_ROWS < rows else rows + -rows % ROWS


@inner_njit()
def panel_width(columns, size):
    """Elements of a row of a packed panel: so many whole vectors."""
    return -(-columns // size) * size


@inner_njit()
def multiply_narrow(work, a, panel, c, col, rows, columns, depth, fresh):
    """The last columns of a block, no more than one vector."""
    width = lanes(work)
    for top in range(0, rows, NARROW_ROWS):
        c_at, tile_rows = c.at + top * c.row + col, min(rows - top, NARROW_ROWS)
        lines, strides = a + top * PITCH, (PITCH, 1)
        ask_for(c, c_at, tile_rows, columns)
        if tile_rows <= FEW_NARROW_ROWS:
            few = tile_zeros(work, FEW_NARROW_ROWS, 1)
            few = tile_multiply_add(few, depth, work, lines, strides, work, panel, width)
            put(c, c_at, few, FEW_NARROW_ROWS, 1, tile_rows, columns, fresh)
        else:
            all_rows = tile_zeros(work, NARROW_ROWS, 1)
            all_rows = tile_multiply_add(all_rows, depth, work, lines, strides, work, panel, width)
            put(c, c_at, all_rows, NARROW_ROWS, 1, tile_rows, columns, fresh)


@inner_njit()
def sum_along(work, line, column, vector_end, depth, total):
    """The sum of one row's products: the lanes of `total`, and the last ones, which fill no vector."""
    result = reduce_add(total)
    for k in range(vector_end, depth):
        result += work[column + k] * work[line + k]
    return result


@inlined
def dot_rows(work, line, column, depth):
    """Four rows of packed a, from element `line` on, times one column of b: four sums."""
    size = lanes(work)
    vector_end, none = depth - depth % size, broadcast(work.dtype.type(0))
    s, t, u, v = none, none, none, none
    for k in range(0, vector_end, size):
        x, row_at = load(work, column + k), line + k
        s = fma(x, load(work, row_at), s)
        t = fma(x, load(work, row_at + PITCH), t)
        u = fma(x, load(work, row_at + 2 * PITCH), u)
        v = fma(x, load(work, row_at + 3 * PITCH), v)
    return (
        sum_along(work, line, column, vector_end, depth, s),
        sum_along(work, line + PITCH, column, vector_end, depth, t),
        sum_along(work, line + 2 * PITCH, column, vector_end, depth, u),
        sum_along(work, line + 3 * PITCH, column, vector_end, depth, v),
    )


@inner_njit()
def multiply_few(work, a, panel, c, col, rows, columns, depth, fresh):
    """The last columns of a block, few of them: vectors along the rows of a, which are contiguous as packed, not across
    the columns.

    A column is copied to the last row of packed a, where none of its own is.
    """
    column = a + PACKED_A - PITCH
    for j in range(columns):
        for k in range(depth):
            work[column + k] = work[panel + k * lanes(work) + j]
        for top in range(0, rows, 4):
            sums, c_at = dot_rows(work, a + top * PITCH, column, depth), c.at + top * c.row + col + j
            for r in range(min(4, rows - top)):
                element = c_at + r * c.row
                c.data[element] = sums[r] if fresh else c.data[element] + sums[r]


@inner_njit()
def multiply_two(work, a, panel, c, col, rows, columns, depth, fresh):
    """The last columns of a block, no more than two vectors of the three of a panel."""
    width = 2 * lanes(work)
    for top in range(0, rows, ROWS):
        c_at, tile_rows = c.at + top * c.row + col, min(rows - top, ROWS)
        ask_for(c, c_at, tile_rows, columns)
        acc = tile_zeros(work, ROWS, 2)
        acc = tile_multiply_add(acc, depth, work, a + top * PITCH, (PITCH, 1), work, panel, width)
        put(c, c_at, acc, ROWS, 2, tile_rows, columns, fresh)


@inner_njit()
def multiply_packed(work, a, packed, pitch, b, c, rows, columns, depth, fresh, packs):
    """c = a b, or c += a b unless `fresh`, for blocks of a and b packed in `work` from elements `a` and `packed` on.

    The block of b is packed here if it is not: `packs`. A column of it begins `pitch` elements after the one before: 0
    where the panels are needed only once, and each may take the place of the last in the cache. What is contiguous in
    it is packed while the first tile is computed, which has to load it anyway; otherwise, panel by panel, with zeros
    beyond the last column.
    """
    size, tall, strides = lanes(work), in_tall_tiles(rows), (PITCH, 1)
    width = VECTORS * size
    for col in range(0, columns, width):
        panel_cols = min(width, columns - col)
        panel, source, step = packed + col * pitch, b.at + col * b.column, panel_width(panel_cols, size)
        direct = packs and panel_cols == width and b.column == 1
        if packs and not direct:
            if panel_cols < step:
                work[panel : panel + depth * step] = 0
            pack(b.data, source, b.row, b.column, depth, panel_cols, work, panel, step)
        if 4 * panel_cols <= size and depth >= LONG:
            multiply_few(work, a, panel, c, col, rows, panel_cols, depth, fresh)
            return
        if step == size:
            multiply_narrow(work, a, panel, c, col, rows, panel_cols, depth, fresh)
            return
        if step < width:
            multiply_two(work, a, panel, c, col, rows, panel_cols, depth, fresh)
            return
        for top in range(0, tall, ROWS):
            c_at, lines, tile_rows = c.at + top * c.row + col, a + top * PITCH, min(rows - top, ROWS)
            ask_for(c, c_at, tile_rows, width)
            acc = tile_zeros(work, ROWS, VECTORS)
            if direct and top == 0:
                kept = (work, panel, width)
                acc = tile_multiply_add(acc, depth, work, lines, strides, b.data, source, b.row, None, kept)
            else:
                acc = tile_multiply_add(acc, depth, work, lines, strides, work, panel, width)
            put(c, c_at, acc, ROWS, VECTORS, tile_rows, panel_cols, fresh)
        if tall < rows:
            c_at, lines, tile_rows = c.at + tall * c.row + col, a + tall * PITCH, rows - tall
            ask_for(c, c_at, tile_rows, width)
            low = tile_zeros(work, LOW_ROWS, VECTORS)
            low = tile_multiply_add(low, depth, work, lines, strides, work, panel, width)
            put(c, c_at, low, LOW_ROWS, VECTORS, tile_rows, panel_cols, fresh)


@inner_njit()
def block_length(length, usual, spare, multiple):
    """How long equal blocks are: as few as there can be, none longer than `usual` by more than `spare`."""
    count = max(1, -((spare - length) // usual))
    return -(-length // (count * multiple)) * multiple


@inner_njit()
def multiply_large(a, b, c, m, n, k, work, packed_a, packed_b):
    """c = a b, packed."""
    pitch = DEPTH + SPARE if m > HEIGHT else 0
    wide = block_length(n, WIDTH, SPARE, VECTORS * lanes(work))
    deep = block_length(k, DEPTH, SPARE, 1)
    for left in range(0, n, wide):
        columns = min(wide, n - left)
        for front in range(0, k, deep):
            depth = min(deep, k - front)
            source = part(b, front, left)
            for top in range(0, m, HEIGHT):
                rows = min(HEIGHT, m - top)
                block = part(a, top, front)
                pack(block.data, block.at, block.row, block.column, rows, depth, work, packed_a, PITCH)
                target = part(c, top, left)
                fresh, packs = front == 0, top == 0
                multiply_packed(work, packed_a, packed_b, pitch, source, target, rows, columns, depth, fresh, packs)


@inlined
def multiply_beside(a, b, c, matrices, m, n, k, work, packed_a, packed_b):
    """c = a b for matrices that have the left one in common: it is packed once for all that fit WIDTH side by side.

    b and c: the first of `matrices`, and the elements from each to the next. n: no more than WIDTH. No two of them have
    a panel in common.
    """
    (b, next_b), (c, next_c), pitch = b, c, DEPTH + SPARE if m > HEIGHT else 0
    each = -(-n // lanes(work)) * lanes(work)
    deep, some = block_length(k, DEPTH, SPARE, 1), WIDTH // each
    for begin in range(0, matrices, some):
        end = min(begin + some, matrices)
        for front in range(0, k, deep):
            depth = min(deep, k - front)
            for top in range(0, m, HEIGHT):
                rows = min(HEIGHT, m - top)
                block = part(a, top, front)
                pack(block.data, block.at, block.row, block.column, rows, depth, work, packed_a, PITCH)
                for number in range(begin, end):
                    source, target = part(b, front, 0), part(c, top, 0)
                    source = Matrix(source.data, source.at + number * next_b, source.row, source.column)
                    target = Matrix(target.data, target.at + number * next_c, target.row, target.column)
                    panels = packed_b + (number - begin) * each * pitch
                    multiply_packed(work, packed_a, panels, pitch, source, target, rows, n, depth, front == 0, top == 0)


# ---- small: in place -------------------------------------------------------------------------------------


@inner_njit()
def multiply_columns(a, b, b_at, b_step, c, m, k, vectors_are_two):
    """All rows of c, for the columns of one panel of b; m >= SMALL_ROWS.

    The last tile is moved up so that it ends with the last row: some rows are computed twice, none is guarded.
    """
    for row in range(0, m, SMALL_ROWS):
        top = min(row, m - SMALL_ROWS)
        a_at, c_at = a.at + top * a.row, c.at + top * c.row
        if vectors_are_two:
            acc = tile_zeros(c.data, SMALL_ROWS, 2)
            acc = tile_multiply_add(acc, k, a.data, a_at, (a.row, a.column), b, b_at, b_step)
            tile_store(c.data, c_at, c.row, acc)
        else:
            one = tile_zeros(c.data, SMALL_ROWS, 1)
            one = tile_multiply_add(one, k, a.data, a_at, (a.row, a.column), b, b_at, b_step)
            tile_store(c.data, c_at, c.row, one)


@inner_njit()
def multiply_small(a, b, c, m, n, k):
    """c = a b without packing, for b with rows that are contiguous, m >= SMALL_ROWS and n >= one vector."""
    size = lanes(c.data)
    left = 0
    while left < n:
        two = n - left > size and n >= 2 * size
        start = min(left, n - (2 * size if two else size))  # the last panel, too, is moved back
        panel = part(c, 0, start)
        multiply_columns(a, b.data, b.at + start, b.row, panel, m, k, two)
        left += 2 * size if two else size


@inner_njit()
def multiply(a, b, c, m, n, k, work, packed_a, packed_b):
    """c = a b by one thread, whatever the sizes."""
    small = m * n * k <= SMALL
    skinny = n <= SKINNY * lanes(work) and n * k <= SKINNY_B and a.column == 1
    if (small or skinny) and m >= SMALL_ROWS and n >= lanes(work):
        if b.column == 1 and (small or b.row <= FAR):
            multiply_small(a, b, c, m, n, k)
        else:  # it fits (`room`): no more than SMALL / SMALL_ROWS elements, or SKINNY_B
            pack(b.data, b.at, b.row, b.column, k, n, work, packed_b, n)
            multiply_small(a, Matrix(work, packed_b, n, 1), c, m, n, k)
    else:
        multiply_large(a, b, c, m, n, k, work, packed_a, packed_b)


# ---- what is called from Python --------------------------------------------------------------------------


@cached_njit()
def matmul_small(a, b, c):
    """c = a b for C-contiguous matrices that are not packed, with m >= SMALL_ROWS and n >= one vector."""
    (m, k), n = a.shape, b.shape[1]
    x, y, z = Matrix(memory(a), 0, k, 1), Matrix(memory(b), 0, n, 1), Matrix(memory(c), 0, n, 1)
    multiply_small(x, y, z, m, n, k)


@inlined
def matrix_of(x, turned):
    """What a C-contiguous array holds, or its transpose."""
    row, column = (1, x.shape[1]) if turned else (x.shape[1], 1)
    return Matrix(memory(x), 0, row, column)


@inlined
def matrices(a, b, c, turned):
    """The three matrices of a product, and the number of terms."""
    k = a.shape[0] if turned[0] else a.shape[1]
    return matrix_of(a, turned[0]), matrix_of(b, turned[1]), matrix_of(c, False), k


# Arrays of other layouts come as (address, strides in elements): numba would compile for each mixture of layouts.


def place(x):
    """A stack of matrices as numbers: address, elements to the next matrix, row and column."""
    return (x.ctypes.data, *(stride // x.itemsize for stride in x.strides))


@inner_njit()
def matrix_at(x, number, work):
    """Matrix `number` of a stack given by `place`."""
    address, matrix, row, column = x
    return Matrix(memory_at(address, work), number * matrix, row, column)


@inner_njit()
def cut(part, parts, n, width):
    """Where a part of n columns begins: between two panels, if parts are several panels wide. The last panel of each
    may be less."""
    start = part * n // parts
    return (start + width // 2) // width * width if 0 < part < parts and n >= 4 * width * parts else start


@inner_njit()
def multiply_part(task, a, b, c, sizes, parts, work, work_start):
    """One of the parts of a product: a range of rows and a range of columns."""
    (m, n, k), (down, across) = sizes, parts
    i, j = task // across, task % across
    top, left = i * m // down, cut(j, across, n, VECTORS * lanes(work))
    rows, columns = (i + 1) * m // down - top, cut(j + 1, across, n, VECTORS * lanes(work)) - left
    if rows > 0 and columns > 0:  # there may be more parts than rows or columns
        x, y, z = part(a, top, 0), part(b, 0, left), part(c, top, left)
        multiply(x, y, z, rows, columns, k, memory(work), work_start, work_start + PACKED_A)


@inner_njit()
def multiply_part_of_stack(task, a, b, c, sizes, parts, work, work_start):
    """One of the parts of one of the products."""
    number = task // (parts[0] * parts[1])
    x, y, z = matrix_at(a, number, work), matrix_at(b, number, work), matrix_at(c, number, work)
    multiply_part(task % (parts[0] * parts[1]), x, y, z, sizes[1:], parts, work, work_start)


@cached_njit()
def matmul_strided(a, b, c, sizes, work):
    """c = a b for stacks of matrices given by `place`, with sizes = (stack, m, n, k), by one thread."""
    for number in range(sizes[0]):
        multiply_part_of_stack(number, a, b, c, sizes, (1, 1), work, 0)


@inner_njit()
def _task_of_product(arguments, task, who):
    a, b, c, turned, parts, work, each = arguments
    (m, n), (x, y, z, k) = c.shape, matrices(a, b, c, turned)
    multiply_part(task, x, y, z, (m, n, k), parts, work, each * who)


@cached_njit()
def matmul_threads(a, b, c, turned, parts, work, each, threads, least, team):
    """c = a b for C-contiguous matrices, none of them empty: the product is cut into parts = (down, across) parts.

    turned: two bools; where True, the operand is the transpose of what is given. ``work``: memory for packed blocks.
    ``each``: elements of ``work`` for one thread. Every part packs what it needs by itself: some rows of b are packed
    several times, and in return no thread ever waits for another.
    """
    share(_task_of_product, (a, b, c, turned, parts, work, each), parts[0] * parts[1], threads, least, team)


@inner_njit()
def _task_of_stack(arguments, task, who):
    a, b, c, sizes, parts, work, each = arguments
    multiply_part_of_stack(task, a, b, c, sizes, parts, work, each * who)


@cached_njit()
def matmul_strided_threads(a, b, c, sizes, parts, work, each, threads, least, team):
    """As `matmul_strided`, by several threads, which share the parts of all products as in `matmul_threads`."""
    share(_task_of_stack, (a, b, c, sizes, parts, work, each), sizes[0] * parts[0] * parts[1], threads, least, team)


@inner_njit()
def _task_of_beside(arguments, task, who):
    a, b, c, sizes, parts, work, each = arguments
    (matrices, m, n, k), (down, across) = sizes, parts
    i, j = task // across, task % across
    top, first = i * m // down, j * matrices // across
    rows, some = (i + 1) * m // down - top, (j + 1) * matrices // across - first
    if rows > 0 and some > 0:
        x, y, z = matrix_at(a, 0, work), matrix_at(b, first, work), matrix_at(c, first, work)
        x, z = part(x, top, 0), part(z, top, 0)
        multiply_beside(x, (y, b[1]), (z, c[1]), some, rows, n, k, memory(work), each * who, each * who + PACKED_A)


@cached_njit()
def matmul_beside(a, b, c, sizes, parts, work, each, threads, least, team):
    """As `matmul_strided_threads`, for a stack whose left matrices are all the same one: see `multiply_beside`.

    parts: (down, across), into how many parts rows and matrices are cut.
    """
    share(_task_of_beside, (a, b, c, sizes, parts, work, each), parts[0] * parts[1], threads, least, team)


@functools.cache
def room(dtype):
    """Elements of workspace that one thread needs at most: packed a, and a block of b, or all of a b that is packed as
    it is."""
    block = (DEPTH + SPARE) * (WIDTH + SPARE + VECTORS * vector_width(dtype))
    return PACKED_A + max(block, SMALL // SMALL_ROWS, SKINNY_B)


@functools.lru_cache(1024)
def best_parts(m, n, threads):
    """(down, across): into how many rows and columns of parts a result is cut so that the least is packed twice."""
    ways = [(down, threads // down) for down in range(1, threads + 1) if threads % down == 0]
    return min(ways, key=lambda way: -(-m // way[0]) + -(-n // way[1]))
