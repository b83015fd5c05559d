"""Correct kernels that numba's simulator and compiler know too: (name, kernel, grid, block, arguments)."""

import math

import numpy as np
from numba import float32, int32

from simt import cuda

TILE = 8
THREADS = 64


def random(*shape, seed=0):
    return np.random.default_rng(seed).random(shape).astype(np.float32)


@cuda.jit
def axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def matmul(a, b, c):
    sa = cuda.shared.array((TILE, TILE), float32)
    sb = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, a.shape[1], TILE):
        sa[ty, tx] = a[row, start + tx] if row < a.shape[0] and start + tx < a.shape[1] else 0
        sb[ty, tx] = b[start + ty, column] if start + ty < b.shape[0] and column < b.shape[1] else 0
        cuda.syncthreads()
        for k in range(TILE):
            total += sa[ty, k] * sb[k, tx]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


@cuda.jit
def block_sum(x, out):
    s = cuda.shared.array(THREADS, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@cuda.jit
def histogram(x, bins):
    private = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    if t < 16:
        private[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(private, x[i] % 16, 1)
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(bins, t, private[t])


@cuda.jit
def transpose(x, y):
    tile = cuda.shared.array((8, 9), float32)
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = x[row, column]
    cuda.syncthreads()
    column = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.x
    row = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.y
    if row < y.shape[0] and column < y.shape[1]:
        y[row, column] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


@cuda.jit(device=True)
def clamp(x, low, high):
    return min(max(x, low), high)


@cuda.jit(device=True)
def sigmoid(x):
    return float32(1) / (float32(1) + math.exp(-clamp(x, float32(-20), float32(20))))


@cuda.jit
def activations(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = sigmoid(x[i]) * math.tanh(x[i])


def make_stencil(radius, scale):
    @cuda.jit
    def stencil(x, y):
        i = cuda.grid(1)
        if i < x.size:
            total = 0.0
            for k in range(-radius, radius + 1):
                j = i + k
                if j >= 0 and j < x.size:
                    total += x[j]
            y[i] = total * scale

    return stencil


@cuda.jit
def softmax_rows(x, y):
    scratch = cuda.local.array(8, float32)
    row = cuda.grid(1)
    if row < x.shape[0]:
        largest = x[row, 0]
        for j in range(1, x.shape[1]):
            largest = max(largest, x[row, j])
        total = float32(0)
        for j in range(x.shape[1]):
            scratch[j] = math.exp(x[row, j] - largest)
            total += scratch[j]
        for j in range(x.shape[1]):
            y[row, j] = scratch[j] / total


@cuda.jit
def integers(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i, 0] = x[i] // 3
        y[i, 1] = x[i] % 3
        y[i, 2] = (x[i] << 2) ^ (x[i] >> 1)
        y[i, 3] = abs(x[i]) & 6


CASES = [
    ("axpy", axpy, 3, 32, lambda: (2.5, random(80), random(80, seed=1))),
    ("matmul", matmul, (3, 2), (8, 8), lambda: (random(13, 11), random(11, 21), random(13, 21))),
    ("block_sum", block_sum, 3, 64, lambda: (random(150), random(3))),
    ("histogram", histogram, 2, 32, lambda: (np.arange(100, dtype=np.int32) ** 2, np.zeros(16, np.int32))),
    ("transpose", transpose, (3, 2), (8, 8), lambda: (random(13, 20), random(20, 13))),
    ("activations", activations, 2, 32, lambda: (random(50) * 8 - 4, random(50))),
    ("stencil", make_stencil(2, 0.2), 2, 32, lambda: (random(50), random(50))),
    ("softmax_rows", softmax_rows, 1, 16, lambda: (random(10, 7), random(10, 7))),
    ("integers", integers, 1, 32, lambda: (np.arange(-10, 10, dtype=np.int64), np.zeros((20, 4), np.int64))),
]
