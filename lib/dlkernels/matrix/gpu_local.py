"""Local arrays that stay in registers, and some that do not: no rungs, but what shows where a thread's own array lies.

`TILES` are register tiles of 8, 12 and 16 columns and rows: a product of matrices, a.T @ b, as short as it can be
written. `COUNTS` counts the numbers of a column in 16 bins, whose indices are known only when it runs. All have a
rung's name and kernels; chapter 6 shows what the compiler made of them.
"""

import types

from numba import float32, int32

from ..device import cuda

BINS = 16


def register_tile(side):
    @cuda.jit
    def tile_kernel(a, b, out):
        sums = cuda.local.array((side, side), float32)
        x, y = cuda.grid(2)
        for i in range(side):
            for j in range(side):
                sums[i, j] = float32(0)
        for p in range(a.shape[0]):
            for i in range(side):
                for j in range(side):
                    sums[i, j] += a[p, side * y + i] * b[p, side * x + j]
        for i in range(side):
            for j in range(side):
                out[side * y + i, side * x + j] = sums[i, j]

    return tile_kernel


@cuda.jit
def count_kernel(values, counts):
    tally = cuda.local.array(BINS, int32)
    i = cuda.grid(1)
    for k in range(BINS):
        tally[k] = 0
    for row in range(values.shape[0]):
        tally[values[row, i]] += 1
    for k in range(BINS):
        counts[k, i] = tally[k]


def _shown(name, kernel, signature):
    return types.SimpleNamespace(name=name, kernels=((kernel, [signature]),), capability=None)


TILES = {
    side: _shown(
        f"register_tile_{side}", register_tile(side), "void(float32[:, ::1], float32[:, ::1], float32[:, ::1])"
    )
    for side in (8, 12, 16)
}
COUNTS = _shown("local_counts", count_kernel, "void(int32[:, ::1], int32[:, ::1])")
