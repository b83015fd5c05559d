"""The gradient of a convolution's weights on the GPU, as a product of matrices of which one is never stored: implicit
GEMM.

    of_weight[o, k] = sum over p of grad[o, p] * seen[k, p]           k = (c, ky, kx), p a pixel of the result

As in gpu_gemm.py a block computes EDGE rows of ACROSS columns, and 8 x 8 of them lie in the registers of each thread.
There a thread has a pixel and counts places of the kernel; here the sum runs over pixels. Neighbouring threads load
neighbouring pixels, each counts on from its own, and what is to be known of a place of the kernel lies in shared
memory.

A sum over all pixels of a batch is long, while there are few tiles of results: several blocks share a tile, each a part
of the pixels, and a second kernel adds the parts, in a fixed order. Where a tile would be mostly empty, each weight has
a block.
"""

from ..device import cuda
from ..launches import device_array, launch, view
from ..layouts import MOST_IN_Y
from ..matrix.gpu import clear
from ..matrix.gpu_stacks import ENOUGH_BLOCKS, LEAST_DEPTH, sum_parts_kernel
from ..matrix.gpu_stacks import THREADS as OF_MATRICES
from ..reduce.gpu_sum import THREADS as MANY
from ..reduce.gpu_sum import WARPS, block_sum, chunks_for
from ..wide import load4, store4
from .gpu import f32
from .gpu_choose import FEWEST
from .gpu_gemm import ACROSS, DEPTH, EDGE, PITCH, SIZES, THREADS, i32, line, seen, sizes, step, tiles_of, u32

LEAST_TERMS = ACROSS // 4  # places of a kernel, in all channels of a group: what FEWEST is for the other side of a tile
ENOUGH = ENOUGH_BLOCKS * OF_MATRICES // THREADS  # blocks: as many threads as there
LONGER = ACROSS + 4  # numbers in a row of a tile, so that a warp's 8 pixels of 4 places lie in 32 banks: as PITCH
LINES = "float32[::1], float32[::1], float32[::1]"


@cuda.jit(device=True)
def further(n, y, z, more_n, more_y, more_z, high, wide):
    """(n, y, z), counted on by (more_n, more_y, more_z), where y counts to `high` and z to `wide`: without a
    division."""
    z, y = u32(z + more_z), u32(y + more_y)
    if z >= wide:
        z = u32(z - wide)
        y = u32(y + u32(1))
    if y >= high:
        y = u32(y - high)
        n = u32(n + u32(1))
    return u32(n + more_n), y, z


