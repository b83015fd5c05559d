"""Products of 16-bit numbers on tensor cores, continued: feeding them.

A warp of gpu_tensor.py spends its time on getting numbers: 2 bytes per load, 16 loads from shared memory for one
multiplication, some of them waiting for each other's bank. Here

    16 bytes per load        numbers travel in pairs, as uint32; four pairs at a time
    a larger tile            a block computes 128 x 128 sums, each of its 8 warps 64 x 32, in 64 registers of each
                             thread
    ldmatrix                 one instruction brings four 8 x 8 matrices to where the multiplication wants them
    rows that are padded     8 rows of a tile begin in 8 different groups of 4 banks, so ldmatrix needs one pass for
                             each
    copies that go on        (matmul_half_pipelined) the next tiles are on their way while these are multiplied

Products of 32 steps of k are 32 instructions of the tensor cores and 12 of ldmatrix.
"""

import functools

from ..async_copy import copy_async, wait_copies
from ..device import cuda
from ..implementations import implementation
from ..launches import launch, view
from ..layouts import aligned, bits
from ..tensor_cores import CAPABILITY, KINDS, load_matrices, load_matrices_transposed, multiply
from ..wide import load4, store2, store4
from .gpu import f32, line, one_by_one, shape, tiles, u32
from .gpu_tensor import INSTEAD, multiply_narrow

EDGE, DEPTH, THREADS = 128, 32, 256
A_PITCH, B_PITCH = 20, 68  # pairs in a row of the tiles: 16 and 64, and 4 that shift the next row by 4 banks
TWO_EDGES, TWO_DEPTHS = 2 * EDGE, 2 * DEPTH


# A thread moves two times 16 bytes of each tile. Of a: 8 threads take 8 rows, so that they store to different banks.


@cuda.jit(device=True)
def a_place(t, part):
    """Row and pair in the tile of a, 128 x 16 pairs."""
    warp, lane = t // u32(32) + u32(8 * part), t % u32(32)
    return warp * u32(8) + lane % u32(8), lane // u32(8) * u32(4)


@cuda.jit(device=True)
def b_place(t, part):
    """Row and pair in the tile of b, 32 x 64 pairs."""
    return t // u32(16) + u32(16 * part), t % u32(16) * u32(4)


@cuda.jit(device=True)
def four_pairs(x, row, pair, rows, pairs):
    """Four pairs of a matrix; zeros outside it. `pairs`, in a row, is a multiple of four."""
    if row < rows and pair < pairs:
        return load4(x, row * pairs + pair)
    return u32(0), u32(0), u32(0), u32(0)


@cuda.jit(device=True)
def clear(sums):
    for r in range(4):
        for c in range(4):
            for e in range(4):
                sums[r, c, e] = f32(0)


@cuda.jit(device=True)
def store_sums(sums, out, i, j, m, n):
    """Store a warp's 64 x 32 sums; (i, j) is the place of this thread's first."""
    for r in range(4):
        for half in range(2):
            row = i + u32(16 * r + 8 * half)
            for c in range(4):
                column = j + u32(8 * c)
                if row < m and column < n:
                    store2(out, row * n + column, (sums[r, c, 2 * half], sums[r, c, 2 * half + 1]))


@functools.cache
def multiply_tiles(kind):
    """The device function that adds the product of two tiles to a warp's sums."""
    mma = multiply(kind)

    @cuda.jit(device=True)
    def product(a_tile, b_tile, a_row, b_row, pair, sums):
        """a_row, b_row: this lane's rows in the tiles; pair: its first pair in the rows of b."""
        lane = u32(cuda.threadIdx.x) % u32(32)
        shift = lane // u32(16) * u32(4)
        right = cuda.local.array(8, u32)
        for step in range(2):
            for c in range(2):
                place = b_row + u32(16 * step), pair + u32(8 * c)
                w0, w1, w2, w3 = load_matrices_transposed(b_tile, place)
                right[4 * c], right[4 * c + 1], right[4 * c + 2], right[4 * c + 3] = w0, w1, w2, w3
            for r in range(4):
                a0, a1, a2, a3 = load_matrices(a_tile, (a_row + u32(16 * r), u32(8 * step) + shift))
                for c in range(4):
                    s0, s1, s2, s3 = sums[r, c, 0], sums[r, c, 1], sums[r, c, 2], sums[r, c, 3]
                    s0, s1, s2, s3 = mma(a0, a1, a2, a3, right[2 * c], right[2 * c + 1], s0, s1, s2, s3)
                    sums[r, c, 0], sums[r, c, 1], sums[r, c, 2], sums[r, c, 3] = s0, s1, s2, s3

    return product


