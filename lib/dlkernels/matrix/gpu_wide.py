"""Matrix product on the GPU, continued: 16 bytes at a time, and fewer instructions around the arithmetic.

The tile of a is stored turned over, a_tile[p, i], so that a thread's 8 elements are neighbours and are loaded with
two 16-byte instructions, as are those of b. Shared memory serves 8 threads of such an instruction at a time. A thread
computes rows y .. y + 3 and y + 64 .. y + 67, and columns likewise: then 8 threads that read 4 columns each read 32
neighbours, and no two of them want the same bank.

Storing a column of a needs four 4-byte stores. Two neighbouring threads store 4 rows apart: rows of the tile are 4
numbers longer than needed (PITCH), so that these lie 16 banks apart, and the 16 columns of a warp fit between.
"""

from ..device import cuda
from ..implementations import implementation
from ..layouts import aligned
from ..wide import load4, store4
from .gpu import BIG, DEPTH, INDEXED, LINES, THREADS, clear, f32, launch, one_by_one, shape, tile_2d_kernel, u32

PITCH = BIG + 4  # elements in a row of the tile of a


@cuda.jit(device=True)
def four(x, row, column, rows, columns):
    """Four neighbours of a row of a matrix; zeros outside it. `columns` is a multiple of four."""
    if row < rows and column < columns:
        return load4(x, row * columns + column)
    return f32(0), f32(0), f32(0), f32(0)


