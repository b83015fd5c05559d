"""Answers to 06-histogram."""

import numpy as np
from answers import cut, edit, replace

from dlkernels import cuda

BINS = 50


@cuda.jit
def only_what_there_is(x, counts):
    """right"""
    block_counts = cuda.shared.array(BINS, np.int32)
    t = cuda.threadIdx.x
    block_counts[t] = 0
    if t < BINS - 32:
        block_counts[t + 32] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    while i < x.size:
        v = x[i]
        if v >= 0 and v < BINS:
            cuda.atomic.add(block_counts, v, 1)
        i += cuda.gridsize(1)
    cuda.syncthreads()
    for b in range(t, BINS, cuda.blockDim.x):
        if block_counts[b] > 0:
            cuda.atomic.add(counts, b, block_counts[b])


@cuda.jit
def stretches(x, counts):
    """over budget over-budget: can stay in a variable"""
    block_counts = cuda.shared.array(BINS, np.int32)
    for b in range(cuda.threadIdx.x, BINS, 32):
        block_counts[b] = 0
    cuda.syncthreads()
    share = (x.size + cuda.gridDim.x - 1) // cuda.gridDim.x
    first = cuda.blockIdx.x * share
    for i in range(first + cuda.threadIdx.x, min(first + share, x.size), 32):
        if 0 <= x[i] < BINS:
            cuda.atomic.add(block_counts, x[i], 1)
    cuda.syncthreads()
    for b in range(cuda.threadIdx.x, BINS, 32):
        cuda.atomic.add(counts, b, block_counts[b])


@cuda.jit
def straight_to_global(x, counts):
    """over budget over-budget: Where does a block count"""
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        v = x[i]
        if 0 <= v < BINS:
            cuda.atomic.add(counts, v, 1)


@cuda.jit
def thread_0_brings_it(x, counts):
    """over budget over-budget: when does it bring its counts away"""
    block_counts = cuda.shared.array(BINS, np.int32)
    for b in range(cuda.threadIdx.x, BINS, 32):
        block_counts[b] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        v = x[i]
        if 0 <= v < BINS:
            cuda.atomic.add(block_counts, v, 1)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        for b in range(BINS):
            cuda.atomic.add(counts, b, block_counts[b])


@cuda.jit
def not_set_to_zero(x, counts):
    """wrong uninitialised-shared: All 50 of them need a 0"""
    block_counts = cuda.shared.array(BINS, np.int32)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        v = x[i]
        if 0 <= v < BINS:
            cuda.atomic.add(block_counts, v, 1)
    cuda.syncthreads()
    for b in range(cuda.threadIdx.x, BINS, 32):
        cuda.atomic.add(counts, b, block_counts[b])


@cuda.jit
def bins_of_the_block(x, counts):
    """right"""
    block_counts = cuda.shared.array(BINS, np.int32)
    for b in range(cuda.threadIdx.x, BINS, 32):
        block_counts[b] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        v = x[i]
        if 0 <= v < BINS:
            cuda.atomic.add(block_counts, v, 1)
    cuda.syncthreads()
    for b in range(cuda.threadIdx.x, BINS, 32):
        cuda.atomic.add(counts, b, block_counts[b])


as_many_zeros_as_threads = edit(
    bins_of_the_block,
    "wrong uninitialised-shared: which thread sets bin 40",
    replace(
        "for b in range(cuda.threadIdx.x, BINS, 32):\n    block_counts[b] = 0", "block_counts[cuda.threadIdx.x] = 0"
    ),
)
no_barrier_behind_the_zeros = edit(
    bins_of_the_block,
    "wrong atomic-against-plain: everybody waits after each of the first two",
    cut("cuda.syncthreads()", after="block_counts[b] = 0"),
)
no_barrier_before_the_end = edit(
    bins_of_the_block,
    "wrong atomic-against-plain: or reads to bring it to counts",
    cut("cuda.syncthreads()", after="cuda.atomic.add(block_counts, v, 1)"),
)
no_atomics = edit(
    bins_of_the_block,
    "wrong race: Which operation reads, adds and writes",
    replace("cuda.atomic.add(block_counts, v, 1)", "block_counts[v] += 1"),
)
added_plainly = edit(
    bins_of_the_block,
    "wrong race: one addition is lost",
    replace("cuda.atomic.add(counts, b, block_counts[b])", "counts[b] += block_counts[b]"),
)
stored_over = edit(
    bins_of_the_block,
    "wrong wrong-value: added to what others have brought",
    replace("cuda.atomic.add(counts, b, block_counts[b])", "counts[b] = block_counts[b]"),
)
below_zero = edit(bins_of_the_block, "wrong negative-index: belongs to no bin", replace("if 0 <= v", "if v"))


@cuda.jit
def held_inside(x, counts):
    """wrong suspect: in the first and the last bin"""
    block_counts = cuda.shared.array(BINS, np.int32)
    for b in range(cuda.threadIdx.x, BINS, 32):
        block_counts[b] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(block_counts, min(max(x[i], 0), BINS - 1), 1)
    cuda.syncthreads()
    for b in range(cuda.threadIdx.x, BINS, 32):
        cuda.atomic.add(counts, b, block_counts[b])


one_element_each = edit(
    bins_of_the_block,
    "wrong suspect: a thread goes on by the number of threads in the grid",
    replace("for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):", "i = cuda.grid(1)\nif i < x.size:"),
)
every_block_counts_all = edit(
    bins_of_the_block,
    "wrong suspect: once by every block",
    replace("for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):", "for i in range(cuda.threadIdx.x, x.size, 32):"),
)


@cuda.jit
def the_first_32_bins(x, counts):
    """wrong some-unwritten: which of them brings bin 40"""
    block_counts = cuda.shared.array(BINS, np.int32)
    for b in range(cuda.threadIdx.x, BINS, 32):
        block_counts[b] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        v = x[i]
        if 0 <= v < BINS:
            cuda.atomic.add(block_counts, v, 1)
    cuda.syncthreads()
    cuda.atomic.add(counts, cuda.threadIdx.x, block_counts[cuda.threadIdx.x])


all_bins_by_all_threads = edit(
    bins_of_the_block,
    "wrong scaled: by the same factor",
    replace(
        "for b in range(cuda.threadIdx.x, BINS, 32):",
        "for b in range(BINS):",
        after="cuda.atomic.add(block_counts, v, 1)",
    ),
)


@cuda.jit
def barrier_in_the_loop(x, counts):
    """wrong divergent-barrier: Everybody comes to every barrier"""
    block_counts = cuda.shared.array(BINS, np.int32)
    for b in range(cuda.threadIdx.x, BINS, 32):
        block_counts[b] = 0
        cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        v = x[i]
        if 0 <= v < BINS:
            cuda.atomic.add(block_counts, v, 1)
    cuda.syncthreads()
    for b in range(cuda.threadIdx.x, BINS, 32):
        cuda.atomic.add(counts, b, block_counts[b])


not_brought = edit(
    the_first_32_bins,
    "wrong some-unwritten: Does the block bring what it has counted",
    cut("cuda.syncthreads()\ncuda.atomic.add(counts, cuda.threadIdx.x, block_counts[cuda.threadIdx.x])"),
)


@cuda.jit
def one_thread_counts(x, counts):
    """over budget over-budget: Or does one thread count everything"""
    if cuda.grid(1) == 0:
        for i in range(x.size):
            v = x[i]
            if 0 <= v < BINS:
                counts[v] += 1