@functools.cache
def ldmatrix_kernel(kind):
    product = multiply_tiles(kind)

    @cuda.jit
    def kernel(a, b, out, m, n, k):
        a_tile = cuda.shared.array((EDGE, A_PITCH), u32)
        b_tile = cuda.shared.array((DEPTH, B_PITCH), u32)
        sums = cuda.local.array((4, 4, 4), f32)
        t = u32(cuda.threadIdx.x)
        warp, lane = t // u32(32), t % u32(32)
        top, left = u32(cuda.blockIdx.y) * u32(EDGE), u32(cuda.blockIdx.x) * u32(EDGE)
        y, x = warp // u32(4) * u32(64), warp % u32(4) * u32(32)
        a_row, b_row, pair = y + lane % u32(16), lane % u32(16), x // u32(2) + lane // u32(16) * u32(4)
        clear(sums)
        for start in range(u32(0), k, u32(DEPTH)):
            for part in range(2):
                i, p = a_place(t, part)
                store4(a_tile, (i, p), four_pairs(a, top + i, start // u32(2) + p, m, k // u32(2)))
                q, j = b_place(t, part)
                store4(b_tile, (q, j), four_pairs(b, start + q, left // u32(2) + j, k, n // u32(2)))
            cuda.syncthreads()  # the tiles are complete
            product(a_tile, b_tile, a_row, b_row, pair, sums)
            cuda.syncthreads()  # and all warps are done with them
        store_sums(sums, out, top + y + lane // u32(4), left + x + lane % u32(4) * u32(2), m, n)

    return kernel


@functools.cache
def pipelined_kernel(kind):
    product = multiply_tiles(kind)

    @cuda.jit
    def kernel(a, b, out, m, n, k):
        a_tile = cuda.shared.array((TWO_EDGES, A_PITCH), u32)
        b_tile = cuda.shared.array((TWO_DEPTHS, B_PITCH), u32)
        sums = cuda.local.array((4, 4, 4), f32)
        t = u32(cuda.threadIdx.x)
        warp, lane = t // u32(32), t % u32(32)
        top, left = u32(cuda.blockIdx.y) * u32(EDGE), u32(cuda.blockIdx.x) * u32(EDGE)
        y, x = warp // u32(4) * u32(64), warp % u32(4) * u32(32)
        a_row, b_row = u32(y + lane % u32(16)), u32(lane % u32(16))
        pair = u32(x // u32(2) + lane // u32(16) * u32(4))
        (i, p), (q, j) = a_place(t, 0), b_place(t, 0)
        a_step, b_step = u32(k // u32(2)), u32(n // u32(2))  # pairs in a row
        a_at, b_at = u32((top + i) * a_step + p), u32(q * b_step + left // u32(2) + j)
        a_inside, lower_inside, b_inside = top + i < m, top + i + u32(64) < m, left + u32(2) * j < n
        clear(sums)
        i_to, q_to = u32(i), u32(q)  # rows of this thread in the half of the tiles that is filled next
        for start in range(u32(0), u32(k + u32(DEPTH)), u32(DEPTH)):
            wait_copies()  # of the round before
            cuda.syncthreads()  # one half is complete, and nobody reads the other any more
            in_k = u32(start + u32(2) * p) < k
            upper, lower = u32(start + q) < k, u32(start + q + u32(16)) < k
            copy_async(a_tile, (i_to, p), a, a_at, a_inside and in_k)
            below = (i_to + u32(64), p)
            copy_async(a_tile, below, a, a_at + u32(64) * a_step, lower_inside and in_k)
            copy_async(b_tile, (q_to, j), b, b_at, b_inside and upper)
            below = (q_to + u32(16), j)
            copy_async(b_tile, below, b, b_at + u32(16) * b_step, b_inside and lower)
            a_at, b_at = u32(a_at + u32(DEPTH // 2)), u32(b_at + u32(DEPTH) * b_step)
            i_to, q_to = u32(i_to ^ u32(EDGE)), u32(q_to ^ u32(DEPTH))
            if start > u32(0):
                product(a_tile, b_tile, a_row, b_row, pair, sums)
                a_row, b_row = u32(a_row ^ u32(EDGE)), u32(b_row ^ u32(DEPTH))
        store_sums(sums, out, top + y + lane // u32(4), left + x + lane % u32(4) * u32(2), m, n)

    return kernel


PAIRS = ["void(uint32[::1], uint32[::1], float32[::1], uint32, uint32, uint32)"]
EIGHTS = (
    "matrices of less than 2^32 elements; n and k that are not multiples of 8, and slices at odd places, take the "
    "kernel of matmul_half_tensor_cores; in the executor functions with the same accesses stand in for the instructions"
)


def in_eights(a, b, out):
    """Whether all rows begin at a multiple of 16 bytes."""
    return shape(a)[-1] % 8 == 0 and shape(b)[-1] % 8 == 0 and aligned(a, b, out)


def multiply_wide(kernel, a, b, kind, out):
    """Run `kernel` for each pair of matrices, or the one that takes any size."""
    if not in_eights(a, b, out):
        return multiply_narrow(a, b, kind, out)

    @one_by_one
    def each(x, y, z):
        (m, n), k = shape(z), shape(x)[1]
        lines = view(x, x.size // 2, u32), view(y, y.size // 2, u32), line(z)
        launch(kernel, tiles(z, EDGE), THREADS, *lines, u32(m), u32(n), u32(k))

    return each(bits(a), bits(b), out)


@implementation(
    "matmul_half",
    device="gpu",
    adds="16 bytes per access, ldmatrix from padded tiles, 64 x 32 sums per warp: no bank conflicts",
    limits=EIGHTS,
    dtypes=("float32",),
    capability=CAPABILITY,
    instead=INSTEAD,
    kernels=[(ldmatrix_kernel(kind), PAIRS) for kind in KINDS],
)
def matmul_half_ldmatrix(a, b, kind, out):
    return multiply_wide(ldmatrix_kernel(kind), a, b, kind, out)


@implementation(
    "matmul_half",
    device="gpu",
    adds="the next tiles are copied to shared memory (cp.async) while these are multiplied; one barrier per tile",
    limits=EIGHTS,
    dtypes=("float32",),
    capability=CAPABILITY,
    instead=INSTEAD,
    kernels=[(pipelined_kernel(kind), PAIRS) for kind in KINDS],
    public=True,
)
def matmul_half_pipelined(a, b, kind, out):
    return multiply_wide(pipelined_kernel(kind), a, b, kind, out)
