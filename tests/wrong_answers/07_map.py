"""Answers to 07-map."""

from answers import edit, insert, replace

from dlkernels import cuda


@cuda.jit
def by_hand(x, out):
    """right"""
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= out.shape[0] or j >= out.shape[1]:
        return
    out[i, j] = x[i, j] if x[i, j] > 0 else 0


@cuda.jit
def strides_of_the_grid(x, out):
    """right"""
    j, i = cuda.grid(2)
    for row in range(i, x.shape[0], cuda.blockDim.y * cuda.gridDim.y):
        for column in range(j, x.shape[1], cuda.blockDim.x * cuda.gridDim.x):
            out[row, column] = max(x[row, column], 0)


@cuda.jit
def no_guard(x, out):
    """wrong out-of-bounds: in both directions"""
    j, i = cuda.grid(2)
    out[i, j] = max(x[i, j], 0)


@cuda.jit
def guard_turned(x, out):
    """wrong some-unwritten: in an index or in the guard"""
    j, i = cuda.grid(2)
    if j < out.shape[0] and i < out.shape[1]:
        out[i, j] = max(x[i, j], 0)


@cuda.jit
def copies(x, out):
    """wrong suspect: nothing became 0"""
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = x[i, j]


only_the_positive = edit(
    copies, "wrong some-unwritten: does an `if` leave out a store", replace("[1]", "[1] and x[i, j] > 0")
)
in_place = edit(
    copies, "wrong input-changed: may only be read", insert("x[i, j] = max(x[i, j], 0)", before="out[i, j] = x[i, j]")
)