@cuda.jit(device=True)
def put(a_tile, b_tile, base, t, v0, v1, v2, v3, w0, w1, w2, w3):
    """Store the four elements of a and of b that thread t has loaded, in rows `base` .. `base` + 7 of the tiles."""
    i, p = t // u32(2), base + t % u32(2) * u32(4)
    a_tile[p, i] = v0
    a_tile[p + u32(1), i] = v1
    a_tile[p + u32(2), i] = v2
    a_tile[p + u32(3), i] = v3
    store4(b_tile, (base + t // u32(32), t % u32(32) * u32(4)), (w0, w1, w2, w3))


@cuda.jit(device=True)
def step(a_tile, b_tile, p, y, x, sums):
    """64 multiply-adds with row p of both tiles."""
    left, right = cuda.local.array(8, f32), cuda.local.array(8, f32)
    left[0], left[1], left[2], left[3] = load4(a_tile, (p, y))
    left[4], left[5], left[6], left[7] = load4(a_tile, (p, y + u32(64)))
    right[0], right[1], right[2], right[3] = load4(b_tile, (p, x))
    right[4], right[5], right[6], right[7] = load4(b_tile, (p, x + u32(64)))
    for r in range(8):
        for c in range(8):
            sums[r, c] += left[r] * right[c]


@cuda.jit(device=True)
def store_sums(sums, out, out_start, i, j, m, n):
    """Store 8 x 8 sums; (i, j) is the place of the first in the matrix that begins at element `out_start` of out."""
    for half in range(2):
        for r in range(4):
            row = i + u32(64 * half + r)
            for side in range(2):
                column = j + u32(64 * side)
                if row < m and column < n:
                    k, c = 4 * half + r, 4 * side
                    store4(
                        out, out_start + row * n + column, (sums[k, c], sums[k, c + 1], sums[k, c + 2], sums[k, c + 3])
                    )


@cuda.jit
def wide_kernel(a, b, out, m, n, k):
    a_tile = cuda.shared.array((DEPTH, PITCH), f32)
    b_tile = cuda.shared.array((DEPTH, BIG), f32)
    sums = cuda.local.array((8, 8), f32)
    t = u32(cuda.threadIdx.x)
    top, left = u32(cuda.blockIdx.y) * u32(BIG), u32(cuda.blockIdx.x) * u32(BIG)
    y, x = t // u32(16) * u32(4), t % u32(16) * u32(4)
    clear(sums)
    for start in range(u32(0), k, u32(DEPTH)):
        v0, v1, v2, v3 = four(a, top + t // u32(2), start + t % u32(2) * u32(4), m, k)
        w0, w1, w2, w3 = four(b, start + t // u32(32), left + t % u32(32) * u32(4), k, n)
        put(a_tile, b_tile, u32(0), t, v0, v1, v2, v3, w0, w1, w2, w3)
        cuda.syncthreads()
        for p in range(u32(DEPTH)):
            step(a_tile, b_tile, p, y, x, sums)
        cuda.syncthreads()
    store_sums(sums, out, u32(0), top + y, left + x, m, n)


def in_fours(a, b, out):
    """Whether all rows of all three begin at a multiple of 16 bytes."""
    return shape(a)[-1] % 4 == 0 and shape(b)[-1] % 4 == 0 and aligned(a, b, out)


FOURS = f"{INDEXED}; n and k that are not multiples of 4, and slices at odd places, take the kernel of matmul_tile_2d"


@implementation(
    "matmul",
    "gpu",
    adds="16 bytes per load and store, to global and from shared memory",
    limits=FOURS,
    dtypes=("float32",),
    kernels=[(wide_kernel, LINES)],
)
@one_by_one
def matmul_wide(a, b, out):
    launch(wide_kernel if in_fours(a, b, out) else tile_2d_kernel, a, b, out, BIG, THREADS)


@cuda.jit
def unrolled_kernel(a, b, out, m, n, k):
    a_tile = cuda.shared.array((DEPTH, PITCH), f32)
    b_tile = cuda.shared.array((DEPTH, BIG), f32)
    sums = cuda.local.array((8, 8), f32)
    t = u32(cuda.threadIdx.x)
    top, left = u32(cuda.blockIdx.y) * u32(BIG), u32(cuda.blockIdx.x) * u32(BIG)
    y, x = t // u32(16) * u32(4), t % u32(16) * u32(4)
    clear(sums)
    for start in range(u32(0), k, u32(DEPTH)):
        v0, v1, v2, v3 = four(a, top + t // u32(2), start + t % u32(2) * u32(4), m, k)
        w0, w1, w2, w3 = four(b, start + t // u32(32), left + t % u32(32) * u32(4), k, n)
        put(a_tile, b_tile, u32(0), t, v0, v1, v2, v3, w0, w1, w2, w3)
        cuda.syncthreads()
        step(a_tile, b_tile, u32(0), y, x, sums)
        step(a_tile, b_tile, u32(1), y, x, sums)
        step(a_tile, b_tile, u32(2), y, x, sums)
        step(a_tile, b_tile, u32(3), y, x, sums)
        step(a_tile, b_tile, u32(4), y, x, sums)
        step(a_tile, b_tile, u32(5), y, x, sums)
        step(a_tile, b_tile, u32(6), y, x, sums)
        step(a_tile, b_tile, u32(7), y, x, sums)
        cuda.syncthreads()
    store_sums(sums, out, u32(0), top + y, left + x, m, n)


@implementation(
    "matmul",
    "gpu",
    adds="the loop over a tile written out: no counter, no branch, and loads issued ahead of their use",
    limits=FOURS,
    dtypes=("float32",),
    kernels=[(unrolled_kernel, LINES)],
)
@one_by_one
def matmul_unrolled(a, b, out):
    launch(unrolled_kernel if in_fours(a, b, out) else tile_2d_kernel, a, b, out, BIG, THREADS)


# ---- two tiles in turn -------------------------------------------------------------------------------------

TWICE = 2 * DEPTH


@cuda.jit(device=True)
def product_tile(a, b, out, out_start, m, n, k, first, last):
    """This block's tile of a[:, first:last] b[first:last], into the matrix that begins at element `out_start` of out.

    Two tiles of each operand, used in turn: while one is multiplied, the next is on its way to registers, and is
    then stored into the other. So one barrier per tile is enough. Steps are written out in pairs: all eight
    would need more than 128 registers, and only one block would fit on a multiprocessor.
    """
    a_tile = cuda.shared.array((TWICE, PITCH), f32)
    b_tile = cuda.shared.array((TWICE, BIG), f32)
    sums = cuda.local.array((8, 8), f32)
    t = u32(cuda.threadIdx.x)
    top, left = u32(cuda.blockIdx.y) * u32(BIG), u32(cuda.blockIdx.x) * u32(BIG)
    y, x = t // u32(16) * u32(4), t % u32(16) * u32(4)
    clear(sums)
    base = u32(0)
    v0, v1, v2, v3 = four(a, top + t // u32(2), first + t % u32(2) * u32(4), m, k)
    w0, w1, w2, w3 = four(b, first + t // u32(32), left + t % u32(32) * u32(4), k, n)
    for then in range(first + u32(DEPTH), last + u32(DEPTH), u32(DEPTH)):
        put(a_tile, b_tile, base, t, v0, v1, v2, v3, w0, w1, w2, w3)
        cuda.syncthreads()
        v0, v1, v2, v3 = four(a, top + t // u32(2), then + t % u32(2) * u32(4), m, k)
        w0, w1, w2, w3 = four(b, then + t // u32(32), left + t % u32(32) * u32(4), k, n)
        for p in range(base, base + u32(DEPTH), u32(2)):
            step(a_tile, b_tile, p, y, x, sums)
            step(a_tile, b_tile, p + u32(1), y, x, sums)
        base = base ^ u32(DEPTH)
    store_sums(sums, out, out_start, top + y, left + x, m, n)


@cuda.jit
def double_buffered_kernel(a, b, out, m, n, k):
    product_tile(a, b, out, u32(0), m, n, k, u32(0), k)


@implementation(
    "matmul",
    "gpu",
    adds="the next tile is loaded while this one is multiplied; one barrier per tile",
    limits=FOURS,
    dtypes=("float32",),
    kernels=[(double_buffered_kernel, LINES)],
)
@one_by_one
def matmul_double_buffered(a, b, out):
    launch(double_buffered_kernel if in_fours(a, b, out) else tile_2d_kernel, a, b, out, BIG, THREADS)
