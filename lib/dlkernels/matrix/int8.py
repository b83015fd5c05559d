"""The product of 8-bit integers with 32-bit sums: the arithmetic of quantised layers.

A vector of 512 bits holds 16 float32, but 32 16-bit integers, and one instruction (x86: vpmaddwd, with VNNI vpdpwssd)
multiplies them pairwise and adds neighbours: 32 multiply-adds where float32 has 16. So the inner dimension goes in
pairs: packing widens the numbers to 16 bits and puts those of step k and k + 1 side by side,

    b, one panel:  b[0, 0] b[1, 0]  b[0, 1] b[1, 1]  b[0, 2] b[1, 2] ...     then rows 2 and 3, ...
    a, one row:    a[0, 0] a[0, 1]  a[0, 2] a[0, 3] ...                      one pair goes into every lane

Sums are exact as long as k is less than 2^31 / 2^14 = 131,072.

matmul_int8_pairs   here: for vector units of any kind
matmul_int8_dot4    in int8_dot.py: four 8-bit numbers to a lane, where the machine has an instruction for that
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from .. import team
from ..implementations import implementation
from ..simd import vector_width
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..team import share
from .batch import batched
from .blocks import REGISTERS
from .choose import least_time, threads_for

LANES = vector_width(np.float32)  # 32-bit sums in a vector
VECTORS = 2
ROWS = 12 if REGISTERS == 32 else 4  # sums, two vectors of b, one pair of a, one product
WIDTH = VECTORS * LANES
DEPTH = 512  # steps, that is 256 pairs: a panel of b takes 32 KiB with AVX-512
LONGEST = 131_072
I16, I32, I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)


@intrinsic
def pair_tile(typingctx, sums, a, a_at, a_row, b, b_at, pairs):
    """sums += a tile of ROWS x VECTORS vectors: for each pair of steps, multiply 16-bit numbers and add neighbours."""
    if (sums.dtype, a.dtype, b.dtype) != (types.int32, types.int16, types.int16):
        raise TypingError("pair_tile expects int32 sums and int16 operands")
    integers, vector = ir.VectorType(I16, 2 * LANES), ir.VectorType(I32, LANES)
    wide = ir.VectorType(I32, 2 * LANES)

    def emit(context, builder, signature, arguments):
        def start(array, value, offset=None):
            data = context.make_array(array)(context, builder, value).data
            return data if offset is None else builder.gep(data, [offset])

        def load(data, offset, kind):
            return builder.load(builder.bitcast(builder.gep(data, [offset]), kind.as_pointer()), align=2)

        def picked(products, first):
            order = ir.Constant(vector, list(range(first, 2 * LANES, 2)))
            return builder.shuffle_vector(products, ir.Constant(wide, ir.Undefined), order)

        total, (row, count) = start(sums, arguments[0]), (arguments[3], arguments[6])
        a_data, b_data = start(a, arguments[1], arguments[2]), start(b, arguments[4], arguments[5])
        places = [(r, v) for r in range(ROWS) for v in range(VECTORS)]
        addresses = [
            builder.bitcast(builder.gep(total, [I64(r * WIDTH + v * LANES)]), vector.as_pointer()) for r, v in places
        ]
        initial = [builder.load(address, align=4) for address in addresses]
        before, loop = builder.block, builder.append_basic_block("pairs")
        after = builder.append_basic_block("after")
        builder.branch(loop)
        builder.position_at_end(loop)
        p = builder.phi(I64)
        now = [builder.phi(vector) for _ in places]
        b_vectors = [
            builder.sext(load(b_data, builder.add(builder.mul(p, I64(2 * WIDTH)), I64(2 * v * LANES)), integers), wide)
            for v in range(VECTORS)
        ]
        new = list(now)
        for k, (r, v) in enumerate(places):
            offset = builder.add(builder.mul(row, I64(r)), builder.mul(p, I64(2)))
            pair = builder.insert_element(ir.Constant(vector, ir.Undefined), load(a_data, offset, I32), I32(0))
            pairs_ = builder.shuffle_vector(pair, ir.Constant(vector, ir.Undefined), ir.Constant(vector, None))
            products = builder.mul(builder.sext(builder.bitcast(pairs_, integers), wide), b_vectors[v])
            # LLVM knows this pattern, products of widened numbers whose neighbours are added, as one instruction.
            new[k] = builder.add(new[k], builder.add(picked(products, 0), picked(products, 1)))
        again = builder.add(p, I64(1))
        builder.cbranch(builder.icmp_signed("<", again, count), loop, after)
        for phi, entry, end in ((p, I64(0), again), *zip(now, initial, new, strict=True)):
            phi.add_incoming(entry, before)
            phi.add_incoming(end, loop)
        builder.position_at_end(after)
        for address, vector_ in zip(addresses, new, strict=True):
            builder.store(vector_, address, align=4)
        return context.get_dummy_value()

    arrays_and_places = (sums, a, types.int64, types.int64, b, types.int64, types.int64)
    return types.none(*arrays_and_places), emit


@inner_njit()
def pack_pairs(b, packed):
    """The panels of b: packed[panel, pair, column, 0 or 1], zeros beyond the edges."""
    panels, pairs = packed.shape[0], packed.shape[1]
    k, n = b.shape
    for panel in range(panels):
        count = min(WIDTH, n - panel * WIDTH)
        for p in range(pairs):
            upper, lower = b[2 * p], b[min(2 * p + 1, k - 1)]
            for c in range(count):
                packed[panel, p, c, 0] = upper[panel * WIDTH + c]
                packed[panel, p, c, 1] = lower[panel * WIDTH + c] if 2 * p + 1 < k else 0
            packed[panel, p, count:] = 0


@inner_njit()
def multiply_rows(a, packed, out, top, bottom):
    """Rows `top` to `bottom` of the product."""
    (panels, pairs), k = packed.shape[:2], a.shape[1]
    rows = np.zeros((ROWS, 2 * pairs), np.int16)
    sums = np.empty((ROWS, WIDTH), np.int32)
    for i in range(top, bottom, ROWS):
        count = min(ROWS, bottom - i)
        for r in range(count):
            source, target = a[i + r], rows[r]
            for p in range(k):  # not a slice: its error message takes seconds to compile
                target[p] = source[p]
        for panel in range(panels):
            sums[:] = 0
            pair_tile(sums, rows, 0, 2 * pairs, packed, panel * pairs * 2 * WIDTH, pairs)
            columns = min(WIDTH, out.shape[1] - panel * WIDTH)
            for r in range(count):
                for c in range(columns):
                    out[i + r, panel * WIDTH + c] += sums[r, c]


@inner_njit()
def _task_of_int8(arguments, task, who):
    a, block, out, tiles, parts = arguments
    top, bottom = task * tiles // parts * ROWS, min(a.shape[0], (task + 1) * tiles // parts * ROWS)
    multiply_rows(a, block, out, top, bottom)


@cached_njit()
def multiply_int8(a, b, out, packed, threads, least, team):
    """out = a b, DEPTH steps at a time; ``packed``: room for the panels of DEPTH rows of b."""
    out[:] = 0
    tiles = (a.shape[0] + ROWS - 1) // ROWS
    for front in range(0, a.shape[1], DEPTH):
        depth = min(DEPTH, a.shape[1] - front)
        panels = packed[:, : (depth + 1) // 2] if depth < DEPTH else packed
        block = np.ascontiguousarray(panels)
        pack_pairs(b[front : front + depth], block)
        parts = min(tiles, 4 * threads)
        share(_task_of_int8, (a[:, front : front + depth], block, out, tiles, parts), parts, threads, least, team)


@implementation(
    "matmul_int8",
    device="cpu",
    adds="pairs of 16-bit numbers: twice the multiply-adds per instruction",
    dtypes=("int32",),
    public=True,
)
@batched
def matmul_int8_pairs(a, b, out):
    packed = np.empty((-(-b.shape[1] // WIDTH), DEPTH // 2, WIDTH, 2), np.int16)
    threads = threads_for(out.size * a.shape[1])
    multiply_int8(a, b, out, packed, threads, least_time(out.size * a.shape[1]), team.members())