@cuda.jit(device=True)
def digits(number, high, wide):
    """A number as (n, y, z), where y counts to `high` and z to `wide`."""
    return u32(number // u32(high * wide)), u32(number // wide % high), u32(number % wide)


@cuda.jit(device=True)
def store_tile(sums, out, places, between, rows, first, columns, fours):
    """Store a thread's sums, of columns first to first + 3 and first + 64 to first + 67, as far as there are `columns`.

    places: where each column of the first row lies; between: from one row to the next; rows: how many there are.
    fours: four columns are neighbours, at a multiple of four.
    """
    for r in range(8):
        for c in range(0, 8, 4):
            if u32(r) < rows:
                away = u32(u32(r) * between)
                if fours:
                    if first + u32(16 * c) < columns:
                        four = sums[r, c], sums[r, c + 1], sums[r, c + 2], sums[r, c + 3]
                        store4(out, u32(places[c] + away), four)
                else:
                    for q in range(4):
                        if first + u32(16 * c + q) < columns:
                            out[u32(places[c + q] + away)] = sums[r, c + q]


@cuda.jit
def weight_gemm_kernel(
    grad, x, parts, count, high, wide, rows, columns,
    groups, outs_of_group, ins, tall, broad,
    stride_y, stride_x, top, left, dilation_y, dilation_x, outs, depth,
):  # fmt: skip
    """parts: of each block's `depth` pixels, one array of weights behind the other."""
    g_tile = cuda.shared.array((DEPTH, PITCH), f32)
    x_tile = cuda.shared.array((DEPTH, LONGER), f32)
    table = cuda.shared.array((ACROSS, 4), u32)  # of each place of the kernel: where its channel begins, y, x, whether
    sums, places = cuda.local.array((8, 8), f32), cuda.local.array(8, u32)
    t = u32(cuda.threadIdx.x)
    tiles = u32((outs_of_group + u32(EDGE - 1)) // u32(EDGE))
    group, first = u32(u32(cuda.blockIdx.y) // tiles), u32(u32(cuda.blockIdx.y) % tiles * u32(EDGE))
    begin, terms = u32(u32(cuda.blockIdx.x) * u32(ACROSS)), u32(ins * tall * broad)
    c, ky, kx = digits(u32(begin + t), tall, broad)
    exists = u32(1) if begin + t < terms else u32(0)
    store4(table, (t, u32(0)), (u32(c * rows * columns), u32(ky * dilation_y), u32(kx * dilation_x), exists))
    plane, pixel = u32(high * wide), u32(u32(cuda.blockIdx.z) * depth)
    last = min(u32(pixel + depth), u32(count * plane))
    n, y, z = digits(u32(pixel + t % u32(DEPTH)), high, wide)
    on_n, on_y, on_z = digits(u32(DEPTH), high, wide)
    clear(sums)
    cuda.syncthreads()  # the table is complete
    for start in range(pixel, last, u32(DEPTH)):
        inside = start + t % u32(DEPTH) < last
        grad_start = u32((n * outs + group * outs_of_group + first) * plane + y * wide + z)
        for part in range(EDGE * DEPTH // THREADS):
            o = u32(t // u32(DEPTH) + u32(part * THREADS // DEPTH))
            valid = inside and first + o < outs_of_group
            g_tile[t % u32(DEPTH), o] = grad[u32(grad_start + o * plane)] if valid else f32(0)
        x_start = u32((n * groups + group) * ins * rows * columns)
        i, j = i32(i32(y * stride_y) - i32(top)), i32(i32(z * stride_x) - i32(left))
        for part in range(ACROSS * DEPTH // THREADS):
            k = u32(t // u32(DEPTH) + u32(part * THREADS // DEPTH))
            channel, down, across, exists = load4(table, (k, u32(0)))
            valid, m, n_x = inside and exists > u32(0), i32(rows), i32(columns)
            pixel_i, pixel_j = i32(i + i32(down)), i32(j + i32(across))
            x_tile[t % u32(DEPTH), k] = seen(x, u32(x_start + channel), pixel_i, pixel_j, m, n_x, valid, f32(0))
        n, y, z = further(n, y, z, on_n, on_y, on_z, high, wide)
        cuda.syncthreads()
        for q in range(u32(DEPTH)):
            step(g_tile, x_tile, q, u32(t // u32(16) * u32(8)), u32(t % u32(16) * u32(4)), sums)
        cuda.syncthreads()
    o, k = u32(first + t // u32(16) * u32(8)), u32(begin + t % u32(16) * u32(4))
    for q in range(8):
        row = u32(u32(cuda.blockIdx.z) * outs + group * outs_of_group + o)
        places[q] = u32(row * terms + k + u32(q // 4 * 64 + q % 4))
    left_over = u32(outs_of_group - o) if o < outs_of_group else u32(0)
    store_tile(sums, parts, places, terms, left_over, k, terms, terms % u32(4) == u32(0))


@cuda.jit
def weight_block_kernel(
    grad, x, parts, count, high, wide, rows, columns,
    groups, outs_of_group, ins, tall, broad,
    stride_y, stride_x, top, left, dilation_y, dilation_x, outs,
):  # fmt: skip
    """A block for each weight, or several, which share the pixels: neighbouring threads read neighbours."""
    sums, total = cuda.shared.array(WARPS, f32), f32(0)
    terms, number = u32(ins * tall * broad), u32(cuda.blockIdx.x)
    o, plane = u32(number // terms), u32(high * wide)
    c, ky, kx = digits(u32(number % terms), tall, broad)
    channel, pixels = u32(o // outs_of_group * ins + c), u32(count * plane)
    begin, on = u32(u32(cuda.blockIdx.y) * u32(MANY) + u32(cuda.threadIdx.x)), u32(u32(cuda.gridDim.y) * u32(MANY))
    n, y, z = digits(begin, high, wide)
    on_n, on_y, on_z = digits(on, high, wide)
    down, across = i32(i32(ky * dilation_y) - i32(top)), i32(i32(kx * dilation_x) - i32(left))
    for _ in range(begin, pixels, on):
        i, j = i32(i32(y * stride_y) + down), i32(i32(z * stride_x) + across)
        x_start, m, n_x = u32((n * groups * ins + channel) * rows * columns), i32(rows), i32(columns)
        factor = grad[u32((n * outs + o) * plane + y * wide + z)]
        total += factor * seen(x, x_start, i, j, m, n_x, True, f32(0))
        n, y, z = further(n, y, z, on_n, on_y, on_z, high, wide)
    total = block_sum(total, sums)
    if cuda.threadIdx.x == 0:
        parts[u32(u32(cuda.blockIdx.y) * outs * terms + number)] = total


def depth_for(tiles, pixels):
    """How many pixels a block takes, so that there are enough blocks, each with something to do."""
    splits = max(1, min(ENOUGH // tiles, pixels // LEAST_DEPTH))
    return -(-pixels // (splits * DEPTH)) * DEPTH


def gradient_of_weight(grad, x, weight, g):
    (outs, ins, tall, broad), pixels = tuple(weight.shape), grad.size // weight.shape[0]
    terms, of_group = ins * tall * broad, outs // g.groups
    grid, known = (-(-terms // ACROSS), g.groups * tiles_of(of_group)), sizes(x, weight, g, grad)
    by_tiles = of_group >= FEWEST and terms >= LEAST_TERMS and grid[1] <= MOST_IN_Y
    depth = depth_for(grid[0] * grid[1], pixels)
    splits = -(-pixels // depth) if by_tiles else chunks_for(weight.size, pixels, MANY)
    parts = device_array(splits * weight.size, f32)
    if by_tiles:
        launch(weight_gemm_kernel, (*grid, splits), THREADS, line(grad), line(x), parts, *known, u32(depth))
    else:
        launch(weight_block_kernel, (weight.size, splits), MANY, line(grad), line(x), parts, *known)
    if splits > 1:
        total, size = device_array(weight.size, f32), weight.size
        launch(sum_parts_kernel, -(-size // MANY), MANY, parts, total, u32(splits), u32(size))
        parts = total
    return view(parts, tuple(weight.shape))


#: What `gradient_of_weight` launches, with signatures.
KERNELS = [
    (weight_gemm_kernel, [f"void({LINES}{SIZES}, uint32)"]),
    (weight_block_kernel, [f"void({LINES}{SIZES})"]),
    (sum_parts_kernel, ["void(float32[::1], float32[::1], uint32, uint32)"]),
]
