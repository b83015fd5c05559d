"""Answers to 07-axpy."""

from answers import MASTER, edit, replace

from dlkernels import cuda


@cuda.jit
def with_while(alpha, x, y):
    """right"""
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    step = cuda.blockDim.x * cuda.gridDim.x
    while i < x.size:
        y[i] += alpha * x[i]
        i += step


@cuda.jit
def rounds(alpha, x, y):
    """right"""
    total = cuda.gridsize(1)
    for k in range((y.size + total - 1) // total):
        i = k * total + cuda.grid(1)
        if i < y.size:
            y[i] = y[i] + x[i] * alpha


@cuda.jit
def whole_warps_only(alpha, x, y):
    """right"""
    threads = cuda.blockDim.x // 32 * 32 or cuda.blockDim.x
    if cuda.threadIdx.x < threads:
        for i in range(cuda.blockIdx.x * threads + cuda.threadIdx.x, y.size, cuda.gridDim.x * threads):
            y[i] = alpha * x[i] + y[i]


no_alpha = edit(MASTER, "wrong suspect: alpha is missing", replace("alpha * x", "x"))
too_much = edit(MASTER, "wrong suspect: only x is multiplied", replace("x[i] + y[i]", "(x[i] + y[i])"))


@cuda.jit
def fixed_rounds(alpha, x, y):
    """wrong out-of-bounds: range(start, y.size, step)"""
    for k in range(8):
        i = k * cuda.gridsize(1) + cuda.grid(1)
        y[i] = alpha * x[i] + y[i]


@cuda.jit
def every_block_the_same(alpha, x, y):
    """wrong first-round-only: grid-stride loop"""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < min(y.size, 128):
        y[i] += alpha * x[i]


@cuda.jit
def steps_of_128(alpha, x, y):
    """wrong some-unwritten: cuda.gridsize(1)"""
    for i in range(cuda.grid(1), y.size, 128):
        y[i] += alpha * x[i]
