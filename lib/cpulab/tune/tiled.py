"""A tiled matrix product for GPUs whose sizes are left open: the example that is tuned by counts.

across, down    threads of a block
rows, columns   elements of the result that each thread keeps in registers
depth           steps of the sum for which tiles of a and b are in shared memory
apart           whether a thread's columns are `across` apart, or neighbours
"""

import numpy as np

from dlkernels.device import cuda
from simt.xray import xray

from .space import Space

f32 = np.float32
SHARED = 48 << 10  # bytes that each block may have without asking for more
#: What `counts` counts, in this order.
COUNTED = ("sectors", "shared passes", "barriers", "blocks")


def space():
    """`Space` of the kernel's sizes: 64 to 256 threads, tiles of at most 64 x 64 that fit shared memory."""
    return Space(
        {
            "across": (8, 16, 32),
            "down": (4, 8, 16),
            "rows": (1, 2, 4, 8),
            "columns": (1, 2, 4, 8),
            "depth": (8, 16),
            "apart": (False, True),
        },
        lambda c: 64 <= c["across"] * c["down"] <= 256,
        lambda c: c["across"] * c["columns"] <= 64 and c["down"] * c["rows"] <= 64,
        lambda c: 4 * c["depth"] * (c["across"] * c["columns"] + c["down"] * c["rows"]) <= SHARED,
        lambda c: not c["apart"] or c["columns"] > 1,  # of one column it means nothing
    )


def kernel(across, down, rows, columns, depth, apart):
    """The kernel with these sizes compiled in, of (a, b, out), float32 matrices of any shape."""
    tall, wide, threads = down * rows, across * columns, across * down
    step, stride = (across, 1) if apart else (1, columns)  # between a thread's columns, between threads

    @cuda.jit
    def tiled(a, b, out):
        a_tile = cuda.shared.array((depth, tall), f32)
        b_tile = cuda.shared.array((depth, wide), f32)
        sums = cuda.local.array((rows, columns), f32)
        right = cuda.local.array(columns, f32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        (m, n), k, t = out.shape, a.shape[1], y * across + x
        top, left = cuda.blockIdx.y * tall, cuda.blockIdx.x * wide
        for r in range(rows):
            for c in range(columns):
                sums[r, c] = f32(0)
        for front in range(0, k, depth):
            for e in range(t, depth * tall, threads):
                i, p = e // depth, e % depth
                inside = top + i < m and front + p < k
                a_tile[p, i] = a[top + i, front + p] if inside else f32(0)
            for e in range(t, depth * wide, threads):
                p, j = e // wide, e % wide
                inside = front + p < k and left + j < n
                b_tile[p, j] = b[front + p, left + j] if inside else f32(0)
            cuda.syncthreads()
            for p in range(depth):
                for c in range(columns):
                    right[c] = b_tile[p, x * stride + c * step]
                for r in range(rows):
                    factor = a_tile[p, y * rows + r]
                    for c in range(columns):
                        sums[r, c] += factor * right[c]
            cuda.syncthreads()
        for r in range(rows):
            for c in range(columns):
                i, j = top + y * rows + r, left + x * stride + c * step
                if i < m and j < n:
                    out[i, j] = sums[r, c]

    return tiled


def launch(configuration, m, n):
    """(grid, block) that cover a result of (m, n)."""
    across, down, rows, columns = (configuration[name] for name in ("across", "down", "rows", "columns"))
    return (-(-n // (across * columns)), -(-m // (down * rows))), (across, down)


def counts(configuration, m, n, k, engine="executor"):
    """Float64 of the length of COUNTED, by the x-ray of a launch for (m, k) and (k, n): the same on every machine.

    Raises ValueError if the result is wrong, or the x-ray finds a race, a bad index or the like.
    """
    rng = np.random.default_rng(0)
    a, b = rng.integers(-4, 5, (m, k)).astype(f32), rng.integers(-4, 5, (k, n)).astype(f32)  # sums are exact
    out, (grid, block) = np.zeros((m, n), f32), launch(configuration, m, n)
    report = xray(kernel(**configuration), grid, block, engine=engine)(a, b, out)
    wrong = report.findings or ([] if np.array_equal(out, a @ b) else ["a wrong result"])
    if wrong:
        raise ValueError(f"{configuration} is no product of matrices: {wrong[0]}")
    total, blocks = report.total, grid[0] * grid[1]
    sectors = total["global_load_sectors"] + total["global_store_sectors"]
    return np.array([sectors, total["shared_wavefronts"], total["barriers"] * blocks, blocks], np.float64)
