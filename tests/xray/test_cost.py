"""A trace stays small: what an access costs in memory, the working out of the report included."""

import tracemalloc

import numpy as np
from numba import float32

from simt import cuda
from simt.xray import xray

TILE = 16


@cuda.jit
def matmul(a, b, c):
    sa = cuda.shared.array((TILE, TILE), float32)
    sb = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, a.shape[1], TILE):
        sa[ty, tx] = a[row, start + tx]
        sb[ty, tx] = b[start + ty, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += sa[ty, k] * sb[k, tx]
        cuda.syncthreads()
    c[row, column] = total


def peak(launch, arguments):
    launch(*arguments)
    tracemalloc.start()
    try:
        report = launch(*arguments)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return report, most / len(report.trace)


def test_an_access_takes_less_than_100_bytes():
    arguments = np.ones((48, 48), np.float32), np.ones((48, 48), np.float32), np.zeros((48, 48), np.float32)
    report, bytes_ = peak(xray(matmul, (3, 3), (TILE, TILE)), arguments)
    assert len(report.trace) == 48 * 48 * (3 * 36 + 1)
    assert bytes_ < 100


def test_so_it_does_where_it_is_asked_what_was_unwritten():
    arguments = np.ones((48, 48), np.float32), np.ones((48, 48), np.float32), cuda.device_array((48, 48), np.float32)
    report, bytes_ = peak(xray(matmul, (3, 3), (TILE, TILE)), arguments)
    assert report.ok
    assert report.unwritten == []
    assert bytes_ < 100
