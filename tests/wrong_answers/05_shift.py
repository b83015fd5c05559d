"""Answers to 05-shift."""

from answers import MASTER, edit, replace

from dlkernels import cuda


@cuda.jit
def an_early_return(x, k, out):
    """right"""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= out.size:
        return
    if i < k:
        out[i] = 0
    else:
        out[i] = x[i - k]


@cuda.jit
def each_thread_owns_an_element_of_x(x, k, out):
    """right"""
    i = cuda.grid(1)
    if i + k < out.size:
        out[i + k] = x[i]
    if i < k and i < out.size:
        out[i] = 0


@cuda.jit
def no_zeros(x, k, out):
    """wrong head: The first k places were never written"""
    i = cuda.grid(1)
    if i < out.size and i >= k:
        out[i] = x[i - k]


@cuda.jit
def round_the_end(x, k, out):
    """wrong suspect: What left at the end came in again"""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[(i - k) % x.size]


@cuda.jit
def blocks_of_64(x, k, out):
    """wrong two-writers: by how much should it grow from block to block"""
    i = cuda.blockIdx.x * 64 + cuda.threadIdx.x
    if i < out.size:
        out[i] = x[i - k] if i >= k else 0


guard_of_what_moves = edit(
    MASTER, "wrong tail: Does the guard or the loop stop too early", replace("out.size", "out.size - k")
)
nothing_moves = edit(MASTER, "wrong suspect: nothing moved", replace("x[i - k] if i >= k else 0", "x[i]"))


@cuda.jit
def all_in_each_thread(x, k, out):
    """wrong race: does a loop in every thread"""
    for i in range(out.size):
        out[i] = x[i - k] if i >= k else 0


@cuda.jit
def the_last_ones_are_not_lost(x, k, out):
    """wrong out-of-bounds: they are lost"""
    i = cuda.grid(1)
    if i < x.size:
        out[i + k] = x[i]
